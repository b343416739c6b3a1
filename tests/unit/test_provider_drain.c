/* tests/unit/test_provider_drain.c - the next step of a drain, by kubectl's policy and by Karpenter's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/provider/drain_plan.h"
#include "obj.h"

enum { PODS = 4 };

#define NEVER	INT64_MAX
#define PLAIN	{ .uid = "plain", .grace_ms = 30000 }
#define DAEMON	{ .uid = "daemon", .daemonset = true, .grace_ms = 30000 }
#define CRITICAL { .uid = "critical", .critical = true, .grace_ms = 30000 }
#define CRITICAL_DAEMON { .uid = "critical-daemon", .critical = true, .daemonset = true, .grace_ms = 30000 }
#define MIRROR	{ .uid = "mirror", .mirror = true }
#define FINISHED { .uid = "finished", .finished = true }
#define TOLERATES { .uid = "tolerates", .tolerates = true }
#define KEEP	{ .uid = "keep", .do_not_disrupt = true, .grace_ms = 30000 }
#define LEAVING(ends) { .uid = "leaving", .terminating = true, .ends_ms = (ends), .grace_ms = 30000 }
#define REFUSED(since, retry)	\
	{ .uid = "refused", .refused_since_ms = (since), .retry_at_ms = (retry), .grace_ms = 30000 }

static const struct row {
	const char			*name;
	const struct drain_policy	*policy;
	struct drain_pod		 pods[PODS];
	int64_t				 listed_ms, deadline_ms, now_ms;
	unsigned			 lists, volumes;
	enum drain_verb			 want;
	const char			*pod;		/* uid of EVICT, DELETE, GAVE_UP */
	int64_t				 n;		/* at_ms of WAIT, grace_ms of DELETE */
} rows[] = {
	{ "the Node is marked first", &drain_karpenter, { PLAIN }, -2, NEVER, 1000, 0, 0, DRAIN_MARK, NULL, 0 },
	{ "then its Pods are listed", &drain_karpenter, { PLAIN }, -1, NEVER, 1000, 0, 0, DRAIN_LIST, NULL, 0 },
	{ "a plain Pod leaves", &drain_kubectl, { PLAIN }, 1000, NEVER, 1000, 0, 0, DRAIN_EVICT, "plain", 0 },
	{ "kubectl: DaemonSet, mirror and finished Pods stay", &drain_kubectl,
	  { DAEMON, MIRROR, FINISHED }, 1000, NEVER, 1000, 0, 0, DRAIN_DONE, NULL, 0 },
	{ "kubectl: critical Pods leave last", &drain_kubectl,
	  { CRITICAL, PLAIN }, 1000, NEVER, 1000, 0, 0, DRAIN_EVICT, "plain", 0 },
	{ "kubectl: and only when the others are gone", &drain_kubectl,
	  { CRITICAL, LEAVING(9000) }, 1000, NEVER, 1500, 0, 0, DRAIN_WAIT, NULL, 2000 },
	{ "kubectl: do-not-disrupt is Karpenter's annotation", &drain_kubectl,
	  { KEEP }, 1000, NEVER, 1000, 0, 0, DRAIN_EVICT, "keep", 0 },
	{ "kubectl: a budget is waited for", &drain_kubectl,
	  { REFUSED(1000, 3000) }, 2000, NEVER, 2500, 0, 0, DRAIN_WAIT, NULL, 3000 },
	{ "kubectl: and tried again", &drain_kubectl,
	  { REFUSED(1000, 3000) }, 2000, NEVER, 3000, 0, 0, DRAIN_EVICT, "refused", 0 },
	{ "kubectl: a budget that never gives way ends it", &drain_kubectl,
	  { PLAIN, REFUSED(1000, 129000) }, 2000, NEVER, 121000, 0, 0, DRAIN_GAVE_UP, "refused", 0 },
	{ "kubectl: not a moment before", &drain_kubectl,
	  { REFUSED(1000, 129000) }, 120500, NEVER, 120900, 0, 0, DRAIN_WAIT, NULL, 121000 },
	{ "kubectl: a Pod that terminates is not refused any more", &drain_kubectl,
	  { { .uid = "leaving", .terminating = true, .ends_ms = 150000, .refused_since_ms = 1000 } },
	  120500, NEVER, 121000, 0, 0, DRAIN_WAIT, NULL, 121500 },
	{ "kubectl: the deadline ends it", &drain_kubectl,
	  { MIRROR, LEAVING(90000) }, 2000, 60000, 60000, 0, 0, DRAIN_GAVE_UP, "leaving", 0 },
	{ "kubectl: the limit of the whole drain ends it", &drain_kubectl,
	  { LEAVING(900000) }, 599900, NEVER, 600000, 0, 0, DRAIN_GAVE_UP, NULL, 0 },
	{ "kubectl: before that the wait ends there", &drain_kubectl,
	  { LEAVING(900000) }, 599500, NEVER, 599900, 0, 0, DRAIN_WAIT, NULL, 600000 },
	{ "kubectl: a deadline beyond the limit does not count", &drain_kubectl,
	  { LEAVING(900000) }, 599900, 700000, 600000, 0, 0, DRAIN_GAVE_UP, NULL, 0 },
	{ "a limit does not end what is done", &drain_kubectl,
	  { MIRROR }, 2000, 60000, 60000, 0, 0, DRAIN_DONE, NULL, 0 },
	{ "karpenter: Pods that tolerate the taint stay", &drain_karpenter,
	  { TOLERATES, MIRROR }, 5000, NEVER, 6000, 0, 0, DRAIN_DONE, NULL, 0 },
	{ "karpenter: the list that ends it is not from before those 5 s", &drain_karpenter,
	  { TOLERATES, MIRROR }, 4999, NEVER, 6000, 0, 0, DRAIN_LIST, NULL, 0 },
	{ "karpenter: but not before 5 s", &drain_karpenter,
	  { TOLERATES }, 1000, NEVER, 2000, 0, 0, DRAIN_WAIT, NULL, 5000 },
	{ "karpenter: first wave", &drain_karpenter,
	  { CRITICAL_DAEMON, CRITICAL, DAEMON, PLAIN }, 1000, NEVER, 1000, 0, 0, DRAIN_EVICT, "plain", 0 },
	{ "karpenter: second wave", &drain_karpenter,
	  { CRITICAL_DAEMON, CRITICAL, DAEMON }, 1000, NEVER, 1000, 0, 0, DRAIN_EVICT, "daemon", 0 },
	{ "karpenter: third wave", &drain_karpenter,
	  { CRITICAL_DAEMON, CRITICAL }, 1000, NEVER, 1000, 0, 0, DRAIN_EVICT, "critical", 0 },
	{ "karpenter: fourth wave", &drain_karpenter,
	  { CRITICAL_DAEMON }, 1000, NEVER, 1000, 0, 0, DRAIN_EVICT, "critical-daemon", 0 },
	{ "karpenter: do-not-disrupt is waited for", &drain_karpenter,
	  { KEEP, CRITICAL }, 1000, NEVER, 1100, 0, 0, DRAIN_WAIT, NULL, 2000 },
	{ "karpenter: others of its wave leave", &drain_karpenter,
	  { KEEP, PLAIN }, 1000, NEVER, 1100, 0, 0, DRAIN_EVICT, "plain", 0 },
	{ "karpenter: a budget has no limit", &drain_karpenter,
	  { REFUSED(1000, 900000) }, 899000, NEVER, 899500, 0, 0, DRAIN_WAIT, NULL, 900000 },
	{ "karpenter: with a deadline do-not-disrupt ends", &drain_karpenter,
	  { KEEP }, 1000, 100000, 70000, 0, 0, DRAIN_DELETE, "keep", 30000 },
	{ "karpenter: with a deadline a budget ends", &drain_karpenter,
	  { REFUSED(1000, 99000) }, 1000, 100000, 80000, 0, 0, DRAIN_DELETE, "refused", 20000 },
	{ "karpenter: a grace period is not below a second", &drain_karpenter,
	  { KEEP }, 1000, 100000, 99900, 0, 0, DRAIN_DELETE, "keep", 1000 },
	{ "karpenter: without a deadline nothing is deleted", &drain_karpenter,
	  { KEEP }, 8999500, NEVER, 9000000, 0, 0, DRAIN_WAIT, NULL, 9000500 },
	{ "karpenter: before that the wait ends there", &drain_karpenter,
	  { KEEP }, 69500, 100000, 69900, 9, 0, DRAIN_WAIT, NULL, 70000 },
	{ "karpenter: a Pod that ends in time is not deleted", &drain_karpenter,
	  { LEAVING(95000) }, 79500, 100000, 80000, 0, 0, DRAIN_WAIT, NULL, 80500 },
	{ "karpenter: nor one that seems late by what clocks differ", &drain_karpenter,
	  { LEAVING(105000) }, 79500, 100000, 80000, 0, 0, DRAIN_WAIT, NULL, 80500 },
	{ "karpenter: one that ends too late is", &drain_karpenter,
	  { LEAVING(200000) }, 79500, 100000, 80000, 0, 0, DRAIN_DELETE, "leaving", 20000 },
	{ "karpenter: the deadline ends it", &drain_karpenter,
	  { KEEP }, 1000, 100000, 100000, 0, 0, DRAIN_GAVE_UP, NULL, 0 },
	{ "karpenter: Pods that could not be listed are tried once more", &drain_karpenter,
	  { PLAIN }, -1, 100000, 104999, 0, 0, DRAIN_LIST, NULL, 0 },
	{ "karpenter: then the deadline ends it", &drain_karpenter,
	  { PLAIN }, -1, 100000, 105000, 0, 0, DRAIN_GAVE_UP, NULL, 0 },
	{ "karpenter: also of a Node that could not be marked", &drain_karpenter,
	  { PLAIN }, -2, 100000, 105000, 0, 0, DRAIN_GAVE_UP, NULL, 0 },
	{ "kubectl: volumes are not waited for", &drain_kubectl,
	  { MIRROR }, 9500, NEVER, 9600, 0, 2, DRAIN_DONE, NULL, 0 },
	{ "a Pod stuck for a minute is passed over", &drain_kubectl,
	  { LEAVING(9000) }, 2000, NEVER, 69000, 0, 0, DRAIN_DONE, NULL, 0 },
	{ "a second before it is not", &drain_kubectl,
	  { LEAVING(9000) }, 67900, NEVER, 68000, 9, 0, DRAIN_WAIT, NULL, 69000 },
	{ "Pods are listed again after a second", &drain_kubectl,
	  { LEAVING(90000) }, 2000, NEVER, 3000, 0, 0, DRAIN_LIST, NULL, 0 },
	{ "then later each time", &drain_kubectl,
	  { LEAVING(90000) }, 2000, NEVER, 3000, 2, 0, DRAIN_WAIT, NULL, 6000 },
	{ "but every 10 s", &drain_kubectl, { LEAVING(90000) }, 2000, NEVER, 3000, 9, 0, DRAIN_WAIT, NULL, 12000 },
};

