/*
 * actors/runtime/bus_in.c - a link this actor reads from one producer: one DEALER, one session, one
 * mirror.
 *
 * Never: empty the mirror. Whatever happens to the session, the last known values stay readable
 * until a complete snapshot has shown what is gone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bus_private.h"
#include "clock.h"
#include "json.h"
#include "obj.h"
#include "random.h"

/* What a producer may send; answers only on links with writes. */
#define FROM_PRODUCER	(MSG_BIT(SNAP_BEGIN) | MSG_BIT(SNAP_ITEMS) | MSG_BIT(SNAP_END) | MSG_BIT(DELTA)	\
			| MSG_BIT(BEAT) | MSG_BIT(CLOSE))
#define ANSWERS		(MSG_BIT(RESULT_ITEMS) | MSG_BIT(RESULT))

/* One walk over a mirror; a handler may start another inside it. */
struct walk {
	struct bus_in		*in;
	struct msg_arena	 arena;
	void		       (*fn)(const struct change *, void *);
	void			*arg;
};

static bool receive(struct bus_in *, int64_t);
static void on_frame(struct bus_in *, const void *, size_t, int64_t);
static const char *take_items(struct bus_in *, struct frame *, union msg_body *);
static const char *on_answer(struct bus_in *, struct frame *, union msg_body *);
static const char *item_refusal(struct bus_in *, enum msg, const struct body_item *, union msg_body *);
static void on_change(enum mirror_change, const struct body_item *, void *);
static void each_copy(enum mirror_change, const struct body_item *, void *);
static const union msg_body *decode(const struct body_item *, struct msg_arena *, union msg_body *);
static struct change change_of(
    struct bus_in *, enum change_kind, const struct body_item *, const union msg_body *);
static void started_over(struct bus_in *, enum resync, const char *);
static void refuse(struct bus_in *, const char *, int64_t);
static bool send_hello(struct bus_in *);
static bool send_ack(struct bus_in *);

struct bus_in *
in_new(struct bus *b, enum link l, enum role producer)
{
	char path[128], id[64];
	uint64_t nonce;
	struct bus_in *i;

	/* The supervisor has checked the run directory. */
	MUST(link_path(path, sizeof(path), b->run_dir, l, producer));
	/*
	 * Unguessable: a ROUTER hands an id over to any connection that names it, so that an unknown sender
	 * could receive our frames.
	 */
	random_secret(&nonce, sizeof(nonce));
	snprintf(id, sizeof(id), "%s.%" PRIu64 ".%016" PRIx64, role_name(b->role), b->incarnation, nonce);
	OBJ_NEW(i, IN_MAGIC);
	i->bus = b;
	i->link = l;
	i->producer = producer;
	i->mirror = mirror_new();
	if (b->owner.interned)
		mirror_intern(i->mirror, b->pool);
	session_in_init(&i->session, SESSION_WINDOW, (uint64_t)clock_mono_us() ^ (uint64_t)producer << 48);
	i->socket = socket_new(SOCKET_DEALER, path, id, b->base, bus_wake, b);
	MUST(i->socket != NULL);	/* connecting to a path that is not bound yet is fine */
	i->items = bus_traffic(STAT_BUS_ITEMS, l, TAP_IN);
	i->frames_in = bus_traffic(STAT_BUS_FRAMES, l, TAP_IN);
	i->frames_out = bus_traffic(STAT_BUS_FRAMES, l, TAP_OUT);
	return i;
}

void
in_free(struct bus_in **ip)
{
	struct bus_in *i;

	if (*ip == NULL)
		return;
	OBJ_TAKE(i, ip, IN_MAGIC);
	socket_free(&i->socket);
	mirror_free(&i->mirror);
	OBJ_FREE(i);
}

