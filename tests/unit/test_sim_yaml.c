/* tests/unit/test_sim_yaml.c - YAML as Kubernetes reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/base/sim_yaml.h"

static const struct row {
	const char	*name, *text, *want;	/* as JSON; NULL: refused */
} rows[] = {
	{ "a mapping", "a: 1\nb: text\n", "{\"a\":1,\"b\":\"text\"}" },
	{ "lists", "a:\n- 1\n- [x, {y: z}]\n", "{\"a\":[1,[\"x\",{\"y\":\"z\"}]]}" },
	{ "words that are no texts", "[~, null, true, False, yes, off, '']", "[null,null,true,false,true,false,\"\"]" },
	{ "in quotes they are", "[\"null\", 'true', \"1\"]", "[\"null\",\"true\",\"1\"]" },
	{ "numbers", "[0, -7, 0x1f, 017, 1e3, 1.5, .5]", "[0,-7,31,15,1000.0,1.5,0.5]" },
	{ "texts that resemble numbers", "[1.2.3, 1m, 10Gi, 0xzz, 1e, '-', 12:30, v1]",
	  "[\"1.2.3\",\"1m\",\"10Gi\",\"0xzz\",\"1e\",\"-\",\"12:30\",\"v1\"]" },
	{ "a block of text", "a: |\n  x\n  y\n", "{\"a\":\"x\\ny\\n\"}" },
	{ "a tag makes a text", "a: !!str 1\n", "{\"a\":\"1\"}" },
	{ "a number too large for 64 bits", "[99999999999999999999999]", "[1e23]" },
	{ "JSON", "{\"a\": \"\\ud83d\\ude00\"}", "{\"a\":\"\xf0\x9f\x98\x80\"}" },
	{ "nothing", "", "null" },
	{ "a comment", "# nothing\n", "null" },
	{ "the first of two documents", "a: 1\n---\nb: 2\n", "{\"a\":1}" },
	{ "the first that is not empty", "---\n---\nb: 2\n", "{\"b\":2}" },
	{ "anchors are refused", "a: &x 1\nb: *x\n", NULL },
	{ "broken", "a: [1\n", NULL },
	{ "tabs", "a:\n\t- 1\n", NULL },
	{ "a list as a key", "? [a]\n: 1\n", NULL },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	char err[256] = "";
	json_t *const got = sim_yaml_parse(r->text, strlen(r->text), err, sizeof(err));

	assert_int_equal(got != NULL, r->want != NULL);
	if (got == NULL) {
		assert_true(err[0] != '\0');
		return;
	}
	char *const text = json_dumps(got, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	assert_string_equal(text, r->want);
	free(text);
	json_decref(got);
}

static void
all_documents(void **state)
{
	static const char text[] = "---\na: 1\n---\n# empty\n---\nb: 2\n...\n";
	char err[256];
	json_t *const all = sim_yaml_parse_all(text, strlen(text), err, sizeof(err));

	(void)state;
	assert_int_equal(json_array_size(all), 2);
	json_decref(all);
}

/* However deep the input, it ends with an error, not with a stack overflow. */
static void
depth_is_bounded(void **state)
{
	enum { DEPTH = 20000 };
	char *const text = obj_alloc(DEPTH + 1);
	char err[256] = "";

	(void)state;
	memset(text, '[', DEPTH);
	assert_null(sim_yaml_parse(text, DEPTH, err, sizeof(err)));
	assert_true(err[0] != '\0');
	free(text);
}

int
main(void)
{
	static const struct CMUnitTest more[] = {
		cmocka_unit_test(all_documents),
		cmocka_unit_test(depth_is_bounded),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(more)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	memcpy(tests + NITEMS(rows), more, sizeof(more));
	return cmocka_run_group_tests_name("sim_yaml", tests, NULL, NULL);
}
