/*
 * tests/unit/test_kube_discovery.c - what the server has: new documents, old ones, and what may be
 * concluded from none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/discovery.h"
#include "tests/unit/kubebytes.h"

/* nodes, pods, deployments, widgets (two versions), things (no such group) */
static const struct discovery_want wants[] = {
	{ "", "nodes", "v1" },
	{ "", "pods", "v1" },
	{ "apps", "deployments", "v1" },
	{ "test.muster.dev", "widgets", "v1 v1beta1" },
	{ "none.example", "things", "v2 v1" },
};

#define CORE_NEW							\
	"{'kind':'APIGroupDiscoveryList','apiVersion':'apidiscovery.k8s.io/v2','metadata':{},'items':["	\
	"{'metadata':{'creationTimestamp':null},'versions':["		\
	"{'version':'v1','freshness':'Current','resources':["		\
	"{'resource':'nodes','responseKind':{'kind':'Node'},'scope':'Cluster','verbs':['list']},"	\
	"{'resource':'pods','scope':'Namespaced','subresources':[{'subresource':'status'}]}]}]}]}"
#define VERSION_NEW(version, fresh, resources)				\
	"{'version':'" version "','freshness':'" fresh "','resources':[" resources "]}"
#define GROUP_NEW(name, versions)	"{'metadata':{'name':'" name "'},'versions':[" versions "]}"
#define DEPLOYMENTS	"{'resource':'deployments','scope':'Namespaced'}"
#define APPS		GROUP_NEW("apps", VERSION_NEW("v1", "Current", DEPLOYMENTS))
#define GROUPS_NEW(more)	"{'kind':'APIGroupDiscoveryList','items':[" APPS more "]}"
#define WITH_WIDGETS(versions)	GROUPS_NEW("," GROUP_NEW("test.muster.dev", versions))
#define WIDGETS		"{'resource':'widgets','scope':'Namespaced'}"
#define BETA		VERSION_NEW("v1beta1", "Current", WIDGETS)

#define CORE_OLD	"{'kind':'APIVersions','versions':['v1'],'serverAddressByClientCIDRs':[]}"
#define GROUPS_OLD							\
	"{'kind':'APIGroupList','apiVersion':'v1','groups':["		\
	"{'name':'apps','versions':[{'groupVersion':'apps/v1','version':'v1'}]},"	\
	"{'name':'test.muster.dev','versions':["			\
	"{'groupVersion':'test.muster.dev/v1beta1','version':'v1beta1'}]}]}"
#define RESOURCES(gv, rest)						\
	"{'kind':'APIResourceList','groupVersion':'" gv "','resources':[" rest "]}"
#define RESOURCE(name, namespaced)	"{'name':'" name "','namespaced':" namespaced "}"

/* Documents in the order in which they are asked for; body NULL: it failed, GONE: 404. */
#define GONE	""
struct document {
	const char *path, *body;
};

