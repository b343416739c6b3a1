/*
 * actors/kube-watcher/plan.h - what becomes of a WRITE: may it be sent, when, and what does the answer
 * mean. Pure, with the table of writes in flight.
 *
 *	plan_admit	refused, or a slot
 *	plan_next	send a slot, finish a slot, or wait
 *	plan_answered	how it ended, or that it stays and is sent again
 *
 * Rules
 * - An outcome is true. OK: done, once. UNKNOWN: sent, and no answer that can be trusted, or done in a
 *   cluster that was restored since: done or not. Any other: not done.
 * - Sent again by itself is only what was certainly not done: it never left (no connection), or 429.
 *   Reads (GET, LIST) are sent again whatever happened. Everything else is the actor's decision.
 * - A mutation is sent only while the lease outlives its HTTP timeout, and never after its deadline.
 * - One mutation per object and role at a time, WRITES_PER_SENDER per role, one rate for all. Live reads
 *   have as much of their own, so that neither waits for the other: READS_PER_SENDER and another rate.
 * - How many mutations are under way at a time is the server's decision: a 429 halves it, once for all that
 *   were sent before it; then each round without one adds one. Without a 429 there is no such limit.
 *
 * The HTTP side must not send a request a second time by itself (libcurl does on a reused connection
 * that turns out to be closed): it would make OK mean "at least once".
 */
#ifndef MUSTER_WATCHER_PLAN_H
#define MUSTER_WATCHER_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "lease.h"
#include "rate.h"
#include "writes.h"

enum {
	PLAN_SENDERS_MAX	= 16,		/* roles with rights in rights.h that can write at a time */
	PLAN_WRITES_MAX		= PLAN_SENDERS_MAX * REQUESTS_PER_SENDER,
	PLAN_READ_MS		= 30 * 1000,	/* HTTP timeout of GET and LIST */
	PLAN_DEADLINE_MAX_MS	= 300 * 1000,	/* a later deadline is cut to this */
	PLAN_RETRY_MS		= 200,		/* doubled up to the cap, with jitter */
	PLAN_RETRY_CAP_MS	= 5000,
	PLAN_RETRY_AFTER_MAX_MS	= 60 * 1000,	/* a longer Retry-After is cut to this */
	PLAN_LINGER_MS		= 5 * 1000,	/* so long a request that we gave up may still arrive */
	PLAN_WINDOW_FREE	= 64,		/* a window of that size is none any more */
};

/* A WRITE that write_check has passed; texts are NUL-terminated, "" for none. */
struct plan_write {
	enum role	 sender;
	enum op		 op;
	const char	*group, *resource, *subresource;
	uint64_t	 object;	/* hash64 of what names it: group, resource, namespace, name */
	int64_t		 deadline_ms;
};

/* What spends which budget. */
enum plan_budget { BUDGET_WRITES, BUDGET_READS, BUDGET_MAX };

struct plan_slot {
	bool		used, sent;
	bool		orphan;		/* the session of its sender ended */
	bool		whole;		/* the answer is the object, not some subresource */
	enum role	sender;
	uint64_t	object;
	enum op		op;
	unsigned	tries;
	int64_t		deadline_ms, at_ms;	/* at_ms: not sent before */
	int64_t		sent_ms;
	enum outcome	last;		/* the outcome when the deadline passes before another try */
};

struct plan {
	struct plan_slot slots[PLAN_WRITES_MAX];
	uint32_t	 count, in_flight[ROLE_MAX][BUDGET_MAX];
	uint32_t	 turn;		/* slots are served in turn */
	uint32_t	 under_way;	/* mutations that were sent and are not answered */
	uint32_t	 window;	/* so many at most; PLAN_WRITES_MAX: there was no 429 lately */
	uint32_t	 window_done;	/* answered since the window last grew */
	int64_t		 window_cut_ms;
	struct rate	 rates[BUDGET_MAX];
	uint64_t	 random;
	int64_t		 quiet_ms;	/* what was given up as UNKNOWN has arrived by then, or never will */
};

struct plan_verdict {
	bool		 admitted;
	uint32_t	 slot;
	enum outcome	 outcome;	/* when not admitted */
	const char	*why;
};

enum plan_verb { PLAN_WAIT, PLAN_SEND, PLAN_FINISH };

struct plan_step {
	enum plan_verb	 verb;
	uint32_t	 slot;
	int64_t		 at_ms;		/* PLAN_WAIT; call again also after every answer about the lease */
	int64_t		 timeout_ms;	/* PLAN_SEND: of the HTTP request */
	enum outcome	 outcome;	/* PLAN_FINISH: the slot is free already */
	const char	*why;
};

/* What came back. */
enum plan_body { BODY_NONE, BODY_STATUS, BODY_OBJECT, BODY_LIST };
struct plan_answer {
	bool		 sent;		/* a byte of the request may have reached the server */
	int		 status;	/* of HTTP; 0: none came */
	const char	*reason;	/* Status.reason, or "" */
	int64_t		 retry_after_ms;	/* -1: none given */
	enum plan_body	 body;		/* what a 2xx brought */
	bool		 predates_restore;	/* the cluster was restored since it was sent */
};

/* What to do with it. */
enum plan_merge {
	MERGE_NOTHING,
	MERGE_OBJECT,	/* store_answered; publish; to the sender even when no field it reads has changed */
	MERGE_GONE,	/* store_removed with the uid of the precondition; publish the end */
	MERGE_FORWARD,	/* to the sender only: a live list */
};

struct plan_result {
	bool		 again;		/* stays in its slot, nothing else to do */
	enum outcome	 outcome;
	enum plan_merge	 merge;
	int64_t		 retry_after_ms;	/* for the RESULT; 0: none given */
	const char	*why;
};

/* The rate of each budget; per_second 0: none. */
void plan_init(struct plan *p, double per_second, double burst, uint64_t seed, int64_t now_ms);
/* The one admission of writes: rights, lease, deadline, and room in the table. */
struct plan_verdict plan_admit(
    struct plan *p, const struct plan_write *w, const struct lease *l, int64_t now_ms);
/* PLAN_SEND: it counts as sent until plan_answered. */
struct plan_step plan_next(struct plan *p, const struct lease *l, int64_t now_ms);
/* Unless `again`, the slot is free now. */
struct plan_result plan_answered(
    struct plan *p, uint32_t slot, const struct plan_answer *a, int64_t now_ms);
/*
 * The session of the slot's sender ended. in_flight: its request may have reached the server. True: it
 * did not, and the slot is free; false: it becomes an orphan, which is never sent again, and whose answer
 * is merged.
 */
bool plan_forget(struct plan *p, uint32_t slot, bool in_flight);
/* Mutations that were sent and are not answered. */
uint32_t plan_under_way(const struct plan *p);
/*
 * Nothing that was sent can still take effect: no mutation is in flight, and none was given up as UNKNOWN
 * within PLAN_LINGER_MS. Only then may the Lease be released (lease_stop).
 */
bool plan_settled(const struct plan *p, int64_t now_ms);

#endif
