/*
 * actors/provider/shared_list.h - one list of a provider serves every key that needs one (contract C12).
 *
 *	plan:	 if (!shared_list_usable(&s, claim->after, MAX_AGE_MS, now_ms))
 *			step: start the list; then shared_list_join(&s, work, step, now_ms)
 *	start:	 shared_list_begin(&s, now_ms), and the calls
 *	answer:	 shared_list_end(&s, actor, complete, retry_after_ms, now_ms)
 *
 * Rules
 * - A decision rests only on a complete list that began after the last call for its key had ended, and that
 *   is not older than the decision allows.
 * - One list is in flight; keys that want one meanwhile wait, and its end enqueues them. After a failure the
 *   next one waits, longer each time: LIST_RETRY_MIN_MS doubling to LIST_RETRY_MAX_MS.
 */
#ifndef MUSTER_SHARED_LIST_H
#define MUSTER_SHARED_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/reconcile/reconcile.h"

enum { LIST_RETRY_MIN_MS = 1000, LIST_RETRY_MAX_MS = 60 * 1000 };

struct shared_list {
	uint64_t	 number;	/* of the last complete one, for absence_observe; 0: none */
	int64_t		 began_ms;	/* it */
	uint64_t	 begun;		/* how many have begun */
	bool		 in_flight;
	int64_t		 begins_ms;	/* the one in flight */
	unsigned	 failures;	/* in a row */
	int64_t		 pause_ms;	/* none begins before */
	struct keytab	*waiting;	/* keys */
};

void shared_list_open(struct shared_list *s);
void shared_list_close(struct shared_list *s);
/* after: `begun` when the last call for the key had ended; 0: there was none. */
bool shared_list_usable(const struct shared_list *s, uint64_t after, int64_t max_age_ms, int64_t now_ms);
/* Turns a step that starts a list into a wait, while one is in flight or the last one has just failed. */
void shared_list_join(struct shared_list *s, const struct work *w, struct reconcile_step *step,
    int64_t now_ms);
void shared_list_begin(struct shared_list *s, int64_t now_ms);
/* retry: after a failure the next one may begin at once, as after a change of the token. */
void shared_list_end(struct shared_list *s, struct actor *a, bool complete, bool retry, int64_t now_ms);

#endif
