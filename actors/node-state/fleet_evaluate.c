/*
 * actors/node-state/fleet_evaluate.c - evaluates one key: the Node with its pool and the versions,
 * or the pool with its nodes; and finds out whether its state has changed.
 *
 * A state has changed when the hash of its packed form has. The fields that describe the evaluation
 * itself (when, why, how often) are not in that hash: they are the last of both messages and are
 * packed after it.
 */
#include <string.h>

#include "fleet_private.h"

static enum fleet_result evaluate_node(struct fleet *, struct wire_str, const struct body_node *,
    uint64_t, int64_t, struct fleet_state *);
static enum fleet_result evaluate_pool(struct fleet *, struct wire_str, int64_t, struct fleet_state *);
static enum fleet_result release(struct fleet *, uint32_t, bool, uint64_t, struct fleet_state *);
static enum fleet_result compare_with_last(struct fleet *, uint64_t *, struct fleet_state *);
static void pack_evaluation(struct fleet *, struct fleet_state *);
static void count(struct fleet *, struct fleet_node *, const struct pool *, const struct assess *, uint64_t);
static void uncount(struct fleet *, struct fleet_node *, uint64_t);
static void fill_node(struct fleet *, const struct assess_in *, const struct assess *, union msg_body *);
static void fill_pool(struct fleet *, const struct pool *, const struct pool_report *, union msg_body *);
static struct wire_rows condition_rows(msgpack_sbuffer *, const struct state_condition *, size_t);
static uint32_t node_id(struct fleet *, struct wire_str);
static struct wire_str text_or_empty(struct wire_str);

static const char *const causes[FLEET_CAUSE_MAX] = {
#define CAUSE_TEXT(ID, text) [FLEET_##ID] = (text),
	FLEET_CAUSES(CAUSE_TEXT)
};

enum fleet_result
fleet_evaluate(struct fleet *f, struct wire_str key, const struct body_node *node, uint64_t trace,
    int64_t now_us, struct fleet_state *out)
{
	OBJ_CHECK(f, FLEET_MAGIC);
	MUST(f->open);
	*out = (struct fleet_state){ .now = "", .before = "" };
	const struct wire_str pool = fleet_name(key, POOLS);

	if (pool.len > 0)
		return evaluate_pool(f, pool, now_us, out);
	MUST(fleet_name(key, NODES).len > 0);
	return evaluate_node(f, key, node, trace, now_us, out);
}

void
fleet_inputs(const struct fleet *f, const struct body_node *node, const struct pool *owner,
    struct assess_in *in)
{
	OBJ_CHECK(f, FLEET_MAGIC);
	inputs_from_node(node, in);
	if (owner != NULL) {
		in->pool = wire_str_of(owner->name);
		in->paused = owner->paused;
		in->pool_image = wire_str_of(owner->image);
	}
	in->current_version = versions_find(f->versions, in->mco[MCO_CURRENT_CONFIG]);
	in->desired_version = versions_find(f->versions, in->mco[MCO_DESIRED_CONFIG]);
	in->target = wire_str_of(f->target);
}

static enum fleet_result
evaluate_node(struct fleet *f, struct wire_str key, const struct body_node *n, uint64_t trace, int64_t now_us,
    struct fleet_state *out)
{
	if (n == NULL)
		return release(f, keytab_find(f->nodes, key.p, key.len), true, trace, out);
	const uint32_t id = node_id(f, key);
	struct fleet_node *node = fleet_node(f, id);
	struct choice choice;
	const struct pool *owner = pools_owner(f->pools, n->labels, &choice, NULL, 0);
	struct assess_in in;

	fleet_inputs(f, n, owner, &in);
	node->evaluations++;
	node->current = fleet_name_hash(in.mco[MCO_CURRENT_CONFIG]);
	node->desired = fleet_name_hash(in.mco[MCO_DESIRED_CONFIG]);
	out->several = choice.rule == CHOOSE_SEVERAL;
	if (owner == NULL)
		return release(f, id, false, trace, out);

