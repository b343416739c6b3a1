/* tests/unit/test_sim_route.c - what a path names. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/kube/sim_route.h"

static const struct row {
	const char *path, *group, *version, *plural, *ns, *name,
	    *subresource; /* group NULL: no resource */
} rows[] = {
	{ "/api/v1/nodes", "", "v1", "nodes", "", "", "" },
	{ "/api/v1/nodes/", "", "v1", "nodes", "", "", "" },
	{ "/api/v1/nodes/n1", "", "v1", "nodes", "", "n1", "" },
	{ "/api/v1/nodes/n1/status", "", "v1", "nodes", "", "n1", "status" },
	{ "/api/v1/namespaces", "", "v1", "namespaces", "", "", "" },
	{ "/api/v1/namespaces/kube-system", "", "v1", "namespaces", "", "kube-system", "" },
	{ "/api/v1/namespaces/x/status", "", "v1", "namespaces", "", "x", "status" },
	{ "/api/v1/namespaces/x/pods", "", "v1", "pods", "x", "", "" },
	{ "/api/v1/namespaces/x/pods/p/eviction", "", "v1", "pods", "x", "p", "eviction" },
	{ "/apis/a.b/v1beta1/things/t", "a.b", "v1beta1", "things", "", "t", "" },
	{ "/apis/a.b/v1/namespaces/n/things/t/status", "a.b", "v1", "things", "n", "t", "status" },
	{ "/api/v1/nodes/a%2Fb%20c", "", "v1", "nodes", "", "a/b c", "" },
	{ "/api/v1/nodes/a%00b", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "/api/v1", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "/apis/a.b/v1", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "/apis/a.b", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "/version", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "/", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "/api/v1/nodes/a/b/c", NULL, NULL, NULL, NULL, NULL, NULL },
	{ "/a/b/c/d/e/f/g/h/i/j/k/l/m", NULL, NULL, NULL, NULL, NULL, NULL },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct sim_route route;

	assert_int_equal(sim_route_parse(r->path, &route), r->group != NULL);
	if (r->group == NULL)
		return;
	assert_string_equal(route.group, r->group);
	assert_string_equal(route.version, r->version);
	assert_string_equal(route.plural, r->plural);
	assert_string_equal(route.ns, r->ns);
	assert_string_equal(route.name, r->name);
	assert_string_equal(route.subresource, r->subresource);
}

static void
a_path_longer_than_we_read_is_none(void **state)
{
	char path[ROUTE_PATH_MAX + 64] = "/api/v1/nodes/";
	struct sim_route route;

	(void)state;
	memset(path + strlen(path), 'x', sizeof(path) - strlen(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_false(sim_route_parse(path, &route));
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].path, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(a_path_longer_than_we_read_is_none);
	return cmocka_run_group_tests_name("sim_route", tests, NULL, NULL);
}
