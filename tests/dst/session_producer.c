/*
 * tests/dst/session_producer.c - the producing end, as bus_out.c does it: it reads frames, steps
 * the sessions and sends frames.
 */
#include <stdlib.h>

#include "obj.h"
#include "world_session.h"

static sim_fn turn, list_some;
static void receive(struct session_world *, uint32_t);
static void on_hello(struct session_world *, uint32_t, const struct body_hello *);
static void on_ack(struct session_world *, uint32_t, const struct envelope *, const struct body_ack *);
static int64_t serve(struct session_world *, uint32_t);
static enum sim_sent perform(struct session_world *, uint32_t, const struct out_step *);
static enum sim_sent send_items(struct session_world *, uint32_t, const struct out_step *);
static void send_close(struct session_world *, uint32_t, uint64_t, uint64_t, const char *);
static void close_peer(struct session_world *, uint32_t, const char *);
static void check_peer(struct session_world *, uint32_t);
static void recount(const struct body_item *, void *);

/* The view starts empty and not ready: the producer has to list the truth first. */
void
producer_start(struct session_world *w)
{
	struct producer *p = &w->producer;

	p->incarnation++;
	p->pool = intern_new();
	p->view = link_store_new();
	link_store_intern(p->view, p->pool);
	p->sessions = 0;
	p->listed = 0;
	p->population = 0;
	p->node.name = "producer";
	p->node.turn = turn;
	p->node.arg = w;
	SIM_TRACE(w->sim, "producer starts, incarnation %d", (int)p->incarnation);
	sim_node_start(w->sim, &p->node);
	sim_node_at(w->sim, &p->node, w->sim->now_ms + (int64_t)sim_random(w->sim, 50), list_some, w, 0);
}

void
producer_crash(struct session_world *w)
{
	struct producer *p = &w->producer;

	sim_node_crash(w->sim, &p->node);
	for (uint32_t i = 0; i < CONSUMERS_MAX; i++) {
		shadow_free(&p->peers[i].sent);
		p->peers[i] = (struct peer){ .slot = NO_SLOT };
	}
	link_store_free(&p->view);
	MUST(p->pool == NULL || intern_count(p->pool) == 0);
	intern_free(&p->pool);
}

void
producer_update(struct session_world *w, uint32_t key)
{
	struct producer *p = &w->producer;
	struct truth_item item;
	bool changed;

	if (!p->node.up)
		return;
	if (!w->truth.keys[key].present) {
		producer_remove(w, key);
		return;
	}
	truth_read(&w->truth, key, &item);
	const enum err e = link_store_set(p->view, item.key_s, item.uid_s, item.rv_s, MSG_STAT,
	    item.value, w->truth.rv, &changed);
	MUST(e == E_OK);
	const uint32_t population = (uint32_t)link_store_count(p->view);
	if (population > p->population)
		p->population = population;
	if (changed)
		sim_wake(w->sim, &p->node, w->sim->now_ms + (int64_t)sim_random(w->sim, 20));
}

void
producer_remove(struct session_world *w, uint32_t key)
{
	struct producer *p = &w->producer;
	const struct truth_key *k = &w->truth.keys[key];
	const struct wire_str name = { .p = k->name, .len = k->name_len };

	if (p->node.up && link_store_remove(p->view, name, w->truth.rv))
		sim_wake(w->sim, &p->node, w->sim->now_ms + (int64_t)sim_random(w->sim, 20));
}

void
producer_check(struct session_world *w)
{
	struct producer *p = &w->producer;

	if (!p->node.up)
		return;
	/*
	 * Bounded by keys. A tombstone stands for a key that a consumer was sent (at most those of
	 * the largest population, and as many again that were added while the first ones waited),
	 * for a key that it was never sent (64, or as many as the rest of the queue), or for one sent
	 * and not acknowledged (a window).
	 */
	uint64_t tombstones = 0;
	for (uint32_t i = 0; i < w->nconsumers; i++) {
		const struct peer *peer = &p->peers[i];

		if (peer->open && peer->slot != NO_SLOT) {
			tombstones += 4 * (uint64_t)p->population + 65 + peer->window;
			check_peer(w, i);
		}
	}
	if (link_store_tombstones(p->view) > tombstones)
		sim_fail(w->sim,
		    "%u tombstones for a largest population of %u keys: %d at most are justified",
		    link_store_tombstones(p->view), p->population, (int)tombstones);
	if (w->sim->steps % 16 != 0)
		return;
	/*
	 * Arrays grow by half or double; a key costs its entry, its names, its value and a place in
	 * each queue.
	 */
	const uint64_t ids = 2 * (p->population + tombstones) + 64;
	const uint64_t each = 256 + NAME_MAX_BYTES * 3 + w->truth.value_max;
	if (link_store_bytes(p->view) > 4096 + ids * each + tombstones * 64)
		sim_fail(w->sim, "the view holds %zu bytes for a largest population of %u keys",
		    link_store_bytes(p->view), p->population);
	uint64_t sums[2] = { 0, 0 };
	link_store_each(p->view, recount, sums);
	if (sums[0] != link_store_count(p->view) || sums[1] != link_store_hash(p->view))
		sim_fail(w->sim, "link_store_count or link_store_hash is not what a recount gives");
	if (link_store_ready(p->view) && link_store_count(p->view) != w->truth.present)
		sim_fail(w->sim, "the view has %d keys, the truth %u", (int)link_store_count(p->view),
		    w->truth.present);
}

