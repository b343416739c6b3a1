/*
 * tests/unit/test_node_conditions.c - B2, B5: the texts of a NodeProgressInsight, exactly, and that
 * none is longer than its CRD allows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "actors/node-state/conditions.h"
#include "obj.h"
#include "utf8.h"

#define BIT(C)	(1U << CAUSE_##C)
#define FOUR_CUT	"Node is not ready | Node has disk pressure | Node has unavailable network | "	\
			"Node is marked unschedul"
#define FOUR		FOUR_CUT "able"
#define AVAILABLE	"True AsExpected The node is available"
#define SOUND		"False AsExpected The node is not degraded"
#define PENDING		"False Pending The update of the node is pending"
#define DAEMON		"Machine Config Daemon is processing the node"

/* What an assessment is here: its rule with its phase, and what else. */
#define IS(RULE, PHASE, ...)	{ .rule = RULE_##RULE, .phase = PHASE_##PHASE, __VA_ARGS__ }
#define UNAVAILABLE(set)	.unavailable = true, .causes = set

static const struct row {
	const char	*name;
	const char	*pool, *version, *reason;
	struct assess	 is;
	const char	*updating, *available, *degraded;	/* "status reason message" */
	const char	*scope, *phase, *estimate, *message, *shown;
} rows[] = {
	{ "B2 rule 1", "worker", "4.20.2", NULL, IS(DRAINING, DRAINING, .updating = true, .available = true),
	  "True Draining The node is draining", AVAILABLE, SOUND,
	  "WorkerPool", "Draining", "10m0s", "", "4.20.2" },
	{ "B2 rule 2", "worker", "4.20.2", NULL,
	  IS(REBOOTING, REBOOTING, .updating = true, .available = true),
	  "True Rebooting The node is rebooting", AVAILABLE, SOUND,
	  "WorkerPool", "Rebooting", "10m0s", "", "4.20.2" },
	{ "B2 rule 3", "worker", "4.20.2", NULL, IS(DONE, COMPLETED, .updating = true, .available = true),
	  "False Completed The node is updated", AVAILABLE, SOUND,
	  "WorkerPool", "Completed", "0s", "", "4.20.2" },
	{ "B2 rule 4", "worker", "4.20.2", NULL, IS(UPDATING, UPDATING, .updating = true, .available = true),
	  "True Updating The node is updating", AVAILABLE, SOUND,
	  "WorkerPool", "Updating", "10m0s", "", "4.20.2" },
	{ "B2 rule 5, control plane", "master", "4.20.3", NULL,
	  IS(UPDATED, COMPLETED, .updated = true, .available = true),
	  "False Completed The node is updated", AVAILABLE, SOUND,
	  "ControlPlane", "Completed", "0s", "", "4.20.3" },
	{ "B2 rule 6", "infra", "4.20.2", NULL, IS(PAUSED, PAUSED, .available = true),
	  "False Paused The update of the node is paused", AVAILABLE, SOUND,
	  "WorkerPool", "Paused", "", "", "4.20.2" },
	{ "B2 rule 7", "infra", "", NULL, IS(PENDING, PENDING, .available = true),
	  PENDING, AVAILABLE, SOUND,
	  "WorkerPool", "Pending", "", "", "" },
	{ "B2 unavailable: no estimate", "worker", "4.20.3", NULL,
	  IS(UPDATED, COMPLETED, .updated = true, UNAVAILABLE(BIT(NOT_READY) | BIT(UNSCHEDULABLE))),
	  "False Completed The node is updated",
	  "False Unavailable Node is not ready | Node is marked unschedulable", SOUND,
	  "WorkerPool", "Completed", "", "Node is not ready | Node is marked unschedulable", "4.20.3" },
	{ "B2 unavailable: the daemon", "worker", "4.20.3", NULL,
	  IS(PENDING, PENDING, UNAVAILABLE(BIT(DAEMON))),
	  PENDING, "False Unavailable " DAEMON, SOUND,
	  "WorkerPool", "Pending", "", DAEMON, "4.20.3" },
	{ "B5 four causes are over 100 characters", "worker", "4.20.3", NULL,
	  IS(PENDING, PENDING, UNAVAILABLE((1U << CAUSE_DAEMON) - 1)),
	  PENDING, "False Unavailable " FOUR, SOUND,
	  "WorkerPool", "Pending", "", FOUR_CUT, "4.20.3" },
	{ "B2 unavailable while updating is not reported", "worker", "4.20.2", NULL,
	  IS(UPDATING, UPDATING, .updating = true, .available = true, UNAVAILABLE(BIT(NOT_READY))),
	  "True Updating The node is updating", AVAILABLE, SOUND,
	  "WorkerPool", "Updating", "10m0s", "", "4.20.2" },
	{ "B2 degraded: the reason, no estimate", "worker", "4.20.2", "disk\nfull",
	  IS(UPDATING, UPDATING, .updating = true, .degraded = true, .available = true),
	  "True Updating The node is updating", AVAILABLE, "True Degraded disk\nfull",
	  "WorkerPool", "Updating", "", "disk\nfull", "4.20.2" },
	{ "B2 degraded with an empty reason", "worker", "4.20.2", "",
	  IS(PENDING, PENDING, .degraded = true, .available = true),
	  PENDING, AVAILABLE, "True Degraded ",
	  "WorkerPool", "Pending", "", "", "4.20.2" },
	{ "B2 degraded with no reason", "worker", "4.20.2", NULL,
	  IS(PENDING, PENDING, .degraded = true, .available = true),
	  PENDING, AVAILABLE, "True Degraded ",
	  "WorkerPool", "Pending", "", "", "4.20.2" },
	{ "B2 degraded wins over unavailable", "worker", "4.20.2", "bad",
	  IS(PENDING, PENDING, .degraded = true, UNAVAILABLE(BIT(NOT_READY))),
	  PENDING, "False Unavailable Node is not ready", "True Degraded bad",
	  "WorkerPool", "Pending", "", "bad", "4.20.2" },
	{ "B2 degraded with an empty reason hides the other message", "worker", "4.20.2", "",
	  IS(PENDING, PENDING, .degraded = true, UNAVAILABLE(BIT(NOT_READY))),
	  PENDING, "False Unavailable Node is not ready", "True Degraded ",
	  "WorkerPool", "Pending", "", "", "4.20.2" },
	{ "B2 a reason of a healthy node is not reported", "worker", "4.20.2", "an old reason",
	  IS(PENDING, PENDING, .available = true),
	  PENDING, AVAILABLE, SOUND,
	  "WorkerPool", "Pending", "", "", "4.20.2" },
	{ "B2 a version that is none is left out", "worker", "latest", NULL,
	  IS(PENDING, PENDING, .available = true),
	  PENDING, AVAILABLE, SOUND,
	  "WorkerPool", "Pending", "", "", "" },
};

