/* sim/kube/semantics/sim_semantics_node.c - the rules of Nodes. */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_field_errors.h"
#include "sim_semantics_rules.h"

#define NOT_READY	"node.kubernetes.io/not-ready"

static void check_taints(json_t *errors, const json_t *taints);
static void check_once_set(json_t *errors, const json_t *spec, const json_t *before);
static void check_addresses(json_t *errors, const json_t *addresses);
static const json_t *has_taint(const json_t *taints, size_t end, const char *key, const char *effect);

/* podCIDR and podCIDRs are one; allocatable is the capacity until a client sets it. */
void
sim_node_complete(json_t *object)
{
	json_t *spec = sim_json_branch(object, "spec"), *status = sim_json_branch(object, "status");
	json_t *capacity = json_object_get(status, "capacity"),
	    *first = json_array_get(json_object_get(spec, "podCIDRs"), 0);

	if (json_object_get(status, "allocatable") == NULL && capacity != NULL)
		json_object_set_new(status, "allocatable", json_deep_copy(capacity));
	if (json_object_get(spec, "podCIDR") != NULL
	    && (first == NULL || !json_equal(first, json_object_get(spec, "podCIDR"))))
		json_object_set_new(spec, "podCIDRs", json_pack("[O]", json_object_get(spec, "podCIDR")));
	else if (json_object_get(spec, "podCIDR") == NULL && first != NULL)
		json_object_set(spec, "podCIDR", first);
}

/* Admission (TaintNodesByCondition): a new Node takes no Pods until it is ready. */
void
sim_node_prepare(const struct sim_write_params *a, json_t *object, const json_t *old)
{
	json_t *spec = sim_json_branch(object, "spec");

	(void)a;
	if (old != NULL)
		return;

	json_t *taints = sim_json_list(spec, "taints");

	if (has_taint(taints, json_array_size(taints), NOT_READY, "NoSchedule") == NULL)
		json_array_append_new(taints, json_pack("{s:s, s:s}", "key", NOT_READY, "effect",
		    "NoSchedule"));
}

/* The real one judges taints twice in an update. */
void
sim_node_check(json_t *errors, const struct sim_write_params *a, const json_t *object, const json_t *old)
{
	const json_t *spec = json_object_get(object, "spec");

	if (strcmp(a->subresource, "status") != 0)
		check_taints(errors, json_object_get(spec, "taints"));
	if (old == NULL)
		return;
	check_addresses(errors, json_object_get(json_object_get(object, "status"), "addresses"));
	check_once_set(errors, spec, json_object_get(old, "spec"));
	check_taints(errors, json_object_get(spec, "taints"));
}

/* They are a part of the spec, but the real server reports metadata. */
static void
check_taints(json_t *errors, const json_t *taints)
{
	size_t i;
	json_t *taint;

	json_array_foreach(taints, i, taint) {
		const char *key = sim_json_text(taint, "key"), *effect = sim_json_text(taint, "effect");
		char field[64];

		snprintf(field, sizeof(field), "metadata.taints[%zu].key", i);
		sim_name_check_qualified(errors, field, key, key);
		snprintf(field, sizeof(field), "metadata.taints[%zu].value", i);
		sim_name_check_label_value(errors, field, sim_json_text(taint, "value"));
		snprintf(field, sizeof(field), "metadata.taints[%zu].effect", i);
		if (*effect == '\0')
			sim_field_error(errors, FIELD_REQUIRED, field, NULL, "%s", "");
		else if (strcmp(effect, "NoSchedule") != 0 && strcmp(effect, "PreferNoSchedule") != 0
		    && strcmp(effect, "NoExecute") != 0)
			sim_field_error_text(errors, FIELD_UNSUPPORTED, field, effect,
			    "supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"");
		if (has_taint(taints, i, key, effect) != NULL) {
			json_auto_t *shown = json_pack("{s:s, s:s, s:s, s:n}", "Key", key, "Value",
			    sim_json_text(taint, "value"), "Effect", effect, "TimeAdded");

			snprintf(field, sizeof(field), "metadata.taints[%zu]", i);
			sim_field_error(errors, FIELD_DUPLICATE, field, shown,
			    "taints must be unique by key and effect pair");
		}
	}
}

static void
check_once_set(json_t *errors, const json_t *spec, const json_t *before)
{
	static const struct {
		const char *field, *called, *path;
	} rows[] = {
		{ "podCIDRs",	"podCIDR",	"spec.podCIDRs" },
		{ "providerID",	"providerID",	"spec.providerID" },
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		if (json_object_get(before, rows[i].field) != NULL && !same_member(spec, before,
		    rows[i].field))
			sim_field_error(errors, FIELD_FORBIDDEN, rows[i].path, NULL,
			    "node updates may not change %s except from \"\" to valid", rows[i].called);
}

static void
check_addresses(json_t *errors, const json_t *addresses)
{
	size_t i;
	json_t *address;

	json_array_foreach(addresses, i, address) {
		for (size_t k = 0; k < i; k++) {
			char field[64];

			if (!json_equal(address, json_array_get(addresses, k)))
				continue;
			json_auto_t *shown = json_pack("{s:s, s:s}", "Type",
			    sim_json_text(address, "type"), "Address",
			    sim_json_text(address, "address"));

			snprintf(field, sizeof(field), "status.addresses[%zu]", i);
			sim_field_error(errors, FIELD_DUPLICATE, field, shown, "%s", "");
			break;
		}
	}
}

static const json_t *
has_taint(const json_t *taints, size_t end, const char *key, const char *effect)
{
	for (size_t i = 0; i < end; i++) {
		const json_t *taint = json_array_get(taints, i);

		if (strcmp(sim_json_text(taint, "key"), key) == 0
		    && strcmp(sim_json_text(taint, "effect"), effect) == 0)
			return taint;
	}
	return NULL;
}
