/* sim/kube/patch/sim_fieldset.c - sets of fields as tries. */
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim/kube/semantics/sim_field_errors.h"
#include "sim_fieldset.h"

#define SELF	"."

static bool is_node_name(const char *name);
static void collect_paths(const json_t *set, const char *path, json_t *paths);

json_t *
sim_fieldset_read(const json_t *fields)
{
	json_auto_t *set = json_object();
	const char *name;
	json_t *child;

	if (!json_is_object(fields))
		return NULL;
	JSON_EACH(fields, name, child) {
		if (strcmp(name, SELF) == 0) {
			json_object_set_new(set, SELF, json_object());
			continue;
		}
		json_t *below = is_node_name(name) ? sim_fieldset_read(child) : NULL;

		if (below == NULL)
			return NULL;
		if (json_object_size(below) == 0)
			json_object_set_new(below, SELF, json_object());
		json_object_set_new(set, name, below);
	}
	return json_incref(set);
}

json_t *
sim_fieldset_write(const json_t *set)
{
	json_t *fields = json_object();
	const char *name;
	json_t *child;

	if (sim_fieldset_has(set) && json_object_size(set) > 1)
		json_object_set_new(fields, SELF, json_object());
	JSON_EACH(set, name, child)
		if (strcmp(name, SELF) != 0)
			json_object_set_new(fields, name, sim_fieldset_write(child));
	return fields;
}

bool
sim_fieldset_is_empty(const json_t *set)
{
	return json_object_size(set) == 0;
}

bool
sim_fieldset_has(const json_t *set)
{
	return json_object_get(set, SELF) != NULL;
}

void
sim_fieldset_mark(json_t **set)
{
	if (*set == NULL)
		*set = json_object();
	json_object_set_new(*set, SELF, json_object());
}

void
sim_fieldset_put(json_t **set, const char *name, json_t *child)
{
	if (sim_fieldset_is_empty(child)) {
		json_decref(child);
		return;
	}
	if (*set == NULL)
		*set = json_object();
	json_object_set_new(*set, name, child);
}

json_t *
sim_fieldset_union(const json_t *a, const json_t *b)
{
	json_t *set = a == NULL && b == NULL ? NULL : json_object();
	const char *name;
	json_t *child;

	JSON_EACH(a, name, child)
		json_object_set_new(set, name, sim_fieldset_union(child, json_object_get(b, name)));
	JSON_EACH(b, name, child)
		if (json_object_get(a, name) == NULL)
			json_object_set_new(set, name, sim_fieldset_union(child, NULL));
	return set;
}

json_t *
sim_fieldset_intersection(const json_t *a, const json_t *b)
{
	json_t *set = NULL;
	const char *name;
	json_t *child;

	if (sim_fieldset_has(a) && sim_fieldset_has(b))
		sim_fieldset_mark(&set);
	JSON_EACH(a, name, child)
		if (strcmp(name, SELF) != 0 && json_object_get(b, name) != NULL)
			sim_fieldset_put(&set, name,
			    sim_fieldset_intersection(child, json_object_get(b, name)));
	return set;
}

json_t *
sim_fieldset_difference(const json_t *a, const json_t *b)
{
	json_t *set = NULL;
	const char *name;
	json_t *child;

	if (sim_fieldset_has(a) && !sim_fieldset_has(b))
		sim_fieldset_mark(&set);
	JSON_EACH(a, name, child)
		if (strcmp(name, SELF) != 0)
			sim_fieldset_put(&set, name,
			    sim_fieldset_difference(child, json_object_get(b, name)));
	return set;
}

json_t *
sim_fieldset_without(const json_t *a, const json_t *b)
{
	json_t *set = NULL;
	const char *name;
	json_t *child;

	if (sim_fieldset_has(a))
		sim_fieldset_mark(&set);
	JSON_EACH(a, name, child)
		if (strcmp(name, SELF) != 0 && !sim_fieldset_has(json_object_get(b, name)))
			sim_fieldset_put(&set, name, sim_fieldset_without(child, json_object_get(b, name)));
	return set;
}

json_t *
sim_fieldset_paths(const json_t *set)
{
	json_t *paths = json_array();

	collect_paths(set, "", paths);
	return paths;
}

char *
sim_fieldset_element(const char *name)
{
	json_auto_t *json = json_loads(name + 2, JSON_DECODE_ANY, NULL);
	struct sim_buf text = { 0 };
	const char *key;
	json_t *value;

	if (name[0] == 'f') {
		sim_buf_printf(&text, ".%s", name + 2);
	} else if (name[0] == 'k') {
		JSON_EACH(json, key, value) {
			char *shown = sim_field_error_value(value);

			sim_buf_printf(&text, "%s%s=%s", text.len == 0 ? "[" : ",", key, shown);
			free(shown);
		}
		sim_buf_puts(&text, text.len == 0 ? "[]" : "]");
	} else {
		char *shown = json == NULL ? obj_strdup(name + 2) : sim_field_error_value(json);

		sim_buf_printf(&text, "[%s%s]", name[0] == 'v' ? "=" : "", shown);
		free(shown);
	}
	return text.bytes;
}

static bool
is_node_name(const char *name)
{
	return strlen(name) >= 2 && strchr("fkvi", name[0]) != NULL && name[1] == ':';
}

/* Members of a node come before what is below it; names in order. */
static void
collect_paths(const json_t *set, const char *path, json_t *paths)
{
	const char **names;
	const size_t n = sim_schema_keys(NULL, set, &names);

	for (int below = 0; below <= 1; below++) {
		for (size_t i = 0; i < n; i++) {
			if (strcmp(names[i], SELF) == 0)
				continue;
			const json_t *child = json_object_get(set, names[i]);
			char *element = sim_fieldset_element(names[i]);
			json_auto_t *deeper = json_sprintf("%s%s", path, element);

			if (below == 1)
				collect_paths(child, json_string_value(deeper), paths);
			else if (sim_fieldset_has(child))
				json_array_append(paths, deeper);
			free(element);
		}
	}
	free(names);
}
