/* sim/kube/patch/sim_apply_walk.c - values seen through their schema. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim_apply_walk.h"

enum walk_shape { SHAPE_LEAF, SHAPE_MEMBERS, SHAPE_ITEMS };

/* A schema and whether it is that of a whole object. */
struct walk_value {
	const json_t	*schema;
	bool		 whole;
};

static enum walk_shape shape_of(struct walk_value v, const json_t *a, const json_t *b);
static bool is_empty(const json_t *value);
static struct walk_value member_of(struct walk_value v, const char *key);
static struct walk_value item_of(struct walk_value v);
static struct walk_value child_of(struct walk_value v, const char *name);
static json_t *fields(struct walk_value v, const json_t *value);
static void compare(struct walk_value v, const json_t *before, const json_t *after, struct sim_comparison *c);
static void compare_below(struct walk_value v, const char *name, const json_t *before, const json_t *after,
    struct sim_comparison *c);
static void compare_children(struct walk_value v, const json_t *before, const json_t *after,
    struct sim_comparison *c);
static json_t *merge(struct walk_value v, const json_t *live, const json_t *config);
static json_t *merge_members(struct walk_value v, const json_t *live, const json_t *config);
static json_t *merge_items(struct walk_value v, const json_t *live, const json_t *config);
static const char *next_shared(const json_t *old, json_t *new, void *r);
static json_t *without(struct walk_value v, const json_t *value, const json_t *set);
static json_t *named(struct walk_value v, const json_t *set);
static json_t *children(const json_t *schema, const json_t *value);
static char *member_name(const char *key);

json_t *
sim_walk_fields(const json_t *schema, const json_t *object)
{
	return fields((struct walk_value){ schema, true }, object);
}

struct sim_comparison
sim_walk_compare(const json_t *schema, const json_t *before, const json_t *after)
{
	struct sim_comparison c = { 0 };

	compare((struct walk_value){ schema, true }, before, after, &c);
	return c;
}

void
sim_comparison_free(struct sim_comparison *c)
{
	json_decref(c->removed);
	json_decref(c->modified);
	json_decref(c->added);
	*c = (struct sim_comparison){ 0 };
}

void
sim_comparison_leave_out(struct sim_comparison *c, const json_t *set)
{
	json_t **parts[] = { &c->removed, &c->modified, &c->added };

	for (size_t i = 0; i < NITEMS(parts); i++) {
		json_t *left = sim_fieldset_without(*parts[i], set);

		json_decref(*parts[i]);
		*parts[i] = left;
	}
}

json_t *
sim_walk_merge(const json_t *schema, const json_t *live, const json_t *config)
{
	return merge((struct walk_value){ schema, true }, live, config);
}

json_t *
sim_walk_remove(const json_t *schema, const json_t *object, const json_t *set)
{
	return without((struct walk_value){ schema, true }, object, set);
}

json_t *
sim_walk_named(const json_t *schema, const json_t *set)
{
	return named((struct walk_value){ schema, true }, set);
}