/* Pods are gone since 9.5 s; deadline and now as above. */
static const struct volume_row {
	const char	*name;
	int64_t		 deadline_ms, now_ms;
	bool		 listed;
	unsigned	 volumes, lists;
	bool		 unread;
	enum drain_verb	 want;
	int64_t		 at_ms;
} volume_rows[] = {
	{ "volumes are listed when the Pods are gone", NEVER, 9600, false, 0, 0, false, DRAIN_VOLUMES, 0 },
	{ "they are waited for", NEVER, 9600, true, 2, 0, false, DRAIN_WAIT, 10500 },
	{ "and listed again", NEVER, 10500, true, 2, 0, false, DRAIN_VOLUMES, 0 },
	{ "later each time", NEVER, 10500, true, 2, 2, false, DRAIN_WAIT, 13500 },
	{ "but for those of Pods that stay", NEVER, 9600, true, 2, 0, true, DRAIN_CLAIM, 0 },
	{ "whose claims are not read if none is attached", NEVER, 9600, true, 0, 0, true, DRAIN_DONE, 0 },
	{ "none is left", NEVER, 9600, true, 0, 0, false, DRAIN_DONE, 0 },
	{ "the wait ends at the deadline", 10200, 9600, true, 2, 0, false, DRAIN_WAIT, 10200 },
	{ "and so does the drain", 10000, 10000, true, 2, 0, false, DRAIN_GAVE_UP, 0 },
	{ "also when they were not listed", 10000, 10000, false, 0, 0, false, DRAIN_GAVE_UP, 0 },
	{ "the deadline does not end what is done", 10000, 10000, true, 0, 0, false, DRAIN_DONE, 0 },
};

