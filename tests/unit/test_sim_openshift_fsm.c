/* tests/unit/test_sim_openshift_fsm.c - the steps of an update, and how many nodes may be at it. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/openshift/openshift_fsm.h"

static const struct row {
	const char			*name;
	struct openshift_node_view	 view;
	enum openshift_verb		 verb;
	enum openshift_step		 to;
	const char			*why;
} rows[] = {
	{ "a node with nothing to do stays", { .step = ROLLOUT_IDLE }, ROLLOUT_STAY, 0, "" },
	{ "a chosen one begins", { .step = ROLLOUT_IDLE, .may_start = true },
	    ROLLOUT_ADVANCE, ROLLOUT_TARGETED, "" },
	{ "somebody else chose it", { .step = ROLLOUT_IDLE, .targeted = true },
	    ROLLOUT_ADVANCE, ROLLOUT_TARGETED, "" },
	{ "a failing one is not begun", { .step = ROLLOUT_IDLE, .may_start = true, .failing = true },
	    ROLLOUT_STAY, 0, "degraded" },
	{ "a failing one stays under way", { .step = ROLLOUT_DRAINED, .due = true, .failing = true },
	    ROLLOUT_STAY, 0, "degraded" },
	{ "a step takes its time", { .step = ROLLOUT_DOWN }, ROLLOUT_STAY, 0, "the step is not over" },
	{ "and then it is over", { .step = ROLLOUT_DOWN, .due = true }, ROLLOUT_ADVANCE, ROLLOUT_UP, "" },
	{ "pods hold a drain", { .step = ROLLOUT_CORDONED, .due = true, .pods = 2 },
	    ROLLOUT_EVICT, ROLLOUT_CORDONED, "pods are left" },
	{ "no pods, no drain", { .step = ROLLOUT_CORDONED, .due = true },
	    ROLLOUT_ADVANCE, ROLLOUT_DRAINED, "" },
	{ "pods hold nothing else", { .step = ROLLOUT_WORKING, .due = true, .pods = 2 },
	    ROLLOUT_ADVANCE, ROLLOUT_DRAIN_REQUESTED, "" },
	{ "the last step ends it", { .step = ROLLOUT_RELEASED, .due = true },
	    ROLLOUT_ADVANCE, ROLLOUT_IDLE, "" },
};

static const struct pace_row {
	const char		*name;
	struct openshift_pace	 pace;
	size_t			 room;
} paces[] = {
	{ "one at a time", { .max_unavailable = 1, .nodes = 5 }, 1 },
	{ "one is away", { .max_unavailable = 1, .nodes = 5, .unavailable = 1 }, 0 },
	{ "none allowed is one", { .max_unavailable = 0, .nodes = 5 }, 1 },
	{ "three, one is away", { .max_unavailable = 3, .nodes = 5, .unavailable = 1 }, 2 },
	{ "a failing one holds a place", { .max_unavailable = 3, .nodes = 5, .unavailable = 1, .failing = 1 }, 1 },
	{ "more away than allowed", { .max_unavailable = 2, .nodes = 5, .unavailable = 4 }, 0 },
	{ "percent are rounded down", { .max_unavailable = 10, .percent = true, .nodes = 29 }, 2 },
	{ "but never to none", { .max_unavailable = 10, .percent = true, .nodes = 9 }, 1 },
	{ "all of them", { .max_unavailable = 100, .percent = true, .nodes = 9 }, 9 },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	const struct openshift_move m = openshift_next(&r->view);

	assert_int_equal(m.verb, r->verb);
	if (r->verb != ROLLOUT_STAY)
		assert_int_equal(m.to, r->to);
	assert_string_equal(m.why, r->why);
}

static void
check_pace(void **state)
{
	const struct pace_row *const r = *state;

	assert_int_equal(openshift_room(&r->pace), r->room);
}

/* From idle to idle through every step once, in the order of the enum. */
static void
the_steps_form_a_cycle(void **state)
{
	enum openshift_step at = ROLLOUT_IDLE;

	(void)state;
	for (int i = 0; i < ROLLOUT_STEPS; i++) {
		const struct openshift_move m =
		    openshift_next(&(struct openshift_node_view){ .step = at, .due = true,
		    .may_start = true });

		assert_int_equal(m.verb, ROLLOUT_ADVANCE);
		assert_int_equal(m.to, (i + 1) % ROLLOUT_STEPS);
		at = m.to;
	}
	assert_int_equal(at, ROLLOUT_IDLE);
}

static void
every_step_has_a_row(void **state)
{
	(void)state;
	for (enum openshift_step s = 0; s < ROLLOUT_STEPS; s++) {
		assert_non_null(openshift_step_row(s)->name);
		assert_non_null(openshift_step_row(s)->state);
		assert_true((openshift_step_row(s)->lasts_ms > 0) == (s != ROLLOUT_IDLE));
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(paces) + 2] = {
		cmocka_unit_test(the_steps_form_a_cycle),
		cmocka_unit_test(every_step_has_a_row),
	};
	size_t n = 2;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(paces); i++)
		tests[n++] = (struct CMUnitTest){ paces[i].name, check_pace, NULL, NULL,
			(void *)(uintptr_t)&paces[i] };
	return cmocka_run_group_tests_name("rollout_fsm", tests, NULL, NULL);
}