struct turn
in_turn(struct bus_in *i, int64_t now_ms)
{
	const bool more = receive(i, now_ms);
	const bool writable = socket_writable(i->socket);
	int64_t writes_ms;

	if (writable && !i->writable)
		session_in_connected(&i->session, now_ms);
	i->writable = writable;
	for (;;) {
		const struct in_step step = session_in_next(&i->session, !more, now_ms);

		switch (step.verb) {
		case IN_SEND_HELLO:
			session_in_sent(&i->session, step.verb, writable && send_hello(i), now_ms);
			continue;
		case IN_SEND_ACK:
			if (!send_ack(i)) {	/* the connection broke; a timeout follows */
				session_in_sent(&i->session, step.verb, false, now_ms);
				return (struct turn){ .again = more, .at_ms = now_ms + SESSION_HELLO_MIN_MS };
			}
			session_in_sent(&i->session, step.verb, true, now_ms);
			continue;
		case IN_RESYNC:
			started_over(i, step.reason, "");
			continue;
		case IN_WAIT:
		default:
			/* The session has nothing to send: pending writes follow, if it is live. */
			writes_ms = write_client_send(i->bus, i, now_ms);
			return (struct turn){ .again = more || socket_readable(i->socket),
				.at_ms = writes_ms < step.at_ms ? writes_ms : step.at_ms };
		}
	}
}

void
in_producer_up(struct bus_in *i, uint64_t incarnation, int64_t now_ms)
{
	const struct in_step step = session_in_producer_up(&i->session, incarnation, now_ms);

	if (step.verb == IN_RESYNC)
		started_over(i, step.reason, "");
}

bool
in_fresh(const struct bus_in *i)
{
	return i->complete && i->session.state == IN_LIVE && i->bus->peers[i->producer].state == PEER_UP;
}

void
in_drop(struct bus_in *i)
{
	i->taken_us = clock_wall_us();
	mirror_clear(i->mirror, on_change, i);
}

void
in_each(struct bus_in *i, void (*fn)(const struct change *, void *), void *arg)
{
	struct walk w = { .in = i, .fn = fn, .arg = arg };

	msg_arena_init(&w.arena);
	mirror_each(i->mirror, each_copy, &w);
	msg_arena_free(&w.arena);
}

bool
in_read(struct bus_in *i, struct wire_str key, struct change *out, union msg_body *value)
{
	struct body_item item;

	if (!mirror_get(i->mirror, key, &item))
		return false;
	/* Lists of numbers would be in the arena, which the next call empties; all else are views. */
	MUST(i->link != LINK_STATS);
	*out = change_of(i, CHANGE_UPDATED, &item, decode(&item, &i->bus->arena_read, value));
	return true;
}

void
in_release(struct bus_in *i)
{
	mirror_release(i->mirror);
}

void
in_stats(struct bus_in *i)
{
	bus_gauge(STAT_KEYS, i->link, "side", "mirror", (double)mirror_count(i->mirror));
}

bool
in_held(struct bus_in *i, struct wire_str key, struct json *j)
{
	struct body_item item;

	if (!mirror_get(i->mirror, key, &item))
		return false;
	json_open(j, NULL, '{');
	json_strn(j, "key", key.p, key.len);
	json_str(j, "link", link_table[i->link].name);
	json_str(j, "side", "mirror");
	json_str(j, "from", role_name(i->producer));
	json_strn(j, "rv", item.rv.p, item.rv.len);
	json_bool(j, "fresh", in_fresh(i));
	json_close(j, '}');
	return true;
}

/* ---- Receiving ---- */

/* True: stopped at the turn's limit, more is waiting. */
static bool
receive(struct bus_in *i, int64_t now_ms)
{
	for (int n = 0; n < BUS_TURN_FRAMES; n++) {
		zmq_msg_t msg;
		bool more = false;

		zmq_msg_init(&msg);
		if (!socket_recv(i->socket, &msg, &more)) {
			zmq_msg_close(&msg);
			return false;
		}
		const bool one = !more;
		/* Extra parts: taken off, then refused. */
		while (more && socket_recv(i->socket, &msg, &more))
			;
		if (one)
			on_frame(i, zmq_msg_data(&msg), zmq_msg_size(&msg), now_ms);
		else
			refuse(i, "wrong number of parts", now_ms);
		zmq_msg_close(&msg);
	}
	return true;
}