/* ---- A turn of its loop ---- */

static void
turn(struct sim *sim, void *arg, uint64_t n)
{
	struct session_world *w = arg;
	int64_t at_ms = INT64_MAX;

	(void)n;
	for (uint32_t i = 0; i < w->nconsumers; i++)
		receive(w, i);
	for (uint32_t i = 0; i < w->nconsumers; i++) {
		const int64_t peer_ms = serve(w, i), pipe_ms = sim_pipe_due_ms(&w->consumers[i].conn.up);

		at_ms = peer_ms < at_ms ? peer_ms : at_ms;
		at_ms = pipe_ms < at_ms ? pipe_ms : at_ms;
	}
	if (at_ms != INT64_MAX)
		sim_wake(sim, &w->producer.node, at_ms);
}

/* Reads the initial list, a few keys at a time; changes are read in between. */
static void
list_some(struct sim *sim, void *arg, uint64_t n)
{
	struct session_world *w = arg;
	struct producer *p = &w->producer;

	(void)n;
	for (uint32_t i = 0; i < 1 + w->truth.count / 4 && p->listed < w->truth.count; i++) {
		if (w->truth.keys[p->listed].present)
			producer_update(w, p->listed);
		p->listed++;
	}
	if (p->listed < w->truth.count) {
		const uint64_t gap = sim_chance(sim, 100) ? 4000
		    : sim_chance(sim, 20) && !sim->faults_over   ? 15000
							  : 40;

		sim_node_at(sim, &p->node, sim->now_ms + (int64_t)sim_random(sim, gap), list_some, w, 0);
		return;
	}
	SIM_TRACE(sim, "producer is ready");
	link_store_set_ready(p->view);
	sim_wake(sim, &p->node, sim->now_ms);
}

