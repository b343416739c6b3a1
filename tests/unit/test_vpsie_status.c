/* tests/unit/test_vpsie_status.c - statuses of VPSieNode and NodeGroup, and the watermark, as tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/vpsie-claimer/group_status.h"
#include "actors/vpsie-claimer/watermark.h"
#include "obj.h"

#define NOW	"2026-01-09T11:00:00Z"
#define BEFORE	"2026-01-09T10:00:00Z"

static struct wire_str
w(const char *text)
{
	return wire_str_of(text);
}

static const struct status_condition *
condition(const struct status_condition *list, uint32_t n, const char *type)
{
	for (uint32_t i = 0; i < n; i++) {
		if (wire_str_is(list[i].type, type))
			return &list[i];
	}
	return NULL;
}

/* What a row expects of the status; "": empty. */
static const struct phase_row {
	const char *name;
	enum vpsie_phase from, to;
	const char *stored_node, *node;
	bool ready;
	const char *provisioned_at, *joined_at, *ready_at, *terminating_at, *want_node;
	const char *vps, *joined, *node_ready;	/* conditions */
} phase_rows[] = {
	{ "D14 accepted", PHASE_NEW, PHASE_PENDING, "", "", false, "", "", "", "", "", "False",
	    "False", "False" },
	{ "D14 the machine runs", PHASE_PROVISIONING, PHASE_PROVISIONED, "", "", false, NOW, "", "",
	    "", "", "True", "False", "False" },
	{ "M3 its Node is there", PHASE_JOINING, PHASE_JOINING, "", "n1", false, "", NOW, "", "",
	    "n1", "True", "True", "False" },
	{ "D14 it becomes ready", PHASE_JOINING, PHASE_READY, "n1", "n1", true, "", NOW, NOW, "",
	    "n1", "True", "True", "True" },
	{ "D21 NodeReady follows the Node", PHASE_READY, PHASE_READY, "n1", "n1", false, "", NOW,
	    "", "", "n1", "True", "True", "False" },
	{ "D21 its Node is gone: provisionedAt anew", PHASE_READY, PHASE_JOINING, "n1", "", false,
	    NOW, "", "", "", "", "True", "False", "False" },
	{ "D14 it terminates and keeps the name of its Node", PHASE_READY, PHASE_TERMINATING, "n1",
	    "n1", true, "", "", "", NOW, "n1", NULL, NULL, NULL },
};

static void
phases(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(phase_rows); i++) {
		const struct phase_row *const r = &phase_rows[i];
		struct node_status stored = { .phase = r->from, .node_name = w(r->stored_node) }, got;
		const struct status_input in = { .next = r->to,
			.reason = "R",
			.message = "m",
			.generation = 3,
			.now = w(NOW),
			.node = w(r->node),
			.node_ready = r->ready };

		vpsie_status_desire(&stored, &in, &got);
		const struct {
			struct wire_str got;
			const char *want;
		} texts[] = { { got.provisioned_at, r->provisioned_at }, { got.joined_at, r->joined_at },
			{ got.ready_at, r->ready_at }, { got.terminating_at, r->terminating_at },
			{ got.node_name, r->want_node }, { got.created_at, NOW } };
		for (size_t k = 0; k < NITEMS(texts); k++) {
			if (!wire_str_is(texts[k].got, texts[k].want))
				fail_msg("%s: text %zu is \"%.*s\"", r->name, k,
				    (int)texts[k].got.len, texts[k].got.p);
		}
		assert_int_equal(got.observed, 3);
		const char *const types[] = { "VPSReady", "NodeJoined", "NodeReady" };
		const char *const wants[] = { r->vps, r->joined, r->node_ready };
		for (size_t k = 0; k < NITEMS(types); k++) {
			const struct status_condition *const c =
			    condition(got.conditions, got.nconditions, types[k]);

			if (wants[k] == NULL ? c != NULL : c == NULL || !wire_str_is(c->status, wants[k]))
				fail_msg("%s: condition %s", r->name, types[k]);
		}
		/* A1: what was written is not written again. */
		struct node_status again;
		vpsie_status_desire(&got,
		    &(struct status_input){ .next = r->to,
			.generation = 3,
			.now = w("2026-01-09T12:00:00Z"),
			.node = w(r->node),
			.node_ready = r->ready },
		    &again);
		const char *const field = vpsie_status_difference(&got, &again);
		if (field != NULL)
			fail_msg("%s: %s is written twice", r->name, field);
	}
}

