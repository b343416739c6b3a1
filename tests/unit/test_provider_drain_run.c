/*
 * tests/unit/test_provider_drain_run.c - the requests of a drain and what their outcomes lead to. actor_write
 * is replaced here: the test plays kube-watcher.
 */
#include "drain_rig.h"

/* ---- Pods ---- */

static const struct pod_row {
	const char		*name, *json;
	const char		*error;		/* a part of it; NULL: it is accepted */
	struct drain_pod	 want;
} pod_rows[] = {
	{ "a plain Pod", POD("", ""), NULL, { 0 } },
	{ "a grace period", POD("", "\"terminationGracePeriodSeconds\":7"), NULL, { .grace_ms = 7000 } },
	{ "of a DaemonSet",
	  POD(",\"ownerReferences\":[{\"kind\":\"DaemonSet\",\"controller\":true}]", ""), NULL,
	  { .daemonset = true } },
	{ "a DaemonSet that is not the controller",
	  POD(",\"ownerReferences\":[{\"kind\":\"DaemonSet\"}]", ""), NULL,
	  { 0 } },
	{ "a mirror Pod", POD(",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"}", ""), NULL,
	  { .mirror = true } },
	{ "do-not-disrupt", POD(",\"annotations\":{\"karpenter.sh/do-not-disrupt\":\"true\"}", ""), NULL,
	  { .do_not_disrupt = true } },
	{ "do-not-disrupt, switched off",
	  POD(",\"annotations\":{\"karpenter.sh/do-not-disrupt\":\"false\"}", ""), NULL,
	  { 0 } },
	{ "critical", POD("", "\"priorityClassName\":\"system-node-critical\""), NULL,
	  { .critical = true } },
	{ "terminating", POD(",\"deletionTimestamp\":\"2026-01-02T03:00:20Z\"", ""), NULL,
	  { .terminating = true, .ends_ms = 25000 } },
	{ "terminating, and its end has passed: counted from now on (A9)",
	  POD(",\"deletionTimestamp\":\"2026-01-02T02:00:20Z\",\"deletionGracePeriodSeconds\":30", ""),
	  NULL,
	  { .terminating = true, .ends_ms = 35000 } },
	{ "terminating, with more left than it was given (A9)",
	  POD(",\"deletionTimestamp\":\"2026-01-02T04:00:20Z\",\"deletionGracePeriodSeconds\":30", ""),
	  NULL,
	  { .terminating = true, .ends_ms = 35000 } },
	{ "finished", META("") ",\"spec\":{},\"status\":{\"phase\":\"Failed\"}}", NULL,
	  { .finished = true } },
	{ "running",
	  META("") ",\"spec\":{},\"status\":{\"phase\":\"Running\"}}", NULL, { 0 } },
	{ "tolerates everything", POD("", "\"tolerations\":[{\"operator\":\"Exists\"}]"), NULL,
	  { .tolerates = true } },
	{ "tolerates the taint", POD("", "\"tolerations\":[{\"key\":\"t\",\"operator\":\"Exists\"}]"), NULL,
	  { .tolerates = true } },
	{ "tolerates the taint by its value",
	  POD("", "\"tolerations\":[{\"key\":\"t\",\"effect\":\"NoSchedule\"}]"),
	  NULL, { .tolerates = true } },
	{ "tolerates another value", POD("", "\"tolerations\":[{\"key\":\"t\",\"value\":\"v\"}]"), NULL,
	  { 0 } },
	{ "tolerates another effect",
	  POD("", "\"tolerations\":[{\"operator\":\"Exists\",\"effect\":\"NoExecute\"}]"),
	  NULL, { 0 } },
	{ "tolerates another taint",
	  POD("", "\"tolerations\":[{\"key\":\"s\",\"operator\":\"Exists\"}]"), NULL,
	  { 0 } },
	{ "its volumes", POD("", "\"volumes\":[{\"name\":\"t\",\"projected\":{}},{\"name\":\"v\","
	  "\"persistentVolumeClaim\":{\"claimName\":\"data\"}},{\"name\":\"e\",\"ephemeral\":"
	  "{\"volumeClaimTemplate\":{\"spec\":{\"volumeMode\":\"Filesystem\"}}}}]"), NULL,
	  { .claims = "data\np-e\n" } },
	{ "no uid",
	  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"resourceVersion\":\"1\"},\"spec\":{}}",
	  "metadata.uid: missing", { 0 } },
	{ "a uid that is no text",
	  "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":1},\"spec\":{}}",
	  "metadata.uid: not a string", { 0 } },
	{ "a toleration that is none", POD("", "\"tolerations\":[1]"), "spec.tolerations[0]: not an object", { 0 } },
	{ "a grace period below zero",
	  POD("", "\"terminationGracePeriodSeconds\":-1"), "out of range", { 0 } },
	{ "a time that is none",
	  POD(",\"deletionTimestamp\":\"soon\"", ""), "deletionTimestamp: not a time", { 0 } },
	{ "not JSON", "Pod", "the object: ", { 0 } },
};

