/*
 * actors/kube-watcher/lease.h - leader election on one coordination.k8s.io/v1 Lease, pure: what the server
 * answered goes in; the next request, and until when we lead, come out.
 *
 *	lease L (15 s)		others may take over once the record was unchanged for so long (the
 *				record's duration or their own, whichever is longer)
 *	renew 2/3 L (10 s)	so long after *sending* our last successful renewal we act, and no longer
 *	retry 2/15 L (2 s)	between two tries; while acquiring up to 1.2 times more by chance
 *
 * Rules
 * - Nobody's clock is compared with ours: a record expires when *we* saw it unchanged for its duration, in
 *   monotonic time. The times written into it are for people.
 * - We lead from an update that was answered in time until its sending + 2/3 L. An answer that comes after
 *   that, or after what we had before ran out, counts as lost: GET, then renew.
 * - Another instance cannot lead before our record was unchanged for L; a third of L is the margin for what
 *   we sent last to arrive. It is no fence: preconditions guard what is not idempotent.
 * - Another holder's name in it ends our leading at once. A Lease that was deleted frees nobody from
 *   waiting: its holder may still act. (Whoever never saw one creates it: the first start in a cluster.)
 * - The identity is handed in (the supervisor's), so a restarted kube-watcher finds itself and goes on.
 */
#ifndef MUSTER_LEASE_H
#define MUSTER_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kube/project.h"

enum {
	LEASE_HOLDER_MAX	= 253,
	LEASE_DURATION_MS	= 15 * 1000,
	LEASE_SHORTEST_MS	= 3 * 1000,
	LEASE_SANE_MS		= 3600 * 1000,	/* a record that claims more has our own duration */
	LEASE_CLEAN_US		= 30 * 1000 * 1000,	/* led so long: what others sent has arrived */
	LEASE_MUTATION_MAX_MS	= 5000,		/* HTTP timeout of a write, when the lease is long enough */
	LEASE_RELEASE_TRIES	= 3,
	LEASE_LINGER_MS		= 10 * 1000,	/* so long what our last incarnation sent may still arrive */
};

struct lease_record {
	char		holder[LEASE_HOLDER_MAX + 1];	/* "": free */
	int64_t		duration_s, transitions;
	int64_t		acquire_us, renew_us;	/* unix time; read: 0 when missing or nonsense */
};

/* A Lease as the server has it. */
struct lease_seen {
	struct lease_record	record;
	uint64_t		digest;		/* hash64 of its spec: any change counts as a renewal */
	char			rv[PROJECT_RV_MAX + 1];
};

enum lease_verb {
	LEASE_WAIT,	/* until at_ms */
	LEASE_GET,
	LEASE_CREATE,	/* `record` */
	LEASE_UPDATE,	/* PUT `record` with resourceVersion `rv` */
	LEASE_STOPPED,	/* after lease_stop: released, not ours, or not to be had */
};

struct lease_step {
	enum lease_verb		 verb;
	int64_t			 at_ms;		/* LEASE_WAIT */
	int64_t			 timeout_ms;	/* of the request */
	struct lease_record	 record;
	const char		*rv;
};

enum lease_result {
	LEASE_OK,	/* seen: what the server has now */
	LEASE_MISSING,	/* 404 */
	LEASE_CONFLICT,	/* 409 */
	LEASE_FAILED,	/* anything else, also no answer: it may have been done */
};

struct lease_config {
	bool		elect;		/* false: --leader-elect=false, this instance always leads */
	int64_t		duration_ms;	/* at least LEASE_SHORTEST_MS, whole seconds */
	const char	*identity;	/* at most LEASE_HOLDER_MAX bytes */
};

struct lease {
	bool		elect, stopping, stopped;
	char		identity[LEASE_HOLDER_MAX + 1];
	int64_t		duration_ms, renew_ms, retry_ms;
	uint64_t	random;
	/* What we saw last, and when it last changed. */
	bool		known;			/* we saw one at some time */
	bool		missing;		/* the last GET found none */
	struct lease_seen seen;
	int64_t		changed_ms;
	/* The request under way, and the next. */
	enum lease_verb	asked;			/* LEASE_WAIT: none */
	int64_t		asked_ms, next_ms;
	bool		get_next, got;		/* GET comes next; was the last */
	bool		hinted;			/* it changed while a GET was under way */
	bool		releasing;
	unsigned	release_tries;
	/* Leading. */
	int64_t		until_ms;		/* in the past: not leading */
	int64_t		since_ms;
	uint64_t	term;
	bool		clean;
	bool		resumed;		/* it was ours before, or we were late */
};

/* For message LEADER. */
struct lease_view {
	bool		 leading;
	const char	*holder;	/* "": none, or not known */
	uint64_t	 term;		/* leaseTransitions */
	int64_t		 since_ms, until_ms;
	bool		 clean;		/* nothing that the holder before us sent can still be under way */
};

void lease_init(struct lease *l, const struct lease_config *c, uint64_t seed, int64_t now_ms);
/* The next request, or when to ask again: at the latest when leading ends. wall_us goes into the record. */
struct lease_step lease_next(struct lease *l, int64_t now_ms, int64_t wall_us);
/* The request that lease_next gave was answered; seen: only with LEASE_OK. */
void lease_answered(struct lease *l, enum lease_result result, const struct lease_seen *seen, int64_t now_ms);
/* A watch reported a change of the Lease: an instance that waits for it sends a GET at once. */
void lease_changed(struct lease *l, int64_t now_ms);
/*
 * Orderly end: not leading from now on, and the record is released, so that another one leads at once. Only
 * when nothing that we sent can still take effect (plan_settled); else do not: it runs out by itself. It
 * also does when it was found to be ours only just now: the last incarnation may have sent something.
 */
void lease_stop(struct lease *l, int64_t now_ms);

struct lease_view lease_view(const struct lease *l, int64_t now_ms);
/* A mutation that may take timeout_ms may start: we lead, and for longer than that. */
bool lease_covers(const struct lease *l, int64_t timeout_ms, int64_t now_ms);
/* The HTTP timeout to give mutations, so that renewals leave room for them: half of 2/3 L, at most 5 s. */
int64_t lease_mutation_ms(const struct lease *l);

#endif