static void
receive(struct session_world *w, uint32_t i)
{
	struct sim_frame bytes;

	for (int n = 0; n < TURN_FRAMES && sim_pipe_read(w->sim, &w->consumers[i].conn.up, &bytes); n++) {
		struct peer *peer = &w->producer.peers[i];
		struct frame f;
		union msg_body body;

		const char *wrong = world_open(w, &w->producer.node, &bytes, &f, &body);
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
on_hello(struct session_world *w, uint32_t i, const struct body_hello *h)
{
	struct producer *p = &w->producer;
	struct peer *peer = &p->peers[i];

	if (peer->open)
		close_peer(w, i, NULL);
	*peer = (struct peer){
		.open = true, .incarnation = h->incarnation, .window = h->window, .slot = NO_SLOT
	};
	session_out_hello(&peer->session, EPOCH_MAKE(p->incarnation, ++p->sessions), h->nonce,
	    h->window, w->sim->now_ms);
}

static void
on_ack(struct session_world *w, uint32_t i, const struct envelope *env, const struct body_ack *ack)
{
	struct peer *peer = &w->producer.peers[i];

	if (!session_out_ack(&peer->session, env->epoch, env->seq, ack->credit, w->sim->now_ms))
		sim_fail(w->sim, "c%u acknowledges %d, but %d was the last number sent", i, (int)env->seq,
		    (int)peer->session.seq);
	else if (env->epoch != peer->session.epoch)
		send_close(w, i, env->epoch, 0, "an older session");
	else if (peer->slot != NO_SLOT)
		link_store_acked(w->producer.view, peer->slot, peer->session.acked);
}

/* Steps until there is nothing to do; returns when to step again. */
static int64_t
serve(struct session_world *w, uint32_t i)
{
	struct producer *p = &w->producer;
	struct peer *peer = &p->peers[i];

	for (int n = 0; n < TURN_FRAMES && peer->open; n++) {
		const struct out_view v = {
			.ready = link_store_ready(p->view) || broken(w, BREAK_READY_GATE),
			.pending = peer->slot == NO_SLOT ? 0 : link_store_pending(p->view, peer->slot),
		};
		if (broken(w, BREAK_CREDIT))
			peer->session.limit = peer->session.seq + SESSION_WINDOW_MAX;
		const struct out_step step = session_out_next(&peer->session, &v, w->sim->now_ms);
		if (step.verb == OUT_NOTHING)
			return step.at_ms;
		if (step.verb == OUT_CLOSE) {
			close_peer(w, i, step.why);
			return INT64_MAX;
		}
		const enum sim_sent sent = perform(w, i, &step);
		if (sent == SIM_UNREACHABLE)
			close_peer(w, i, NULL);
		else if (sent == SIM_FULL)
			return w->sim->now_ms + 10;
	}
	return peer->open ? w->sim->now_ms : INT64_MAX;
}

static enum sim_sent
perform(struct session_world *w, uint32_t i, const struct out_step *step)
{
	struct producer *p = &w->producer;
	struct peer *peer = &p->peers[i];
	struct envelope env = { .epoch = peer->session.epoch, .seq = peer->session.seq };
	union msg_body body = { 0 };
	uint32_t keys = 0;

	switch (step->verb) {
	case OUT_SEND_BEGIN:
		env.type = MSG_SNAP_BEGIN;
		body.snap_begin.nonce = peer->session.nonce;
		break;
	case OUT_SEND_END:
		env.type = MSG_SNAP_END;
		body.snap_end.count = peer->session.snap_sent;
		break;
	case OUT_SEND_BEAT:
		env.type = MSG_BEAT;
		body.beat = (struct body_beat){
			.nonce = peer->session.nonce, .ready = link_store_ready(p->view),
			.exact = step->exact,
			.count = link_store_count(p->view), .hash = link_store_hash(p->view),
		};
		break;
	default:
		return send_items(w, i, step);
	}
	if (!(step->verb == OUT_SEND_BEAT && broken(w, BREAK_BEAT))) {
		const enum sim_sent sent = world_send(w, &w->consumers[i].conn.down, &env, &body);

		if (sent != SIM_SENT)
			return sent;
	}
	if (step->verb == OUT_SEND_BEGIN) {
		peer->slot = link_store_attach(p->view);
		MUST(peer->slot != NO_SLOT);
		keys = link_store_pending(p->view, peer->slot);
		shadow_reset(&peer->sent);
	}
	session_out_sent(&peer->session, step, keys, 0, w->sim->now_ms);
	return SIM_SENT;
}

static enum sim_sent
send_items(struct session_world *w, uint32_t i, const struct out_step *step)
{
	struct body_item items[SESSION_BATCH];
	struct producer *p = &w->producer;
	struct peer *peer = &p->peers[i];
	const struct envelope env = {
		.type = step->type, .epoch = peer->session.epoch, .seq = peer->session.seq + 1
	};
	uint32_t peeked, n = 0;

	link_store_release(p->view);
	const uint32_t keys = link_store_peek(p->view, peer->slot, step->max_items, items, &peeked);
	for (uint32_t k = 0; k < peeked; k++) {
		if (!(items[k].gone && broken(w, BREAK_TOMBSTONE)))
			items[n++] = items[k];
	}
	if (n > 0) {
		msgpack_sbuffer_clear(&w->buffer);
		frame_begin(&w->buffer, &env);
		for (uint32_t k = 0; k < n; k++)
			msg_pack(&w->buffer, step->type, &(union msg_body){ .item = items[k] });
		const enum sim_sent sent = world_send_buffer(w, &w->consumers[i].conn.down, &env, n);
		if (sent != SIM_SENT)
			return sent;
		for (uint32_t k = 0; k < n; k++) {
			if (!shadow_apply(&peer->sent, &items[k]))
				sim_fail(w->sim,
				    "c%u is sent the end of %.*s, which it was never sent", i,
				    (int)items[k].key.len, items[k].key.p);
		}
	}
	link_store_commit(p->view, peer->slot, keys, env.seq);
	session_out_sent(&peer->session, step, keys, n, w->sim->now_ms);
	return SIM_SENT;
}

static void
send_close(struct session_world *w, uint32_t i, uint64_t epoch, uint64_t nonce, const char *reason)
{
	const union msg_body body = { .close = { .nonce = nonce, .reason = wire_str_of(reason) } };

	(void)world_send(w, &w->consumers[i].conn.down,
	    &(struct envelope){ .type = MSG_CLOSE, .epoch = epoch }, &body);
}

static void
close_peer(struct session_world *w, uint32_t i, const char *reason)
{
	struct peer *peer = &w->producer.peers[i];

	SIM_TRACE(w->sim, "producer closes the session of c%u: %s", i,
	    reason == NULL ? "gone, or HELLO again" : reason);
	if (reason != NULL)
		send_close(w, i, peer->session.epoch, peer->session.nonce, reason);
	if (peer->slot != NO_SLOT)
		link_store_detach(w->producer.view, peer->slot);
	shadow_free(&peer->sent);
	*peer = (struct peer){ .slot = NO_SLOT };
}

/* Credit: what is in flight and what is not acknowledged both fit the window. */
static void
check_peer(struct session_world *w, uint32_t i)
{
	const struct peer *peer = &w->producer.peers[i];
	const uint64_t unacked = peer->session.seq - peer->session.acked;
	const uint64_t under_way = sim_pipe_weight(&w->consumers[i].conn.down, peer->session.epoch);

	if (unacked > peer->window || under_way > peer->window)
		sim_fail(w->sim, "c%u has a window of %d: %d items in flight, %d not acknowledged",
		    i, (int)peer->window, (int)under_way, (int)unacked);
	if (link_store_pending(w->producer.view, peer->slot) > 4 * w->producer.population + 130)
		sim_fail(w->sim, "%u keys queued for c%u, for a largest population of %u",
		    link_store_pending(w->producer.view, peer->slot), i, w->producer.population);
}

static void
recount(const struct body_item *item, void *arg)
{
	uint64_t *sums = arg;

	sums[0]++;
	sums[1] ^= link_store_item_hash(hash64(item->key.p, item->key.len), item->version);
}
