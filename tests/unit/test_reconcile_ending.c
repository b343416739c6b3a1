/* tests/unit/test_reconcile_ending.c - the stop of an actor that has requests in flight. */
#include "reconcile_rig.h"

static int64_t
busy_until(struct reconciler *r)
{
	(void)r;
	return world.busy_until_ms;
}

static void
a_stop_ends_at_once_when_nothing_is_in_flight(void **arg)
{
	(void)arg;
	reconcile_ending(NULL, &world.r);
	assert_true(world.exited);
	assert_int_equal(world.extended_ms, 0);
}

static void
a_stop_waits_for_the_answer_and_begins_nothing(void **arg)
{
	(void)arg;
	plan_write(WIDGETS, OP_MERGE);
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	world.now_ms += 1000;
	reconcile_ending(NULL, &world.r);
	assert_false(world.exited);
	assert_int_equal(world.extended_ms, 8000);	/* the write's 8 s and one for its answer, less one */
	const unsigned plans = world.plans;
	assert_int_equal(work("claims/c2"), WORK_DONE);
	assert_int_equal(world.plans, plans);
	reconcile_tick(NULL, &world.r, world.now_ms);
	assert_false(world.exited);
	answer(OUTCOME_UNKNOWN, "");
	assert_int_equal(world.nsent, 0);	/* no live read follows */
	assert_true(world.exited);
}

static void
a_stop_waits_for_an_effect_but_not_for_ever(void **arg)
{
	(void)arg;
	world.step = (struct reconcile_step){ .form = STEP_EFFECT, .verb = "delete", .why = "not claimed",
		.what = "delete VM", .start = start_effect, .write.name = "vm-7" };
	assert_int_equal(work("claims/c1"), WORK_PENDING);
	reconcile_ending(NULL, &world.r);
	assert_int_equal(world.extended_ms, RECONCILE_EFFECT_MS);
	world.now_ms += RECONCILE_EFFECT_MS - 1;
	reconcile_tick(NULL, &world.r, world.now_ms);
	assert_false(world.exited);
	world.now_ms++;
	reconcile_tick(NULL, &world.r, world.now_ms);
	assert_true(world.exited);
	reconcile_effect_done(&world.r, world.effect, "unknown", wire_str_of(""),
	    &(struct outcome_action){ .result = WORK_RETRY });
}

static void
a_stop_waits_for_what_the_actor_has_in_flight(void **arg)
{
	static struct reconcile_spec busy;

	(void)arg;
	busy = spec;
	busy.busy_until_ms = busy_until;
	world.r.spec = &busy;
	world.busy_until_ms = world.now_ms + 6000;
	reconcile_ending(NULL, &world.r);
	assert_int_equal(world.extended_ms, 6000);
	assert_false(world.exited);
	world.busy_until_ms = 0;
	plan_nothing();
	assert_int_equal(work("claims/c1"), WORK_DONE);		/* as its progress enqueues it */
	assert_true(world.exited);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stop_ends_at_once_when_nothing_is_in_flight),
		TEST(a_stop_waits_for_the_answer_and_begins_nothing),
		TEST(a_stop_waits_for_an_effect_but_not_for_ever),
		TEST(a_stop_waits_for_what_the_actor_has_in_flight),
	};

	return cmocka_run_group_tests_name("reconcile_ending", tests, NULL, NULL);
}