static void
check_volume_row(void **state)
{
	const struct volume_row *const r = *state;
	static const struct drain_pod mirror = MIRROR;
	const struct drain_node n = {
		.policy = &drain_karpenter, .tainted = true, .labelled = true, .listed = true,
		.listed_ms = 9500, .deadline_ms = r->deadline_ms, .pods = &mirror, .npods = 1,
		.volumes_listed = r->listed,
		.volumes_listed_ms = 9500, .volumes_lists = r->lists, .volumes = r->volumes,
		.claims_unread = r->unread,
	};
	const struct drain_step s = drain_plan(&n, r->now_ms);

	assert_int_equal(s.verb, r->want);
	assert_true(s.pods_gone);
	assert_non_null(s.why);
	if (r->at_ms != 0)
		assert_int_equal(s.at_ms, r->at_ms);
}

static const struct mark_row {
	const char			*name;
	const struct drain_policy	*policy;
	bool				 tainted, labelled, cordoned;
	enum drain_verb			 want;
} mark_rows[] = {
	{ "kubectl: cordoned", &drain_kubectl, false, false, true, DRAIN_DONE },
	{ "kubectl: not cordoned", &drain_kubectl, true, true, false, DRAIN_MARK },
	{ "karpenter: taint and label, no cordon", &drain_karpenter, true, true, false, DRAIN_VOLUMES },
	{ "karpenter: no taint", &drain_karpenter, false, true, true, DRAIN_MARK },
	{ "karpenter: no label", &drain_karpenter, true, false, true, DRAIN_MARK },
};

