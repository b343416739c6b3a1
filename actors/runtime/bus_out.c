/*
 * actors/runtime/bus_out.c - a link this actor produces: one ROUTER, one store, a session per
 * consumer.
 *
 * Never: trust a routing id. It is self-declared; only a HELLO with the token that the supervisor
 * minted for that incarnation and this producer opens a session, and only frames of an open session
 * are blamed on its role.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bus_private.h"
#include "clock.h"
#include "json.h"
#include "obj.h"

enum { REFUSED_GAP_MS = 200 };

static const char *delivery_state(const struct bus_out *, const struct consumer *, struct wire_str);
static bool receive(struct bus_out *, int64_t);
static void on_frame(struct bus_out *, const char *, size_t, const zmq_msg_t *, bool, int64_t);
static void on_hello(struct bus_out *, const char *, size_t, const struct body_hello *, int64_t);
static void on_ack(
    struct bus_out *, struct consumer *, const struct frame *, const union msg_body *, int64_t);
static void on_write(struct bus_out *, struct consumer *, const struct frame *, const union msg_body *);
static const char *hello_refusal(
    struct bus_out *, const char *, size_t, const struct body_hello *, enum role *);
static void refuse(struct bus_out *, struct consumer *, const char *);
static bool serve(struct bus_out *, struct consumer *, int64_t, int64_t *);
static bool perform(struct bus_out *, struct consumer *, const struct out_step *, int64_t);
static bool send_items(struct bus_out *, struct consumer *, const struct out_step *, int64_t);
static void note_sent(
    struct bus_out *, const struct consumer *, enum msg, const struct body_item *, uint32_t);
static bool send_one(struct bus_out *, struct consumer *, enum msg, const union msg_body *);
static bool send_buffer(struct bus_out *, struct consumer *, enum msg);
static void send_close(struct bus_out *, const char *, size_t, uint64_t, uint64_t, const char *);
static void close_consumer(struct bus_out *, struct consumer *, const char *);
static struct consumer *consumer_by_id(struct bus_out *, const char *, size_t);

struct bus_out *
out_new(struct bus *b, enum link l)
{
	char path[128];
	struct bus_out *o;

	if (!link_path(path, sizeof(path), b->run_dir, l, b->role)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	OBJ_NEW(o, OUT_MAGIC);
	o->bus = b;
	o->link = l;
	o->socket = socket_new(SOCKET_ROUTER, path, NULL, b->base, bus_wake, b);
	if (o->socket == NULL) {
		OBJ_FREE(o);
		return NULL;
	}
	o->store = link_store_new();
	link_store_intern(o->store, b->pool);
	o->items = bus_traffic(STAT_BUS_ITEMS, l, TAP_OUT);
	o->frames_out = bus_traffic(STAT_BUS_FRAMES, l, TAP_OUT);
	o->frames_in = bus_traffic(STAT_BUS_FRAMES, l, TAP_IN);
	return o;
}

void
out_free(struct bus_out **op)
{
	struct bus_out *o;

	if (*op == NULL)
		return;
	OBJ_TAKE(o, op, OUT_MAGIC);
	socket_free(&o->socket);
	link_store_free(&o->store);
	OBJ_FREE(o);
}

void
out_delivered(struct bus_out *o, const struct consumer *c)
{
	if (link_store_pending(o->store, c->slot) == 0)
		timing_idle(&o->timing, (size_t)(c - o->consumers));
}

bool
out_held(struct bus_out *o, struct wire_str key, struct json *j)
{
	struct body_item item;

	if (!link_store_get(o->store, key, &item))
		return false;
	json_open(j, NULL, '{');
	json_strn(j, "key", key.p, key.len);
	json_str(j, "link", link_table[o->link].name);
	json_str(j, "side", "store");
	json_strn(j, "rv", item.rv.p, item.rv.len);
	json_open(j, "consumers", '{');
	for (size_t i = 0; i < NITEMS(o->consumers); i++) {
		const struct consumer *c = &o->consumers[i];

		if (c->open)
			json_str(j, role_name(c->role), delivery_state(o, c, key));
	}
	json_close(j, '}');
	json_close(j, '}');
	return true;
}

/* How far the last change of that key has come on its way to this consumer. */
static const char *
delivery_state(const struct bus_out *o, const struct consumer *c, struct wire_str key)
{
	if (c->slot == NO_SLOT)
		return "waiting";
	if (link_store_queued(o->store, c->slot, key))
		return "queued";
	return c->session.acked == c->session.seq ? "acknowledged" : "sent";
}