static const struct row {
	const char	*name;
	struct document	 documents[8];
	const char	*wanted;	/* one letter per want: ? - c n, with the version where found */
} rows[] = {
	{ "all at once",
	  { { "/api", CORE_NEW }, { "/apis", WITH_WIDGETS(VERSION_NEW("v1", "Current", WIDGETS)) } },
	  "c:v1 n:v1 n:v1 n:v1 - " },
	{ "the best of ours",
	  { { "/api", CORE_NEW },
	    { "/apis", WITH_WIDGETS(BETA "," VERSION_NEW("v1", "Current", WIDGETS)) } },
	  "c:v1 n:v1 n:v1 n:v1 - " },
	{ "the one that is there",
	  { { "/api", CORE_NEW },
	    { "/apis", WITH_WIDGETS(BETA "," VERSION_NEW("v2", "Current", WIDGETS)) } },
	  "c:v1 n:v1 n:v1 n:v1beta1 - " },
	{ "a version without the resource",
	  { { "/api", CORE_NEW }, { "/apis", WITH_WIDGETS(VERSION_NEW("v1", "Current", "")) } },
	  "c:v1 n:v1 n:v1 - - " },
	{ "no such group", { { "/api", CORE_NEW }, { "/apis", GROUPS_NEW("") } }, "c:v1 n:v1 n:v1 - - " },
	{ "stale is not absent",
	  { { "/api", CORE_NEW }, { "/apis", WITH_WIDGETS(VERSION_NEW("v1", "Stale", "")) } },
	  "c:v1 n:v1 n:v1 ? - " },
	{ "stale, but named",
	  { { "/api", CORE_NEW }, { "/apis", WITH_WIDGETS(VERSION_NEW("v1", "Stale", WIDGETS)) } },
	  "c:v1 n:v1 n:v1 n:v1 - " },
	{ "one half only", { { "/api", CORE_NEW }, { "/apis", NULL } }, "c:v1 n:v1 ? ? ? " },
	{ "neither half", { { "/api", NULL }, { "/apis", NULL } }, "? ? ? ? ? " },
	{ "an old server",
	  { { "/api", CORE_OLD }, { "/apis", GROUPS_OLD },
	    { "/api/v1", RESOURCES("v1", RESOURCE("nodes", "false") "," RESOURCE("pods/log", "true") ","
		RESOURCE("pods", "true")) },
	    { "/apis/apps/v1", RESOURCES("apps/v1", RESOURCE("deployments", "true")) },
	    { "/apis/test.muster.dev/v1beta1",
	      RESOURCES("test.muster.dev/v1beta1", RESOURCE("widgets", "true")) } },
	  "c:v1 n:v1 n:v1 n:v1beta1 - " },
	{ "an old server, half of it down",
	  { { "/api", CORE_OLD }, { "/apis", GROUPS_OLD }, { "/api/v1", RESOURCES("v1", "") },
	    { "/apis/apps/v1", NULL }, { "/apis/test.muster.dev/v1beta1", GONE } },
	  "- - ? - - " },
	{ "nothing asked yet", { { NULL, NULL } }, "? ? ? ? ? " },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct discovery d;
	char err[200] = "", path[200], text[200] = "";
	size_t n = 0;

	discovery_init(&d, wants, NITEMS(wants));
	for (size_t i = 0; r->documents[i].path != NULL; i++) {
		const struct document *doc = &r->documents[i];

		if (i >= 2) {
			assert_true(discovery_next(&d, path, sizeof(path)));
			assert_string_equal(path, doc->path);
		}
		if (doc->body == NULL || doc->body[0] == '\0')
			discovery_failed(&d, doc->path, doc->body != NULL);
		else if (!discovery_read(&d, doc->path, json_text(doc->body), strlen(doc->body), err,
			     sizeof(err)))
			fail_msg("%s", err);
	}
	assert_false(discovery_next(&d, path, sizeof(path)));
	for (size_t i = 0; i < NITEMS(wants); i++) {
		struct discovery_result result;

		discovery_result(&d, i, &result);
		if (result.state == DISCOVERY_FOUND)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%c:%s ",
			    result.namespaced ? 'n' : 'c', result.version);
		else
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%c ",
			    result.state == DISCOVERY_ABSENT ? '-' : '?');
	}
	assert_string_equal(text, r->wanted);
}

/* Another document in its place changes nothing. */
static void
not_a_document(void **state)
{
	static const struct document bad[] = {
		{ "/apis", "<html>" },
		{ "/apis", "{'kind':'Status','code':503}" },
		{ "/apis", CORE_OLD },
		{ "/apis", "{'kind':'APIGroupList'}" },
		{ "/apis", "{'kind':'APIGroupList','groups':{}}" },
		{ "/api", GROUPS_OLD },
		{ "/apis/apps/v1", GROUPS_OLD },
		{ "/apis", "[]" },
	};
	struct discovery d;
	struct discovery_result result;
	char err[200], path[200];

	(void)state;
	for (size_t i = 0; i < NITEMS(bad); i++) {
		discovery_init(&d, wants, NITEMS(wants));
		assert_false(discovery_read(
		    &d, bad[i].path, bad[i].body, strlen(bad[i].body), err, sizeof(err)));
		assert_memory_equal(err, bad[i].path, strlen(bad[i].path));
		assert_false(discovery_next(&d, path, sizeof(path)));
		for (size_t w = 0; w < NITEMS(wants); w++) {
			discovery_result(&d, w, &result);
			assert_int_equal(result.state, DISCOVERY_UNKNOWN);
		}
	}
	char *huge = obj_alloc(DISCOVERY_BODY_MAX + 1);
	memset(huge, ' ', DISCOVERY_BODY_MAX + 1);
	assert_false(discovery_read(&d, "/apis", huge, DISCOVERY_BODY_MAX + 1, err, sizeof(err)));
	assert_string_equal(err, "/apis: 4194305 bytes, the limit is 4194304");
	free(huge);
}

