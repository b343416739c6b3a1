/*
 * sim/kube/schema/sim_schema_typed.c - reads an object of a built-in type as Go reads it into a
 * struct: a value of the wrong type is an error in Go's words, unknown fields are noted and
 * dropped, and what Go would not print again is dropped too.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/quantity.h"
#include "kube/time.h"
#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_schema.h"

struct typed_decoder {
	json_t		*unknown;
	char		*error_text;		/* the first one; then nothing more is read */
	const char	*type;		/* the struct that is being read */
	bool		 strategic;	/* the words are those for the result of a strategic merge patch */
	char		 path[1024];	/* as strict decoding names it: spec.taints[0].key */
	char		 fields[512];	/* as Go's errors name it: spec.taints.key */
};

/* How far a path was before something was put behind it. */
struct typed_mark {
	size_t		 path, fields;
	const char	*type;
};

typedef json_t *reader(struct typed_decoder *r, const json_t *schema, const json_t *value);

static reader read_value, read_struct, read_map, read_list, read_text, read_integer, read_number,
    read_boolean, read_int_or_text, read_bytes, read_quantity, read_time;
static struct typed_mark enter(struct typed_decoder *r, const char *key, size_t index);
static void leave(struct typed_decoder *r, struct typed_mark m);
static json_t *mismatch(struct typed_decoder *r, const json_t *schema, const json_t *value);
static const char *go_type(const json_t *schema, char *buf, size_t size);
static bool is_dropped(const json_t *schema, const json_t *value);

static const struct {
	const char	*type;
	reader		*read;
} readers[] = {
	{ "object",	read_struct	},
	{ "array",	read_list	},
	{ "string",	read_text	},
	{ "integer",	read_integer	},
	{ "number",	read_number	},
	{ "boolean",	read_boolean	},
};

json_t *
sim_schema_typed(const json_t *schema, const json_t *value, const char *path, json_t *unknown, bool strategic,
    char **error_text)
{
	struct typed_decoder r = { .unknown = unknown, .type = "", .strategic = strategic };

	snprintf(r.path, sizeof(r.path), "%s", path);
	json_t *read = read_value(&r, schema, value);

	*error_text = r.error_text;
	return read;
}

json_t *
sim_schema_zero(const json_t *schema)
{
	json_t *zero = json_object();

	sim_schema_fill_zero(schema, zero);
	return zero;
}

void
sim_schema_fill_zero(const json_t *schema, json_t *value)
{
	const char *key;
	void *next;
	json_t *child;
	size_t i;

	schema = sim_schema_follow(schema);
	if (json_is_object(value)) {
		JSON_EACH(json_object_get(schema, "properties"), key, child) {
			json_t *zero = json_object_get(child, "x-muster-zero");

			if (zero != NULL && json_object_get(value, key) == NULL)
				json_object_set_new(value, key, json_deep_copy(zero));
		}
		json_object_foreach_safe(value, next, key, child)
			sim_schema_fill_zero(sim_schema_member(schema, key, false), child);
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, child)
			sim_schema_fill_zero(sim_schema_items(schema), child);
	}
}

/* New reference; NULL: see r->error_text. */
static json_t *
read_value(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	const json_t *type = sim_schema_follow(schema);
	const char *name = sim_json_text(type, "type");

	if (json_is_true(json_object_get(type, "x-kubernetes-int-or-string")))
		return read_int_or_text(r, schema, value);
	for (size_t i = 0; i < NITEMS(readers); i++)
		if (strcmp(readers[i].type, name) == 0)
			return readers[i].read(r, schema, value);
	return json_deep_copy(value);
}

static json_t *
read_struct(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	const json_t *type = sim_schema_follow(schema);
	const char *key;
	json_t *child;

	if (json_object_get(type, "properties") == NULL)
		return read_map(r, schema, value);
	if (!json_is_object(value))
		return mismatch(r, schema, value);

	json_auto_t *object = json_object();

	JSON_EACH(value, key, child) {
		const json_t *member = json_object_get(json_object_get(type, "properties"), key);
		const struct typed_mark m = enter(r, key, 0);

		r->type = sim_json_text(type, "x-muster-name");
		if (member == NULL) {
			json_array_append_new(r->unknown, json_string(r->path));
		} else if (!json_is_null(child)) {
			json_auto_t *read = read_value(r, member, child);

			if (read != NULL && !is_dropped(member, read))
				json_object_set(object, key, read);
		}
		leave(r, m);
		if (r->error_text != NULL)
			return NULL;
	}
	return json_incref(object);
}

