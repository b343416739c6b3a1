/* tests/unit/test_policy.c - what a death means, when the next start is due, who gives up. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "err.h"
#include "obj.h"
#include "supervisor/policy.h"

enum { EARLY = 0, SHORT = POLICY_HEALTHY_MS, LONG = POLICY_RESET_MS, END = -1 };

static const struct cause_row {
	const char	*name;
	struct ending	 end;
	enum cause	 want;
} cause_rows[] = {
	{ "cause: exit 111", { .exited = true, .code = EXIT_TRANSIENT }, CAUSE_EXIT },
	{ "cause: exit 0 is a death too", { .exited = true, .code = 0 }, CAUSE_EXIT },
	{ "cause: exit 100", { .exited = true, .code = EXIT_CONFIG }, CAUSE_CONFIG },
	{ "cause: a signal of that number is not exit 100", { .exited = false, .code = EXIT_CONFIG }, CAUSE_SIGNAL },
	{ "cause: signal", { .exited = false, .code = 11 }, CAUSE_SIGNAL },
	{ "cause: memory by exit", { .exited = true, .code = EXIT_TRANSIENT, .out_of_memory = true }, CAUSE_MEMORY },
	{ "cause: memory by abort", { .exited = false, .code = 6, .out_of_memory = true }, CAUSE_MEMORY },
	{ "cause: the watchdog's SIGABRT", { .stop_reason = STOP_REASON_WATCHDOG, .code = 6 }, CAUSE_WATCHDOG },
	{ "cause: the watchdog, though it exits", { .stop_reason = STOP_REASON_WATCHDOG, .exited = true }, CAUSE_WATCHDOG },
	{ "cause: not ready in time", { .stop_reason = STOP_REASON_NOT_READY, .code = 6 }, CAUSE_NOT_READY },
	{ "cause: reported", { .stop_reason = STOP_REASON_REPORTED, .exited = true }, CAUSE_REPORTED },
	{ "cause: report limit", { .stop_reason = STOP_REASON_REPORT_LIMIT, .exited = true }, CAUSE_REPORT_LIMIT },
	{ "cause: ordered, whatever it exits with", { .stop_reason = STOP_REASON_ORDERED, .exited = true, .code = 100 }, CAUSE_ORDERED },
};

/*
 * ready_ms of one life after the other (each starts when the delay is over), and the delay wanted
 * before jitter.
 */
static const struct backoff_row {
	const char	*name;
	struct { int64_t ready_ms, want_ms; } lives[12];
} backoff_rows[] = {
	{ "backoff: doubles to its cap and stays", { { EARLY, 1000 }, { EARLY, 2000 }, { EARLY, 4000 },
	    { EARLY, 8000 }, { EARLY, 16000 }, { EARLY, 32000 }, { EARLY, 60000 }, { EARLY, 60000 },
	    { EARLY, 60000 }, { END, 0 } } },
	{ "backoff: the first restart is free after 10 s", { { SHORT, 0 }, { END, 0 } } },
	{ "backoff: just under 10 s is not", { { SHORT - 1, 1000 }, { END, 0 } } },
	{ "backoff: only the first is free", { { SHORT, 0 }, { SHORT, 1000 }, { SHORT, 2000 }, { END, 0 } } },
	{ "backoff: nothing is free after an early death", { { EARLY, 1000 }, { SHORT, 2000 }, { END, 0 } } },
	{ "backoff: 120 s forget everything",
	    { { EARLY, 1000 }, { EARLY, 2000 }, { LONG, 0 }, { EARLY, 1000 }, { END, 0 } } },
	{ "backoff: just under 120 s do not", { { EARLY, 1000 }, { EARLY, 2000 }, { LONG - 1, 4000 }, { END, 0 } } },
};

