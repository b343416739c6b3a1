/* sim/kube/semantics/sim_semantics_kinds.c - which rules a kind has; those of the kinds that need few. */
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_field_errors.h"
#include "sim_semantics_rules.h"

static void namespace_complete(json_t *object);
static void namespace_prepare(const struct sim_write_params *a, json_t *object, const json_t *old);
static void secret_complete(json_t *object);
static void secret_check(json_t *errors, const struct sim_write_params *a, const json_t *object,
    const json_t *old);
static void immutable_check(json_t *errors, const struct sim_write_params *a, const json_t *object,
    const json_t *old);
static void crd_complete(json_t *object);

static const struct sim_kind_rules custom = { .needs_version = true, .status_keeps_metadata = true };

static const struct sim_kind_rules rules[] = {
	{ .group = "", .kind = "Node", .keeps_status = true, .complete = sim_node_complete,
	  .prepare = sim_node_prepare, .check = sim_node_check },
	{ .group = "", .kind = "Pod", .complete = sim_pod_complete, .prepare = sim_pod_prepare, .check = sim_pod_check },
	{ .group = "", .kind = "Namespace", .name_form = NAME_LABEL, .complete = namespace_complete,
	  .prepare = namespace_prepare },
	{ .group = "", .kind = "Secret", .complete = secret_complete, .check = secret_check },
	{ .group = "", .kind = "ConfigMap", .check = immutable_check },
	{ .group = "", .kind = "ServiceAccount" },
	{ .group = "", .kind = "Event", .creates_on_update = true, .check = sim_event_check },
	{ .group = "events.k8s.io", .kind = "Event", .creates_on_update = true, .invalid_group = "", .check = sim_event_check },
	{ .group = "coordination.k8s.io", .kind = "Lease", .creates_on_update = true, .needs_version = true,
	  .check = sim_lease_check },
	{ .group = "policy", .kind = "PodDisruptionBudget", .zero_status = true },
	{ .group = "apiextensions.k8s.io", .kind = "CustomResourceDefinition", .needs_version = true,
	  .status_keeps_metadata = true, .complete = crd_complete },
};

const struct sim_kind_rules *
sim_kind_rules(const struct sim_resource *r)
{
	for (size_t i = 0; i < NITEMS(rules); i++)
		if (strcmp(rules[i].kind, r->kind) == 0 && strcmp(rules[i].group, r->group) == 0)
			return &rules[i];
	return &custom;
}

/* The name as a label, so that selectors can speak of it. */
static void
namespace_complete(json_t *object)
{
	json_t *meta = sim_metadata_of(object);

	if (*sim_json_text(meta, "name") != '\0')
		json_object_set_new(sim_json_branch(meta, "labels"), "kubernetes.io/metadata.name",
		    json_string(sim_json_text(meta, "name")));
}

static void
namespace_prepare(const struct sim_write_params *a, json_t *object, const json_t *old)
{
	json_t *spec = sim_json_branch(object, "spec");

	namespace_complete(object);	/* generateName has made the name only now */
	if (old != NULL) {
		if (strcmp(a->subresource, "") == 0)
			take_member(spec, json_object_get(old, "spec"), "finalizers");
		return;
	}
	json_object_set_new(object, "status", json_pack("{s:s}", "phase", "Active"));
	if (!has_text(sim_json_list(spec, "finalizers"), "kubernetes"))
		json_array_append_new(sim_json_list(spec, "finalizers"), json_string("kubernetes"));
}

/* stringData is only a way to write: it is kept as data. */
static void
secret_complete(json_t *object)
{
	const char *key;
	json_t *text;

	JSON_EACH(json_object_get(object, "stringData"), key, text)
		json_object_set_new(sim_json_branch(object, "data"), key,
		    sim_json_base64(json_string_value(text), json_string_length(text)));
	json_object_del(object, "stringData");
}

static void
secret_check(json_t *errors, const struct sim_write_params *a, const json_t *object, const json_t *old)
{
	if (old != NULL && !same_member(object, old, "type"))
		sim_field_error(errors, FIELD_INVALID, "type", json_object_get(object, "type"),
		    "field is immutable");
	immutable_check(errors, a, object, old);
}

static void
immutable_check(json_t *errors, const struct sim_write_params *a, const json_t *object, const json_t *old)
{
	static const char *const fields[] = { "data", "binaryData" };

	(void)a;
	if (!json_is_true(json_object_get(old, "immutable")))
		return;
	if (!json_is_true(json_object_get(object, "immutable")))
		sim_field_error(errors, FIELD_FORBIDDEN, "immutable", NULL,
		    "field is immutable when `immutable` is set");
	for (size_t i = 0; i < NITEMS(fields); i++)
		if (!same_member(object, old, fields[i]))
			sim_field_error(errors, FIELD_FORBIDDEN, fields[i], NULL,
			    "field is immutable when `immutable` is set");
}

static void
crd_complete(json_t *object)
{
	json_t *spec = sim_json_branch(object, "spec"), *names = sim_json_branch(spec, "names");
	const char *kind = sim_json_text(names, "kind");

	if (json_object_get(spec, "conversion") == NULL)
		json_object_set_new(spec, "conversion", json_pack("{s:s}", "strategy", "None"));
	if (*kind != '\0' && *sim_json_text(names, "listKind") == '\0')
		json_object_set_new(names, "listKind", json_sprintf("%sList", kind));
	if (*kind != '\0' && *sim_json_text(names, "singular") == '\0')
		json_object_set_new(names, "singular", sim_json_lower(kind));
}
