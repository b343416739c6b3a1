/*
 * tests/unit/test_fsm.c - the states of a child under scripts of events, and rules that hold for every
 * cell of the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "supervisor/fsm.h"

enum { STEPS = 12 };
#define DONE	EV_MAX

/* From ST_OFF: events, then where it must be and what the last one asked for. */
static const struct row {
	const char	*name;
	enum fsm_event	 events[STEPS];
	enum fsm_state	 state;
	enum fsm_action	 action;
} rows[] = {
	{ "enabled, waits for its stage", { EV_ENABLE, DONE }, ST_WAITING, A_NONE },
	{ "its stage opens", { EV_ENABLE, EV_OPEN, DONE }, ST_STARTING, A_SPAWN },
	{ "binds", { EV_ENABLE, EV_OPEN, EV_BOUND, DONE }, ST_RUNNING, A_UP },
	{ "a second bound changes nothing", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_BOUND, DONE }, ST_RUNNING, A_NONE },
	{ "never binds", { EV_ENABLE, EV_OPEN, EV_DEADLINE, DONE }, ST_ABORTING, A_ABORT },
	{ "is stuck", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_BEATS_MISSED, DONE }, ST_ABORTING, A_ABORT },
	{ "survives the abort", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_BEATS_MISSED, EV_DEADLINE, DONE }, ST_ABORTING, A_KILL },
	{ "survives it twice", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_BEATS_MISSED, EV_DEADLINE, EV_DEADLINE, DONE },
	    ST_ABORTING, A_KILL },
	{ "binds too late", { EV_ENABLE, EV_OPEN, EV_DEADLINE, EV_BOUND, DONE }, ST_ABORTING, A_NONE },
	{ "dies and rests", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_DIED, DONE }, ST_BACKOFF, A_BACKOFF },
	{ "comes back", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_DIED, EV_DEADLINE, DONE }, ST_STARTING, A_SPAWN },
	{ "comes back at once when asked", { EV_ENABLE, EV_OPEN, EV_DIED, EV_RESTART, DONE }, ST_STARTING, A_SPAWN },
	{ "refuses its configuration", { EV_ENABLE, EV_OPEN, EV_REFUSED, DONE }, ST_FAILED, A_NONE },
	{ "stays failed as time goes by", { EV_ENABLE, EV_OPEN, EV_REFUSED, EV_DEADLINE, EV_OPEN, DONE },
	    ST_FAILED, A_NONE },
	{ "tries a changed configuration", { EV_ENABLE, EV_OPEN, EV_REFUSED, EV_RESTART, DONE }, ST_STARTING, A_SPAWN },
	{ "is switched off while failed", { EV_ENABLE, EV_OPEN, EV_REFUSED, EV_DISABLE, DONE }, ST_OFF, A_NONE },
	{ "is reported", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_REPORTED, DONE }, ST_CYCLING, A_TERM },
	{ "reports too often", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_REPORT_LIMIT, DONE }, ST_CYCLING, A_TERM },
	{ "is reported twice", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_REPORTED, EV_REPORTED, DONE }, ST_CYCLING, A_NONE },
	{ "ignores the request to end", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_RESTART, EV_DEADLINE, DONE },
	    ST_CYCLING, A_KILL },
	{ "is stopped while it restarts", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_RESTART, EV_STOP, EV_DIED, DONE },
	    ST_STOPPED, A_NONE },
	{ "is stopped while it waits", { EV_ENABLE, EV_STOP, DONE }, ST_STOPPED, A_NONE },
	{ "is stopped in backoff", { EV_ENABLE, EV_OPEN, EV_DIED, EV_STOP, EV_DEADLINE, DONE }, ST_STOPPED, A_NONE },
	{ "is stopped while aborted", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_BEATS_MISSED, EV_STOP, EV_DIED, DONE },
	    ST_STOPPED, A_NONE },
	{ "is killed in a kill_all", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_STOP, EV_KILL_ALL, DONE }, ST_STOPPING, A_KILL },
	{ "is killed in a kill_all though never asked", { EV_ENABLE, EV_OPEN, EV_BOUND, EV_KILL_ALL, DONE },
	    ST_STOPPING, A_KILL },
	{ "off and on again before it was gone",
	    { EV_ENABLE, EV_OPEN, EV_BOUND, EV_DISABLE, EV_ENABLE, EV_DIED, DONE }, ST_BACKOFF, A_BACKOFF },
	{ "off and on again", { EV_ENABLE, EV_OPEN, EV_DISABLE, EV_DIED, EV_DISABLE, EV_ENABLE, DONE },
	    ST_WAITING, A_NONE },
	{ "a death in the stop is the end", { EV_ENABLE, EV_OPEN, EV_STOP, EV_REFUSED, DONE }, ST_STOPPED, A_NONE },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	enum fsm_state s = ST_OFF;
	enum fsm_action a = A_NONE;

	for (size_t i = 0; r->events[i] != DONE; i++) {
		const struct fsm_step step = fsm_step(s, r->events[i]);

		a = step.action;
		if (step.next != ST_SAME)
			s = step.next;
	}
	assert_string_equal(fsm_state_name(s), fsm_state_name(r->state));
	assert_int_equal(s, r->state);
	assert_int_equal(a, r->action);
}

/* A process appears only by a spawn and goes only by a death; signals go only to a process. */
static void
processes_come_by_spawn_and_go_by_death(void **state)
{
	(void)state;
	for (unsigned s = ST_OFF; s < ST_MAX; s++) {
		for (unsigned e = 0; e < EV_MAX; e++) {
			const struct fsm_step step = fsm_step((enum fsm_state)s, (enum fsm_event)e);
			const bool before = fsm_has_process((enum fsm_state)s);
			const bool after = step.next == ST_SAME ? before : fsm_has_process(step.next);
			const bool death = e == EV_DIED || e == EV_GONE || e == EV_REFUSED;

			assert_int_equal(!before && after, step.action == A_SPAWN);
			assert_int_equal(before && !after, before && death);
			if (step.action == A_TERM || step.action == A_ABORT || step.action == A_KILL
			    || step.action == A_UP)
				assert_true(before && after);
		}
	}
}

/* Wherever it is: it can be stopped, killed, and what is dying has a next step at its deadline. */
static void
nothing_hangs(void **state)
{
	(void)state;
	for (unsigned s = ST_OFF; s < ST_MAX; s++) {
		if (!fsm_has_process((enum fsm_state)s))
			continue;
		assert_int_equal(fsm_step((enum fsm_state)s, EV_KILL_ALL).action, A_KILL);
		if (s != ST_RUNNING)
			assert_int_not_equal(fsm_step((enum fsm_state)s, EV_DEADLINE).action, A_NONE);
		for (unsigned e = EV_DIED; e <= EV_REFUSED; e++)
			assert_int_not_equal(fsm_step((enum fsm_state)s, (enum fsm_event)e).next, ST_SAME);
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(processes_come_by_spawn_and_go_by_death);
	tests[NITEMS(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(nothing_hangs);
	return cmocka_run_group_tests_name("fsm", tests, NULL, NULL);
}
