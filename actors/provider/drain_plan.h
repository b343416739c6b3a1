/*
 * actors/provider/drain_plan.h - the next step of draining one Node. Pure.
 *
 * The caller reads Node and Pods, asks for a step, performs it, and comes back with what it then sees; all
 * progress is in the cluster, but for when an eviction was refused last (drain_try, lost with the process at
 * the price of one more request).
 *
 * Rules
 * - The Node is tainted (and cordoned, where the policy has that) before the first eviction.
 * - Pods leave through the Eviction API, wave by wave: a wave starts when nothing of the waves before is
 *   left. A 429 means that a PodDisruptionBudget holds the Pod: it is tried again, later each time.
 * - A Pod is identified by its uid: one that replaced it under the same name is another Pod.
 * - Mirror Pods and finished Pods stay, and so do Pods that the policy leaves alone. A Pod that is still
 *   there DRAIN_STUCK_MS after the end of its grace period is not waited for.
 */
#ifndef MUSTER_DRAIN_PLAN_H
#define MUSTER_DRAIN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DRAIN_STUCK_MS	     = 60 * 1000,
	DRAIN_LIST_MIN_MS    = 1000,	/* between two lists of the Node's Pods; doubles */
	DRAIN_LIST_MAX_MS    = 10 * 1000,
	DRAIN_RETRY_MIN_MS   = 1000,	/* after a refused eviction; doubles */
	DRAIN_RETRY_MAX_MS   = 10 * 1000,
};

struct drain_policy {
	const char	*name;
	bool		 cordon;		/* spec.unschedulable, too */
	const char	*taint;			/* key of the NoSchedule taint; NULL: none */
	bool		 evict_daemonsets;	/* else their Pods stay */
	bool		 tolerating_stay;	/* Pods that tolerate the taint stay */
	bool		 honour_do_not_disrupt;	/* Pods so annotated are waited for, never evicted */
	/* With a deadline: a Pod is deleted, budgets ignored, at the deadline less its grace period. */
	bool		 delete_at_deadline;
	bool		 wait_for_volumes;	/* VolumeAttachments of the Node go before it is drained */
	int64_t		 eviction_limit_ms;	/* a Pod refused for so long ends the drain; 0: none */
	int64_t		 least_ms;		/* between the taint and the end */
};

/* kubectl drain --ignore-daemonsets --delete-emptydir-data, and Karpenter's termination controller. */
extern const struct drain_policy drain_kubectl, drain_karpenter;

struct drain_pod {
	const char	*ns, *name, *uid;
	bool		 daemonset, mirror, finished, critical, tolerates, do_not_disrupt;
	bool		 terminating;
	int64_t		 ends_ms;	/* terminating: end of its grace period, on the caller's clock */
	int64_t		 grace_ms;	/* spec.terminationGracePeriodSeconds */
	/* What the caller remembers of this uid; all zero at first. */
	int64_t		 refused_since_ms;	/* the first of the refusals in a row; 0: none */
	int64_t		 retry_at_ms;
};

struct drain_node {
	const struct drain_policy *policy;
	bool		 tainted, cordoned;
	int64_t		 started_ms;	/* when draining began */
	int64_t		 deadline_ms;	/* INT64_MAX: none */
	/* The Pods of the Node, as last listed live. */
	bool		 listed;
	int64_t		 listed_ms;
	unsigned	 lists;		/* in a row that changed nothing */
	const struct drain_pod *pods;
	size_t		 npods;
	unsigned	 volumes;	/* VolumeAttachments of Pods that were evicted */
};

enum drain_verb {
	DRAIN_MARK,	/* put taint and cordon on the Node */
	DRAIN_LIST,	/* read its Pods (and VolumeAttachments) live */
	DRAIN_EVICT,	/* pods[pod], precondition uid */
	DRAIN_DELETE,	/* pods[pod], precondition uid, grace period what is left until the deadline */
	DRAIN_WAIT,	/* until at_ms */
	DRAIN_DONE,
	DRAIN_GAVE_UP,	/* a limit ended it: the caller's policy decides what follows */
};

struct drain_step {
	enum drain_verb	 verb;
	size_t		 pod;
	int64_t		 at_ms;
	int64_t		 grace_ms;
	const char	*why;
};

struct drain_step drain_plan(const struct drain_node *n, int64_t now_ms);
/* An eviction was refused by a budget. retry_after_ms: what the server asked for, 0: nothing. */
void drain_refused(struct drain_pod *pod, int64_t retry_after_ms, int64_t now_ms);

#endif