static void
created_at_never_moves(void **state)
{
	struct node_status stored = { .phase = PHASE_READY,
		.created_at = w(BEFORE),
		.ready_at = w(BEFORE) },
			   got;

	(void)state;
	vpsie_status_desire(&stored, &(struct status_input){ .next = PHASE_JOINING, .now = w(NOW) }, &got);
	assert_true(wire_str_is(got.created_at, BEFORE));
	assert_true(wire_str_is(got.ready_at, BEFORE));
}

static void
D19_what_the_provider_has_is_in_the_status(void **state)
{
	const struct machine m = { .status = w("running"),
		.hostname = w("k8s-1"),
		.cpu = 2,
		.ram = 4096,
		.ssd = 80,
		.traffic = 3000 };
	const struct machine bare = { .id = 1 };
	struct node_status stored = { .phase = PHASE_PROVISIONING }, got, again;

	(void)state;
	vpsie_status_desire(&stored,
	    &(struct status_input){ .next = PHASE_PROVISIONED, .now = w(NOW), .machine = &m },
	    &got);
	assert_true(wire_str_is(got.vps_status, "running"));
	assert_true(wire_str_is(got.hostname, "k8s-1"));
	assert_int_equal(got.cpu, 2);
	assert_int_equal(got.memory_mb, 4096);
	assert_int_equal(got.disk_gb, 80);
	assert_int_equal(got.traffic_gb, 3000);
	/* What the provider does not report any more stays. */
	vpsie_status_desire(&got,
	    &(struct status_input){ .next = PHASE_PROVISIONED, .now = w(NOW), .machine = &bare },
	    &again);
	assert_null(vpsie_status_difference(&got, &again));
}

static void
E3_the_error_of_a_failed_one_stays_and_another_goes(void **state)
{
	struct node_status stored = { .phase = PHASE_PROVISIONING }, got, after;

	(void)state;
	vpsie_status_desire(&stored, &(struct status_input){ .next = PHASE_PROVISIONING, .now = w(NOW),
	    .error_reason = "VPSieAPIError", .error = "no answer" }, &got);
	assert_true(wire_str_is(got.last_error, "no answer"));
	const struct status_condition *c = condition(got.conditions, got.nconditions, "Error");
	assert_true(c != NULL && wire_str_is(c->status, "True") && wire_str_is(c->reason, "VPSieAPIError"));
	vpsie_status_desire(
	    &got, &(struct status_input){ .next = PHASE_PROVISIONING, .now = w(NOW) }, &after);
	assert_int_equal(after.last_error.len, 0);
	c = condition(after.conditions, after.nconditions, "Error");
	assert_true(c != NULL && wire_str_is(c->status, "False"));
	vpsie_status_desire(&stored, &(struct status_input){ .next = PHASE_FAILED, .now = w(NOW),
	    .reason = "DiscoveryTimeout", .message = "too late" }, &got);
	vpsie_status_desire(&got, &(struct status_input){ .next = PHASE_FAILED, .now = w(NOW) }, &after);
	assert_null(vpsie_status_difference(&got, &after));
	assert_true(wire_str_is(after.last_error, "too late"));
	c = condition(after.conditions, after.nconditions, "Error");
	assert_true(c != NULL && wire_str_is(c->reason, "DiscoveryTimeout"));
}

