/*
 * tests/unit/test_watcher_call.c - every write verb as HTTP: method, path, content type, where the
 * preconditions go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "actors/kube-watcher/call.h"
#include "obj.h"

#define PLAIN	.group = "", .subresource = "", .fields = "", .sender = ROLE_TEST_KUBE_1
#define ONE	PLAIN, .labels = "", .cont = ""
#define NODES	ONE, .resource = "nodes", .ns = ""
#define NODE	NODES, .version = "v1", .name = "n1"
#define POD	ONE, .version = "v1", .resource = "pods", .ns = "a", .name = "p1"
#define FREE	.uid = "", .rv = ""
#define BOTH	.uid = "u-1", .rv = "7"
#define BODY(text)	.body = (text), .body_len = sizeof(text) - 1
#define MANAGER	"?fieldManager=muster-test-kube-1"
#define ONLY_GRACE	"body: of an eviction and a deletion it is {\"gracePeriodSeconds\": N} or empty"
#define PRE	"{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"7\"}}"

static const struct row {
	const char	*name;
	struct call_params	 ask;
	const char	*method, *path, *type, *body;	/* body NULL: none */
	const char	*wrong;
} rows[] = {
	{ "create", { NODE, FREE, .op = OP_CREATE, BODY("{\"kind\":\"Node\"}") },
	    "POST", "/api/v1/nodes" MANAGER, "application/json", "{\"kind\":\"Node\"}", NULL },
	{ "update with preconditions", { NODE, BOTH, .op = OP_UPDATE, BODY("{}") },
	    "PUT", "/api/v1/nodes/n1" MANAGER, "application/json", PRE, NULL },
	{ "merge without", { NODE, FREE, .op = OP_MERGE, BODY("{\"spec\":{\"unschedulable\":true}}") },
	    "PATCH", "/api/v1/nodes/n1" MANAGER, "application/merge-patch+json",
	    "{\"spec\":{\"unschedulable\":true}}", NULL },
	{ "merge with preconditions", { NODE, BOTH, .op = OP_MERGE, BODY("{}") },
	    "PATCH", "/api/v1/nodes/n1" MANAGER, "application/merge-patch+json", PRE, NULL },
	{ "merge whose metadata is a text", { NODE, BOTH, .op = OP_MERGE, BODY("{\"metadata\":\"x\"}") },
	    NULL, NULL, NULL, NULL, "body: metadata is not an object" },
	{ "json with preconditions", { NODE, BOTH, .op = OP_JSON, BODY("[]") },
	    "PATCH", "/api/v1/nodes/n1" MANAGER, "application/json-patch+json",
	    "[{\"op\":\"add\",\"path\":\"/metadata/uid\",\"value\":\"u-1\"},"
	    "{\"op\":\"add\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"}]", NULL },
	{ "json that is no list", { NODE, FREE, .op = OP_JSON, BODY("{}") },
	    NULL, NULL, NULL, NULL, "body: not a JSON array" },
	{ "strategic", { NODE, FREE, .op = OP_STRATEGIC, BODY("{}") },
	    "PATCH", "/api/v1/nodes/n1" MANAGER, "application/strategic-merge-patch+json", "{}", NULL },
	{ "apply is forced", { NODE, FREE, .op = OP_APPLY, BODY("{}") },
	    "PATCH", "/api/v1/nodes/n1" MANAGER "&force=true", "application/apply-patch+yaml", "{}", NULL },
	{ "delete in the background", { NODE, FREE, .op = OP_DELETE, BODY("") },
	    "DELETE", "/api/v1/nodes/n1", "application/json",
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Background\"}", NULL },
	{ "delete with preconditions", { NODE, BOTH, .op = OP_DELETE, BODY("") },
	    "DELETE", "/api/v1/nodes/n1", "application/json",
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Background\","
	    "\"preconditions\":{\"uid\":\"u-1\",\"resourceVersion\":\"7\"}}", NULL },
	{ "evict", { POD, .uid = "u-1", .rv = "", .op = OP_EVICT, BODY("") },
	    "POST", "/api/v1/namespaces/a/pods/p1/eviction", "application/json",
	    "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\","
	    "\"metadata\":{\"name\":\"p1\",\"namespace\":\"a\"},\"deleteOptions\":{"
	    "\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Background\","
	    "\"preconditions\":{\"uid\":\"u-1\"}}}", NULL },
	{ "delete with a grace period", { NODE, FREE, .op = OP_DELETE, BODY("{\"gracePeriodSeconds\":0}") },
	    "DELETE", "/api/v1/nodes/n1", "application/json",
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Background\","
	    "\"gracePeriodSeconds\":0}", NULL },
	{ "evict with a grace period", { POD, .uid = "u-1", .rv = "", .op = OP_EVICT,
	    BODY("{\"gracePeriodSeconds\":7}") },
	    "POST", "/api/v1/namespaces/a/pods/p1/eviction", "application/json",
	    "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\","
	    "\"metadata\":{\"name\":\"p1\",\"namespace\":\"a\"},\"deleteOptions\":{"
	    "\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Background\","
	    "\"gracePeriodSeconds\":7,\"preconditions\":{\"uid\":\"u-1\"}}}", NULL },
	{ "evict with other options", { POD, .uid = "u-1", .rv = "", .op = OP_EVICT,
	    BODY("{\"gracePeriodSeconds\":7,\"dryRun\":[\"All\"]}") }, NULL, NULL, NULL, NULL, ONLY_GRACE },
	{ "delete with a text as grace period", { NODE, FREE, .op = OP_DELETE,
	    BODY("{\"gracePeriodSeconds\":\"7\"}") }, NULL, NULL, NULL, NULL, ONLY_GRACE },
	{ "delete with a body that is no object", { NODE, FREE, .op = OP_DELETE, BODY("[]") },
	    NULL, NULL, NULL, NULL, ONLY_GRACE },
	{ "delete with a grace period below 0", { NODE, FREE, .op = OP_DELETE,
	    BODY("{\"gracePeriodSeconds\":-1}") },
	    NULL, NULL, NULL, NULL, "body: gracePeriodSeconds is out of range" },
	{ "get", { POD, FREE, .op = OP_GET, BODY("") },
	    "GET", "/api/v1/namespaces/a/pods/p1", NULL, NULL, NULL },
	{ "list, selected, the second page", { PLAIN, FREE, .version = "v1", .resource = "pods", .ns = "a",
	    .name = "", .op = OP_LIST, .labels = "a in (b,c)", .cont = "x=", BODY("") },
	    "GET", "/api/v1/namespaces/a/pods?labelSelector=a%20in%20%28b%2Cc%29&limit=500&continue=x%3D",
	    NULL, NULL, NULL },
	{ "status of a custom resource", { .group = "test.muster.dev", .version = "v1",
	    .resource = "widgets", .ns = "a", .name = "w", .subresource = "status",
	    .labels = "", .fields = "", .cont = "", .sender = ROLE_TEST_KUBE_2, FREE,
	    .op = OP_MERGE, BODY("{\"status\":{}}") },
	    "PATCH", "/apis/test.muster.dev/v1/namespaces/a/widgets/w/status?fieldManager=muster-test-kube-2",
	    "application/merge-patch+json", "{\"status\":{}}", NULL },
	{ "a body that is no JSON", { NODE, FREE, .op = OP_UPDATE, BODY("{") },
	    NULL, NULL, NULL, NULL, "body: not a JSON object" },
	{ "the same key twice", { NODE, FREE, .op = OP_UPDATE, BODY("{\"a\":1,\"a\":2}") },
	    NULL, NULL, NULL, NULL, "body: not a JSON object" },
	{ "no version", { NODES, FREE, .op = OP_GET, .name = "n1", .version = "" },
	    NULL, NULL, NULL, NULL, "version: missing, and kube-watcher does not read this resource" },
};

static void
check(void **state)
{
	const struct row *const row = *state;
	struct call_http http;
	const char *const wrong = call_make(&row->ask, &http);

	if (row->wrong != NULL) {
		assert_non_null(wrong);
		assert_string_equal(wrong, row->wrong);
	} else {
		assert_null(wrong);
		assert_string_equal(http.method, row->method);
		assert_string_equal(http.path, row->path);
		assert_string_equal(http.content_type == NULL ? "" : http.content_type,
		    row->type == NULL ? "" : row->type);
		assert_string_equal(http.body == NULL ? "" : http.body, row->body == NULL ? "" : row->body);
	}
	call_free(&http);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name,
			.test_func = check,
			.initial_state = (void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("call", tests, NULL, NULL);
}
