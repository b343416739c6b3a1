/* tests/unit/test_sim_list.c - LIST of the simulator: versions, pages, selectors, forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "sim_rig.h"

#define NODES	"/api/v1/nodes"

/* Four namespaces, then three nodes: the newest version is 7. */
enum { THREE = 3 };

static const struct row {
	const char	*name, *path, *accept;
	int		 code;
	const char	*has, *has_too, *lacks;
} rows[] = {
	{ "all", NODES, "", 200,
	    "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"}",
	    "\"name\":\"node-00003\"", "\"kind\":\"Node\"" },
	{ "at any version", NODES "?resourceVersion=0", "", 200, "\"resourceVersion\":\"7\"}",
	    "node-00003", NULL },
	{ "with a limit, at any version: no pages", NODES "?resourceVersion=0&limit=1", "", 200,
	    "node-00003", NULL, "\"continue\"" },
	{ "not older than one", NODES "?resourceVersion=6&resourceVersionMatch=NotOlderThan", "", 200,
	    "\"metadata\":{\"resourceVersion\":\"7\"}", "node-00003", NULL },
	{ "exactly one", NODES "?resourceVersion=6&resourceVersionMatch=Exact", "", 200,
	    "\"metadata\":{\"resourceVersion\":\"6\"}", "node-00002", "node-00003" },
	{ "a limit without a match is exact", NODES "?resourceVersion=6&limit=10", "", 200,
	    "\"metadata\":{\"resourceVersion\":\"6\"}", NULL, "node-00003" },
	{ "before the first node", NODES "?resourceVersion=4&resourceVersionMatch=Exact", "", 200,
	    "\"items\":[]", NULL, NULL },
	{ "of the future", NODES "?resourceVersion=9", "", 504,
	    "Timeout: Too large resource version: 9, current: 7", "\"retryAfterSeconds\":1", NULL },
	{ "not a version", NODES "?resourceVersion=abc", "", 500,
	    "resourceVersion: Invalid value: \\\"abc\\\": strconv.ParseUint: parsing \\\"abc\\\": "
	    "invalid syntax",
	    NULL, NULL },
	{ "match without a version", NODES "?resourceVersionMatch=Exact", "", 422,
	    "ListOptions.meta.k8s.io \\\"\\\" is invalid: resourceVersionMatch: Forbidden: "
	    "resourceVersionMatch is forbidden unless resourceVersion is provided",
	    NULL, NULL },
	{ "exactly any", NODES "?resourceVersion=0&resourceVersionMatch=Exact", "", 422,
	    "is forbidden for resourceVersion", NULL, NULL },
	{ "an unknown match", NODES "?resourceVersion=5&resourceVersionMatch=About", "", 422,
	    "Unsupported value: \\\"About\\\"", NULL, NULL },
	{ "initial events of a list", NODES "?sendInitialEvents=true", "", 422,
	    "sendInitialEvents is forbidden for list", NULL, NULL },
	{ "a token that is none", NODES "?continue=abc", "", 400, "invalid continue token", NULL,
	    NULL },
	{ "a limit that is none", NODES "?limit=x", "", 400, "strconv.ParseInt", NULL, NULL },
	{ "by label", NODES "?labelSelector=sim.muster.dev/pool%3Dpool-2", "", 200, "node-00002", NULL,
	    "node-00003" },
	{ "by a set of labels", NODES "?labelSelector=sim.muster.dev/pool+in+(pool-1,pool-3)", "", 200,
	    "node-00003", NULL, "node-00002" },
	{ "a broken selector", NODES "?labelSelector=a%3D%3D%3Db", "", 400, "BadRequest", NULL, NULL },
	{ "by name", NODES "?fieldSelector=metadata.name%3Dnode-00001", "", 200, "node-00001", NULL,
	    "node-00002" },
	{ "by a field that is not set", NODES "?fieldSelector=spec.unschedulable%3Dfalse", "", 200,
	    "node-00003", NULL, NULL },
	{ "by a field that is no selector", NODES "?fieldSelector=spec.podCIDR%3Dx", "", 400,
	    "field label not supported: spec.podCIDR", NULL, NULL },
	{ "the same of another kind", "/apis/coordination.k8s.io/v1/leases?fieldSelector=spec.x%3Dx",
	    "", 400,
	    "\\\"spec.x\\\" is not a known field selector: only \\\"metadata.name\\\", "
	    "\\\"metadata.namespace\\\"",
	    NULL, NULL },
	{ "metadata only", NODES,
	    "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1\r\n", 200,
	    "\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\"",
	    "\"kind\":\"PartialObjectMetadata\"", "\"nodeInfo\"" },
	{ "a table", NODES, "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json\r\n",
	    200, "\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\"",
	    "{\"cells\":[\"node-00002\",\"Ready\",\"worker\",", "\"nodeInfo\"" },
	{ "a table with objects", NODES "?includeObject=Object",
	    "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n", 200, "\"nodeInfo\"",
	    "\"object\":{\"kind\":\"Node\"", NULL },
	{ "a table with nothing else", NODES "?includeObject=None",
	    "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n", 200, "\"cells\"", NULL,
	    "\"object\"" },
	{ "protobuf or JSON", NODES, "Accept: application/vnd.kubernetes.protobuf,application/json\r\n",
	    200, "NodeList", NULL, NULL },
	{ "protobuf or anything", NODES, "Accept: application/vnd.kubernetes.protobuf, */*\r\n", 200,
	    "NodeList", NULL, NULL },
	{ "protobuf alone", NODES, "Accept: application/vnd.kubernetes.protobuf\r\n", 406,
	    "only the following media types are accepted", "NotAcceptable", NULL },
	{ "a resource that is not there", "/api/v1/gadgets", "", 404, "404 page not found", NULL,
	    NULL },
	{ "a namespace of what has none", "/api/v1/namespaces/default/nodes", "", 404,
	    "404 page not found", NULL, NULL },
	{ "one that is not there", NODES "/nobody", "", 404, "nodes \\\"nobody\\\" not found",
	    "\"details\":{\"name\":\"nobody\",\"kind\":\"nodes\"}", NULL },
};

