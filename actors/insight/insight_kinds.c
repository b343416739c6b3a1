/*
 * actors/insight/insight_kinds.c - the two kinds of insight as a table: how their messages are read into
 * one struct, and how that struct becomes the JSON body of a write.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "insight.h"
#include "obj.h"
#include "utf8.h"

static void read_node_state(struct insight_status *, struct wire_str, const union msg_body *);
static void read_pool_state(struct insight_status *, struct wire_str, const union msg_body *);
static void read_node_insight(struct insight_status *, const union msg_body *);
static void read_pool_insight(struct insight_status *, const union msg_body *);
static struct wire_str node_deleted(const union msg_body *);
static struct wire_str pool_deleted(const union msg_body *);
static void put_summaries(struct insight_status *, struct wire_rows);
static void put_percent(struct insight_status *, int64_t);
static void cut_texts(struct insight_status *);
static struct wire_str cut(struct wire_str, uint32_t);
static void put_field(struct json *, const struct status_field_row *, struct wire_str);
static void put_number(struct json *, const char *, struct wire_str);

const struct insight_kind_row insight_kinds[INSIGHT_KIND_MAX] = {
	[INSIGHT_NODES] = {
		.of = "nodes", .kind = "NodeProgressInsight", .state = MSG_NODE_STATE,
		.read_state = read_node_state, .read_insight = read_node_insight, .deleted = node_deleted,
	},
	[INSIGHT_POOLS] = {
		.of = "machineconfigpools", .kind = "MachineConfigPoolProgressInsight",
		.state = MSG_POOL_STATE,
		.read_state = read_pool_state, .read_insight = read_pool_insight, .deleted = pool_deleted,
	},
};

const struct reconcile_kind insight_objects[INSIGHT_KIND_MAX] = {
	[INSIGHT_NODES] = {
		.group = INSIGHT_GROUP, .resource = "nodeprogressinsights", .setting = "nodes",
		.message = MSG_NODE_INSIGHT, .counted = true,
	},
	[INSIGHT_POOLS] = {
		.group = INSIGHT_GROUP, .resource = "machineconfigpoolprogressinsights", .setting = "pools",
		.message = MSG_POOL_INSIGHT, .counted = true,
	},
};

enum insight_kind
insight_kind_by_state(enum msg m)
{
	enum insight_kind k = 0;

	while (k < INSIGHT_KIND_MAX && insight_kinds[k].state != m)
		k++;
	return k;
}

enum insight_kind
insight_kind_of_key(const char *key, size_t len, struct wire_str *name)
{
	for (enum insight_kind k = 0; k < INSIGHT_KIND_MAX; k++) {
		const size_t of = strlen(insight_kinds[k].of);

		if (len > of + 1 && memcmp(key, insight_kinds[k].of, of) == 0 && key[of] == '/') {
			*name = (struct wire_str){ .p = key + of + 1, .len = (uint32_t)(len - of - 1) };
			return k;
		}
	}
	return INSIGHT_KIND_MAX;
}

/* ---- The desired status, from node-state ---- */

static void
read_node_state(struct insight_status *out, struct wire_str name, const union msg_body *body)
{
	const struct body_node_state *const b = &body->node_state;

	*out = (struct insight_status){ .fields = {
		[FIELD_NAME] = name, [FIELD_SCOPE] = b->scope, [FIELD_POOL_GROUP] = wire_str_of(MCO_GROUP),
		[FIELD_POOL_RESOURCE] = wire_str_of("machineconfigpools"), [FIELD_POOL] = b->pool,
		[FIELD_VERSION] = b->version, [FIELD_ESTIMATE] = b->estimate, [FIELD_MESSAGE] = b->message,
	} };
	out->nconditions = conditions_read(b->conditions, out->conditions, CONDITIONS_MAX);
	cut_texts(out);
}

static void
read_pool_state(struct insight_status *out, struct wire_str name, const union msg_body *body)
{
	const struct body_pool_state *const b = &body->pool_state;

	*out = (struct insight_status){ .fields = {
		[FIELD_NAME] = name, [FIELD_SCOPE] = b->scope, [FIELD_ASSESSMENT] = b->assessment,
	} };
	put_percent(out, b->percent);
	put_summaries(out, b->summaries);
	out->nconditions = conditions_read(b->conditions, out->conditions, CONDITIONS_MAX);
	cut_texts(out);
}

/* ---- The stored status ---- */

static void
read_node_insight(struct insight_status *out, const union msg_body *body)
{
	const struct body_node_insight *const b = &body->node_insight;

	*out = (struct insight_status){ .fields = {
		[FIELD_NAME] = b->name, [FIELD_SCOPE] = b->scope, [FIELD_POOL_GROUP] = b->pool_group,
		[FIELD_POOL_RESOURCE] = b->pool_resource, [FIELD_POOL] = b->pool,
		[FIELD_VERSION] = b->version, [FIELD_ESTIMATE] = b->estimate, [FIELD_MESSAGE] = b->message,
	} };
	out->nconditions = conditions_read(b->conditions, out->conditions, CONDITIONS_MAX);
}

