/* tests/unit/test_tally.c - the death tally: counts are for ever, the list is the last hundred. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "supervisor/policy.h"

static void
an_empty_tally_has_no_last(void **state)
{
	const struct tally t = { 0 };

	(void)state;
	assert_null(tally_last(&t, 0));
}

static void
the_latest_comes_first(void **state)
{
	struct tally t = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 3; i++)
		tally_add(&t, &(struct death){ .incarnation = i, .cause = CAUSE_EXIT });
	assert_int_equal(tally_last(&t, 0)->incarnation, 3);
	assert_int_equal(tally_last(&t, 2)->incarnation, 1);
	assert_null(tally_last(&t, 3));
}

static void
a_hundred_are_kept_and_all_are_counted(void **state)
{
	struct tally t = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 250; i++)
		tally_add(&t,
		    &(struct death){
			.incarnation = i, .cause = i % 2 == 0 ? CAUSE_EXIT : CAUSE_SIGNAL });
	assert_int_equal(t.total, 250);
	assert_int_equal(t.count[CAUSE_EXIT], 125);
	assert_int_equal(t.count[CAUSE_SIGNAL], 125);
	for (unsigned i = 0; i < TALLY_LAST; i++)
		assert_int_equal(tally_last(&t, i)->incarnation, 250 - i);
	assert_null(tally_last(&t, TALLY_LAST));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_tally_has_no_last),
		cmocka_unit_test(the_latest_comes_first),
		cmocka_unit_test(a_hundred_are_kept_and_all_are_counted),
	};

	return cmocka_run_group_tests_name("tally", tests, NULL, NULL);
}
