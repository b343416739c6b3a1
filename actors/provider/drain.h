/*
 * actors/provider/drain.h - drains one Node: performs the steps of drain_plan.h through kube-watcher.
 *
 *	d = drain_new(&config);
 *	each time the key of the Node is evaluated:
 *		step = drain_advance(d, &node, now_ms);
 *		DRAIN_WAIT: evaluate again at step.at_ms, or when `progress` is called
 *		DRAIN_DONE: drain_free(&d), and the machine may go
 *		DRAIN_GAVE_UP: an Event with drain_limit; then as the policy has it (drain_then): the machine
 *			goes, or evaluate again at step.at_ms, when the drain begins anew
 *
 * Rules
 * - All progress is in the cluster: after a restart a new `struct drain` goes on where the old one was.
 * - Every request about a Pod carries its uid. An eviction may be repeated: the second of one uid changes
 *   nothing. DRAIN_EVICTIONS_MAX of them are in flight per Node, and of all drains of an actor no more than
 *   its drain_pool allows: kube-watcher would refuse them, and the actor's own writes beside them.
 * - A list that lacks a Pod, because it could not be read, is no list.
 * - The actor is a reader of the LIVE kinds of a drain (DRAIN_READERS in proto/kinds.h), and has the rights
 *   to patch Nodes, to create pods/eviction and, where the policy deletes at a deadline, to delete Pods.
 * - An actor that stops waits for what is in flight (drain_busy_until_ms), and begins nothing.
 */
#ifndef MUSTER_DRAIN_H
#define MUSTER_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "drain_plan.h"
#include "links.h"

struct actor;
struct drain;

enum {
	DRAIN_EVICTIONS_MAX = 4,
	/* What RECONCILE_INFLIGHT_MAX leaves of WRITES_PER_SENDER; half of READS_PER_SENDER. */
	DRAIN_POOL_MAX	    = 8,
	DRAIN_WRITE_MS	    = 5 * 1000,
	DRAIN_READ_MS	    = 10 * 1000,
	DRAIN_ERROR_MAX	    = 256,
};

/* What all drains of an actor have in flight together. A drain that waits for its turn is in `waiting`. */
enum drain_turn { DRAIN_TURN_READ, DRAIN_TURN_WRITE, DRAIN_TURN_MAX };
struct drain_pool {
	unsigned		 in_flight[DRAIN_TURN_MAX];
	TAILQ_HEAD(, drain)	 waiting[DRAIN_TURN_MAX];
};

struct drain_config {
	struct actor			*actor;
	struct drain_pool		*pool;		/* outlives them and their requests */
	enum link			 link;		/* to kube-watcher */
	const char			*node;		/* copied */
	const struct drain_policy	*policy;
	int64_t				 started_ms;	/* when draining began, also before a restart */
	int64_t				 deadline_ms;	/* INT64_MAX: none */
	/* A request was answered: evaluate again. From the loop, never from inside drain_advance. */
	void			       (*progress)(void *arg);
	void				*arg;
};

/* The Node as the actor has it now. */
struct drain_target {
	const char	*uid, *rv;
	bool		 has_taints, has_labels;	/* spec.taints, metadata.labels are not empty */
	bool		 tainted, labelled;	/* the policy's taint and label are among them */
	bool		 cordoned;	/* spec.unschedulable */
	uint64_t	 trace;
};

void drain_pool_init(struct drain_pool *p);
struct drain *drain_new(const struct drain_config *config);
/* Requests in flight end by themselves; `progress` is not called any more. */
void drain_free(struct drain **dp);
/* As drain_config has it, or another from now on. */
void drain_deadline(struct drain *d, int64_t deadline_ms);
/* Sends what may be sent. DRAIN_WAIT (at_ms INT64_MAX: until `progress`), DRAIN_DONE or DRAIN_GAVE_UP. */
struct drain_step drain_advance(struct drain *d, const struct drain_target *node, int64_t now_ms);
/* When what is in flight has ended at the latest, of clock_mono_ms; 0: nothing is. */
int64_t drain_busy_until_ms(const struct drain *d);
/* For `muster explain`: Pods that were listed last, and the last failure ("": none). */
size_t drain_count(const struct drain *d);
const char *drain_error(const struct drain *d);
/* The limit that ended it, with the Pod, for an Event: "Pod a/b: the eviction was refused for too long". */
const char *drain_limit(const struct drain *d);

#endif
