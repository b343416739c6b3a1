/*
 * tests/dst/nodes_link.c - node-state's end of the link downstream, as bus_out.c does it; and
 * frames in and out of pipes. The protocol itself has its own world (session): here it carries states.
 */
#include <stdlib.h>

#include "obj.h"
#include "world_nodes.h"

static void receive(struct nodes_world *, uint32_t);
static void on_hello(struct nodes_world *, uint32_t, const struct body_hello *);
static void on_ack(struct nodes_world *, uint32_t, const struct envelope *, const struct body_ack *);
static void serve(struct nodes_world *, uint32_t);
static enum sim_sent perform(struct nodes_world *, uint32_t, const struct out_step *);
static enum sim_sent send_items(struct nodes_world *, uint32_t, const struct out_step *);
static void send_close(struct nodes_world *, uint32_t, uint64_t, uint64_t, const char *);
static void close_peer(struct nodes_world *, uint32_t, const char *);

void
state_serve(struct nodes_world *w)
{
	for (uint32_t i = 0; i < DOWNS; i++)
		receive(w, i);
	for (uint32_t i = 0; i < DOWNS; i++)
		serve(w, i);
}

/* Returns when its end of the link has something to do again. */
int64_t
state_due_ms(struct nodes_world *w)
{
	int64_t at_ms = INT64_MAX;

	for (uint32_t i = 0; i < DOWNS; i++) {
		const struct nodes_peer *const peer = &w->state.peers[i];
		const int64_t pipe_ms = sim_pipe_due_ms(&w->downs[i].up);
		const struct out_view v = {
			.ready = link_store_ready(w->state.view),
			.pending = peer->slot < 0 ? 0 : link_store_pending(w->state.view, peer->slot),
		};

		at_ms = pipe_ms < at_ms ? pipe_ms : at_ms;
		if (!peer->open)
			continue;
		const struct out_step step = session_out_next(&peer->session, &v, w->sim->now_ms);
		const int64_t step_ms = step.verb == OUT_NOTHING ? step.at_ms : w->sim->now_ms + 10;
		at_ms = step_ms < at_ms ? step_ms : at_ms;
	}
	return at_ms;
}

void
state_drop_peers(struct nodes_world *w)
{
	for (uint32_t i = 0; i < DOWNS; i++)
		w->state.peers[i] = (struct nodes_peer){ .slot = -1 };
}

static void
receive(struct nodes_world *w, uint32_t i)
{
	struct sim_frame bytes;

	for (int n = 0; n < NODES_TURN && sim_pipe_read(w->sim, &w->downs[i].up, &bytes); n++) {
		struct nodes_peer *peer = &w->state.peers[i];
		struct frame f;
		union msg_body body;
		const char *const wrong = nodes_open(w, &bytes, &f, &body);

		if (wrong != NULL && peer->open)
			close_peer(w, i, wrong);
		else if (wrong == NULL && f.env.type == MSG_HELLO)
			on_hello(w, i, &body.hello);
		else if (wrong == NULL && !peer->open)
			send_close(w, i, f.env.epoch, 0, "no such session");
		else if (wrong == NULL)
			on_ack(w, i, &f.env, &body.ack);
		free(bytes.bytes);
	}
}

static void
on_hello(struct nodes_world *w, uint32_t i, const struct body_hello *h)
{
	struct node_state *s = &w->state;
	struct nodes_peer *peer = &s->peers[i];

	if (peer->open)
		close_peer(w, i, NULL);
	peer->open = true;
	session_out_hello(&peer->session, EPOCH_MAKE(s->incarnation, ++s->sessions), h->nonce, h->window,
	    w->sim->now_ms);
}

static void
on_ack(struct nodes_world *w, uint32_t i, const struct envelope *env, const struct body_ack *ack)
{
	struct nodes_peer *peer = &w->state.peers[i];

	if (!session_out_ack(&peer->session, env->epoch, env->seq, ack->credit, w->sim->now_ms))
		sim_fail(w->sim, "d%u acknowledges what was never sent", i);
	else if (env->epoch != peer->session.epoch)
		send_close(w, i, env->epoch, 0, "an older session");
	else if (peer->slot >= 0)
		link_store_acked(w->state.view, peer->slot, peer->session.acked);
}

static void
serve(struct nodes_world *w, uint32_t i)
{
	struct nodes_peer *peer = &w->state.peers[i];

	for (int n = 0; n < NODES_TURN && peer->open; n++) {
		const struct out_view v = {
			.ready = link_store_ready(w->state.view),
			.pending = peer->slot < 0 ? 0 : link_store_pending(w->state.view, peer->slot),
		};
		const struct out_step step = session_out_next(&peer->session, &v, w->sim->now_ms);

		if (step.verb == OUT_NOTHING)
			return;
		if (step.verb == OUT_CLOSE) {
			close_peer(w, i, step.why);
			return;
		}
		const enum sim_sent sent = perform(w, i, &step);
		if (sent == SIM_UNREACHABLE)
			close_peer(w, i, NULL);
		else if (sent == SIM_FULL)
			return;
	}
}