static void
on_frame(struct bus_in *i, const void *bytes, size_t len, int64_t now_ms)
{
	struct bus *b = i->bus;
	struct frame f;
	union msg_body body;

	stat_add(i->frames_in, 1);
	i->taken_us = clock_wall_us();
	msg_arena_reset(&b->arena);
	const char *wrong = frame_open(&f, bytes, len, &b->arena);
	i->arena = &b->arena;
	if (wrong == NULL && f.env.type == MSG_RESULT_ITEMS)
		i->arena = write_client_keep(b, i->link, &f);
	if (wrong == NULL && !frame_next(&f, i->arena, &body))
		wrong = "body does not fit the schema";
	const uint64_t allowed = FROM_PRODUCER | (link_table[i->link].writes ? ANSWERS : 0);
	if (wrong == NULL && (allowed >> f.env.type & 1) == 0)
		wrong = "a message that producers do not send";
	if (wrong != NULL) {
		refuse(i, wrong, now_ms);
		return;
	}
	tap_record(b->tap, TAP_IN, i->link, f.env.type, role_name(i->producer), bytes, len);
	if ((ANSWERS >> f.env.type & 1) != 0) {
		wrong = on_answer(i, &f, &body);
		if (wrong != NULL)
			refuse(i, wrong, now_ms);
		return;
	}
	const struct in_view v = { .count = mirror_count(i->mirror), .hash = mirror_hash(i->mirror) };
	const struct in_step step = session_in_frame(&i->session, &f.env, &body, f.bodies + 1, &v, now_ms);
	switch (step.verb) {
	case IN_BEGIN:
		mirror_begin(i->mirror);
		break;
	case IN_ITEMS:
		wrong = take_items(i, &f, &body);
		if (wrong != NULL)
			refuse(i, wrong, now_ms);
		break;
	case IN_END:
		mirror_sweep(i->mirror, on_change, i);
		i->complete = true;
		const struct change done = { .kind = CHANGE_SYNCED, .link = i->link, .from = i->producer,
		    .type = MSG_SNAP_END, .trace = f.env.trace };
		b->owner.changed(&done, b->owner.arg);
		break;
	case IN_RESYNC:
		if (f.env.type == MSG_CLOSE && body.close.reason.len == strlen("schema differs")
		    && memcmp(body.close.reason.p, "schema differs", body.close.reason.len) == 0)
			fatalx("peer was built from another schema; deploy all programs of one version",
			    KV_S(PEER, role_name(i->producer)), KV_S(LINK, link_table[i->link].name));
		started_over(i, step.reason, f.env.type == MSG_CLOSE ? "closed by the producer" : "");
		break;
	default:
		break;
	}
}

/*
 * Answers stand beside the session's numbers, but inside it: the tail of a session that we gave up
 * is none. The producer sends items and deltas over one socket, so what comes later is never older,
 * and beats stay exact.
 */
static const char *
on_answer(struct bus_in *i, struct frame *f, union msg_body *body)
{
	if (i->session.state != IN_LIVE)
		return NULL;
	if (f->env.epoch != i->session.epoch)
		return "an answer of another session";
	return f->env.type == MSG_RESULT ? write_client_result(i->bus, i->link, body)
					 : take_items(i, f, body);
}

/*
 * All items are checked and applied in order; the first bad one ends the session with the ones
 * before it taken.
 */
static const char *
take_items(struct bus_in *i, struct frame *f, union msg_body *body)
{
	uint32_t taken = 0;

	for (;;) {
		union msg_body value;
		const struct body_item *item = &body->item;
		const char *wrong = item_refusal(i, f->env.type, item, &value);

		if (wrong == NULL && f->env.type == MSG_RESULT_ITEMS) {
			const struct change c = item->gone ? change_of(i, CHANGE_GONE, item, NULL)
							   : change_of(i, CHANGE_UPDATED, item, &value);

			wrong = write_client_item(i->bus, f->env.seq, &c);
		}
		if (wrong != NULL)
			return wrong;
		i->fresh = &value;
		log_set_trace(item->trace);
		if (item->version != 0)		/* 0: not of the producer's store */
			mirror_apply(i->mirror, item, on_change, i);
		log_set_trace(0);
		taken++;
		if (f->bodies == 0)
			break;
		if (!frame_next(f, i->arena, body))
			return "body does not fit the schema";
	}
	stat_add(i->items, taken);
	return NULL;
}

static const char *
item_refusal(struct bus_in *i, enum msg m, const struct body_item *item, union msg_body *value)
{
	const bool beside = m == MSG_RESULT_ITEMS && item->version == 0;

	if (item->key.len == 0 || item->key.len > LINK_STORE_KEY_MAX)
		return "empty or overlong key";
	if (item->gone)
		return NULL;
	const enum msg type = msg_by_number(item->type);
	if (!(beside ? link_answers(i->link, type) : link_carries(i->link, type)))
		return "a value that this link does not carry";
	if (!msg_unpack_value(type, item->value.p, item->value.len, i->arena, value))
		return "value does not fit the schema";
	return NULL;
}