static void
check_pod(void **state)
{
	const struct pod_row *const r = *state;
	const struct drain_sight sight = { .taint = "t", .cluster_us = CLUSTER_US, .now_ms = 5000 };
	struct drain_pods list = { NULL, 0 };
	char err[256] = "", uid[64];
	union msg_body value;

	const bool ok = project_pod(r->json, &value, uid, sizeof(uid), err, sizeof(err))
	    && drain_pods_add(&list, &value.node_pod, wire_str_of(uid), &sight, err, sizeof(err));
	assert_int_equal(ok, r->error == NULL);
	assert_int_equal(list.n, ok);
	if (r->error != NULL) {
		assert_non_null(strstr(err, r->error));
		return;
	}
	assert_true(drain_pods_add(&list, &value.node_pod, wire_str_of(uid), &sight, err, sizeof(err)));
	assert_int_equal(list.n, 1);		/* the same again */
	const struct drain_pod *const pod = &list.pods[0], *const want = &r->want;
	assert_string_equal(pod->uid, "u");
	assert_string_equal(pod->claims, want->claims != NULL ? want->claims : "");
	assert_int_equal(pod->daemonset, want->daemonset);
	assert_int_equal(pod->mirror, want->mirror);
	assert_int_equal(pod->finished, want->finished);
	assert_int_equal(pod->critical, want->critical);
	assert_int_equal(pod->tolerates, want->tolerates);
	assert_int_equal(pod->do_not_disrupt, want->do_not_disrupt);
	assert_int_equal(pod->terminating, want->terminating);
	assert_int_equal(pod->ends_ms, want->ends_ms);
	assert_int_equal(pod->grace_ms, want->grace_ms);
	drain_pods_free(&list);
}

/* ---- Requests ---- */

static const struct mark_row {
	const char			*name;
	const struct drain_policy	*policy;
	bool				 has_taints, has_labels;
	const char			*body;
} mark_rows[] = {
	{ "mark: the first taint and the first label",
	  &drain_karpenter, false, false, "[{\"op\":\"add\",\"path\":\"/spec/taints\",\"value\":"
	  "[{\"key\":\"karpenter.sh/disrupted\",\"effect\":\"NoSchedule\"}]},"
	  "{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":"
	  "{\"node.kubernetes.io/exclude-from-external-load-balancers\":\"karpenter\"}}]" },
	{ "mark: the taints and labels of others stay",
	  &drain_karpenter, true, true, "[{\"op\":\"add\",\"path\":\"/spec/taints/-\","
	  "\"value\":{\"key\":\"karpenter.sh/disrupted\",\"effect\":\"NoSchedule\"}},"
	  "{\"op\":\"add\",\"path\":\"/metadata/labels/"
	  "node.kubernetes.io~1exclude-from-external-load-balancers\",\"value\":\"karpenter\"}]" },
	{ "mark: cordon", &drain_kubectl, true, true,
	  "[{\"op\":\"add\",\"path\":\"/spec/unschedulable\",\"value\":true}]" },
};

static void
check_mark(void **state)
{
	const struct mark_row *const row = *state;
	struct drain_target node;
	struct drain *d = start(row->policy, &node);

	node.tainted = node.labelled = node.cordoned = false;
	node.has_taints = row->has_taints;
	node.has_labels = row->has_labels;
	assert_int_equal(drain_advance(d, &node, clock_mono_ms()).verb, DRAIN_WAIT);
	assert_int_equal(bus.n, 1);
	assert_int_equal(bus.sent[0].op, OP_JSON);
	assert_string_equal(bus.sent[0].resource, "nodes");
	assert_string_equal(bus.sent[0].name, "n1");
	assert_string_equal(bus.sent[0].uid, "node-uid");
	assert_string_equal(bus.sent[0].rv, "7");
	assert_string_equal(bus.sent[0].body, row->body);
	/* A conflict: again with what the Node is then, but not at once. */
	answer(0, (struct write_result){ .outcome = OUTCOME_CONFLICT });
	const struct drain_step wait = drain_advance(d, &node, clock_mono_ms());
	assert_int_equal(bus.n, 1);
	node.rv = "8";
	drain_advance(d, &node, wait.at_ms);
	assert_int_equal(bus.n, 2);
	assert_string_equal(bus.sent[1].rv, "8");
	/* Done: the list comes next, although the actor's own view of the Node lags. */
	answer(1, (struct write_result){ .outcome = OUTCOME_OK });
	drain_advance(d, &node, wait.at_ms + 1);
	assert_int_equal(bus.n, 3);
	assert_int_equal(bus.sent[2].op, OP_LIST);
	assert_string_equal(bus.sent[2].resource, "pods");
	assert_string_equal(bus.sent[2].fields, "spec.nodeName=n1");
	answer_list(2, NULL, 0, "");
	drain_free(&d);
}

