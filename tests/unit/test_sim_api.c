/*
 * tests/unit/test_sim_api.c - the simulator as a cluster: CRDs, owners, namespaces, evictions,
 * discovery, audit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "sim/kube/discovery/sim_discovery.h"
#include "sim_rig.h"

#define CRDS	"/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define MAPS	"/api/v1/namespaces/default/configmaps"
#define PODS	"/api/v1/namespaces/default/pods"

static const char widgets[] =
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":"
    "{\"name\":"
    "\"widgets.x.io\"},\"spec\":{\"group\":\"x.io\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"wi"
    "dgets\",\"kind\":"
    "\"Widget\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openA"
    "PIV3Schema\":"
    "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";

static int
code_of(struct rig *r, const char *method, const char *path, const char *body)
{
	struct rig_answer a = rig_ask(r, method, path, "Content-Type: application/json\r\n", body, NULL);
	const int code = a.code;

	rig_free(&a);
	return code;
}

/* The text of a member in the answer to a GET, or of the body of a POST. */
static void
member_of(const struct rig_answer *a, const char *key, char *buf, size_t size)
{
	const char *const at = strstr(a->body, key);

	assert_non_null(at);
	snprintf(buf, size, "%.*s", (int)strcspn(at + strlen(key), "\""), at + strlen(key));
}

/* Runs the loop until the path answers with that code. */
static void
wait_code(struct rig *r, const char *path, int code)
{
	const int64_t deadline_ms = clock_mono_ms() + 30000;

	while (code_of(r, "GET", path, "") != code)
		assert_true(clock_mono_ms() < deadline_ms);
}

static void
a_definition_serves_at_once_and_takes_all_with_it(void **state)
{
	struct rig r;
	struct rig_client c;

	(void)state;
	rig_open(&r, 0);
	assert_int_equal(code_of(&r, "GET", "/apis/x.io/v1/widgets", ""), 404);
	assert_int_equal(code_of(&r, "POST", CRDS, widgets), 201);
	assert_int_equal(code_of(&r, "POST", "/apis/x.io/v1/widgets",
	    "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"w\"}}"), 201);
	struct rig_answer a = rig_get(&r, CRDS "/widgets.x.io");
	assert_non_null(strstr(a.body, "\"type\":\"Established\""));
	assert_non_null(strstr(a.body, "\"storedVersions\":[\"v1\"]"));
	rig_free(&a);
	a = rig_get(&r, "/apis/x.io/v1");
	assert_non_null(strstr(a.body, "\"name\":\"widgets\",\"singularName\":\"widget\""));
	rig_free(&a);
	rig_connect(&r, &c, sim_server_url(r.sim.kube));
	rig_send(&c, "GET", "/apis/x.io/v1/widgets?watch=1", "", "");
	a = rig_wait(&r, &c, "ADDED");
	rig_free(&a);
	assert_int_equal(code_of(&r, "DELETE", CRDS "/widgets.x.io", ""), 200);
	a = rig_wait(&r, &c, NULL);		/* the watch sends DELETED, and ends */
	assert_int_equal(a.end, RIG_COMPLETE);
	assert_non_null(strstr(a.body, "DELETED"));
	rig_free(&a);
	rig_disconnect(&c);
	assert_int_equal(code_of(&r, "GET", "/apis/x.io/v1/widgets", ""), 404);
	assert_int_equal(code_of(&r, "GET", "/apis/x.io", ""), 404);
	/* It comes back empty. */
	assert_int_equal(code_of(&r, "POST", CRDS, widgets), 201);
	assert_int_equal(code_of(&r, "GET", "/apis/x.io/v1/widgets/w", ""), 404);
	rig_close(&r);
}

static void
orphans_go_when_the_last_owner_has(void **state)
{
	struct rig r;
	char body[512], uid[64];

	(void)state;
	rig_open(&r, 0);
	struct rig_answer a = rig_ask(&r, "POST", MAPS, "", "{\"metadata\":{\"name\":\"owner\"}}", NULL);
	member_of(&a, "\"uid\":\"", uid, sizeof(uid));
	rig_free(&a);
	snprintf(body, sizeof(body),
	    "{\"metadata\":{\"name\":\"child\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
	    "\"ConfigMap\",\"name\":\"owner\",\"uid\":\"%s\"}]}}",
	    uid);
	assert_int_equal(code_of(&r, "POST", MAPS, body), 201);
	assert_int_equal(code_of(&r, "GET", MAPS "/child", ""), 200);
	assert_int_equal(code_of(&r, "DELETE", MAPS "/owner", ""), 200);
	wait_code(&r, MAPS "/child", 404);
	rig_close(&r);
}

static void
a_namespace_takes_its_contents_with_it(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 0);
	assert_int_equal(code_of(&r, "POST", "/api/v1/namespaces/gone/configmaps",
			     "{\"metadata\":{\"name\":\"m\"}}"),
	    404);
	assert_int_equal(
	    code_of(&r, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"gone\"}}"), 201);
	assert_int_equal(code_of(&r, "POST", "/api/v1/namespaces/gone/configmaps",
	    "{\"metadata\":{\"name\":\"m\",\"finalizers\":[\"x.io/hold\"]}}"), 201);
	assert_int_equal(code_of(&r, "DELETE", "/api/v1/namespaces/gone", ""), 200);
	/* The finalizer holds both; meanwhile nothing new may come. */
	struct rig_answer a = rig_ask(&r, "POST", "/api/v1/namespaces/gone/configmaps", "",
	    "{\"metadata\":{\"name\":\"n\"}}", NULL);
	assert_int_equal(a.code, 403);
	assert_non_null(strstr(a.body, "because it is being terminated"));
	rig_free(&a);
	assert_int_equal(code_of(&r, "GET", "/api/v1/namespaces/gone", ""), 200);
	a = rig_ask(&r, "PATCH", "/api/v1/namespaces/gone/configmaps/m",
	    "Content-Type: application/merge-patch+json\r\n", "{\"metadata\":{\"finalizers\":null}}",
	    NULL);
	assert_int_equal(a.code, 200);
	rig_free(&a);
	wait_code(&r, "/api/v1/namespaces/gone", 404);
	rig_close(&r);
}

