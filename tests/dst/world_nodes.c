/*
 * tests/dst/world_nodes.c - the history of a cluster with node-state: its actions and faults, and
 * what must hold in the end.
 */
#include "world_nodes.h"

#include <stdlib.h>

#include "obj.h"

enum { PIPE_MAX = 20000, QUIET_MS = 4000, FINAL_CHANGES = 3, STATE = DOWNS };

typedef void act_fn(struct nodes_world *);
static act_fn change, burst, resync, cut, crash_state, crash_down, stop_state, stop_down, slow_down;
static sim_fn act_again, restart, reopen;
static void draw_faults(struct sim *);
static void disconnect(struct nodes_world *, uint32_t);
static void schedule_soon(struct nodes_world *, sim_fn *, uint64_t);

static const struct {
	act_fn		*fn;
	uint32_t	 weight;
} acts[] = {
	{ change, 600 }, { burst, 100 }, { resync, 60 }, { cut, 60 }, { crash_state, 40 },
	{ crash_down, 30 }, { stop_state, 20 }, { stop_down, 30 }, { slow_down, 60 },
};
enum { WEIGHTS = 1000 };

static const struct world_break breaks[] = {
#define BREAK_ROW(ID, name_, what_) { .name = (name_), .what = (what_) },
	NODES_BREAKS(BREAK_ROW)
	{ .name = NULL },
};

static void *
setup(struct sim *sim)
{
	struct nodes_world *w = obj_alloc(sizeof(*w));

	w->sim = sim;
	msgpack_sbuffer_init(&w->buffer);
	msgpack_sbuffer_init(&w->value);
	msg_arena_init(&w->arena);
	msg_arena_init(&w->inner);
	model_init(&w->model, sim);
	w->actions = 15 + (uint32_t)sim_random(sim, 60);
	sim->faults.latency_ms = (int64_t)sim_random(sim, 20);
	draw_faults(sim);
	state_drop_peers(w);
	for (uint32_t i = 0; i < DOWNS; i++) {
		struct nodes_down *d = &w->downs[i];

		sim_pipe_init(&d->up, &w->state.node, PIPE_MAX);
		sim_pipe_init(&d->down, &d->node, PIPE_MAX);
		d->window = sim_chance(sim, 500) ? SESSION_WINDOW : 1 + sim_random(sim, 6);
		schedule_soon(w, restart, i);
	}
	schedule_soon(w, restart, STATE);
	sim_at(sim, 1, act_again, w, 0);
	return w;
}

static void
teardown(void *arg)
{
	struct nodes_world *w = arg;

	if (w->state.node.up)
		state_crash(w);
	state_free_feed(w);
	for (uint32_t i = 0; i < DOWNS; i++) {
		if (w->downs[i].node.up)
			down_crash(w, i);
		sim_pipe_free(&w->downs[i].up);
		sim_pipe_free(&w->downs[i].down);
	}
	msg_arena_free(&w->arena);
	msg_arena_free(&w->inner);
	msgpack_sbuffer_destroy(&w->buffer);
	msgpack_sbuffer_destroy(&w->value);
	free(w);
}

static bool
has_actions(void *arg)
{
	const struct nodes_world *w = arg;

	return w->actions > 0;
}

/*
 * What is published is checked in nodes_state.c, what is received in nodes_down.c. Here: no consumer
 * is served too early.
 */
static void
check(struct sim *sim, void *arg)
{
	const struct nodes_world *w = arg;

	for (uint32_t i = 0; w->state.node.up && i < DOWNS; i++) {
		const struct nodes_peer *const p = &w->state.peers[i];

		if (p->open && p->session.state != OUT_WAITING && !fleet_is_open(w->state.fleet))
			sim_fail(sim, "d%u is sent a snapshot before the first full evaluation", i);
	}
}

static void
stop_faults(struct sim *sim, void *arg)
{
	struct nodes_world *w = arg;

	w->faults_over_ms = sim->now_ms;
	sim_node_continue(sim, &w->state.node);
	sim_wake(sim, &w->state.node, sim->now_ms);
	for (uint32_t i = 0; i < DOWNS; i++) {
		w->downs[i].slow_ms = 0;
		sim_node_continue(sim, &w->downs[i].node);
		sim_wake(sim, &w->downs[i].node, sim->now_ms);
	}
}

/* The world settles twice: changes after the first time must arrive by deltas alone. */
static const char *
unsettled(struct sim *sim, void *arg)
{
	struct nodes_world *w = arg;

	if (!w->state.node.up || !fleet_is_open(w->state.fleet))
		return "node-state has not evaluated yet";
	if (w->feed.len > 0 || workqueue_due_ms(w->state.queue, sim->now_ms) != INT64_MAX)
		return "node-state has work left";
	for (uint32_t i = 0; i < DOWNS; i++) {
		const char *const wrong = down_unsettled(w, &w->downs[i]);

		if (wrong != NULL)
			return wrong;
	}
	if (link_store_tombstones(w->state.view) > 0)
		return "a tombstone is left though all mirrors are complete";
	if (sim->now_ms < w->faults_over_ms + QUIET_MS)
		return "what the faults delayed may still be in flight";
	if (!w->final_changes_made) {
		w->final_changes_made = true;
		for (int i = 0; i < FINAL_CHANGES; i++)
			change(w);
		return "the final changes were just made";
	}
	return NULL;
}

