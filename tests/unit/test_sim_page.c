/* tests/unit/test_sim_page.c - continue tokens: kube-apiserver's own, there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/kube/verbs/sim_page.h"

static const struct row {
	const char	*name, *token, *start;	/* start NULL: refused, with `wrong` in the reason */
	int64_t		 rv;
	const char	*wrong;
} rows[] = {
	/* {"v":"meta.k8s.io/v1","rv":11,"start":"node-00001\u0000"} */
	{ "one of the apiserver's",
	    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTEsInN0YXJ0Ijoibm9kZS0wMDAwMVx1MDAwMCJ9",
	    "node-00001\1", 11, NULL },
	{ "not base64", "$$$", NULL, 0, "continue key is not valid" },
	{ "of an impossible length", "abcde", NULL, 0, "continue key is not valid" },
	{ "not JSON", "YWJj", NULL, 0, "continue key is not valid" },
	{ "another version", "eyJ2IjoidjkiLCJydiI6MSwic3RhcnQiOiJhIn0", NULL, 0, "does not recognize" },
	{ "no version", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJzdGFydCI6ImEifQ", NULL, 0,
	    "incorrect encoded start resourceVersion" },
	{ "no start", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0", NULL, 0, "encoded start key empty" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct sim_page p = { 0 };
	char err[256] = "";

	assert_int_equal(sim_page_parse(&p, r->token, err, sizeof(err)), r->start != NULL);
	if (r->start == NULL) {
		assert_non_null(strstr(err, r->wrong));
		return;
	}
	assert_string_equal(p.start, r->start);
	assert_int_equal(p.rv, r->rv);
	free(p.start);
}

static void
there_and_back(void **state)
{
	static const char *const keys[] = { "a", "ab", "abc", "default/x-y.z", "ns/\xc3\xbc\"\\" };

	(void)state;
	for (size_t i = 0; i < NITEMS(keys); i++) {
		char *const token = sim_page_token(i == 0 ? -1 : (int64_t)(1000 * i), keys[i]);
		struct sim_page p = { 0 };
		char err[256];

		assert_null(strpbrk(token, "+/="));		/* it is put into URLs as it is */
		assert_true(sim_page_parse(&p, token, err, sizeof(err)));
		assert_int_equal(p.rv, i == 0 ? -1 : (int64_t)(1000 * i));
		assert_memory_equal(p.start, keys[i], strlen(keys[i]));
		/* Greater than that key, less than any that begins with it. */
		assert_string_equal(p.start + strlen(keys[i]), "\1");
		free(p.start);
		free(token);
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(there_and_back);
	return cmocka_run_group_tests_name("sim_page", tests, NULL, NULL);
}
