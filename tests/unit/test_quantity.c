/* tests/unit/test_quantity.c - quantities; tests/real/test_oracle.c asks Go about more of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kube/quantity.h"
#include "obj.h"

static const struct row {
	const char	*text, *want;	/* canonical form; NULL: refused */
} rows[] = {
	{ "0",                    "0" },
	{ "1",                    "1" },
	{ "100m",                 "100m" },
	{ "0.1",                  "100m" },
	{ "1500m",                "1500m" },
	{ "-1500m",               "-1500m" },
	{ "1.5Gi",                "1536Mi" },
	{ "1024Ki",               "1Mi" },
	{ "0.5Ki",                "512" },
	{ "0.3Ki",                "307200m" },
	{ "-0.3Ki",               "-307200m" },
	{ "0.0000001Ki",          "102400n" },
	{ "12e6",                 "12e6" },
	{ "12e7",                 "120e6" },
	{ "1E",                   "1E" },
	{ "1Ei",                  "1Ei" },
	{ "8Ei",                  "9223372036854775807" },
	{ "99999999999999999999", "99999999999999999999" },
	{ "1n",                   "1n" },
	{ "0.1n",                 "1n" },
	{ "1.0000000001",         "1000000001n" },
	/* what Go takes for canonical and prints as it was written */
	{ "+5",                   "+5" },
	{ "007",                  "007" },
	{ "1.500",                "1.500" },
	{ "1E3",                  "1E3" },
	/* zeros without a digit */
	{ "+",                    "0" },
	{ ".",                    "0" },
	{ "m",                    "0" },
	{ "-0.0",                 "0" },
	/* exponents: 64 bits are read, 32 are kept */
	{ "1e4294967296",         "1e4294967296" },
	{ "1e2147483648",         "1e-9" },
	{ "1e9223372036854775808", NULL },
	{ "1e-2000000000",        "1e-9" },
	{ "1e2000000000",         "100e1999999998" },
	{ "",                     NULL },
	{ "Ei",                   NULL },
	{ "1K",                   NULL },
	{ "1ki",                  NULL },
	{ "1e",                   NULL },
	{ "1e+",                  NULL },
	{ "1 Gi",                 NULL },
	{ " 1",                   NULL },
	{ "1.1.1",                NULL },
	{ "0x10",                 NULL },
	{ "1e5m",                 NULL },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	char text[QUANTITY_PRINT_MAX];
	struct quantity q;

	const char *const wrong = quantity_parse(&q, r->text, strlen(r->text));
	assert_int_equal(wrong == NULL, r->want != NULL);
	if (wrong != NULL || r->want == NULL)
		return;
	assert_int_equal(quantity_print(&q, text, sizeof(text)), strlen(r->want));
	assert_string_equal(text, r->want);
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

/* As Go's ScaledValue, which rounds up. */
static void
scaled_to_integers(void **state)
{
	static const struct {
		const char	*text;
		int64_t		 scale, want;
	} cases[] = {
		{ "0", 0, 0 }, { "1", 0, 1 }, { "1", -3, 1000 }, { "100m", -3, 100 }, { "100m", 0, 1 },
		{ "1500m", 0, 2 }, { "-1500m", 0, -2 }, { "1.5Gi", 0, 1610612736 }, { "1n", -3, 1 },
		{ "12e6", 3, 12000 }, { "1e30", 0, INT64_MAX }, { "-1e30", 0, INT64_MIN },
		{ "9223372036854775807", 0, INT64_MAX }, { "9223372036854775808", 0, INT64_MAX },
		{ "9223372036854775806", 0, INT64_MAX - 1 }, { "1e2000000000", -3, INT64_MAX },
		{ "9.99", 0, 10 }, { "1930.001m", -3, 1931 },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(cases); i++) {
		struct quantity q;

		assert_null(quantity_parse(&q, cases[i].text, strlen(cases[i].text)));
		assert_int_equal(quantity_scaled(&q, cases[i].scale), cases[i].want);
	}
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
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(length_is_limited);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(scaled_to_integers);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(words_are_gos);
	return cmocka_run_group_tests_name("quantity", tests, NULL, NULL);
}
