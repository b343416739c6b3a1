/* sim/kube/schema/sim_schema_types.c - reads sim_schema_types.def into JSON schemas, once. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_schema.h"

struct type_section {
	const char	*name, *prefix;
};

struct type_row {
	const char	*name, *fields;		/* fields NULL: a section starts, with this prefix */
};

/* The type letters. go: how Go calls it in messages. */
static const struct letter {
	char		 letter;
	const char	*type, *format, *go;
} letters[] = {
	{ 's', "string",	NULL,		"string" },
	{ 'y', "string",	"byte",		"[]uint8" },
	{ 'i', "integer",	"int32",	"int32" },
	{ 'l', "integer",	"int64",	"int64" },
	{ 'n', "number",	"double",	"float64" },
	{ 'b', "boolean",	NULL,		"bool" },
	{ 't', "string",	"date-time",	"v1.Time" },
	{ 'u', "string",	"date-time",	"v1.MicroTime" },
	{ 'q', "string",	"quantity",	"resource.Quantity" },
	{ 'x', NULL,		NULL,		"intstr.IntOrString" },
	{ 'a', NULL,		NULL,		"" },
};

#define SECTION(name, prefix)		{ #name, prefix },
#define TYPE(name, fields)
static const struct type_section sections[] = {
#include "sim_schema_types.def"
};
#undef SECTION
#undef TYPE

#define SECTION(name, prefix)		{ prefix, NULL },
#define TYPE(name, fields)		{ name, fields },
static const struct type_row rows[] = {
#include "sim_schema_types.def"
};
#undef SECTION
#undef TYPE

static json_t *read_types(void);
static json_t *read_type(const struct type_row *row, const char *prefix);
static void read_field(json_t *type, const char *text, const char *prefix);
static json_t *read_shape(const char **at, const char *prefix);
static json_t *read_letter(const char **at);
static json_t *read_reference(const char **at, const char *prefix);
static void read_list_type(json_t *list, const char **at);
static void read_merge(json_t *field, const char **at);
static json_t *default_of(const json_t *field, const char *text);
static json_t *zero_of(const json_t *field);
static char *word(const char **at, const char *ends);

const json_t *
sim_schema_types(void)
{
	static json_t *types;

	if (types == NULL)
		types = read_types();
	return types;
}

static json_t *
read_types(void)
{
	json_t *types = json_object();
	const char *prefix = "";

	for (size_t i = 0; i < NITEMS(rows); i++) {
		if (rows[i].fields == NULL) {
			prefix = rows[i].name;
			continue;
		}
		char full[128];

		snprintf(full, sizeof(full), "%s%.*s", prefix, (int)strcspn(rows[i].name, "#"), rows[i].name);
		json_object_set_new(types, full, read_type(&rows[i], prefix));
	}
	return types;
}

static json_t *
read_type(const struct type_row *row, const char *prefix)
{
	const size_t len = strcspn(row->name, "#");
	json_t *type = json_pack("{s:s, s:s%, s:{}}", "type", "object", "x-muster-name", row->name, len,
	    "properties");

	if (row->name[len] == '#')
		json_object_set_new(type, "x-kubernetes-map-type", json_string("atomic"));
	if (strstr(row->fields, "metadata") != NULL) {
		read_field(type, "kind:s", prefix);
		read_field(type, "apiVersion:s", prefix);
	}
	for (const char *p = row->fields; *p != '\0';) {
		char *field = word(&p, " ");

		read_field(type, field, prefix);
		free(field);
		p += strspn(p, " ");
	}
	return type;
}

static void
read_field(json_t *type, const char *text, const char *prefix)
{
	const size_t digits = strspn(text, "0123456789/");
	char *number = obj_strdup(text);

	number[digits] = '\0';
	text += digits;
	char *name = word(&text, "*+?:");
	const size_t nmarks = strcspn(text, ":");
	const char *shape = text + nmarks + 1;
	json_t *field = read_shape(&shape, prefix);

	read_merge(field, &shape);
	if (memchr(text, '*', nmarks) != NULL)
		json_array_append_new(sim_json_list(type, "required"), json_string(name));
	if (memchr(text, '?', nmarks) != NULL)
		json_object_set_new(field, "x-muster-zero-kept", json_true());
	if (*shape == '=')
		json_object_set_new(field, "default", default_of(field, shape + 1));
	if (memchr(text, '+', nmarks) != NULL)
		json_object_set_new(field, "x-muster-zero", zero_of(field));
	if (digits > 0)
		json_object_set_new(field, "x-muster-number", json_string(number));
	json_object_set_new(json_object_get(type, "properties"), name, field);
	free(name);
	free(number);
}