static void
check_row(void **state)
{
	const struct row *w = *state;
	struct rig r;

	rig_open(&r, THREE);
	struct rig_answer a = rig_ask(&r, "GET", w->path, w->accept, "", NULL);
	assert_int_equal(a.code, w->code);
	assert_int_equal(a.end, RIG_COMPLETE);
	assert_non_null(strstr(a.body, w->has));
	if (w->has_too != NULL)
		assert_non_null(strstr(a.body, w->has_too));
	if (w->lacks != NULL)
		assert_null(strstr(a.body, w->lacks));
	rig_free(&a);
	rig_close(&r);
}

/* The token of a page, "" of the last one. */
static void
token_of(const struct rig_answer *a, char *buf, size_t size)
{
	const char *const at = strstr(a->body, "\"continue\":\"");

	snprintf(buf, size, "%.*s", at != NULL ? (int)strcspn(at + 12, "\"") : 0, at != NULL ? at + 12 : "");
}

/* Pages show the state of the first one, whatever happens between them. */
static void
pages_are_of_one_version(void **state)
{
	static const char *const wanted[] = { "node-00001", "node-00003", "node-00005" };
	struct rig r;
	char path[1024] = NODES "?limit=2", token[512];

	(void)state;
	rig_open(&r, 5);
	for (size_t i = 0; i < NITEMS(wanted); i++) {
		struct rig_answer a = rig_get(&r, path);

		assert_int_equal(a.code, 200);
		assert_non_null(strstr(a.body, "\"metadata\":{\"resourceVersion\":\"9\""));
		assert_non_null(strstr(a.body, wanted[i]));
		assert_int_equal(rig_count(a.body, "\"providerID\""), i < 2 ? 2 : 1);
		if (i == 0)
			assert_non_null(strstr(a.body, "\"remainingItemCount\":3"));
		token_of(&a, token, sizeof(token));
		assert_int_equal(token[0] == '\0', i == 2);
		snprintf(path, sizeof(path), NODES "?limit=2&continue=%s", token);
		rig_free(&a);
		if (i == 0)
			rig_must_order(&r, "POST", "/cluster",
			    "[{\"op\":\"remove\",\"names\":[\"node-00005\"]},"
			    "{\"op\":\"add\",\"count\":3},{\"op\":\"label\"}]");
	}
	rig_close(&r);
}

/* An expired token is 410 and brings one that goes on with what is there now. */
static void
an_expired_page_goes_on_if_asked(void **state)
{
	struct rig r;
	char path[1024], token[512];

	(void)state;
	rig_open(&r, 5);
	struct rig_answer a = rig_get(&r, NODES "?limit=2");
	token_of(&a, token, sizeof(token));
	rig_free(&a);
	rig_must_order(&r, "POST", "/cluster", "{\"op\":\"remove\",\"names\":[\"node-00003\"]}");
	rig_must_order(&r, "POST", "/compact", "");
	snprintf(path, sizeof(path), NODES "?limit=2&continue=%s", token);
	a = rig_get(&r, path);
	assert_int_equal(a.code, 410);
	assert_non_null(strstr(a.body, "\"reason\":\"Expired\""));
	token_of(&a, token, sizeof(token));
	assert_true(token[0] != '\0');
	rig_free(&a);
	snprintf(path, sizeof(path), NODES "?continue=%s", token);
	a = rig_get(&r, path);
	assert_int_equal(a.code, 200);
	assert_int_equal(rig_count(a.body, "\"providerID\""), 2);
	assert_non_null(strstr(a.body, "node-00004"));
	rig_free(&a);
	snprintf(path, sizeof(path), NODES "?continue=%s&resourceVersion=3", token);
	a = rig_get(&r, path);
	assert_int_equal(a.code, 400);
	rig_free(&a);
	rig_close(&r);
}

/* More than a piece, more than the threshold of gzip: whole either way. */
static void
a_long_list_comes_whole(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 500);
	struct rig_answer a = rig_get(&r, NODES);
	assert_int_equal(a.end, RIG_COMPLETE);
	assert_true(a.len > 1024 * 1024);
	assert_int_equal(rig_count(a.body, "\"providerID\""), 500);
	assert_string_equal(a.body + a.len - 3, "]}\n");
	rig_free(&a);
	a = rig_ask(&r, "GET", NODES, "Accept-Encoding: gzip\r\n", "", NULL);
	assert_int_equal(a.end, RIG_COMPLETE);
	assert_non_null(strstr(a.head, "Content-Encoding: gzip"));
	assert_memory_equal(a.body, "\x1f\x8b", 2);
	assert_true(a.len < 300 * 1024);
	rig_free(&a);
	a = rig_ask(&r, "GET", NODES "?limit=3", "Accept-Encoding: gzip\r\n", "", NULL);
	assert_null(strstr(a.head, "Content-Encoding"));
	rig_free(&a);
	rig_close(&r);
}

int
main(void)
{
	static const struct CMUnitTest more[] = {
		cmocka_unit_test(pages_are_of_one_version),
		cmocka_unit_test(an_expired_page_goes_on_if_asked),
		cmocka_unit_test(a_long_list_comes_whole),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(more)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	memcpy(tests + NITEMS(rows), more, sizeof(more));
	return cmocka_run_group_tests_name("sim_list", tests, NULL, NULL);
}
