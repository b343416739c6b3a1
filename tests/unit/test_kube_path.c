/*
 * tests/unit/test_kube_path.c - paths and queries: every form of object, and names that would lead
 * elsewhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/path.h"
#include "obj.h"

static const struct row {
	const char		*name;
	struct kube_path	 parts;
	const char		*wanted;	/* NULL: refused */
} rows[] = {
	{ "a collection", { "", "v1", "nodes", "", "", "" }, "/api/v1/nodes" },
	{ "NULL is not there", { NULL, "v1", "nodes", NULL, NULL, NULL }, "/api/v1/nodes" },
	{ "an object", { "", "v1", "nodes", "", "worker-3", "" }, "/api/v1/nodes/worker-3" },
	{ "its status", { "", "v1", "nodes", "", "worker-3", "status" }, "/api/v1/nodes/worker-3/status" },
	{ "in a namespace", { "", "v1", "pods", "shop", "web-0", "eviction" }, "/api/v1/namespaces/shop/pods/web-0/eviction" },
	{ "all of a namespace", { "apps", "v1", "deployments", "shop", "", "" }, "/apis/apps/v1/namespaces/shop/deployments" },
	{ "a group with dots", { "coordination.k8s.io", "v1", "leases", "", "", "" }, "/apis/coordination.k8s.io/v1/leases" },
	{ "odd signs are escaped", { "", "v1", "x", "", "a b:c\xc3\xa9", "" }, "/api/v1/x/a%20b%3Ac%C3%A9" },
	{ "no version", { "", "", "nodes", "", "", "" }, NULL },
	{ "no resource", { "", "v1", "", "", "a", "" }, NULL },
	{ "a subresource of nothing", { "", "v1", "nodes", "", "", "status" }, NULL },
	{ "a slash", { "", "v1", "nodes", "", "a/status", "" }, NULL },
	{ "one dot", { "", "v1", "nodes", "", ".", "" }, NULL },
	{ "two dots", { "", "v1", "pods", "..", "a", "" }, NULL },
	{ "three dots are a name", { "", "v1", "nodes", "", "...", "" }, "/api/v1/nodes/..." },
	{ "a percent sign", { "", "v1", "nodes", "", "a%2fb", "" }, NULL },
	{ "a control character", { "", "v1", "nodes", "", "a\nb", "" }, NULL },
	{ "a query in a name", { "", "v1", "nodes", "", "a?b&c#d", "" }, "/api/v1/nodes/a%3Fb%26c%23d" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	char path[KUBE_PATH_MAX];

	assert_int_equal(path_make(path, sizeof(path), &r->parts), r->wanted != NULL);
	assert_string_equal(path, r->wanted == NULL ? "" : r->wanted);
	if (r->wanted == NULL)
		return;
	for (size_t size = 0; size <= strlen(r->wanted) + 1; size++) {		/* never a byte beyond */
		char *exact = malloc(size + 1);

		exact[size] = '#';
		assert_int_equal(path_make(exact, size, &r->parts), size > strlen(r->wanted));
		assert_true(size == 0 || strlen(exact) < size);
		assert_int_equal(exact[size], '#');
		free(exact);
	}
}

static void
longest(void **state)
{
	char name[254], path[KUBE_PATH_MAX];
	const struct kube_path parts = {
		.group = name, .version = "v1", .resource = "widgets", .ns = name, .name = name
	};

	(void)state;
	memset(name, ':', 253);
	name[253] = '\0';
	assert_false(path_make(path, sizeof(path), &parts));
	memset(name, 'x', 253);
	assert_true(path_make(path, sizeof(path), &parts));
}

static void
queries(void **state)
{
	char url[64] = "/api/v1/nodes";

	(void)state;
	assert_true(path_query(url, sizeof(url), "watch", "1"));
	assert_string_equal(url, "/api/v1/nodes?watch=1");
	assert_true(path_query(url, sizeof(url), "labelSelector", "a in (b,c)"));
	assert_string_equal(url, "/api/v1/nodes?watch=1&labelSelector=a%20in%20%28b%2Cc%29");
	assert_false(path_query(url, sizeof(url), "continue", "x"));
	assert_string_equal(url, "/api/v1/nodes?watch=1&labelSelector=a%20in%20%28b%2Cc%29");
	assert_true(path_query(url, sizeof(url), "a", "~"));		/* 63 bytes and the end */
	assert_true(strlen(url) < sizeof(url));
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(longest);
	tests[NITEMS(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(queries);
	return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