	const struct assess a = assess_node(&in);
	conditions_from(&in, &a, &f->texts);
	out->type = MSG_NODE_STATE;
	out->now = assess_phase_name(a.phase);
	out->before = node->hash != 0 ? assess_phase_name(node->counted.phase) : "";
	fill_node(f, &in, &a, &out->body);
	f->managed += node->hash == 0;
	const enum fleet_result result = compare_with_last(f, &node->hash, out);
	count(f, node, owner, &a, trace);
	out->body.node_state.reason = wire_str_of(causes[node->cause]);
	out->body.node_state.evaluated_us = now_us;
	out->body.node_state.evaluations = node->evaluations;
	if (result == EVAL_CHANGED)
		pack_evaluation(f, out);
	return result;
}

static enum fleet_result
evaluate_pool(struct fleet *f, struct wire_str name, int64_t now_us, struct fleet_state *out)
{
	const uint32_t id = fleet_sum_id(f, name);
	struct pool_sum *s = fleet_sum(f, id);
	const struct pool *pool = pools_find(f->pools, name);
	struct pool_report report;

	if (pool == NULL) {
		const bool was = s->hash != 0;

		s->hash = 0;
		if (s->tally.total == 0)
			keytab_remove(f->sums, id);
		return was ? EVAL_GONE : EVAL_UNCHANGED;
	}
	pool_tally_report(&s->tally, pool->paused, &report);
	out->type = MSG_POOL_STATE;
	out->now = report.name;
	out->before = s->hash != 0 ? s->assessment : "";
	fill_pool(f, pool, &report, &out->body);
	const enum fleet_result result = compare_with_last(f, &s->hash, out);
	s->assessment = report.name;
	out->body.pool_state.reason = wire_str_of(causes[s->cause]);
	out->body.pool_state.evaluated_us = now_us;
	if (result == EVAL_CHANGED)
		pack_evaluation(f, out);
	return result;
}

/* No pool owns the node, or the Node was deleted. */
static enum fleet_result
release(struct fleet *f, uint32_t id, bool gone, uint64_t trace, struct fleet_state *out)
{
	if (id == KEYTAB_NONE)
		return EVAL_UNCHANGED;
	struct fleet_node *n = fleet_node(f, id);
	const bool was = n->hash != 0;

	out->before = was ? assess_phase_name(n->counted.phase) : "";
	f->managed -= was;
	n->hash = 0;
	uncount(f, n, trace);
	if (gone) {
		n->current = n->desired = 0;
		keytab_remove(f->nodes, id);
	}
	return was ? EVAL_GONE : EVAL_UNCHANGED;
}

/* The fields that describe the evaluation are still empty. */
static enum fleet_result
compare_with_last(struct fleet *f, uint64_t *hash, struct fleet_state *s)
{
	msgpack_sbuffer_clear(&f->packed);
	msg_pack(&f->packed, s->type, &s->body);
	uint64_t now = hash64(f->packed.data, f->packed.size);
	now += now == 0;		/* 0 means: no state */
	if (now == *hash)
		return EVAL_UNCHANGED;
	*hash = now;
	return EVAL_CHANGED;
}

/*
 * Replaces the empty fields that describe the evaluation by their values: so a changed state is
 * packed once, and only this end of it twice.
 */
static void
pack_evaluation(struct fleet *f, struct fleet_state *s)
{
	static const char empty[] = { (char)0xa0, 0, 0 };	/* reason, evaluated_us, evaluations */
	const bool node = s->type == MSG_NODE_STATE;
	const size_t len = node ? sizeof(empty) : sizeof(empty) - 1;
	const struct wire_str reason = node ? s->body.node_state.reason : s->body.pool_state.reason;
	msgpack_packer pk;

	MUST(f->packed.size > len && memcmp(f->packed.data + f->packed.size - len, empty, len) == 0);
	f->packed.size -= len;
	msgpack_packer_init(&pk, &f->packed, msgpack_sbuffer_write);
	msgpack_pack_str(&pk, reason.len);
	msgpack_pack_str_body(&pk, reason.p, reason.len);
	msgpack_pack_int64(&pk, node ? s->body.node_state.evaluated_us : s->body.pool_state.evaluated_us);
	if (node)
		msgpack_pack_uint64(&pk, s->body.node_state.evaluations);
	s->packed = (struct wire_bin){ (const uint8_t *)f->packed.data, (uint32_t)f->packed.size };
}

