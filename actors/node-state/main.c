/*
 * actors/node-state/main.c - evaluates each node once, and tells everybody downstream what changed.
 *
 * What comes from kube-watcher goes into the fleet, which says what must be looked at again; the work queue
 * brings these keys here, one evaluation each, and only news is published. Downstream hears nothing before
 * the first full evaluation: the links become ready with it, so nobody ever deletes for a node that
 * was not looked at yet (B5).
 */
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "clock.h"
#include "explain.h"
#include "facts.h"
#include "fleet.h"
#include "kinds.h"
#include "log.h"
#include "measure.h"
#include "obj.h"

enum { TICK_MS = 1000, HOLD_MS = 20, TEXT_MAX = 80 };

#define KUBE	LINK_KUBE_NODE_STATE
#define NODES	"nodes"
#define POOLS	"machineconfigpools"

struct node_state {
	struct actor	*actor;
	struct fleet	*fleet;
	struct measure	 measure;
	bool		 facts;		/* somebody reads them */
	bool		 openshift;	/* the server has MachineConfigPools */
};

/* One key in work: as the mirror has it, and on whose behalf. */
struct task {
	struct node_state	*self;
	struct wire_str		 key;
	uint64_t		 trace;
};

static void start(struct actor *, void *);
static void stop(struct actor *, void *);
static void tick(struct actor *, void *, int64_t);
static void explain(struct actor *, void *, const char *, const char *, struct json *);
static enum work_result work(struct actor *, void *, const struct work *, int64_t *);
static void on_object(struct actor *, void *, const struct change *);
static void on_kind(struct actor *, void *, const struct change *);
static void on_leader(struct actor *, void *, const struct change *);
static void on_synced(struct actor *, void *, const struct change *);
static void touch(void *, struct wire_str, uint64_t);
static void each_node(void *, fleet_node_fn *, void *);
static void first_look(const struct change *, void *);
static void first_pool(void *, struct wire_str);
static void look_at(const struct change *, void *);
static void look_up(struct node_state *, struct wire_str, uint64_t);
static void look(struct node_state *, const struct change *, struct wire_str, uint64_t);
static void say(struct node_state *, const char *, enum fleet_look, const struct fleet_state *, uint64_t);
static void publish_fact(struct node_state *, const char *, const char *, const char *,
    const struct body_node *, uint64_t);
static const char *notified_as(enum role, enum msg);
static void copy(char *, size_t, struct wire_str);

static const struct actor_row rows[] = {
	/* message                 only from           handler    */
	{ MSG_NODE,                ROLE_KUBE_WATCHER,  on_object  },
	{ MSG_MACHINE_CONFIG_POOL, ROLE_KUBE_WATCHER,  on_object  },
	{ MSG_MACHINE_CONFIG,      ROLE_KUBE_WATCHER,  on_object  },
	{ MSG_CLUSTER_VERSION,     ROLE_KUBE_WATCHER,  on_object  },
	{ MSG_KIND,                ROLE_KUBE_WATCHER,  on_kind    },
	{ MSG_LEADER,              ROLE_KUBE_WATCHER,  on_leader  },
	{ MSG_SNAP_END,            ROLE_KUBE_WATCHER,  on_synced  },
};

static const struct actor_spec spec = {
	.name = "node-state", .state_size = sizeof(struct node_state), .rows = rows, .nrows = NITEMS(rows),
	.start = start, .tick = tick, .tick_ms = TICK_MS, .work = work, .explain = explain, .stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

static void
start(struct actor *a, void *self)
{
	struct node_state *s = self;

	s->actor = a;
	s->fleet = fleet_new((struct fleet_hooks){ .touch = touch, .each_node = each_node, .arg = s });
	measure_init(&s->measure, actor_setting(a, "metrics-node-label"));
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (link_connects(LINK_FACTS, (enum role)r) && actor_has_peer(a, (enum role)r))
			s->facts = true;
	}
	actor_time_link(a, LINK_NODES, notified_as);
	actor_time_link(a, LINK_FACTS, notified_as);
	actor_status(a, "waiting for kube-watcher's picture");
}

static void
stop(struct actor *a, void *self)
{
	struct node_state *s = self;

	(void)a;
	fleet_free(&s->fleet);
	measure_free(&s->measure);
}

