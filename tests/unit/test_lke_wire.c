/* tests/unit/test_lke_wire.c - requests to the Linode API: C2, C3, C9, C12, C13. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/lke-claimer/wire.h"
#include "obj.h"

static const struct lke_target target = { .cluster_id = 70001, .pool_id = 90001, .instance_id = 5550001,
	.node_id = "90001-0147dc250000", .region = "us-ord", .page = 2 };

static const struct row {
	enum lke_call	 call;
	const char	*method, *path;
} rows[] = {
	{ LKE_CALL_FIND_CLUSTER, "GET", "/lke/clusters?page=2&page_size=500" },
	{ LKE_CALL_GET_CLUSTER, "GET", "/lke/clusters/70001" },
	{ LKE_CALL_LIST_POOLS, "GET", "/lke/clusters/70001/pools?page=2&page_size=500" },
	{ LKE_CALL_CREATE_POOL, "POST", "/lke/clusters/70001/pools" },
	{ LKE_CALL_SCALE_POOL, "PUT", "/lke/clusters/70001/pools/90001" },
	{ LKE_CALL_DELETE_POOL, "DELETE", "/lke/clusters/70001/pools/90001" },
	{ LKE_CALL_DELETE_NODE, "DELETE", "/lke/clusters/70001/nodes/90001-0147dc250000" },
	{ LKE_CALL_LIST_INSTANCES, "GET", "/linode/instances?page=2&page_size=500" },
	{ LKE_CALL_TAG_INSTANCE, "PUT", "/linode/instances/5550001" },
	{ LKE_CALL_LIST_TYPES, "GET", "/linode/types?page=2&page_size=500" },
	{ LKE_CALL_AVAILABILITY, "GET", "/regions/us-ord/availability" },
};
_Static_assert(NITEMS(rows) == LKE_CALL_MAX, "every call has a row");

static void
check_row(void **state)
{
	const struct row *const r = *state;
	const struct lke_call_row *const call = &lke_calls[r->call];
	const bool get = strcmp(r->method, "GET") == 0;
	char path[LKE_PATH_SIZE];

	assert_int_equal(lke_path(path, r->call, &target), strlen(r->path));
	assert_string_equal(path, r->path);
	assert_string_equal(call->method, r->method);
	assert_int_equal(call->mutating, !get);
	/* Lists have the smaller limit. */
	assert_string_equal(call->bucket, strstr(path, "page=") != NULL ? "lists" : "general");
}

/* An id that an answer made up does not become another path. */
static void
a_path_has_only_names(void **state)
{
	static const char *const bad[] = { "", "..", ".", "a/b", "a?b", "a#b", "a b", "a%2fb",
	    "\xc3\xa9", "a\n" };
	char path[LKE_PATH_SIZE], wide[LKE_PATH_SIZE + 8];
	struct lke_target t = target;

	(void)state;
	for (size_t i = 0; i < NITEMS(bad); i++) {
		t.node_id = t.region = bad[i];
		assert_int_equal(lke_path(path, LKE_CALL_DELETE_NODE, &t), 0);
		assert_int_equal(lke_path(path, LKE_CALL_AVAILABILITY, &t), 0);
	}
	t.node_id = NULL;
	assert_int_equal(lke_path(path, LKE_CALL_DELETE_NODE, &t), 0);
	memset(wide, 'a', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	t.node_id = wide;
	assert_int_equal(lke_path(path, LKE_CALL_DELETE_NODE, &t), 0);
	t.pool_id = 0;
	assert_int_equal(lke_path(path, LKE_CALL_DELETE_POOL, &t), 0);
	t.cluster_id = -1;
	assert_int_equal(lke_path(path, LKE_CALL_LIST_POOLS, &t), 0);
}

static void
c13_a_filter_has_each_key_once(void **state)
{
	char filter[LKE_FILTER_SIZE], wide[LKE_FILTER_SIZE];

	(void)state;
	assert_true(lke_filter_cluster(filter, "demo \"x\"") > 0);
	assert_string_equal(filter, "{\"label\":\"demo \\\"x\\\"\"}");
	lke_filter_instances(filter, LKE_STANDARD, "us-ord", 70001);
	assert_string_equal(filter, "{\"region\":\"us-ord\"}");
	lke_filter_instances(filter, LKE_ENTERPRISE, "us-ord", 70001);
	assert_string_equal(filter, "{\"region\":\"us-ord\",\"tags\":\"lke70001\"}");
	memset(wide, 'a', sizeof(wide) - 1);
	wide[sizeof(wide) - 1] = '\0';
	assert_int_equal(lke_filter_cluster(filter, wide), 0);
}

static void
bodies(void **state)
{
	char body[LKE_BODY_SIZE];
	struct lke_tag_list tags = { .n = 0 };
	struct lke_new_pool p = { .tier = LKE_STANDARD, .type = "g6-standard-2", .count = 3, .tags = &tags,
		.k8s_version = "v1.31.8+lke1" };

	(void)state;
	lke_tag_list_add(&tags, LKE_TAGS_COLON, LKE_TAG_NODEPOOL, wire_str_of("np"));
	lke_tag_list_add(&tags, LKE_TAGS_COLON, LKE_TAG_MANAGED, wire_str_of("true"));
	assert_true(lke_body_create(body, sizeof(body), &p) > 0);
	/* Standard has no k8s_version. No labels: C9. */
	assert_string_equal(body, "{\"type\":\"g6-standard-2\",\"count\":3,\"tags\":"
	    "[\"karpenter.sh/nodepool:np\",\"karpenter.k8s.linode/lke-managed:true\"]}");
	p.tier = LKE_ENTERPRISE;
	p.firewall_id = 17;
	lke_body_create(body, sizeof(body), &p);
	assert_string_equal(body, "{\"type\":\"g6-standard-2\",\"count\":3,\"tags\":"
	    "[\"karpenter.sh/nodepool:np\",\"karpenter.k8s.linode/lke-managed:true\"],\"firewall_id\":17,"
	    "\"k8s_version\":\"v1.31.8+lke1\",\"update_strategy\":\"on_recycle\"}");
	lke_body_scale(body, sizeof(body), 12);
	assert_string_equal(body, "{\"count\":12}");
	lke_body_tags(body, sizeof(body), &tags);
	assert_string_equal(body,
	    "{\"tags\":[\"karpenter.sh/nodepool:np\",\"karpenter.k8s.linode/lke-managed:true\"]}");
	assert_int_equal(lke_body_tags(body, 20, &tags), 0);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];
	const struct CMUnitTest more[] = {
		cmocka_unit_test(a_path_has_only_names), cmocka_unit_test(c13_a_filter_has_each_key_once),
		cmocka_unit_test(bodies),
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ lke_calls[rows[i].call].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	const int failed = cmocka_run_group_tests_name("lke_path", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("lke_wire", more, NULL, NULL);
}
