/* sim/kube/patch/sim_apply_managers.c - metadata.managedFields, read and written. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/semantics/sim_semantics_rules.h"
#include "sim_apply_managers.h"
#include "sim_fieldset.h"

enum { UPDATERS_MAX = 10, MANAGER_MAX = 128 };

static json_t *key_of(const json_t *entry);
static json_t *entry_of(const struct sim_write_params *a, const char *operation);
static json_t *name_of(const struct sim_write_params *a);
static bool makes_sense(const json_t *entry);
static int by_age(const void *a, const void *b);
static void put_together(json_t *managers, const json_t *older, const json_t *younger);
static const json_t **updaters_by_age(const json_t *managers, size_t *n);

json_t *
sim_managers_read(const json_t *entries)
{
	json_t *managers = json_object(), *entry;
	size_t i;

	json_array_foreach(entries, i, entry) {
		json_t *set = makes_sense(entry)
		    ? sim_fieldset_read(json_object_get(entry, "fieldsV1")) : NULL;

		if (set == NULL) {
			json_object_clear(managers);
			break;
		}
		json_t *known = json_copy(entry);
		json_auto_t *key = key_of(entry);

		json_object_del(known, "fieldsV1");
		json_object_set_new(known, "set", set);
		json_object_set_new(managers, json_string_value(key), known);
	}
	return managers;
}

void
sim_managers_store(json_t *object, const json_t *managers)
{
	const size_t n = json_object_size(managers);
	const json_t **sorted = obj_alloc((n + 1) * sizeof(*sorted));
	json_auto_t *entries = json_array();
	const char *key;
	json_t *entry;
	size_t i = 0;

	JSON_EACH(managers, key, entry)
		sorted[i++] = entry;
	qsort(sorted, n, sizeof(*sorted), by_age);
	for (i = 0; i < n; i++) {
		entry = json_copy((json_t *)(uintptr_t)sorted[i]);
		json_object_set_new(entry, "fieldsV1", sim_fieldset_write(json_object_get(entry, "set")));
		json_object_del(entry, "set");
		json_array_append_new(entries, entry);
	}
	free(sorted);
	if (n == 0)
		json_object_del(sim_metadata_of(object), "managedFields");
	else
		json_object_set(sim_metadata_of(object), "managedFields", entries);
}

json_t *
sim_managers_key(const struct sim_write_params *a, const char *operation)
{
	json_auto_t *entry = entry_of(a, operation);

	return key_of(entry);
}

const json_t *
sim_managers_set(const json_t *managers, const json_t *key)
{
	return json_object_get(json_object_get(managers, json_string_value(key)), "set");
}

void
sim_managers_assign(json_t *managers, const struct sim_write_params *a, const char *operation,
    json_t *set, const char *now)
{
	json_auto_t *entry = entry_of(a, operation), *key = key_of(entry);
	json_t *time = json_object_get(json_object_get(managers, json_string_value(key)), "time");

	if (now != NULL)
		json_object_set_new(entry, "time", json_string(now));
	else if (time != NULL)
		json_object_set(entry, "time", time);
	if (sim_fieldset_is_empty(set)) {
		json_decref(set);
		json_object_del(managers, json_string_value(key));
	} else {
		json_object_set_new(entry, "set", set);
		json_object_set(managers, json_string_value(key), entry);
	}
}

void
sim_managers_remove(json_t *managers, const json_t *set, const json_t *except)
{
	const char *key;
	void *next;
	json_t *entry;

	json_object_foreach_safe(managers, next, key, entry) {
		if (is_text(except, key))
			continue;
		json_t *left = sim_fieldset_difference(json_object_get(entry, "set"), set);

		if (sim_fieldset_is_empty(left)) {
			json_decref(left);
			json_object_del(managers, key);
		} else {
			json_object_set_new(entry, "set", left);
		}
	}
}

void
sim_managers_cap(json_t *managers)
{
	size_t n;
	const json_t **oldest = updaters_by_age(managers, &n);

	while (n > UPDATERS_MAX) {
		put_together(managers, oldest[0], oldest[1]);
		free(oldest);
		oldest = updaters_by_age(managers, &n);
	}
	free(oldest);
}

/* The real server does so version by version; here the younger one's version is taken for both. */
static void
put_together(json_t *managers, const json_t *older, const json_t *younger)
{
	json_t *one = json_pack("{s:s, s:s, s:O, s:s, s:O*}", "manager", "ancient-changes", "operation",
	    "Update", "apiVersion", json_object_get(younger, "apiVersion"), "fieldsType", "FieldsV1",
	    "time", json_object_get(younger, "time"));
	json_auto_t *first = key_of(older), *second = key_of(younger), *key = key_of(one);

	json_object_set_new(one, "set", sim_fieldset_union(json_object_get(older, "set"),
	    json_object_get(younger, "set")));
	json_object_del(managers, json_string_value(first));
	json_object_del(managers, json_string_value(second));
	json_object_set_new(managers, json_string_value(key), one);
}

