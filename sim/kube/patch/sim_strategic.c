/*
 * sim/kube/patch/sim_strategic.c - strategic merge patch.
 *
 * Objects are merged member by member, null removes. A list is replaced, unless its field has a
 * merge strategy: then objects in it are found by the merge key and merged, and values are added.
 * The order of a merged list is that of the patch for what the patch names, and that of the server
 * for the rest; what is only in the patch comes first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim/kube/semantics/sim_field_errors.h"
#include "sim/kube/semantics/sim_semantics_rules.h"
#include "sim_strategic.h"

#define DIRECTIVE	"$patch"
#define RETAIN		"$retainKeys"
#define DELETE_FROM	"$deleteFromPrimitiveList/"
#define SET_ORDER	"$setElementOrder/"

/* How the list of one field is merged. */
struct strategic_list_rule {
	const json_t	*items;		/* schema */
	bool		 merged;
	const char	*key;		/* "": of values */
};

static bool retain(json_t *object, const json_t *patch, json_t **status);
static bool merge_ordered(const json_t *schema, json_t *object, const json_t *patch, json_t **status);
static bool merge_member(const json_t *schema, json_t *object, const char *key, const json_t *value,
    json_t **status);
static json_t *merge_list(const struct strategic_list_rule *rule, const json_t *target, const json_t *patch,
    json_t **status);
static json_t *merge_objects(const struct strategic_list_rule *rule, const json_t *target,
    const json_t *patch, json_t **status);
static json_t *merge_values(const json_t *target, const json_t *patch);
static json_t *ordered(const json_t *merged, const json_t *wanted, const json_t *server, const char *key);
static json_t *picked(const json_t *from, const json_t *order, const char *key, const json_t *except);
static ssize_t index_of(const json_t *list, const json_t *item, const char *key);
static struct strategic_list_rule rule_of(const json_t *schema, const char *field);
static json_t *without_directives(const json_t *value);
static json_t *refuse(json_t **status, const char *first, const json_t *a, const char *second,
    const json_t *b);
static bool has_prefix(const char *text, const char *prefix);

json_t *
sim_strategic_merge(const json_t *schema, const json_t *target, const json_t *patch, json_t **status)
{
	const json_t *directive = json_object_get(patch, DIRECTIVE);
	const char *key;
	json_t *value;

	if (is_text(directive, "replace"))
		return without_directives(patch);
	if (is_text(directive, "delete"))
		return json_object();
	if (directive != NULL && !is_text(directive, "merge"))
		return refuse(status, "unknown patch type: ", directive, " in map: ", patch);

	json_auto_t *object = json_deep_copy(target);
	bool ok = retain(object, patch, status) && merge_ordered(schema, object, patch, status);

	JSON_EACH(patch, key, value) {
		char order[128];

		snprintf(order, sizeof(order), SET_ORDER "%s", key);
		if (key[0] == '$' && !has_prefix(key, DELETE_FROM))
			continue;
		if (ok && json_object_get(patch, order) == NULL)
			ok = merge_member(schema, object, key, value, status);
	}
	return ok ? json_incref(object) : NULL;
}

/* $retainKeys: what is not in the list goes. */
static bool
retain(json_t *object, const json_t *patch, json_t **status)
{
	const json_t *keys = json_object_get(patch, RETAIN);
	const char *key;
	void *next;
	json_t *value;

	if (keys == NULL)
		return true;
	if (!json_is_array(keys)) {
		*status = sim_status_bad_request("invalid patch format of retainKeys");
		return false;
	}
	json_object_foreach_safe(object, next, key, value)
		if (!has_text(keys, key))
			json_object_del(object, key);
	return true;
}

