/* tests/unit/test_sim_openapi.c - the documents of /openapi/v3 have what kubectl reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_values.h"
#include "sim/base/sim_json.h"

#define ITEM	"/apis/test.muster.dev/v1/namespaces/{namespace}/gadgets/{name}"
#define SCHEMAS	"components.schemas"

static const struct sim_resource *all[8];
static json_t *custom, *core;

static int
make(void **state)
{
	(void)state;
	all[0] = gadgets();
	all[1] = builtin("", "Node");
	all[2] = builtin("", "Pod");
	all[3] = builtin("coordination.k8s.io", "Lease");
	custom = sim_openapi_document(all, "test.muster.dev", "v1");
	core = sim_openapi_document(all, "", "v1");
	return custom == NULL || core == NULL;
}

static int
unmake(void **state)
{
	(void)state;
	json_decref(custom);
	json_decref(core);
	return 0;
}

static void
the_index_names_every_version_once(void **state)
{
	json_t *index = sim_openapi_index(all), *paths = json_object_get(index, "paths");

	(void)state;
	assert_int_equal(json_object_size(paths), 3);
	assert_memory_equal(sim_json_text(json_object_get(paths, "api/v1"), "serverRelativeURL"),
	    "/openapi/v3/api/v1?hash=", strlen("/openapi/v3/api/v1?hash="));
	assert_non_null(json_object_get(paths, "apis/test.muster.dev/v1"));
	json_decref(index);
}

/* A client keeps a document as long as its hash is the same. */
static void
the_hash_changes_with_the_schema(void **state)
{
	json_t *before = sim_openapi_index(all), *after;
	struct sim_resource other = *gadgets();
	const struct sim_resource *changed[] = { &other, all[1], NULL };

	(void)state;
	other.schema = J("{'type':'object'}");
	after = sim_openapi_index(changed);
	assert_false(json_equal(json_object_get(json_object_get(before, "paths"), "apis/test.muster.dev/v1"),
	    json_object_get(json_object_get(after, "paths"), "apis/test.muster.dev/v1")));
	json_decref(other.schema);
	json_decref(before);
	json_decref(after);
}

static void
a_patch_lists_what_it_accepts(void **state)
{
	json_t *patch = json_object_get(json_object_get(json_object_get(custom, "paths"), ITEM), "patch"), *p;
	json_t *node = json_object_get(json_object_get(json_object_get(core, "paths"),
	    "/api/v1/nodes/{name}"), "patch");
	bool validates = false, dry = false;
	size_t i;

	(void)state;
	json_array_foreach(json_object_get(patch, "parameters"), i, p) {
		validates = validates || strcmp(sim_json_text(p, "name"), "fieldValidation") == 0;
		dry = dry || strcmp(sim_json_text(p, "name"), "dryRun") == 0;
	}
	assert_true(validates && dry);
	assert_json(json_incref(json_object_get(patch, "x-kubernetes-group-version-kind")),
	    "{'group':'test.muster.dev','kind':'Gadget','version':'v1'}");
	assert_null(json_object_get(sim_json_at(patch, "requestBody.content"),
	    "application/strategic-merge-patch+json"));
	assert_non_null(json_object_get(sim_json_at(node, "requestBody.content"),
	    "application/strategic-merge-patch+json"));
}

static void
a_schema_is_complete(void **state)
{
	json_t *schema = json_object_get(sim_json_at(custom, SCHEMAS), "dev.muster.test.v1.Gadget");

	(void)state;
	assert_json(json_incref(json_object_get(schema, "x-kubernetes-group-version-kind")),
	    "[{'group':'test.muster.dev','kind':'Gadget','version':'v1'}]");
	assert_json(json_incref(sim_json_at(schema, "properties.metadata")), "{'allOf':[{'$ref':"
	    "'#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'}],'default':{}}");
	assert_json(json_incref(sim_json_at(schema, "properties.kind.type")), "'string'");
	assert_json(json_incref(sim_json_at(schema, "properties.spec.properties.size")),
	    "{'type':'integer','minimum':1,'maximum':100}");
}

/* Every reference has a target, and none of our own keywords is shown. */
static void
check_published(const json_t *document, const json_t *value)
{
	const char *key;
	json_t *child;
	size_t i;

	json_array_foreach(value, i, child)
		check_published(document, child);
	JSON_EACH(value, key, child) {
		assert_int_not_equal(strncmp(key, "x-muster-", strlen("x-muster-")), 0);
		if (strcmp(key, "$ref") == 0 && json_is_string(child))
			if (json_object_get(sim_json_at(document, SCHEMAS),
			    strrchr(json_string_value(child), '/') + 1) == NULL)
				fail_msg("%s is not there", json_string_value(child));
		check_published(document, child);
	}
}

static void
references_have_targets(void **state)
{
	(void)state;
	check_published(custom, custom);
	check_published(core, core);
}

static void
no_such_version(void **state)
{
	(void)state;
	assert_null(sim_openapi_document(all, "test.muster.dev", "v9"));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_index_names_every_version_once),
		cmocka_unit_test(the_hash_changes_with_the_schema),
		cmocka_unit_test(a_patch_lists_what_it_accepts),
		cmocka_unit_test(a_schema_is_complete),
		cmocka_unit_test(references_have_targets),
		cmocka_unit_test(no_such_version),
	};

	return cmocka_run_group_tests_name("sim openapi", tests, make, unmake);
}