struct turn
out_turn(struct bus_out *o, int64_t now_ms)
{
	struct turn t = { .again = receive(o, now_ms), .at_ms = INT64_MAX };

	link_store_release(o->store);
	for (size_t i = 0; i < NITEMS(o->consumers); i++) {
		if (o->consumers[i].open && serve(o, &o->consumers[i], now_ms, &t.at_ms))
			t.again = true;
	}
	t.again = t.again || socket_readable(o->socket);	/* a send may have eaten the edge */
	return t;
}

/* A new incarnation of a consumer was announced: the sessions of the older ones are over. */
void
out_peer_gone(struct bus_out *o, enum role who, uint64_t newer_than)
{
	for (size_t i = 0; i < NITEMS(o->consumers); i++) {
		struct consumer *c = &o->consumers[i];

		if (c->open && c->role == who && c->incarnation < newer_than)
			close_consumer(o, c, "a newer incarnation was started");
	}
}

void
out_stats(struct bus_out *o)
{
	unsigned open = 0;

	for (size_t i = 0; i < NITEMS(o->consumers); i++)
		open += o->consumers[i].open;
	bus_gauge(STAT_SESSIONS, o->link, NULL, NULL, open);
	bus_gauge(STAT_KEYS, o->link, "side", "store", (double)link_store_count(o->store));
}

struct consumer *
out_session(struct bus_out *o, uint64_t epoch)
{
	for (size_t i = 0; i < NITEMS(o->consumers); i++) {
		if (o->consumers[i].open && o->consumers[i].session.epoch == epoch)
			return &o->consumers[i];
	}
	return NULL;
}

bool
out_send(struct bus_out *o, struct consumer *c, enum msg m)
{
	if (send_buffer(o, c, m)) {
		bus_touch(o->bus);	/* the send may have eaten the edge of something to read */
		return true;
	}
	const bool gone = errno == EHOSTUNREACH;
	if (!gone)
		bus_count(STAT_BUS_SENDS_BLOCKED, o->link, NULL, NULL);
	close_consumer(o, c, gone ? NULL : "takes no answers");
	return false;
}

/* ---- Receiving ---- */

/* True: stopped at the turn's limit, more is waiting. */
static bool
receive(struct bus_out *o, int64_t now_ms)
{
	for (int n = 0; n < BUS_TURN_FRAMES; n++) {
		zmq_msg_t id, frame, extra;
		bool more = false;

		zmq_msg_init(&id);
		if (!socket_recv(o->socket, &id, &more)) {
			zmq_msg_close(&id);
			return false;
		}
		zmq_msg_init(&frame);
		bool extras = !more || !socket_recv(o->socket, &frame, &more);
		while (more) {				/* extra parts: taken off, then refused */
			extras = true;
			zmq_msg_init(&extra);
			const bool got = socket_recv(o->socket, &extra, &more);
			zmq_msg_close(&extra);
			if (!got)
				break;
		}
		on_frame(o, zmq_msg_data(&id), zmq_msg_size(&id), &frame, extras, now_ms);
		zmq_msg_close(&frame);
		zmq_msg_close(&id);
	}
	return true;
}

