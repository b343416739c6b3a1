/*
 * sim/kube/schema/sim_schema_check.c - values against the schema of a CRD, with the words of the real server.
 *
 * What an update did not change is not judged again (ratcheting). CEL rules are not evaluated; that
 * they were not is reported as the real server does when the object is refused for something else.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/semantics/sim_field_errors.h"
#include "sim_schema.h"
#include "sim_schema_format.h"
#include "sim_schema_rules.h"

static void check_members(const struct sim_schema_at *at, const json_t *old);
static void check_items(const struct sim_schema_at *at, const json_t *old);
static void check_child(const struct sim_schema_at *at, const json_t *path, const json_t *schema,
    const json_t *value, const json_t *old);
static void check_unique(const struct sim_schema_at *at, const json_t *path, size_t index);
static bool type_is_right(const struct sim_schema_at *at);
static const char *type_of(const json_t *value);
static const json_t *old_item(const json_t *schema, const json_t *old, const json_t *item);
static bool same_keys(const json_t *keys, const json_t *a, const json_t *b);
static json_t *keys_of(const json_t *item, const json_t *keys);
static bool has_rules(const json_t *schema);
static bool is_blocking(const json_t *errors);

void
sim_schema_check(json_t *errors, const struct sim_resource *r, const json_t *object, const json_t *old,
    bool status_only)
{
	struct sim_schema_at at = { .errors = errors, .path = "", .schema = r->schema, .value = object };
	const size_t before = json_array_size(errors);

	if (r->builtin || r->schema == NULL)
		return;
	if (status_only) {
		at.path = "status";
		at.skip = strlen("status.");
		at.schema = sim_schema_member(r->schema, "status", false);
		at.value = json_object_get(object, "status");
		old = json_object_get(old, "status");
	}
	if (at.value != NULL && at.schema != NULL)
		sim_schema_check_at(&at, old);
	if (json_array_size(errors) > before && is_blocking(errors) && has_rules(r->schema))
		sim_field_error(errors, FIELD_INVALID, "<nil>", NULL,
		    "some validation rules were not checked because the object was invalid; correct the "
		    "existing errors to complete validation");
}

void
sim_schema_check_value(json_t *errors, const json_t *schema, const json_t *value, const char *path)
{
	sim_schema_check_at(&(struct sim_schema_at){ .errors = errors, .path = path,
	    .skip = strlen(path), .schema = schema, .value = value }, NULL);
}

void
sim_schema_check_at(const struct sim_schema_at *at, const json_t *old)
{
	if (old != NULL && json_equal(at->value, old))
		return;
	if (json_is_null(at->value) && json_is_true(json_object_get(at->schema, "nullable")))
		return;
	if (!type_is_right(at))
		return;
	if (json_is_object(at->value))
		check_members(at, old);
	if (json_is_array(at->value))
		check_items(at, old);
	sim_schema_rules(at);

	const char *format = sim_json_text(at->schema, "format");

	if (json_is_string(at->value) && !sim_schema_format_fits(format, json_string_value(at->value))) {
		char *shown = sim_field_error_value(at->value);

		sim_field_error(at->errors, FIELD_TYPE, at->path, at->value,
		    "%s in body must be of type %s: %s",
		    at->path + at->skip, format, shown);
		free(shown);
	}
}

static void
check_members(const struct sim_schema_at *at, const json_t *old)
{
	const char *key;
	json_t *child;

	JSON_EACH(at->value, key, child) {
		const json_t *schema = sim_schema_member(at->schema, key, false);
		json_auto_t *path = sim_schema_path(at->path, key);

		if (schema != NULL)
			check_child(at, path, schema, child, json_object_get(old, key));
	}
}

static void
check_items(const struct sim_schema_at *at, const json_t *old)
{
	size_t i;
	json_t *child;

	json_array_foreach(at->value, i, child) {
		json_auto_t *path = json_sprintf("%s[%zu]", at->path, i);

		if (sim_schema_items(at->schema) != NULL)
			check_child(at, path, sim_schema_items(at->schema), child,
			    old_item(at->schema, old, child));
		check_unique(at, path, i);
	}
}

static void
check_child(const struct sim_schema_at *at, const json_t *path, const json_t *schema, const json_t *value,
    const json_t *old)
{
	struct sim_schema_at deeper = *at;

	deeper.path = json_string_value(path);
	deeper.schema = schema;
	deeper.value = value;
	sim_schema_check_at(&deeper, old);
}

/* Sets hold a value once, maps a key once. */
static void
check_unique(const struct sim_schema_at *at, const json_t *path, size_t index)
{
	const json_t *keys, *item = json_array_get(at->value, index);
	const enum sim_list_type type = sim_schema_list(at->schema, &keys);

	for (size_t i = 0; type != LIST_ATOMIC && i < index; i++) {
		const json_t *other = json_array_get(at->value, i);

		if (type == LIST_SET ? !json_equal(item, other) : !same_keys(keys, item, other))
			continue;
		json_auto_t *shown = type == LIST_SET ? json_deep_copy(item) : keys_of(item, keys);

		sim_field_error(at->errors, FIELD_DUPLICATE, json_string_value(path), shown, "%s", "");
		return;
	}
}