static json_t *
read_map(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	const json_t *inner = json_object_get(sim_schema_follow(schema), "additionalProperties");
	const char *key;
	json_t *child;

	if (!json_is_object(value))
		return mismatch(r, schema, value);

	json_auto_t *map = json_object();

	JSON_EACH(value, key, child) {
		const struct typed_mark m = enter(r, key, 0);

		r->fields[m.fields] = '\0';	/* Go does not name the keys of a map */
		json_t *read = json_is_null(child) ? json_string("") : read_value(r, inner, child);

		leave(r, m);
		if (read == NULL)
			return NULL;
		json_object_set_new(map, key, read);
	}
	return json_incref(map);
}

static json_t *
read_list(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	size_t i;
	json_t *child;

	if (!json_is_array(value))
		return mismatch(r, schema, value);

	json_auto_t *list = json_array();

	json_array_foreach(value, i, child) {
		const struct typed_mark m = enter(r, NULL, i);
		json_t *read = read_value(r, sim_schema_items(schema), child);

		leave(r, m);
		if (read == NULL)
			return NULL;
		json_array_append_new(list, read);
	}
	return json_incref(list);
}

static json_t *
read_text(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	static const struct {
		const char	*format;
		reader		*read;
	} formats[] = {
		{ "byte",	read_bytes	},
		{ "quantity",	read_quantity	},
		{ "date-time",	read_time	},
	};
	const char *format = sim_json_text(schema, "format");

	for (size_t i = 0; i < NITEMS(formats); i++)
		if (strcmp(formats[i].format, format) == 0)
			return formats[i].read(r, schema, value);
	return json_is_string(value) ? json_incref((json_t *)(uintptr_t)value) : mismatch(r, schema, value);
}

/* A number is a quantity too; it is printed in its canonical form. */
static json_t *
read_quantity(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	char *digits = json_is_number(value) ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	const char *text = digits == NULL ? json_string_value(value) : digits;
	struct quantity q;
	char canonical[QUANTITY_PRINT_MAX];

	if (text == NULL)
		return mismatch(r, schema, value);

	const char *why = quantity_parse(&q, text, strlen(text));

	free(digits);
	if (why != NULL) {
		r->error_text = obj_strdup(why);
		return NULL;
	}
	return json_stringn(canonical, quantity_print(&q, canonical, sizeof(canonical)));
}

static json_t *
read_time(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	const bool micro = strcmp(sim_json_text(schema, "x-muster-go"), "v1.MicroTime") == 0;
	const char *text = json_string_value(value);
	char canonical[TIME_TEXT_MAX];
	int64_t us;

	if (text == NULL)
		return mismatch(r, schema, value);
	if (!(micro ? time_parse_micro : time_parse)(text, strlen(text), &us)) {
		const bool no_fraction = micro && time_parse(text, strlen(text), &us);

		MUST(asprintf(&r->error_text,
		    "parsing time \"%s\" as \"2006-01-02T15:04:05%sZ07:00\": cannot "
		    "parse \"%s\" as \"%s\"", text, micro ? ".000000" : "", no_fraction
		    ? text + strcspn(text, ".Z+") : text, no_fraction ? ".000000" : "2006") > 0);
		return NULL;
	}
	return json_stringn(canonical, (micro ? time_format_micro : time_format)(us, canonical,
	    sizeof(canonical)));
}

static json_t *
read_bytes(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *text = json_string_value(value);

	if (text == NULL)
		return mismatch(r, schema, value);

	const size_t len = strlen(text), good = strspn(text, letters), pad = strspn(text + good, "=");

	if (len % 4 != 0 || pad > 2 || good + pad != len) {
		MUST(asprintf(&r->error_text, "illegal base64 data at input byte %zu",
		    good + pad != len ? good
		    : len - len % 4) > 0);
		return NULL;
	}
	return json_incref((json_t *)(uintptr_t)value);
}

