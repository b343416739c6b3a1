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
 * - Where the policy waits for volumes: when the Pods are gone, the VolumeAttachments of the Node go too, but
 *   for those of Pods that stay.
 * - A limit that has passed ends the drain; what happens then is in the policy (drain_then). That holds
 *   also, DRAIN_LATE_MS later, for a Node that could not be marked or whose Pods could not be listed.
 */
#ifndef MUSTER_DRAIN_PLAN_H
#define MUSTER_DRAIN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DRAIN_STUCK_MS	     = 60 * 1000,
	/* More than the error of ends_ms: whole seconds, cluster time within 3 s, the time of an answer. */
	DRAIN_LATE_MS	     = 5 * 1000,
	DRAIN_LIST_MIN_MS    = 1000,	/* between two lists of the Node's Pods; doubles */
	DRAIN_LIST_MAX_MS    = 10 * 1000,
	DRAIN_RETRY_MIN_MS   = 1000,	/* after a request that failed */
	DRAIN_REFUSED_MIN_MS = 2000,	/* after a refused eviction; doubles */
	DRAIN_REFUSED_MAX_MS = 10 * 1000,
};

/* What happens when a limit has ended a drain. */
enum drain_then {
	DRAIN_THEN_KEEP,	/* the machine stays; the drain begins anew after again_ms */
	DRAIN_THEN_REMOVE,	/* the machine is removed with what is left on it */
};

struct drain_policy {
	const char	*name;
	bool		 cordon;		/* spec.unschedulable, too */
	const char	*taint;			/* key of the NoSchedule taint; NULL: none */
	const char	*label, *label_value;	/* put on the Node with the taint; NULL: none */
	bool		 evict_daemonsets;	/* else their Pods stay */
	bool		 tolerating_stay;	/* Pods that tolerate the taint stay */
	bool		 honour_do_not_disrupt;	/* Pods so annotated are waited for, never evicted */
	/* With a deadline: a Pod is deleted, budgets ignored, at the deadline less its grace period. */
	bool		 delete_at_deadline;
	bool		 wait_for_volumes;	/* VolumeAttachments of the Node go before it is drained */
	int64_t		 eviction_limit_ms;	/* a Pod refused for so long ends the drain; 0: none */
	int64_t		 limit_ms;		/* of the whole drain; 0: only the deadline, if any */
	enum drain_then	 then;
	int64_t		 again_ms;
	int64_t		 least_ms;		/* between the taint and the end */
};

/* kubectl drain --ignore-daemonsets --delete-emptydir-data, and Karpenter's termination controller. */
extern const struct drain_policy drain_kubectl, drain_karpenter;

struct drain_pod {
	const char	*ns, *name, *uid;
	bool		 daemonset, mirror, finished, critical, tolerates, do_not_disrupt;
	bool		 terminating;
	int64_t		 ends_ms;	/* terminating: end of its grace period, on the caller's clock */
	int64_t		 deleted_us;	/* its deletionTimestamp; 0: not read since it was evicted */
	int64_t		 grace_ms;	/* spec.terminationGracePeriodSeconds */
	const char	*claims;	/* its PersistentVolumeClaims, one per line */
	/* What the caller remembers of this uid; all zero at first. */
	bool		 in_flight;		/* a request about it is not answered */
	int64_t		 failed_until_ms;	/* a request about it failed: the next not before */
	int64_t		 refused_since_ms;	/* the first of the refusals in a row; 0: none */
	int64_t		 retry_at_ms;
};

struct drain_node {
	const struct drain_policy *policy;
	bool		 tainted, cordoned, labelled;
	int64_t		 started_ms;	/* when draining began */
	int64_t		 deadline_ms;	/* INT64_MAX: none */
	/* The Pods of the Node, as last listed live. */
	bool		 listed;
	int64_t		 listed_ms;
	unsigned	 lists;		/* in a row that changed nothing */
	const struct drain_pod *pods;
	size_t		 npods;
	/* Its VolumeAttachments but for those of Pods that stay, as last listed live. */
	bool		 volumes_listed;
	int64_t		 volumes_listed_ms;
	unsigned	 volumes_lists;	/* in a row that changed nothing */
	unsigned	 volumes;
	bool		 claims_unread;	/* some of those may belong to Pods that stay */
};

enum drain_verb {
	DRAIN_MARK,	/* put taint, label and cordon on the Node */
	DRAIN_LIST,	/* read its Pods live */
	DRAIN_VOLUMES,	/* read the VolumeAttachments live */
	DRAIN_CLAIM,	/* read a PersistentVolumeClaim of a Pod that stays */
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
	int64_t		 grace_ms;	/* at least a second: 0 would not wait for the Pod's processes */
	bool		 pods_gone;	/* no Pod is left that must leave; volumes may be */
	const char	*why;
};

struct drain_step drain_plan(const struct drain_node *n, int64_t now_ms);
/* The Pod stays, and its volumes stay attached. */
bool drain_keeps_volumes(const struct drain_policy *p, const struct drain_pod *pod, int64_t now_ms);
/* An eviction was refused, as a rule by a budget. retry_after_ms: what the server asked for, 0: nothing. */
void drain_refused(struct drain_pod *pod, int64_t retry_after_ms, int64_t now_ms);

#endif
