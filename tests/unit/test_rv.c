/* tests/unit/test_rv.c - the order of resourceVersions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kube/rv.h"
#include "obj.h"

#define FORTY	"1234567890123456789012345678901234567890"

static const struct row {
	const char	*name, *a, *b;
	enum rv_order	 want;
} rows[] = {
	{ "smaller is older",           "1",  "2",  RV_OLDER },
	{ "larger is newer",            "2",  "1",  RV_NEWER },
	{ "equal",                      "77", "77", RV_SAME },
	{ "as numbers, not as texts",   "9",  "10", RV_OLDER },
	{ "and the other way",          "10", "9",  RV_NEWER },
	{ "beyond 64 bits",             "18446744073709551616", "18446744073709551615", RV_NEWER },
	{ "of any length",              FORTY "1", FORTY "2", RV_OLDER },
	{ "far longer",                 "9", FORTY, RV_OLDER },
	{ "0 means any version",        "0",  "1",  RV_UNKNOWN },
	{ "0 on the other side",        "1",  "0",  RV_UNKNOWN },
	{ "nothing",                    "",   "1",  RV_UNKNOWN },
	{ "nothing twice is not same",  "",   "",   RV_UNKNOWN },
	{ "leading zero",               "01", "1",  RV_UNKNOWN },
	{ "a sign",                     "-1", "1",  RV_UNKNOWN },
	{ "plus is a sign too",         "+1", "1",  RV_UNKNOWN },
	{ "a letter",                   "1a", "1",  RV_UNKNOWN },
	{ "a blank",                    "1 ", "1",  RV_UNKNOWN },
	{ "equal texts, but no number", "ab", "ab", RV_UNKNOWN },
};

static void
check_row(void **state)
{
	const struct row *r = *state;

	assert_int_equal(rv_compare(r->a, strlen(r->a), r->b, strlen(r->b)), r->want);
}

/* Views into a larger text: the bytes behind do not count. */
static void
only_the_given_bytes_count(void **state)
{
	(void)state;
	assert_int_equal(rv_compare("12x", 2, "13y", 2), RV_OLDER);
	assert_true(rv_valid("5,", 1));
	assert_false(rv_valid("5,", 2));
	assert_false(rv_valid("5", 0));
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(only_the_given_bytes_count);
	return cmocka_run_group_tests_name("rv", tests, NULL, NULL);
}
