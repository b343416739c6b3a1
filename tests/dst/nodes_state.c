/*
 * tests/dst/nodes_state.c - node-state itself, as actors/node-state/main.c does it: received objects
 * go to the fleet, what the fleet enqueues goes to the work queue, changed states go to the view.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "world_nodes.h"

static sim_fn turn;
static void queue_event(struct nodes_world *, struct feed_event);
static void queue_object(struct nodes_world *, uint32_t);
static void take_feed(struct nodes_world *);
static void take_event(struct nodes_world *, const struct feed_event *);
static void on_change(enum mirror_change, const struct body_item *, void *);
static void break_enqueue(struct nodes_world *, const struct body_item *, const union msg_body *);
static void first_evaluation(struct nodes_world *);
static void enqueue(void *, struct wire_str, uint64_t);
static void each_node(void *, fleet_node_fn *, void *);
static void evaluate(struct nodes_world *, struct wire_str);
static void evaluate_first(enum mirror_change, const struct body_item *, void *);
static void first_pool(void *, struct wire_str);
static void publish(struct nodes_world *, struct wire_str, struct fleet_state *, struct wire_map);
static bool crowded(const struct nodes_world *);

void
state_start(struct nodes_world *w)
{
	struct node_state *s = &w->state;

	s->incarnation++;
	s->sessions = 0;
	s->known_rv = 0;
	s->fleet = fleet_new((struct fleet_hooks){ .enqueue = enqueue, .each_node = each_node, .arg = w });
	s->pool = intern_new();
	s->mirror = mirror_new();
	mirror_intern(s->mirror, s->pool);
	s->view = link_store_new();
	link_store_intern(s->view, s->pool);
	s->queue = workqueue_new(random_next(&w->sim->random));
	s->node.name = "node-state";
	s->node.turn = turn;
	s->node.arg = w;
	SIM_TRACE(w->sim, "node-state starts, incarnation %d", (int)s->incarnation);
	sim_node_start(w->sim, &s->node);
	state_resync(w);
}

void
state_crash(struct nodes_world *w)
{
	struct node_state *s = &w->state;

	sim_node_crash(w->sim, &s->node);
	state_drop_peers(w);
	fleet_free(&s->fleet);
	mirror_free(&s->mirror);
	link_store_free(&s->view);
	MUST(s->pool == NULL || intern_count(s->pool) == 0);
	intern_free(&s->pool);
	workqueue_free(&s->queue);
	state_free_feed(w);
}

/* Queues a snapshot of this moment, in any order; later changes follow it. */
void
state_resync(struct nodes_world *w)
{
	uint32_t order[MODEL_OBJECTS] = { 0 };

	if (!w->state.node.up)
		return;
	state_free_feed(w);
	for (uint32_t i = 0; i < MODEL_OBJECTS; i++) {
		const uint32_t other = (uint32_t)sim_random(w->sim, i + 1);

		order[i] = order[other];
		order[other] = i;
	}
	SIM_TRACE(w->sim, "kube-watcher sends a snapshot of rv %d", (int)w->model.rv);
	queue_event(w, (struct feed_event){ .what = FEED_BEGIN });
	for (uint32_t i = 0; i < MODEL_OBJECTS; i++) {
		if (w->model.objects[order[i]].present)
			queue_object(w, order[i]);
	}
	queue_event(w, (struct feed_event){ .what = FEED_END });
}

void
state_update(struct nodes_world *w, uint32_t place)
{
	if (w->state.node.up)
		queue_object(w, place);
}

void
state_free_feed(struct nodes_world *w)
{
	struct feed *f = &w->feed;

	while (f->len > 0) {
		free(f->events[f->head].bytes);
		f->head++;
		f->len--;
	}
	free(f->events);
	*f = (struct feed){ 0 };
}

/* ---- kube-watcher's link ---- */

static void
queue_object(struct nodes_world *w, uint32_t place)
{
	const struct model_object *const o = &w->model.objects[place];

	model_pack(&w->model, place, &w->value);
	queue_event(w, (struct feed_event){
		.what = FEED_OBJECT, .place = place, .gone = !o->present, .life = o->life,
		.bytes = obj_memdup(w->value.data, w->value.size), .len = w->value.size,
	});
}

/* An event never arrives before an earlier one. */
static void
queue_event(struct nodes_world *w, struct feed_event e)
{
	struct feed *f = &w->feed;
	const int64_t last_ms = f->len > 0 ? f->events[f->head + f->len - 1].at_ms : 0;
	const int64_t late_ms =
	    (int64_t)sim_random(w->sim, sim_chance(w->sim, 900) || w->sim->faults_over ? 10 : 2000);

	if (f->head + f->len == f->room) {
		f->room = 2 * f->room + 32;
		f->events = obj_realloc(f->events, f->room * sizeof(*f->events));
	}
	e.rv = w->model.rv;
	e.at_ms = w->sim->now_ms + late_ms > last_ms ? w->sim->now_ms + late_ms : last_ms;
	f->events[f->head + f->len++] = e;
	sim_wake(w->sim, &w->state.node, e.at_ms);
}