/* Deaths of a core actor at these times (ms); want: the number of the one that escalates, 0: none. */
static const struct burst_row {
	const char	*name;
	bool		 side;
	int64_t		 ready_ms;
	int64_t		 at_ms[8];
	int		 want;
} burst_rows[] = {
	{ "escalation: the fifth early death in 5 min", false, EARLY, { 0, 1000, 3000, 7000, 15000, END }, 5 },
	{ "escalation: five deaths in exactly 5 min", false, EARLY, { 0, 1, 2, 3, POLICY_ESCALATE_MS, END }, 5 },
	{ "escalation: not when it took longer", false, EARLY, { 0, 1, 2, 3, POLICY_ESCALATE_MS + 1, END }, 0 },
	{ "escalation: the window slides", false, EARLY,
	    { 0, 200000, 210000, 220000, POLICY_ESCALATE_MS + 1, POLICY_ESCALATE_MS + 2, END }, 6 },
	{ "escalation: four are not enough", false, EARLY, { 0, 1, 2, 3, END }, 0 },
	{ "escalation: deaths after 10 s of health do not count", false, SHORT, { 0, 1, 2, 3, 4, 5, END }, 0 },
	{ "escalation: never for an actor that is not core", true, EARLY, { 0, 1, 2, 3, 4, 5, END }, 0 },
};

static const struct verdict_row {
	const char		*name;
	struct life		 life;
	enum verdict_verb	 verb;
	bool			 escalate;
} verdict_rows[] = {
	{ "verdict: exit 100 fails", { .cause = CAUSE_CONFIG }, VERDICT_FAILED, false },
	{ "verdict: exit 100 of a core actor escalates at once", { .cause = CAUSE_CONFIG, .core = true }, VERDICT_FAILED, true },
	{ "verdict: exit 100 fails a temporary one too", { .cause = CAUSE_CONFIG, .restart = RESTART_TEMPORARY },
	    VERDICT_FAILED, false },
	{ "verdict: exit 0 of a permanent one", { .cause = CAUSE_EXIT, .clean = true }, VERDICT_RESTART, false },
	{ "verdict: exit 0 of a transient one", { .cause = CAUSE_EXIT, .clean = true, .restart = RESTART_TRANSIENT },
	    VERDICT_STAY_STOPPED, false },
	{ "verdict: exit 111 of a transient one", { .cause = CAUSE_EXIT, .restart = RESTART_TRANSIENT },
	    VERDICT_RESTART, false },
	{ "verdict: a temporary one stays stopped", { .cause = CAUSE_SIGNAL, .restart = RESTART_TEMPORARY }, VERDICT_STAY_STOPPED, false },
	{ "verdict: killed by the watchdog: restarts", { .cause = CAUSE_WATCHDOG }, VERDICT_RESTART, false },
	{ "verdict: no restart during a stop", { .cause = CAUSE_SIGNAL, .tree_stopping = true }, VERDICT_STAY_STOPPED, false },
	{ "verdict: no escalation during a stop", { .cause = CAUSE_CONFIG, .core = true, .tree_stopping = true },
	    VERDICT_STAY_STOPPED, false },
};

static void
check_cause(void **state)
{
	const struct cause_row *const r = *state;

	assert_int_equal(policy_cause(&r->end), r->want);
}

static void
check_backoff(void **state)
{
	const struct backoff_row *const r = *state;
	struct policy p = { 0 };
	uint64_t random = 1;
	int64_t now_ms = 0;

	for (size_t i = 0; r->lives[i].ready_ms != END; i++) {
		const struct life life = { .cause = CAUSE_SIGNAL, .ready_ms = r->lives[i].ready_ms };
		const struct verdict v = policy_death(&p, &life, now_ms += life.ready_ms, &random);

		assert_int_equal(v.verb, VERDICT_RESTART);
		assert_in_range(v.delay_ms, r->lives[i].want_ms * 8 / 10, r->lives[i].want_ms * 12 / 10);
		now_ms += v.delay_ms;
	}
}

static void
check_burst(void **state)
{
	const struct burst_row *const r = *state;
	struct policy p = { 0 };
	uint64_t random = 1;
	int escalated = 0;

	for (int i = 0; r->at_ms[i] != END; i++) {
		const struct life life = { .core = !r->side, .cause = CAUSE_EXIT, .ready_ms = r->ready_ms };

		if (policy_death(&p, &life, r->at_ms[i], &random).escalate && escalated == 0)
			escalated = i + 1;
	}
	assert_int_equal(escalated, r->want);
}

