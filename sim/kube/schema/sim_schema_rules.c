/*
 * sim/kube/schema/sim_schema_rules.c - the keywords of a schema that limit a value, with the words
 * of the real server.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/kube/semantics/sim_field_errors.h"
#include "sim_schema.h"
#include "sim_schema_format.h"
#include "sim_schema_rules.h"

typedef void rule(const struct sim_schema_at *at, const json_t *limit);

static rule minimum, maximum, multiple_of, min_length, max_length, pattern, min_items, max_items,
    min_properties, max_properties, enumeration, required, all_of, any_of, one_of, not_that;
static void at_least(const struct sim_schema_at *at, const json_t *limit, size_t count, const char *of_what);
static void at_most(const struct sim_schema_at *at, const json_t *limit, size_t count);
static json_t *as_whole(const json_t *value, const json_t *limit);
static json_t *tried(const struct sim_schema_at *at, const json_t *schema);
static size_t count_satisfied(const struct sim_schema_at *at, const json_t *schemas, json_t **nearest);
static void add_error(const struct sim_schema_at *at, const char *words, const json_t *limit);

/* Of the rules about a text only the first that it breaks is reported. */
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
sim_schema_rules(const struct sim_schema_at *at)
{
	const size_t before = json_array_size(at->errors);

	for (size_t i = 0; i < NITEMS(rules); i++) {
		const json_t *limit = json_object_get(at->schema, rules[i].keyword);

		if (limit != NULL && !(rules[i].of_text && json_array_size(at->errors) > before))
			rules[i].check(at, limit);
	}
}

static void
minimum(const struct sim_schema_at *at, const json_t *limit)
{
	const bool exclusive = json_is_true(json_object_get(at->schema, "exclusiveMinimum"));
	json_auto_t *whole = as_whole(at->value, limit);
	const double value = json_number_value(at->value), least = json_number_value(whole);

	if (json_is_number(at->value) && (exclusive ? value <= least : value < least))
		add_error(at,
		    exclusive ? "should be greater than" : "should be greater than or equal to",
		    whole);
}

static void
maximum(const struct sim_schema_at *at, const json_t *limit)
{
	const bool exclusive = json_is_true(json_object_get(at->schema, "exclusiveMaximum"));
	json_auto_t *whole = as_whole(at->value, limit);
	const double value = json_number_value(at->value), most = json_number_value(whole);

	if (json_is_number(at->value) && (exclusive ? value >= most : value > most))
		add_error(at, exclusive ? "should be less than" : "should be less than or equal to", whole);
}

/* A whole number is held against a whole limit: the real server cuts the rest off. New reference. */
static json_t *
as_whole(const json_t *value, const json_t *limit)
{
	return json_is_integer(value) && json_is_real(limit)
	    ? json_integer((json_int_t)json_real_value(limit)) : json_incref((json_t *)(uintptr_t)limit);
}

static void
multiple_of(const struct sim_schema_at *at, const json_t *limit)
{
	const double parts = json_number_value(at->value) / json_number_value(limit);

	if (json_is_number(at->value) && floor(parts) != parts)
		add_error(at, "should be a multiple of", limit);
}

static void
min_length(const struct sim_schema_at *at, const json_t *limit)
{
	if (json_is_string(at->value)
	    && sim_schema_format_length(json_string_value(at->value)) < json_integer_value(limit))
		sim_field_error(at->errors, FIELD_INVALID, at->path, at->value,
		    "%s in body should be at least %lld chars long", at->path + at->skip,
		    json_integer_value(limit));
}

static void
max_length(const struct sim_schema_at *at, const json_t *limit)
{
	const json_int_t most = json_integer_value(limit);

	if (json_is_string(at->value) && sim_schema_format_length(json_string_value(at->value)) > most)
		sim_field_error(at->errors, FIELD_TOO_LONG, at->path, NULL,
		    "may not be more than %lld byte%s", most,
		    most == 1 ? "" : "s");
}

static void
pattern(const struct sim_schema_at *at, const json_t *limit)
{
	if (json_is_string(at->value) && !sim_schema_pattern_fits(json_string_value(limit),
	    json_string_value(at->value)))
		sim_field_error(at->errors, FIELD_INVALID, at->path, at->value,
		    "%s in body should match '%s'",
		    at->path + at->skip, json_string_value(limit));
}

static void
min_items(const struct sim_schema_at *at, const json_t *limit)
{
	if (json_is_array(at->value))
		at_least(at, limit, json_array_size(at->value), "items");
}

static void
max_items(const struct sim_schema_at *at, const json_t *limit)
{
	if (json_is_array(at->value))
		at_most(at, limit, json_array_size(at->value));
}

static void
min_properties(const struct sim_schema_at *at, const json_t *limit)
{
	if (json_is_object(at->value))
		at_least(at, limit, json_object_size(at->value), "properties");
}

static void
max_properties(const struct sim_schema_at *at, const json_t *limit)
{
	if (json_is_object(at->value))
		at_most(at, limit, json_object_size(at->value));
}

