/* actors/lke-claimer/pool_step.c - the plan of a pool key becomes a step; its claims get machines. */
#include <stdio.h>
#include <string.h>

#include "actors/provider/node_pods.h"
#include "actors/reconcile/bodies.h"
#include "claimer.h"
#include "clock.h"
#include "json.h"
#include "node_write.h"
#include "obj.h"
#include "random.h"

enum { GONE_MIN_MS = 2000 };	/* between two lists while a deleted machine is listed; doubles */

static void assign(struct pool_view *);
static bool waits_for_absence(const struct pool_view *);
static bool orphan(struct pool_view *, const struct reconcile_item *, struct reconcile_step *);
static struct reconcile_write about_node(const struct reconcile_step *, const struct change *, const char *);
static void read_pods(struct pool_view *, struct reconcile_step *, const struct change *);
static effect_start start_read_pods;
static node_pods_done on_pods;
static bool taint_orphan(struct pool_view *, const struct reconcile_item *, struct reconcile_step *,
    const struct change *);
static bool drain_orphan(struct pool_view *, struct reconcile_step *, const struct change *);
static void perform(struct pool_view *, struct reconcile_step *, int64_t);
static void list(struct pool_view *, struct reconcile_step *, int64_t, int64_t);
static void intend(struct pool_view *, struct reconcile_step *);
static void forget_intent(struct pool_view *, struct reconcile_step *);
static void write_annotation(struct pool_view *, struct reconcile_step *, const char *);
static bool fill_order(struct pool_view *, struct lke_order *);

void
pool_plan(struct lke_claimer *c, const struct reconcile_item *i, struct reconcile_step *step)
{
	const int64_t now_ms = clock_mono_ms();
	struct pool_view v;

	pool_view_read(&v, c, i->work, now_ms);
	lke_plan(&v.in, v.assign, &v.plan);
	meters_pool(&v);
	step->verb = lke_verb_name(v.plan.verb);
	step->why = v.plan.why;
	step->write = (struct reconcile_write){ .kind = LKE_KIND_POOLS, .trace = i->work->trace,
	    .action = "Scale" };
	snprintf(step->write.name, sizeof(step->write.name), "%s", v.nodepool_name);
	snprintf(step->write.uid, sizeof(step->write.uid), "%s", v.nodepool_uid);
	assign(&v);
	if (!orphan(&v, i, step))
		perform(&v, step, now_ms);
	step->forget = step->form == STEP_NOTHING && v.in.pools == 0 && v.in.nclaims == 0;
	pool_view_free(&v);
}

/* Who got a machine, or lost the one that was not recorded yet, is planned again. */
static void
assign(struct pool_view *v)
{
	const char *const wrong = v->plan.verb == LKE_STOP ? v->plan.why : NULL;
	const bool changed = wrong != v->memory->violation;

	v->memory->violation = wrong;
	for (uint32_t i = 0; v->in.listed && i < v->in.nclaims; i++) {
		char key[OBJECT_KEY_MAX + 1];

		snprintf(key, sizeof(key), LKE_CLAIM_KEYS "%s", v->names[i]);
		struct claim_memory *const m = claim_memory_find(v->c, key);
		if (m == NULL || strcmp(m->pool_key, v->work->key) != 0)
			continue;
		const int64_t id = wrong == NULL && v->assign[i] != LKE_NONE ? v->instances[v->assign[i]].id
		    : 0;
		/* Not each time while a violation lasts: the claim enqueues this key, too. */
		if (changed
		    || (wrong == NULL && id != m->assigned && (id != 0 || v->claims[i].tagged == 0)))
			claimer_enqueue(v->c, key);
		if (wrong == NULL)
			m->assigned = id;
	}
}

