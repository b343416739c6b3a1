/* kube/selector.c - selectors: matching, and the LabelSelector object. */
#include "selector.h"

#include <inttypes.h>
#include <string.h>

#include "err.h"
#include "obj.h"
#include "selector_private.h"

static const struct {
	const char		*name;
	enum selector_op	 op;
} object_ops[] = {
	{ "In", OP_IN }, { "NotIn", OP_NOT_IN }, { "Exists", OP_EXISTS }, { "DoesNotExist", OP_ABSENT },
};

static bool matches(const struct requirement *, bool, selector_get *, const void *);
static bool has_value(const struct requirement *, const char *);
static bool add_labels(struct selector *, const json_t *, char *, size_t);
static bool add_expression(struct selector *, const json_t *, char *, size_t);
static bool add_values(struct requirement *, const json_t *, char *, size_t);

struct selector *
selector_from_json(const json_t *object, char *err, size_t size)
{
	struct selector *s = selector_new(false);
	const json_t *const labels = json_object_get(object, "matchLabels");
	const json_t *const expressions = json_object_get(object, "matchExpressions");
	bool ok = true;
	size_t i;
	json_t *item;

	if (object == NULL || json_is_null(object)) {
		s->nothing = true;
		return s;
	}
	if (!json_is_object(object))
		ok = err_refuse(err, size, "a label selector is an object");
	else if (labels != NULL && !json_is_null(labels))
		ok = add_labels(s, labels, err, size);
	if (ok && expressions != NULL && !json_is_null(expressions) && !json_is_array(expressions))
		ok = err_refuse(err, size, "matchExpressions: must be a list");
	json_array_foreach(expressions, i, item) {
		ok = ok && add_expression(s, item, err, size);
	}
	if (!ok)
		selector_free(&s);
	else
		selector_sort(s);
	return s;
}

void
selector_free(struct selector **sp)
{
	struct selector *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, SELECTOR_MAGIC);
	for (size_t i = 0; i < s->count; i++) {
		for (size_t v = 0; v < s->list[i].nvalues; v++)
			free(s->list[i].values[v]);
		free(s->list[i].values);
		free(s->list[i].key);
	}
	free(s->list);
	OBJ_FREE(s);
}

bool
selector_matches(const struct selector *s, selector_get *get, const void *arg)
{
	OBJ_CHECK(s, SELECTOR_MAGIC);
	for (size_t i = 0; i < s->count; i++) {
		if (!matches(&s->list[i], s->fields, get, arg))
			return false;
	}
	return !s->nothing;
}

bool
selector_empty(const struct selector *s)
{
	OBJ_CHECK(s, SELECTOR_MAGIC);
	return s->count == 0 && !s->nothing;
}

void
selector_each_key(const struct selector *s, void (*fn)(const char *key, void *arg), void *arg)
{
	OBJ_CHECK(s, SELECTOR_MAGIC);
	for (size_t i = 0; i < s->count; i++)
		fn(s->list[i].key, arg);
}

static bool
matches(const struct requirement *r, bool fields, selector_get *get, const void *arg)
{
	const char *value = get(r->key, arg);
	int64_t have, want;

	if (value == NULL && fields)
		value = "";
	switch (r->op) {
	case OP_IN:
	case OP_EQUALS:
	case OP_DOUBLE_EQUALS:
		return value != NULL && has_value(r, value);
	case OP_NOT_IN:
	case OP_NOT_EQUALS:
		return value == NULL || !has_value(r, value);
	case OP_EXISTS:
		return value != NULL;
	case OP_ABSENT:
		return value == NULL;
	case OP_GREATER:
	case OP_LESS:
		if (value == NULL || !selector_integer(value, &have)
		    || !selector_integer(r->values[0], &want))
			return false;
		return r->op == OP_GREATER ? have > want : have < want;
	default:
		return false;
	}
}

static bool
has_value(const struct requirement *r, const char *value)
{
	for (size_t i = 0; i < r->nvalues; i++) {
		if (strcmp(r->values[i], value) == 0)
			return true;
	}
	return false;
}

static bool
add_labels(struct selector *s, const json_t *labels, char *err, size_t size)
{
	const char *key;
	json_t *value;

	if (!json_is_object(labels))
		return err_refuse(err, size, "matchLabels: must be an object");
	json_object_foreach((json_t *)(uintptr_t)labels, key, value) {
		struct requirement *const r = selector_add(s, OP_EQUALS, key, strlen(key));

		if (!json_is_string(value))
			return err_refuse(err, size, "matchLabels[%s]: must be a string", key);
		selector_add_value(r, json_string_value(value), json_string_length(value));
		if (selector_wrong_requirement(r, err, size))
			return false;
	}
	return true;
}

static bool
add_expression(struct selector *s, const json_t *item, char *err, size_t size)
{
	const char *key = json_string_value(json_object_get(item, "key"));
	const char *name = json_string_value(json_object_get(item, "operator"));
	size_t i = 0;

	if (!json_is_object(item))
		return err_refuse(err, size, "matchExpressions: an item is an object");
	key = key == NULL ? "" : key;
	name = name == NULL ? "" : name;
	while (i < NITEMS(object_ops) && strcmp(object_ops[i].name, name) != 0)
		i++;
	if (i == NITEMS(object_ops))
		return err_refuse(err, size, "\"%s\" is not a valid label selector operator", name);
	struct requirement *const r = selector_add(s, object_ops[i].op, key, strlen(key));
	if (!add_values(r, json_object_get(item, "values"), err, size)
	    || selector_wrong_requirement(r, err, size))
		return false;
	selector_sort_values(r, false);
	return true;
}

static bool
add_values(struct requirement *r, const json_t *values, char *err, size_t size)
{
	size_t i;
	json_t *value;

	if (values != NULL && !json_is_null(values) && !json_is_array(values))
		return err_refuse(err, size, "matchExpressions: values must be a list of strings");
	json_array_foreach(values, i, value) {
		if (!json_is_string(value))
			return err_refuse(err, size, "matchExpressions: values must be a list of strings");
		selector_add_value(r, json_string_value(value), json_string_length(value));
	}
	return true;
}
