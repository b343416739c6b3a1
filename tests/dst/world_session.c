/*
 * tests/dst/world_session.c - the history of one link: its actions and faults, and when everything
 * must be settled.
 */
#include "world_session.h"

#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "session_acts.h"

enum { PIPE_MAX = 20000, QUIET_MS = 4000, FINAL_CHANGES = 4 };

static sim_fn act_again, reopen, restart, report_producer;
static void draw_faults(struct sim *);
static void open_conn(struct session_world *, uint32_t);

static const struct world_break breaks[] = {
#define BREAK_ROW(ID, name_, what_) { .name = (name_), .what = (what_) },
	SESSION_BREAKS(BREAK_ROW)
	{ .name = NULL },
};

static void *
setup(struct sim *sim)
{
	struct session_world *w = obj_alloc(sizeof(*w));

	w->sim = sim;
	msgpack_sbuffer_init(&w->buffer);
	msg_arena_init(&w->arena);
	truth_init(&w->truth, sim);
	w->no_faults = sim_chance(sim, 125);
	w->actions = 20 + (uint32_t)sim_random(sim, 100);
	w->steady_ms = sim_chance(sim, 100) ? 20 + sim_random(sim, 900) : 0;
	w->only = act_draw_only(w);
	w->work_failures = sim_chance(sim, 500) ? 0 : (uint32_t)sim_random(sim, 300);
	w->nconsumers = 1 + (uint32_t)sim_random(sim, sim_chance(sim, 600) ? 2 : CONSUMERS_MAX);
	sim->faults.latency_ms = (int64_t)sim_random(sim, sim_chance(sim, 900) ? 10 : 100);
	if (!w->no_faults)
		draw_faults(sim);
	for (uint32_t i = 0; i < w->truth.count; i++) {
		if (sim_chance(sim, 700))
			act_create(w, i);
	}
	for (uint32_t i = 0; i < CONSUMERS_MAX; i++)
		w->producer.peers[i].slot = NO_SLOT;
	for (uint32_t i = 0; i < w->nconsumers; i++) {
		struct consumer *c = &w->consumers[i];

		sim_pipe_init(&c->conn.up, &w->producer.node, PIPE_MAX);
		sim_pipe_init(&c->conn.down, &c->node, PIPE_MAX);
		c->window = sim_chance(sim, 400) ? SESSION_WINDOW : 64;
		/* A round trip for every few of many keys would take minutes. */
		if (w->truth.count < 1000 && sim_chance(sim, 500))
			c->window = 1 + sim_random(sim, 8);
		c->workers_max = 1 + (uint32_t)sim_random(sim, 3);
		sim_at(sim, (int64_t)sim_random(sim, 300), restart, w, i);
	}
	sim_at(sim, (int64_t)sim_random(sim, 300), restart, w, CONSUMERS_MAX);
	sim_at(sim, 1, act_again, w, 0);
	return w;
}

static void
teardown(void *arg)
{
	struct session_world *w = arg;

	if (w->producer.node.up)
		producer_crash(w);
	for (uint32_t i = 0; i < w->nconsumers; i++) {
		if (w->consumers[i].node.up)
			consumer_crash(w, i);
		sim_pipe_free(&w->consumers[i].conn.up);
		sim_pipe_free(&w->consumers[i].conn.down);
	}
	truth_free(&w->truth);
	msg_arena_free(&w->arena);
	msgpack_sbuffer_destroy(&w->buffer);
	free(w);
}

static bool
has_actions(void *arg)
{
	const struct session_world *w = arg;

	return w->actions > 0;
}

static void
check(struct sim *sim, void *arg)
{
	struct session_world *w = arg;

	(void)sim;
	producer_check(w);
	for (uint32_t i = 0; i < w->nconsumers; i++)
		consumer_check(w, &w->consumers[i]);
}

static void
stop_faults(struct sim *sim, void *arg)
{
	struct session_world *w = arg;

	w->faults_over_ms = sim->now_ms;
	w->work_failures = 0;
	sim_node_continue(sim, &w->producer.node);
	sim_wake(sim, &w->producer.node, sim->now_ms);
	for (uint32_t i = 0; i < w->nconsumers; i++) {
		w->consumers[i].slow_ms = 0;
		sim_node_continue(sim, &w->consumers[i].node);
		sim_wake(sim, &w->consumers[i].node, sim->now_ms);
	}
}

