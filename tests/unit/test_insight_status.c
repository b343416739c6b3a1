/*
 * tests/unit/test_insight_status.c - B5: from the messages of the bus to the bodies for the cluster.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/insight/insight.h"
#include "obj.h"

#define NOW_US	INT64_C(1794884645000000)
#define NOW	"2026-11-17T03:04:05Z"
#define API	"openshift.muller.dev/v1alpha1"

struct list {
	msgpack_sbuffer		bytes;
	struct wire_rows	rows;
};

static void
add(struct list *l, unsigned columns, const char *const *cells)
{
	struct wire_str texts[ROWS_COLUMNS_MAX];

	if (l->bytes.data == NULL)
		msgpack_sbuffer_init(&l->bytes);
	for (unsigned i = 0; i < columns; i++)
		texts[i] = wire_str_of(cells[i]);
	rows_put(&l->bytes, &l->rows, texts, columns);
}
#define ADD(l, ...)	add((l), NITEMS(((const char *[]){ __VA_ARGS__ })), (const char *[]){ __VA_ARGS__ })

static void
plan_for(const struct insight_status *state, struct insight_plan *p)
{
	insight_plan(&(struct insight_input){
		.desired = state, .now_us = NOW_US,
	}, p);
}

/* ---- Bodies ---- */

static void
B5_created_empty(void **arg)
{
	char body[512];

	(void)arg;
	assert_true(
	    status_create_body(body, sizeof(body), INSIGHT_NODES, API, wire_str_of("w1")) == strlen(body));
	assert_string_equal(body, "{\"apiVersion\":\"" API "\",\"kind\":\"NodeProgressInsight\","
	    "\"metadata\":{\"name\":\"w1\"},\"spec\":{}}");
	status_create_body(body, sizeof(body), INSIGHT_POOLS, "other.example/v2", wire_str_of("p"));
	assert_string_equal(body, "{\"apiVersion\":\"other.example/v2\",\"kind\":"
	    "\"MachineConfigPoolProgressInsight\",\"metadata\":{\"name\":\"p\"},\"spec\":{}}");
	assert_int_equal(status_create_body(body, 40, INSIGHT_NODES, API, wire_str_of("w1")), 0);
}

static void
B5_status_of_a_node(void **arg)
{
	struct list conditions = { .rows.count = 0 };
	struct insight_plan p;
	struct insight_status s;
	char body[2048];

	(void)arg;
	ADD(&conditions, "Updating", "True", "Draining", "The node is \"draining\"", "");
	ADD(&conditions, "Available", "False", "Unavailable", "a | b\n", "2026-01-01T00:00:00Z");
	insight_kinds[INSIGHT_NODES].read_state(&s, wire_str_of("w1"), &(union msg_body){ .node_state = {
		.pool = wire_str_of("worker"), .scope = wire_str_of("WorkerPool"),
		.version = wire_str_of("4.20.3"), .estimate = wire_str_of("10m0s"),
		.message = wire_str_of("é"), .conditions = conditions.rows,
	} });
	plan_for(&s, &p);
	status_update_body(body, sizeof(body), INSIGHT_NODES, API, &s, &p);
	assert_string_equal(body, "{\"apiVersion\":\"" API "\",\"kind\":\"NodeProgressInsight\","
	    "\"metadata\":{\"name\":\"w1\"},\"status\":{\"name\":\"w1\",\"scopeType\":\"WorkerPool\","
	    "\"poolResource\":{\"group\":\"machineconfiguration.openshift.io\","
	    "\"resource\":\"machineconfigpools\",\"name\":\"worker\"},\"version\":\"4.20.3\","
	    "\"estimatedToComplete\":\"10m0s\",\"message\":\"é\",\"conditions\":["
	    "{\"type\":\"Updating\",\"status\":\"True\",\"reason\":\"Draining\","
	    "\"message\":\"The node is \\\"draining\\\"\",\"lastTransitionTime\":\"" NOW "\"},"
	    "{\"type\":\"Available\",\"status\":\"False\",\"reason\":\"Unavailable\","
	    "\"message\":\"a | b\\n\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}");
	msgpack_sbuffer_destroy(&conditions.bytes);
}

static void
B5_an_empty_optional_field_is_left_out(void **arg)
{
	struct insight_plan p;
	struct insight_status s;
	char body[1024];

	(void)arg;
	insight_kinds[INSIGHT_NODES].read_state(&s, wire_str_of("w1"), &(union msg_body){ .node_state = {
		.pool = wire_str_of("worker"), .scope = wire_str_of("WorkerPool"),
	} });
	plan_for(&s, &p);
	status_update_body(body, sizeof(body), INSIGHT_NODES, API, &s, &p);
	assert_null(strstr(body, "version\""));
	assert_null(strstr(body, "estimatedToComplete"));
	assert_non_null(strstr(body, "\"message\":\"\""));
	assert_non_null(strstr(body, "\"group\":\"machineconfiguration.openshift.io\""));
}

