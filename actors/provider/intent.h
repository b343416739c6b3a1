/*
 * actors/provider/intent.h - the record in the cluster before a call that has no idempotency key (contract
 * A10). Pure.
 *
 *	write the intent (an annotation), send the call, write its result in place of the intent
 *
 * Rules
 * - A call is sent only under an intent that this incarnation wrote since it leads. The text of an intent is
 *   unique, so nobody takes another's for its own; and what somebody else wrote meanwhile has replaced it.
 * - Under one intent one call may have been sent. A call that was refused, or not sent, may be sent again.
 * - After a call that may have been sent: its result is searched for in lists. That it is in none proves
 *   nothing before intent_settled_ms; then two lists do (absence.h), and the next call needs a new intent.
 * - An intent whose removal was requested is removed, however often that takes. A removal without an
 *   answer may still arrive, and would take the record away from a call that was sent meanwhile.
 */
#ifndef MUSTER_INTENT_H
#define MUSTER_INTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "fence.h"
#include "msg.h"

enum { INTENT_TEXT_MAX = 72 };

enum intent_state {
	INTENT_NONE,
	INTENT_OPEN,	/* ours: its call may be sent */
	INTENT_SENT,	/* its call may have been sent, by whoever wrote it */
	INTENT_ENDED,	/* ours, and its removal was requested: no call is sent under it */
};

/* What this incarnation remembers of its own; all zero at first. It is lost with the process. */
struct intent {
	char	text[INTENT_TEXT_MAX];	/* the last that was to be written; "": none */
	int64_t	since_ms;		/* of the lease under which that was */
	bool	sent, ended;
	int64_t	settled_ms;		/* sent: its effect is in every list that begins after this time */
};

/* A new text: the time, for people, and 16 unique digits. Whether it was written, the object shows. */
void intent_begin(struct intent *i, const struct fence_lease *lease, int64_t cluster_us, uint64_t unique);
/* Its call ended. unknown: it may have happened. */
void intent_called(struct intent *i, bool unknown, int64_t now_ms);
/* It is about to be removed. */
void intent_end(struct intent *i);
/* stored: as the object has it, "": none. */
enum intent_state intent_state(
    const struct intent *i, struct wire_str stored, const struct fence_lease *lease);
/* INTENT_SENT: a list that began later has what came of the call. */
int64_t intent_settled_ms(const struct intent *i, const struct fence_lease *lease, int64_t started_ms);

#endif
