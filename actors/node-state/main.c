/*
 * actors/node-state/main.c - evaluates each node and publishes what changed to every consumer.
 *
 * An object from kube-watcher updates the fleet, which enqueues the keys that the update affects;
 * each key from the work queue is evaluated once, and only a changed state is published. The links
 * become ready with the first full evaluation: before it no consumer gets a snapshot, so no
 * consumer deletes anything for a node that was not evaluated yet.
 */
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "clock.h"
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
	bool		 facts;		/* a consumer of LINK_FACTS is configured */
	bool		 openshift;	/* the server has MachineConfigPools */
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
static void enqueue(void *, struct wire_str, uint64_t);
static void each_node(void *, fleet_node_fn *, void *);
static void evaluate_all(struct node_state *);
static void evaluate_first_node(const struct change *, void *);
static void evaluate_first_pool(void *, struct wire_str);
static void evaluate_key(struct node_state *, struct wire_str, uint64_t);
static void evaluate(struct node_state *, const struct change *, struct wire_str, uint64_t);
static void log_evaluation(struct wire_str, const char *, const char *, int64_t);
static void log_transition(struct node_state *, const char *, enum fleet_result, const struct fleet_state *,
    uint64_t);
static void publish_fact(struct node_state *, const char *, const char *, const char *,
    const struct body_node *, uint64_t);
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
	.interned = true, .start = start, .tick = tick, .tick_ms = TICK_MS, .work = work,
	.explain = explain, .stop = stop,
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
	s->fleet = fleet_new((struct fleet_hooks){ .enqueue = enqueue, .each_node = each_node, .arg = s });
	measure_init(&s->measure, actor_setting(a, "metrics-node-label"));
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (link_connects(LINK_FACTS, (enum role)r) && actor_has_peer(a, (enum role)r))
			s->facts = true;
	}
	actor_time_link(a, LINK_NODES, measure_notification);
	actor_time_link(a, LINK_FACTS, measure_notification);
	actor_status(a, "waiting for the first snapshot from kube-watcher");
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

/* ---- Messages from kube-watcher ---- */

static void
on_object(struct actor *a, void *self, const struct change *c)
{
	struct node_state *s = self;

	(void)a;
	fleet_update(s->fleet, c->type, c->key, c->kind == CHANGE_GONE ? NULL : c->value, c->trace);
}

static void
on_kind(struct actor *a, void *self, const struct change *c)
{
	struct node_state *s = self;
	const bool was = s->openshift;

	(void)a;
	if (!wire_str_is(fleet_name(c->key, ":kind"), POOLS))
		return;
	s->openshift = c->kind != CHANGE_GONE && c->value->kind.state != KIND_STATE_ABSENT;
	if (s->openshift && !was && fleet_is_open(s->fleet))
		log_info("MachineConfigPools were installed on this cluster: nodes are evaluated");
}

/* An evaluation writes nothing: every replica evaluates, the leader and the others. */
static void
on_leader(struct actor *a, void *self, const struct change *c)
{
	(void)a, (void)self, (void)c;
}

/* Pools, versions and nodes are complete: all nodes and pools are evaluated at once, then published. */
static void
on_synced(struct actor *a, void *self, const struct change *c)
{
	struct node_state *s = self;

	(void)c;
	if (fleet_is_open(s->fleet))
		return;
	const int64_t began_us = clock_mono_us();
	evaluate_all(s);
	actor_link_ready(a, LINK_NODES);
	actor_link_ready(a, LINK_FACTS);
	if (!s->openshift)
		log_info("no MachineConfigPools on this cluster (no OpenShift): serving node facts only");
	log_info("first full evaluation", KV_I(COUNT, fleet_managed(s->fleet)),
	    KV_I(DURATION_MS, (clock_mono_us() - began_us) / 1000));
	tick(a, s, 0);
}

static void
evaluate_all(struct node_state *s)
{
	const uint64_t trace = log_get_trace();

	fleet_open(s->fleet);
	actor_each(s->actor, KUBE, evaluate_first_node, s);
	fleet_each_pool(s->fleet, evaluate_first_pool, s);
	log_set_trace(trace);
}

static void
evaluate_first_node(const struct change *c, void *arg)
{
	struct node_state *s = arg;

	if (c->type != MSG_NODE)
		return;
	const uint64_t trace = actor_new_trace(s->actor);
	log_set_trace(trace);
	evaluate(s, c, c->key, trace);
}

static void
evaluate_first_pool(void *arg, struct wire_str key)
{
	struct node_state *s = arg;
	const uint64_t trace = actor_new_trace(s->actor);

	log_set_trace(trace);
	evaluate_key(s, key, trace);
}

/* ---- Hooks of the fleet ---- */

static void
enqueue(void *arg, struct wire_str key, uint64_t trace)
{
	struct node_state *s = arg;

	actor_enqueue(s->actor, key.p, key.len, WORK_LIVE, trace);
}

struct node_walk {
	fleet_node_fn	*fn;
	void		*arg;
};

static void
walk_one(const struct change *c, void *arg)
{
	const struct node_walk *w = arg;

	if (c->type == MSG_NODE)
		w->fn(c->key, &c->value->node, w->arg);
}

