/* sim/kube/patch/sim_apply_check.c - whether what is applied can be seen through its schema at all. */
#include <stdarg.h>
#include <stdio.h>
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
static char *item_element(const char *name);
static bool is_mismatch(const json_t *schema, const json_t *value, const char *path, json_t *errors);
static bool fits(const char *type, const json_t *value);
static void add(json_t *errors, const char *format, ...) __attribute__((format(printf, 2, 3)));
static char *errors_text(const json_t *errors);

json_t *
sim_apply_check(const struct sim_write_params *a, const json_t *config)
{
	json_t *errors = json_array(), *status = NULL;
	const char *version = sim_json_text(config, "apiVersion");

	if (sim_schema_of(a->resource) != NULL)
		check(sim_schema_of(a->resource), true, config, "", errors);
	if (json_array_size(errors) > 0) {
		char *list = errors_text(errors), *message;

		MUST(asprintf(&message, "failed to create typed patch object (%s/%s; %s%s, Kind=%s): %s",
		    meta_text(config, "namespace"), meta_text(config, "name"),
		    strchr(version, '/') == NULL ? "/" : "", version, sim_json_text(config, "kind"),
		    list) > 0);
		status = sim_semantics_failure(500, "", message, NULL, "", NULL);
		free(message);
		free(list);
	}
	json_decref(errors);
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
		char *deeper;

		MUST(asprintf(&deeper, "%s.%s", path, key) > 0);
		if (member != NULL)
			check(member, false, child, deeper, errors);
		else if (!sim_schema_keeps_unknown(schema)
		    && !json_is_true(json_object_get(schema, "additionalProperties")))
			add(errors, "%s: field not declared in schema", deeper);
		free(deeper);
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
		char *name = atomic ? NULL : sim_walk_item_name(schema, item), *element, *deeper;

		if (!atomic)
			check_item_name(schema, value, i, path, errors);
		if (name != NULL)
			element = item_element(name);
		else
			MUST(asprintf(&element, "[%zu]", i) > 0);
		MUST(asprintf(&deeper, "%s%s", path, element) > 0);
		check(sim_schema_items(schema), false, item, deeper, errors);
		free(deeper);
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
			char *element = item_element(name);

			add(errors, "%s: duplicate entries for key %s", path, element);
			free(element);
			break;
		}
	}
	free(name);
}

/* "[id=\"a\"]": the element as in the path of a set. */
static char *
item_element(const char *name)
{
	json_t *set = NULL, *node = NULL;

	sim_fieldset_mark(&node);
	sim_fieldset_put(&set, name, node);
	json_t *paths = sim_fieldset_paths(set);
	char *element = obj_strdup(json_string_value(json_array_get(paths, 0)));

	json_decref(paths);
	json_decref(set);
	return element;
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
	char *text;

	va_start(args, format);
	MUST(vasprintf(&text, format, args) >= 0);
	va_end(args);
	json_array_append_new(errors, json_string(text));
	free(text);
}

/* Several are listed in order, each on its line. */
static char *
errors_text(const json_t *errors)
{
	const size_t n = json_array_size(errors);
	const char **lines = obj_alloc((n + 1) * sizeof(*lines));
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	MUST(out != NULL);
	for (size_t i = 0; i < n; i++)
		lines[i] = json_string_value(json_array_get(errors, i));
	qsort(lines, n, sizeof(*lines), sim_json_compare_texts);
	if (n > 1)
		fputs("errors:", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s", n > 1 ? "\n  " : "", lines[i]);
	fclose(out);
	free(lines);
	return text;
}
