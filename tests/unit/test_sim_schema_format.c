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
	{ sim_schema_pattern_fits, "^[a-z]+$", "abc", true },
	{ sim_schema_pattern_fits, "^[a-z]+$", "aBc", false },
	{ sim_schema_pattern_fits, "b", "abc", true },
	{ sim_schema_pattern_fits, "^\\d{3}$", "123", true },
	{ sim_schema_pattern_fits, "^\\d{3}$", "12a", false },
	{ sim_schema_pattern_fits, "^\\D$", "x", true },
	{ sim_schema_pattern_fits, "^\\w+\\s\\w+$", "a_1 b", true },
	{ sim_schema_pattern_fits, "^[\\w.-]+$", "a.b-c_1", true },
	{ sim_schema_pattern_fits, "^[\\w.-]+$", "a/b", false },
	{ sim_schema_pattern_fits, "^[^\\d]+$", "abc", true },
	{ sim_schema_pattern_fits, "^[^\\d]+$", "ab1", false },
	{ sim_schema_pattern_fits, "^[]a]+$", "]a", true },
	{ sim_schema_pattern_fits, "^[a\\]b]+$", "a]b", true },
	{ sim_schema_pattern_fits, "^[a\\-z]+$", "-", true },
	{ sim_schema_pattern_fits, "^[a\\-z]+$", "m", false },
	{ sim_schema_pattern_fits, "^[+-]?$", "-", true },
	{ sim_schema_pattern_fits, "^[\\^]$", "^", true },
	{ sim_schema_pattern_fits, "^[\\^]$", "a", false },
	{ sim_schema_pattern_fits, "^[a^]$", "^", true },
	{ sim_schema_pattern_fits, "^[[:alpha:]_]+$", "a_b", true },
	{ sim_schema_pattern_fits, "^[\\\\/]$", "\\", true },
	{ sim_schema_pattern_fits, "^(?:ab)+$", "abab", true },
	{ sim_schema_pattern_fits, "^a.*?b$", "axxb", true },
	{ sim_schema_pattern_fits, "(?i)^abc$", "ABC", true },
	{ sim_schema_pattern_fits, "^\\Aabc\\z", "abc", true },
	{ sim_schema_pattern_fits, "^a\\.b$", "a.b", true },
	{ sim_schema_pattern_fits, "^a\\.b$", "axb", false },
	{ sim_schema_pattern_fits, "^https?:\\/\\/", "http://x", true },
	{ sim_schema_pattern_fits, "^(a|b|)$", "", true },
	/* as Cluster API and Karpenter have them */
	{ sim_schema_pattern_fits, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "a.b-c.d", true },
	{ sim_schema_pattern_fits, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", "a..b", false },
	{ sim_schema_pattern_fits, "^(([0-9]+(s|m|h))+)|(Never)$", "5m30s", true },
	{ sim_schema_pattern_fits, "^([A-Za-z0-9][-A-Za-z0-9_./]*)?[A-Za-z0-9]$", "node.kubernetes.io/x", true },
	/* what cannot be translated refuses nothing */
	{ sim_schema_pattern_fits, "^\\p{L}+$", "123", true },
	{ sim_schema_pattern_fits, "(?s)^a$", "b", true },
	{ sim_schema_pattern_fits, "(", "x", true },
	{ sim_schema_format_fits, "date-time", "2026-01-01T00:00:00Z", true },
	{ sim_schema_format_fits, "date-time", "2026-01-01T00:00:00.5+01:00", true },
	{ sim_schema_format_fits, "date-time", "2026-01-01", false },
	{ sim_schema_format_fits, "date", "2026-02-28", true },
	{ sim_schema_format_fits, "date", "2026-02-30", false },
	{ sim_schema_format_fits, "date", "2026-2-3", false },
	{ sim_schema_format_fits, "ipv4", "1.2.3.4", true },
	{ sim_schema_format_fits, "ipv4", "1.2.3", false },
	{ sim_schema_format_fits, "ipv6", "::1", true },
	{ sim_schema_format_fits, "ipv6", "1.2.3.4", false },
	{ sim_schema_format_fits, "cidr", "10.0.0.0/8", true },
	{ sim_schema_format_fits, "cidr", "10.0.0.0/33", false },
	{ sim_schema_format_fits, "cidr", "fd00::/64", true },
	{ sim_schema_format_fits, "cidr", "10.0.0.0", false },
	{ sim_schema_format_fits, "uuid", "123e4567-e89b-12d3-a456-426614174000", true },
	{ sim_schema_format_fits, "uuid", "123e4567", false },
	{ sim_schema_format_fits, "byte", "YWJj", true },
	{ sim_schema_format_fits, "byte", "YWJ", false },
	{ sim_schema_format_fits, "duration", "1h30m", true },
	{ sim_schema_format_fits, "duration", "5 days", true },
	{ sim_schema_format_fits, "duration", "soon", false },
	{ sim_schema_format_fits, "mac", "01:23:45:67:89:ab", true },
	{ sim_schema_format_fits, "mac", "01:23", false },
	{ sim_schema_format_fits, "password", "anything", true },
	{ sim_schema_format_fits, "", "anything", true },
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
	assert_int_equal(sim_schema_format_length(""), 0);
	assert_int_equal(sim_schema_format_length("abc"), 3);
	assert_int_equal(sim_schema_format_length("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), 3);
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