static void
perform(struct pool_view *v, struct reconcile_step *step, int64_t now_ms)
{
	struct lke_order *const o = &v->c->order;

	*o = (struct lke_order){ .pool_id = v->in.pool_id, .count = v->plan.count, .own = v->plan.own };
	snprintf(o->type, sizeof(o->type), "%.*s", (int)v->type.len, v->type.p);
	switch (v->plan.verb) {
	case LKE_INTEND:
		intend(v, step);
		return;
	case LKE_FORGET:
		forget_intent(v, step);
		return;
	case LKE_CREATE:
		if (!fill_order(v, o)) {
			step->form = STEP_WAIT;
			step->why = "the tags of its LinodeNodeClass do not fit: remove some of them";
			return;
		}
		step->start = call_create_pool;
		step->what = "create pool";
		break;
	case LKE_SCALE:
		step->start = call_scale_pool;
		step->what = "scale pool";
		break;
	case LKE_DELETE_NODE:
		o->instance = v->instances[v->plan.instance].id;
		snprintf(o->node_id, sizeof(o->node_id), "%s", v->instances[v->plan.instance].node_id);
		step->start = call_delete_node;
		step->what = "delete node";
		step->destroys = true;
		break;
	case LKE_DELETE_POOL:
		step->start = call_delete_pool;
		step->what = "delete pool";
		step->destroys = true;
		break;
	case LKE_LIST:
	case LKE_STOP:
		list(v, step, v->plan.retry_at_ms, now_ms);
		return;
	case LKE_NOTHING:
	case LKE_WAIT:
	case LKE_VERB_MAX:
		step->form = v->plan.verb == LKE_WAIT ? STEP_WAIT : STEP_NOTHING;
		if (waits_for_absence(v)) {
			const unsigned doublings = v->memory->lists < 3 ? v->memory->lists : 3;

			list(v, step, v->c->list.began_ms + ((int64_t)GONE_MIN_MS << doublings), now_ms);
		} else if (v->list_due && v->c->r.leading) {
			list(v, step, now_ms, now_ms);
		} else if (v->plan.retry_at_ms != INT64_MAX || v->due_ms != INT64_MAX) {
			const int64_t at_ms = v->plan.retry_at_ms < v->due_ms ? v->plan.retry_at_ms
			    : v->due_ms;

			step->form = STEP_WAIT;
			step->after_ms = at_ms > now_ms ? at_ms - now_ms : 1;
		}
		return;
	}
	step->form = STEP_EFFECT;
}

/* A claim goes when lists do not have its machine any more. */
static bool
waits_for_absence(const struct pool_view *v)
{
	for (uint32_t i = 0; i < v->in.nclaims; i++) {
		const struct lke_plan_claim *const c = &v->claims[i];
		char key[OBJECT_KEY_MAX + 1];

		snprintf(key, sizeof(key), LKE_CLAIM_KEYS "%s", c->name);
		const struct claim_memory *const m = claim_memory_find(v->c, key);
		if (c->removable && m != NULL && strcmp(m->pool_key, v->work->key) == 0)
			return true;
	}
	return false;
}

static void
list(struct pool_view *v, struct reconcile_step *step, int64_t at_ms, int64_t now_ms)
{
	if (at_ms > now_ms) {
		step->form = STEP_WAIT;
		step->after_ms = at_ms == INT64_MAX ? 0 : at_ms - now_ms;
		return;
	}
	observe_list(v->c, v->work, step, now_ms);
}

/* ---- The intent ---- */

static void
intend(struct pool_view *v, struct reconcile_step *step)
{
	struct pool_memory *const m = v->memory;
	char text[LKE_INTENT_SIZE];
	int64_t cluster_us = 0;
	uint64_t unique;

	if (!cluster_now_us(v->c, &cluster_us)) {
		step->form = STEP_WAIT;
		step->why = "the time of the cluster is not known yet";
		step->after_ms = RECONCILE_REQUEUE_MS;
		return;
	}
	random_secret(&unique, sizeof(unique));
	intent_begin(&m->intent, call_effects_lease(&v->c->calls), cluster_us, unique);
	m->intent_kind = v->plan.kind;
	m->intent_count = v->plan.count;
	/* Without its NodePool nothing is made any more: a record would only serve to delete. */
	m->unrecorded = v->nodepool_name[0] == '\0';
	if (m->unrecorded) {
		step->form = STEP_WAIT;
		step->after_ms = 1;
		return;
	}
	lke_intent_put(text, &(struct lke_intent_record){ .text = wire_str_of(m->intent.text),
	    .kind = m->intent_kind, .count = m->intent_count });
	write_annotation(v, step, text);
}

