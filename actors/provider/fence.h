/*
 * actors/provider/fence.h - may this provider call start now? Pure.
 *
 * The answer comes from the lease's deadline and the clock, never from a remembered flag: a process that
 * was stopped and continues must find that its time is over. The caller checks twice: here, and again where
 * the request leaves (`begin_before_ms`).
 *
 * Rules for a call that changes something at the provider
 * - It starts only while this instance leads, and only if the lease outlives the call's own timeout.
 * - A call that is not idempotent waits FENCE_SETTLE_MS after an unclean takeover: the former leader may
 *   have sent the same call just before it lost the lease.
 * - It also waits FENCE_SETTLE_MS after this process started while an intent of an earlier incarnation is
 *   open: an actor that is killed after sending is followed by itself, under the same lease, within a second.
 * - A VM whose Node is not known is not deleted before fence_takeover_ms: an instance that was cut off may
 *   receive that it leads, and what is to be deleted, before the Node, which would then not be drained.
 */
#ifndef MUSTER_FENCE_H
#define MUSTER_FENCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	FENCE_MUTATION_MS = 8 * 1000,	/* timeout of a provider mutation */
	FENCE_SETTLE_MS   = 30 * 1000,
};

/* ID, value of the label `reason` of muster_fenced_total, text for people. */
#define FENCE_REASONS(R)								\
	R(OPEN,          "",              "the call may start")				\
	R(NO_LEASE,      "no-lease",      "kube-watcher has not reported who leads")	\
	R(NOT_LEADER,    "not-leader",    "another instance leads")			\
	R(LEASE_ENDS,    "lease-ends",    "the lease ends before the call could")	\
	R(TAKEOVER,      "takeover",      "the last call of the former leader may still arrive") \
	R(OWN_START,     "own-start",     "a call of this actor's former incarnation may still arrive")

enum fence_reason {
#define FENCE_ENUM(ID, label, text) FENCE_##ID,
	FENCE_REASONS(FENCE_ENUM)
#undef FENCE_ENUM
	FENCE_REASON_MAX
};

/* What kube-watcher reported last (message LEADER). All times are of the clock that deadlines use. */
struct fence_lease {
	bool	known;		/* a report has arrived */
	bool	leading;
	bool	clean;		/* the leader before released the lease */
	int64_t	since_ms;	/* this instance leads since then */
	int64_t	until_ms;	/* leadership ends there unless it is renewed */
};

struct fence_call {
	bool	mutating;
	bool	idempotent;	/* sent twice, it has the effect of one */
	bool	intent_open;	/* an intent that an earlier incarnation recorded has no result yet */
	int64_t	timeout_ms;
};

struct fence_verdict {
	enum fence_reason reason;	/* FENCE_OPEN: the call may start */
	int64_t		  begin_before_ms;	/* FENCE_OPEN: the request must leave before this time */
	int64_t		  retry_at_ms;	/* else: evaluate again then; INT64_MAX: when the lease changes */
};

/* started_ms: when this process started. */
struct fence_verdict fence_check(const struct fence_lease *lease, const struct fence_call *call,
    int64_t started_ms, int64_t now_ms);
/*
 * What an earlier incarnation of this actor, or the leader before, has sent is in every list that begins
 * after this time.
 */
int64_t fence_settled_ms(const struct fence_lease *lease, int64_t started_ms);
/* FENCE_SETTLE_MS after an unclean takeover; INT64_MIN: there was none. */
int64_t fence_takeover_ms(const struct fence_lease *lease);
const char *fence_label(enum fence_reason r);
const char *fence_text(enum fence_reason r);

#endif