static void
check_verdict(void **state)
{
	const struct verdict_row *const r = *state;
	struct policy p = { 0 };
	uint64_t random = 1;
	const struct verdict v = policy_death(&p, &r->life, 5, &random);

	assert_int_equal(v.verb, r->verb);
	assert_int_equal(v.escalate, r->escalate);
	assert_non_null(v.why);
}

/* 120 s of ready time forget the past, also when a person ended them. */
static void
a_good_time_is_remembered_however_it_ended(void **state)
{
	const struct life early = { .cause = CAUSE_SIGNAL };
	const struct life good = { .cause = CAUSE_ORDERED, .ready_ms = LONG };
	struct policy p = { 0 };
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 4; i++)
		policy_death(&p, &early, 0, &random);
	policy_death(&p, &good, LONG, &random);
	assert_in_range(policy_death(&p, &early, LONG, &random).delay_ms, 800, 1200);
}

static void
an_ordered_restart_costs_nothing(void **state)
{
	struct policy p = { 0 };
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 20; i++) {
		const struct life life = { .core = true, .cause = CAUSE_ORDERED };
		const struct verdict v = policy_death(&p, &life, i, &random);

		assert_int_equal(v.verb, VERDICT_RESTART);
		assert_int_equal(v.delay_ms, 0);
		assert_false(v.escalate);
	}
	assert_int_equal(p.step, 0);
	assert_false(policy_cause_is_death(CAUSE_ORDERED));
}

static void
jitter_spreads_the_delay(void **state)
{
	int64_t least = INT64_MAX, most = 0;
	uint64_t random = 7;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct policy p = { 0 };
		const struct life life = { .cause = CAUSE_EXIT };
		const int64_t ms = policy_death(&p, &life, 0, &random).delay_ms;

		least = ms < least ? ms : least;
		most = ms > most ? ms : most;
	}
	assert_in_range(least, 800, 820);
	assert_in_range(most, 1180, 1200);
}

static void
three_missed_beats_are_too_many(void **state)
{
	(void)state;
	assert_false(policy_beats_missed(0, 100, 300));
	assert_true(policy_beats_missed(0, 100, 301));
	assert_false(policy_beats_missed(1000, 100, 0));
}

static void
a_minute_without_sync_is_too_long(void **state)
{
	(void)state;
	assert_false(policy_unsynced(false, 1000, 1000 + POLICY_SYNC_MS - 1));
	assert_true(policy_unsynced(false, 1000, 1000 + POLICY_SYNC_MS));
	assert_false(policy_unsynced(true, 1000, 1000 + 2 * POLICY_SYNC_MS));
}

static void
lateness_is_more_than_the_usual_delay(void **state)
{
	(void)state;
	assert_int_equal(policy_lateness(1000, 900), 0);
	assert_int_equal(policy_lateness(1000, 1000 + POLICY_LATE_MS), 0);
	assert_int_equal(policy_lateness(1000, 1001 + POLICY_LATE_MS), 1 + POLICY_LATE_MS);
}

static void
after_a_delay_every_deadline_is_moved(void **state)
{
	(void)state;
	assert_int_equal(policy_rearm(5000, 2000, 4000), 7000);
	assert_int_equal(policy_rearm(5000, 2000, 7000), 7000 + POLICY_GRACE_MS);
	assert_int_equal(policy_rearm(5000, 0, 9000), 9000 + POLICY_GRACE_MS);
}

static void
stop_stages_share_what_is_left(void **state)
{
	(void)state;
	assert_int_equal(policy_stop_ms(4000, 7000, 27000), 4000);
	assert_int_equal(policy_stop_ms(4000, 4000, 8000), 4000);
	assert_int_equal(policy_stop_ms(4000, 4000, 4000), 2000);
	assert_int_equal(policy_stop_ms(3000, 0, 1000), 1000);
	assert_int_equal(policy_stop_ms(3000, 1000, 0), 0);
	assert_int_equal(policy_stop_ms(3000, 1000, -5), 0);
}

static void
more_time_never_eats_a_later_stage(void **state)
{
	(void)state;
	assert_int_equal(policy_extend_ms(5000, 7000, 20000), 5000);
	assert_int_equal(policy_extend_ms(50000, 7000, 20000), 13000);
	assert_int_equal(policy_extend_ms(5000, 7000, 5000), 0);
	assert_int_equal(policy_extend_ms(5000, 7000, -1), 5000);
	assert_int_equal(policy_extend_ms(500000, 0, -1), POLICY_EXTEND_MS);
}