static void
forget_intent(struct pool_view *v, struct reconcile_step *step)
{
	if (v->memory->unrecorded) {
		v->memory->unrecorded = false;
		step->form = STEP_WAIT;
		step->after_ms = 1;
		return;
	}
	intent_end(&v->memory->intent);
	write_annotation(v, step, NULL);
}

static void
write_annotation(struct pool_view *v, struct reconcile_step *step, const char *text)
{
	struct lke_claimer *const c = v->c;
	struct json j = { .buf = c->r.body, .size = sizeof(c->r.body) };
	char key[sizeof(LKE_INTENT_ANNOTATION) + LKE_TYPE_ID_SIZE];

	snprintf(key, sizeof(key), LKE_INTENT_ANNOTATION "%.*s", (int)v->type.len, v->type.p);
	json_open(&j, NULL, '{');
	json_open(&j, "metadata", '{');
	json_open(&j, "annotations", '{');
	json_str(&j, key, text);
	json_close(&j, '}');
	json_close(&j, '}');
	json_close(&j, '}');
	step->form = STEP_WRITE;
	step->write.op = OP_MERGE;
	step->write.body_len = json_end(&j);
	MUST(step->write.body_len > 0);
	snprintf(step->write.rv, sizeof(step->write.rv), "%s", v->nodepool_rv);
}

/* ---- A new pool ---- */

static bool
fill_order(struct pool_view *v, struct lke_order *o)
{
	const enum lke_tag_style style = v->c->settings.style;
	struct change found;
	union msg_body body;
	struct wire_str cells[ROWS_COLUMNS_MAX];
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), LKE_CLASS_KEYS "%s", v->class_name);

	if (!actor_read(v->c->r.actor, LINK_KUBE_LKE_CLAIMER, key, (size_t)n, &found, &body))
		return false;
	struct wire_rows tags = body.linode_class.tags;
	bool fits = lke_tag_list_add(&o->tags, style, LKE_TAG_NODEPOOL, wire_str_of(v->nodepool_name))
	    && lke_tag_list_add(&o->tags, style, LKE_TAG_MANAGED, wire_str_of(LKE_TAG_TRUE))
	    && lke_tag_list_add(&o->tags, style, LKE_TAG_NODECLASS, wire_str_of(v->class_name))
	    && lke_tag_list_add(&o->tags, style, LKE_TAG_CLUSTER, wire_str_of(v->c->cluster.label));
	while (fits && rows_next(&tags, cells))
		fits = lke_tag_list_keep(&o->tags, cells[0]);
	o->firewall = body.linode_class.firewall;
	snprintf(o->version, sizeof(o->version), "%.*s", (int)body.linode_class.version.len,
	    body.linode_class.version.len > 0 ? body.linode_class.version.p : "");
	return fits;
}

/* ---- Nodes of machines that nobody has claimed (C9) ---- */