static void
take_feed(struct nodes_world *w)
{
	struct feed *f = &w->feed;

	while (f->len > 0 && f->events[f->head].at_ms <= w->sim->now_ms) {
		struct feed_event e = f->events[f->head++];

		f->len--;
		take_event(w, &e);
		free(e.bytes);
	}
}

static void
take_event(struct nodes_world *w, const struct feed_event *e)
{
	struct node_state *s = &w->state;
	char key[NODES_KEY_MAX], uid[16], rv[24];

	if (e->what == FEED_BEGIN) {
		s->fresh = false;
		mirror_begin(s->mirror);
		if (nodes_broken(w, NODES_BREAK_EARLY_READY))
			link_store_set_ready(s->view);
		return;
	}
	s->known_rv = e->rv;
	if (e->what == FEED_END) {
		mirror_sweep(s->mirror, on_change, w);
		s->fresh = true;
		if (!fleet_is_open(s->fleet))
			first_evaluation(w);
		return;
	}
	model_key(e->place, key);
	snprintf(uid, sizeof(uid), "u%u", e->life);
	snprintf(rv, sizeof(rv), "%d", (int)e->rv);
	const struct body_item item = {
		.key = wire_str_of(key), .uid = wire_str_of(uid), .rv = wire_str_of(rv),
		.version = e->rv, .gone = e->gone,
		.type = msg_table[model_type(e->place)].number, .value = { e->bytes, (uint32_t)e->len },
	};
	SIM_TRACE(w->sim, "node-state receives %s%s, rv %d", key, e->gone ? " (gone)" : "", (int)e->rv);
	mirror_apply(s->mirror, &item, on_change, w);
}

static void
on_change(enum mirror_change kind, const struct body_item *item, void *arg)
{
	struct nodes_world *w = arg;
	const enum msg type = model_type(model_place(item->key));
	union msg_body body;

	msg_arena_reset(&w->arena);
	MUST(msg_unpack_value(type, item->value.p, item->value.len, &w->arena, &body));
	break_enqueue(w, item, kind == MIRROR_GONE ? NULL : &body);
	fleet_update(w->state.fleet, type, item->key, kind == MIRROR_GONE ? NULL : &body, item->trace);
	w->state.muted = false;
	w->state.only = NULL;
}

/* Broken rules that do not enqueue some keys. */
static void
break_enqueue(struct nodes_world *w, const struct body_item *item, const union msg_body *now)
{
	struct node_state *s = &w->state;
	const uint32_t place = model_place(item->key);
	const struct pool *const had =
	    pools_find(fleet_pools(s->fleet), fleet_name(item->key, "machineconfigpools"));

	if (place == THE_VERSION)
		s->muted = nodes_broken(w, NODES_BREAK_TARGET);
	else if (place >= FIRST_CONFIG)
		s->muted = nodes_broken(w, NODES_BREAK_CONFIG);
	else if (place >= FIRST_POOL && had != NULL && now != NULL) {
		const struct wire_str was = wire_str_of(had->selector);

		s->muted = nodes_broken(w, NODES_BREAK_PAUSED_FLIP)
		    && wire_str_compare(now->machine_config_pool.selector, was) == 0;
		s->only = nodes_broken(w, NODES_BREAK_OLD_SELECTOR) ? had : NULL;
	}
}

/* The first snapshot is complete: evaluates each node once, then each pool; only then serves consumers. */
static void
first_evaluation(struct nodes_world *w)
{
	fleet_open(w->state.fleet);
	mirror_each(w->state.mirror, evaluate_first, w);
	fleet_each_pool(w->state.fleet, first_pool, w);
	link_store_set_ready(w->state.view);
	SIM_TRACE(w->sim, "node-state is ready, %u nodes have a state", fleet_managed(w->state.fleet));
}

static void
evaluate_first(enum mirror_change kind, const struct body_item *item, void *arg)
{
	(void)kind;
	if (fleet_name(item->key, "nodes").len > 0)
		evaluate(arg, item->key);
}

static void
first_pool(void *arg, struct wire_str key)
{
	evaluate(arg, key);
}

/* ---- Hooks of the fleet ---- */

static void
enqueue(void *arg, struct wire_str key, uint64_t trace)
{
	struct nodes_world *w = arg;
	struct node_state *s = &w->state;
	struct body_item item;
	union msg_body body;

	if (s->muted)
		return;
	if (s->only != NULL && model_place(key) < FIRST_POOL && mirror_get(s->mirror, key, &item)) {
		msg_arena_reset(&w->inner);
		MUST(msg_unpack_value(MSG_NODE, item.value.p, item.value.len, &w->inner, &body));
		if (!pool_matches(s->only, body.node.labels))
			return;
	}
	workqueue_add(s->queue, key.p, key.len, WORK_LIVE, trace, w->sim->now_ms);
}

struct walk {
	struct nodes_world	*w;
	fleet_node_fn		*fn;
	void			*arg;
};

