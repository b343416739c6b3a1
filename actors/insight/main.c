/*
 * actors/insight/main.c - keeps one NodeProgressInsight per node that a pool owns, and one
 * MachineConfigPoolProgressInsight per pool: as node-state says, written through kube-watcher.
 *
 *	node-state   ==nodes==========> key "nodes/<name>" or "machineconfigpools/<name>" in the queue
 *	kube-watcher ==kube.insight===> the same key: the insight, its kind, who leads
 *	work.c: both mirrors -> plan.c -> at most one write of that object
 *
 * Handlers only mark keys. Whatever may have changed for all of them (a first complete picture, the CRD, the
 * Lease) marks all.
 */
#include <stdio.h>
#include <string.h>

#include "insight.h"
#include "log.h"
#include "obj.h"

enum { TICK_MS = 1000 };

static void on_state(struct actor *, void *, const struct change *);
static void on_insight(struct actor *, void *, const struct change *);
static void on_kind(struct actor *, void *, const struct change *);
static void on_leader(struct actor *, void *, const struct change *);
static void on_synced(struct actor *, void *, const struct change *);
static void mark(struct insight *, enum sort, struct wire_str, const struct change *);
static void mark_all(struct insight *);
static void mark_one(const struct change *, void *);
static void see_leader(const struct change *, void *);
static void tell_kind(const struct kept *, enum sort);

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
	STAILQ_INIT(&in->parked);
	for (enum sort s = 0; s < SORT_MAX; s++) {
		in->kept[s].on = actor_setting_i64(a, sort_table[s].setting) != 0;
		snprintf(in->kept[s].group, sizeof(in->kept[s].group), "%s", INSIGHT_GROUP);
	}
	if (!in->kept[SORT_NODES].on && !in->kept[SORT_POOLS].on)
		log_warnx("insights of nodes and of pools are both switched off: there is nothing to do",
		    KV_S(HINT, "set actors.insight.nodes or actors.insight.pools to true"));
}

static void
stop(struct actor *a, void *self)
{
	struct insight *const in = self;
	struct errand *e;

	(void)a;
	while ((e = STAILQ_FIRST(&in->parked)) != NULL) {
		STAILQ_REMOVE_HEAD(&in->parked, next);
		free(e);
	}
	journal_free(&in->journal);
}

static const struct actor_spec spec = {
	.name = "insight", .state_size = sizeof(struct insight), .rows = rows, .nrows = NITEMS(rows),
	.start = start, .tick = insight_tick, .tick_ms = TICK_MS, .work = insight_work,
	.explain = insight_explain, .stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

/* ---- What others say ---- */

static void
on_state(struct actor *a, void *self, const struct change *c)
{
	struct insight *const in = self;
	struct wire_str name;
	const enum sort sort = sort_of_key(c->key.p, c->key.len, &name);

	(void)a;
	MUST(sort != SORT_MAX && sort_table[sort].state == c->type);
	mark(in, sort, name, c);
}

static void
on_insight(struct actor *a, void *self, const struct change *c)
{
	struct insight *const in = self;
	const enum sort sort = sort_by_insight(c->type);
	const uint32_t skip = (uint32_t)strlen(sort_table[sort].resource) + 1;

	(void)a;
	MUST(c->key.len > skip);
	in->kept[sort].stored += c->kind == CHANGE_ADDED;
	in->kept[sort].stored -= c->kind == CHANGE_GONE;
	mark(in, sort, (struct wire_str){ .p = c->key.p + skip, .len = c->key.len - skip }, c);
}

static void
on_kind(struct actor *a, void *self, const struct change *c)
{
	struct insight *const in = self;
	const struct body_kind *const k = &c->value->kind;
	const enum sort sort = sort_by_resource(k->resource);

	(void)a;
	if (sort == SORT_MAX || c->kind == CHANGE_GONE)
		return;
	struct kept *const kept = &in->kept[sort];
	kept->kind = (enum kind_state)k->state;
	snprintf(kept->group, sizeof(kept->group), "%.*s", (int)k->group.len, k->group.p);
	snprintf(kept->api, sizeof(kept->api), "%.*s/%.*s", (int)k->group.len, k->group.p,
	    (int)k->version.len, k->version.p);
	tell_kind(kept, sort);
	kept->kind_told = kept->kind == KIND_STATE_ABSENT;
	journal_all_changed(in->journal);
	mark_all(in);
}

/* Renewals come here every few seconds: only a beginning is news. */
static void
on_leader(struct actor *a, void *self, const struct change *c)
{
	struct insight *const in = self;
	const bool before = in->leading;

	(void)a;
	in->leading = c->kind != CHANGE_GONE && c->value->leader.leading;
	if (in->leading && !before)
		mark_all(in);
}

/*
 * Also after every restart of the other side: what was waiting for a current picture goes on, and what a
 * write was refused for (kube-watcher was just ending) is looked at again.
 */
static void
on_synced(struct actor *a, void *self, const struct change *c)
{
	struct insight *const in = self;

	if (c->link == LINK_NODES)
		in->nodes_synced = true;
	else
		in->kube_synced = true;
	actor_get(a, LINK_KUBE_INSIGHT, ":leader", strlen(":leader"), see_leader, in);
	mark_all(in);
}

static void
see_leader(const struct change *c, void *arg)
{
	struct insight *const in = arg;

	in->leading = c->value->leader.leading;
}

/* Said once. That it is there now is said, too, if it was missing. */
static void
tell_kind(const struct kept *kept, enum sort sort)
{
	if (!kept->on)
		return;
	if (kept->kind == KIND_STATE_ABSENT && !kept->kind_told)
		log_warnx("the CRD is not installed: no insights of this kind until it is",
		    KV_S(RESOURCE, sort_table[sort].resource), KV_S(VALUE, kept->group),
		    KV_S(HINT, "kubectl apply -f deploy/crds"));
	if (kept->kind == KIND_STATE_SYNCED && kept->kind_told)
		log_info("the CRD is there now", KV_S(RESOURCE, sort_table[sort].resource));
}

/* ---- Keys ---- */

static void
mark(struct insight *in, enum sort sort, struct wire_str name, const struct change *c)
{
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), "%s/%.*s", sort_table[sort].of, (int)name.len, name.p);

	MUST(n > 0 && (size_t)n < sizeof(key));
	journal_changed(in->journal, key, (size_t)n);
	actor_enqueue(in->actor, key, (size_t)n, c->initial ? WORK_INITIAL : WORK_LIVE, c->trace);
}

/* What is there, then what should be: a key that has both goes by the trace of the latter. */
static void
mark_all(struct insight *in)
{
	if (!in->nodes_synced || !in->kube_synced)
		return;
	actor_each(in->actor, LINK_KUBE_INSIGHT, mark_one, in);
	actor_each(in->actor, LINK_NODES, mark_one, in);
}

static void
mark_one(const struct change *c, void *arg)
{
	struct insight *const in = arg;
	char key[OBJECT_KEY_MAX + 1];
	const enum sort stored = sort_by_insight(c->type);

	if (stored == SORT_MAX && sort_by_state(c->type) == SORT_MAX)
		return;
	const char *const slash = memchr(c->key.p, '/', c->key.len);
	MUST(slash != NULL);
	const char *const of = sort_table[stored != SORT_MAX ? stored : sort_by_state(c->type)].of;
	const int n = snprintf(key, sizeof(key), "%s%.*s", of, (int)(c->key.p + c->key.len - slash), slash);
	MUST(n > 0 && (size_t)n < sizeof(key));
	actor_enqueue(in->actor, key, (size_t)n, WORK_INITIAL, c->trace);
}
