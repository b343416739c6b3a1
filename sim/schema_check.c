/*
 * sim/schema_check.c - values against the schema of a CRD, with the words of the real server.
 *
 * What an update did not change is not judged again (ratcheting). CEL rules are not evaluated; that
 * they were not is said as the real server says it when the object is refused for something else.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "schema.h"
#include "schema_format.h"
#include "semantics_flaws.h"
#include "semantics_json.h"

/* Where in the object we are. The words of a flaw leave out the first `skip` characters of the path. */
struct at {
	json_t		*flaws;
	const char	*path;
	size_t		 skip;
	const json_t	*schema;
	const json_t	*value;
};

typedef void rule(const struct at *at, const json_t *limit);

static rule minimum, maximum, multiple_of, min_length, max_length, pattern, min_items, max_items,
    min_properties, max_properties, enumeration, required, all_of, any_of, one_of, not_that;
static void check(const struct at *at, const json_t *old);
static void check_members(const struct at *at, const json_t *old);
static void check_items(const struct at *at, const json_t *old);
static void check_unique(const struct at *at, size_t index);
static bool type_is_right(const struct at *at);
static const char *type_of(const json_t *value);
static bool satisfies(const struct at *at, const json_t *schema);
static size_t count_satisfied(const struct at *at, const json_t *schemas);
static const json_t *old_item(const json_t *schema, const json_t *old, const json_t *item);
static bool same_keys(const json_t *keys, const json_t *a, const json_t *b);
static json_t *keys_of(const json_t *item, const json_t *keys);
static bool has_rules(const json_t *schema);
static bool is_blocking(const json_t *flaws);
static void say(const struct at *at, const char *format, const json_t *limit);

/* Of the rules about a text only the first that it breaks is told. */
static const struct {
	const char	*keyword;
	rule		*check;
	bool		 of_text;
} rules[] = {
	{ "maxLength",		max_length,	true	},
	{ "minLength",		min_length,	true	},
	{ "pattern",		pattern,	true	},
	{ "multipleOf",		multiple_of,	false	},
	{ "maximum",		maximum,	false	},
	{ "minimum",		minimum,	false	},
	{ "minItems",		min_items,	false	},
	{ "maxItems",		max_items,	false	},
	{ "minProperties",	min_properties,	false	},
	{ "maxProperties",	max_properties,	false	},
	{ "enum",		enumeration,	false	},
	{ "required",		required,	false	},
	{ "allOf",		all_of,		false	},
	{ "anyOf",		any_of,		false	},
	{ "oneOf",		one_of,		false	},
	{ "not",		not_that,	false	},
};

void
schema_check(json_t *flaws, const struct resource *r, const json_t *object, const json_t *old,
    bool status_only)
{
	struct at at = { .flaws = flaws, .path = "", .schema = r->schema, .value = object };
	const size_t before = json_array_size(flaws);

	if (r->builtin || r->schema == NULL)
		return;
	if (status_only) {
		at = (struct at){ .flaws = flaws, .path = "status", .skip = strlen("status."),
			.schema = schema_member(r->schema, "status", false),
			    .value = json_object_get(object, "status") };
		old = json_object_get(old, "status");
	}
	if (at.value != NULL && at.schema != NULL)
		check(&at, old);
	if (json_array_size(flaws) > before && is_blocking(flaws) && has_rules(r->schema))
		flaw(flaws, FLAW_INVALID, "<nil>", NULL,
		    "some validation rules were not checked because the object was invalid; correct the "
		    "existing errors to complete validation");
}

void
schema_check_value(json_t *flaws, const json_t *schema, const json_t *value, const char *path)
{
	check(&(struct at){ .flaws = flaws, .path = path, .skip = strlen(path), .schema = schema,
	    .value = value }, NULL);
}

static void
check(const struct at *at, const json_t *old)
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

	const size_t before = json_array_size(at->flaws);

	for (size_t i = 0; i < NITEMS(rules); i++) {
		const json_t *limit = json_object_get(at->schema, rules[i].keyword);

		if (limit != NULL && !(rules[i].of_text && json_array_size(at->flaws) > before))
			rules[i].check(at, limit);
	}

	const char *format = json_text(at->schema, "format");

	if (json_is_string(at->value) && !schema_format_fits(format, json_string_value(at->value))) {
		char *shown = flaw_value(at->value);

		flaw(at->flaws, FLAW_TYPE, at->path, at->value, "%s in body must be of type %s: %s",
		    at->path + at->skip, format, shown);
		free(shown);
	}
}