static void
B5_status_of_a_pool(void **arg)
{
	struct list summaries = { .rows.count = 0 }, conditions = { .rows.count = 0 };
	struct insight_plan p;
	struct insight_status s;
	char body[2048];

	(void)arg;
	ADD(&summaries, "Total", "3");
	ADD(&summaries, "Draining", "");
	ADD(&conditions, "Healthy", "True", "NoProblems", "", "");
	insight_kinds[INSIGHT_POOLS].read_state(&s, wire_str_of("master"), &(union msg_body){ .pool_state = {
		.scope = wire_str_of("ControlPlane"), .assessment = wire_str_of("Progressing"), .percent = 33,
		.summaries = summaries.rows, .conditions = conditions.rows,
	} });
	plan_for(&s, &p);
	status_update_body(body, sizeof(body), INSIGHT_POOLS, API, &s, &p);
	assert_string_equal(body, "{\"apiVersion\":\"" API "\",\"kind\":"
	    "\"MachineConfigPoolProgressInsight\",\"metadata\":{\"name\":\"master\"},\"status\":{"
	    "\"name\":\"master\",\"scopeType\":\"ControlPlane\",\"assessment\":\"Progressing\","
	    "\"completionPercent\":33,\"summaries\":[{\"type\":\"Total\",\"count\":3},"
	    "{\"type\":\"Draining\",\"count\":0}],\"conditions\":[{\"type\":\"Healthy\","
	    "\"status\":\"True\",\"reason\":\"NoProblems\",\"message\":\"\",\"lastTransitionTime\":"
	    "\"" NOW "\"}]}}");
	msgpack_sbuffer_destroy(&summaries.bytes);
	msgpack_sbuffer_destroy(&conditions.bytes);
}

static void
A4_the_event_names_the_causes(void **arg)
{
	char body[EVENT_BODY_MAX];

	(void)arg;
	event_body(body, "Warning", "InsightRefused", "UpdateStatus",
	    wire_str_of("status.message: too long"));
	assert_string_equal(body, "{\"type\":\"Warning\",\"reason\":\"InsightRefused\","
	    "\"action\":\"UpdateStatus\",\"note\":\"status.message: too long\"}");
}

/* ---- Limits ---- */

static const struct cut {
	const char	*name, *unit;
	unsigned	 count, want;	/* of units */
} cuts[] = {
	{ "B5 a short message stays", "a", 3, 3 },
	{ "B5 100 characters stay", "a", 100, 100 },
	{ "B5 regression: overlong message", "a", 101, 100 },
	{ "B5 characters are counted, not bytes", "é", 100, 100 },
	{ "B5 cut between characters of two bytes", "é", 150, 100 },
	{ "B5 cut between characters of four bytes", "😀", 150, 100 },
};

static void
check_cut(void **arg)
{
	const struct cut *const r = *arg;
	const size_t len = strlen(r->unit);
	char text[1024] = "";
	struct insight_status s;

	for (unsigned i = 0; i < r->count; i++)
		memcpy(text + i * len, r->unit, len + 1);
	insight_kinds[INSIGHT_NODES].read_state(&s, wire_str_of("w1"), &(union msg_body){
		.node_state = { .message = wire_str_of(text) } });
	assert_int_equal(s.fields[FIELD_MESSAGE].len, r->want * len);
}

static void
B5_regression_overlong_condition_message(void **arg)
{
	static char text[70000], body[WRITE_BODY_MAX];
	struct list conditions = { .rows.count = 0 };
	struct insight_plan p;
	struct insight_status s;

	(void)arg;
	memset(text, 1, sizeof(text) - 1);	/* the worst: six bytes each in JSON */
	ADD(&conditions, "Degraded", "True", "Degraded", text, "");
	insight_kinds[INSIGHT_NODES].read_state(&s, wire_str_of("w1"), &(union msg_body){
		.node_state = { .message = wire_str_of(text), .conditions = conditions.rows } });
	assert_int_equal(s.conditions[0].message.len, 32768);
	plan_for(&s, &p);
	assert_true(status_update_body(body, sizeof(body), INSIGHT_NODES, API, &s, &p) > 0);
	msgpack_sbuffer_destroy(&conditions.bytes);
}

/* ---- What is stored ---- */