/* One TYPE; *at is left behind it. */
static json_t *
read_shape(const char **at, const char *prefix)
{
	const char open = **at;

	if (open != '[' && open != '{') {
		json_t *simple = read_letter(at);

		return simple != NULL ? simple : read_reference(at, prefix);
	}
	(*at)++;
	json_t *inner = read_shape(at, prefix);

	MUST(**at == (open == '[' ? ']' : '}'));
	(*at)++;
	if (open == '[') {
		json_t *list = json_pack("{s:s, s:o}", "type", "array", "items", inner);

		read_list_type(list, at);
		return list;
	}

	json_t *map = json_pack("{s:s, s:o}", "type", "object", "additionalProperties", inner);

	if (**at == '#') {
		json_object_set_new(map, "x-kubernetes-map-type", json_string("atomic"));
		(*at)++;
	}
	return map;
}

/* NULL: what stands there is the name of a type. */
static json_t *
read_letter(const char **at)
{
	if (isalnum((unsigned char)(*at)[1]) || (*at)[1] == '.')
		return NULL;
	for (size_t i = 0; i < NITEMS(letters); i++) {
		const struct letter *l = &letters[i];

		if (l->letter != **at)
			continue;
		(*at)++;
		json_t *shape = json_pack("{s:s*, s:s*, s:s}", "type", l->type, "format", l->format,
		    "x-muster-go", l->go);

		if (l->letter == 'x')
			json_object_set_new(shape, "x-kubernetes-int-or-string", json_true());
		if (l->letter == 'a')
			json_object_set_new(shape, "x-kubernetes-preserve-unknown-fields", json_true());
		return shape;
	}
	return NULL;
}

static json_t *
read_reference(const char **at, const char *prefix)
{
	char *name = word(at, " ]}~^=@#!");
	const char *dot = strchr(name, '.');
	char full[128];

	for (size_t i = 0; dot != NULL && i < NITEMS(sections); i++)
		if (strncmp(sections[i].name, name, (size_t)(dot - name)) == 0)
			prefix = sections[i].prefix;
	snprintf(full, sizeof(full), "%s%s", prefix, dot == NULL ? name : dot + 1);
	free(name);
	return json_pack("{s:s}", "$ref", full);
}

/* "@": a set; "@k,l": a map by keys; nothing: atomic. */
static void
read_list_type(json_t *list, const char **at)
{
	if (**at != '@') {
		json_object_set_new(list, "x-kubernetes-list-type", json_string("atomic"));
		return;
	}
	(*at)++;
	json_auto_t *keys = json_array();

	while (isalnum((unsigned char)**at)) {
		char *key = word(at, ", ~=!");

		json_array_append_new(keys, json_string(key));
		free(key);
		*at += **at == ',';
	}
	json_object_set_new(list, "x-kubernetes-list-type",
	    json_string(json_array_size(keys) > 0 ? "map" : "set"));
	if (json_array_size(keys) > 0)
		json_object_set(list, "x-kubernetes-list-map-keys", keys);
}

static void
read_merge(json_t *field, const char **at)
{
	if (**at == '^') {
		(*at)++;
		json_object_set_new(field, "x-kubernetes-patch-strategy", json_string("replace"));
	}
	if (**at != '~')
		return;
	(*at)++;
	char *key = word(at, " =!");

	json_object_set_new(field, "x-kubernetes-patch-strategy",
	    json_string(**at == '!' ? "merge,retainKeys" : "merge"));
	if (*key != '\0')
		json_object_set_new(field, "x-kubernetes-patch-merge-key", json_string(key));
	*at += **at == '!';
	free(key);
}

static json_t *
default_of(const json_t *field, const char *text)
{
	if (is_text(json_object_get(field, "type"), "string"))
		return json_string(text);
	return json_loads(text, JSON_DECODE_ANY, NULL);
}

/* Times and lists that are not there are printed as null. */
static json_t *
zero_of(const json_t *field)
{
	const char *type = sim_json_text(field, "type");

	if (json_object_get(field, "$ref") != NULL)
		return json_object();
	if (strcmp(type, "string") == 0 && *sim_json_text(field, "format") == '\0')
		return json_string("");
	if (strcmp(type, "integer") == 0)
		return json_integer(0);
	if (strcmp(type, "boolean") == 0)
		return json_false();
	return json_null();
}

/* The characters up to one of `ends`; *at is left there. Free it. */
static char *
word(const char **at, const char *ends)
{
	const size_t len = strcspn(*at, ends);
	char *text = obj_alloc(len + 1);

	memcpy(text, *at, len);
	*at += len;
	return text;
}