static void
check_mark_row(void **state)
{
	const struct mark_row *const r = *state;
	const struct drain_node n = { .policy = r->policy, .tainted = r->tainted, .labelled = r->labelled,
		.cordoned = r->cordoned, .listed = true, .listed_ms = 9500, .deadline_ms = NEVER };

	assert_int_equal(drain_plan(&n, 9600).verb, r->want);
}

static void
volumes_that_stay(void **state)
{
	static const struct {
		struct drain_pod pod;
		bool		 want;
	} pods[] = {
		{ PLAIN, false }, { DAEMON, false }, { MIRROR, true }, { TOLERATES, true }, { FINISHED, false },
		{ LEAVING(9000), false }, { LEAVING(1000), true },	/* the last: stuck */
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(pods); i++)
		assert_int_equal(drain_keeps_volumes(&drain_karpenter, &pods[i].pod, 62000), pods[i].want);
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct drain_node n = {
		.policy = r->policy, .tainted = r->listed_ms != -2, .cordoned = r->listed_ms != -2,
		.labelled = r->listed_ms != -2, .volumes_listed = true,
		.listed = r->listed_ms >= 0, .listed_ms = r->listed_ms, .lists = r->lists,
		.deadline_ms = r->deadline_ms, .pods = r->pods, .volumes = r->volumes,
	};

	while (n.npods < PODS && r->pods[n.npods].uid != NULL)
		n.npods++;
	const struct drain_step s = drain_plan(&n, r->now_ms);
	assert_int_equal(s.verb, r->want);
	if (r->pod != NULL)
		assert_string_equal(r->pods[s.pod].uid, r->pod);
	if (r->n != 0)
		assert_int_equal(s.verb == DRAIN_DELETE ? s.grace_ms : s.at_ms, r->n);
	assert_non_null(s.why);
}

static void
refusals_are_spaced(void **state)
{
	struct drain_pod pod = { .uid = "a" };
	int64_t now_ms = 5000;
	unsigned tries = 0;

	(void)state;
	while (now_ms < 5000 + 60 * 1000) {
		drain_refused(&pod, 0, now_ms);
		assert_true(pod.retry_at_ms - now_ms >= DRAIN_REFUSED_MIN_MS);
		assert_true(pod.retry_at_ms - now_ms <= DRAIN_REFUSED_MAX_MS);
		now_ms = pod.retry_at_ms;
		tries++;
	}
	assert_int_equal(pod.refused_since_ms, 5000);
	assert_in_range(tries, 6, 12);
	drain_refused(&pod, 25000, now_ms);	/* the server's own pause counts where it is longer */
	assert_int_equal(pod.retry_at_ms, now_ms + 25000);
}

int
main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(refusals_are_spaced), cmocka_unit_test(volumes_that_stay),
	};
	struct CMUnitTest tests[NITEMS(rows)], volumes[NITEMS(volume_rows)], marks[NITEMS(mark_rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(volume_rows); i++)
		volumes[i] = (struct CMUnitTest){ volume_rows[i].name, check_volume_row, NULL, NULL,
			(void *)(uintptr_t)&volume_rows[i] };
	for (size_t i = 0; i < NITEMS(mark_rows); i++)
		marks[i] = (struct CMUnitTest){ mark_rows[i].name, check_mark_row, NULL, NULL,
			(void *)(uintptr_t)&mark_rows[i] };
	return cmocka_run_group_tests_name("drain_plan", tests, NULL, NULL)
	    + cmocka_run_group_tests_name("drain_plan, volumes", volumes, NULL, NULL)
	    + cmocka_run_group_tests_name("drain_plan, marks", marks, NULL, NULL)
	    + cmocka_run_group_tests_name("drain_plan, others", others, NULL, NULL);
}
