/* sim/kube/patch/sim_patch.c - JSON merge patch and JSON patch. */
#include <errno.h>
#include <stdlib.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_patch.h"

/* The place an operation speaks of: a container, and a member or an index of it. */
struct pointer_target {
	json_t	*in;
	char	*key;	/* unescaped; owned */
};

typedef bool step(json_t **root, const json_t *op);

static json_t *without_nulls(const json_t *value);
static bool place_find(struct pointer_target *p, json_t *root, const char *pointer);
static void place_free(struct pointer_target *p);
static bool place_get(const struct pointer_target *p, json_t **value);
static bool place_add(const struct pointer_target *p, json_t *value);
static bool place_remove(const struct pointer_target *p);
static char *unescape(const char *token, size_t len);
static bool index_of(const struct pointer_target *p, size_t limit, size_t *index);
static step do_add, do_remove, do_replace, do_move, do_copy, do_test;

static const struct {
	const char	*name;
	step		*run;
} steps[] = {
	{ "add",	do_add		},
	{ "remove",	do_remove	},
	{ "replace",	do_replace	},
	{ "move",	do_move		},
	{ "copy",	do_copy		},
	{ "test",	do_test		},
};

json_t *
sim_patch_merge(const json_t *target, const json_t *patch)
{
	if (!json_is_object(target))
		return without_nulls(patch);
	if (!json_is_object(patch))
		return json_deep_copy(patch);

	json_t *merged = json_object();
	const char *key;
	json_t *value;

	JSON_EACH(target, key, value) {
		const json_t *change = json_object_get(patch, key);

		if (change == NULL)
			json_object_set_new(merged, key, json_deep_copy(value));
		else if (!json_is_null(change))
			json_object_set_new(merged, key, sim_patch_merge(value, change));
	}
	JSON_EACH(patch, key, value)
		if (!json_is_null(value) && json_object_get(target, key) == NULL)
			json_object_set_new(merged, key, without_nulls(value));
	return merged;
}

json_t *
sim_patch_operations(const json_t *target, const json_t *operations)
{
	json_t *root = json_deep_copy(target);
	size_t i;
	json_t *op;

	json_array_foreach(operations, i, op) {
		const char *name = json_string_value(json_object_get(op, "op"));
		step *run = NULL;

		for (size_t k = 0; name != NULL && k < NITEMS(steps); k++)
			if (strcmp(steps[k].name, name) == 0)
				run = steps[k].run;
		if (run == NULL || !run(&root, op)) {
			json_decref(root);
			return NULL;
		}
	}
	return root;
}

static json_t *
without_nulls(const json_t *value)
{
	json_t *clean;
	json_t *child;

	if (json_is_object(value)) {
		const char *key;

		clean = json_object();
		JSON_EACH(value, key, child)
			if (!json_is_null(child))
				json_object_set_new(clean, key, without_nulls(child));
		return clean;
	}
	if (json_is_array(value)) {
		size_t i;

		clean = json_array();
		json_array_foreach(value, i, child)
			json_array_append_new(clean, without_nulls(child));
		return clean;
	}
	return json_deep_copy(value);
}

static bool
do_add(json_t **root, const json_t *op)
{
	struct pointer_target p;
	bool done = false;

	if (place_find(&p, *root, json_string_value(json_object_get(op, "path")))) {
		json_t *value = json_object_get(op, "value");

		done = place_add(&p, value == NULL ? json_null() : json_deep_copy(value));
	}
	place_free(&p);
	return done;
}

static bool
do_remove(json_t **root, const json_t *op)
{
	struct pointer_target p;
	const bool done = place_find(&p, *root, json_string_value(json_object_get(op, "path")))
	    && place_remove(&p);

	place_free(&p);
	return done;
}

static bool
do_replace(json_t **root, const json_t *op)
{
	const char *path = json_string_value(json_object_get(op, "path"));
	json_t *value = json_object_get(op, "value");
	json_t *was;
	struct pointer_target p;
	bool done = false;

	if (path != NULL && *path == '\0') {
		if (!json_is_object(value) && !json_is_array(value))
			return false;
		json_decref(*root);
		*root = json_deep_copy(value);
		return true;
	}
	if (place_find(&p, *root, path) && place_get(&p, &was)) {
		if (json_is_array(p.in))
			place_remove(&p);
		done = place_add(&p, value == NULL ? json_null() : json_deep_copy(value));
	}
	place_free(&p);
	return done;
}

