/* tests/unit/test_quantity.c - quantities; tests/real/test_oracle.c asks Go about more of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kube/quantity.h"
#include "obj.h"

#define LOST	INT64_MAX	/* does not fit: the nearest is returned */

static const struct row {
	const char	*text, *want;	/* canonical form; NULL: refused */
	int64_t		 value, milli;
} rows[] = {
	{ "0",                    "0",      0, 0 },
	{ "1",                    "1",      1, 1000 },
	{ "100m",                 "100m",   1, 100 },
	{ "0.1",                  "100m",   1, 100 },
	{ "1500m",                "1500m",  2, 1500 },
	{ "-1500m",               "-1500m", -2, -1500 },
	{ "1.5Gi",                "1536Mi", 1610612736, 1610612736000 },
	{ "1024Ki",               "1Mi",    1048576, 1048576000 },
	{ "0.5Ki",                "512",    512, 512000 },
	{ "0.3Ki",                "307200m", 308, 307200 },
	{ "-0.3Ki",               "-307200m", -308, -307200 },
	{ "0.0000001Ki",          "102400n", 1, 1 },
	{ "12e6",                 "12e6",   12000000, INT64_C(12000000000) },
	{ "12e7",                 "120e6",  120000000, INT64_C(120000000000) },
	{ "1E",                   "1E",     INT64_C(1000000000000000000), LOST },
	{ "1Ei",                  "1Ei",    INT64_C(1152921504606846976), LOST },
	{ "8Ei",                  "9223372036854775807", INT64_MAX, LOST },
	{ "99999999999999999999", "99999999999999999999", LOST, LOST },
	{ "1n",                   "1n",     1, 1 },
	{ "0.1n",                 "1n",     1, 1 },
	{ "1.0000000001",         "1000000001n", 2, 1001 },
	/* what Go takes for canonical and prints as it was written */
	{ "+5",                   "+5",     5, 5000 },
	{ "007",                  "007",    7, 7000 },
	{ "1.500",                "1.500",  2, 1500 },
	{ "1E3",                  "1E3",    1000, 1000000 },
	/* zeros without a digit */
	{ "+",                    "0",      0, 0 },
	{ ".",                    "0",      0, 0 },
	{ "m",                    "0",      0, 0 },
	{ "-0.0",                 "0",      0, 0 },
	/* exponents: 64 bits are read, 32 are kept */
	{ "1e4294967296",         "1e4294967296", 1, 1000 },
	{ "1e2147483648",         "1e-9",   1, 1 },
	{ "1e9223372036854775808", NULL,    0, 0 },
	{ "1e-2000000000",        "1e-9",   1, 1 },
	{ "1e2000000000",         "100e1999999998", LOST, LOST },
	{ "",                     NULL,     0, 0 },
	{ "Ei",                   NULL,     0, 0 },
	{ "1K",                   NULL,     0, 0 },
	{ "1ki",                  NULL,     0, 0 },
	{ "1e",                   NULL,     0, 0 },
	{ "1e+",                  NULL,     0, 0 },
	{ "1 Gi",                 NULL,     0, 0 },
	{ " 1",                   NULL,     0, 0 },
	{ "1.1.1",                NULL,     0, 0 },
	{ "0x10",                 NULL,     0, 0 },
	{ "1e5m",                 NULL,     0, 0 },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	char text[QUANTITY_PRINT_MAX];
	struct quantity q;
	int64_t n;

	const char *const wrong = quantity_parse(&q, r->text, strlen(r->text));
	assert_int_equal(wrong == NULL, r->want != NULL);
	if (wrong != NULL || r->want == NULL)
		return;
	assert_int_equal(quantity_print(&q, text, sizeof(text)), strlen(r->want));
	assert_string_equal(text, r->want);
	assert_int_equal(quantity_value(&q, &n), r->value != LOST || strcmp(r->text, "8Ei") == 0);
	assert_int_equal(n, r->value);
	assert_int_equal(quantity_milli(&q, &n), r->milli != LOST);
	assert_int_equal(n, r->milli);
}

/* From small to large; some are equal. */
static void
order_is_that_of_numbers(void **state)
{
	static const char *const sorted[] = { "-1e400", "-8Ei", "-1Ki", "-1", "-1m", "-1n", "0", "1n",
		"1u", "1000u", "1m", "0.5", "500m", "1", "1000m", "1023", "1Ki", "1024", "1025", "1M", "1Mi",
		"1G", "1Gi", "1E", "1Ei", "1152921504606846976", "8Ei", "1e19", "1e400", "1.1e400" };
	static const char *const same[][2] = { { "1000u", "1m" }, { "0.5", "500m" }, { "1", "1000m" },
		{ "1Ki", "1024" }, { "1Ei", "1152921504606846976" } };
	struct quantity q[NITEMS(sorted)];

	(void)state;
	for (size_t i = 0; i < NITEMS(sorted); i++)
		assert_null(quantity_parse(&q[i], sorted[i], strlen(sorted[i])));
	for (size_t i = 0; i < NITEMS(sorted); i++) {
		for (size_t k = 0; k < NITEMS(sorted); k++) {
			int want = (i > k) - (i < k);

			for (size_t s = 0; s < NITEMS(same); s++) {
				const bool there = strcmp(sorted[i], same[s][0]) == 0
				    && strcmp(sorted[k], same[s][1]) == 0;
				const bool back = strcmp(sorted[i], same[s][1]) == 0
				    && strcmp(sorted[k], same[s][0]) == 0;

				if (there || back)
					want = 0;
			}
			assert_int_equal(quantity_compare(&q[i], &q[k]), want);
		}
	}
}

static void
length_is_limited(void **state)
{
	char text[QUANTITY_TEXT_MAX + 2], printed[QUANTITY_PRINT_MAX];
	struct quantity q;

	(void)state;
	memset(text, '9', sizeof(text));
	assert_null(quantity_parse(&q, text, QUANTITY_TEXT_MAX));
	assert_int_equal(quantity_print(&q, printed, sizeof(printed)), QUANTITY_TEXT_MAX);
	assert_string_equal(quantity_parse(&q, text, QUANTITY_TEXT_MAX + 1),
	    "quantity is longer than 64 characters");
	/* the widest of all: a carry, two zeros and a long exponent */
	memcpy(text + QUANTITY_TEXT_MAX - 12, "e-2147483647", 12);
	assert_null(quantity_parse(&q, text, QUANTITY_TEXT_MAX));
	assert_true(quantity_print(&q, printed, sizeof(printed)) < sizeof(printed));
}

static void
words_are_gos(void **state)
{
	struct quantity q;

	(void)state;
	assert_string_equal(quantity_parse(&q, "1x", 2), "quantities must match the regular expression "
	    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
	assert_string_equal(quantity_parse(&q, "1K", 2), "unable to parse quantity's suffix");
	assert_string_equal(quantity_parse(&q, "Ei", 2), "unable to parse numeric part of quantity");
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 3];
	size_t n = 0;

	for (; n < NITEMS(rows); n++)
		tests[n] = (struct CMUnitTest){ rows[n].text[0] == '\0' ? "empty" : rows[n].text, check_row,
			NULL, NULL, (void *)(uintptr_t)&rows[n] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(order_is_that_of_numbers);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(length_is_limited);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(words_are_gos);
	return cmocka_run_group_tests_name("quantity", tests, NULL, NULL);
}