static void
B5_what_was_written_reads_the_same(void **arg)
{
	struct list state_sums = { .rows.count = 0 }, stored_sums = { .rows.count = 0 };
	struct insight_status state, stored;
	struct insight_plan p;

	(void)arg;
	ADD(&state_sums, "Total", "0");
	ADD(&stored_sums, "Total", "");		/* as a projection gives a zero */
	insight_kinds[INSIGHT_POOLS].read_state(&state, wire_str_of("p"), &(union msg_body){ .pool_state = {
		.scope = wire_str_of("WorkerPool"), .assessment = wire_str_of("Pending"),
		.summaries = state_sums.rows } });
	insight_kinds[INSIGHT_POOLS].read_insight(&stored, &(union msg_body){ .pool_insight = {
		.name = wire_str_of("p"), .scope = wire_str_of("WorkerPool"),
		.assessment = wire_str_of("Pending"), .summaries = stored_sums.rows } });
	insight_plan(&(struct insight_input){
		.desired = &state, .stored = &stored, .now_us = NOW_US,
	}, &p);
	assert_int_equal(p.verb, INSIGHT_NOTHING);
	msgpack_sbuffer_destroy(&state_sums.bytes);
	msgpack_sbuffer_destroy(&stored_sums.bytes);
}

static void
B5_a_long_foreign_list_never_passes_for_ours(void **arg)
{
	struct list conditions = { .rows.count = 0 };
	struct insight_status s;

	(void)arg;
	for (int i = 0; i < 30; i++)
		ADD(&conditions, "Mine", "True", "Mine", "", NOW);
	insight_kinds[INSIGHT_NODES].read_insight(&s, &(union msg_body){
		.node_insight = { .conditions = conditions.rows } });
	assert_int_equal(s.nconditions, CONDITIONS_MAX);
	msgpack_sbuffer_destroy(&conditions.bytes);
}

static const struct key {
	const char	*key;
	enum insight_kind	 kind;
	const char	*name;
} keys[] = {
	{ "nodes/w1", INSIGHT_NODES, "w1" },
	{ "machineconfigpools/worker", INSIGHT_POOLS, "worker" },
	{ "nodes/", INSIGHT_KIND_MAX, "" },
	{ "nodes", INSIGHT_KIND_MAX, "" },
	{ "nodesw/1", INSIGHT_KIND_MAX, "" },
	{ ":leader", INSIGHT_KIND_MAX, "" },
	{ "nodeprogressinsights/w1", INSIGHT_KIND_MAX, "" },
};

static void
a_key_has_a_kind_and_a_name(void **arg)
{
	(void)arg;
	for (size_t i = 0; i < NITEMS(keys); i++) {
		struct wire_str name = wire_str_of("");

		assert_int_equal(insight_kind_of_key(keys[i].key, strlen(keys[i].key), &name), keys[i].kind);
		assert_int_equal(wire_str_compare(name, wire_str_of(keys[i].name)), 0);
	}
	assert_int_equal(insight_kind_by_state(MSG_POOL_STATE), INSIGHT_POOLS);
	const struct reconcile_spec spec = { .kinds = insight_objects, .nkinds = INSIGHT_KIND_MAX };
	assert_int_equal(reconcile_kind_by_message(&spec, MSG_POOL_INSIGHT), INSIGHT_POOLS);
	assert_int_equal(reconcile_kind_by_message(&spec, MSG_LEADER), INSIGHT_KIND_MAX);
	assert_int_equal(
	    reconcile_kind_by_resource(&spec, wire_str_of("nodeprogressinsights")), INSIGHT_NODES);
	assert_int_equal(reconcile_kind_by_resource(&spec, wire_str_of("nodes")), INSIGHT_KIND_MAX);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(cuts) + 16] = {
		cmocka_unit_test(B5_created_empty),
		cmocka_unit_test(B5_status_of_a_node),
		cmocka_unit_test(B5_an_empty_optional_field_is_left_out),
		cmocka_unit_test(B5_status_of_a_pool),
		cmocka_unit_test(A4_the_event_names_the_causes),
		cmocka_unit_test(B5_regression_overlong_condition_message),
		cmocka_unit_test(B5_what_was_written_reads_the_same),
		cmocka_unit_test(B5_a_long_foreign_list_never_passes_for_ours),
		cmocka_unit_test(a_key_has_a_kind_and_a_name),
	};
	size_t n = 0;

	while (tests[n].name != NULL)
		n++;
	for (size_t i = 0; i < NITEMS(cuts); i++)
		tests[n++] = (struct CMUnitTest){
			cuts[i].name, check_cut, NULL, NULL, (void *)(uintptr_t)&cuts[i] };
	return _cmocka_run_group_tests("insight_status", tests, n, NULL, NULL);
}