/* Unexpected members are skipped. */
static void
odd_members(void **state)
{
	static const char odd[] = "{'kind':'APIGroupList','groups':[5,null,{'name':7},{'name':'apps'},"
	    "{'name':'test.muster.dev','versions':[1,{'version':2},{'version':'v1'}]}]}";
	struct discovery d;
	char err[200], path[200];

	(void)state;
	discovery_init(&d, wants, NITEMS(wants));
	assert_true(discovery_read(&d, "/apis", json_text(odd), strlen(odd), err, sizeof(err)));
	assert_true(discovery_next(&d, path, sizeof(path)));
	assert_string_equal(path, "/apis/test.muster.dev/v1");
}

/* A group that serves one resource in this version and another only in that one, old servers and new. */
static void
each_resource_has_its_own_version(void **state)
{
	static const struct discovery_want mixed[] = {
		{ "test.muster.dev", "widgets", "v1 v1beta2 v1beta1" },
		{ "test.muster.dev", "gears", "v1 v1beta2 v1beta1" },
		{ "test.muster.dev", "belts", "v1 v1beta2 v1beta1" },
	};
	static const char *const versions[] = { "v1beta1", "v1beta2", "v1beta2" };
	static const struct document documents[2][4] = {
		{ { "/apis", GROUPS_NEW("," GROUP_NEW("test.muster.dev",
		    VERSION_NEW("v1beta2", "Current", "{'resource':'gears','scope':'Cluster'},"
			"{'resource':'belts','scope':'Namespaced'}") ","
		    VERSION_NEW("v1beta1", "Current", WIDGETS ",{'resource':'belts'}"))) } },
		{ { "/apis", "{'kind':'APIGroupList','groups':[{'name':'test.muster.dev','versions':["
		    "{'version':'v1beta1'},{'version':'v1beta2'}],"
		    "'preferredVersion':{'version':'v1beta1'}}]}" },
		  { "/apis/test.muster.dev/v1beta2", RESOURCES("test.muster.dev/v1beta2",
		    RESOURCE("gears", "false") "," RESOURCE("belts", "true")) },
		  { "/apis/test.muster.dev/v1beta1", RESOURCES("test.muster.dev/v1beta1",
		    RESOURCE("widgets", "true") "," RESOURCE("belts", "true")) } },
	};

	(void)state;
	for (size_t n = 0; n < NITEMS(documents); n++) {
		struct discovery d;
		char err[200] = "", path[200];

		discovery_init(&d, mixed, NITEMS(mixed));
		for (size_t i = 0; i < 4 && documents[n][i].path != NULL; i++) {
			const struct document *const doc = &documents[n][i];

			assert_true(i == 0 || discovery_next(&d, path, sizeof(path)));
			assert_string_equal(i == 0 ? doc->path : path, doc->path);
			if (!discovery_read(&d, doc->path, json_text(doc->body), strlen(doc->body), err,
				     sizeof(err)))
				fail_msg("%s", err);
		}
		assert_false(discovery_next(&d, path, sizeof(path)));
		for (size_t i = 0; i < NITEMS(mixed); i++) {
			struct discovery_result result;

			discovery_result(&d, i, &result);
			assert_int_equal(result.state, DISCOVERY_FOUND);
			assert_string_equal(result.version, versions[i]);
		}
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 3];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(not_a_document);
	tests[NITEMS(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(odd_members);
	tests[NITEMS(rows) + 2] = (struct CMUnitTest)cmocka_unit_test(each_resource_has_its_own_version);
	return cmocka_run_group_tests_name("discovery", tests, NULL, NULL);
}