static json_t *
read_integer(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	const bool fits = strcmp(sim_json_text(schema, "format"), "int32") != 0
	    || (json_integer_value(value) <= INT32_MAX && json_integer_value(value) >= INT32_MIN);

	return json_is_integer(value) && fits ? json_incref((json_t *)(uintptr_t)value)
	    : mismatch(r, schema, value);
}

static json_t *
read_number(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	return json_is_number(value) ? json_incref((json_t *)(uintptr_t)value) : mismatch(r, schema, value);
}

static json_t *
read_boolean(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	return json_is_boolean(value) ? json_incref((json_t *)(uintptr_t)value) : mismatch(r, schema, value);
}

static json_t *
read_int_or_text(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	const bool ok = json_is_integer(value) || json_is_string(value);

	return ok ? json_incref((json_t *)(uintptr_t)value) : mismatch(r, schema, value);
}

/* key NULL: an item of a list. */
static struct typed_mark
enter(struct typed_decoder *r, const char *key, size_t index)
{
	const struct typed_mark m = { strlen(r->path), strlen(r->fields), r->type };

	if (key == NULL) {
		snprintf(r->path + m.path, sizeof(r->path) - m.path, "[%zu]", index);
		return m;
	}
	snprintf(r->path + m.path, sizeof(r->path) - m.path, "%s%s", m.path == 0 ? "" : ".", key);
	snprintf(r->fields + m.fields, sizeof(r->fields) - m.fields, "%s%s", m.fields == 0 ? "" : ".", key);
	return m;
}

static void
leave(struct typed_decoder *r, struct typed_mark m)
{
	r->path[m.path] = '\0';
	r->fields[m.fields] = '\0';
	r->type = m.type;
}

static json_t *
mismatch(struct typed_decoder *r, const json_t *schema, const json_t *value)
{
	static const char *const called[] = {
		[JSON_OBJECT]	= "object",
		[JSON_ARRAY]	= "array",
		[JSON_STRING]	= "string",
		[JSON_INTEGER]	= "number",
		[JSON_REAL]	= "number",
		[JSON_TRUE]	= "bool",
		[JSON_FALSE]	= "bool",
		[JSON_NULL]	= "null",
	};
	const bool wants_integer = strcmp(sim_json_text(schema, "type"), "integer") == 0;
	char *digits = wants_integer && json_is_number(value) ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	char go[128];

	if (r->strategic)
		MUST(asprintf(&r->error_text, "unrecognized type: %s", go_type(schema, go, sizeof(go))) > 0);
	else
		MUST(asprintf(&r->error_text,
		    "json: cannot unmarshal %s%s%s into Go struct field %s.%s of type %s",
	    called[json_typeof(value)], digits == NULL ? "" : " ", digits == NULL ? "" : digits, r->type,
	    r->fields, go_type(schema, go, sizeof(go))) > 0);
	free(digits);
	return NULL;
}

static const char *
go_type(const json_t *schema, char *buf, size_t size)
{
	const json_t *inner = json_object_get(schema, "items");
	const char *name = sim_json_text(sim_schema_follow(schema), "x-muster-name");
	char deeper[128];

	if (inner == NULL)
		inner = json_object_get(schema, "additionalProperties");
	if (inner != NULL)
		snprintf(buf, size, "%s%s", json_object_get(schema, "items") != NULL ? "[]" : "map[string]",
		    go_type(inner, deeper, sizeof(deeper) / 2));
	else if (*name != '\0')
		snprintf(buf, size, "v1.%s", name);
	else
		snprintf(buf, size, "%s", sim_json_text(schema, "x-muster-go"));
	return buf;
}

/* Go's omitempty: a zero is not printed, unless the field is a pointer or has no omitempty. */
static bool
is_dropped(const json_t *schema, const json_t *value)
{
	const bool empty = json_is_false(value) || (json_is_integer(value) && json_integer_value(value) == 0)
	    || (json_is_string(value) && json_string_length(value) == 0)
	    || (json_is_array(value) && json_array_size(value) == 0)
	    || (json_is_object(value) && json_object_size(value) == 0 && json_object_get(schema,
	    "$ref") == NULL);

	return empty && json_object_get(schema, "x-muster-zero-kept") == NULL
	    && json_object_get(schema, "x-muster-zero") == NULL
	    && !json_is_true(json_object_get(schema, "x-kubernetes-preserve-unknown-fields"));
}
