/* tests/unit/test_sim_schema_format.c - Go's patterns matched by the C library, and the formats of texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/kube/schema/sim_schema_format.h"

static const struct row {
	bool		(*fits)(const char *, const char *);
	const char	*form, *text;
	bool		 want;
} rows[] = {
	{ schema_pattern_fits, "^[a-z]+$", "abc", true },
	{ schema_pattern_fits, "^[a-z]+$", "aBc", false },
	{ schema_pattern_fits, "b", "abc", true },
	{ schema_pattern_fits, "^\\d{3}$", "123", true },
	{ schema_pattern_fits, "^\\d{3}$", "12a", false },
	{ schema_pattern_fits, "^\\D$", "x", true },
	{ schema_pattern_fits, "^\\w+\\s\\w+$", "a_1 b", true },
	{ schema_pattern_fits, "^[\\w.-]+$", "a.b-c_1", true },
	{ schema_pattern_fits, "^[\\w.-]+$", "a/b", false },
	{ schema_pattern_fits, "^[^\\d]+$", "abc", true },
	{ schema_pattern_fits, "^[^\\d]+$", "ab1", false },
	{ schema_pattern_fits, "^[]a]+$", "]a", true },
	{ schema_pattern_fits, "^[a\\]b]+$", "a]b", true },
	{ schema_pattern_fits, "^[a\\-z]+$", "-", true },
	{ schema_pattern_fits, "^[a\\-z]+$", "m", false },
	{ schema_pattern_fits, "^[+-]?$", "-", true },
	{ schema_pattern_fits, "^[\\^]$", "^", true },
	{ schema_pattern_fits, "^[\\^]$", "a", false },
	{ schema_pattern_fits, "^[a^]$", "^", true },
	{ schema_pattern_fits, "^[[:alpha:]_]+$", "a_b", true },
	{ schema_pattern_fits, "^[\\\\/]$", "\\", true },
	{ schema_pattern_fits, "^(?:ab)+$", "abab", true },
	{ schema_pattern_fits, "^a.*?b$", "axxb", true },
	{ schema_pattern_fits, "(?i)^abc$", "ABC", true },
	{ schema_pattern_fits, "^\\Aabc\\z", "abc", true },
	{ schema_pattern_fits, "^a\\.b$", "a.b", true },
	{ schema_pattern_fits, "^a\\.b$", "axb", false },
	{ schema_pattern_fits, "^https?:\\/\\/", "http://x", true },
	{ schema_pattern_fits, "^(a|b|)$", "", true },
	/* as Cluster API and Karpenter have them */
	{ schema_pattern_fits, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "a.b-c.d", true },
	{ schema_pattern_fits, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "a..b", false },
	{ schema_pattern_fits, "^(([0-9]+(s|m|h))+)|(Never)$", "5m30s", true },
	{ schema_pattern_fits, "^([A-Za-z0-9][-A-Za-z0-9_./]*)?[A-Za-z0-9]$", "node.kubernetes.io/x", true },
	/* what cannot be translated refuses nothing */
	{ schema_pattern_fits, "^\\p{L}+$", "123", true },
	{ schema_pattern_fits, "(?s)^a$", "b", true },
	{ schema_pattern_fits, "(", "x", true },
	{ schema_format_fits, "date-time", "2026-01-01T00:00:00Z", true },
	{ schema_format_fits, "date-time", "2026-01-01T00:00:00.5+01:00", true },
	{ schema_format_fits, "date-time", "2026-01-01", false },
	{ schema_format_fits, "date", "2026-02-28", true },
	{ schema_format_fits, "date", "2026-02-30", false },
	{ schema_format_fits, "date", "2026-2-3", false },
	{ schema_format_fits, "ipv4", "1.2.3.4", true },
	{ schema_format_fits, "ipv4", "1.2.3", false },
	{ schema_format_fits, "ipv6", "::1", true },
	{ schema_format_fits, "ipv6", "1.2.3.4", false },
	{ schema_format_fits, "cidr", "10.0.0.0/8", true },
	{ schema_format_fits, "cidr", "10.0.0.0/33", false },
	{ schema_format_fits, "cidr", "fd00::/64", true },
	{ schema_format_fits, "cidr", "10.0.0.0", false },
	{ schema_format_fits, "uuid", "123e4567-e89b-12d3-a456-426614174000", true },
	{ schema_format_fits, "uuid", "123e4567", false },
	{ schema_format_fits, "byte", "YWJj", true },
	{ schema_format_fits, "byte", "YWJ", false },
	{ schema_format_fits, "duration", "1h30m", true },
	{ schema_format_fits, "duration", "5 days", true },
	{ schema_format_fits, "duration", "soon", false },
	{ schema_format_fits, "mac", "01:23:45:67:89:ab", true },
	{ schema_format_fits, "mac", "01:23", false },
	{ schema_format_fits, "password", "anything", true },
	{ schema_format_fits, "", "anything", true },
};

static void
check_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++)
		if (rows[i].fits(rows[i].form, rows[i].text) != rows[i].want)
			fail_msg("%s %s: wanted %d", rows[i].form, rows[i].text, rows[i].want);
}

static void
length_is_in_characters(void **state)
{
	(void)state;
	assert_int_equal(schema_format_length(""), 0);
	assert_int_equal(schema_format_length("abc"), 3);
	assert_int_equal(schema_format_length("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), 3);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_rows),
		cmocka_unit_test(length_is_in_characters),
	};

	return cmocka_run_group_tests_name("sim schema format", tests, NULL, NULL);
}
