/* actors/insight/sorts.c - what the bus says about nodes, pools and their insights, in the one shape. */
#include "sorts.h"

#include <stdio.h>
#include <string.h>

#include "obj.h"

static void read_node_state(struct status *, struct wire_str, const union msg_body *);
static void read_pool_state(struct status *, struct wire_str, const union msg_body *);
static void read_node_insight(struct status *, const union msg_body *);
static void read_pool_insight(struct status *, const union msg_body *);
static struct wire_str node_deleted(const union msg_body *);
static struct wire_str pool_deleted(const union msg_body *);
static void put_conditions(struct status *, struct wire_rows);
static void put_summaries(struct status *, struct wire_rows);
static void put_percent(struct status *, int64_t);

const struct sort_row sort_table[SORT_MAX] = {
	[SORT_NODES] = {
		.of = "nodes", .what = "node", .setting = "nodes", .resource = "nodeprogressinsights",
		.kind = "NodeProgressInsight", .state = MSG_NODE_STATE, .insight = MSG_NODE_INSIGHT,
		.read_state = read_node_state, .read_insight = read_node_insight, .deleted = node_deleted,
	},
	[SORT_POOLS] = {
		.of = "machineconfigpools", .what = "pool", .setting = "pools",
		.resource = "machineconfigpoolprogressinsights", .kind = "MachineConfigPoolProgressInsight",
		.state = MSG_POOL_STATE, .insight = MSG_POOL_INSIGHT,
		.read_state = read_pool_state, .read_insight = read_pool_insight, .deleted = pool_deleted,
	},
};

enum sort
sort_by_state(enum msg m)
{
	enum sort s = 0;

	while (s < SORT_MAX && sort_table[s].state != m)
		s++;
	return s;
}

enum sort
sort_by_insight(enum msg m)
{
	enum sort s = 0;

	while (s < SORT_MAX && sort_table[s].insight != m)
		s++;
	return s;
}

enum sort
sort_by_resource(struct wire_str resource)
{
	enum sort s = 0;

	while (s < SORT_MAX && wire_str_compare(wire_str_of(sort_table[s].resource), resource) != 0)
		s++;
	return s;
}

enum sort
sort_of_key(const char *key, size_t len, struct wire_str *name)
{
	for (enum sort s = 0; s < SORT_MAX; s++) {
		const size_t of = strlen(sort_table[s].of);

		if (len > of + 1 && memcmp(key, sort_table[s].of, of) == 0 && key[of] == '/') {
			*name = (struct wire_str){ .p = key + of + 1, .len = (uint32_t)(len - of - 1) };
			return s;
		}
	}
	return SORT_MAX;
}

/* ---- As it should be ---- */

static void
read_node_state(struct status *out, struct wire_str name, const union msg_body *body)
{
	const struct body_node_state *const b = &body->node_state;

	*out = (struct status){ .fields = {
		[FIELD_NAME] = name, [FIELD_SCOPE] = b->scope, [FIELD_POOL_GROUP] = wire_str_of(MCO_GROUP),
		[FIELD_POOL_RESOURCE] = wire_str_of("machineconfigpools"), [FIELD_POOL] = b->pool,
		[FIELD_VERSION] = b->version, [FIELD_ESTIMATE] = b->estimate, [FIELD_MESSAGE] = b->message,
	} };
	put_conditions(out, b->conditions);
	fields_cut(out);
}

static void
read_pool_state(struct status *out, struct wire_str name, const union msg_body *body)
{
	const struct body_pool_state *const b = &body->pool_state;

	*out = (struct status){ .fields = {
		[FIELD_NAME] = name, [FIELD_SCOPE] = b->scope, [FIELD_ASSESSMENT] = b->assessment,
	} };
	put_percent(out, b->percent);
	put_summaries(out, b->summaries);
	put_conditions(out, b->conditions);
	fields_cut(out);
}

/* ---- As it is stored ---- */

static void
read_node_insight(struct status *out, const union msg_body *body)
{
	const struct body_node_insight *const b = &body->node_insight;

	*out = (struct status){ .fields = {
		[FIELD_NAME] = b->name, [FIELD_SCOPE] = b->scope, [FIELD_POOL_GROUP] = b->pool_group,
		[FIELD_POOL_RESOURCE] = b->pool_resource, [FIELD_POOL] = b->pool,
		[FIELD_VERSION] = b->version, [FIELD_ESTIMATE] = b->estimate, [FIELD_MESSAGE] = b->message,
	} };
	put_conditions(out, b->conditions);
}

static void
read_pool_insight(struct status *out, const union msg_body *body)
{
	const struct body_pool_insight *const b = &body->pool_insight;

	*out = (struct status){ .fields = {
		[FIELD_NAME] = b->name, [FIELD_SCOPE] = b->scope, [FIELD_ASSESSMENT] = b->assessment,
	} };
	put_percent(out, b->percent);
	put_summaries(out, b->summaries);
	put_conditions(out, b->conditions);
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

/* ---- Helpers ---- */

static void
put_conditions(struct status *out, struct wire_rows rows)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	MUST(rows.count == 0 || rows.columns == 5);
	while (out->nconditions < CONDITIONS_MAX && rows_next(&rows, cells)) {
		out->conditions[out->nconditions++] = (struct condition){
			.type = cells[0], .status = cells[1], .reason = cells[2],
			.message = cells[3], .time = cells[4],
		};
	}
}

static void
put_summaries(struct status *out, struct wire_rows rows)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	MUST(rows.count == 0 || rows.columns == 2);
	while (out->nsummaries < SUMMARIES_MAX && rows_next(&rows, cells)) {
		out->summaries[out->nsummaries++] = (struct summary){
			.type = cells[0], .count = cells[1].len > 0 ? cells[1] : wire_str_of("0"),
		};
	}
}

static void
put_percent(struct status *out, int64_t percent)
{
	snprintf(out->percent, sizeof(out->percent), "%lld", (long long)percent);
	out->fields[FIELD_PERCENT] = wire_str_of(out->percent);
}