/* Lists whose order the patch sets ($setElementOrder/NAME). */
static bool
merge_ordered(const json_t *schema, json_t *object, const json_t *patch, json_t **status)
{
	const char *key;
	json_t *order;

	JSON_EACH(patch, key, order) {
		if (!has_prefix(key, SET_ORDER))
			continue;
		if (!json_is_array(order)) {
			*status = sim_status_bad_request("invalid patch format of setElementOrder list");
			return false;
		}
		const char *field = key + strlen(SET_ORDER);
		const struct strategic_list_rule rule = rule_of(schema, field);
		const json_t *had = json_object_get(object, field), *sent = json_object_get(patch, field);

		if (had == NULL && sent == NULL)
			continue;
		json_auto_t *merged = sent == NULL ? json_deep_copy(had)
		    : had == NULL || !rule.merged ? without_directives(sent)
		    : merge_list(&rule, had, sent, status);

		if (merged == NULL)
			return false;
		json_object_set_new(object, field, ordered(merged, order, had, rule.key));
	}
	return true;
}

static bool
merge_member(const json_t *schema, json_t *object, const char *key, const json_t *value, json_t **status)
{
	const bool deletes = has_prefix(key, DELETE_FROM);
	const char *field = deletes ? key + strlen(DELETE_FROM) : key;
	const json_t *had = json_object_get(object, field);
	const json_t *member = sim_schema_member(schema, field, false);
	json_t *merged;

	if (json_is_null(value)) {
		json_object_del(object, field);
		return true;
	}
	if (deletes) {
		json_t *kept = had == NULL ? NULL : picked(had, had, "", value);

		if (kept != NULL)
			json_object_set_new(object, field, kept);
		return true;
	}

	const struct strategic_list_rule rule = rule_of(schema, field);
	const bool replaced = strcmp(sim_json_text(member, "x-kubernetes-patch-strategy"), "replace") == 0;

	if (json_is_object(had) && json_is_object(value) && !replaced)
		merged = sim_strategic_merge(member, had, value, status);
	else if (json_is_array(had) && json_is_array(value) && rule.merged)
		merged = merge_list(&rule, had, value, status);
	else
		merged = without_directives(value);
	if (merged != NULL)
		json_object_set_new(object, field, merged);
	return merged != NULL;
}

static json_t *
merge_list(const struct strategic_list_rule *rule, const json_t *target, const json_t *patch, json_t **status)
{
	const json_t *first = json_array_get(json_array_size(patch) > 0 ? patch : target, 0);

	if (sim_json_find(patch, DIRECTIVE, "replace") != NULL)
		return without_directives(patch);
	json_auto_t *merged = json_is_object(first) ? merge_objects(rule, target, patch, status)
	    : merge_values(target, patch);

	return merged == NULL ? NULL
	    : ordered(merged, patch, target, json_is_object(first) ? rule->key : "");
}

static json_t *
merge_objects(const struct strategic_list_rule *rule, const json_t *target, const json_t *patch,
    json_t **status)
{
	json_auto_t *merged = json_deep_copy(target);
	json_t *item;
	size_t i;

	json_array_foreach(patch, i, item) {
		const ssize_t at = index_of(merged, item, rule->key);

		if (*rule->key == '\0' || json_object_get(item, rule->key) == NULL) {
			json_auto_t *key = json_string(rule->key);

			return refuse(status, "map: ", item, " does not contain declared merge key: ", key);
		}
		if (is_text(json_object_get(item, DIRECTIVE), "delete")) {
			for (ssize_t k = at; k >= 0; k = index_of(merged, item, rule->key))
				json_array_remove(merged, (size_t)k);
			continue;
		}
		json_t *one = at < 0 ? without_directives(item)
		    : sim_strategic_merge(rule->items, json_array_get(merged, (size_t)at), item, status);

		if (one == NULL)
			return NULL;
		if (at < 0)
			json_array_append_new(merged, one);
		else
			json_array_set_new(merged, (size_t)at, one);
	}
	return json_incref(merged);
}

