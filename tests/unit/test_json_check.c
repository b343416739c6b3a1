/* tests/unit/test_json_check.c - what is JSON, with jansson beside it; elements of lists (json_span.h). */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/json_check.h"
#include "kube/json_span.h"
#include "obj.h"

static const struct row {
	const char	*text, *wrong;	/* NULL: it is JSON */
	size_t		 at;
} rows[] = {
	{ "{}", NULL, 2 }, { " [ ] ", NULL, 5 }, { "[[],{}]", NULL, 7 }, { "null", NULL, 4 }, { "-0.5e+7", NULL, 7 },
	{ "{\"a\":[1,{\"b\":null}],\"c\":\"\\u00e9\\n\"}", NULL, 35 }, { "\"\xc3\xa9\"", NULL, 4 },
	{ "[true, false ]", NULL, 14 }, { "0", NULL, 1 }, { "[\"}\",\"]\"]", NULL, 9 },
	{ "", "the JSON ends too early", 0 }, { "  ", "the JSON ends too early", 2 }, { "{", "not the name of a member", 1 },
	{ "[1", "the JSON ends too early", 2 }, { "[1,", "the JSON ends too early", 3 }, { "[1,]", "not a JSON value", 3 },
	{ "{\"a\":}", "not a JSON value", 5 }, { "{\"a\" 1}", "no colon behind the name of a member", 5 },
	{ "{a:1}", "not the name of a member", 1 }, { "{\"a\":1,}", "not the name of a member", 7 },
	{ "[1 2]", "neither a comma nor the closing bracket", 3 }, { "[1}", "neither a comma nor the closing bracket", 2 },
	{ "{\"a\":1]", "neither a comma nor the closing bracket", 6 }, { "{} {}", "text behind the JSON value", 3 },
	{ "\"a", "a text without its closing quote", 2 }, { "\"\n\"", "a control character in a text", 1 },
	{ "\"\\x\"", "an unknown escape", 2 }, { "\"\\u12g4\"", "an escape without four digits", 5 },
	{ "\"\\u0000\"", "NUL in a text", 7 }, { "\"\xc3\"", "not UTF-8", 1 }, { "\"\xed\xa0\x80\"", "not UTF-8", 1 },
	{ "01", "text behind the JSON value", 1 }, { "-", "not a number", 1 }, { "1.", "not a number", 2 },
	{ "1e", "not a number", 2 }, { "+1", "not a JSON value", 0 }, { "nul", "not a JSON value", 0 },
	{ "]", "not a JSON value", 0 }, { "}5", "not a JSON value", 0 }, { "\\", "not a JSON value", 0 },
};

static void
rows_are_judged_as_by_jansson(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++) {
		const size_t len = strlen(rows[i].text);
		void *const exact = obj_memdup(rows[i].text, len);
		size_t at = 99;
		json_t *const tree = json_loadb(rows[i].text, len, JSON_DECODE_ANY, NULL);

		const char *const wrong = json_check(exact, len, &at);
		free(exact);
		assert_string_equal(wrong != NULL ? wrong : "", rows[i].wrong != NULL ? rows[i].wrong : "");
		assert_int_equal(at, rows[i].at);
		assert_int_equal(wrong == NULL, tree != NULL);
		json_decref(tree);
	}
}

static void
depth_has_a_limit(void **state)
{
	char text[2 * JSON_CHECK_DEPTH_MAX + 2];
	size_t at;

	(void)state;
	memset(text, '[', sizeof(text));
	memset(text + JSON_CHECK_DEPTH_MAX, ']', JSON_CHECK_DEPTH_MAX);
	assert_null(json_check(text, (size_t)2 * JSON_CHECK_DEPTH_MAX, &at));
	memset(text, '[', sizeof(text));
	assert_string_equal(json_check(text, sizeof(text), &at), "more than 64 brackets deep");
	for (size_t i = 0; i < sizeof(text); i += 5)
		memcpy(text + i, "{\"\":", sizeof(text) - i < 5 ? 0 : 4);
	assert_non_null(json_check(text, sizeof(text), &at));
}

static void
elements_of_a_list(void **state)
{
	static const char list[] = " [ 1, \"a,]\" ,{\"b\":[2]},[] ] ";
	static const char *const want[] = { "1", "\"a,]\"", "{\"b\":[2]}", "[]" };
	struct json_members m = json_members_of((struct json_span){ list, sizeof(list) - 1 });
	size_t n = 0;

	(void)state;
	for (struct json_span e; json_elements_next(&m, &e); n++) {
		assert_in_range(n, 0, NITEMS(want) - 1);
		assert_true(span_is(e.p, e.len, want[n]));
	}
	assert_int_equal(n, NITEMS(want));
	assert_true(m.whole);
	for (const char *const *bad = (const char *const[]){ "{}", "[1", "[1 2]", "", "5", NULL };
	     *bad != NULL; bad++) {
		m = json_members_of((struct json_span){ *bad, strlen(*bad) });
		for (struct json_span e; json_elements_next(&m, &e);)
			continue;
		assert_false(m.whole);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_judged_as_by_jansson),
		cmocka_unit_test(depth_has_a_limit),
		cmocka_unit_test(elements_of_a_list),
	};

	return cmocka_run_group_tests_name("json_check", tests, NULL, NULL);
}
