/* tests/unit/test_selector.c - selectors; tests/real/test_oracle.c asks Go about more of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "tests/unit/selector_text.h"

enum how { LABELS, FIELDS, OBJECT };

/* The object: "key=value key=value". want: its canonical form, or what the error begins with.
 * JSON has ' for " here. */
static const struct row {
	const char	*name, *text;
	enum how	 how;
	const char	*object;
	bool		 match;
	const char	*want;
} rows[] = {
	{ "everything",            "",               LABELS, "",        true,  "" },
	{ "equal",                 "a=b",            LABELS, "a=b",     true,  "a=b" },
	{ "equal, another",        "a=b",            LABELS, "a=c",     false, "a=b" },
	{ "equal, absent",         "a=b",            LABELS, "",        false, "a=b" },
	{ "equal to nothing",      "a=",             LABELS, "a=",      true,  "a=" },
	{ "absent is not nothing", "a=",             LABELS, "",        false, "a=" },
	{ "double",                "a==b",           LABELS, "a=b",     true,  "a==b" },
	{ "unequal",               "a!=b",           LABELS, "a=b",     false, "a!=b" },
	{ "unequal, absent",       "a!=b",           LABELS, "",        true,  "a!=b" },
	{ "exists",                "a",              LABELS, "a=",      true,  "a" },
	{ "does not exist",        "!a",             LABELS, "a=b",     false, "!a" },
	{ "one of them",           "a in (c, b)",    LABELS, "a=b",     true,  "a in (b,c)" },
	{ "none of them",          "a notin (b,c)",  LABELS, "a=b",     false, "a notin (b,c)" },
	{ "none of them, absent",  "a notin (b)",    LABELS, "",        true,  "a notin (b)" },
	{ "the empty one",         "a in ()",        LABELS, "a=",      true,  "a in ()" },
	{ "holes",                 "a in (,b,)",     LABELS, "a=",      true,  "a in (,b)" },
	{ "greater",               "a>9",            LABELS, "a=10",    true,  "a>9" },
	{ "not greater",           "a>9",            LABELS, "a=9",     false, "a>9" },
	{ "greater than words",    "a>9",            LABELS, "a=x",     false, "a>9" },
	{ "less",                  "a<1",            LABELS, "a=-2",    true,  "a<1" },
	{ "too large a label",     "a>1",            LABELS, "a=9223372036854775808", false, "a>1" },
	{ "all must hold",         "a=b,c",          LABELS, "a=b",     false, "a=b,c" },
	{ "sorted by key",         "z,!y , a = b",   LABELS, "z= a=b",  true,  "a=b,!y,z" },
	{ "keywords as names",     "in in (notin)",  LABELS, "in=notin", true, "in in (notin)" },
	{ "a domain",              "x.io/y=z",       LABELS, "x.io/y=z", true, "x.io/y=z" },
	{ "no operator",           "a b",            LABELS, NULL, false,
	  "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt" },
	{ "nothing behind a comma", "a,",            LABELS, NULL, false,
	  "found '', expected: identifier after ','" },
	{ "starts with a comma",   ",a",             LABELS, NULL, false,
	  "found ',', expected: !, identifier, or 'end of string'" },
	{ "absent and equal",      "!a=b",           LABELS, NULL, false,
	  "found '=', expected: ',' or 'end of string'" },
	{ "open",                  "a in (b",        LABELS, NULL, false,
	  "unable to parse requirement: found '', expected: ',' or ')'" },
	{ "not a key",             "-a=b",           LABELS, NULL, false,
	  "unable to parse requirement: <nil>: Invalid value: \"-a\": name part must consist of" },
	{ "not a domain",          "X/a",            LABELS, NULL, false,
	  "unable to parse requirement: <nil>: Invalid value: \"X/a\": prefix part a lowercase" },
	{ "not a value",           "a=-",            LABELS, NULL, false,
	  "unable to parse requirement: values[0][a]: Invalid value: \"-\": a valid label must be" },
	{ "not a number",          "a>b",            LABELS, NULL, false,
	  "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the" },
	{ "two faults",            "a>-",            LABELS, NULL, false,
	  "unable to parse requirement: [values[0]: Invalid value: \"-\": for 'Gt', 'Lt' operators, the "
	  "value must be an integer, values[0][a]: Invalid value: \"-\": a valid label" },
	{ "quoted as Go does",     "a\"b\x01",       LABELS, NULL, false,
	  "unable to parse requirement: <nil>: Invalid value: \"a\\\"b\\x01\": name part" },
	{ "field",                 "metadata.name=x", FIELDS, "metadata.name=x", true, "metadata.name=x" },
	{ "absent field is empty", "a=",             FIELDS, "",        true,  "a=" },
	{ "field unequal",         "a!=b",           FIELDS, "",        true,  "a!=b" },
	{ "double is one",         "a==b",           FIELDS, "a=b",     true,  "a=b" },
	{ "escaped",               "a=b\\,c\\=d",    FIELDS, "a=b,c=d", true,  "a=b\\,c\\=d" },
	{ "sorted by text",        "b=1,a!=2,a=3",   FIELDS, "b=1 a=3", true,  "a!=2,a=3,b=1" },
	{ "no term",               "=",              FIELDS, "",        true,  "" },
	{ "empty terms",           ",a=b,",          FIELDS, "a=b",     true,  "a=b" },
	{ "no field operator",     "a",              FIELDS, NULL, false,
	  "invalid selector: 'a'; can't understand 'a'" },
	{ "unescaped",             "a=b=c",          FIELDS, NULL, false,
	  "invalid field selector: unescaped character in value: 61" },
	{ "unknown escape",        "a=\\x",          FIELDS, NULL, false,
	  "invalid field selector: invalid escape sequence: \\x" },
	{ "half an escape",        "a=\\",           FIELDS, NULL, false,
	  "invalid field selector: invalid escape sequence: \\" },
	{ "no object",             "null",           OBJECT, "a=b", false, "" },
	{ "empty object",          "{}",             OBJECT, "a=b", true,  "" },
	{ "labels",                "{'matchLabels':{'b':'c','a':'b'}}", OBJECT, "a=b b=c", true, "a=b,b=c" },
	{ "expressions",           "{'matchExpressions':[{'key':'a','operator':'In','values':['c','b']},"
	  "{'key':'b','operator':'DoesNotExist'}]}", OBJECT, "a=b", true, "a in (b,c),!b" },
	{ "unknown operator",      "{'matchExpressions':[{'key':'a','operator':'Gt'}]}", OBJECT, NULL, false,
	  "\"Gt\" is not a valid label selector operator" },
	{ "in nothing",            "{'matchExpressions':[{'key':'a','operator':'In'}]}", OBJECT, NULL, false,
	  "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty" },
	{ "exists as",             "{'matchExpressions':[{'key':'a','operator':'Exists','values':['b']}]}",
	  OBJECT, NULL, false,
	  "values: Invalid value: [\"b\"]: values set must be empty for exists and does not exist" },
	{ "a number for a label",  "{'matchLabels':{'a':1}}",    OBJECT, NULL, false, "matchLabels[a]: must be a string" },
	{ "labels as a list",      "{'matchLabels':[]}",         OBJECT, NULL, false, "matchLabels: must be an object" },
	{ "expressions as words",  "{'matchExpressions':'a'}",   OBJECT, NULL, false, "matchExpressions: must be a list" },
	{ "a list for an object",  "[]",                         OBJECT, NULL, false, "a label selector is an object" },
};