/* manager, operation, subresource and apiVersion in one text; who applies has no version. */
static json_t *
key_of(const json_t *entry)
{
	const char *operation = sim_json_text(entry, "operation");

	return json_sprintf("%s\n%s\n%s\n%s", sim_json_text(entry, "manager"), operation,
	    sim_json_text(entry, "subresource"), strcmp(operation, "Apply") == 0 ? ""
	    : sim_json_text(entry, "apiVersion"));
}

static json_t *
entry_of(const struct sim_write_params *a, const char *operation)
{
	char version[256];
	json_t *entry = json_pack("{s:s, s:s, s:s}", "apiVersion",
	    sim_resource_api_version(a->resource, version, sizeof(version)), "fieldsType", "FieldsV1",
	    "operation", operation);

	json_object_set_new(entry, "manager", name_of(a));
	if (*a->subresource != '\0')
		json_object_set_new(entry, "subresource", json_string(a->subresource));
	return entry;
}

/* The user agent up to its first slash, as far as it can be printed. */
static json_t *
name_of(const struct sim_write_params *a)
{
	char name[MANAGER_MAX + 1];
	size_t n = 0;

	if (*a->field_manager != '\0')
		return json_string(a->field_manager);
	for (const char *p = a->user_agent; *p != '\0' && *p != '/' && n < MANAGER_MAX; p++)
		if (isprint((unsigned char)*p))
			name[n++] = *p;
	return n == 0 ? json_string("unknown") : json_stringn(name, n);
}

static bool
makes_sense(const json_t *entry)
{
	const char *operation = sim_json_text(entry, "operation");

	return (strcmp(operation, "Apply") == 0 || strcmp(operation, "Update") == 0)
	    && *sim_json_text(entry, "apiVersion") != '\0' && strcmp(sim_json_text(entry, "fieldsType"),
	    "FieldsV1") == 0;
}

/* Who applies comes first; then by time, manager, version, subresource. */
static int
by_age(const void *a, const void *b)
{
	static const char *const keys[] = { "operation", "time", "manager", "apiVersion", "subresource" };
	const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
	int order = 0;

	for (size_t i = 0; i < NITEMS(keys) && order == 0; i++)
		order = strcmp(sim_json_text(x, keys[i]), sim_json_text(y, keys[i]));
	return order;
}

/* Free it, not what it points to. */
static const json_t **
updaters_by_age(const json_t *managers, size_t *n)
{
	const json_t **updaters = obj_alloc((json_object_size(managers) + 1) * sizeof(*updaters));
	const char *key;
	json_t *entry;

	*n = 0;
	JSON_EACH(managers, key, entry)
		if (strcmp(sim_json_text(entry, "operation"), "Update") == 0)
			updaters[(*n)++] = entry;
	qsort(updaters, *n, sizeof(*updaters), by_age);
	return updaters;
}
