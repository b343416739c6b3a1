/* actors/provider/drain_plan.c - the rules of drain_plan.h. Pure. */
#include "drain_plan.h"

const struct drain_policy drain_kubectl = {
	.name = "kubectl", .cordon = true, .eviction_limit_ms = 2 * 60 * 1000, .limit_ms = 10 * 60 * 1000,
	.then = DRAIN_THEN_KEEP, .again_ms = 5 * 60 * 1000,
};
const struct drain_policy drain_karpenter = {
	.name = "karpenter", .taint = "karpenter.sh/disrupted",
	.label = "node.kubernetes.io/exclude-from-external-load-balancers", .label_value = "karpenter",
	.evict_daemonsets = true, .tolerating_stay = true, .honour_do_not_disrupt = true,
	.delete_at_deadline = true, .wait_for_volumes = true, .then = DRAIN_THEN_REMOVE, .least_ms = 5000,
};

enum { WAVES = 4, GRACE_MIN_MS = 1000 };

/* Pods of one wave that are still there. */
struct wave {
	size_t	present;
	size_t	evict;		/* index of the first that can be evicted now */
	bool	has_evict;
	int64_t	wake_ms;	/* when the first of the others can be evicted or is expected to end */
};

static bool stays(const struct drain_policy *, const struct drain_pod *, int64_t);
static unsigned wave_of(const struct drain_pod *);
static struct wave survey(const struct drain_node *, unsigned, int64_t);
static int64_t deadline_of(const struct drain_node *);
static struct drain_step at_deadline(const struct drain_node *, int64_t);
static struct drain_step wait_for_pods(const struct drain_node *, int64_t, int64_t);
static struct drain_step after_pods(const struct drain_node *, int64_t, int64_t);
static int64_t least(int64_t, int64_t);
static int64_t later(int64_t, int64_t);
static int64_t doubled(int64_t, int64_t, unsigned);
static int64_t spread(const char *, int64_t);

struct drain_step
drain_plan(const struct drain_node *n, int64_t now_ms)
{
	const struct drain_policy *const p = n->policy;

	if (!n->listed && deadline_of(n) != INT64_MAX && now_ms >= deadline_of(n) + DRAIN_LATE_MS)
		return (struct drain_step){ DRAIN_GAVE_UP, .pod = SIZE_MAX,
			.why = "the deadline has passed before its Pods were listed" };
	if ((p->taint != NULL && !n->tainted) || (p->cordon && !n->cordoned)
	    || (p->label != NULL && !n->labelled))
		return (struct drain_step){ DRAIN_MARK, .why = "no new Pod may be scheduled here" };
	if (!n->listed)
		return (struct drain_step){ DRAIN_LIST, .why = "the Pods of the Node are not known yet" };
	const struct drain_step late = at_deadline(n, now_ms);
	if (late.verb != DRAIN_WAIT)
		return late;
	for (unsigned w = 0; w < WAVES; w++) {
		const struct wave found = survey(n, w, now_ms);

		if (found.has_evict)
			return (struct drain_step){ DRAIN_EVICT, .pod = found.evict,
				.why = "its wave has begun" };
		if (found.present > 0)
			return wait_for_pods(n, least(found.wake_ms, late.at_ms), now_ms);
	}
	return after_pods(n, late.at_ms, now_ms);
}

bool
drain_keeps_volumes(const struct drain_policy *p, const struct drain_pod *pod, int64_t now_ms)
{
	return !pod->finished && stays(p, pod, now_ms);
}

void
drain_refused(struct drain_pod *pod, int64_t retry_after_ms, int64_t now_ms)
{
	if (pod->refused_since_ms == 0)
		pod->refused_since_ms = now_ms;
	/* The pause grows with how long the budget has refused: no counter has to be kept. */
	int64_t pause_ms = now_ms - pod->refused_since_ms;

	if (pause_ms < DRAIN_REFUSED_MIN_MS)
		pause_ms = DRAIN_REFUSED_MIN_MS;
	pause_ms += spread(pod->uid, pause_ms);
	if (pause_ms > DRAIN_REFUSED_MAX_MS)
		pause_ms = DRAIN_REFUSED_MAX_MS - spread(pod->uid, DRAIN_REFUSED_MAX_MS / 2);
	if (pause_ms < retry_after_ms)
		pause_ms = retry_after_ms;
	pod->retry_at_ms = now_ms + pause_ms;
}

