/*
 * tests/unit/test_node_tally.c - a pool from its nodes (docs/insight.md), and that counting
 * one change at a time comes to the same as counting anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "actors/node-state/pool_tally.h"
#include "obj.h"
#include "random.h"

enum { NODES_MAX = 6 };

/* phase, degraded, available, outdated */
#define DONE	{ PHASE_COMPLETED, false, true, false }
#define OLD	{ PHASE_PENDING, false, true, true }
#define HELD	{ PHASE_PAUSED, false, true, true }
#define DRAIN	{ PHASE_DRAINING, false, true, true }
#define WORK	{ PHASE_UPDATING, false, true, true }
#define BOOT	{ PHASE_REBOOTING, false, true, true }
#define BAD	{ PHASE_UPDATING, true, true, true }
#define STUCK	{ PHASE_PENDING, true, true, true }
#define LOST	{ PHASE_COMPLETED, false, false, false }
#define STOP	{ PHASE_MAX, false, false, false }

static const struct row {
	const char		*name;
	struct tally_node	 nodes[NODES_MAX + 1];
	bool			 paused;
	const char		*assessment;
	int64_t			 percent;
	const char		*counts;	/* the summaries in their order */
	const char		*updating, *healthy;
} rows[] = {
	{ "B2 an empty pool", { STOP }, false, "Pending", 0, "0 0 0 0 0 0 0", "False Pending", "True NoNodes" },
	{ "B2 an empty pool, paused", { STOP }, true, "Pending", 0, "0 0 0 0 0 0 0", "False Pending", "True NoNodes" },
	{ "B2 all completed", { DONE, DONE, STOP }, false, "Completed", 100, "2 2 0 0 0 0 0", "False Updated", "True AllNodesUpdated" },
	{ "B2 paused, but nothing outdated", { DONE, STOP }, true, "Completed", 100,
	  "1 1 0 0 0 0 0", "False Updated", "True AllNodesUpdated" },
	{ "B2 completed though unavailable", { DONE, LOST, STOP }, false, "Completed", 100,
	  "2 1 0 0 0 0 0", "False Updated", "True AllNodesUpdated" },
	{ "B2 none has started", { OLD, OLD, STOP }, false, "Pending", 0, "2 2 0 2 0 0 0", "False Pending", "True NoProblems" },
	{ "B2 some have ended, none runs", { DONE, OLD, OLD, STOP }, false, "Pending", 33,
	  "3 3 0 2 0 0 0", "False Pending", "True NoProblems" },
	{ "B2 draining is progress, but not Progressing", { DRAIN, OLD, STOP }, false,
	  "Progressing", 0, "2 2 0 2 1 0 0", "True Progressing", "True NoProblems" },
	{ "B2 updating", { WORK, DONE, DONE, STOP }, false, "Progressing", 66, "3 3 1 1 0 0 0", "True Progressing", "True NoProblems" },
	{ "B2 rebooting", { BOOT, STOP }, false, "Progressing", 0, "1 1 1 1 0 0 0", "True Progressing", "True NoProblems" },
	{ "B2 paused with outdated nodes", { HELD, DONE, STOP }, true, "Excluded", 50, "2 2 0 1 0 1 0", "False Paused", "True Paused" },
	{ "B2 Excluded comes before Progressing", { HELD, WORK, STOP }, true, "Excluded", 0,
	  "2 2 1 2 0 1 0", "False Paused", "True Paused" },
	{ "B2 Degraded comes before Excluded", { HELD, STUCK, STOP }, true, "Degraded", 0,
	  "2 2 0 2 0 1 1", "False Pending", "False NodesDegraded" },
	{ "B2 Degraded and still moving", { BAD, OLD, STOP }, false, "Degraded", 0,
	  "2 2 1 2 0 0 1", "True Progressing", "False NodesDegraded" },
	{ "B2 Degraded and one drains", { STUCK, DRAIN, STOP }, false, "Degraded", 0,
	  "2 2 0 2 1 0 1", "True Progressing", "False NodesDegraded" },
	{ "B2 Degraded comes before Completed", { { PHASE_COMPLETED, true, true, false }, STOP },
	  false, "Degraded", 100, "1 1 0 0 0 0 1", "False Pending", "False NodesDegraded" },
	{ "B2 an old version that counts as Completed (rule 3)", { { PHASE_COMPLETED, false, true,
	  true }, STOP }, false, "Completed", 100, "1 1 0 1 0 0 0", "False Updated",
	  "True AllNodesUpdated" },
};