/* Each value once. */
static json_t *
merge_values(const json_t *target, const json_t *patch)
{
	const json_t *const both[] = { target, patch };
	json_t *merged = json_array(), *value;
	size_t i;

	for (size_t k = 0; k < NITEMS(both); k++)
		json_array_foreach(both[k], i, value)
			if (index_of(merged, value, "") < 0)
				json_array_append_new(merged, json_deep_copy(value));
	return merged;
}

/*
 * What `wanted` names in its order, and the rest in the server's. Of one of each, the server's
 * stands first only when the server had both and had it first.
 */
static json_t *
ordered(const json_t *merged, const json_t *wanted, const json_t *server, const char *key)
{
	json_auto_t *named = picked(merged, wanted, key, NULL), *others = picked(merged, server, key, wanted);
	json_t *result = json_array();
	size_t i = 0, k = 0;

	while (i < json_array_size(others) || k < json_array_size(named)) {
		const json_t *other = json_array_get(others, i), *name = json_array_get(named, k);
		const ssize_t a = index_of(server, other, key), b = index_of(server, name, key);
		const bool server_first = name == NULL || (other != NULL && a >= 0 && b >= 0 && a < b);

		json_array_append(result,
		    server_first ? json_array_get(others, i) : json_array_get(named, k));
		i += server_first;
		k += !server_first;
	}
	return result;
}

/*
 * The items of `from` in the order that `order` has them, then those it does not name; without
 * those of `except`.
 */
static json_t *
picked(const json_t *from, const json_t *order, const char *key, const json_t *except)
{
	json_t *result = json_array(), *item;
	const bool all = except != NULL;
	size_t i;

	json_array_foreach(order, i, item) {
		const ssize_t at = index_of(from, item, key);

		if (at >= 0 && index_of(except, item, key) < 0 && index_of(result, item, key) < 0)
			json_array_append(result, json_array_get(from, (size_t)at));
	}
	json_array_foreach(from, i, item)
		if (all && index_of(except, item, key) < 0 && index_of(result, item, key) < 0)
			json_array_append(result, item);
	return result;
}

/* -1: not in the list. By the value of the key, or as a whole where the key is "". */
static ssize_t
index_of(const json_t *list, const json_t *item, const char *key)
{
	size_t i;
	json_t *other;

	json_array_foreach(list, i, other) {
		const bool same = *key == '\0' ? json_equal(other, item)
		    : json_object_get(item, key) != NULL && same_member(other, item, key);

		if (item != NULL && same)
			return (ssize_t)i;
	}
	return -1;
}

static struct strategic_list_rule
rule_of(const json_t *schema, const char *field)
{
	const json_t *member = sim_schema_member(schema, field, false);

	return (struct strategic_list_rule){
		.items = sim_schema_items(member),
		.merged = has_prefix(sim_json_text(member, "x-kubernetes-patch-strategy"), "merge"),
		.key = sim_json_text(member, "x-kubernetes-patch-merge-key"),
	};
}

/* What the patch brings new: its directives are obeyed by being left out, nulls mean nothing. */
static json_t *
without_directives(const json_t *value)
{
	json_t *plain, *child;
	const char *key;
	size_t i;

	if (json_is_object(value)) {
		plain = json_object();
		JSON_EACH(value, key, child)
			if (key[0] != '$' && !json_is_null(child))
				json_object_set_new(plain, key, without_directives(child));
		return plain;
	}
	if (json_is_array(value)) {
		plain = json_array();
		json_array_foreach(value, i, child)
			if (json_object_get(child, DIRECTIVE) == NULL)
				json_array_append_new(plain, without_directives(child));
		return plain;
	}
	return json_deep_copy(value);
}

/* 500, as the real one: it takes such a patch for a fault of its own. */
static json_t *
refuse(json_t **status, const char *first, const json_t *a, const char *second, const json_t *b)
{
	char *shown_a = sim_go_format(a), *shown_b = sim_go_format(b);

	*status = sim_semantics_failure(500, "", "%s%s%s%s", first, shown_a, second, shown_b);
	free(shown_b);
	free(shown_a);
	return NULL;
}

static bool
has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}