static void
a_reporter_is_limited_to_three_reports_a_minute(void **state)
{
	struct policy_reports r = { 0 };

	(void)state;
	assert_true(policy_report_allowed(&r, 0));
	assert_true(policy_report_allowed(&r, 10));
	assert_true(policy_report_allowed(&r, 20));
	assert_false(policy_report_allowed(&r, 30));
	assert_false(policy_report_allowed(&r, POLICY_REPORTS_MS - 1));
	assert_true(policy_report_allowed(&r, POLICY_REPORTS_MS));
	assert_false(policy_report_allowed(&r, POLICY_REPORTS_MS + 9));
	assert_true(policy_report_allowed(&r, POLICY_REPORTS_MS + 10));
}

/* Neither those who are reported nor those who report too often bring the tree down. (issue 10.12) */
static void
reports_do_not_count_toward_escalation(void **state)
{
	static const enum cause causes[] = { CAUSE_REPORTED, CAUSE_REPORT_LIMIT };
	uint64_t random = 1;

	(void)state;
	for (size_t c = 0; c < NITEMS(causes); c++) {
		struct policy p = { 0 };
		struct life life = { .core = true, .cause = causes[c] };

		for (int i = 0; i < 4 * POLICY_ESCALATE_DEATHS; i++) {
			const struct verdict v = policy_death(&p, &life, i, &random);

			assert_int_equal(v.verb, VERDICT_RESTART);
			assert_false(v.escalate);
		}
		life.cause = CAUSE_EXIT;
		for (int i = 1; i < POLICY_ESCALATE_DEATHS; i++)
			assert_false(policy_death(&p, &life, 100 + i, &random).escalate);
		assert_true(policy_death(&p, &life, 200, &random).escalate);
	}
}

/* The rows of actors.h: all stages of a stop fit the pod's grace period less 3 s. */
static void
the_table_stops_in_time(void **state)
{
	int64_t sum_ms = 0;

	(void)state;
	for (int stage = 0; stage <= STOP_STAGE_MAX; stage++) {
		int64_t longest_ms = 0;

		for (size_t i = 0; i < CHILD_MAX; i++) {
			assert_in_range(child_table[i].stop_stage, 1, STOP_STAGE_MAX);
			if (child_table[i].stop_stage == stage && child_table[i].stop_ms > longest_ms)
				longest_ms = child_table[i].stop_ms;
		}
		sum_ms += longest_ms;
	}
	assert_in_range(sum_ms, 1, 27000 - POLICY_KILL_MS);
}

int
main(void)
{
	struct CMUnitTest tests[64] = {
		cmocka_unit_test(an_ordered_restart_costs_nothing),
		cmocka_unit_test(a_good_time_is_remembered_however_it_ended),
		cmocka_unit_test(jitter_spreads_the_delay),
		cmocka_unit_test(three_missed_beats_are_too_many),
		cmocka_unit_test(a_minute_without_sync_is_too_long),
		cmocka_unit_test(lateness_is_more_than_the_usual_delay),
		cmocka_unit_test(after_a_delay_every_deadline_is_moved),
		cmocka_unit_test(stop_stages_share_what_is_left),
		cmocka_unit_test(more_time_never_eats_a_later_stage),
		cmocka_unit_test(a_reporter_is_limited_to_three_reports_a_minute),
		cmocka_unit_test(reports_do_not_count_toward_escalation),
		cmocka_unit_test(the_table_stops_in_time),
	};
	size_t n = 12;

#define ROWS(table, check)                                                                         \
	for (size_t i = 0; i < NITEMS(table); i++)                                                 \
	tests[n++] = (struct CMUnitTest){ (table)[i].name, check, NULL, NULL,                      \
		(void *)(uintptr_t) & (table)[i] }
	ROWS(cause_rows, check_cause);
	ROWS(backoff_rows, check_backoff);
	ROWS(burst_rows, check_burst);
	ROWS(verdict_rows, check_verdict);
	MUST(n <= NITEMS(tests));
	return _cmocka_run_group_tests("policy", tests, n, NULL, NULL);
}