static void
check_report(const struct pool_report *r, const char *counts, const char *updating, const char *healthy)
{
	static const char *const types[SUMMARY_MAX] = {
		"Total", "Available", "Progressing", "Outdated", "Draining", "Excluded", "Degraded",
	};
	const char *const want[POOL_CONDITION_MAX][2] = { { "Updating", updating }, { "Healthy", healthy } };
	char text[128] = "";

	for (size_t i = 0; i < SUMMARY_MAX; i++) {
		assert_string_equal(r->summaries[i].type, types[i]);
		assert_int_equal(strtoul(r->summaries[i].text, NULL, 10), r->summaries[i].count);
		strcat(strcat(text, i > 0 ? " " : ""), r->summaries[i].text);
	}
	assert_string_equal(text, counts);
	for (size_t i = 0; i < POOL_CONDITION_MAX; i++) {
		const struct state_condition *const c = &r->conditions[i];

		snprintf(text, sizeof(text), "%s %s", c->status, c->reason);
		assert_string_equal(c->type, want[i][0]);
		assert_string_equal(text, want[i][1]);
		assert_true(c->message.len > 0 && c->since.p != NULL && c->since.len == 0);
	}
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct pool_tally t = { 0 };
	struct pool_report got;

	for (size_t i = 0; r->nodes[i].phase != PHASE_MAX; i++)
		pool_tally_add(&t, &r->nodes[i]);
	pool_tally_report(&t, r->paused, &got);
	assert_string_equal(got.name, r->assessment);
	assert_int_equal(got.percent, r->percent);
	check_report(&got, r->counts, r->updating, r->healthy);
}

static struct tally_node
any_node(uint64_t *seed)
{
	return (struct tally_node){
		.phase = (enum assess_phase)random_below(seed, PHASE_MAX),
		.degraded = random_below(seed, 4) == 0,
		.available = random_below(seed, 2) == 0,
		.outdated = random_below(seed, 2) == 0,
	};
}

/* Nodes come, change and go; after each step the count is what a walk over all of them gives. */
static void
one_by_one_equals_anew_B3(void **state)
{
	enum { POPULATION = 40 };
	struct tally_node nodes[POPULATION];
	bool there[POPULATION] = { false };
	struct pool_tally kept = { 0 };
	uint64_t seed = 3;

	(void)state;
	for (int step = 0; step < 5000; step++) {
		const size_t i = random_below(&seed, POPULATION);

		if (there[i])
			pool_tally_remove(&kept, &nodes[i]);
		there[i] = random_below(&seed, 3) > 0;
		nodes[i] = any_node(&seed);
		if (there[i])
			pool_tally_add(&kept, &nodes[i]);

		struct pool_tally anew = { 0 };
		for (size_t n = 0; n < POPULATION; n++) {
			if (there[n])
				pool_tally_add(&anew, &nodes[n]);
		}
		assert_memory_equal(&kept, &anew, sizeof(kept));
	}
}

static void
large_counts_are_written_whole(void **state)
{
	const struct pool_tally t = {
		.total = UINT32_MAX, .available = 1000000009, .phases[PHASE_COMPLETED] = UINT32_MAX - 1,
	};
	struct pool_report got;

	(void)state;
	pool_tally_report(&t, false, &got);
	assert_string_equal(got.summaries[SUMMARY_TOTAL].text, "4294967295");
	assert_string_equal(got.summaries[SUMMARY_AVAILABLE].text, "1000000009");
	assert_int_equal(got.percent, 99);
}

static void
the_share_of_an_assessment(void **state)
{
	const struct assess a = { .phase = PHASE_DRAINING, .degraded = true, .outdated = true };
	const struct tally_node n = tally_node_of(&a);

	(void)state;
	assert_int_equal(n.phase, PHASE_DRAINING);
	assert_true(n.degraded && n.outdated && !n.available);
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(one_by_one_equals_anew_B3),
		cmocka_unit_test(large_counts_are_written_whole),
		cmocka_unit_test(the_share_of_an_assessment),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	memcpy(tests + NITEMS(rows), others, sizeof(others));
	return cmocka_run_group_tests_name("node_tally", tests, NULL, NULL);
}