const struct world nodes_world = {
	.name = "nodes", .breaks = breaks, .settle_ms = 60000, .hold_ms = 3000,
	.setup = setup, .has_actions = has_actions, .check = check, .stop_faults = stop_faults,
	.unsettled = unsettled, .teardown = teardown,
};

/* ---- Actions ---- */

static void
act_again(struct sim *sim, void *arg, uint64_t n)
{
	struct nodes_world *w = arg;
	const uint64_t gap = sim_random(sim, 1000);
	uint64_t at = sim_random(sim, WEIGHTS);
	size_t i = 0;

	(void)n;
	for (; at >= acts[i].weight; i++)
		at -= acts[i].weight;
	acts[i].fn(w);
	if (sim_chance(sim, 10))
		draw_faults(sim);
	if (--w->actions > 0)
		sim_at(sim,
		    sim->now_ms
			+ (int64_t)sim_random(sim,
			    gap < 700       ? 30
				: gap < 950 ? 500
					    : 6000),
		    act_again, w, 0);
}

static void
change(struct nodes_world *w)
{
	const uint32_t place = model_change(&w->model, w->sim);
	char key[NODES_KEY_MAX];

	model_key(place, key);
	SIM_TRACE(w->sim, "cluster: %s %s, rv %d", key,
	    w->model.objects[place].present ? "changes" : "is removed", (int)w->model.rv);
	state_update(w, place);
}

static void
burst(struct nodes_world *w)
{
	for (uint64_t n = sim_random(w->sim, 12); n > 0; n--)
		change(w);
}

/* Some changes are lost, then a snapshot follows. */
static void
resync(struct nodes_world *w)
{
	for (uint64_t n = sim_random(w->sim, 6); n > 0; n--)
		model_change(&w->model, w->sim);
	state_resync(w);
}

static void
cut(struct nodes_world *w)
{
	const uint32_t i = (uint32_t)sim_random(w->sim, DOWNS);

	disconnect(w, i);
	schedule_soon(w, reopen, i);
}

static void
crash_state(struct nodes_world *w)
{
	if (!w->state.node.up)
		return;
	SIM_TRACE(w->sim, "node-state crashes");
	state_crash(w);
	for (uint32_t i = 0; i < DOWNS; i++)
		disconnect(w, i);
	schedule_soon(w, restart, STATE);
}

static void
crash_down(struct nodes_world *w)
{
	const uint32_t i = (uint32_t)sim_random(w->sim, DOWNS);

	if (!w->downs[i].node.up)
		return;
	SIM_TRACE(w->sim, "d%u crashes", i);
	down_crash(w, i);
	disconnect(w, i);
	schedule_soon(w, restart, i);
}

static void
stop_state(struct nodes_world *w)
{
	sim_node_stop(w->sim, &w->state.node, (int64_t)sim_random(w->sim, 12000));
}

static void
stop_down(struct nodes_world *w)
{
	struct nodes_down *d = &w->downs[sim_random(w->sim, DOWNS)];

	sim_node_stop(w->sim, &d->node, (int64_t)sim_random(w->sim, 16000));
}

static void
slow_down(struct nodes_world *w)
{
	struct nodes_down *d = &w->downs[sim_random(w->sim, DOWNS)];

	d->slow_ms = sim_chance(w->sim, 500) ? 0 : (int64_t)sim_random(w->sim, 300);
}

static void
draw_faults(struct sim *sim)
{
	uint32_t *const kinds[] = {
		&sim->faults.drop, &sim->faults.repeat, &sim->faults.swap, &sim->faults.late,
		&sim->faults.echo, &sim->faults.cut_short, &sim->faults.stall, &sim->faults.refuse,
	};
	const bool none = sim_chance(sim, 400);

	for (size_t i = 0; i < NITEMS(kinds); i++)
		*kinds[i] = !none && sim_chance(sim, 500) ? (uint32_t)sim_random(sim, 60) : 0;
}

/* ---- Nodes and connections ---- */

static void
schedule_soon(struct nodes_world *w, sim_fn *fn, uint64_t who)
{
	const uint64_t within_ms = sim_chance(w->sim, 800) ? 300 : 4000;

	sim_at(w->sim, w->sim->now_ms + (int64_t)sim_random(w->sim, within_ms), fn, w, who);
}

static void
disconnect(struct nodes_world *w, uint32_t i)
{
	sim_pipe_cut(&w->downs[i].up);
	sim_pipe_cut(&w->downs[i].down);
}

/* who: a downstream actor, or STATE. */
static void
restart(struct sim *sim, void *arg, uint64_t who)
{
	struct nodes_world *w = arg;

	(void)sim;
	if (who == STATE)
		state_start(w);
	else
		down_start(w, (uint32_t)who);
	for (uint32_t i = 0; i < DOWNS; i++) {
		if (who == STATE || who == i)
			schedule_soon(w, reopen, i);
	}
}

static void
reopen(struct sim *sim, void *arg, uint64_t i)
{
	struct nodes_world *w = arg;
	struct nodes_down *d = &w->downs[i];

	if (d->up.open || !d->node.up || !w->state.node.up)
		return;
	sim_pipe_open(&d->up);
	sim_pipe_open(&d->down);
	sim_wake(sim, &d->node, sim->now_ms);
	sim_wake(sim, &w->state.node, sim->now_ms);
}
