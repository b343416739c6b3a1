/*
 * tests/unit/test_reconcile_loop.c - the loop of actors/reconcile on a runtime and a clock of this test: A11
 * in the loop, effects in flight, deferred keys, what outcomes lead to.
 */
#include "reconcile_rig.h"

static void
write_node(const char *rv)
{
	plan_write(NODES, OP_MERGE);
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	assert_int_equal(world.nsent, 1);
	assert_int_equal(world.sent[0].op, OP_MERGE);
	answer(OUTCOME_OK, rv);
	assert_int_equal(world.result, WORK_AFTER);
	plan_nothing();
}

/* ---- A11 ---- */

static void
A11_waits_until_node_state_has_caught_up(void **arg)
{
	(void)arg;
	write_node("12");
	const unsigned plans = world.plans;
	assert_int_equal(work("claims/c1"), WORK_AFTER);
	assert_int_equal(world.after_ms, OWN_WRITE_MS);
	world.now_ms += 4000;
	assert_int_equal(work("claims/c1"), WORK_AFTER);
	assert_int_equal(world.after_ms, 1000);
	assert_int_equal(world.plans, plans);
	assert_int_equal(world.nsent, 0);
	world.fact_rv = "12";
	assert_int_equal(work("claims/c1"), WORK_DONE);
	assert_int_equal(world.plans, plans + 1);
	assert_int_equal(world.live, OUTCOME_MAX);
	/* From here on nothing is remembered: a mirror cannot become older. */
	world.fact_rv = "11";
	assert_int_equal(work("claims/c1"), WORK_DONE);
}

static void
A11_reads_live_after_five_seconds(void **arg)
{
	(void)arg;
	write_node("12");
	const unsigned plans = world.plans;
	world.now_ms += OWN_WRITE_MS;
	for (unsigned n = 1; n <= 2; n++) {	/* each time, until it has caught up */
		assert_int_equal(work("claims/c1"), WORK_PENDING);
		assert_int_equal(world.sent[0].op, OP_GET);
		assert_string_equal(world.sent[0].resource, "nodes");
		assert_string_equal(world.sent[0].name, "w1");
		assert_string_equal(world.sent[0].uid, "");
		assert_int_equal(world.plans, plans + n - 1);
		answer(n == 1 ? OUTCOME_OK : OUTCOME_NOT_FOUND, "12");
		assert_int_equal(world.plans, plans + n);
		assert_int_equal(world.live, n == 1 ? OUTCOME_OK : OUTCOME_NOT_FOUND);
		assert_int_equal(world.result, WORK_DONE);
		assert_int_equal(world.r.inflight, 0);
	}
	world.fact_rv = "13";
	assert_int_equal(work("claims/c1"), WORK_DONE);
	assert_int_equal(world.live, OUTCOME_MAX);
}

static void
A11_a_live_read_that_fails_decides_nothing(void **arg)
{
	(void)arg;
	write_node("12");
	world.now_ms += OWN_WRITE_MS;
	const unsigned plans = world.plans;
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	answer(OUTCOME_FAILED, "");
	assert_int_equal(world.result, WORK_RETRY);
	assert_int_equal(world.plans, plans);
}

static void
A11_a_write_may_follow_the_live_read(void **arg)
{
	(void)arg;
	write_node("12");
	world.now_ms += OWN_WRITE_MS;
	plan_write(NODES, OP_MERGE);
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	const unsigned finished = world.nfinished;
	answer(OUTCOME_OK, "12");
	assert_int_equal(world.nfinished, finished);
	assert_int_equal(world.sent[0].op, OP_MERGE);
	assert_int_equal(world.r.inflight, 1);
	answer(OUTCOME_OK, "14");
	assert_int_equal(world.nfinished, finished + 1);
	/* The wait begins again, for the newer write. */
	assert_int_equal(work("claims/c1"), WORK_AFTER);
	assert_int_equal(world.after_ms, OWN_WRITE_MS);
}

static void
A11_a_write_whose_answer_was_lost(void **arg)
{
	(void)arg;
	plan_write(NODES, OP_MERGE);
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	answer(OUTCOME_UNKNOWN, "");
	assert_int_equal(world.sent[0].op, OP_GET);
	answer(OUTCOME_OK, "15");
	assert_int_equal(world.result, WORK_RETRY);
	assert_int_equal(work("claims/c1"), WORK_AFTER);
	assert_int_equal(world.after_ms, OWN_WRITE_MS);
}