static void
walk_one(enum mirror_change kind, const struct body_item *item, void *arg)
{
	const struct walk *const walk = arg;
	struct msg_arena arena;
	union msg_body body;

	(void)kind;
	if (fleet_name(item->key, "nodes").len == 0)
		return;
	msg_arena_init(&arena);
	MUST(msg_unpack_value(MSG_NODE, item->value.p, item->value.len, &arena, &body));
	walk->fn(item->key, &body.node, walk->arg);
	msg_arena_free(&arena);
}

static void
each_node(void *arg, fleet_node_fn *fn, void *fn_arg)
{
	struct nodes_world *w = arg;

	mirror_each(w->state.mirror, walk_one, &(struct walk){ w, fn, fn_arg });
}

/* ---- Work ---- */

static void
turn(struct sim *sim, void *arg, uint64_t n)
{
	struct nodes_world *w = arg;
	struct node_state *s = &w->state;
	struct work job;

	(void)n;
	take_feed(w);
	for (int i = 0; i < 4 && (s->fresh || nodes_broken(w, NODES_BREAK_HALF_SNAPSHOT))
	     && fleet_is_open(s->fleet) && workqueue_next(s->queue, sim->now_ms, &job);
	     i++) {
		evaluate(w, (struct wire_str){ job.key, (uint32_t)job.len });
		workqueue_finish(s->queue, job.key, job.len, WORK_DONE, 0, sim->now_ms);
	}
	state_serve(w);
	int64_t at_ms = state_due_ms(w);
	if (w->feed.len > 0 && w->feed.events[w->feed.head].at_ms < at_ms)
		at_ms = w->feed.events[w->feed.head].at_ms;
	if (s->fresh && fleet_is_open(s->fleet) && workqueue_due_ms(s->queue, sim->now_ms) < at_ms)
		at_ms = sim->now_ms + 1;
	if (at_ms != INT64_MAX)
		sim_wake(sim, &s->node, at_ms);
}

static void
evaluate(struct nodes_world *w, struct wire_str key)
{
	struct node_state *s = &w->state;
	struct body_item item;
	union msg_body body;
	struct fleet_state out;
	const bool node = fleet_name(key, "nodes").len > 0 && mirror_get(s->mirror, key, &item);

	msg_arena_reset(&w->arena);
	if (node)
		MUST(msg_unpack_value(MSG_NODE, item.value.p, item.value.len, &w->arena, &body));
	const enum fleet_result result = fleet_evaluate(s->fleet, key, node ? &body.node : NULL, s->known_rv,
	    w->sim->now_ms * 1000, &out);
	SIM_TRACE(w->sim, "node-state evaluates %.*s: %s", (int)key.len, key.p,
	    result == EVAL_UNCHANGED ? "same" : result == EVAL_GONE ? "gone" : out.now);
	if (nodes_broken(w, NODES_BREAK_FULL_QUEUE) && crowded(w))
		return;
	if (result == EVAL_GONE && !nodes_broken(w, NODES_BREAK_SILENT_REMOVAL))
		link_store_remove(s->view, key, s->known_rv);
	else if (result == EVAL_CHANGED || (nodes_broken(w, NODES_BREAK_NOISY) && out.now[0] != '\0'))
		publish(w, key, &out, node ? body.node.labels : (struct wire_map){ 0 });
}

static void
publish(struct nodes_world *w, struct wire_str key, struct fleet_state *out, struct wire_map labels)
{
	struct node_state *s = &w->state;
	struct body_item before;
	uint32_t cursor = 0;
	bool changed;

	if (nodes_broken(w, NODES_BREAK_MAP_ORDER) && out->type == MSG_NODE_STATE) {
		for (const struct pool *p; (p = pools_next(fleet_pools(s->fleet), &cursor)) != NULL;) {
			if (pool_matches(p, labels)) {
				out->body.node_state.pool = wire_str_of(p->name);
				break;
			}
		}
	}
	struct wire_bin value = out->packed;
	link_store_release(s->view);
	if (nodes_broken(w, NODES_BREAK_MAP_ORDER) || nodes_broken(w, NODES_BREAK_NOISY)) {
		msgpack_sbuffer_clear(&w->value);
		msg_pack(&w->value, out->type, &out->body);
		value = (struct wire_bin){ (const uint8_t *)w->value.data, (uint32_t)w->value.size };
	}
	msg_arena_reset(&w->inner);
	if (link_store_get(s->view, key, &before)
	    && state_hash(out->type, before.value, &w->inner) == state_hash(out->type, value, &w->inner)) {
		sim_fail(w->sim, "node-state publishes %.*s unchanged", (int)key.len, key.p);
		return;
	}
	MUST(link_store_set(s->view, key, wire_str_of("u"), wire_str_of(""), out->type, value,
		 s->known_rv, &changed)
	    == E_OK);
	MUST(changed);
}

static bool
crowded(const struct nodes_world *w)
{
	for (uint32_t i = 0; i < DOWNS; i++) {
		const struct nodes_peer *const p = &w->state.peers[i];

		if (p->open && p->slot >= 0 && link_store_pending(w->state.view, p->slot) >= 2)
			return true;
	}
	return false;
}
