/* sim/kube/schema/sim_schema_pb.c - bodies that are protobuf, read by the table of built-in types. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/pb.h"
#include "kube/time.h"
#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_schema.h"
#include "sim_schema_pb.h"

enum { DEPTH_MAX = 64 };

static const char magic[] = { 'k', '8', 's', '\0' };

typedef json_t *reader(const struct pb_field *f);

static reader read_text, read_bytes, read_integer, read_boolean, read_number, read_time, read_micro_time,
    read_quantity, read_int_or_text, read_anything;
static json_t *read_value(const json_t *schema, const struct pb_field *f, int depth);
static const json_t *type_of(const char *version, const char *kind);
static bool read_struct(const json_t *type, struct pb m, const char *prefix, json_t *object, int depth);
static bool read_field(const json_t *type, const struct pb_field *f, const char *prefix, json_t *object,
    int depth);
static bool read_entry(const json_t *schema, struct pb m, json_t *map, int depth);
static const json_t *field_of(const json_t *type, const char *number, const char **name, bool *inlined);
static json_t *time_of(const struct pb_field *f, bool micro);
static char *text_of(struct pb m, uint32_t number);

/* By how Go calls the type; the rest of them are structs. */
static const struct {
	const char	*go;
	reader		*read;
	enum pb_wire	 wire;
} readers[] = {
	{ "string",		read_text,		PB_BYTES	},
	{ "[]uint8",		read_bytes,		PB_BYTES	},
	{ "int32",		read_integer,		PB_VARINT	},
	{ "int64",		read_integer,		PB_VARINT	},
	{ "bool",		read_boolean,		PB_VARINT	},
	{ "float64",		read_number,		PB_FIXED64	},
	{ "v1.Time",		read_time,		PB_BYTES	},
	{ "v1.MicroTime",	read_micro_time,	PB_BYTES	},
	{ "resource.Quantity",	read_quantity,		PB_BYTES	},
	{ "intstr.IntOrString",	read_int_or_text,	PB_BYTES	},
	{ "",			read_anything,		PB_BYTES	},
};

json_t *
sim_schema_read_protobuf(const char *bytes, size_t len)
{
	struct pb_field meta, raw;

	if (len < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)) != 0)
		return NULL;

	const struct pb m = pb_over(bytes + sizeof(magic), len - sizeof(magic));

	if (!pb_find(m, 1, PB_BYTES, &meta) || !pb_find(m, 2, PB_BYTES, &raw))
		return NULL;

	char *version = text_of(pb_inside(&meta), 1), *kind = text_of(pb_inside(&meta), 2);
	const json_t *type = type_of(version, kind);
	json_auto_t *object = json_pack("{s:s, s:s}", "apiVersion", version, "kind", kind);

	free(version);
	free(kind);
	return type != NULL && object != NULL && read_struct(type, pb_inside(&raw), "", object, 0)
	    ? json_incref(object) : NULL;
}

static const json_t *
type_of(const char *version, const char *kind)
{
	char *group = obj_strdup(strchr(version, '/') == NULL ? "" : version), name[128];

	group[strcspn(group, "/")] = '\0';
	const json_t *type = sim_schema_of(&(struct sim_resource){ .group = group, .kind = kind,
	    .builtin = true });

	free(group);
	if (strcmp(kind, "CustomResourceDefinition") == 0)
		return NULL;
	snprintf(name, sizeof(name), "io.k8s.apimachinery.pkg.apis.meta.v1.%s", kind);
	return type != NULL ? type : json_object_get(sim_schema_types(), name);
}

/* prefix: of the numbers, where the message is one that JSON has not ("2/"). */
static bool
read_struct(const json_t *type, struct pb m, const char *prefix, json_t *object, int depth)
{
	for (struct pb_field f; pb_next(&m, &f);)
		if (!read_field(type, &f, prefix, object, depth + 1))
			return false;
	return m.broken == NULL && depth < DEPTH_MAX;
}

/* Fields that are not in the table are passed over, as Go does. */
static bool
read_field(const json_t *type, const struct pb_field *f, const char *prefix, json_t *object, int depth)
{
	const char *name;
	char number[64];
	bool inlined;

	snprintf(number, sizeof(number), "%s%u", prefix, f->number);
	const json_t *schema = field_of(type, number, &name, &inlined);

	if (inlined) {
		snprintf(number, sizeof(number), "%s%u/", prefix, f->number);
		return f->wire == PB_BYTES && read_struct(type, pb_inside(f), number, object, depth);
	}
	if (schema == NULL)
		return true;
	if (json_object_get(schema, "additionalProperties") != NULL)
		return f->wire == PB_BYTES && read_entry(schema, pb_inside(f), sim_json_branch(object, name),
		    depth);

	json_t *value = read_value(sim_schema_items(schema) == NULL ? schema
	    : sim_schema_items(schema), f, depth);

	if (value != NULL && sim_schema_items(schema) != NULL)
		return json_array_append_new(sim_json_list(object, name), value) == 0;
	return value != NULL && json_object_set_new(object, name, value) == 0;
}