static void
at_least(const struct sim_schema_at *at, const json_t *limit, size_t count, const char *of_what)
{
	json_auto_t *shown = json_integer((json_int_t)count);

	if ((json_int_t)count < json_integer_value(limit))
		sim_field_error(at->errors, FIELD_INVALID, at->path, shown,
		    "%s in body should have at least %lld %s",
		    at->path + at->skip, json_integer_value(limit), of_what);
}

static void
at_most(const struct sim_schema_at *at, const json_t *limit, size_t count)
{
	const json_int_t most = json_integer_value(limit);
	json_auto_t *shown = json_integer((json_int_t)count);

	if ((json_int_t)count > most)
		sim_field_error(at->errors, FIELD_TOO_MANY, at->path, shown,
		    "must have at most %lld item%s", most,
		    most == 1 ? "" : "s");
}

static void
enumeration(const struct sim_schema_at *at, const json_t *limit)
{
	struct sim_buf list = { 0 };
	size_t i;
	json_t *allowed;

	json_array_foreach(limit, i, allowed)
		if (json_equal(allowed, at->value))
			return;
	json_array_foreach(limit, i, allowed) {
		char *plain = json_is_string(allowed) ? obj_strdup(json_string_value(allowed))
		    : sim_field_error_value(allowed);
		char *quoted = sim_go_quote(plain);

		sim_buf_printf(&list, "%s%s", i == 0 ? "" : ", ", quoted);
		free(quoted);
		free(plain);
	}
	sim_field_error(at->errors, FIELD_UNSUPPORTED, at->path, at->value, "supported values: %s",
	    list.bytes != NULL ? list.bytes : "");
	sim_buf_free(&list);
}

static void
required(const struct sim_schema_at *at, const json_t *limit)
{
	size_t i;
	json_t *key;

	json_array_foreach(limit, i, key) {
		json_auto_t *path = sim_schema_path(at->path, json_string_value(key));

		if (json_is_object(at->value) && json_object_get(at->value, json_string_value(key)) == NULL)
			sim_field_error(at->errors, FIELD_REQUIRED, json_string_value(path), NULL, "%s", "");
	}
}

/* What such a rule finds has no field of its own. */
static void
all_of(const struct sim_schema_at *at, const json_t *limit)
{
	const size_t fit = count_satisfied(at, limit, NULL);
	size_t i;
	json_t *schema;

	if (fit == json_array_size(limit))
		return;
	json_array_foreach(limit, i, schema) {
		json_auto_t *errors = tried(at, schema);

		json_array_extend(at->errors, errors);
	}
	sim_field_error_text(at->errors, FIELD_INVALID, "<nil>", "",
	    "\"%s\" must validate all the schemas (allOf)%s",
	    at->path + at->skip, fit == 0 ? ". None validated" : "");
}

static void
any_of(const struct sim_schema_at *at, const json_t *limit)
{
	json_auto_t *nearest = NULL;

	if (count_satisfied(at, limit, &nearest) == 0) {
		sim_field_error_text(at->errors, FIELD_INVALID, "<nil>", "",
		    "\"%s\" must validate at least one schema (anyOf)", at->path + at->skip);
		json_array_extend(at->errors, nearest);
	}
}

static void
one_of(const struct sim_schema_at *at, const json_t *limit)
{
	json_auto_t *nearest = NULL;
	const size_t fit = count_satisfied(at, limit, &nearest);
	char found[64] = "Found none valid";

	if (fit > 1)
		snprintf(found, sizeof(found), "Found %zu valid alternatives", fit);
	if (fit != 1)
		sim_field_error_text(at->errors, FIELD_INVALID, "<nil>", "",
		    "\"%s\" must validate one and only one schema (oneOf). %s", at->path + at->skip, found);
	if (fit == 0)
		json_array_extend(at->errors, nearest);
}

static void
not_that(const struct sim_schema_at *at, const json_t *limit)
{
	json_auto_t *errors = tried(at, limit);

	if (json_array_size(errors) == 0)
		sim_field_error_text(at->errors, FIELD_INVALID, "<nil>", "",
		    "\"%s\" must not validate the schema (not)",
		    at->path + at->skip);
}

/* The errors that the value would have by another schema. */
static json_t *
tried(const struct sim_schema_at *at, const json_t *schema)
{
	struct sim_schema_at trial = *at;

	trial.errors = json_array();
	trial.schema = schema;
	sim_schema_check_at(&trial, NULL);
	return trial.errors;
}

/* *nearest: the errors by the first schema that finds the fewest. */
static size_t
count_satisfied(const struct sim_schema_at *at, const json_t *schemas, json_t **nearest)
{
	size_t fit = 0, i;
	json_t *schema;

	json_array_foreach(schemas, i, schema) {
		json_auto_t *errors = tried(at, schema);

		fit += json_array_size(errors) == 0;
		if (nearest != NULL && (*nearest == NULL
		    || json_array_size(errors) < json_array_size(*nearest))) {
			json_decref(*nearest);
			*nearest = json_incref(errors);
		}
	}
	return fit;
}

static void
add_error(const struct sim_schema_at *at, const char *words, const json_t *limit)
{
	char *shown = sim_field_error_value(limit);

	sim_field_error(at->errors, FIELD_INVALID, at->path, at->value, "%s in body %s %s",
	    at->path + at->skip, words, shown);
	free(shown);
}
