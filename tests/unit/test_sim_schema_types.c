/*
 * tests/unit/test_sim_schema_types.c - the table of built-in types is consistent, and every
 * built-in kind is in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_values.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"

static void check_schema(const char *where, const json_t *schema);

static void
every_reference_is_there_and_every_key_is_a_field(void **state)
{
	const char *name, *field;
	json_t *type, *member;

	(void)state;
	assert_true(json_object_size(sim_schema_types()) > 150);
	JSON_EACH(sim_schema_types(), name, type) {
		size_t i;
		json_t *key;

		assert_string_equal(sim_json_text(type, "type"), "object");
		json_array_foreach(json_object_get(type, "required"), i, key)
			assert_non_null(json_object_get(json_object_get(type, "properties"),
			    json_string_value(key)));
		JSON_EACH(json_object_get(type, "properties"), field, member) {
			char where[256];

			snprintf(where, sizeof(where), "%s.%s", name, field);
			check_schema(where, member);
		}
	}
}

static void
check_schema(const char *where, const json_t *schema)
{
	const json_t *keys, *items = sim_schema_items(schema),
	    *others = json_object_get(schema, "additionalProperties");
	const json_t *merge_key = json_object_get(schema, "x-kubernetes-patch-merge-key");
	size_t i;
	json_t *key;

	if (sim_schema_follow(schema) == NULL)
		fail_msg("%s: no type %s", where, sim_json_text(schema, "$ref"));
	if (items != NULL)
		check_schema(where, items);
	if (others != NULL)
		check_schema(where, others);
	if (sim_schema_list(schema, &keys) == LIST_MAP)
		json_array_foreach(keys, i, key)
			if (sim_schema_member(items, json_string_value(key), false) == NULL)
				fail_msg("%s: no key %s", where, json_string_value(key));
	if (merge_key != NULL && sim_schema_member(items, json_string_value(merge_key), false) == NULL)
		fail_msg("%s: no merge key %s", where, json_string_value(merge_key));
}

static void
every_column_of_a_row_is_read(void **state)
{
	const json_t *types = sim_schema_types();
	const json_t *node = json_object_get(types, "io.k8s.api.core.v1.NodeStatus");
	const json_t *lease = json_object_get(types, "io.k8s.api.coordination.v1.LeaseSpec");
	const json_t *pod = json_object_get(types, "io.k8s.api.core.v1.PodSpec");

	(void)state;
	assert_json(json_incref(sim_json_at(node, "properties.conditions")),
	    "{'type':'array','items':{'$ref':"
	    "'io.k8s.api.core.v1.NodeCondition'},'x-kubernetes-list-type':'map',"
	    "'x-kubernetes-list-map-keys':['type'],'x-kubernetes-patch-strategy':'merge',"
	    "'x-kubernetes-patch-merge-key':'type','x-muster-number':'4'}");
	assert_json(json_incref(sim_json_at(lease, "properties.leaseTransitions")),
	    "{'type':'integer','format':'int32','x-muster-go':'int32','x-muster-zero-kept':true,"
	    "'x-muster-number':'5'}");
	assert_json(json_incref(sim_json_at(pod, "properties.restartPolicy")),
	    "{'type':'string','x-muster-go':'string','default':'Always','x-muster-number':'3'}");
	assert_json(json_incref(sim_json_at(pod, "properties.volumes.x-kubernetes-patch-strategy")),
	    "'merge,retainKeys'");
	assert_json(json_incref(json_object_get(json_object_get(types, "io.k8s.api.core.v1.Taint"),
	    "required")), "['key','effect']");
	assert_json(json_incref(sim_json_at(pod, "properties.nodeSelector.x-kubernetes-map-type")),
	    "'atomic'");
}

static void
every_kind_that_is_kept_has_a_type(void **state)
{
	(void)state;
	for (size_t i = 0; i < sim_resource_nbuiltin; i++)
		if (!sim_resource_builtin[i].answers_only && sim_schema_of(&sim_resource_builtin[i]) == NULL)
			fail_msg("%s has none", sim_resource_builtin[i].kind);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reference_is_there_and_every_key_is_a_field),
		cmocka_unit_test(every_column_of_a_row_is_read),
		cmocka_unit_test(every_kind_that_is_kept_has_a_type),
	};

	return cmocka_run_group_tests_name("sim schema types", tests, NULL, NULL);
}