static enum sim_sent
perform(struct nodes_world *w, uint32_t i, const struct out_step *step)
{
	struct link_store *const view = w->state.view;
	struct nodes_peer *peer = &w->state.peers[i];
	struct envelope env = { .epoch = peer->session.epoch, .seq = peer->session.seq };
	union msg_body body = { 0 };
	uint32_t keys = 0;

	if (step->verb == OUT_SEND_ITEMS)
		return send_items(w, i, step);
	if (step->verb == OUT_SEND_BEGIN) {
		env.type = MSG_SNAP_BEGIN;
		body.snap_begin.nonce = peer->session.nonce;
	} else if (step->verb == OUT_SEND_END) {
		env.type = MSG_SNAP_END;
		body.snap_end.count = peer->session.snap_sent;
	} else {
		env.type = MSG_BEAT;
		body.beat = (struct body_beat){
			.nonce = peer->session.nonce, .ready = link_store_ready(view), .exact = step->exact,
			.count = link_store_count(view), .hash = link_store_hash(view),
		};
	}
	const enum sim_sent sent = nodes_send(w, &w->downs[i].down, &env, &body);
	if (sent != SIM_SENT)
		return sent;
	if (step->verb == OUT_SEND_BEGIN) {
		peer->slot = link_store_attach(view);
		MUST(peer->slot >= 0);
		keys = link_store_pending(view, peer->slot);
	}
	session_out_sent(&peer->session, step, keys, 0, w->sim->now_ms);
	return SIM_SENT;
}

static enum sim_sent
send_items(struct nodes_world *w, uint32_t i, const struct out_step *step)
{
	struct body_item items[SESSION_BATCH];
	struct nodes_peer *peer = &w->state.peers[i];
	const struct envelope env = {
		.type = step->type, .epoch = peer->session.epoch, .seq = peer->session.seq + 1
	};
	uint32_t n;

	link_store_release(w->state.view);
	const uint32_t keys = link_store_peek(w->state.view, peer->slot, step->max_items, items, &n);

	if (n > 0) {
		msgpack_sbuffer_clear(&w->buffer);
		frame_begin(&w->buffer, &env);
		for (uint32_t k = 0; k < n; k++)
			msg_pack(&w->buffer, step->type, &(union msg_body){ .item = items[k] });
		const enum sim_sent sent = sim_pipe_send(
		    w->sim, &w->downs[i].down, w->buffer.data, w->buffer.size, env.epoch, n);
		if (sent != SIM_SENT)
			return sent;
	}
	link_store_commit(w->state.view, peer->slot, keys, env.seq);
	session_out_sent(&peer->session, step, keys, n, w->sim->now_ms);
	return SIM_SENT;
}

static void
send_close(struct nodes_world *w, uint32_t i, uint64_t epoch, uint64_t nonce, const char *reason)
{
	const union msg_body body = { .close = { .nonce = nonce, .reason = wire_str_of(reason) } };

	(void)nodes_send(
	    w, &w->downs[i].down, &(struct envelope){ .type = MSG_CLOSE, .epoch = epoch }, &body);
}

static void
close_peer(struct nodes_world *w, uint32_t i, const char *reason)
{
	struct nodes_peer *peer = &w->state.peers[i];

	if (reason != NULL)
		send_close(w, i, peer->session.epoch, peer->session.nonce, reason);
	if (peer->slot >= 0)
		link_store_detach(w->state.view, peer->slot);
	*peer = (struct nodes_peer){ .slot = -1 };
}

/* ---- Frames ---- */

enum sim_sent
nodes_send(struct nodes_world *w, struct sim_pipe *p, const struct envelope *env, const union msg_body *body)
{
	msgpack_sbuffer_clear(&w->buffer);
	frame_begin(&w->buffer, env);
	msg_pack(&w->buffer, env->type, body);
	return sim_pipe_send(w->sim, p, w->buffer.data, w->buffer.size, env->epoch, 0);
}

const char *
nodes_open(struct nodes_world *w, const struct sim_frame *bytes, struct frame *f, union msg_body *first)
{
	msg_arena_reset(&w->arena);
	const char *const wrong = frame_open(f, bytes->bytes, bytes->len, &w->arena);

	return wrong != NULL                  ? wrong
	    : frame_next(f, &w->arena, first) ? NULL
					      : "body does not fit the schema";
}