static void
each_node(void *arg, fleet_node_fn *fn, void *fn_arg)
{
	struct node_state *s = arg;

	actor_each(s->actor, KUBE, walk_one, &(struct node_walk){ fn, fn_arg });
}

/* ---- Work ---- */

static enum work_result
work(struct actor *a, void *self, const struct work *w, int64_t *after_ms)
{
	/* Half a snapshot may have the new labels of a node without the pool that selects them. */
	if (!actor_fresh(a, KUBE)) {
		*after_ms = HOLD_MS;
		return WORK_AFTER;
	}
	evaluate_key(self, (struct wire_str){ w->key, (uint32_t)w->len }, w->trace);
	return WORK_DONE;
}

static void
evaluate_key(struct node_state *s, struct wire_str key, uint64_t trace)
{
	struct change c;
	union msg_body value;
	const bool found = actor_read(s->actor, KUBE, key.p, key.len, &c, &value);

	evaluate(s, found ? &c : NULL, key, trace);
}

/* c: the object of that key in the mirror; NULL: there is none. */
static void
evaluate(struct node_state *s, const struct change *c, struct wire_str key, uint64_t trace)
{
	const struct wire_str name = fleet_name(key, NODES);
	const struct body_node *node = c != NULL && c->type == MSG_NODE ? &c->value->node : NULL;
	const int64_t began_us = clock_mono_us();
	struct fleet_state state;
	char text[OBJECT_KEY_MAX], uid[TEXT_MAX], rv[TEXT_MAX];

	const enum fleet_result result = fleet_evaluate(s->fleet, key, node, trace, clock_wall_us(), &state);
	copy(text, sizeof(text), key);
	copy(uid, sizeof(uid), c != NULL ? c->uid : wire_str_of(""));
	copy(rv, sizeof(rv), c != NULL ? c->rv : wire_str_of(""));
	if (result == EVAL_CHANGED)
		actor_publish_packed(s->actor, LINK_NODES, text, uid, rv, state.type, state.packed.p,
		    state.packed.len, trace, false);
	else if (result == EVAL_GONE)
		actor_retract(s->actor, LINK_NODES, text, trace);
	const int64_t took_us = clock_mono_us() - began_us;
	log_evaluation(name, text, rv, took_us);
	log_transition(s, text, result, &state, trace);
	if (name.len == 0)
		return;
	if (node != NULL)
		measure_evaluation(&s->measure, name, !state.several, (double)took_us / 1e6);
	else
		measure_removed(&s->measure, name);
	publish_fact(s, text, uid, rv, node, trace);
}

/* One line per evaluation; its trace is that of the change that caused it. */
static void
log_evaluation(struct wire_str node, const char *key, const char *rv, int64_t took_us)
{
	if (node.len > 0)
		log_debug("node evaluated", KV_SN(NODE, node.p, node.len), KV_S(RESOURCE_VERSION, rv),
		    KV_I(DURATION_US, took_us));
	else
		log_debug("pool evaluated", KV_S(OBJECT, key), KV_S(RESOURCE_VERSION, rv),
		    KV_I(DURATION_US, took_us));
}

/* A changed phase or assessment is logged; other changes of a state are hops only. */
static void
log_transition(struct node_state *s, const char *key, enum fleet_result result,
    const struct fleet_state *state, uint64_t trace)
{
	char text[TEXT_MAX];

	if (state->several)
		log_warnx("two custom pools select a node: it is not managed", KV_S(OBJECT, key),
		    KV_S(HINT, "muster explain names the pools"));
	if (result == EVAL_UNCHANGED)
		return;
	if (result == EVAL_GONE)
		snprintf(text, sizeof(text), "no pool any more");
	else if (strcmp(state->now, state->before) == 0)
		snprintf(text, sizeof(text), "still %s", state->now);
	else
		snprintf(text, sizeof(text), "%s%s%s", state->now, state->before[0] != '\0' ? ", was " : "",
		    state->before);
	actor_hop(s->actor, key, trace, text);
	if (result == EVAL_GONE || (strcmp(state->now, state->before) != 0 && state->before[0] != '\0'))
		log_info("state changed", KV_S(OBJECT, key), KV_S(FROM, state->before),
		    KV_S(TO, result == EVAL_GONE ? "none" : state->now));
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
	const union msg_body body = { .node_fact = inputs_node_fact(node) };
	actor_publish(s->actor, LINK_FACTS, key, uid, rv, MSG_NODE_FACT, &body, trace);
}

/* ---- Explain ---- */

static void
explain(struct actor *a, void *self, const char *resource, const char *name, struct json *out)
{
	struct node_state *s = self;
	char key[OBJECT_KEY_MAX];
	struct change c;
	union msg_body value;

	if (strcmp(resource, POOLS) == 0)
		explain_pool(s->fleet, wire_str_of(name), out);
	if (strcmp(resource, NODES) != 0 || !object_key(key, sizeof(key), resource, "", name))
		return;
	if (actor_read(a, KUBE, key, strlen(key), &c, &value))
		explain_node(s->fleet, wire_str_of(key), &value.node, s->openshift, out);
}

static void
copy(char *buf, size_t size, struct wire_str s)
{
	const size_t len = s.len < size ? s.len : size - 1;

	memcpy(buf, s.p, len);
	buf[len] = '\0';
}
