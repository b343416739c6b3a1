/* sim/kube/patch/sim_apply_check.c - whether what is applied can be seen through its schema at all. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim/kube/semantics/sim_field_errors.h"
#include "sim_apply.h"
#include "sim_apply_walk.h"

static void check(const json_t *schema, bool whole, const json_t *value, const char *path, json_t *errors);
static void check_members(const json_t *schema, bool whole, const json_t *value, const char *path,
    json_t *errors);
static void check_items(const json_t *schema, const json_t *value, const char *path, json_t *errors);
static void check_item_name(const json_t *schema, const json_t *list, size_t index, const char *path,
    json_t *errors);
static bool is_mismatch(const json_t *schema, const json_t *value, const char *path, json_t *errors);
static bool fits(const char *type, const json_t *value);
static void add(json_t *errors, const char *format, ...) __attribute__((format(printf, 2, 3)));
static char *errors_text(const json_t *errors);

json_t *
sim_apply_check(const struct sim_write_params *a, const json_t *config)
{
	json_auto_t *errors = json_array();
	const char *version = sim_json_text(config, "apiVersion");

	if (sim_schema_of(a->resource) != NULL)
		check(sim_schema_of(a->resource), true, config, "", errors);
	if (json_array_size(errors) == 0)
		return NULL;
	char *list = errors_text(errors);
	json_t *status = sim_semantics_failure(500, "",
	    "failed to create typed patch object (%s/%s; %s%s, Kind=%s): %s", meta_text(config, "namespace"),
	    meta_text(config, "name"), strchr(version, '/') == NULL ? "/" : "", version,
	    sim_json_text(config, "kind"), list);

	free(list);
	return status;
}

static void
check(const json_t *schema, bool whole, const json_t *value, const char *path, json_t *errors)
{
	schema = sim_schema_follow(schema);
	if (schema == NULL || json_is_null(value))
		return;

	if (is_mismatch(schema, value, path, errors))
		return;
	if (json_is_object(value))
		check_members(schema, whole, value, path, errors);
	else if (json_is_array(value))
		check_items(schema, value, path, errors);
}

static void
check_members(const json_t *schema, bool whole, const json_t *value, const char *path, json_t *errors)
{
	const char *key;
	json_t *child;

	JSON_EACH(value, key, child) {
		const json_t *member = sim_schema_member(schema, key, whole);
		json_auto_t *deeper = json_sprintf("%s.%s", path, key);

		if (member != NULL)
			check(member, false, child, json_string_value(deeper), errors);
		else if (!sim_schema_keeps_unknown(schema)
		    && !json_is_true(json_object_get(schema, "additionalProperties")))
			add(errors, "%s.%s: field not declared in schema", path, key);
	}
}

static void
check_items(const json_t *schema, const json_t *value, const char *path, json_t *errors)
{
	const json_t *keys;
	const bool atomic = sim_schema_list(schema, &keys) == LIST_ATOMIC;
	size_t i;
	json_t *item;

	json_array_foreach(value, i, item) {
		char *name = atomic ? NULL : sim_walk_item_name(schema, item);
		char *element = name == NULL ? NULL : sim_fieldset_element(name);
		json_auto_t *deeper = element != NULL ? json_sprintf("%s%s", path, element)
		    : json_sprintf("%s[%zu]", path, i);

		if (!atomic)
			check_item_name(schema, value, i, path, errors);
		check(sim_schema_items(schema), false, item, json_string_value(deeper), errors);
		free(element);
		free(name);
	}
}

/* An item needs a name of its own. */
static void
check_item_name(const json_t *schema, const json_t *list, size_t index, const char *path, json_t *errors)
{
	char *name = sim_walk_item_name(schema, json_array_get(list, index));
	const json_t *keys;

	if (name == NULL) {
		sim_schema_list(schema, &keys);
		char *wanted = json_dumps(keys, 0);

		for (char *p = wanted; *p != '\0'; p++)
			*p = *p == ',' ? ' ' : *p;
		add(errors, "%s: element %zu: associative list with keys has an element that omits all "
		    "key fields %s (and doesn't have default values for any key fields)", path, index,
		    wanted);
		free(wanted);
		return;
	}
	for (size_t i = 0; i < index; i++) {
		char *other = sim_walk_item_name(schema, json_array_get(list, i));
		const bool same = other != NULL && strcmp(other, name) == 0;

		free(other);
		if (same) {
			char *element = sim_fieldset_element(name);

			add(errors, "%s: duplicate entries for key %s", path, element);
			free(element);
			break;
		}
	}
	free(name);
}

/* true: the value is of no type that the schema allows, and that is reported. */
static bool
is_mismatch(const json_t *schema, const json_t *value, const char *path, json_t *errors)
{
	static const struct {
		const char	*type, *called;
	} names[] = {
		{ "object",	"map"		},
		{ "array",	"list"		},
		{ "string",	"string"	},
		{ "boolean",	"boolean"	},
	};
	const char *type = sim_json_text(schema, "type"), *format = sim_json_text(schema, "format");
	const bool scalar = !json_is_object(value) && !json_is_array(value);
	/* A text that has a format may be any scalar here; what it must be is found out later. */
	const bool loose = *format != '\0' && strcmp(format, "byte") != 0 && strcmp(type, "string") == 0;

	if (*type == '\0' || fits(type, value) || (loose && scalar))
		return false;
	for (size_t i = 0; i < NITEMS(names); i++) {
		if (strcmp(names[i].type, type) != 0)
			continue;
		char *shown = sim_go_format(value);

		add(errors, "%s: expected %s, got &{%s}", path, names[i].called, shown);
		free(shown);
		return true;
	}
	add(errors, "%s: expected numeric (int or float)%s", path,
	    json_is_string(value) ? ", got string" : "");
	return true;
}

static bool
fits(const char *type, const json_t *value)
{
	static const char *const types[] = {
		[JSON_OBJECT]	= "object",
		[JSON_ARRAY]	= "array",
		[JSON_STRING]	= "string",
		[JSON_TRUE]	= "boolean",
		[JSON_FALSE]	= "boolean",
	};

	if (json_is_number(value))
		return strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
	return strcmp(types[json_typeof(value)], type) == 0;
}

static void
add(json_t *errors, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	json_array_append_new(errors, json_vsprintf(format, args));
	va_end(args);
}

/* Several are listed in order, each on its line. */
static char *
errors_text(const json_t *errors)
{
	const size_t n = json_array_size(errors);
	const char **lines = obj_alloc((n + 1) * sizeof(*lines));
	struct sim_buf text = { 0 };

	for (size_t i = 0; i < n; i++)
		lines[i] = json_string_value(json_array_get(errors, i));
	qsort(lines, n, sizeof(*lines), sim_json_compare_texts);
	sim_buf_puts(&text, n > 1 ? "errors:" : "");
	for (size_t i = 0; i < n; i++)
		sim_buf_printf(&text, "%s%s", n > 1 ? "\n  " : "", lines[i]);
	free(lines);
	return text.bytes;
}