static void
evictions_respect_budgets(void **state)
{
	static const char pod[] =
	    "{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"a\"}},\"spec\":{\"containers\":"
	    "[{\"name\":\"c\",\"image\":\"i\"}]}}";
	static const char budget[] =
	    "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"minAvailable\":1,\"selector\":"
	    "{\"matchLabels\":{\"app\":\"a\"}}}}";
	static const char eviction[] =
	    "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"p\"}}";
	static const char nobody[] =
	    "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"nobody\"}}";
	static const char merge[] = "Content-Type: application/merge-patch+json\r\n";
	struct rig r;

	(void)state;
	rig_open(&r, 0);
	assert_int_equal(code_of(&r, "POST", PODS, pod), 201);
	assert_int_equal(code_of(&r, "POST", PODS "/nobody/eviction", eviction), 400);
	assert_int_equal(code_of(&r, "POST", PODS "/nobody/eviction", nobody), 404);
	assert_int_equal(
	    code_of(&r, "POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget),
	    201);
	/* No controller has evaluated the budget yet. */
	struct rig_answer a = rig_ask(&r, "POST", PODS "/p/eviction", "", eviction, NULL);
	assert_int_equal(a.code, 429);
	assert_non_null(strstr(a.body, "The disruption budget b is still being processed by the server."));
	assert_non_null(strstr(a.head, "Retry-After: 10"));
	rig_free(&a);
	a = rig_ask(&r, "PATCH", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status",
	    merge,
	    "{\"status\":{\"observedGeneration\":1,\"disruptionsAllowed\":0,\"desiredHealthy\":1,\"c"
	    "urrentHealthy\":0,"
	    "\"expectedPods\":1}}",
	    NULL);
	assert_int_equal(a.code, 200);
	rig_free(&a);
	a = rig_ask(&r, "POST", PODS "/p/eviction", "", eviction, NULL);
	assert_int_equal(a.code, 429);
	assert_non_null(strstr(a.body, "needs 1 healthy pods and has 0 currently"));
	rig_free(&a);
	a = rig_ask(&r, "PATCH", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status", merge,
	    "{\"status\":{\"disruptionsAllowed\":1}}", NULL);
	rig_free(&a);
	assert_int_equal(code_of(&r, "POST", PODS "/p/eviction", eviction), 201);
	assert_int_equal(code_of(&r, "GET", PODS "/p", ""), 404);
	a = rig_get(&r, "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b");
	assert_non_null(strstr(a.body, "\"disruptionsAllowed\":0"));
	rig_free(&a);
	rig_close(&r);
}

static void
the_audit_lists_who_requested_what(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 1);
	code_of(&r, "GET", "/api/v1/nodes/nobody?x=y", "");
	code_of(&r, "POST", MAPS, "{\"metadata\":{\"generateName\":\"made-\"}}");
	struct rig_answer a = rig_order(&r, "GET", "/audit", "");
	assert_non_null(strstr(a.body,
	    "\"verb\":\"get\",\"group\":\"\",\"resource\":\"nodes\",\"namespace\":\"\",\"name\":"
	    "\"nobody\",\"subresource\":\"\",\"user\":\"system:admin\",\"user-agent\":\"rig/1\",\"uri\":"
	    "\"/api/v1/nodes/nobody?x=y\",\"code\":404,\"rv\":0"));
	assert_non_null(strstr(a.body, "\"verb\":\"create\""));
	assert_non_null(strstr(a.body, "\"name\":\"made-"));
	rig_free(&a);
	a = rig_order(&r, "GET", "/audit?since=1", "");
	assert_null(strstr(a.body, "nobody"));
	rig_free(&a);
	rig_close(&r);
}

static const struct {
	const char	*first, *second;
} versions[] = {
	{ "v2", "v1" }, { "v10", "v2" }, { "v1", "v1beta1" }, { "v1beta2", "v1beta1" }, { "v1beta"
	    "1", "v2alpha1" },
	{ "v2beta1", "v1beta2" }, { "v1alpha1", "foo" }, { "bar", "foo" }, { "v1", "v1gamma1" }, { ""
	    "v1beta1", "v1beta" },
};

static void
versions_are_ordered_as_kubernetes_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(versions); i++) {
		assert_true(sim_discovery_compare_versions(versions[i].first, versions[i].second) < 0);
		assert_true(sim_discovery_compare_versions(versions[i].second, versions[i].first) > 0);
		assert_int_equal(sim_discovery_compare_versions(versions[i].first, versions[i].first), 0);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_definition_serves_at_once_and_takes_all_with_it),
		cmocka_unit_test(orphans_go_when_the_last_owner_has),
		cmocka_unit_test(a_namespace_takes_its_contents_with_it),
		cmocka_unit_test(evictions_respect_budgets),
		cmocka_unit_test(the_audit_lists_who_requested_what),
		cmocka_unit_test(versions_are_ordered_as_kubernetes_does),
	};

	return cmocka_run_group_tests_name("sim_api", tests, NULL, NULL);
}
