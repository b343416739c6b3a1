/* tests/unit/test_utf8.c - what is a character and what is not: the edges of Unicode's table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "utf8.h"

static const struct row {
	const char	*name, *bytes;
	size_t		 len, want;
} rows[] = {
	{ "ASCII", "a", 1, 1 },
	{ "NUL is a character", "\0", 1, 1 },
	{ "DEL", "\x7f", 1, 1 },
	{ "first of two bytes", "\xc2\x80", 2, 2 },
	{ "last of two bytes", "\xdf\xbf", 2, 2 },
	{ "first of three", "\xe0\xa0\x80", 3, 3 },
	{ "last before the surrogates", "\xed\x9f\xbf", 3, 3 },
	{ "first after them", "\xee\x80\x80", 3, 3 },
	{ "last of three", "\xef\xbf\xbf", 3, 3 },
	{ "first of four", "\xf0\x90\x80\x80", 4, 4 },
	{ "the very last", "\xf4\x8f\xbf\xbf", 4, 4 },
	{ "more follows", "\xc3\xa9zz", 4, 2 },
	{ "lone continuation", "\x80", 1, 0 },
	{ "overlong slash", "\xc0\xaf", 2, 0 },
	{ "overlong in two", "\xc1\xbf", 2, 0 },
	{ "overlong in three", "\xe0\x9f\xbf", 3, 0 },
	{ "overlong in four", "\xf0\x8f\xbf\xbf", 4, 0 },
	{ "surrogate", "\xed\xa0\x80", 3, 0 },
	{ "beyond the last", "\xf4\x90\x80\x80", 4, 0 },
	{ "five bytes are none", "\xf8\x88\x80\x80\x80", 5, 0 },
	{ "0xff", "\xff", 1, 0 },
	{ "second byte is text", "\xc3(", 2, 0 },
	{ "third byte is text", "\xe2\x82(", 3, 0 },
	{ "fourth byte is text", "\xf0\x9f\x98(", 4, 0 },
	{ "cut after one", "\xc3\xa9", 1, 0 },
	{ "cut after two", "\xe2\x82\xac", 2, 0 },
	{ "cut after three", "\xf0\x9f\x98\x80", 3, 0 },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	char *const exact = obj_memdup(r->bytes, r->len);	/* so that reading past the end is seen */

	assert_int_equal(utf8_length(exact, r->len), r->want);
	free(exact);
}

static bool
is_x(uint32_t code)
{
	return code == 'x' || code == 0x20ac;
}

static void
a_span_ends_at_the_first_that_is_refused(void **state)
{
	static const struct {
		const char	*text;
		bool	       (*refused)(uint32_t);
		size_t		 want;
	} cases[] = {
		{ "", NULL, 0 }, { "abc", NULL, 3 }, { "h\xc3\xa9", NULL, 3 }, { "h\xc3", NULL, 1 },
		{ "a\n\x1b", NULL, 3 }, { "\xff" "ab", NULL, 0 }, { "ab\xff", NULL, 2 },
		{ "abxc", is_x, 2 }, { "a\xe2\x82\xac", is_x, 1 }, { "a\xe2\x82\xad", is_x, 4 },
		{ "a\nb", utf8_control, 1 }, { "a\x7f", utf8_control, 1 }, { "a\xc2\x9b", utf8_control, 1 },
		{ "a \xc2\xa0~", utf8_control, 5 }, { "\x1f", utf8_control, 0 },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(cases); i++) {
		const size_t len = strlen(cases[i].text);
		char *const exact = obj_memdup(cases[i].text, len);

		assert_int_equal(utf8_span(exact, len, cases[i].refused), cases[i].want);
		free(exact);
	}
	assert_int_equal(utf8_span("a\0b", 3, NULL), 3);
	assert_int_equal(utf8_span("a\0b", 3, utf8_control), 1);
}

static void
a_cut_is_between_characters(void **state)
{
	static const struct {
		const char	*text;
		size_t		 max_bytes, max_points, want;
	} cuts[] = {
		{ "",               9, 9, 0 }, { "abc",         9, 9, 3 }, { "abc",         2, 9, 2 },
		{ "abc",            9, 1, 1 }, { "\xc3\xa9z",   1, 9, 0 }, { "\xc3\xa9z",   2, 9, 2 },
		{ "\xc3\xa9z",      9, 1, 2 }, { "a\xff\xffz",  9, 2, 2 }, { "a\xc3",       9, 9, 2 },
		{ "\xe2\x82\xac",   2, 9, 0 }, { "abc",         0, 9, 0 }, { "abc",         9, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(cuts); i++)
		assert_int_equal(utf8_cut(cuts[i].text, strlen(cuts[i].text), cuts[i].max_bytes,
				     cuts[i].max_points), cuts[i].want);
}

static void
code_points(void **state)
{
	static const struct {
		const char	*text;
		uint32_t	 want;
	} points[] = {
		{ "a", 'a' }, { "\x7f", 0x7f }, { "\xc2\x80", 0x80 }, { "\xe2\x82\xac", 0x20ac },
		{ "\xef\xbf\xbf", 0xffff }, { "\xf0\x90\x80\x80", 0x10000 }, { "\xf4\x8f\xbf\xbf", 0x10ffff },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(points); i++)
		assert_int_equal(utf8_code(points[i].text, strlen(points[i].text)), points[i].want);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 3] = {
		[NITEMS(rows)] = cmocka_unit_test(a_cut_is_between_characters), cmocka_unit_test(code_points),
		cmocka_unit_test(a_span_ends_at_the_first_that_is_refused),
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
