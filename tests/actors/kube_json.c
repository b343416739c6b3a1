/*
 * tests/actors/kube_json.c - bodies of kinds and of the messages of node-state as JSON, generated from
 * kinds.h and messages.h. Never in a release build.
 */
#include "kube.h"

#include <string.h>

#include "obj.h"

static json_t *json_of_str(wire_str);
static json_t *json_of_flag(wire_flag);
static json_t *json_of_i64(wire_i64);
static json_t *json_of_u64(wire_u64);
static json_t *json_of_map(wire_map);
static json_t *json_of_rows(wire_rows);
static json_t *fields_of(const struct change *, enum role);

/* One function per kind: its fields that this role reads. */
#define FIELD(type, name, json, proto, readers)					\
	if (((readers) >> reader & 1) != 0)					\
		json_object_set_new(o, #name, json_of_##type(m->name));
#define KIND_BODY(ID, body, ...)						\
	static json_t *								\
	fields_of_##body(const union msg_body *any, enum role reader)		\
	{									\
		const struct body_##body *m = &any->body;			\
		json_t *o = json_object();					\
		body##_FIELDS(FIELD)						\
		return o;							\
	}
KINDS(KIND_BODY)

/* Every receiver of a value on the bus may read all of it. */
#define VALUE(type, name)	json_object_set_new(o, #name, json_of_##type(m->name));
#define VALUE_BODY(body)							\
	static json_t *								\
	fields_of_##body(const union msg_body *any, enum role reader)		\
	{									\
		const struct body_##body *m = &any->body;			\
		json_t *o = json_object();					\
		(void)reader;							\
		body##_FIELDS(VALUE)						\
		return o;							\
	}
VALUE_BODY(node_state)
VALUE_BODY(pool_state)
VALUE_BODY(node_fact)

static json_t *(*const by_message[MSG_MAX])(const union msg_body *, enum role) = {
#define KIND_FIELDS_ROW(ID, body, ...) [MSG_##ID] = fields_of_##body,
	KINDS(KIND_FIELDS_ROW)
	[MSG_NODE_STATE] = fields_of_node_state,
	[MSG_POOL_STATE] = fields_of_pool_state,
	[MSG_NODE_FACT] = fields_of_node_fact,
};

json_t *
kube_object(const struct change *c, enum role reader)
{
	return json_pack("{s:o, s:o, s:s, s:o}", "uid", kube_text(c->uid), "rv", kube_text(c->rv),
	    "type", msg_name(c->type), "fields", c->value == NULL ? json_object() : fields_of(c, reader));
}

json_t *
kube_text(struct wire_str s)
{
	json_t *j = json_stringn(s.p == NULL ? "" : s.p, s.len);

	return j != NULL ? j : json_string("?");
}

static json_t *
fields_of(const struct change *c, enum role reader)
{
	if (c->type == MSG_RAW) {
		json_t *j = json_loadb(c->value->raw.json.p, c->value->raw.json.len, JSON_DECODE_ANY, NULL);

		return j != NULL ? j : json_null();
	}
	MUST(by_message[c->type] != NULL);
	return by_message[c->type](c->value, reader);
}

static json_t *
json_of_str(wire_str v)
{
	return kube_text(v);
}

static json_t *
json_of_flag(wire_flag v)
{
	return json_boolean(v);
}

static json_t *
json_of_i64(wire_i64 v)
{
	return json_integer(v);
}

static json_t *
json_of_u64(wire_u64 v)
{
	return json_integer((json_int_t)v);
}

static json_t *
json_of_map(wire_map v)
{
	json_t *o = json_object();
	wire_str key, value;

	while (map_next(&v, &key, &value)) {
		char *const name = obj_alloc(key.len + 1);

		memcpy(name, key.p, key.len);
		json_object_set_new(o, name, kube_text(value));
		free(name);
	}
	return o;
}

/* A list of rows, whatever their number of columns. */
static json_t *
json_of_rows(wire_rows v)
{
	json_t *list = json_array();
	wire_str cells[ROWS_COLUMNS_MAX];

	while (rows_next(&v, cells)) {
		json_t *row = json_array();

		for (uint32_t i = 0; i < v.columns; i++)
			json_array_append_new(row, kube_text(cells[i]));
		json_array_append_new(list, row);
	}
	return list;
}
