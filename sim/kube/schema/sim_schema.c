/* sim/kube/schema/sim_schema.c - where the schema of a kind, a member or an item is found. */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_schema.h"

static const char *const whole_fields[] = { "apiVersion", "kind", "metadata" };

static const json_t *whole_member(const char *key);
static bool is_whole(const json_t *schema, bool whole);

const json_t *
sim_schema_of(const struct sim_resource *r)
{
	static const struct {
		const char *group, *prefix;
	} prefixes[] = {
		{ "",				"io.k8s.api.core.v1." },
		{ "coordination.k8s.io",	"io.k8s.api.coordination.v1." },
		{ "events.k8s.io",		"io.k8s.api.events.v1." },
		{ "policy",			"io.k8s.api.policy.v1." },
		{ "apiextensions.k8s.io",	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1." },
	};

	if (!r->builtin)
		return r->schema;
	for (size_t i = 0; i < NITEMS(prefixes); i++) {
		char name[160];

		snprintf(name, sizeof(name), "%s%s", prefixes[i].prefix, r->kind);
		if (strcmp(prefixes[i].group, r->group) == 0)
			return json_object_get(sim_schema_types(), name);
	}
	return NULL;
}

const json_t *
sim_schema_follow(const json_t *schema)
{
	const json_t *name = json_object_get(schema, "$ref");

	return name == NULL ? schema : json_object_get(sim_schema_types(), json_string_value(name));
}

const json_t *
sim_schema_member(const json_t *schema, const char *key, bool whole)
{
	schema = sim_schema_follow(schema);
	const json_t *member = json_object_get(json_object_get(schema, "properties"), key);

	if (is_whole(schema, whole) && whole_member(key) != NULL)
		return whole_member(key);
	if (member == NULL)
		member = json_object_get(schema, "additionalProperties");
	return json_is_object(member) ? member : NULL;
}

const json_t *
sim_schema_items(const json_t *schema)
{
	const json_t *items = json_object_get(sim_schema_follow(schema), "items");

	return json_is_object(items) ? items : NULL;
}

bool
sim_schema_names(const json_t *schema, const char *key, bool whole)
{
	schema = sim_schema_follow(schema);
	return (is_whole(schema, whole) && whole_member(key) != NULL)
	    || json_object_get(json_object_get(schema, "properties"), key) != NULL;
}

bool
sim_schema_keeps_unknown(const json_t *schema)
{
	return json_is_true(json_object_get(sim_schema_follow(schema),
	    "x-kubernetes-preserve-unknown-fields"));
}

enum sim_list_type
sim_schema_list(const json_t *schema, const json_t **keys)
{
	schema = sim_schema_follow(schema);
	const char *type = sim_json_text(schema, "x-kubernetes-list-type");

	*keys = json_object_get(schema, "x-kubernetes-list-map-keys");
	return strcmp(type, "map") == 0 ? LIST_MAP : strcmp(type, "set") == 0 ? LIST_SET : LIST_ATOMIC;
}

json_t *
sim_schema_path(const char *path, const char *key)
{
	return json_sprintf("%s%s%s", path, *path == '\0' ? "" : ".", key);
}

static bool
is_whole(const json_t *schema, bool whole)
{
	return whole || json_is_true(json_object_get(schema, "x-kubernetes-embedded-resource"));
}

static const json_t *
whole_member(const char *key)
{
	for (size_t i = 0; i < NITEMS(whole_fields); i++)
		if (strcmp(whole_fields[i], key) == 0)
			return json_object_get(json_object_get(json_object_get(sim_schema_types(),
			    "io.k8s.api.core.v1.Node"), "properties"), key);
	return NULL;
}