/* One entry of a map: a message of key and value. */
static bool
read_entry(const json_t *schema, struct pb m, json_t *map, int depth)
{
	const json_t *inner = json_object_get(schema, "additionalProperties");
	char *key = text_of(m, 1);
	json_t *value = NULL;

	for (struct pb_field f; pb_next(&m, &f);) {
		if (f.number != 2)
			continue;
		json_decref(value);
		value = read_value(inner, &f, depth);
	}
	if (value == NULL)
		value = json_string("");
	const bool ok = m.broken == NULL && json_object_set_new(map, key, value) == 0;

	free(key);
	return ok;
}

static json_t *
read_value(const json_t *schema, const struct pb_field *f, int depth)
{
	const json_t *type = sim_schema_follow(schema);

	if (json_object_get(type, "properties") != NULL) {
		json_auto_t *object = json_object();

		return f->wire == PB_BYTES && read_struct(type, pb_inside(f), "", object, depth)
		    ? json_incref(object) : NULL;
	}
	for (size_t i = 0; i < NITEMS(readers); i++)
		if (strcmp(readers[i].go, sim_json_text(type, "x-muster-go")) == 0)
			return f->wire == readers[i].wire ? readers[i].read(f) : NULL;
	return NULL;
}

static json_t *
read_text(const struct pb_field *f)
{
	return json_stringn((const char *)f->p, f->len);	/* NULL where it is no UTF-8 */
}

static json_t *
read_bytes(const struct pb_field *f)
{
	return sim_json_base64(f->p, f->len);
}

static json_t *
read_integer(const struct pb_field *f)
{
	return json_integer((json_int_t)f->value);
}

static json_t *
read_boolean(const struct pb_field *f)
{
	return json_boolean(f->value != 0);
}

static json_t *
read_number(const struct pb_field *f)
{
	double number;

	memcpy(&number, &f->value, sizeof(number));
	return json_real(number);
}

static json_t *
read_time(const struct pb_field *f)
{
	return time_of(f, false);
}

static json_t *
read_micro_time(const struct pb_field *f)
{
	return time_of(f, true);
}

/* Seconds and nanoseconds; a message without them is a time that is not set. */
static json_t *
time_of(const struct pb_field *f, bool micro)
{
	struct pb_field seconds = { 0 }, nanos = { 0 };
	char text[TIME_TEXT_MAX];

	pb_find(pb_inside(f), 1, PB_VARINT, &seconds);
	pb_find(pb_inside(f), 2, PB_VARINT, &nanos);
	if (seconds.value == 0 && nanos.value == 0)
		return json_null();
	const int64_t us = (int64_t)seconds.value * 1000000 + (micro ? (int64_t)nanos.value / 1000 : 0);

	return json_stringn(text, (micro ? time_format_micro : time_format)(us, text, sizeof(text)));
}

static json_t *
read_quantity(const struct pb_field *f)
{
	char *text = text_of(pb_inside(f), 1);
	json_t *quantity = json_string(text);

	free(text);
	return quantity;
}

/* Its kind (1: a text), the number, the text. */
static json_t *
read_int_or_text(const struct pb_field *f)
{
	struct pb_field kind = { 0 }, number = { 0 };
	char *text = text_of(pb_inside(f), 3);

	pb_find(pb_inside(f), 1, PB_VARINT, &kind);
	pb_find(pb_inside(f), 2, PB_VARINT, &number);
	json_t *value = kind.value == 1 ? json_string(text) : json_integer((json_int_t)number.value);

	free(text);
	return value;
}

/* JSON that protobuf carries as it is (FieldsV1). */
static json_t *
read_anything(const struct pb_field *f)
{
	struct pb_field raw;

	return pb_find(pb_inside(f), 1, PB_BYTES, &raw) ? json_loadb((const char *)raw.p, raw.len,
	    JSON_DECODE_ANY, NULL) : json_object();
}

/* NULL: no field has this number. inlined: it is a message whose fields JSON has one level higher. */
static const json_t *
field_of(const json_t *type, const char *number, const char **name, bool *inlined)
{
	const size_t len = strlen(number);
	json_t *field;

	*inlined = false;
	JSON_EACH(json_object_get(type, "properties"), *name, field) {
		const char *its = sim_json_text(field, "x-muster-number");

		if (strcmp(its, number) == 0)
			return field;
		*inlined = *inlined || (strncmp(its, number, len) == 0 && its[len] == '/');
	}
	return NULL;
}

/* The text of a field; "" where there is none. Free it. */
static char *
text_of(struct pb m, uint32_t number)
{
	struct pb_field f;

	if (!pb_find(m, number, PB_BYTES, &f))
		return obj_strdup("");
	char *text = obj_alloc(f.len + 1);

	memcpy(text, f.p, f.len);
	return text;
}