static void
check_members(const struct at *at, const json_t *old)
{
	const char *key;
	json_t *child;

	JSON_EACH(at->value, key, child) {
		const json_t *schema = schema_member(at->schema, key, false);
		char *path;

		if (schema == NULL)
			continue;
		MUST(asprintf(&path, "%s%s%s", at->path, *at->path == '\0' ? "" : ".", key) > 0);
		struct at deeper = *at;

		deeper.path = path;
		deeper.schema = schema;
		deeper.value = child;
		check(&deeper, json_object_get(old, key));
		free(path);
	}
}

static void
check_items(const struct at *at, const json_t *old)
{
	size_t i;
	json_t *child;

	json_array_foreach(at->value, i, child) {
		struct at deeper = *at;
		char *path;

		MUST(asprintf(&path, "%s[%zu]", at->path, i) > 0);
		deeper.path = path;
		deeper.schema = schema_items(at->schema);
		deeper.value = child;
		if (deeper.schema != NULL)
			check(&deeper, old_item(at->schema, old, child));
		check_unique(at, i);
		free(path);
	}
}

/* Sets hold a value once, maps a key once. */
static void
check_unique(const struct at *at, size_t index)
{
	const json_t *keys, *item = json_array_get(at->value, index);
	const enum list_type type = schema_list(at->schema, &keys);

	for (size_t i = 0; type != LIST_ATOMIC && i < index; i++) {
		const json_t *other = json_array_get(at->value, i);

		if (type == LIST_SET ? !json_equal(item, other) : !same_keys(keys, item, other))
			continue;

		json_t *shown = type == LIST_SET ? json_deep_copy(item) : keys_of(item, keys);
		char *path;

		MUST(asprintf(&path, "%s[%zu]", at->path, index) > 0);
		flaw(at->flaws, FLAW_DUPLICATE, path, shown, "%s", "");
		free(path);
		json_decref(shown);
		return;
	}
}

static bool
type_is_right(const struct at *at)
{
	const bool either = json_is_true(json_object_get(at->schema, "x-kubernetes-int-or-string"));
	const char *wanted = either ? "integer,string" : json_text(at->schema, "type");
	const char *is = type_of(at->value);
	const bool whole = json_is_real(at->value)
	    && floor(json_real_value(at->value)) == json_real_value(at->value);

	if (*wanted == '\0' || strcmp(wanted, is) == 0
	    || (either && (json_is_integer(at->value) || json_is_string(at->value))))
		return true;
	if ((strcmp(wanted, "number") == 0 && json_is_integer(at->value))
	    || (strcmp(wanted, "integer") == 0 && whole))
		return true;
	flaw_text(at->flaws, FLAW_TYPE, at->path, is, "%s in body must be of type %s: \"%s\"",
	    at->path + at->skip, wanted, is);
	return false;
}

static const char *
type_of(const json_t *value)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "object", [JSON_ARRAY] = "array", [JSON_STRING] = "string",
		    [JSON_INTEGER] = "integer",
		[JSON_REAL] = "number", [JSON_TRUE] = "boolean", [JSON_FALSE] = "boolean", [JSON_NULL] =
		    "null",
	};

	return names[json_typeof(value)];
}

static void
minimum(const struct at *at, const json_t *limit)
{
	const bool exclusive = json_is_true(json_object_get(at->schema, "exclusiveMinimum"));
	const double value = json_number_value(at->value), least = json_number_value(limit);

	if (json_is_number(at->value) && (exclusive ? value <= least : value < least))
		say(at, exclusive ? "should be greater than" : "should be greater than or equal to", limit);
}

static void
maximum(const struct at *at, const json_t *limit)
{
	const bool exclusive = json_is_true(json_object_get(at->schema, "exclusiveMaximum"));
	const double value = json_number_value(at->value), most = json_number_value(limit);

	if (json_is_number(at->value) && (exclusive ? value >= most : value > most))
		say(at, exclusive ? "should be less than" : "should be less than or equal to", limit);
}