/* Whether the drain passes over this Pod for good. */
static bool
stays(const struct drain_policy *p, const struct drain_pod *pod, int64_t now_ms)
{
	return pod->mirror || pod->finished || (pod->daemonset && !p->evict_daemonsets)
	    || (pod->tolerates && p->tolerating_stay)
	    || (pod->terminating && now_ms >= pod->ends_ms + DRAIN_STUCK_MS);
}

/* Plain Pods first, then DaemonSets, then critical ones, then critical DaemonSets. */
static unsigned
wave_of(const struct drain_pod *pod)
{
	return (pod->critical ? 2u : 0u) + (pod->daemonset ? 1u : 0u);
}

static struct wave
survey(const struct drain_node *n, unsigned w, int64_t now_ms)
{
	struct wave found = { .wake_ms = INT64_MAX };

	for (size_t i = 0; i < n->npods; i++) {
		const struct drain_pod *const pod = &n->pods[i];

		if (stays(n->policy, pod, now_ms) || wave_of(pod) != w)
			continue;
		found.present++;
		if (pod->terminating)
			found.wake_ms = least(found.wake_ms, pod->ends_ms + DRAIN_STUCK_MS);
		else if (pod->in_flight || (pod->do_not_disrupt && n->policy->honour_do_not_disrupt))
			continue;
		else if (now_ms < pod->failed_until_ms)
			found.wake_ms = least(found.wake_ms, pod->failed_until_ms);
		else if (now_ms < pod->retry_at_ms)
			found.wake_ms = least(found.wake_ms, pod->retry_at_ms);
		else if (!found.has_evict) {
			found.has_evict = true;
			found.evict = i;
		}
	}
	return found;
}

static int64_t
deadline_of(const struct drain_node *n)
{
	const int64_t limit_ms = n->policy->limit_ms;

	return least(n->deadline_ms, limit_ms == 0 ? INT64_MAX : n->started_ms + limit_ms);
}

/*
 * What the limits demand now; else DRAIN_WAIT with the time when they will. A Pod that is deleted by the
 * deadline gets the rest of the time as its grace period, and budgets and annotations do not count.
 */
static struct drain_step
at_deadline(const struct drain_node *n, int64_t now_ms)
{
	const struct drain_policy *const p = n->policy;
	const int64_t deadline_ms = deadline_of(n);
	const bool volumes_left = p->wait_for_volumes && (!n->volumes_listed || n->volumes > 0);
	size_t left = SIZE_MAX;		/* the first Pod that must leave */
	int64_t next_ms = deadline_ms;

	for (size_t i = 0; i < n->npods; i++) {
		const struct drain_pod *const pod = &n->pods[i];

		if (stays(p, pod, now_ms))
			continue;
		left = left == SIZE_MAX ? i : left;
		if (p->delete_at_deadline && deadline_ms != INT64_MAX) {
			const int64_t at_ms = later(deadline_ms - pod->grace_ms, pod->failed_until_ms);

			/* One that terminates already, but too late, is deleted again with less grace. */
			const bool too_late =
			    !pod->terminating || pod->ends_ms > deadline_ms + DRAIN_LATE_MS;

			if (now_ms < at_ms)
				next_ms = least(next_ms, at_ms);
			else if (now_ms < deadline_ms && too_late && !pod->in_flight)
				return (struct drain_step){ DRAIN_DELETE, .pod = i,
					.grace_ms = later(deadline_ms - now_ms, GRACE_MIN_MS),
					.why = "its grace period ends with the deadline" };
		}
		if (p->eviction_limit_ms > 0 && pod->refused_since_ms != 0 && !pod->terminating) {
			if (now_ms - pod->refused_since_ms >= p->eviction_limit_ms)
				return (struct drain_step){ DRAIN_GAVE_UP, .pod = i,
					.why = "the eviction was refused for too long" };
			next_ms = least(next_ms, pod->refused_since_ms + p->eviction_limit_ms);
		}
	}
	if (left != SIZE_MAX && now_ms >= deadline_ms)
		return (struct drain_step){ DRAIN_GAVE_UP, .pod = left,
			.why = "the deadline has passed, and Pods are still there" };
	if (volumes_left && now_ms >= deadline_ms)
		return (struct drain_step){ DRAIN_GAVE_UP, .pod = SIZE_MAX, .pods_gone = true,
			.why = "the deadline has passed, and volumes are still attached" };
	return (struct drain_step){ DRAIN_WAIT, .at_ms = next_ms };
}