char *
sim_walk_item_name(const json_t *schema, const json_t *item)
{
	const json_t *keys;
	const bool is_map = sim_schema_list(schema, &keys) == LIST_MAP;
	json_auto_t *identity = is_map ? json_object() : json_incref((json_t *)(uintptr_t)item);
	char *json, *name;

	for (size_t i = 0; is_map && i < json_array_size(keys); i++) {
		const char *member = json_string_value(json_array_get(keys, i));
		json_t *value = json_object_get(item, member);

		if (value == NULL)
			value = json_object_get(sim_schema_member(sim_schema_items(schema), member, false),
			    "default");
		if (value != NULL)
			json_object_set(identity, member, value);
	}
	if (is_map && json_object_size(identity) == 0)
		return NULL;
	json = json_dumps(identity, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
	MUST(asprintf(&name, "%c:%s", json_is_object(identity) ? 'k' : 'v', json) > 0);
	free(json);
	return name;
}

/* One of the two may be NULL. Both empty: a leaf, so that empty and absent stay apart. */
static enum walk_shape
shape_of(struct walk_value v, const json_t *a, const json_t *b)
{
	const json_t *keys, *schema = sim_schema_follow(v.schema);
	const bool objects = (a == NULL || json_is_null(a) || json_is_object(a))
	    && (b == NULL || json_is_null(b) || json_is_object(b));
	const bool lists = (a == NULL || json_is_null(a) || json_is_array(a))
	    && (b == NULL || json_is_null(b) || json_is_array(b));

	if (is_empty(a) && is_empty(b))
		return SHAPE_LEAF;
	if (objects)
		return strcmp(sim_json_text(schema, "x-kubernetes-map-type"), "atomic") == 0 ? SHAPE_LEAF
		    : SHAPE_MEMBERS;
	return lists && sim_schema_list(schema, &keys) != LIST_ATOMIC ? SHAPE_ITEMS : SHAPE_LEAF;
}

static bool
is_empty(const json_t *value)
{
	return value == NULL || json_is_null(value) || (json_is_object(value) && json_object_size(value) == 0)
	    || (json_is_array(value) && json_array_size(value) == 0);
}

static struct walk_value
member_of(struct walk_value v, const char *key)
{
	return (struct walk_value){ sim_schema_member(v.schema, key, v.whole), false };
}

static struct walk_value
item_of(struct walk_value v)
{
	return (struct walk_value){ sim_schema_items(v.schema), false };
}

/* By its name in a set of fields. */
static struct walk_value
child_of(struct walk_value v, const char *name)
{
	return strncmp(name, "f:", 2) == 0 ? member_of(v, name + 2) : item_of(v);
}

/*
 * A member of a map, and one that is null or empty, is a field itself; a declared member is what is
 * below it.
 */
static json_t *
fields(struct walk_value v, const json_t *value)
{
	json_t *set = NULL, *child;
	const char *key;
	size_t i;

	switch (shape_of(v, value, NULL)) {
	case SHAPE_LEAF:
		if (!json_is_array(value) || json_array_size(value) > 0 || json_is_null(value))
			sim_fieldset_mark(&set);
		break;
	case SHAPE_MEMBERS:
		JSON_EACH(value, key, child) {
			json_t *below = fields(member_of(v, key), child);
			char *name = member_name(key);

			if (!sim_schema_names(v.schema, key, v.whole))
				sim_fieldset_mark(&below);
			sim_fieldset_put(&set, name, below);
			free(name);
		}
		break;
	case SHAPE_ITEMS:
		json_array_foreach(value, i, child) {
			json_t *below = fields(item_of(v), child);
			char *name = sim_walk_item_name(v.schema, child);

			sim_fieldset_mark(&below);
			if (name != NULL)
				sim_fieldset_put(&set, name, json_incref(below));
			json_decref(below);
			free(name);
		}
		break;
	}
	return set;
}

static void
compare(struct walk_value v, const json_t *before, const json_t *after, struct sim_comparison *c)
{
	const enum walk_shape shape = shape_of(v, before, after);

	if (shape != SHAPE_LEAF)
		compare_children(v, before, after, c);
	if (before == NULL)
		sim_fieldset_mark(&c->added);
	else if (after == NULL)
		sim_fieldset_mark(&c->removed);
	else if (shape == SHAPE_LEAF && !json_equal(before, after))
		sim_fieldset_mark(&c->modified);
}

static void
compare_below(struct walk_value v, const char *name, const json_t *before, const json_t *after,
    struct sim_comparison *c)
{
	struct sim_comparison below = { 0 };

	compare(v, before, after, &below);
	sim_fieldset_put(&c->removed, name, below.removed);
	sim_fieldset_put(&c->modified, name, below.modified);
	sim_fieldset_put(&c->added, name, below.added);
}

static void
compare_children(struct walk_value v, const json_t *before, const json_t *after, struct sim_comparison *c)
{
	json_auto_t *old = children(v.schema, before), *new = children(v.schema, after);
	const char *name;
	json_t *child;

	JSON_EACH(old, name, child)
		compare_below(child_of(v, name), name, child, json_object_get(new, name), c);
	JSON_EACH(new, name, child)
		if (json_object_get(old, name) == NULL)
			compare_below(child_of(v, name), name, NULL, child, c);
}

/* NULL: nothing is left of it. */
static json_t *
merge(struct walk_value v, const json_t *live, const json_t *config)
{
	switch (shape_of(v, live, config)) {
	case SHAPE_MEMBERS:
		return merge_members(v, live, config);
	case SHAPE_ITEMS:
		return merge_items(v, live, config);
	case SHAPE_LEAF:
		break;
	}
	return json_deep_copy(config != NULL ? config : live);
}

static json_t *
merge_members(struct walk_value v, const json_t *live, const json_t *config)
{
	json_t *merged = json_object();
	const char *key;
	json_t *child;

	JSON_EACH(live, key, child)
		json_object_set_new(merged, key,
		    merge(member_of(v, key), child, json_object_get(config, key)));
	JSON_EACH(config, key, child)
		if (json_object_get(live, key) == NULL)
			json_object_set_new(merged, key, merge(member_of(v, key), NULL, child));
	return merged;
}

/*
 * Items of the config stand in its order; items that only the live list has keep their place before
 * the next one that both have.
 */
static json_t *
merge_items(struct walk_value v, const json_t *live, const json_t *config)
{
	json_auto_t *old = children(v.schema, live), *new = children(v.schema, config);
	json_t *merged = json_array();
	void *l = json_object_iter(old), *r = json_object_iter(new);

	while (l != NULL || r != NULL) {
		const char *mine = l == NULL ? NULL : json_object_iter_key(l);
		const char *theirs = r == NULL ? NULL : json_object_iter_key(r);
		const char *next = next_shared(old, new, r);
		const bool shared = mine != NULL && json_object_get(new, mine) != NULL;

		if (mine != NULL && !shared) {
			json_array_append_new(merged, merge(item_of(v), json_object_iter_value(l), NULL));
			l = json_object_iter_next(old, l);
			continue;
		}
		/* Shared, and its turn is not now or was before: it is passed over. */
		const bool same = mine != NULL && theirs != NULL && strcmp(mine, theirs) == 0;

		if (mine != NULL && (same || next == NULL || strcmp(next, mine) != 0)) {
			l = json_object_iter_next(old, l);
			if (!same && next != NULL)
				continue;
		}
		if (theirs == NULL)
			continue;
		json_array_append_new(merged, merge(item_of(v), json_object_get(old, theirs),
		    json_object_iter_value(r)));
		r = json_object_iter_next(new, r);
	}
	return merged;
}

/* The first item from r on that both lists have. */
static const char *
next_shared(const json_t *old, json_t *new, void *r)
{
	while (r != NULL && json_object_get(old, json_object_iter_key(r)) == NULL)
		r = json_object_iter_next(new, r);
	return r == NULL ? NULL : json_object_iter_key(r);
}

/* NULL: nothing is left of it. */
static json_t *
without(struct walk_value v, const json_t *value, const json_t *set)
{
	const enum walk_shape shape = shape_of(v, value, NULL);
	json_t *rest = NULL, *child;
	const char *key;
	size_t i;

	if (shape == SHAPE_LEAF)
		return json_is_object(value) || json_is_array(value) ? NULL : json_deep_copy(value);
	if (shape == SHAPE_MEMBERS) {
		rest = json_object();
		JSON_EACH(value, key, child) {
			char *name = member_name(key);
			const json_t *below = json_object_get(set, name);
			json_t *left = sim_fieldset_has(below) ? NULL : below == NULL ? json_deep_copy(child)
			    : without(member_of(v, key), child, below);

			if (left != NULL)
				json_object_set_new(rest, key, left);
			free(name);
		}
	} else {
		rest = json_array();
		json_array_foreach(value, i, child) {
			char *name = sim_walk_item_name(v.schema, child);
			const json_t *below = name == NULL ? NULL : json_object_get(set, name);
			json_t *left = sim_fieldset_has(below) ? NULL : below == NULL ? json_deep_copy(child)
			    : without(item_of(v), child, below);

			if (left != NULL)
				json_array_append_new(rest, left);
			free(name);
		}
	}
	if (!is_empty(rest) || v.whole)
		return rest;
	json_decref(rest);
	return NULL;
}

static json_t *
named(struct walk_value v, const json_t *set)
{
	json_t *all = json_object(), *child;
	const char *name;

	JSON_EACH(set, name, child) {
		json_t *below = named(child_of(v, name), child);

		if (name[0] == 'f' && json_object_size(child) > 0
		    && sim_schema_names(v.schema, name + 2, v.whole))
			sim_fieldset_mark(&below);
		json_object_set_new(all, name, below);
	}
	return all;
}

/* Members or items by their names in a set of fields, in their order; of two with one name the first. */
static json_t *
children(const json_t *schema, const json_t *value)
{
	json_t *named = json_object(), *child;
	const char *key;
	size_t i;

	JSON_EACH(value, key, child) {
		char *name = member_name(key);

		json_object_set(named, name, child);
		free(name);
	}
	json_array_foreach(value, i, child) {
		char *name = sim_walk_item_name(schema, child);

		if (name != NULL && json_object_get(named, name) == NULL)
			json_object_set(named, name, child);
		free(name);
	}
	return named;
}

static char *
member_name(const char *key)
{
	char *name;

	MUST(asprintf(&name, "f:%s", key) > 0);
	return name;
}