static void
multiple_of(const struct at *at, const json_t *limit)
{
	const double parts = json_number_value(at->value) / json_number_value(limit);

	if (json_is_number(at->value) && floor(parts) != parts)
		say(at, "should be a multiple of", limit);
}

static void
min_length(const struct at *at, const json_t *limit)
{
	if (json_is_string(at->value)
	    && schema_format_length(json_string_value(at->value)) < json_integer_value(limit))
		flaw(at->flaws, FLAW_INVALID, at->path, at->value,
		    "%s in body should be at least %lld chars long", at->path + at->skip,
		    json_integer_value(limit));
}

static void
max_length(const struct at *at, const json_t *limit)
{
	const json_int_t most = json_integer_value(limit);

	if (json_is_string(at->value) && schema_format_length(json_string_value(at->value)) > most)
		flaw(at->flaws, FLAW_TOO_LONG, at->path, NULL, "may not be more than %lld byte%s", most,
		    most == 1 ? "" : "s");
}

static void
pattern(const struct at *at, const json_t *limit)
{
	if (json_is_string(at->value) && !schema_pattern_fits(json_string_value(limit),
	    json_string_value(at->value)))
		flaw(at->flaws, FLAW_INVALID, at->path, at->value, "%s in body should match '%s'",
		    at->path + at->skip, json_string_value(limit));
}

static void
min_items(const struct at *at, const json_t *limit)
{
	if (json_is_array(at->value) && (json_int_t)json_array_size(at->value) < json_integer_value(limit)) {
		json_t *count = json_integer((json_int_t)json_array_size(at->value));

		flaw(at->flaws, FLAW_INVALID, at->path, count,
		    "%s in body should have at least %lld items", at->path + at->skip,
		    json_integer_value(limit));
		json_decref(count);
	}
}

static void
max_items(const struct at *at, const json_t *limit)
{
	const json_int_t most = json_integer_value(limit);

	if (json_is_array(at->value) && (json_int_t)json_array_size(at->value) > most) {
		json_t *count = json_integer((json_int_t)json_array_size(at->value));

		flaw(at->flaws, FLAW_TOO_MANY, at->path, count, "must have at most %lld item%s", most,
		    most == 1 ? "" : "s");
		json_decref(count);
	}
}

static void
min_properties(const struct at *at, const json_t *limit)
{
	if (json_is_object(at->value)
	    && (json_int_t)json_object_size(at->value) < json_integer_value(limit)) {
		json_t *count = json_integer((json_int_t)json_object_size(at->value));

		flaw(at->flaws, FLAW_INVALID, at->path, count,
		    "%s in body should have at least %lld properties", at->path + at->skip,
		    json_integer_value(limit));
		json_decref(count);
	}
}

static void
max_properties(const struct at *at, const json_t *limit)
{
	const json_int_t most = json_integer_value(limit);

	if (json_is_object(at->value) && (json_int_t)json_object_size(at->value) > most) {
		json_t *count = json_integer((json_int_t)json_object_size(at->value));

		flaw(at->flaws, FLAW_TOO_MANY, at->path, count, "must have at most %lld item%s", most,
		    most == 1 ? "" : "s");
		json_decref(count);
	}
}

static void
enumeration(const struct at *at, const json_t *limit)
{
	char *list = NULL;
	size_t size, i;
	json_t *allowed;
	FILE *out = open_memstream(&list, &size);

	MUST(out != NULL);
	json_array_foreach(limit, i, allowed) {
		char *plain = json_is_string(allowed) ? obj_strdup(json_string_value(allowed))
		    : flaw_value(allowed);
		char *quoted = flaw_quote(plain);

		fprintf(out, "%s%s", i == 0 ? "" : ", ", quoted);
		free(quoted);
		free(plain);
	}
	fclose(out);

	bool found = false;

	json_array_foreach(limit, i, allowed)
		found = found || json_equal(allowed, at->value);
	if (!found)
		flaw(at->flaws, FLAW_UNSUPPORTED, at->path, at->value, "supported values: %s", list);
	free(list);
}