static void
on_frame(struct bus_out *o, const char *id, size_t id_len, const zmq_msg_t *msg, bool extras, int64_t now_ms)
{
	struct consumer *c = consumer_by_id(o, id, id_len);
	struct bus *b = o->bus;
	const void *bytes = zmq_msg_data((zmq_msg_t *)(uintptr_t)msg);
	const size_t len = zmq_msg_size(msg);
	struct frame f;
	union msg_body body;

	stat_add(o->frames_in, 1);
	msg_arena_reset(&b->arena);
	const char *wrong = extras ? "wrong number of parts" : frame_open(&f, bytes, len, &b->arena);
	if (wrong == NULL && !frame_next(&f, &b->arena, &body))
		wrong = "body does not fit the schema";
	if (wrong != NULL) {
		refuse(o, c, wrong);
		return;
	}
	tap_record(b->tap, TAP_IN, o->link, f.env.type, c != NULL ? role_name(c->role) : "?", bytes, len);
	if (f.env.type == MSG_HELLO)
		on_hello(o, id, id_len, &body.hello, now_ms);
	else if (f.env.type == MSG_WRITE && link_table[o->link].writes)
		on_write(o, c, &f, &body);
	else if (f.env.type != MSG_ACK)
		refuse(o, c, "a message that consumers do not send");
	else if (c == NULL)	/* of a session this incarnation never had: the consumer shall start over */
		send_close(o, id, id_len, f.env.epoch, 0, "no such session");
	else
		on_ack(o, c, &f, &body, now_ms);
}

static void
on_hello(struct bus_out *o, const char *id, size_t id_len, const struct body_hello *h, int64_t now_ms)
{
	enum role role = ROLE_NONE;

	const char *refusal = hello_refusal(o, id, id_len, h, &role);
	if (refusal != NULL) {
		bus_count(STAT_BUS_REJECTED, o->link, "reason", "hello");
		/* Each may be different; the counter has them all. */
		if (now_ms - o->refused_ms >= REFUSED_GAP_MS) {
			log_warnx("HELLO refused", KV_S(LINK, link_table[o->link].name),
			    KV_S(PEER, role_name(role)), KV_I(INCARNATION, h->incarnation),
			    KV_S(REASON, refusal));
			o->refused_ms = now_ms;
		}
		send_close(o, id, id_len, 0, h->nonce, refusal);
		return;
	}
	struct consumer *c = consumer_by_id(o, id, id_len);
	if (c != NULL)			/* HELLO again: the old session ends, without a CLOSE */
		close_consumer(o, c, NULL);
	for (size_t i = 0; i < NITEMS(o->consumers); i++) {
		if (o->consumers[i].open && o->consumers[i].role == role)
			close_consumer(o, &o->consumers[i], "a newer session was opened");
	}
	for (size_t i = 0; c == NULL && i < NITEMS(o->consumers); i++) {
		if (!o->consumers[i].open)
			c = &o->consumers[i];
	}
	if (c == NULL) {
		send_close(o, id, id_len, 0, h->nonce, "no free slot for another consumer");
		return;
	}
	*c = (struct consumer){
		.open = true, .role = role, .incarnation = h->incarnation, .id_len = id_len, .slot = NO_SLOT,
	};
	memcpy(c->id, id, id_len);
	session_out_hello(&c->session, EPOCH_MAKE(o->bus->incarnation, ++o->sessions), h->nonce,
	    h->window, now_ms);
	log_debug("session opened", KV_S(LINK, link_table[o->link].name), KV_S(PEER, role_name(role)),
	    KV_I(INCARNATION, h->incarnation), KV_I(EPOCH, c->session.epoch));
}

/* Why this HELLO opens no session; NULL: it does. */
static const char *
hello_refusal(struct bus_out *o, const char *id, size_t id_len, const struct body_hello *h, enum role *role)
{
	char expected[ID_MAX];		/* and a nonce behind it, which is the consumer's own business */

	*role = role_find(h->role.p, h->role.len);
	if (*role == ROLE_NONE || !link_connects(o->link, *role))
		return "this role may not connect to this link";
	const int n = snprintf(
	    expected, sizeof(expected), "%s.%" PRIu64 ".", role_name(*role), h->incarnation);
	if (id_len > ID_MAX || id_len < (size_t)n || memcmp(expected, id, (size_t)n) != 0)
		return "routing id does not match the HELLO";
	const struct peer *p = &o->bus->peers[*role];
	if (p->expected.len == 0 || p->incarnation != h->incarnation)
		return "not the incarnation the supervisor announced";
	if (!secret_equal(&p->expected, h->token.p, h->token.len))
		return "wrong token";
	if (h->schema != msg_schema_hash())
		return "schema differs";
	return NULL;
}