/* True: that is the step. */
static bool
orphan(struct pool_view *v, const struct reconcile_item *i, struct reconcile_step *step)
{
	struct change node;
	union msg_body fact;
	char id[LKE_PROVIDER_ID_MAX];

	if (v->plan.orphan == LKE_NONE || !v->c->r.leading)
		return false;
	provider_id_put(id, v->instances[v->plan.orphan].id);
	const char *const key = id_index_key(v->c->nodes, wire_str_of(id));
	if (key == NULL || !actor_read(v->c->r.actor, LINK_FACTS, key, strlen(key), &node, &fact))
		return false;
	if (v->plan.orphan_step == LKE_ORPHAN_READ_PODS) {
		read_pods(v, step, &node);
		return true;
	}
	if (v->plan.orphan_step == LKE_ORPHAN_TAINT)
		return taint_orphan(v, i, step, &node);
	/* A mutation that is due does not wait for a drain. */
	return v->plan.verb == LKE_NOTHING && drain_orphan(v, step, &node);
}

static struct reconcile_write
about_node(const struct reconcile_step *step, const struct change *node, const char *action)
{
	const size_t prefix = strlen("nodes/");
	struct reconcile_write w = { .kind = LKE_KIND_NODES, .trace = step->write.trace, .action = action };

	snprintf(w.name, sizeof(w.name), "%.*s", (int)(node->key.len - prefix), node->key.p + prefix);
	return w;
}

/* C9: one that runs Pods is claimed first. */
static void
read_pods(struct pool_view *v, struct reconcile_step *step, const struct change *node)
{
	step->form = STEP_EFFECT;
	step->verb = "read Pods";
	step->what = "list Pods of an unclaimed Node";
	step->start = start_read_pods;
	step->number = v->instances[v->plan.orphan].id;
	step->write = about_node(step, node, "ReadPods");
}

static void
start_read_pods(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	node_pods_list(r, f, LINK_KUBE_LKE_CLAIMER, w, step, on_pods);
}

/* What could not be read is not read again soon: no claim waits for that. */
static void
on_pods(struct reconciler *r, int64_t instance, bool read, bool pods)
{
	struct machine_memory *const m = machine_memory(claimer_of(r), instance);

	(void)read;
	m->pods_ms = clock_mono_ms();
	m->pods = pods;
}

static bool
taint_orphan(struct pool_view *v, const struct reconcile_item *i, struct reconcile_step *step,
    const struct change *node)
{
	struct reconcile_write w = about_node(step, node, "Taint");
	struct live_node n;

	step->verb = "taint Node";
	step->why = "nobody has claimed its machine, and Karpenter would plan Pods onto it";
	const bool read = i->live != NULL && i->read->kind == LKE_KIND_NODES && strcmp(i->read->name,
	    w.name) == 0;
	if (!read) {
		step->form = STEP_READ;
		step->write = w;
		return true;
	}
	if (i->live->nitems != 1 || i->live->items[0].type != MSG_RAW)
		return false;
	bool done = live_node_read(&n, i->live->items[0].value->raw.json);
	if (done && n.unregistered) {
		/* It has the taint, and node-state has not published it yet (A11). */
		live_node_free(&n);
		return false;
	}
	if (done) {
		snprintf(w.uid, sizeof(w.uid), "%s", n.uid);
		snprintf(w.rv, sizeof(w.rv), "%s", n.rv);
		w.op = OP_MERGE;
		w.body_len = node_write_taint(v->c->r.body, sizeof(v->c->r.body), &n);
		done = w.body_len > 0;
	}
	live_node_free(&n);
	step->write = w;
	step->form = done ? STEP_WRITE : STEP_WAIT;
	return true;
}

static bool
drain_orphan(struct pool_view *v, struct reconcile_step *step, const struct change *node)
{
	const int64_t id = v->instances[v->plan.orphan].id;

	if (v->memory->draining != id) {
		drain_set_drop(v->c->drains, v->work->key);
		v->memory->draining = id;
	}
	step->verb = "drain Node";
	if (drain_set_state(v->c->drains, v->work->key) == DRAIN_WAIT) {
		drain_set_step(v->c->drains, v->work, node, INT64_MAX, step);
		return true;
	}
	machine_memory(v->c, id)->drained = true;
	step->form = STEP_WAIT;
	step->after_ms = 1;
	return true;
}
