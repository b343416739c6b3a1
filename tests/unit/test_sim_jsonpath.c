/* tests/unit/test_sim_jsonpath.c - the paths of printer columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/kube/printers/sim_jsonpath.h"

static const char object[] =
    "{\"a\":{\"b\":\"deep\",\"n\":7,\"x.y/z\":\"dotted\"},\"list\":[{\"k\":\"one\",\"v\":1},{\"k\":"
    "\"two\",\"v\":2},"
    "{\"k\":\"[3]\",\"v\":3}],\"c\":[{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":\"Other\",\""
    "status\":\"False\"}]}";

static const struct row {
	const char	*path, *want;		/* NULL: nothing */
} rows[] = {
	{ ".a.b", "\"deep\"" },
	{ ".a.n", "7" },
	{ ".a.x\\.y/z", "\"dotted\"" },
	{ ".a['x.y/z']", "\"dotted\"" },
	{ "['a']['b']", "\"deep\"" },
	{ ".list[0].k", "\"one\"" },
	{ ".list[-1].v", "3" },
	{ ".list[*].v", "1" },
	{ ".list[?(@.k==\"two\")].v", "2" },
	{ ".list[?(@.k=='[3]')].v", "3" },
	{ ".list[?(@.v==2)].k", "\"two\"" },
	{ ".list[?(@.k != \"one\")].k", "\"two\"" },
	{ ".c[?(@.type==\"Ready\")].status", "\"True\"" },
	{ ".c[?(@.type==\"None\")].status", NULL },
	{ ".c[?(@.status)].type", "\"Ready\"" },
	{ ".nothing", NULL },
	{ ".a.b.c", NULL },
	{ ".list[9]", NULL },
	{ ".list[x]", NULL },
	{ ".list[0", NULL },
	{ ".list[?(@.k==\"two\"].v", NULL },
	{ "a", NULL },
	{ ".", "{" },
	{ "", "{" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	json_t *const root = json_loads(object, 0, NULL);
	json_t *const found = sim_jsonpath_first(root, r->path);

	assert_int_equal(found != NULL, r->want != NULL);
	if (found != NULL && r->want != NULL) {
		char *const text = json_dumps(found, JSON_COMPACT | JSON_ENCODE_ANY);

		assert_memory_equal(text, r->want, strlen(r->want));
		free(text);
	}
	json_decref(root);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].path, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("sim_jsonpath", tests, NULL, NULL);
}