static void
conditions_of_others_are_kept(void **state)
{
	struct node_status stored = { .phase = PHASE_PENDING,
		.nconditions = 1,
		.conditions = { { .type = w("Theirs"),
		    .status = w("True"),
		    .reason = w("x"),
		    .time = w(BEFORE) } },
		.updated = { w(BEFORE) } },
			   got;
	static char buf[4096];
	struct json j = { .buf = buf, .size = sizeof(buf) };

	(void)state;
	vpsie_status_desire(
	    &stored, &(struct status_input){ .next = PHASE_PROVISIONING, .now = w(NOW) }, &got);
	json_open(&j, NULL, '{');
	vpsie_status_put(&j, &got);
	json_close(&j, '}');
	assert_true(json_end(&j) > 0);
	assert_non_null(strstr(buf,
	    "{\"type\":\"Theirs\",\"status\":\"True\",\"reason\":\"x\",\"message\":\"\","
	    "\"lastTransitionTime\":\"" BEFORE "\",\"lastUpdateTime\":\"" BEFORE "\"}"));
	assert_non_null(strstr(buf, "\"phase\":\"Provisioning\""));
	assert_non_null(strstr(buf, "\"nodeName\":null"));
	assert_non_null(strstr(buf, "\"createdAt\":\"" NOW "\""));
}

/* ---- NodeGroup ---- */

static void
S1_S2_counts_and_conditions_of_a_group(void **state)
{
	const struct group_plan plan = { .reason = "", .desired = 3, .current = 2, .ready = 1, .group_id = 7,
		.at_max = true, .scaling = true };
	const struct group_plan invalid = {
		.reason = "InvalidSpec", .message = "minNodes (3) is greater", .desired = 3
	};
	const struct group_node rows[] = { { .node_name = w("n1"), .phase = w("Ready"), .id = 4 } };
	struct group_status stored = { .nodes = NULL }, got, again;
	static char buf[8192];
	struct json j = { .buf = buf, .size = sizeof(buf) };

	(void)state;
	group_status_desire(&stored, &plan, 5, NULL, NULL, w(NOW), &got);
	got.nodes = rows;
	got.nnodes = 1;
	assert_string_equal(group_status_difference(&stored, &got), "desiredNodes");
	assert_int_equal(got.current, 2);
	assert_int_equal(got.ready, 1);
	assert_int_equal(got.group_id, 7);
	const struct {
		const char *type, *status;
	} wants[] = { { "Ready", "False" }, { "Scaling", "True" }, { "AtMinCapacity", "False" },
		{ "AtMaxCapacity", "True" }, { "Error", "False" } };
	for (size_t i = 0; i < NITEMS(wants); i++)
		assert_true(wire_str_is(condition(got.conditions, got.nconditions, wants[i].type)->status,
		    wants[i].status));
	group_status_desire(&got, &plan, 5, NULL, NULL, w("2026-01-09T12:00:00Z"), &again);
	assert_null(group_status_difference(&got, &again));
	json_open(&j, NULL, '{');
	group_status_put(&j, &got);
	json_close(&j, '}');
	assert_true(json_end(&j) > 0);
	assert_non_null(strstr(buf,
	    "{\"nodeName\":\"n1\",\"vpsID\":4,\"instanceType\":\"\",\"status\":\"Ready\","
	    "\"ipAddress\":\"\"}"));
	/* What whoever scales wrote stays while the spec cannot be served. */
	stored.desired = 9;
	group_status_desire(&stored, &invalid, 5, NULL, NULL, w(NOW), &got);
	assert_int_equal(got.desired, 9);
	const struct status_condition *const c = condition(got.conditions, got.nconditions, "Error");
	assert_true(wire_str_is(c->status, "True") && wire_str_is(c->reason, "InvalidSpec"));
	group_status_desire(&stored, &plan, 5, "VPSieAPIError", "HTTP 502", w(NOW), &got);
	assert_true(wire_str_is(condition(got.conditions, got.nconditions, "Error")->message, "HTTP 502"));
}

/* ---- Watermark ---- */