static void
on_ack(struct bus_out *o, struct consumer *c, const struct frame *f, const union msg_body *body,
    int64_t now_ms)
{
	if (!session_out_ack(&c->session, f->env.epoch, f->env.seq, body->ack.credit, now_ms)) {
		refuse(o, c, "acknowledges what was never sent");
		return;
	}
	if (f->env.epoch != c->session.epoch)
		send_close(o, c->id, c->id_len, f->env.epoch, 0, "an older session");
	else if (c->slot != NO_SLOT)
		link_store_acked(o->store, c->slot, c->session.acked);
}

static void
on_write(struct bus_out *o, struct consumer *c, const struct frame *f, const union msg_body *body)
{
	const char *wrong = c == NULL ? "a write without a session"
	    : write_server_take(o->bus, o->link, c, &f->env, body);

	if (wrong != NULL)
		refuse(o, c, wrong);
}

/* What does not parse is counted and ends the session; only a sender with a session is reported by name. */
static void
refuse(struct bus_out *o, struct consumer *c, const char *reason)
{
	struct bus *b = o->bus;

	bus_count(STAT_BUS_REJECTED, o->link, "reason", "frame");
	b->owner.report(
	    c != NULL ? c->role : ROLE_NONE, c != NULL ? c->incarnation : 0, reason, b->owner.arg);
	if (c != NULL)
		close_consumer(o, c, reason);
}

/* ---- Sending ---- */

/* Steps of one consumer's session until there is nothing to do. True: stopped at the turn's limit. */
static bool
serve(struct bus_out *o, struct consumer *c, int64_t now_ms, int64_t *at_ms)
{
	for (int n = 0; n < BUS_TURN_FRAMES; n++) {
		const struct out_view v = {
			.ready = link_store_ready(o->store),
			.pending = c->slot == NO_SLOT ? 0 : link_store_pending(o->store, c->slot),
		};
		const struct out_step step = session_out_next(&c->session, &v, now_ms);

		if (step.verb == OUT_NOTHING) {
			*at_ms = step.at_ms < *at_ms ? step.at_ms : *at_ms;
			return false;
		}
		if (step.verb == OUT_CLOSE) {
			close_consumer(o, c, step.why);
			return false;
		}
		if (perform(o, c, &step, now_ms))
			continue;
		if (errno == EHOSTUNREACH) {
			close_consumer(o, c, NULL);
			return false;
		}
		/* Full in spite of credit: a bug, so it is counted; the keys stay dirty. */
		bus_count(STAT_BUS_SENDS_BLOCKED, o->link, NULL, NULL);
		*at_ms = now_ms + 10;
		return false;
	}
	return true;
}

/* False with errno: nothing was sent, nothing has changed. */
static bool
perform(struct bus_out *o, struct consumer *c, const struct out_step *step, int64_t now_ms)
{
	union msg_body body = { 0 };

	switch (step->verb) {
	case OUT_SEND_BEGIN:
		body.snap_begin.nonce = c->session.nonce;
		if (!send_one(o, c, MSG_SNAP_BEGIN, &body))
			return false;
		c->slot = link_store_attach(o->store);
		MUST(c->slot != NO_SLOT);	/* as many slots as consumers */
		timing_idle(&o->timing, (size_t)(c - o->consumers));	/* all before is in the snapshot */
		session_out_sent(&c->session, step, link_store_pending(o->store, c->slot), 0, now_ms);
		return true;
	case OUT_SEND_ITEMS:
		return send_items(o, c, step, now_ms);
	case OUT_SEND_END:
		body.snap_end.count = c->session.snap_sent;
		if (!send_one(o, c, MSG_SNAP_END, &body))
			return false;
		break;
	case OUT_SEND_BEAT:
		body.beat = (struct body_beat){
			.nonce = c->session.nonce, .ready = link_store_ready(o->store), .exact = step->exact,
			.count = link_store_count(o->store), .hash = link_store_hash(o->store),
		};
		if (!send_one(o, c, MSG_BEAT, &body))
			return false;
		break;
	case OUT_NOTHING:
	case OUT_CLOSE:
		break;
	}
	session_out_sent(&c->session, step, 0, 0, now_ms);
	return true;
}