static void
on_change(enum mirror_change kind, const struct body_item *item, void *arg)
{
	static const enum change_kind kinds[] = {
		[MIRROR_ADDED] = CHANGE_ADDED, [MIRROR_UPDATED] = CHANGE_UPDATED, [MIRROR_GONE] = CHANGE_GONE,
	};
	struct bus_in *i = arg;
	union msg_body last;

	const union msg_body *value =
	    kind == MIRROR_GONE ? decode(item, &i->bus->arena_gone, &last) : i->fresh;
	const struct change c = change_of(i, kinds[kind], item, value);
	bus_hop(i->bus, &(struct bus_hop){ .what = HOP_RECEIVED, .at_us = i->taken_us, .link = i->link,
	    .peer = i->producer, .key = item->key, .rv = item->rv, .trace = item->trace,
	    .spare = c.initial, .text = kind == MIRROR_GONE ? "gone" : NULL });
	i->bus->owner.changed(&c, i->bus->owner.arg);
}

static void
each_copy(enum mirror_change kind, const struct body_item *item, void *arg)
{
	struct walk *w = arg;
	union msg_body value;

	(void)kind;
	const struct change c = change_of(w->in, CHANGE_UPDATED, item, decode(item, &w->arena, &value));
	w->fn(&c, w->arg);
}

/* What the mirror holds was checked when it came in. An arena of its own: a frame may still be in use. */
static const union msg_body *
decode(const struct body_item *item, struct msg_arena *arena, union msg_body *value)
{
	msg_arena_reset(arena);
	MUST(msg_unpack_value(msg_by_number(item->type), item->value.p, item->value.len, arena, value));
	return value;
}

static struct change
change_of(struct bus_in *i, enum change_kind kind, const struct body_item *item, const union msg_body *value)
{
	return (struct change){
		.kind = kind, .link = i->link, .from = i->producer,
		.key = item->key, .uid = item->uid, .rv = item->rv, .trace = item->trace,
		.initial = i->session.state == IN_SNAPSHOT,
		.type = msg_by_number(item->type), .value = value,
	};
}

static void
started_over(struct bus_in *i, enum resync reason, const char *detail)
{
	write_client_lost(i->bus, i->link);
	bus_count(STAT_RESYNC, i->link, "reason", resync_name(reason));
	log_info("session starts over", KV_S(LINK, link_table[i->link].name),
	    KV_S(PEER, role_name(i->producer)), KV_S(REASON, resync_name(reason)),
	    KV_S(WHY, detail));
}

static void
refuse(struct bus_in *i, const char *reason, int64_t now_ms)
{
	struct bus *b = i->bus;

	bus_count(STAT_BUS_REJECTED, i->link, "reason", "frame");
	b->owner.report(i->producer, b->peers[i->producer].incarnation, reason, b->owner.arg);
	const struct in_step step = session_in_refuse(&i->session, now_ms);
	started_over(i, step.reason, reason);
}

/* ---- Sending ---- */

static bool
send_hello(struct bus_in *i)
{
	struct bus *b = i->bus;
	const struct secret *token = &b->peers[i->producer].presented;
	const union msg_body body = { .hello = {
		.role = wire_str_of(role_name(b->role)),
		.incarnation = b->incarnation,
		.token = { .p = token->bytes, .len = token->len },
		.schema = msg_schema_hash(),
		.window = i->session.window,
		.nonce = i->session.nonce,
	} };

	bus_frame(b, &(struct envelope){ .type = MSG_HELLO }, &body);
	return in_send(i, MSG_HELLO);
}

static bool
send_ack(struct bus_in *i)
{
	const union msg_body body = { .ack = { .credit = i->session.window } };

	bus_frame(i->bus,
	    &(struct envelope){ .type = MSG_ACK, .epoch = i->session.epoch, .seq = i->session.seq },
	    &body);
	return in_send(i, MSG_ACK);
}

bool
in_send(struct bus_in *i, enum msg m)
{
	const struct bus_address to = { .name = role_name(i->producer) };

	if (!bus_send(i->bus, i->socket, &to, i->link, m))
		return false;
	stat_add(i->frames_out, 1);
	return true;
}