static void
required(const struct at *at, const json_t *limit)
{
	size_t i;
	json_t *key;

	json_array_foreach(limit, i, key) {
		char *path;

		if (!json_is_object(at->value) || json_object_get(at->value, json_string_value(key)) != NULL)
			continue;
		MUST(asprintf(&path, "%s%s%s", at->path, *at->path == '\0' ? "" : ".",
		    json_string_value(key)) > 0);
		flaw(at->flaws, FLAW_REQUIRED, path, NULL, "%s", "");
		free(path);
	}
}

static void
all_of(const struct at *at, const json_t *limit)
{
	const size_t fit = count_satisfied(at, limit);

	if (fit != json_array_size(limit))
		flaw_text(at->flaws, FLAW_INVALID, at->path, "",
		    "\"%s\" must validate all the schemas (allOf)%s", at->path + at->skip,
		    fit == 0 ? ". None validated" : "");
}

static void
any_of(const struct at *at, const json_t *limit)
{
	if (count_satisfied(at, limit) == 0)
		flaw_text(at->flaws, FLAW_INVALID, at->path, "",
		    "\"%s\" must validate at least one schema (anyOf)", at->path + at->skip);
}

static void
one_of(const struct at *at, const json_t *limit)
{
	const size_t fit = count_satisfied(at, limit);

	if (fit == 0)
		flaw_text(at->flaws, FLAW_INVALID, at->path, "",
		    "\"%s\" must validate one and only one schema (oneOf). Found none valid",
		    at->path + at->skip);
	else if (fit > 1)
		flaw_text(at->flaws, FLAW_INVALID, at->path, "",
		    "\"%s\" must validate one and only one schema (oneOf). Found %zu valid alternatives",
		    at->path + at->skip, fit);
}

static void
not_that(const struct at *at, const json_t *limit)
{
	if (satisfies(at, limit))
		flaw_text(at->flaws, FLAW_INVALID, at->path, "",
		    "\"%s\" must not validate the schema (not)", at->path + at->skip);
}

static bool
satisfies(const struct at *at, const json_t *schema)
{
	struct at trial = *at;

	trial.flaws = json_array();
	trial.schema = schema;
	check(&trial, NULL);
	const bool fine = json_array_size(trial.flaws) == 0;

	json_decref(trial.flaws);
	return fine;
}

static size_t
count_satisfied(const struct at *at, const json_t *schemas)
{
	size_t fit = 0, i;
	json_t *schema;

	json_array_foreach(schemas, i, schema)
		fit += satisfies(at, schema);
	return fit;
}

/* The item it was before; only the items of a map have such an identity. */
static const json_t *
old_item(const json_t *schema, const json_t *old, const json_t *item)
{
	const json_t *keys;
	size_t i;
	json_t *before;

	if (schema_list(schema, &keys) != LIST_MAP)
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
	json_t *shown = json_object(), *key;
	size_t i;

	json_array_foreach(keys, i, key)
		take_member(shown, item, json_string_value(key));
	char *text = json_dumps(shown, JSON_SORT_KEYS);

	json_decref(shown);
	shown = json_loads(text, 0, NULL);
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
	return (schema_items(schema) != NULL && has_rules(schema_items(schema)))
	    || (json_is_object(json_object_get(schema, "additionalProperties"))
	    && has_rules(json_object_get(schema, "additionalProperties")));
}

/* Flaws after which the real server does not try its rules. */
static bool
is_blocking(const json_t *flaws)
{
	static const char *const reasons[] = {
		"FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany",
		"FieldValueTypeInvalid",
	};
	size_t i;
	json_t *cause;

	json_array_foreach(flaws, i, cause)
		for (size_t k = 0; k < NITEMS(reasons); k++)
			if (is_text(json_object_get(cause, "reason"), reasons[k]))
				return true;
	return false;
}

static void
say(const struct at *at, const char *words, const json_t *limit)
{
	char *shown = flaw_value(limit);

	flaw(at->flaws, FLAW_INVALID, at->path, at->value, "%s in body %s %s", at->path + at->skip, words,
	    shown);
	free(shown);
}
