/*
 * actors/insight/main.c - keeps one NodeProgressInsight per node that a pool owns, and one
 * MachineConfigPoolProgressInsight per pool: content from node-state, written through kube-watcher.
 *
 *	node-state   ==nodes==========> key "nodes/<name>" or "machineconfigpools/<name>" in the work queue
 *	kube-watcher ==kube.insight===> the same key: the insight, its kind, the leader
 *	reconcile.c: both mirrors -> plan.c -> at most one write of that object
 *
 * Handlers only enqueue keys. What may affect all keys (a first complete snapshot, the CRD, the
 * Lease) enqueues all of them.
 */
#include <stdio.h>
#include <string.h>

#include "insight.h"
#include "json.h"
#include "log.h"
#include "obj.h"

enum { TICK_MS = 1000 };

static void on_state(struct actor *, void *, const struct change *);
static void on_insight(struct actor *, void *, const struct change *);
static void on_kind(struct actor *, void *, const struct change *);
static void on_leader(struct actor *, void *, const struct change *);
static void on_synced(struct actor *, void *, const struct change *);
static void enqueue(struct insight *, enum insight_kind, struct wire_str, const struct change *);
static void enqueue_all(struct insight *);
static void enqueue_one(const struct change *, void *);
static void read_leader(const struct change *, void *);
static void log_kind_state(const struct insight_kind_state *, enum insight_kind);
static void tick(struct actor *, void *, int64_t);
static bool report_obstacle(struct insight *, int64_t);
static void explain(struct actor *, void *, const char *, const char *, struct json *);
static void put_stored(const struct change *, void *);
static void put_write(struct json *, const struct journal_entry *);

static const struct actor_row rows[] = {
	/* message          only from           handler    */
	{ MSG_NODE_STATE,   ROLE_NODE_STATE,    on_state   },
	{ MSG_POOL_STATE,   ROLE_NODE_STATE,    on_state   },
	{ MSG_SNAP_END,     ROLE_NODE_STATE,    on_synced  },
	{ MSG_NODE_INSIGHT, ROLE_KUBE_WATCHER,  on_insight },
	{ MSG_POOL_INSIGHT, ROLE_KUBE_WATCHER,  on_insight },
	{ MSG_KIND,         ROLE_KUBE_WATCHER,  on_kind    },
	{ MSG_LEADER,       ROLE_KUBE_WATCHER,  on_leader  },
	{ MSG_SNAP_END,     ROLE_KUBE_WATCHER,  on_synced  },
};

static void
start(struct actor *a, void *self)
{
	struct insight *const in = self;

	in->actor = a;
	in->journal = journal_new();
	STAILQ_INIT(&in->deferred);
	for (enum insight_kind k = 0; k < INSIGHT_KIND_MAX; k++) {
		in->kinds[k].enabled = actor_setting_i64(a, insight_kinds[k].setting) != 0;
		snprintf(in->kinds[k].group, sizeof(in->kinds[k].group), "%s", INSIGHT_GROUP);
	}
	if (!in->kinds[INSIGHT_NODES].enabled && !in->kinds[INSIGHT_POOLS].enabled)
		log_warnx("insights of nodes and of pools are both disabled: nothing will be written",
		    KV_S(HINT, "set actors.insight.nodes or actors.insight.pools to true"));
}

static void
stop(struct actor *a, void *self)
{
	struct insight *const in = self;
	struct inflight_write *w;

	(void)a;
	while ((w = STAILQ_FIRST(&in->deferred)) != NULL) {
		STAILQ_REMOVE_HEAD(&in->deferred, next);
		free(w);
	}
	journal_free(&in->journal);
}