static struct selector *
make(const char *text, enum how how, char *err, size_t size)
{
	if (how == LABELS)
		return selector_parse_labels(text, err, size);
	if (how == FIELDS)
		return selector_parse_fields(text, err, size);
	char *const json = strdup(text);
	for (char *c = json; *c != '\0'; c++)
		*c = *c == '\'' ? '"' : *c;
	json_t *const object = json_loads(json, JSON_DECODE_ANY, NULL);
	assert_non_null(object);
	free(json);
	struct selector *const s = selector_from_json(object, err, size);
	json_decref(object);
	return s;
}

static const char *
value_of(const char *key, const void *object)
{
	static char value[128];
	const size_t len = strlen(key);

	for (const char *at = object; *at != '\0'; at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' ')) {
		if (strncmp(at, key, len) == 0 && at[len] == '=') {
			snprintf(value, sizeof(value), "%.*s", (int)strcspn(at + len + 1, " "), at + len + 1);
			return value;
		}
	}
	return NULL;
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	char text[1024] = "";
	struct selector *s = make(r->text, r->how, text, sizeof(text));

	assert_int_equal(s != NULL, r->object != NULL);
	if (s == NULL) {
		text[strlen(r->want)] = '\0';
		assert_string_equal(text, r->want);
		return;
	}
	assert_int_equal(selector_print(s, text, sizeof(text)), strlen(r->want));
	assert_string_equal(text, r->want);
	assert_int_equal(selector_matches(s, value_of, r->object), r->match);
	selector_free(&s);
	assert_null(s);
	selector_free(&s);
}

static void
count_key(const char *key, void *arg)
{
	strcat(strcat(arg, key), ";");
}

static void
keys_of_a_selector(void **state)
{
	char err[64], keys[64] = "";
	struct selector *s = selector_parse_fields("metadata.name=x,spec.nodeName!=y", err, sizeof(err));

	(void)state;
	assert_false(selector_empty(s));
	selector_each_key(s, count_key, keys);
	assert_string_equal(keys, "metadata.name;spec.nodeName;");
	selector_free(&s);
	s = selector_from_json(NULL, err, sizeof(err));
	assert_false(selector_empty(s));
	selector_free(&s);
	s = selector_parse_labels("", err, sizeof(err));
	assert_true(selector_empty(s));
	selector_free(&s);
}

static void
buffers_may_be_small(void **state)
{
	char text[8];

	(void)state;
	struct selector *s = selector_parse_labels("abc=def,ghi=jkl", text, sizeof(text));
	assert_int_equal(selector_print(s, text, sizeof(text)), 15);
	assert_string_equal(text, "abc=def");
	assert_int_equal(selector_print(s, NULL, 0), 15);
	selector_free(&s);
	for (size_t size = 0; size <= sizeof(text); size++) {
		memset(text, '#', sizeof(text));
		assert_null(selector_parse_labels("a>-", text, size));
		assert_null(selector_parse_labels("a b", text, size));
		assert_null(selector_parse_fields("a", text, size));
		assert_true(size == 0 || strnlen(text, size) < size);
		assert_true(size == sizeof(text) || text[size] == '#');
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];
	size_t n = 0;

	for (; n < NITEMS(rows); n++)
		tests[n] = (struct CMUnitTest){ rows[n].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[n] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(keys_of_a_selector);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(buffers_may_be_small);
	return cmocka_run_group_tests_name("selector", tests, NULL, NULL);
}
