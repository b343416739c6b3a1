/* sim/kube/patch/sim_fieldset.c - sets of fields as tries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/semantics/sim_field_errors.h"
#include "sim_fieldset.h"

#define SELF	"."

static bool is_node_name(const char *name);
static void collect_paths(const json_t *set, const char *path, json_t *paths);
static char *element_text(const char *name);
static int by_name(const void *a, const void *b);

json_t *
sim_fieldset_read(const json_t *fields)
{
	json_t *set = json_object();
	const char *name;
	json_t *child;

	if (!json_is_object(fields)) {
		json_decref(set);
		return NULL;
	}
	JSON_EACH(fields, name, child) {
		if (strcmp(name, SELF) == 0) {
			json_object_set_new(set, SELF, json_object());
			continue;
		}
		json_t *below = is_node_name(name) ? sim_fieldset_read(child) : NULL;

		if (below == NULL) {
			json_decref(set);
			return NULL;
		}
		if (json_object_size(below) == 0)
			json_object_set_new(below, SELF, json_object());
		json_object_set_new(set, name, below);
	}
	return set;
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

static bool
is_node_name(const char *name)
{
	return strlen(name) >= 2 && strchr("fkvi", name[0]) != NULL && name[1] == ':';
}

/* Members of a node come before what is below it; names in order. */
static void
collect_paths(const json_t *set, const char *path, json_t *paths)
{
	const size_t n = json_object_size(set);
	const char **names = obj_alloc((n + 1) * sizeof(*names));
	size_t i = 0;
	const char *name;
	json_t *child;

	JSON_EACH(set, name, child)
		names[i++] = name;
	qsort(names, n, sizeof(*names), by_name);
	for (int below = 0; below <= 1; below++) {
		for (i = 0; i < n; i++) {
			char *element, *deeper;

			if (strcmp(names[i], SELF) == 0)
				continue;
			child = json_object_get(set, names[i]);
			element = element_text(names[i]);
			MUST(asprintf(&deeper, "%s%s", path, element) > 0);
			if (below == 1)
				collect_paths(child, deeper, paths);
			else if (sim_fieldset_has(child))
				json_array_append_new(paths, json_string(deeper));
			free(deeper);
			free(element);
		}
	}
	free(names);
}

/* ".name", "[key=value,...]", "[=value]". */
static char *
element_text(const char *name)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *json = json_loads(name + 2, JSON_DECODE_ANY, NULL);
	const char *key, *between = "";
	json_t *value;

	MUST(out != NULL);
	if (name[0] == 'f') {
		fprintf(out, ".%s", name + 2);
	} else if (name[0] == 'k') {
		fputc('[', out);
		JSON_EACH(json, key, value) {
			char *shown = sim_field_error_value(value);

			fprintf(out, "%s%s=%s", between, key, shown);
			between = ",";
			free(shown);
		}
		fputc(']', out);
	} else {
		char *shown = json == NULL ? obj_strdup(name + 2) : sim_field_error_value(json);

		fprintf(out, "[%s%s]", name[0] == 'v' ? "=" : "", shown);
		free(shown);
	}
	fclose(out);
	json_decref(json);
	return text;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}