static const struct actor_spec spec = {
	.name = "insight", .state_size = sizeof(struct insight), .rows = rows, .nrows = NITEMS(rows),
	.start = start, .tick = tick, .tick_ms = TICK_MS, .work = insight_reconcile,
	.explain = explain, .stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

/* ---- Messages ---- */

static void
on_state(struct actor *a, void *self, const struct change *c)
{
	struct insight *const in = self;
	struct wire_str name;
	const enum insight_kind kind = insight_kind_of_key(c->key.p, c->key.len, &name);

	(void)a;
	MUST(kind != INSIGHT_KIND_MAX && insight_kinds[kind].state == c->type);
	enqueue(in, kind, name, c);
}

static void
on_insight(struct actor *a, void *self, const struct change *c)
{
	struct insight *const in = self;
	const enum insight_kind kind = insight_kind_by_message(c->type);
	const uint32_t skip = (uint32_t)strlen(insight_kinds[kind].resource) + 1;

	(void)a;
	MUST(c->key.len > skip);
	in->kinds[kind].stored += c->kind == CHANGE_ADDED;
	in->kinds[kind].stored -= c->kind == CHANGE_GONE;
	enqueue(in, kind, (struct wire_str){ .p = c->key.p + skip, .len = c->key.len - skip }, c);
}

static void
on_kind(struct actor *a, void *self, const struct change *c)
{
	struct insight *const in = self;
	const struct body_kind *const b = &c->value->kind;
	const enum insight_kind kind = insight_kind_by_resource(b->resource);

	(void)a;
	if (kind == INSIGHT_KIND_MAX || c->kind == CHANGE_GONE)
		return;
	struct insight_kind_state *const k = &in->kinds[kind];
	k->state = (enum kind_state)b->state;
	snprintf(k->group, sizeof(k->group), "%.*s", (int)b->group.len, b->group.p);
	snprintf(k->api, sizeof(k->api), "%.*s/%.*s", (int)b->group.len, b->group.p, (int)b->version.len,
	    b->version.p);
	log_kind_state(k, kind);
	k->kind_reported = k->state == KIND_STATE_ABSENT;
	journal_clear_all_refused(in->journal);
	enqueue_all(in);
}

/* Renewals arrive here every few seconds: only the beginning of leadership enqueues. */
static void
on_leader(struct actor *a, void *self, const struct change *c)
{
	struct insight *const in = self;
	const bool before = in->leading;

	(void)a;
	in->leading = c->kind != CHANGE_GONE && c->value->leader.leading;
	if (in->leading && !before)
		enqueue_all(in);
}

/*
 * Also after every restart of the producer: keys that waited for a current mirror go on, and writes
 * that failed because kube-watcher was stopping are planned again.
 */
static void
on_synced(struct actor *a, void *self, const struct change *c)
{
	struct insight *const in = self;

	if (c->link == LINK_NODES)
		in->nodes_synced = true;
	else
		in->kube_synced = true;
	actor_get(a, LINK_KUBE_INSIGHT, ":leader", strlen(":leader"), read_leader, in);
	enqueue_all(in);
}

static void
read_leader(const struct change *c, void *arg)
{
	struct insight *const in = arg;

	in->leading = c->value->leader.leading;
}

/* A missing CRD is logged once; that it was installed is logged if it was missing before. */
static void
log_kind_state(const struct insight_kind_state *k, enum insight_kind kind)
{
	if (!k->enabled)
		return;
	if (k->state == KIND_STATE_ABSENT && !k->kind_reported)
		log_warnx("CRD not installed: no insights of this kind are written",
		    KV_S(RESOURCE, insight_kinds[kind].resource), KV_S(VALUE, k->group),
		    KV_S(HINT, "kubectl apply -f deploy/crds"));
	if (k->state == KIND_STATE_SYNCED && k->kind_reported)
		log_info("CRD installed", KV_S(RESOURCE, insight_kinds[kind].resource));
}

/* ---- Keys ---- */

static void
enqueue(struct insight *in, enum insight_kind kind, struct wire_str name, const struct change *c)
{
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), "%s/%.*s", insight_kinds[kind].of, (int)name.len, name.p);

	MUST(n > 0 && (size_t)n < sizeof(key));
	journal_clear_refused(in->journal, key, (size_t)n);
	actor_enqueue(in->actor, key, (size_t)n, c->initial ? WORK_INITIAL : WORK_LIVE, c->trace);
}

/* The stored ones first, then the desired ones: a key that has both gets the trace of the latter. */
static void
enqueue_all(struct insight *in)
{
	if (!in->nodes_synced || !in->kube_synced)
		return;
	actor_each(in->actor, LINK_KUBE_INSIGHT, enqueue_one, in);
	actor_each(in->actor, LINK_NODES, enqueue_one, in);
}