static bool
type_is_right(const struct sim_schema_at *at)
{
	const bool either = json_is_true(json_object_get(at->schema, "x-kubernetes-int-or-string"));
	const char *wanted = either ? "integer,string" : sim_json_text(at->schema, "type");
	const char *is = type_of(at->value);
	const bool whole = json_is_real(at->value)
	    && floor(json_real_value(at->value)) == json_real_value(at->value);

	if (*wanted == '\0' || strcmp(wanted, is) == 0
	    || (either && (json_is_integer(at->value) || json_is_string(at->value))))
		return true;
	if ((strcmp(wanted, "number") == 0 && json_is_integer(at->value))
	    || (strcmp(wanted, "integer") == 0 && whole))
		return true;
	sim_field_error_text(at->errors, FIELD_TYPE, at->path, is, "%s in body must be of type %s: \"%s\"",
	    at->path + at->skip, wanted, is);
	return false;
}

static const char *
type_of(const json_t *value)
{
	static const char *const names[] = {
		[JSON_OBJECT]	= "object",
		[JSON_ARRAY]	= "array",
		[JSON_STRING]	= "string",
		[JSON_INTEGER]	= "integer",
		[JSON_REAL]	= "number",
		[JSON_TRUE]	= "boolean",
		[JSON_FALSE]	= "boolean",
		[JSON_NULL]	= "null",
	};

	return names[json_typeof(value)];
}

/* The item it was before; only the items of a map have such an identity. */
static const json_t *
old_item(const json_t *schema, const json_t *old, const json_t *item)
{
	const json_t *keys;
	size_t i;
	json_t *before;

	if (sim_schema_list(schema, &keys) != LIST_MAP)
		return NULL;
	json_array_foreach(old, i, before)
		if (same_keys(keys, before, item))
			return before;
	return NULL;
}

static bool
same_keys(const json_t *keys, const json_t *a, const json_t *b)
{
	size_t i;
	json_t *key;

	json_array_foreach(keys, i, key)
		if (!same_member(a, b, json_string_value(key)))
			return false;
	return json_array_size(keys) > 0;
}

/* The keys of an item of a map and their values, in the order in which Go prints a map. */
static json_t *
keys_of(const json_t *item, const json_t *keys)
{
	json_auto_t *unsorted = json_object();
	size_t i;
	json_t *key;

	json_array_foreach(keys, i, key)
		take_member(unsorted, item, json_string_value(key));
	char *text = json_dumps(unsorted, JSON_SORT_KEYS);
	json_t *shown = json_loads(text, 0, NULL);

	free(text);
	return shown;
}

static bool
has_rules(const json_t *schema)
{
	const char *key;
	json_t *child;

	if (json_object_get(schema, "x-kubernetes-validations") != NULL)
		return true;
	JSON_EACH(json_object_get(schema, "properties"), key, child)
		if (has_rules(child))
			return true;
	return (sim_schema_items(schema) != NULL && has_rules(sim_schema_items(schema)))
	    || (json_is_object(json_object_get(schema, "additionalProperties"))
	    && has_rules(json_object_get(schema, "additionalProperties")));
}

/* Flaws after which the real server does not try its rules. */
static bool
is_blocking(const json_t *errors)
{
	static const char *const reasons[] = {
		"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany",
		"FieldValueTypeInvalid",
	};
	size_t i;
	json_t *cause;

	json_array_foreach(errors, i, cause)
		for (size_t k = 0; k < NITEMS(reasons); k++)
			if (is_text(json_object_get(cause, "reason"), reasons[k]))
				return true;
	return false;
}