/* The view of the actor never gets newer, as after a heartbeat of the kubelet: the Node is read live. */
static void
outdated_view(void **state)
{
	static const char json[] = "{\"metadata\":{\"labels\":{\"a\":\"b\"}},"
	    "\"spec\":{\"taints\":[{\"key\":\"other\",\"effect\":\"NoExecute\"}]}}";
	const union msg_body raw = { .raw = { .json = { .p = json, .len = sizeof(json) - 1 } } };
	const struct change item = { .type = MSG_RAW, .value = &raw };
	struct drain_target node;
	struct drain *d = start(&drain_karpenter, &node);

	(void)state;
	node.tainted = false;
	drain_advance(d, &node, clock_mono_ms());
	answer(0, (struct write_result){ .outcome = OUTCOME_CONFLICT });
	const struct drain_step wait = drain_advance(d, &node, clock_mono_ms());
	assert_int_equal(bus.n, 1);
	drain_advance(d, &node, wait.at_ms);
	assert_int_equal(bus.n, 2);
	assert_int_equal(bus.sent[1].op, OP_GET);
	assert_string_equal(bus.sent[1].resource, "nodes");
	assert_string_equal(bus.sent[1].name, "n1");
	answer(1, (struct write_result){ .op = OP_GET, .outcome = OUTCOME_OK, .rv = wire_str_of("9"),
	    .items = &item, .nitems = 1 });
	drain_advance(d, &node, wait.at_ms);
	assert_int_equal(bus.n, 3);
	assert_int_equal(bus.sent[2].op, OP_JSON);
	assert_string_equal(bus.sent[2].uid, "node-uid");
	assert_string_equal(bus.sent[2].rv, "9");
	assert_string_equal(bus.sent[2].body, mark_rows[1].body);
	answer(2, (struct write_result){ .outcome = OUTCOME_OK });
	drain_advance(d, &node, wait.at_ms + 1);
	assert_int_equal(bus.sent[3].op, OP_LIST);
	answer_list(3, NULL, 0, "");
	drain_free(&d);
}

/* A9: the clock of the server moves by an hour, while a Pod terminates. */
static void
server_clock_moves(void **state)
{
	static const int64_t hours[] = { 0, 1, -1 };
	static const char json[] = POD(",\"deletionTimestamp\":\"2026-01-02T03:00:20Z\","
	    "\"deletionGracePeriodSeconds\":30", "");
	struct drain_pods list = { NULL, 0 }, fresh = { NULL, 0 };
	char err[256], uid[64];
	union msg_body value;

	(void)state;
	for (size_t i = 0; i < NITEMS(hours); i++) {
		const struct drain_sight sight = { .now_ms = 5000 + (int64_t)i,
			.cluster_us = CLUSTER_US + hours[i] * INT64_C(3600000000) };

		assert_true(project_pod(json, &value, uid, sizeof(uid), err, sizeof(err)));
		assert_true(
		    drain_pods_add(&fresh, &value.node_pod, wire_str_of(uid), &sight, err, sizeof(err)));
		drain_pods_replace(&list, &fresh);
		assert_int_equal(list.pods[0].ends_ms, 25000);
	}
	drain_pods_free(&list);
}