/*
 * The world settles twice: once the mirrors equal the truth, a few more changes must reach them by
 * deltas alone, and from then on no session may start over. QUIET_MS: what the faults delayed or
 * repeated has arrived by then.
 */
static const char *
unsettled(struct sim *sim, void *arg)
{
	struct session_world *w = arg;

	if (!w->producer.node.up || !link_store_ready(w->producer.view))
		return "the producer is not ready";
	if (w->notices > 0)
		return "a message of the supervisor is in flight";
	for (uint32_t i = 0; i < w->nconsumers; i++) {
		const char *wrong = consumer_unsettled(w, &w->consumers[i]);

		if (wrong != NULL)
			return wrong;
	}
	if (link_store_tombstones(w->producer.view) > 0)
		return "a tombstone is left though all mirrors are complete";
	if (sim->now_ms < w->faults_over_ms + QUIET_MS)
		return "what the faults delayed may still be in flight";
	if (!w->final_changes_made) {
		SIM_TRACE(sim, "final changes");
		w->final_changes_made = true;
		for (int i = 0; i < FINAL_CHANGES; i++)
			act_on_store(w);
		return "the final changes were just made";
	}
	return NULL;
}

const struct world session_world = {
	.name = "session", .breaks = breaks, .settle_ms = 60000, .hold_ms = 11000,
	.setup = setup, .has_actions = has_actions, .check = check, .stop_faults = stop_faults,
	.unsettled = unsettled, .teardown = teardown,
};

/* ---- Actions and faults ---- */

static void
act_again(struct sim *sim, void *arg, uint64_t n)
{
	struct session_world *w = arg;
	const uint64_t kind = sim_random(sim, 1000);

	(void)n;
	act(w);
	if (sim_chance(sim, 10) && !w->no_faults)
		draw_faults(sim);
	if (--w->actions > 0) {
		const uint64_t gap_ms = w->steady_ms > 0 ? w->steady_ms
		    : kind < 700 ? 30 : kind < 930 ? 500 : kind < 992 ? 6000 : 13000;

		sim_at(sim, sim->now_ms + (int64_t)sim_random(sim, gap_ms), act_again, w, 0);
	}
}

/* Draws no faults, many of one kind beside a few of each, echoes and losses, or a few of each. */
static void
draw_faults(struct sim *sim)
{
	uint32_t *const kinds[] = {
		&sim->faults.drop, &sim->faults.repeat, &sim->faults.swap, &sim->faults.late,
		&sim->faults.echo, &sim->faults.cut_short, &sim->faults.stall, &sim->faults.refuse,
	};
	const uint64_t style = sim_random(sim, 4);

	for (size_t i = 0; i < NITEMS(kinds); i++)
		*kinds[i] = style == 0 ? 0 : sim_chance(sim, 500) ? (uint32_t)sim_random(sim, 40) : 0;
	if (style == 1)
		*kinds[sim_random(sim, NITEMS(kinds))] = 50 + (uint32_t)sim_random(sim, 400);
	if (style == 2) {
		sim->faults.echo = 200 + (uint32_t)sim_random(sim, 400);
		sim->faults.drop = (uint32_t)sim_random(sim, 200);
	}
}

void
world_restart_soon(struct session_world *w, uint32_t who)
{
	const uint64_t within_ms = sim_chance(w->sim, 800) ? 300 : 8000;

	sim_at(w->sim, w->sim->now_ms + (int64_t)sim_random(w->sim, within_ms), restart, w, who);
}

/*
 * who: a consumer, or CONSUMERS_MAX for the producer. The supervisor reports its start to
 * the consumers, late or not at all.
 */
static void
restart(struct sim *sim, void *arg, uint64_t who)
{
	struct session_world *w = arg;

	if (who < CONSUMERS_MAX) {
		consumer_start(w, (uint32_t)who);
		world_reopen(w, (uint32_t)who);
		return;
	}
	producer_start(w);
	for (uint32_t i = 0; i < w->nconsumers; i++) {
		world_reopen(w, i);
		if (w->no_faults || sim_chance(sim, 250))
			continue;
		w->notices++;
		sim_at(sim,
		    sim->now_ms + (int64_t)sim_random(sim, sim_chance(sim, 800) ? 200 : 9000),
		    report_producer, w, w->producer.incarnation << 8 | i);
	}
}