static void
A11_only_what_node_state_passes_on(void **arg)
{
	(void)arg;
	plan_write(WIDGETS, OP_MERGE);
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	answer(OUTCOME_OK, "12");
	plan_write(NODES, OP_MERGE);
	world.step.write.unseen = true;
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	answer(OUTCOME_OK, "13");
	plan_nothing();
	assert_int_equal(work("claims/c1"), WORK_DONE);
}

static void
A11_other_keys_do_not_wait(void **arg)
{
	(void)arg;
	write_node("12");
	assert_int_equal(work("claims/c2"), WORK_DONE);
	assert_int_equal(work("claims/c1"), WORK_AFTER);
}

/* ---- Effects in flight ---- */

static void
at_most_so_many_in_flight_and_the_rest_in_turn(void **arg)
{
	static char names[KEYS_MAX][16];

	(void)arg;
	plan_write(WIDGETS, OP_MERGE);
	for (unsigned i = 0; i < RECONCILE_INFLIGHT_MAX + 3; i++) {
		snprintf(names[i], sizeof(names[i]), "claims/%u", i);
		assert_int_equal(work(names[i]), WORK_PENDING);
	}
	assert_int_equal(world.nsent, RECONCILE_INFLIGHT_MAX);
	assert_int_equal(world.nfinished, 0);
	answer(OUTCOME_OK, "12");
	assert_int_equal(world.nfinished, 2);
	assert_string_equal(world.finished, names[RECONCILE_INFLIGHT_MAX]);
	assert_int_equal(world.result, WORK_AFTER);
	/* It needs no effect any more: the next one gets its turn. */
	plan_nothing();
	assert_int_equal(work(names[RECONCILE_INFLIGHT_MAX]), WORK_DONE);
	assert_int_equal(world.nfinished, 3);
	assert_string_equal(world.finished, names[RECONCILE_INFLIGHT_MAX + 1]);
	while (world.nsent > 0)
		answer(OUTCOME_OK, "12");
	assert_int_equal(world.r.inflight, 0);
}

static void
an_effect_ends_later_with_an_outcome_of_its_own(void **arg)
{
	(void)arg;
	world.step = (struct reconcile_step){ .form = STEP_EFFECT, .verb = "delete", .why = "not claimed",
		.what = "delete VM", .start = start_effect, .destroys = true, .write.name = "vm-7" };
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	assert_int_equal(world.r.inflight, 1);
	assert_int_equal(world.nfinished, 0);
	reconcile_effect_done(&world.r, world.effect, "limited", wire_str_of("429"),
	    &(struct outcome_action){ .result = WORK_RETRY, .after_ms = 700 });
	assert_int_equal(world.result, WORK_RETRY);
	assert_int_equal(world.after_ms, 700);
	assert_int_equal(world.r.inflight, 0);
	const struct journal_entry *const e = journal_find(world.r.journal, "claims/c1", 9);
	assert_string_equal(e->what, "delete VM");
	assert_string_equal(e->outcome, "limited");
	assert_string_equal(e->message, "429");
}

static void
A8_nothing_is_sent_after_leadership_was_lost(void **arg)
{
	(void)arg;
	plan_write(WIDGETS, OP_MERGE);
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	answer(OUTCOME_NOT_LEADER, "");
	assert_int_equal(world.result, WORK_DONE);
	assert_int_equal(work("claims/c1"), WORK_DONE);
	assert_int_equal(world.nsent, 0);
}

static void
A4_refused_is_an_Event_and_not_tried_again(void **arg)
{
	(void)arg;
	plan_write(WIDGETS, OP_UPDATE);
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	answer(OUTCOME_INVALID, "");
	assert_int_equal(world.nsent, 1);
	assert_int_equal(world.sent[0].op, OP_EVENT);
	assert_string_equal(world.sent[0].name, "w1");
	assert_string_equal(world.sent[0].uid, "u1");
	assert_int_equal(work("claims/c1"), WORK_DONE);
	assert_int_equal(world.nsent, 1);
	reconcile_enqueue(&world.r, "claims/c1", 9, &(struct change){ .kind = CHANGE_UPDATED });
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	assert_int_equal(world.nsent, 2);
	answer(OUTCOME_OK, "12");
}