static void
evictions(void **state)
{
	static const char *const pods[] = { NAMED("a"), NAMED("b"), NAMED("c"), NAMED("d"), NAMED("e") };
	struct drain_target node;
	struct drain *d = start(&drain_kubectl, &node);

	(void)state;
	drain_advance(d, &node, clock_mono_ms());
	answer_list(0, pods, 5, "");
	assert_int_equal(drain_count(d), 5);
	drain_advance(d, &node, clock_mono_ms());
	assert_int_equal(bus.n, 1 + DRAIN_EVICTIONS_MAX);
	for (size_t i = 1; i < bus.n; i++) {
		char uid[] = "u-?";

		uid[2] = (char)('a' + i - 1);
		assert_int_equal(bus.sent[i].op, OP_EVICT);
		assert_string_equal(bus.sent[i].ns, "ns");
		assert_string_equal(bus.sent[i].uid, uid);
	}
	answer(1, (struct write_result){ .outcome = OUTCOME_OK });
	drain_advance(d, &node, clock_mono_ms());
	assert_string_equal(bus.sent[5].uid, "u-e");
	answer(2, (struct write_result){ .outcome = OUTCOME_LIMITED, .retry_after_ms = 20000 });
	answer(3, (struct write_result){ .outcome = OUTCOME_NOT_FOUND });
	answer(4, (struct write_result){ .outcome = OUTCOME_OK });
	answer(5, (struct write_result){ .outcome = OUTCOME_OK });
	/* Nothing is sent twice; the list comes after a second, the refused Pod after 20. */
	const int64_t now_ms = clock_mono_ms();
	assert_int_equal(drain_advance(d, &node, now_ms).verb, DRAIN_WAIT);
	assert_int_equal(bus.n, 6);
	drain_advance(d, &node, now_ms + 2000);
	assert_int_equal(bus.sent[6].op, OP_LIST);
	answer_list(6, pods + 1, 1, "");
	const struct drain_step wait = drain_advance(d, &node, clock_mono_ms());
	assert_int_equal(wait.verb, DRAIN_WAIT);
	assert_int_equal(bus.n, 7);
	drain_advance(d, &node, now_ms + 20000);
	assert_int_equal(bus.n, 8);
	assert_true(bus.sent[7].op == OP_EVICT || bus.sent[7].op == OP_LIST);
	if (bus.sent[7].op == OP_LIST)
		answer_list(7, pods + 1, 1, "");
	else
		answer(7, (struct write_result){ .outcome = OUTCOME_OK });
	drain_free(&d);
}

static const struct after_row {
	const char	*name;
	enum outcome	 outcome;
	enum op		 next;		/* what is sent a second later; OP_MAX: nothing */
} after_rows[] = {
	{ "after: another Pod has the name", OUTCOME_CONFLICT, OP_LIST },
	{ "after: unknown is read live", OUTCOME_UNKNOWN, OP_LIST },
	{ "after: not sent", OUTCOME_EXPIRED, OP_LIST },
	{ "after: the Lease is not held", OUTCOME_NOT_LEADER, OP_LIST },
	{ "after: a server that failed", OUTCOME_FAILED, OP_LIST },
	{ "after: no right to it", OUTCOME_FORBIDDEN, OP_LIST },
	{ "after: too many in flight", OUTCOME_BUSY, OP_EVICT },
};

static void
check_after(void **state)
{
	static const char *const pods[] = { NAMED("a") };
	const struct after_row *const row = *state;
	struct drain_target node;
	struct drain *d = start(&drain_kubectl, &node);

	drain_advance(d, &node, clock_mono_ms());
	answer_list(0, pods, 1, "");
	drain_advance(d, &node, clock_mono_ms());
	answer(1, (struct write_result){ .outcome = row->outcome });
	assert_non_null(strstr(drain_error(d), outcome_text(row->outcome)));
	/* The list of before is a second old by then, too: an eviction has to win. */
	const int64_t then_ms = clock_mono_ms() + 1001;
	drain_advance(d, &node, then_ms);
	assert_int_equal(bus.n, 3);
	assert_int_equal(bus.sent[2].op, row->next);
	if (row->next == OP_LIST)
		answer_list(2, pods, 1, "");
	else
		answer(2, (struct write_result){ .outcome = OUTCOME_OK });
	drain_free(&d);
}

/* A list that lacks something proves nothing. */
static void
an_incomplete_list(void **state)
{
	static const char *const pods[] = { NAMED("a"),
		POD("", "\"terminationGracePeriodSeconds\":-1") };
	struct drain_target node;
	struct drain *d = start(&drain_kubectl, &node);

	(void)state;
	drain_advance(d, &node, clock_mono_ms());
	answer_list(0, NULL, 0, "1 objects skipped, the first of them pods: too large");
	assert_non_null(strstr(drain_error(d), "1 objects skipped"));
	assert_int_equal(drain_advance(d, &node, clock_mono_ms()).verb, DRAIN_WAIT);
	assert_int_equal(bus.n, 1);
	drain_advance(d, &node, clock_mono_ms() + 1001);
	assert_int_equal(bus.n, 2);
	answer_list(1, pods, 2, "");
	assert_non_null(strstr(drain_error(d), "Pod ns/p: spec.terminationGracePeriodSeconds: out of range"));
	assert_int_equal(drain_count(d), 0);
	assert_int_equal(drain_advance(d, &node, clock_mono_ms()).verb, DRAIN_WAIT);
	drain_advance(d, &node, clock_mono_ms() + 1001);
	bus.timeless = true;
	answer_list(2, NULL, 0, "");
	assert_non_null(strstr(drain_error(d), "the time of the cluster"));
	bus.timeless = false;
	drain_advance(d, &node, clock_mono_ms() + 1001);
	answer_list(3, NULL, 0, "");
	assert_int_equal(drain_advance(d, &node, clock_mono_ms()).verb, DRAIN_DONE);
	drain_free(&d);
}