static void
enqueue_one(const struct change *c, void *arg)
{
	struct insight *const in = arg;
	char key[OBJECT_KEY_MAX + 1];
	enum insight_kind kind = insight_kind_by_message(c->type);

	if (kind == INSIGHT_KIND_MAX)
		kind = insight_kind_by_state(c->type);
	if (kind == INSIGHT_KIND_MAX)
		return;
	const char *const slash = memchr(c->key.p, '/', c->key.len);
	MUST(slash != NULL);
	const int n = snprintf(key, sizeof(key), "%s%.*s", insight_kinds[kind].of,
	    (int)(c->key.p + c->key.len - slash), slash);
	MUST(n > 0 && (size_t)n < sizeof(key));
	actor_enqueue(in->actor, key, (size_t)n, WORK_INITIAL, c->trace);
}

/* ---- Status and explain ---- */

static void
tick(struct actor *a, void *self, int64_t now_ms)
{
	struct insight *const in = self;
	const unsigned stored = in->kinds[INSIGHT_NODES].stored + in->kinds[INSIGHT_POOLS].stored;

	if (report_obstacle(in, now_ms))
		return;
	if (!in->leading)
		actor_status(a, "not leading, %u insights", stored);
	else if (in->inflight == 0)
		actor_status(a, "%u insights", stored);
	else
		actor_status(a, "%u insights, %u writes in flight", stored, in->inflight);
}

/* Reports the first obstacle to writing, if there is one. */
static bool
report_obstacle(struct insight *in, int64_t now_ms)
{
	if (!in->kube_synced || !in->nodes_synced) {
		actor_status(in->actor, "waiting for the first snapshot from %s",
		    in->kube_synced ? "node-state" : "kube-watcher");
		return true;
	}
	for (enum insight_kind kind = 0; kind < INSIGHT_KIND_MAX; kind++) {
		const struct insight_kind_state *const k = &in->kinds[kind];

		if (k->enabled && k->state == KIND_STATE_ABSENT) {
			actor_status(in->actor, "waiting for the CRD %s.%s: kubectl apply -f deploy/crds",
			    insight_kinds[kind].resource, k->group);
			return true;
		}
		if (k->enabled && now_ms < k->hold_until_ms) {
			actor_status(in->actor, "the cluster forbids writing %s.%s: deploy/rbac.yaml",
			    insight_kinds[kind].resource, k->group);
			return true;
		}
	}
	return false;
}

struct stored_out {
	struct json		*out;
	enum insight_kind	 kind;
};

static void
explain(struct actor *a, void *self, const char *resource, const char *name, struct json *out)
{
	const struct insight *const in = self;
	char key[OBJECT_KEY_MAX + 1];
	struct wire_str bare;
	int n = snprintf(key, sizeof(key), "%s/%s", resource, name);

	if (n < 0 || (size_t)n >= sizeof(key))
		return;
	const enum insight_kind kind = insight_kind_of_key(key, (size_t)n, &bare);
	const struct journal_entry *const entry = journal_find(in->journal, key, (size_t)n);
	if (kind == INSIGHT_KIND_MAX || entry == NULL || entry->why == NULL)
		return;
	json_open(out, "plan", '{');
	json_str(out, "verb", insight_verb_name(entry->verb));
	json_str(out, "why", entry->why);
	if (entry->field[0] != '\0')
		json_str(out, "differs", entry->field);
	json_close(out, '}');
	n = snprintf(key, sizeof(key), "%s/%s", insight_kinds[kind].resource, name);
	if (n > 0 && (size_t)n < sizeof(key))
		actor_get(a, LINK_KUBE_INSIGHT, key, (size_t)n, put_stored,
		    &(struct stored_out){ .out = out, .kind = kind });
	if (entry->at_us != 0)
		put_write(out, entry);
}

static void
put_stored(const struct change *c, void *arg)
{
	const struct stored_out *const t = arg;
	struct insight_status s;

	insight_kinds[t->kind].read_insight(&s, c->value);
	json_open(t->out, "stored", '{');
	json_strn(t->out, "resourceVersion", c->rv.p, c->rv.len);
	status_put(t->out, t->kind, &s, s.conditions, s.nconditions);
	json_close(t->out, '}');
}

static void
put_write(struct json *out, const struct journal_entry *e)
{
	char what[64];

	snprintf(what, sizeof(what), "%s%s", op_table[e->op].name, e->status ? " status" : "");
	json_open(out, "write", '{');
	json_str(out, "what", what);
	json_str(out, "outcome", outcome_name(e->outcome));
	json_str(out, "message", e->message != NULL ? e->message : "");
	json_int(out, "at_us", e->at_us);
	json_close(out, '}');
}