static void
count(struct fleet *f, struct fleet_node *n, const struct pool *owner, const struct assess *a, uint64_t trace)
{
	const struct wire_str name = wire_str_of(owner->name);
	const struct tally_node now = tally_node_of(a), was = n->counted;
	const uint32_t id = fleet_sum_id(f, name);

	if (n->owner == id && was.phase == now.phase && was.degraded == now.degraded
	    && was.available == now.available && was.outdated == now.outdated)
		return;
	uncount(f, n, trace);
	n->owner = id;
	n->counted = now;
	pool_tally_add(&fleet_sum(f, id)->tally, &n->counted);
	fleet_enqueue_pool(f, name, FLEET_MEMBER, trace);
}

static void
uncount(struct fleet *f, struct fleet_node *n, uint64_t trace)
{
	if (n->owner == KEYTAB_NONE)
		return;
	pool_tally_remove(&fleet_sum(f, n->owner)->tally, &n->counted);
	fleet_enqueue_pool(f, fleet_key(f->sums, n->owner), FLEET_MEMBER, trace);
	n->owner = KEYTAB_NONE;
}

/* ---- Bodies ---- */

static void
fill_node(struct fleet *f, const struct assess_in *in, const struct assess *a, union msg_body *out)
{
	const struct conditions *c = &f->texts;

	out->node_state = (struct body_node_state){
		.pool = in->pool, .scope = c->scope, .version = c->version, .target = in->target,
		.current = text_or_empty(in->mco[MCO_CURRENT_CONFIG]),
		.desired = text_or_empty(in->mco[MCO_DESIRED_CONFIG]),
		.phase = c->phase, .estimate = c->estimate, .message = c->message,
		.conditions = condition_rows(&f->rows, c->list, CONDITION_MAX),
		.rule = wire_str_of(assess_rule_text(a->rule)), .reason = wire_str_of(""),
	};
}

static void
fill_pool(struct fleet *f, const struct pool *pool, const struct pool_report *r, union msg_body *out)
{
	struct wire_rows summaries = { 0 };

	msgpack_sbuffer_clear(&f->summaries);
	for (size_t i = 0; i < SUMMARY_MAX; i++) {
		const struct wire_str cells[] = { wire_str_of(r->summaries[i].type),
			wire_str_of(r->summaries[i].text) };

		rows_put(&f->summaries, &summaries, cells, NITEMS(cells));
	}
	out->pool_state = (struct body_pool_state){
		.scope = wire_str_of(conditions_scope(wire_str_of(pool->name))),
		.paused = pool->paused, .target = wire_str_of(f->target),
		.assessment = wire_str_of(r->name), .percent = r->percent, .summaries = summaries,
		.conditions = condition_rows(&f->rows, r->conditions, POOL_CONDITION_MAX),
		.reason = wire_str_of(""),
	};
}

static struct wire_rows
condition_rows(msgpack_sbuffer *bytes, const struct state_condition *list, size_t n)
{
	struct wire_rows rows = { 0 };

	msgpack_sbuffer_clear(bytes);
	for (size_t i = 0; i < n; i++) {
		const struct wire_str cells[] = { wire_str_of(list[i].type), wire_str_of(list[i].status),
			wire_str_of(list[i].reason), list[i].message, list[i].since };

		rows_put(bytes, &rows, cells, NITEMS(cells));
	}
	return rows;
}

static uint32_t
node_id(struct fleet *f, struct wire_str key)
{
	bool added;
	const uint32_t id = keytab_add(f->nodes, key.p, key.len, &added);

	if (added)
		fleet_node(f, id)->owner = KEYTAB_NONE;
	return id;
}

static struct wire_str
text_or_empty(struct wire_str s)
{
	return s.p == NULL ? wire_str_of("") : s;
}