static void
freed_with_requests_in_flight(void **state)
{
	static const char *const pods[] = { NAMED("a"), NAMED("b") };
	struct drain_target node;
	struct drain *d = start(&drain_kubectl, &node);

	(void)state;
	drain_advance(d, &node, clock_mono_ms());
	answer_list(0, pods, 2, "");
	drain_advance(d, &node, clock_mono_ms());
	assert_int_equal(bus.n, 3);
	const int before = bus.progress;
	drain_free(&d);
	assert_null(d);
	bus.sent[1].done(NULL, NULL, &(struct write_result){ .outcome = OUTCOME_OK }, bus.sent[1].arg);
	bus.sent[2].done(NULL, NULL, &(struct write_result){ .outcome = OUTCOME_UNKNOWN }, bus.sent[2].arg);
	assert_int_equal(bus.progress, before);
}

/* At the deadline less its grace period a Pod is deleted, with the time that is left. */
static void
deleted_at_the_deadline(void **state)
{
	static const char *const pods[] = { NAMED("a"), NAMED("b") };
	struct drain_target node;
	struct drain *d = start(&drain_karpenter, &node);

	(void)state;
	drain_free(&d);
	const int64_t now_ms = clock_mono_ms();
	d = drain_new(&(struct drain_config){ .pool = &pool, .node = "n1", .policy = &drain_karpenter,
	    .started_ms = now_ms, .deadline_ms = now_ms + 20000, .progress = note_progress });
	drain_advance(d, &node, now_ms);
	answer_list(0, pods, 2, "");
	drain_advance(d, &node, now_ms);
	assert_int_equal(bus.n, 3);
	assert_int_equal(bus.sent[1].op, OP_DELETE);
	assert_string_equal(bus.sent[1].uid, "u-a");
	assert_string_equal(bus.sent[1].body, "{\"gracePeriodSeconds\":20}");
	assert_string_equal(bus.sent[2].uid, "u-b");
	answer(1, (struct write_result){ .outcome = OUTCOME_OK });
	answer(2, (struct write_result){ .outcome = OUTCOME_DENIED });
	drain_advance(d, &node, clock_mono_ms());
	assert_int_equal(bus.n, 3);		/* not at once */
	drain_free(&d);
}

int
main(void)
{
	static const struct CMUnitTest flows[] = {
		cmocka_unit_test(outdated_view), cmocka_unit_test(server_clock_moves),
		cmocka_unit_test(evictions), cmocka_unit_test(an_incomplete_list),
		cmocka_unit_test(freed_with_requests_in_flight), cmocka_unit_test(deleted_at_the_deadline),
	};
	struct CMUnitTest pods[NITEMS(pod_rows)], marks[NITEMS(mark_rows)], afters[NITEMS(after_rows)];

	for (size_t i = 0; i < NITEMS(pod_rows); i++)
		pods[i] = (struct CMUnitTest){ pod_rows[i].name, check_pod, NULL, NULL,
			(void *)(uintptr_t)&pod_rows[i] };
	for (size_t i = 0; i < NITEMS(mark_rows); i++)
		marks[i] = (struct CMUnitTest){ mark_rows[i].name, check_mark, NULL, NULL,
			(void *)(uintptr_t)&mark_rows[i] };
	for (size_t i = 0; i < NITEMS(after_rows); i++)
		afters[i] = (struct CMUnitTest){ after_rows[i].name, check_after, NULL, NULL,
			(void *)(uintptr_t)&after_rows[i] };
	return cmocka_run_group_tests_name("drain, Pods", pods, drain_rig_open, drain_rig_close)
	    + cmocka_run_group_tests_name("drain, marks", marks, drain_rig_open, drain_rig_close)
	    + cmocka_run_group_tests_name("drain, outcomes", afters, drain_rig_open, drain_rig_close)
	    + cmocka_run_group_tests_name("drain", flows, drain_rig_open, drain_rig_close);
}
