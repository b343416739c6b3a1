/*
 * actors/insight/main.c - keeps one NodeProgressInsight per node that a pool owns, and one
 * MachineConfigPoolProgressInsight per pool: content from node-state, written through kube-watcher.
 *
 *	node-state   ==nodes==========> key "nodes/<name>" or "machineconfigpools/<name>" in the work queue
 *	kube-watcher ==kube.insight===> the same key: the insight, its kind, the leader
 *	reconcile: both mirrors -> plan.c -> at most one write of that object
 */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "insight.h"
#include "log.h"
#include "obj.h"

enum { TICK_MS = 1000 };

static void keys(struct reconciler *, const struct change *);
static unsigned kinds_of(const char *, size_t);
static void plan(struct reconciler *, const struct reconcile_item *, struct reconcile_step *);
static void fill_write(struct reconciler *, const struct insight_plan *, const struct insight_status *,
    struct reconcile_write *);
static bool read_insight(struct reconciler *, enum insight_kind, struct wire_str, struct change *,
    union msg_body *);
static void explain(struct actor *, void *, const char *, const char *, struct json *);
static void copy(char *, size_t, struct wire_str);

static const struct actor_row rows[] = {
	/* message          only from           handler             */
	{ MSG_NODE_STATE,   ROLE_NODE_STATE,    reconcile_on_object },
	{ MSG_POOL_STATE,   ROLE_NODE_STATE,    reconcile_on_object },
	{ MSG_SNAP_END,     ROLE_NODE_STATE,    reconcile_on_synced },
	{ MSG_NODE_INSIGHT, ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_POOL_INSIGHT, ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_KIND,         ROLE_KUBE_WATCHER,  reconcile_on_kind   },
	{ MSG_LEADER,       ROLE_KUBE_WATCHER,  reconcile_on_leader },
	{ MSG_SNAP_END,     ROLE_KUBE_WATCHER,  reconcile_on_synced },
};

static const struct reconcile_spec reconcile = {
	.kinds = insight_objects, .nkinds = INSIGHT_KIND_MAX,
	.links = { LINK_KUBE_INSIGHT, LINK_NODES }, .nlinks = 2,
	.refused_reason = "InsightRefused", .noun = "insights",
	.keys = keys, .kinds_of = kinds_of, .plan = plan,
};

static const struct {
	enum op		 op;
	const char	*subresource, *action;
	bool		 uid, rv;	/* preconditions */
} write_for_verb[INSIGHT_VERB_MAX] = {
	[INSIGHT_CREATE] = { OP_CREATE, NULL,     "Create",       false, false },
	[INSIGHT_STATUS] = { OP_UPDATE, "status", "UpdateStatus", true,  true },
	[INSIGHT_DELETE] = { OP_DELETE, NULL,     "Delete",       true,  false },
};

static void
start(struct actor *a, void *self)
{
	struct reconciler *const r = self;

	reconcile_start(r, a, &reconcile);
	if (!r->kinds[INSIGHT_NODES].enabled && !r->kinds[INSIGHT_POOLS].enabled)
		log_warnx("insights of nodes and of pools are both disabled: nothing will be written",
		    KV_S(HINT, "set actors.insight.nodes or actors.insight.pools to true"));
}