static void
tick(struct actor *a, void *self, int64_t now_ms)
{
	const struct node_state *s = self;

	(void)now_ms;
	if (!fleet_is_open(s->fleet))
		return;
	const struct wire_str target = fleet_target(s->fleet);
	measure_active(fleet_managed(s->fleet));
	if (s->openshift)
		actor_status(a, "%u nodes in %u pools, target %.*s", fleet_managed(s->fleet),
		    pools_count(fleet_pools(s->fleet)), target.len > 0 ? (int)target.len : 7,
		    target.len > 0 ? target.p : "unknown");
	else
		actor_status(a, "no OpenShift on this cluster: node facts only");
}

/* ---- What kube-watcher says ---- */

static void
on_object(struct actor *a, void *self, const struct change *c)
{
	struct node_state *s = self;

	(void)a;
	fleet_take(s->fleet, c->type, c->key, c->kind == CHANGE_GONE ? NULL : c->value, c->trace);
}

static void
on_kind(struct actor *a, void *self, const struct change *c)
{
	struct node_state *s = self;
	const bool was = s->openshift;

	(void)a;
	if (fleet_name(c->key, ":kind").len != strlen(POOLS)
	    || memcmp(fleet_name(c->key, ":kind").p, POOLS, strlen(POOLS)) != 0)
		return;
	s->openshift = c->kind != CHANGE_GONE && c->value->kind.state != KIND_STATE_ABSENT;
	if (s->openshift && !was && fleet_is_open(s->fleet))
		log_info("MachineConfigPools have appeared on this cluster: nodes are evaluated");
}

/* Evaluating is no write: whoever leads, every replica knows its nodes. */
static void
on_leader(struct actor *a, void *self, const struct change *c)
{
	(void)a, (void)self, (void)c;
}

/* Pools, versions and nodes are complete: everything is looked at once, in one go, and then served. */
static void
on_synced(struct actor *a, void *self, const struct change *c)
{
	struct node_state *s = self;

	(void)c;
	if (fleet_is_open(s->fleet))
		return;
	const int64_t began_us = clock_mono_us();
	fleet_open(s->fleet);
	actor_each(a, KUBE, first_look, s);
	fleet_each_pool(s->fleet, first_pool, s);
	actor_link_ready(a, LINK_NODES);
	actor_link_ready(a, LINK_FACTS);
	if (!s->openshift)
		log_info("no MachineConfigPools on this cluster (no OpenShift): serving node facts only");
	log_info("first full evaluation", KV_I(COUNT, fleet_managed(s->fleet)),
	    KV_I(DURATION_MS, (clock_mono_us() - began_us) / 1000));
	tick(a, s, 0);
}

static void
first_look(const struct change *c, void *arg)
{
	struct node_state *s = arg;

	if (c->type == MSG_NODE)
		look(s, c, c->key, actor_new_trace(s->actor));
}

static void
first_pool(void *arg, struct wire_str key)
{
	struct node_state *s = arg;

	look_up(s, key, actor_new_trace(s->actor));
}

/* ---- What the fleet asks ---- */

static void
touch(void *arg, struct wire_str key, uint64_t trace)
{
	struct node_state *s = arg;

	actor_enqueue(s->actor, key.p, key.len, WORK_LIVE, trace);
}

struct walk {
	fleet_node_fn	*fn;
	void		*arg;
};

static void
walk_one(const struct change *c, void *arg)
{
	const struct walk *w = arg;

	if (c->type == MSG_NODE)
		w->fn(c->key, &c->value->node, w->arg);
}

static void
each_node(void *arg, fleet_node_fn *fn, void *fn_arg)
{
	struct node_state *s = arg;

	actor_each(s->actor, KUBE, walk_one, &(struct walk){ fn, fn_arg });
}

/* ---- Work ---- */

static enum work_result
work(struct actor *a, void *self, const struct work *w, int64_t *after_ms)
{
	/* Half a snapshot shows the new labels of a node and not the pool that they lead to. */
	if (!actor_fresh(a, KUBE)) {
		*after_ms = HOLD_MS;
		return WORK_AFTER;
	}
	look_up(self, (struct wire_str){ w->key, (uint32_t)w->len }, w->trace);
	return WORK_DONE;
}

static void
look_up(struct node_state *s, struct wire_str key, uint64_t trace)
{
	struct task t = { .self = s, .key = key, .trace = trace };

	if (!actor_get(s->actor, KUBE, key.p, key.len, look_at, &t))
		look(s, NULL, key, trace);
}

static void
look_at(const struct change *c, void *arg)
{
	const struct task *t = arg;

	look(t->self, c, t->key, t->trace);
}