static void
report_producer(struct sim *sim, void *arg, uint64_t n)
{
	struct session_world *w = arg;

	SIM_TRACE(sim, "supervisor to c%d: the producer is incarnation %d", (int)(n & 0xff), (int)(n >> 8));
	w->notices--;
	consumer_producer_up(w, (uint32_t)(n & 0xff), n >> 8);
}

void
world_cut(struct session_world *w, uint32_t i)
{
	sim_pipe_cut(&w->consumers[i].conn.up);
	sim_pipe_cut(&w->consumers[i].conn.down);
}

void
world_reopen(struct session_world *w, uint32_t i)
{
	sim_at(w->sim,
	    w->sim->now_ms + (int64_t)sim_random(w->sim, sim_chance(w->sim, 900) ? 200 : 3000),
	    reopen, w, i);
}

static void
reopen(struct sim *sim, void *arg, uint64_t i)
{
	struct session_world *w = arg;
	struct consumer *c = &w->consumers[i];

	if (c->conn.up.open || !c->node.up || !w->producer.node.up)
		return;
	SIM_TRACE(sim, "%s is connected", c->name);
	open_conn(w, (uint32_t)i);
}

static void
open_conn(struct session_world *w, uint32_t i)
{
	struct consumer *c = &w->consumers[i];

	sim_pipe_open(&c->conn.up);
	sim_pipe_open(&c->conn.down);
	sim_wake(w->sim, &c->node, w->sim->now_ms);
	sim_wake(w->sim, &w->producer.node, w->sim->now_ms);
}

/* ---- Frames ---- */

enum sim_sent
world_send(struct session_world *w, struct sim_pipe *p, const struct envelope *env,
    const union msg_body *body)
{
	msgpack_sbuffer_clear(&w->buffer);
	frame_begin(&w->buffer, env);
	msg_pack(&w->buffer, env->type, body);
	return world_send_buffer(w, p, env, 0);
}

enum sim_sent
world_send_buffer(struct session_world *w, struct sim_pipe *p, const struct envelope *env, uint32_t items)
{
	const enum sim_sent sent =
	    sim_pipe_send(w->sim, p, w->buffer.data, w->buffer.size, env->epoch, items);

	SIM_TRACE(w->sim, "  to %s: %s epoch %d.%u seq %d%s", p->to->name, msg_name(env->type),
	    (int)EPOCH_INCARNATION(env->epoch), (uint32_t)env->epoch, (int)env->seq,
	    sent == SIM_SENT ? "" : sent == SIM_FULL ? " (full)" : " (unreachable)");
	return sent;
}

const char *
world_open(struct session_world *w, const struct sim_node *at, const struct sim_frame *bytes, struct frame *f,
    union msg_body *first)
{
	msg_arena_reset(&w->arena);
	const char *wrong = frame_open(f, bytes->bytes, bytes->len, &w->arena);

	if (wrong == NULL && !frame_next(f, &w->arena, first))
		wrong = "body does not fit the schema";
	if (wrong == NULL)
		SIM_TRACE(w->sim, "%s gets %s epoch %d.%u seq %d, %u bodies", at->name, msg_name(f->env.type),
		    (int)EPOCH_INCARNATION(f->env.epoch), (uint32_t)f->env.epoch, (int)f->env.seq,
		    f->bodies + 1);
	else
		SIM_TRACE(w->sim, "%s gets an invalid frame: %s", at->name, wrong);
	return wrong;
}

/* ---- The model of what one consumer was sent ---- */

void
shadow_reset(struct shadow *s)
{
	shadow_free(s);
	s->keys = keytab_new(0);
}

void
shadow_free(struct shadow *s)
{
	keytab_free(&s->keys);
	free(s->versions);
	*s = (struct shadow){ 0 };
}

bool
shadow_apply(struct shadow *s, const struct body_item *item)
{
	bool added;
	const uint32_t id = keytab_add(s->keys, item->key.p, item->key.len, &added);
	const uint64_t key_hash = keytab_hash(s->keys, id);

	if (id >= s->cap) {
		s->cap = id < 16 ? 16 : 2 * id;
		s->versions = obj_realloc(s->versions, s->cap * sizeof(*s->versions));
	}
	if (!added)
		s->hash ^= link_store_item_hash(key_hash, s->versions[id]);
	s->versions[id] = item->version;
	if (item->gone)
		keytab_remove(s->keys, id);
	else
		s->hash ^= link_store_item_hash(key_hash, item->version);
	return !(added && item->gone);
}
