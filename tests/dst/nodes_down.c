/*
 * tests/dst/nodes_down.c - a consumer of node-state, as bus_in.c does it: a mirror, and checks of what
 * it receives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "world_nodes.h"

static sim_fn turn;
static bool caught_up(const struct nodes_world *, const struct nodes_down *);
static bool receive(struct nodes_world *, struct nodes_down *);
static void on_frame(struct nodes_world *, struct nodes_down *, const struct sim_frame *);
static void on_change(enum mirror_change, const struct body_item *, void *);
static int64_t send_frames(struct nodes_world *, struct nodes_down *, bool);
static bool send_hello(struct nodes_world *, struct nodes_down *);
static bool send_ack(struct nodes_world *, struct nodes_down *);
static void started_over(struct nodes_world *, struct nodes_down *, enum resync);

struct ends {
	struct nodes_world	*w;
	struct nodes_down	*d;
};

void
down_start(struct nodes_world *w, uint32_t i)
{
	struct nodes_down *d = &w->downs[i];

	snprintf(d->name, sizeof(d->name), "d%u", i);
	d->index = i;
	d->incarnation++;
	d->node.name = d->name;
	d->node.turn = turn;
	d->node.arg = w;
	d->node.n = i;
	d->mirror = mirror_new();
	session_in_init(&d->session, d->window, random_next(&w->sim->random));
	SIM_TRACE(w->sim, "%s starts", d->name);
	sim_node_start(w->sim, &d->node);
}

void
down_crash(struct nodes_world *w, uint32_t i)
{
	struct nodes_down *d = &w->downs[i];

	sim_node_crash(w->sim, &d->node);
	mirror_free(&d->mirror);
	memset(d->held, 0, sizeof(d->held));
	d->writable = false;
}

/* Compares what it holds with a new evaluation of the cluster; NULL: it is the same. */
const char *
down_unsettled(struct nodes_world *w, struct nodes_down *d)
{
	static char text[128];
	char key[NODES_KEY_MAX];

	if (!d->node.up || !caught_up(w, d))
		return "a downstream actor has not caught up with node-state";
	if (w->expected_rv != w->model.rv)
		model_evaluate(&w->model, w->expected);
	w->expected_rv = w->model.rv;
	for (uint32_t i = 0; i < STATES; i++) {
		if ((w->expected[i] != 0) != model_has_state(&w->model, i))
			return "a new evaluation and the model differ about which objects have a state";
		if (d->held[i] == w->expected[i])
			continue;
		model_key(i, key);
		snprintf(text, sizeof(text), "%s holds %s of %s", d->name,
		    d->held[i] == 0 ? "nothing" : w->expected[i] == 0 ? "something" : "another state", key);
		return text;
	}
	return NULL;
}

static bool
caught_up(const struct nodes_world *w, const struct nodes_down *d)
{
	const struct nodes_peer *const peer = &w->state.peers[d->index];

	return d->session.state == IN_LIVE && w->state.node.up && peer->open
	    && peer->session.state == OUT_LIVE && peer->session.epoch == d->session.epoch
	    && peer->session.seq == d->session.seq && link_store_pending(w->state.view, peer->slot) == 0;
}

/* ---- A turn of its loop ---- */

static void
turn(struct sim *sim, void *arg, uint64_t n)
{
	struct nodes_world *w = arg;
	struct nodes_down *d = &w->downs[n];
	const bool more = receive(w, d);
	const int64_t at_ms = send_frames(w, d, !more);
	int64_t pipe_ms = sim_pipe_due_ms(&d->down);

	if (pipe_ms != INT64_MAX && pipe_ms < sim->now_ms + d->slow_ms)
		pipe_ms = sim->now_ms + d->slow_ms;
	sim_wake(sim, &d->node, pipe_ms < at_ms ? pipe_ms : at_ms);
}

/* True: stopped early, more is waiting. */
static bool
receive(struct nodes_world *w, struct nodes_down *d)
{
	const int limit = d->slow_ms > 0 ? 1 : NODES_TURN;
	struct sim_frame bytes;

	for (int n = 0; n < limit && sim_pipe_read(w->sim, &d->down, &bytes); n++) {
		on_frame(w, d, &bytes);
		free(bytes.bytes);
	}
	return sim_pipe_due_ms(&d->down) <= w->sim->now_ms;
}