/* Found by the world `insight` of tests/dst. */
static void
A4_a_change_while_the_refused_write_was_in_flight(void **arg)
{
	(void)arg;
	plan_write(WIDGETS, OP_UPDATE);
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	reconcile_enqueue(&world.r, "claims/c1", 9, &(struct change){ .kind = CHANGE_UPDATED });
	answer(OUTCOME_INVALID, "");
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	answer(OUTCOME_INVALID, "");
	assert_int_equal(work("claims/c1"), WORK_DONE);
}

static void
A4_refused_until_something_changes(void **arg)
{
	struct reconciler *const r = &world.r;

	(void)arg;
	assert_null(journal_find(r->journal, "nodes/a", 7));
	for (int i = 0; i < 100; i++) {
		char key[16];
		const int n = snprintf(key, sizeof(key), "nodes/%d", i);

		struct journal_entry *const e = journal_entry(r->journal, key, (size_t)n);
		assert_false(e->refused);
		e->refused = true;
		e->message = obj_strdup("why");
	}
	reconcile_enqueue(r, "nodes/7", 7, &(struct change){ .kind = CHANGE_UPDATED });
	reconcile_enqueue(r, "nodes/none", 10, &(struct change){ .kind = CHANGE_UPDATED });
	assert_null(journal_find(r->journal, "nodes/none", 10));
	assert_false(journal_find(r->journal, "nodes/7", 7)->refused);
	assert_true(journal_find(r->journal, "nodes/8", 7)->refused);
	journal_drop(r->journal, "nodes/9", 7);
	assert_null(journal_find(r->journal, "nodes/9", 7));
	assert_false(journal_entry(r->journal, "nodes/9", 7)->refused);
	journal_clear_refused(r->journal);
	assert_false(journal_find(r->journal, "nodes/8", 7)->refused);
	journal_free(&r->journal);
	assert_null(r->journal);
}

/* A kind that is disabled, or has no CRD, may stay so for ever, while objects come and go. */
static void
what_cannot_be_planned_leaves_nothing_behind(void **arg)
{
	(void)arg;
	world.r.kinds[WIDGETS].enabled = false;
	assert_int_equal(work("nodes/w1"), WORK_DONE);
	assert_string_equal(journal_find(world.r.journal, "nodes/w1", 8)->verb, "nothing");
	assert_int_equal(world.plans, 0);
	world.fact_rv = NULL;
	assert_int_equal(work("nodes/w1"), WORK_DONE);
	assert_null(journal_find(world.r.journal, "nodes/w1", 8));
}

static void
A4_forbidden_holds_the_kind_for_a_minute(void **arg)
{
	(void)arg;
	plan_write(WIDGETS, OP_UPDATE);
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	answer(OUTCOME_FORBIDDEN, "");
	assert_int_equal(world.after_ms, RECONCILE_HOLD_MS);
	world.now_ms += 1000;
	assert_int_equal(work("claims/c2"), WORK_AFTER);
	assert_int_equal(world.after_ms, RECONCILE_HOLD_MS - 1000);
	world.now_ms += RECONCILE_HOLD_MS;
	assert_int_equal(work("claims/c2"), WORK_PENDING);
	answer(OUTCOME_OK, "12");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(A11_waits_until_node_state_has_caught_up),
		TEST(A11_reads_live_after_five_seconds),
		TEST(A11_a_live_read_that_fails_decides_nothing),
		TEST(A11_a_write_may_follow_the_live_read),
		TEST(A11_a_write_whose_answer_was_lost),
		TEST(A11_only_what_node_state_passes_on),
		TEST(A11_other_keys_do_not_wait),
		TEST(at_most_so_many_in_flight_and_the_rest_in_turn),
		TEST(an_effect_ends_later_with_an_outcome_of_its_own),
		TEST(A8_nothing_is_sent_after_leadership_was_lost),
		TEST(A4_refused_is_an_Event_and_not_tried_again),
		TEST(A4_a_change_while_the_refused_write_was_in_flight),
		TEST(A4_forbidden_holds_the_kind_for_a_minute),
		TEST(A4_refused_until_something_changes),
		TEST(what_cannot_be_planned_leaves_nothing_behind),
	};

	return cmocka_run_group_tests_name("reconcile_loop", tests, NULL, NULL);
}
