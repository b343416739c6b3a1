/*
 * sim/kube/schema/sim_schema_prune.c - what a structural schema does to a custom object before it is judged:
 * unknown fields go, nulls that mean nothing go, defaults come.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/base/sim_json.h"
#include "sim_schema.h"

static void prune(const json_t *schema, json_t *value, const char *path, bool whole, bool keep,
    json_t *unknown);
static void prune_object(const json_t *schema, json_t *object, const char *path, bool whole, bool keep,
    json_t *unknown);
static void read_metadata(json_t *object, const char *path, json_t *unknown);
static void drop_nulls(const json_t *schema, json_t *value);
static bool is_refused_null(const json_t *schema, const json_t *value);

void
sim_schema_prune(const json_t *schema, json_t *object, json_t *unknown)
{
	prune(schema, object, "", true, false, unknown);
	drop_nulls(schema, object);
}

void
sim_schema_default(const json_t *schema, json_t *value)
{
	const char *key;
	void *next;
	json_t *child;
	size_t i;

	schema = sim_schema_follow(schema);
	if (json_is_object(value)) {
		JSON_EACH(json_object_get(schema, "properties"), key, child) {
			const json_t *have = json_object_get(value, key);
			json_t *usual = json_object_get(child, "default");

			if (usual != NULL && (have == NULL
			    || (json_is_null(have) && !json_is_true(json_object_get(child, "nullable")))))
				json_object_set_new(value, key, json_deep_copy(usual));
		}
		json_object_foreach_safe(value, next, key, child)
			sim_schema_default(sim_schema_member(schema, key, false), child);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, child)
			sim_schema_default(sim_schema_items(schema), child);
	}
}

/*
 * keep: unknown members stay, but what the schema names is still pruned (x-kubernetes-preserve-
 * unknown-fields).
 */
static void
prune(const json_t *schema, json_t *value, const char *path, bool whole, bool keep, json_t *unknown)
{
	size_t i;
	json_t *child;

	keep = keep || sim_schema_keeps_unknown(schema);
	if (json_is_object(value))
		prune_object(schema, value, path, whole, keep, unknown);
	if (!json_is_array(value))
		return;
	json_array_foreach(value, i, child) {
		json_auto_t *deeper = json_sprintf("%s[%zu]", path, i);

		prune(sim_schema_items(schema), child, json_string_value(deeper), false, keep
		    && sim_schema_items(schema) == NULL, unknown);
	}
}

static void
prune_object(const json_t *schema, json_t *object, const char *path, bool whole, bool keep, json_t *unknown)
{
	const bool embedded = whole || json_is_true(json_object_get(schema,
	    "x-kubernetes-embedded-resource"));
	const char *key;
	void *next;
	json_t *child;

	json_object_foreach_safe(object, next, key, child) {
		const json_t *member = json_object_get(json_object_get(schema, "properties"), key);
		const json_t *others = json_object_get(schema, "additionalProperties");

		if (embedded && sim_schema_names(NULL, key, true)) {
			if (!whole && strcmp(key, "metadata") == 0)
				read_metadata(object, path, unknown);
			continue;
		}
		if (member == NULL && (json_is_object(others) || json_is_true(others)))
			member = others;
		json_auto_t *deeper = sim_schema_path(path, key);

		if (json_is_object(member)) {
			prune(member, child, json_string_value(deeper), false, false, unknown);
		} else if (member == NULL && !keep) {
			json_array_append(unknown, deeper);
			json_object_del(object, key);
		}
	}
}

/* The metadata of an object inside another is read as that of any; what cannot be read is left alone. */
static void
read_metadata(json_t *object, const char *path, json_t *unknown)
{
	json_auto_t *deeper = sim_schema_path(path, "metadata");
	char *error_text = NULL;
	json_t *read = sim_schema_typed(sim_schema_member(NULL, "metadata", true),
	    json_object_get(object, "metadata"), json_string_value(deeper), unknown, false, &error_text);

	if (read != NULL)
		json_object_set_new(object, "metadata", read);
	free(error_text);
}

/* A null for a field that may not be null and has no default is as if it were not sent. */
static void
drop_nulls(const json_t *schema, json_t *value)
{
	const char *key;
	void *next;
	json_t *child;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach_safe(value, next, key, child) {
			const json_t *member = sim_schema_member(schema, key, false);

			if (is_refused_null(member, child))
				json_object_del(value, key);
			else
				drop_nulls(member, child);
		}
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, child)
			drop_nulls(sim_schema_items(schema), child);
	}
}

static bool
is_refused_null(const json_t *schema, const json_t *value)
{
	return json_is_null(value) && schema != NULL && json_object_get(schema, "default") == NULL
	    && !json_is_true(json_object_get(schema, "nullable"));
}