static void
D10_a_watermark_has_what_was_there(void **state)
{
	const struct machine machines[] = {
		{ .identifier = w("u1"), .cluster = w("C1"), .created_us = INT64_C(1767952800000000) },
		{ .hostname = w("h2"), .cluster = w("c1"), .created_us = INT64_C(1767949200000000) },
		{ .identifier = w("u3"), .cluster = w("c1") },	/* bound */
		{ .identifier = w("u4"), .cluster = w("c2") }, { .identifier = w("u5") },
		{ .identifier = w("u6"), .cluster = w("c1"), .master = true },
		{ .identifier = w("u7"), .cluster = w("c1"), .deleted = true },
	};
	struct discover_owner owners[NITEMS(machines)];
	struct watermark mark, read;
	char text[WATERMARK_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < NITEMS(owners); i++)
		owners[i] = (struct discover_owner){ .owner = i == 2 ? 0 : DISCOVER_NONE };
	watermark_take(machines, owners, NITEMS(machines), w("c1"), &mark);
	watermark_print(&mark, text);
	assert_string_equal(text, "nodes=3 newest=2026-01-09T10:00:00Z free=u1,h2");
	assert_true(watermark_parse(w(text), &read));
	assert_int_equal(read.nodes, 3);
	assert_int_equal(read.newest_us, INT64_C(1767952800000000));
	assert_true(read.has_free && read.nfree == 2 && wire_str_is(read.free[1], "h2"));
}

static void
D10_too_many_free_machines_are_not_named(void **state)
{
	static struct machine machines[WATERMARK_FREE_MAX + 1];
	static struct discover_owner owners[NITEMS(machines)];
	static struct watermark mark, read;
	char text[WATERMARK_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < NITEMS(machines); i++) {
		machines[i] = (struct machine){ .identifier = w("u"), .cluster = w("c1") };
		owners[i].owner = DISCOVER_NONE;
	}
	watermark_take(machines, owners, NITEMS(machines), w("c1"), &mark);
	watermark_print(&mark, text);
	assert_string_equal(text, "nodes=97 free=...");
	assert_true(watermark_parse(w(text), &read));
	assert_false(read.has_free);
}

static const struct {
	const char *name, *text;
	bool good, has_free;
	uint32_t nfree;
} mark_rows[] = {
	{ "none", "", false, false, 0 },
	{ "an empty group", "nodes=0 free=", true, true, 0 },
	{ "words of a later version", "nodes=1 more=x free=a", true, true, 1 },
	{ "no count", "free=a", false, false, 0 },
	{ "no number", "nodes=x", false, false, 0 },
	{ "a number without end", "nodes=1111111111111111111111", false, false, 0 },
	{ "no time", "nodes=1 newest=yesterday free=", false, false, 0 },
	{ "an empty identifier", "nodes=1 free=a,,b", false, false, 0 },
	{ "of somebody else", "true", false, false, 0 },
};

static void
D10_a_malformed_watermark_counts_for_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(mark_rows); i++) {
		static struct watermark mark;

		if (watermark_parse(w(mark_rows[i].text), &mark) != mark_rows[i].good
		    || mark.has_free != mark_rows[i].has_free || mark.nfree != mark_rows[i].nfree)
			fail_msg("%s", mark_rows[i].name);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases),
		cmocka_unit_test(created_at_never_moves),
		cmocka_unit_test(D19_what_the_provider_has_is_in_the_status),
		cmocka_unit_test(E3_the_error_of_a_failed_one_stays_and_another_goes),
		cmocka_unit_test(conditions_of_others_are_kept),
		cmocka_unit_test(S1_S2_counts_and_conditions_of_a_group),
		cmocka_unit_test(D10_a_watermark_has_what_was_there),
		cmocka_unit_test(D10_too_many_free_machines_are_not_named),
		cmocka_unit_test(D10_a_malformed_watermark_counts_for_nothing),
	};

	return cmocka_run_group_tests_name("VPSie status", tests, NULL, NULL);
}