static const struct actor_spec spec = {
	.name = "insight", .state_size = sizeof(struct reconciler), .rows = rows, .nrows = NITEMS(rows),
	.interned = true, .start = start, .tick = reconcile_tick, .tick_ms = TICK_MS, .work = reconcile_work,
	.explain = explain, .stop = reconcile_stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

/* An insight has the name of its object, whose key it shares. */
static void
keys(struct reconciler *r, const struct change *c)
{
	char key[OBJECT_KEY_MAX + 1];
	const unsigned of_insight = reconcile_kind_by_message(&reconcile, c->type);
	const unsigned kind = of_insight != INSIGHT_KIND_MAX ? of_insight : insight_kind_by_state(c->type);
	const char *const slash = memchr(c->key.p, '/', c->key.len);

	MUST(kind != INSIGHT_KIND_MAX && slash != NULL);
	const int n = snprintf(key, sizeof(key), "%s%.*s", insight_kinds[kind].of,
	    (int)(c->key.p + c->key.len - slash), slash);
	MUST(n > 0 && (size_t)n < sizeof(key));
	reconcile_enqueue(r, key, (size_t)n, c);
}

static unsigned
kinds_of(const char *key, size_t len)
{
	struct wire_str name;

	return 1u << insight_kind_of_key(key, len, &name);
}

/* ---- Plan ---- */

static void
plan(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *step)
{
	const struct work *const w = i->work;
	struct wire_str name;
	const enum insight_kind kind = insight_kind_of_key(w->key, w->len, &name);
	struct insight_input input = { .now_us = clock_wall_ms() * 1000 };
	struct insight_status desired, stored;
	struct insight_plan p;
	struct change c;
	union msg_body state, insight;

	MUST(kind != INSIGHT_KIND_MAX);
	step->write = (struct reconcile_write){ .kind = kind, .trace = w->trace };
	copy(step->write.name, sizeof(step->write.name), name);
	if (actor_read(r->actor, LINK_NODES, w->key, w->len, &c, &state)) {
		insight_kinds[kind].read_state(&desired, name, &state);
		input.desired = &desired;
		step->write.trace = c.trace;
	}
	if (read_insight(r, kind, name, &c, &insight)) {
		insight_kinds[kind].read_insight(&stored, &insight);
		input.stored = &stored;
		input.deleting = insight_kinds[kind].deleted(&insight).len > 0;
		/* The event of our own create does not cause a write; a change of the status does. */
		if (input.desired == NULL || stored.fields[FIELD_NAME].len > 0)
			step->write.trace = w->trace;
		copy(step->write.uid, sizeof(step->write.uid), c.uid);
		copy(step->write.rv, sizeof(step->write.rv), c.rv);
	}
	insight_plan(&input, &p);
	insight_step(&p, step);
	step->forget = input.desired == NULL && input.stored == NULL;
	if (step->form == STEP_WRITE)
		fill_write(r, &p, &desired, &step->write);
}

/* name, uid and rv are those of the insight already. */
static void
fill_write(struct reconciler *r, const struct insight_plan *p, const struct insight_status *desired,
    struct reconcile_write *w)
{
	const enum insight_kind kind = (enum insight_kind)w->kind;
	const char *const api = r->kinds[kind].api;

	w->op = write_for_verb[p->verb].op;
	w->subresource = write_for_verb[p->verb].subresource;
	w->action = write_for_verb[p->verb].action;
	if (!write_for_verb[p->verb].uid)
		w->uid[0] = '\0';
	if (!write_for_verb[p->verb].rv)
		w->rv[0] = '\0';
	if (p->verb == INSIGHT_CREATE)
		w->body_len = status_create_body(r->body, sizeof(r->body), kind, api, wire_str_of(w->name));
	if (p->verb == INSIGHT_STATUS)
		w->body_len = status_update_body(r->body, sizeof(r->body), kind, api, desired, p);
	/* Only one message varies, and it was cut: 32,768 characters of 6 bytes are not half of it. */
	MUST(w->body_len > 0 || p->verb == INSIGHT_DELETE);
}

static bool
read_insight(struct reconciler *r, enum insight_kind kind, struct wire_str name, struct change *c,
    union msg_body *value)
{
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), "%s/%.*s", insight_objects[kind].resource, (int)name.len,
	    name.p);

	return n > 0 && (size_t)n < sizeof(key)
	    && actor_read(r->actor, LINK_KUBE_INSIGHT, key, (size_t)n, c, value);
}

/* ---- Explain ---- */

static void
explain(struct actor *a, void *self, const char *resource, const char *name, struct json *out)
{
	struct reconciler *const r = self;
	char key[OBJECT_KEY_MAX + 1];
	struct wire_str bare;
	struct insight_status s;
	struct change c;
	union msg_body value;
	const int n = snprintf(key, sizeof(key), "%s/%s", resource, name);

	(void)a;
	if (n < 0 || (size_t)n >= sizeof(key))
		return;
	const enum insight_kind kind = insight_kind_of_key(key, (size_t)n, &bare);
	const struct journal_entry *const entry = journal_find(r->journal, key, (size_t)n);
	if (kind == INSIGHT_KIND_MAX || entry == NULL || entry->why == NULL)
		return;
	journal_put_plan(entry, out);
	if (read_insight(r, kind, bare, &c, &value)) {
		insight_kinds[kind].read_insight(&s, &value);
		json_open(out, "stored", '{');
		json_strn(out, "resourceVersion", c.rv.p, c.rv.len);
		status_put(out, kind, &s, s.conditions, s.nconditions);
		json_close(out, '}');
	}
	journal_put_write(entry, out);
}

static void
copy(char *to, size_t size, struct wire_str s)
{
	snprintf(to, size, "%.*s", (int)s.len, s.len > 0 ? s.p : "");
}