static const struct semver {
	const char	*text;
	bool		 want;
} semvers[] = {
	{ "4.20.3", true }, { "0.0.0", true }, { "4.20.0-rc.1", true }, { "4.20.0-0.nightly-2026-01-02-030405", true },
	{ "4.20.0-ec.0", true }, { "4.20.0-0a", true }, { "4.20.0--", true }, { "10.200.3000-a.b.c-d", true },
	{ "", false }, { "4", false }, { "4.20", false }, { "4.20.", false }, { "4.20.3.1", false },
	{ "04.20.3", false }, { "4.020.3", false }, { "4.20.03", false }, { "v4.20.3", false },
	{ "4.20.3-", false }, { "4.20.3-.", false }, { "4.20.3-rc.", false }, { "4.20.3-rc..1", false },
	{ "4.20.3-01", false }, { "4.20.3-rc_1", false }, { "4.20.3+build", false }, { " 4.20.3", false },
	{ "4.20.3 ", false }, { "4.20.3\n", false }, { "-4.20.3", false },
	{ "4.20.0-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },	/* 71 */
	{ "4.20.0-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },	/* 65 */
	{ "4.20.0-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true },	/* 64 */
};

static void
check_text(struct wire_str got, const char *want)
{
	assert_non_null(got.p);
	assert_int_equal(got.len, strlen(want));
	assert_memory_equal(got.p, want, got.len);
}

static void
check_condition(const struct state_condition *c, const char *type, const char *want)
{
	char text[512];

	assert_string_equal(c->type, type);
	snprintf(text, sizeof(text), "%s %s %.*s", c->status, c->reason, (int)c->message.len, c->message.p);
	assert_string_equal(text, want);
	assert_non_null(c->since.p);
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct assess_in in = { .pool = wire_str_of(r->pool), .current_version = wire_str_of(r->version) };
	struct assess a = r->is;
	struct conditions out;

	memset(&out, 0xaa, sizeof(out));
	if (r->reason != NULL)
		in.mco[MCO_REASON] = wire_str_of(r->reason);
	a.since = wire_str_of("2026-01-02T03:04:05Z");
	conditions_from(&in, &a, &out);
	check_condition(&out.list[CONDITION_UPDATING], "Updating", r->updating);
	check_condition(&out.list[CONDITION_AVAILABLE], "Available", r->available);
	check_condition(&out.list[CONDITION_DEGRADED], "Degraded", r->degraded);
	check_text(out.list[CONDITION_UPDATING].since, "");
	check_text(out.list[CONDITION_AVAILABLE].since, a.available ? "" : "2026-01-02T03:04:05Z");
	check_text(out.list[CONDITION_DEGRADED].since, "");
	check_text(out.scope, r->scope);
	check_text(out.phase, r->phase);
	check_text(out.estimate, r->estimate);
	check_text(out.message, r->message);
	check_text(out.version, r->shown);
}

static void
semver_shapes_B2(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(semvers); i++) {
		if (conditions_is_semver(wire_str_of(semvers[i].text)) != semvers[i].want)
			fail_msg("\"%s\" should be %s", semvers[i].text, semvers[i].want ? "one" : "none");
	}
}

/* Characters of one to four bytes at every offset of the edge: never half of one, never one too many. */
static void
cut_on_a_boundary_B5(void **state)
{
	static const char *const characters[] = { "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };
	char text[1024];

	(void)state;
	for (size_t c = 0; c < NITEMS(characters); c++) {
		for (size_t ahead = 0; ahead < 100; ahead++) {
			const size_t size = strlen(characters[c]);
			size_t len = ahead;

			memset(text, 'x', ahead);
			for (size_t i = ahead; i < 130; i++, len += size)
				memcpy(text + len, characters[c], size);
			const struct wire_str cut =
			    conditions_cut((struct wire_str){ text, (uint32_t)len }, 100);
			assert_int_equal(cut.len, ahead + (100 - ahead) * size);
			const struct wire_str whole =
			    conditions_cut((struct wire_str){ text, (uint32_t)len }, 130);
			assert_int_equal(whole.len, len);
		}
	}
	assert_int_equal(conditions_cut((struct wire_str){ "\xff\xff\xff", 3 }, 2).len, 2);
}

static void
an_overlong_reason_is_cut_twice_B5(void **state)
{
	const uint32_t len = 3 * 40000;
	char *text = obj_alloc(len);
	struct assess_in in = { .pool = wire_str_of("worker"), .mco[MCO_REASON] = { text, len } };
	const struct assess a = {
		.rule = RULE_PENDING, .phase = PHASE_PENDING, .degraded = true, .available = true
	};
	struct conditions out;

	(void)state;
	for (uint32_t i = 0; i < len; i += 3)
		memcpy(text + i, "\xe2\x82\xac", 3);
	conditions_from(&in, &a, &out);
	assert_int_equal(out.message.len, 300);
	assert_int_equal(out.list[CONDITION_DEGRADED].message.len, 3 * 32768);
	assert_ptr_equal(out.list[CONDITION_DEGRADED].message.p, text);	/* a view, no copy */
	free(text);
}

/* Whatever the causes are, their buffer holds them. */
static void
every_set_of_causes_fits(void **state)
{
	(void)state;
	for (unsigned causes = 1; causes < 1U << CAUSE_MAX; causes++) {
		const struct assess_in in = { .pool = wire_str_of("worker") };
		const struct assess a = { .rule = RULE_PENDING, .phase = PHASE_PENDING, .causes = causes };
		struct conditions out;
		size_t want = 0;

		for (unsigned i = 0; i < CAUSE_MAX; i++) {
			if ((causes & 1U << i) != 0)
				want += strlen(assess_cause_text(i)) + (want > 0 ? 3 : 0);
		}
		conditions_from(&in, &a, &out);
		assert_int_equal(out.list[CONDITION_AVAILABLE].message.len, want);
		assert_true(out.message.len <= 100);
	}
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(semver_shapes_B2),
		cmocka_unit_test(cut_on_a_boundary_B5),
		cmocka_unit_test(an_overlong_reason_is_cut_twice_B5),
		cmocka_unit_test(every_set_of_causes_fits),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	memcpy(tests + NITEMS(rows), others, sizeof(others));
	return cmocka_run_group_tests_name("node_conditions", tests, NULL, NULL);
}
