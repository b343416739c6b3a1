/* tests/unit/test_provider_lists.c - one list for all keys (contract C12), and ids to keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/provider/id_index.h"
#include "actors/provider/shared_list.h"
#include "obj.h"

static char enqueued[256];

/* In place of the runtime's. */
void
actor_enqueue(struct actor *a, const char *key, size_t len, enum work_priority prio, uint64_t trace)
{
	(void)a, (void)prio, (void)trace;
	snprintf(enqueued + strlen(enqueued), sizeof(enqueued) - strlen(enqueued), "%.*s ", (int)len, key);
}

static struct reconcile_step
join(struct shared_list *s, const char *key, int64_t now_ms)
{
	struct reconcile_step step = { .form = STEP_EFFECT, .verb = "list", .why = "?" };

	shared_list_join(s, &(struct work){ .key = key, .len = strlen(key) }, &step, now_ms);
	return step;
}

static void
c12_a_list_decides_when_it_began_after_the_call_and_is_young(void **state)
{
	struct shared_list s;

	(void)state;
	shared_list_open(&s);
	assert_false(shared_list_usable(&s, 0, 1000, 100));
	shared_list_begin(&s, 100);
	assert_false(shared_list_usable(&s, 0, 1000, 150));
	shared_list_end(&s, NULL, true, false, 200);
	assert_true(shared_list_usable(&s, 0, 1000, 200));
	/* a call that ended after the list began may be missing in it */
	assert_false(shared_list_usable(&s, s.begun, 1000, 200));
	/* its age counts from its beginning */
	assert_true(shared_list_usable(&s, 0, 1000, 1099));
	assert_false(shared_list_usable(&s, 0, 1000, 1100));
	/* a failed one changes nothing */
	shared_list_begin(&s, 500);
	shared_list_end(&s, NULL, false, false, 600);
	assert_int_equal(s.number, 1);
	assert_int_equal(s.began_ms, 100);
	/* nor does it make the one before it newer than a call between them */
	assert_false(shared_list_usable(&s, 1, 1000, 600));
	shared_list_begin(&s, 700);
	shared_list_end(&s, NULL, true, false, 700);
	assert_int_equal(s.number, 3);
	assert_true(shared_list_usable(&s, 2, 1000, 700));
	shared_list_close(&s);
}

static void
c12_keys_wait_for_the_list_in_flight(void **state)
{
	struct shared_list s;

	(void)state;
	enqueued[0] = '\0';
	shared_list_open(&s);
	assert_int_equal(join(&s, "widgets/a", 0).form, STEP_EFFECT);
	shared_list_begin(&s, 0);
	for (int i = 0; i < 2; i++) {
		const struct reconcile_step step = join(&s, "widgets/b", 1);

		assert_int_equal(step.form, STEP_WAIT);
		assert_int_equal(step.after_ms, 0);	/* its end enqueues the key */
	}
	join(&s, "widgets/c", 2);
	shared_list_end(&s, NULL, true, false, 3);
	assert_string_equal(enqueued, "widgets/b widgets/c ");
	assert_int_equal(join(&s, "widgets/b", 3).form, STEP_EFFECT);
	shared_list_close(&s);
}

static void
c12_after_failures_the_next_one_waits_longer(void **state)
{
	static const int64_t pauses_ms[] = { 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000 };
	struct shared_list s;
	int64_t now_ms = 0;

	(void)state;
	shared_list_open(&s);
	for (size_t i = 0; i < NITEMS(pauses_ms); i++) {
		shared_list_begin(&s, now_ms);
		shared_list_end(&s, NULL, false, false, now_ms);
		const struct reconcile_step step = join(&s, "widgets/a", now_ms);
		assert_int_equal(step.form, STEP_WAIT);
		assert_int_equal(step.after_ms, pauses_ms[i]);
		now_ms += pauses_ms[i];
		assert_int_equal(join(&s, "widgets/a", now_ms).form, STEP_EFFECT);
	}
	/* another token: at once */
	shared_list_begin(&s, now_ms);
	shared_list_end(&s, NULL, false, true, now_ms);
	assert_int_equal(join(&s, "widgets/a", now_ms).form, STEP_EFFECT);
	assert_int_equal(s.failures, 0);
	shared_list_close(&s);
}

static const char *
key_of(const struct id_index *x, const char *id)
{
	const char *const key = id_index_key(x, wire_str_of(id));

	return key != NULL ? key : "-";
}

static void
ids_follow_their_objects(void **state)
{
	struct id_index *x = id_index_new();

	(void)state;
	assert_string_equal(key_of(x, "test://7"), "-");
	id_index_set(x, wire_str_of("nodes/a"), wire_str_of("test://7"));
	id_index_set(x, wire_str_of("nodes/a"), wire_str_of("test://7"));
	assert_string_equal(key_of(x, "test://7"), "nodes/a");
	/* a second object with the same id: the first keeps it, then it is the second's */
	id_index_set(x, wire_str_of("nodes/b"), wire_str_of("test://7"));
	assert_string_equal(key_of(x, "test://7"), "nodes/a");
	assert_int_equal(id_index_count(x, wire_str_of("test://7")), 2);
	id_index_set(x, wire_str_of("nodes/a"), wire_str_of("test://8"));
	assert_int_equal(id_index_count(x, wire_str_of("test://7")), 1);
	assert_int_equal(id_index_count(x, wire_str_of("test://9")), 0);
	assert_string_equal(key_of(x, "test://7"), "nodes/b");
	assert_string_equal(key_of(x, "test://8"), "nodes/a");
	/* gone */
	id_index_set(x, wire_str_of("nodes/b"), wire_str_of(""));
	id_index_set(x, wire_str_of("nodes/b"), wire_str_of(""));
	assert_string_equal(key_of(x, "test://7"), "-");
	assert_string_equal(key_of(x, ""), "-");
	id_index_free(&x);
	id_index_free(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c12_a_list_decides_when_it_began_after_the_call_and_is_young),
		cmocka_unit_test(c12_keys_wait_for_the_list_in_flight),
		cmocka_unit_test(c12_after_failures_the_next_one_waits_longer),
		cmocka_unit_test(ids_follow_their_objects),
	};

	return cmocka_run_group_tests_name("lists", tests, NULL, NULL);
}