static bool
do_move(json_t **root, const json_t *op)
{
	struct pointer_target from, to = { 0 };
	json_t *value = NULL;
	bool done = false;

	if (place_find(&from, *root, json_string_value(json_object_get(op, "from")))
	    && place_get(&from, &value) && value != NULL) {
		json_incref(value);
		if (place_remove(&from)
		    && place_find(&to, *root, json_string_value(json_object_get(op, "path"))))
			done = place_add(&to, json_incref(value));
		json_decref(value);
	}
	place_free(&from);
	place_free(&to);
	return done;
}

static bool
do_copy(json_t **root, const json_t *op)
{
	struct pointer_target from, to = { 0 };
	json_t *value;
	bool done = false;

	if (place_find(&from, *root, json_string_value(json_object_get(op, "from")))
	    && place_get(&from, &value)
	    && place_find(&to, *root, json_string_value(json_object_get(op, "path"))))
		done = place_add(&to, value == NULL ? json_null() : json_deep_copy(value));
	place_free(&from);
	place_free(&to);
	return done;
}

/* A member that is missing equals null. */
static bool
do_test(json_t **root, const json_t *op)
{
	const char *path = json_string_value(json_object_get(op, "path"));
	json_t *want = json_object_get(op, "value");
	json_t *value = NULL;
	struct pointer_target p;
	bool same = false;

	if (path != NULL && *path == '\0')
		return json_equal(*root, want);
	if (place_find(&p, *root, path) && place_get(&p, &value)) {
		const bool no_value = value == NULL || json_is_null(value);
		const bool no_expected = want == NULL || json_is_null(want);

		same = no_value || no_expected ? no_value && no_expected : json_equal(value, want);
	}
	place_free(&p);
	return same;
}

/*
 * The container that holds the last token of the pointer. What stands before the first '/' is not
 * checked, as in the real server.
 */
static bool
place_find(struct pointer_target *p, json_t *root, const char *pointer)
{
	const char *token = pointer == NULL ? NULL : strchr(pointer, '/');

	*p = (struct pointer_target){ .in = root };
	if (token == NULL)
		return false;
	for (;;) {
		const char *end = strchrnul(++token, '/');
		json_t *next;

		free(p->key);
		p->key = unescape(token, (size_t)(end - token));
		if (*end == '\0')
			return json_is_object(p->in) || json_is_array(p->in);
		if (!place_get(p, &next) || next == NULL)
			return false;
		p->in = next;
		token = end;
	}
}

static void
place_free(struct pointer_target *p)
{
	free(p->key);
	p->key = NULL;
}

/* false: no such place (an index out of bounds); a missing member of an object is there, and NULL. */
static bool
place_get(const struct pointer_target *p, json_t **value)
{
	size_t index;

	*value = NULL;
	if (json_is_object(p->in)) {
		*value = json_object_get(p->in, p->key);
		return true;
	}
	if (!json_is_array(p->in) || !index_of(p, json_array_size(p->in), &index))
		return false;
	*value = json_array_get(p->in, index);
	return true;
}

/* Takes value. */
static bool
place_add(const struct pointer_target *p, json_t *value)
{
	size_t index;

	if (json_is_object(p->in))
		return json_object_set_new(p->in, p->key, value) == 0;
	if (strcmp(p->key, "-") == 0)
		return json_array_append_new(p->in, value) == 0;
	if (index_of(p, json_array_size(p->in) + 1, &index))
		return json_array_insert_new(p->in, index, value) == 0;
	json_decref(value);
	return false;
}

static bool
place_remove(const struct pointer_target *p)
{
	size_t index;

	if (json_is_object(p->in))
		return json_object_del(p->in, p->key) == 0;
	return index_of(p, json_array_size(p->in), &index) && json_array_remove(p->in, index) == 0;
}

static bool
index_of(const struct pointer_target *p, size_t limit, size_t *index)
{
	char *end;

	errno = 0;
	long n = strtol(p->key, &end, 10);

	if (errno != 0 || end == p->key || *end != '\0' || n >= (long)limit || n < -(long)limit)
		return false;
	*index = (size_t)(n < 0 ? n + (long)limit : n);
	return true;
}

/* RFC 6901: ~1 is a slash, ~0 a tilde. */
static char *
unescape(const char *token, size_t len)
{
	char *text = obj_alloc(len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		const bool escaped = token[i] == '~' && i + 1 < len
		    && (token[i + 1] == '0' || token[i + 1] == '1');

		text[n++] = !escaped ? token[i] : token[i + 1] == '0' ? '~' : '/';
		i += escaped;
	}
	return text;
}
