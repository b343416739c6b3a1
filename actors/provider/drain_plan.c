/* actors/provider/drain_plan.c - the rules of drain_plan.h. Pure. */
#include "drain_plan.h"

const struct drain_policy drain_kubectl = {
	.name = "kubectl", .cordon = true, .eviction_limit_ms = 5 * 60 * 1000,
};
const struct drain_policy drain_karpenter = {
	.name = "karpenter", .taint = "karpenter.sh/disrupted", .evict_daemonsets = true,
	.tolerating_stay = true, .honour_do_not_disrupt = true, .delete_at_deadline = true,
	.wait_for_volumes = true, .least_ms = 5000,
};

enum { WAVES = 4 };

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
static struct drain_step at_deadline(const struct drain_node *, int64_t);
static struct drain_step wait_for_pods(const struct drain_node *, int64_t, int64_t);
static int64_t least(int64_t, int64_t);
static int64_t doubled(int64_t, int64_t, unsigned);

struct drain_step
drain_plan(const struct drain_node *n, int64_t now_ms)
{
	const struct drain_policy *const p = n->policy;

	if ((p->taint != NULL && !n->tainted) || (p->cordon && !n->cordoned))
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
	if (p->wait_for_volumes && n->volumes > 0)
		return wait_for_pods(n, late.at_ms, now_ms);
	if (now_ms < n->started_ms + p->least_ms)
		return (struct drain_step){ DRAIN_WAIT, .at_ms = n->started_ms + p->least_ms,
			.why = "a Pod may have been bound just before the taint" };
	return (struct drain_step){ DRAIN_DONE, .why = "no Pod is left that must leave" };
}

void
drain_refused(struct drain_pod *pod, int64_t retry_after_ms, int64_t now_ms)
{
	if (pod->refused_since_ms == 0)
		pod->refused_since_ms = now_ms;
	/* The pause grows with how long the budget has refused: no counter has to be kept. */
	int64_t pause_ms = now_ms - pod->refused_since_ms;

	if (pause_ms < DRAIN_RETRY_MIN_MS)
		pause_ms = DRAIN_RETRY_MIN_MS;
	if (pause_ms > DRAIN_RETRY_MAX_MS)
		pause_ms = DRAIN_RETRY_MAX_MS;
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
		else if (pod->do_not_disrupt && n->policy->honour_do_not_disrupt)
			continue;
		else if (now_ms < pod->retry_at_ms)
			found.wake_ms = least(found.wake_ms, pod->retry_at_ms);
		else if (!found.has_evict) {
			found.has_evict = true;
			found.evict = i;
		}
	}
	return found;
}

/*
 * What the limits demand now; else DRAIN_WAIT with the time when they will. A Pod that is deleted by the
 * deadline gets the rest of the time as its grace period, and budgets and annotations do not count.
 */
static struct drain_step
at_deadline(const struct drain_node *n, int64_t now_ms)
{
	const struct drain_policy *const p = n->policy;
	bool left = p->wait_for_volumes && n->volumes > 0;
	int64_t next_ms = n->deadline_ms;

	for (size_t i = 0; i < n->npods; i++) {
		const struct drain_pod *const pod = &n->pods[i];

		if (stays(p, pod, now_ms))
			continue;
		left = true;
		if (p->delete_at_deadline && n->deadline_ms != INT64_MAX) {
			const int64_t at_ms = n->deadline_ms - pod->grace_ms;

			/* One that terminates already, but too late, is deleted again with less grace. */
			const bool too_late = !pod->terminating || pod->ends_ms > n->deadline_ms;

			if (now_ms < at_ms)
				next_ms = least(next_ms, at_ms);
			else if (now_ms < n->deadline_ms && too_late)
				return (struct drain_step){ DRAIN_DELETE, .pod = i,
					.grace_ms = n->deadline_ms - now_ms,
					.why = "its grace period ends with the deadline" };
		}
		if (p->eviction_limit_ms > 0 && pod->refused_since_ms != 0 && !pod->terminating) {
			if (now_ms - pod->refused_since_ms >= p->eviction_limit_ms)
				return (struct drain_step){ DRAIN_GAVE_UP, .pod = i,
					.why = "a PodDisruptionBudget refused the eviction for too long" };
			next_ms = least(next_ms, pod->refused_since_ms + p->eviction_limit_ms);
		}
	}
	if (left && now_ms >= n->deadline_ms)
		return (struct drain_step){ DRAIN_GAVE_UP, .pod = SIZE_MAX,
			.why = "the deadline has passed" };
	return (struct drain_step){ DRAIN_WAIT, .at_ms = next_ms };
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
doubled(int64_t from_ms, int64_t most_ms, unsigned times)
{
	while (times-- > 0 && from_ms < most_ms)
		from_ms *= 2;
	return least(from_ms, most_ms);
}