static void
read_pool_insight(struct insight_status *out, const union msg_body *body)
{
	const struct body_pool_insight *const b = &body->pool_insight;

	*out = (struct insight_status){ .fields = {
		[FIELD_NAME] = b->name, [FIELD_SCOPE] = b->scope, [FIELD_ASSESSMENT] = b->assessment,
	} };
	put_percent(out, b->percent);
	put_summaries(out, b->summaries);
	out->nconditions = conditions_read(b->conditions, out->conditions, CONDITIONS_MAX);
}

static struct wire_str
node_deleted(const union msg_body *body)
{
	return body->node_insight.deleted;
}

static struct wire_str
pool_deleted(const union msg_body *body)
{
	return body->pool_insight.deleted;
}

/* ---- Lists, numbers and limits of a status ---- */

static void
put_summaries(struct insight_status *out, struct wire_rows rows)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	MUST(rows.count == 0 || rows.columns == 2);
	while (out->nsummaries < SUMMARIES_MAX && rows_next(&rows, cells)) {
		out->summaries[out->nsummaries++] = (struct insight_summary){
			.type = cells[0], .count = cells[1].len > 0 ? cells[1] : wire_str_of("0"),
		};
	}
}

static void
put_percent(struct insight_status *out, int64_t percent)
{
	snprintf(out->percent, sizeof(out->percent), "%lld", (long long)percent);
	out->fields[FIELD_PERCENT] = wire_str_of(out->percent);
}

/* To the limits of the CRD: the server refuses longer texts. */
static void
cut_texts(struct insight_status *s)
{
	for (unsigned f = 0; f < FIELD_MAX; f++) {
		if (status_fields[f].limit > 0)
			s->fields[f] = cut(s->fields[f], status_fields[f].limit);
	}
	for (uint32_t i = 0; i < s->nconditions; i++)
		s->conditions[i].message = cut(s->conditions[i].message, CONDITION_MESSAGE);
}

/* The server counts code points. */
static struct wire_str
cut(struct wire_str s, uint32_t limit)
{
	s.len = (uint32_t)utf8_cut(s.p, s.len, SIZE_MAX, limit);
	return s;
}

/* ---- Bodies of writes ---- */

size_t
status_create_body(char *buf, size_t size, enum insight_kind kind, const char *api, struct wire_str name)
{
	struct json j = body_begin(buf, size, api, insight_kinds[kind].kind, name);

	json_open(&j, "spec", '{');
	json_close(&j, '}');
	json_close(&j, '}');
	return json_end(&j);
}

size_t
status_update_body(char *buf, size_t size, enum insight_kind kind, const char *api,
    const struct insight_status *desired, const struct insight_plan *p)
{
	struct json j =
	    body_begin(buf, size, api, insight_kinds[kind].kind, desired->fields[FIELD_NAME]);

	json_open(&j, "status", '{');
	status_put(&j, kind, desired, p->conditions, p->nconditions);
	json_close(&j, '}');
	json_close(&j, '}');
	return json_end(&j);
}

void
status_put(struct json *j, enum insight_kind kind, const struct insight_status *s,
    const struct status_condition *conditions, uint32_t nconditions)
{
	const char *inside = "";

	for (unsigned f = 0; f < FIELD_MAX; f++) {
		const struct status_field_row *const row = &status_fields[f];

		if ((row->kinds >> kind & 1) == 0 || (row->form == IF_ANY && s->fields[f].len == 0))
			continue;
		if (strcmp(inside, row->inside) != 0) {
			if (inside[0] != '\0')
				json_close(j, '}');
			if (row->inside[0] != '\0')
				json_open(j, row->inside, '{');
			inside = row->inside;
		}
		put_field(j, row, s->fields[f]);
	}
	if (inside[0] != '\0')
		json_close(j, '}');
	if (s->nsummaries > 0)
		json_open(j, "summaries", '[');
	for (uint32_t i = 0; i < s->nsummaries; i++) {
		json_open(j, NULL, '{');
		body_text(j, "type", s->summaries[i].type);
		put_number(j, "count", s->summaries[i].count);
		json_close(j, '}');
	}
	if (s->nsummaries > 0)
		json_close(j, ']');
	conditions_put(j, conditions, nconditions);
}

static void
put_field(struct json *j, const struct status_field_row *row, struct wire_str value)
{
	if (row->form == NUMBER)
		put_number(j, row->name, value);
	else
		body_text(j, row->name, value);
}

static void
put_number(struct json *j, const char *name, struct wire_str s)
{
	char text[24];

	snprintf(text, sizeof(text), "%.*s", (int)s.len, s.p);
	json_int(j, name, strtoll(text, NULL, 10));
}