static bool
send_items(struct bus_out *o, struct consumer *c, const struct out_step *step, int64_t now_ms)
{
	struct body_item items[SESSION_BATCH];
	uint32_t n;
	struct bus *b = o->bus;

	const uint64_t first = c->session.seq + 1;
	link_store_release(o->store);	/* here, too: a turn sends many frames */
	const uint32_t keys = link_store_peek(o->store, c->slot, step->max_items, items, &n);
	if (n > 0) {
		msgpack_sbuffer_clear(&b->buffer);
		frame_begin(&b->buffer, &(struct envelope){
		    .type = step->type, .epoch = c->session.epoch, .seq = first, .trace = items[0].trace });
		for (uint32_t i = 0; i < n; i++)
			msg_pack(&b->buffer, step->type, &(union msg_body){ .item = items[i] });
		if (!send_buffer(o, c, step->type))
			return false;
		stat_add(o->items, n);
	}
	if (n > 0)	/* before the commit, which may free what they show */
		note_sent(o, c, step->type, items, n);
	link_store_commit(o->store, c->slot, keys, first);
	session_out_sent(&c->session, step, keys, n, now_ms);
	out_delivered(o, c);
	return true;
}

/* The frame went to the socket: for the recorder and the timing. */
static void
note_sent(struct bus_out *o, const struct consumer *c, enum msg m, const struct body_item *items, uint32_t n)
{
	const int64_t at_us = clock_wall_us();
	uint64_t types = 0;

	for (uint32_t i = 0; i < n; i++) {
		bus_hop(o->bus, &(struct bus_hop){ .what = HOP_SENT, .at_us = at_us, .link = o->link,
		    .peer = c->role, .key = items[i].key, .trace = items[i].trace,
		    .spare = m == MSG_SNAP_ITEMS, .text = items[i].gone ? "gone" : NULL });
		types |= o->timing.observe == NULL ? 0 : UINT64_C(1) << msg_by_number(items[i].type);
	}
	if (o->timing.observe != NULL && m == MSG_DELTA)
		timing_sent(&o->timing, (size_t)(c - o->consumers), c->role, types, clock_mono_us());
}

static bool
send_one(struct bus_out *o, struct consumer *c, enum msg m, const union msg_body *body)
{
	bus_frame(
	    o->bus, &(struct envelope){ .type = m, .epoch = c->session.epoch, .seq = c->session.seq }, body);
	return send_buffer(o, c, m);
}

static bool
send_buffer(struct bus_out *o, struct consumer *c, enum msg m)
{
	const struct bus_address to = { .id = c->id, .id_len = c->id_len, .name = role_name(c->role) };

	if (!bus_send(o->bus, o->socket, &to, o->link, m))
		return false;
	stat_add(o->frames_out, 1);
	return true;
}

/* Best effort: a consumer that does not get it runs into its timeout. */
static void
send_close(struct bus_out *o, const char *id, size_t id_len, uint64_t epoch, uint64_t nonce,
    const char *reason)
{
	const union msg_body body = { .close = { .nonce = nonce, .reason = wire_str_of(reason) } };
	const struct bus_address to = { .id = id, .id_len = id_len, .name = "?" };

	bus_frame(o->bus, &(struct envelope){ .type = MSG_CLOSE, .epoch = epoch }, &body);
	(void)bus_send(o->bus, o->socket, &to, o->link, MSG_CLOSE);
}

/* reason NULL: the consumer is gone, no CLOSE is sent. */
static void
close_consumer(struct bus_out *o, struct consumer *c, const char *reason)
{
	log_debug("session closed", KV_S(LINK, link_table[o->link].name), KV_S(PEER, role_name(c->role)),
	    KV_I(INCARNATION, c->incarnation), KV_S(REASON, reason != NULL ? reason : "peer is gone"));
	if (reason != NULL)
		send_close(o, c->id, c->id_len, c->session.epoch, c->session.nonce, reason);
	if (c->slot != NO_SLOT)
		link_store_detach(o->store, c->slot);
	write_server_lost(o->bus, o->link, c->session.epoch);
	c->open = false;
}

static struct consumer *
consumer_by_id(struct bus_out *o, const char *id, size_t id_len)
{
	for (size_t i = 0; i < NITEMS(o->consumers); i++) {
		struct consumer *c = &o->consumers[i];

		if (c->open && c->id_len == id_len && memcmp(c->id, id, id_len) == 0)
			return c;
	}
	return NULL;
}