static void
on_frame(struct nodes_world *w, struct nodes_down *d, const struct sim_frame *bytes)
{
	struct ends ends = { .w = w, .d = d };
	struct frame f;
	union msg_body body;

	if (nodes_open(w, bytes, &f, &body) != NULL) {
		started_over(w, d, session_in_refuse(&d->session, w->sim->now_ms).reason);
		return;
	}
	const uint32_t bodies = f.bodies + 1;
	const struct in_view v = { .count = mirror_count(d->mirror), .hash = mirror_hash(d->mirror) };
	const struct in_step step = session_in_frame(&d->session, &f.env, &body, bodies, &v, w->sim->now_ms);
	switch (step.verb) {
	case IN_BEGIN:
		mirror_begin(d->mirror);
		break;
	case IN_ITEMS:
		for (uint32_t i = 0; i < bodies; i++) {
			mirror_apply(d->mirror, &body.item, on_change, &ends);
			if (i + 1 < bodies && !frame_next(&f, &w->arena, &body))
				sim_fail(w->sim, "a frame of %u items does not parse to its end", bodies);
		}
		break;
	case IN_END:
		mirror_sweep(d->mirror, on_change, &ends);
		break;
	case IN_RESYNC:
		started_over(w, d, step.reason);
		break;
	default:
		break;
	}
}

/* Gone is a mistake if the key had a state at every moment since the value that the consumer holds. */
static void
on_change(enum mirror_change kind, const struct body_item *item, void *arg)
{
	const struct ends *const ends = arg;
	struct nodes_world *w = ends->w;
	struct nodes_down *d = ends->d;
	const uint32_t place = model_place(item->key);

	if (place >= STATES) {
		sim_fail(w->sim, "%s receives %.*s, which has no state", d->name,
		    (int)item->key.len, item->key.p);
		return;
	}
	SIM_TRACE(w->sim, "  %s: %.*s %s, evaluated up to rv %d", d->name, (int)item->key.len, item->key.p,
	    kind == MIRROR_GONE ? "gone" : "changed", (int)item->trace);
	if ((d->held[place] != 0) != (kind != MIRROR_ADDED))
		sim_fail(w->sim, "%s receives an invalid sequence of %.*s", d->name, (int)item->key.len,
		    item->key.p);
	if (kind == MIRROR_GONE && model_has_state(&w->model, place)
	    && w->model.absent_rv[place] <= item->trace)
		sim_fail(w->sim, "%s receives %.*s as gone, but since rv %d it always had a state", d->name,
		    (int)item->key.len, item->key.p, (int)item->trace);
	d->held[place] = 0;
	if (kind == MIRROR_GONE)
		return;
	msg_arena_reset(&w->inner);
	d->held[place] = state_hash(msg_by_number(item->type), item->value, &w->inner);
	if (d->held[place] == 0)
		sim_fail(w->sim, "%s gets %.*s in bytes that are no state", d->name,
		    (int)item->key.len, item->key.p);
}

static int64_t
send_frames(struct nodes_world *w, struct nodes_down *d, bool drained)
{
	const int64_t now_ms = w->sim->now_ms;
	const bool writable = d->up.open;

	if (writable && !d->writable)
		session_in_connected(&d->session, now_ms);
	d->writable = writable;
	for (;;) {
		const struct in_step step = session_in_next(&d->session, drained, now_ms);

		switch (step.verb) {
		case IN_SEND_HELLO:
			session_in_sent(&d->session, step.verb, writable && send_hello(w, d), now_ms);
			continue;
		case IN_SEND_ACK:
			if (!send_ack(w, d)) {
				session_in_sent(&d->session, step.verb, false, now_ms);
				return now_ms + SESSION_HELLO_MIN_MS;
			}
			session_in_sent(&d->session, step.verb, true, now_ms);
			continue;
		case IN_RESYNC:
			started_over(w, d, step.reason);
			continue;
		default:
			return step.at_ms;
		}
	}
}

static bool
send_hello(struct nodes_world *w, struct nodes_down *d)
{
	const union msg_body body = { .hello = {
		.role = wire_str_of("test-down-1"), .incarnation = d->incarnation,
		.schema = msg_schema_hash(),
		.window = d->window, .nonce = d->session.nonce,
	} };

	return nodes_send(w, &d->up, &(struct envelope){ .type = MSG_HELLO }, &body) == SIM_SENT;
}

static bool
send_ack(struct nodes_world *w, struct nodes_down *d)
{
	const union msg_body body = { .ack = { .credit = d->window } };
	const struct envelope env = { .type = MSG_ACK, .epoch = d->session.epoch, .seq = d->session.seq };

	return nodes_send(w, &d->up, &env, &body) == SIM_SENT;
}

static void
started_over(struct nodes_world *w, struct nodes_down *d, enum resync reason)
{
	SIM_TRACE(w->sim, "%s starts over: %s", d->name, resync_name(reason));
	if (reason == RESYNC_HASH || reason == RESYNC_COUNT)
		sim_fail(w->sim, "%s starts over because of %s: that is a bug", d->name, resync_name(reason));
	if (w->final_changes_made)
		sim_fail(w->sim, "%s starts over because of %s, though all was settled", d->name,
		    resync_name(reason));
}