/* No Pod is left that must leave. */
static struct drain_step
after_pods(const struct drain_node *n, int64_t deadline_ms, int64_t now_ms)
{
	const struct drain_policy *const p = n->policy;
	const int64_t least_ms = n->started_ms + p->least_ms;

	if (now_ms < least_ms)
		return (struct drain_step){ DRAIN_WAIT, .at_ms = least_ms,
			.why = "a Pod may have been bound just before the taint" };
	if (n->listed_ms < least_ms)
		return (struct drain_step){ DRAIN_LIST, .why = "the last list is from before that time" };
	if (!p->wait_for_volumes)
		return (struct drain_step){ DRAIN_DONE, .pods_gone = true,
			.why = "no Pod is left that must leave" };
	const int64_t list_ms = n->volumes_listed_ms
	    + doubled(DRAIN_LIST_MIN_MS, DRAIN_LIST_MAX_MS, n->volumes_lists);
	if (!n->volumes_listed || (n->volumes > 0 && !n->claims_unread && now_ms >= list_ms))
		return (struct drain_step){ DRAIN_VOLUMES, .pods_gone = true,
			.why = "volumes are detached after their Pods" };
	if (n->volumes > 0 && n->claims_unread)
		return (struct drain_step){ DRAIN_CLAIM, .pods_gone = true,
			.why = "volumes of Pods that stay are not waited for" };
	if (n->volumes > 0)
		return (struct drain_step){ DRAIN_WAIT, .at_ms = least(list_ms, deadline_ms),
			.pods_gone = true, .why = "volumes are still attached" };
	return (struct drain_step){ DRAIN_DONE, .pods_gone = true, .why = "no Pod and no volume is left" };
}

/* Pods leave by themselves from here on: list again after a pause that doubles while nothing changes. */
static struct drain_step
wait_for_pods(const struct drain_node *n, int64_t wake_ms, int64_t now_ms)
{
	const int64_t list_ms = n->listed_ms + doubled(DRAIN_LIST_MIN_MS, DRAIN_LIST_MAX_MS, n->lists);

	if (now_ms >= list_ms)
		return (struct drain_step){ DRAIN_LIST, .why = "Pods are expected to have left" };
	return (struct drain_step){ DRAIN_WAIT, .at_ms = least(list_ms, wake_ms),
		.why = "Pods are still there" };
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t
doubled(int64_t from_ms, int64_t most_ms, unsigned times)
{
	while (times-- > 0 && from_ms < most_ms)
		from_ms *= 2;
	return least(from_ms, most_ms);
}

/*
 * From 0 to most_ms, by the uid. Pods of one budget are refused together; tried again together, all but one
 * would be refused again.
 */
static int64_t
spread(const char *uid, int64_t most_ms)
{
	uint32_t hash = 2166136261u;	/* FNV-1a */

	for (; *uid != '\0'; uid++)
		hash = (hash ^ (unsigned char)*uid) * 16777619u;
	return hash % most_ms;
}