/* c: the object of that key as the mirror has it; NULL: there is none. */
static void
look(struct node_state *s, const struct change *c, struct wire_str key, uint64_t trace)
{
	const struct wire_str name = fleet_name(key, NODES);
	const struct body_node *node = c != NULL && c->type == MSG_NODE ? &c->value->node : NULL;
	const int64_t began_us = clock_mono_us();
	struct fleet_state state;
	char text[OBJECT_KEY_MAX], uid[TEXT_MAX], rv[TEXT_MAX];

	const enum fleet_look found = fleet_look(s->fleet, key, node, trace, clock_wall_us(), &state);
	copy(text, sizeof(text), key);
	copy(uid, sizeof(uid), c != NULL ? c->uid : wire_str_of(""));
	copy(rv, sizeof(rv), c != NULL ? c->rv : wire_str_of(""));
	if (found == LOOK_CHANGED)
		actor_publish(s->actor, LINK_NODES, text, uid, rv, state.type, &state.body, trace);
	else if (found == LOOK_GONE)
		actor_retract(s->actor, LINK_NODES, text, trace);
	say(s, text, found, &state, trace);
	if (name.len == 0)
		return;
	if (node != NULL)
		measure_look(&s->measure, name, !state.several, (double)(clock_mono_us() - began_us) / 1e6);
	else
		measure_gone(&s->measure, name);
	publish_fact(s, text, uid, rv, node, trace);
}

/* A change of phase is worth a line; one of its details is not. */
static void
say(struct node_state *s, const char *key, enum fleet_look found, const struct fleet_state *state,
    uint64_t trace)
{
	char text[TEXT_MAX];

	if (state->several)
		log_warnx("a node is wanted by two custom pools: nobody manages it", KV_S(OBJECT, key),
		    KV_S(HINT, "muster explain names them"));
	if (found == LOOK_SAME)
		return;
	if (found == LOOK_GONE)
		snprintf(text, sizeof(text), "no pool any more");
	else if (strcmp(state->now, state->before) == 0)
		snprintf(text, sizeof(text), "still %s", state->now);
	else
		snprintf(text, sizeof(text), "%s%s%s", state->now, state->before[0] != '\0' ? ", was " : "",
		    state->before);
	actor_hop(s->actor, key, trace, text);
	if (found == LOOK_GONE || (strcmp(state->now, state->before) != 0 && state->before[0] != '\0'))
		log_info("state changed", KV_S(OBJECT, key), KV_S(FROM, state->before),
		    KV_S(TO, found == LOOK_GONE ? "none" : state->now));
}

static void
publish_fact(struct node_state *s, const char *key, const char *uid, const char *rv,
    const struct body_node *node, uint64_t trace)
{
	if (!s->facts)
		return;
	if (node == NULL) {
		actor_retract(s->actor, LINK_FACTS, key, trace);
		return;
	}
	const union msg_body body = { .node_fact = facts_of(node) };
	actor_publish(s->actor, LINK_FACTS, key, uid, rv, MSG_NODE_FACT, &body, trace);
}

/* The seed's names for the two that insight keeps. */
static const char *
notified_as(enum role consumer, enum msg type)
{
	if (consumer != ROLE_INSIGHT)
		return role_name(consumer);
	return type == MSG_POOL_STATE ? "mcp_insight" : "node_insight";
}

/* ---- Explaining ---- */

struct question {
	struct node_state	*self;
	struct wire_str		 key;
	struct json		*out;
};

static void
explain_found(const struct change *c, void *arg)
{
	const struct question *q = arg;

	if (c->type == MSG_NODE)
		explain_node(q->self->fleet, q->key, &c->value->node, q->self->openshift, q->out);
}

static void
explain(struct actor *a, void *self, const char *resource, const char *name, struct json *out)
{
	struct node_state *s = self;
	char key[OBJECT_KEY_MAX];

	if (strcmp(resource, POOLS) == 0)
		explain_pool(s->fleet, wire_str_of(name), out);
	if (strcmp(resource, NODES) != 0 || !object_key(key, sizeof(key), resource, "", name))
		return;
	struct question q = { .self = s, .key = wire_str_of(key), .out = out };
	actor_get(a, KUBE, key, strlen(key), explain_found, &q);
}

static void
copy(char *buf, size_t size, struct wire_str s)
{
	const size_t len = s.len < size ? s.len : size - 1;

	memcpy(buf, s.p, len);
	buf[len] = '\0';
}
