/*
 * actors/runtime/tap.c - copies frames to subscribers; never waits for them.
 *
 * Which topics have a subscriber is one flag per (direction, link, message), recomputed when a
 * subscription comes or goes. XPUB receives both, also when a reader is killed.
 */
#include "tap.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "envelope.h"
#include "keytab.h"
#include "log.h"
#include "obj.h"
#include "socket.h"
#include "stat.h"

#if MUSTER_TAP

enum {
	TOPIC_MAX	 = 128,
	PREFIXES_MAX	 = 256,
	PER_TURN	 = 64,	/* subscriptions taken before others have their turn */
	RECORD_OVERHEAD	 = 256,	/* bytes of topic, meta and libzmq's own, about */
};

/* A frame that libzmq holds until every reader has it. */
struct tap_copy {
	size_t		charged;
	uint8_t		bytes[];
};

struct tap {
	uint32_t		 magic;
#define TAP_MAGIC	0x54415021u
	enum role		 role;
	uint64_t		 incarnation;
	struct socket		*socket;
	struct event		*later;		/* the rest of a flood of subscriptions */
	struct keytab		*prefixes;	/* what readers subscribed to */
	uint64_t		 seq[TAP_DIRECTIONS][LINK_MAX][MSG_MAX];
	msgpack_sbuffer		 meta, redacted;
	struct msg_arena	 arena;
	struct stat_series	*sent, *lost;
};

bool tap_subscribed[TAP_DIRECTIONS][LINK_MAX][MSG_MAX];
/* Bytes of the copies that libzmq holds. Its own thread subtracts. */
static atomic_size_t held_bytes;

static void on_wake(void *);
static void on_later(evutil_socket_t, short, void *);
static bool take(struct tap *, bool *);
static bool subscribe(struct tap *, const char *, size_t, bool);
static void recompute(struct tap *);
static bool matches(const struct tap *, const char *, size_t);
static bool redact(struct tap *, const void *, size_t);
static bool send_record(struct tap *, const char *, size_t, const void *, size_t);
static void release(void *, void *);

struct tap *
tap_open(struct event_base *base, const char *run_dir, enum role r, uint64_t incarnation)
{
	char path[128];
	struct tap *t;

	if (!tap_path(path, sizeof(path), run_dir, r)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	OBJ_NEW(t, TAP_MAGIC);
	t->role = r;
	t->incarnation = incarnation;
	t->socket = socket_new(SOCKET_XPUB, path, NULL, base, on_wake, t);
	if (t->socket == NULL) {
		OBJ_FREE(t);
		return NULL;
	}
	t->prefixes = keytab_new(0);
	t->later = evtimer_new(base, on_later, t);
	MUST(t->later != NULL);
	msgpack_sbuffer_init(&t->meta);
	msgpack_sbuffer_init(&t->redacted);
	msg_arena_init(&t->arena);
	t->sent = stat_get(STAT_TAP_SENT, "");
	t->lost = stat_get(STAT_TAP_LOST, "");
	return t;
}

void
tap_close(struct tap **tp)
{
	struct tap *t;

	if (*tp == NULL)
		return;
	OBJ_TAKE(t, tp, TAP_MAGIC);
	memset(tap_subscribed, 0, sizeof(tap_subscribed));
	event_free(t->later);
	keytab_free(&t->prefixes);
	socket_free(&t->socket);
	msgpack_sbuffer_destroy(&t->meta);
	msgpack_sbuffer_destroy(&t->redacted);
	msg_arena_free(&t->arena);
	OBJ_FREE(t);
}

void
tap_copy(struct tap *t, enum tap_direction d, enum link l, enum msg m, const char *peer,
    const void *frame, size_t len)
{
	char topic[TOPIC_MAX];

	OBJ_CHECK(t, TAP_MAGIC);
	const union msg_body meta = { .tap = {
		.seq = ++t->seq[d][l][m],
		.time_us = clock_wall_ms() * 1000,
		.incarnation = t->incarnation,
		.peer = wire_str_of(peer),
	} };
	const size_t topic_len = tap_topic(topic, sizeof(topic), d, t->role, l, m);
	msgpack_sbuffer_clear(&t->meta);
	msg_pack(&t->meta, MSG_TAP, &meta);
	if (link_may_hide(l, m)) {
		if (!redact(t, frame, len))
			return;
		frame = t->redacted.data;
		len = t->redacted.size;
	}
	stat_add(send_record(t, topic, topic_len, frame, len) ? t->sent : t->lost, 1);
	/* A send consumes the edge that would have announced a subscription. */
	if (socket_readable(t->socket))
		on_wake(t);
}

/*
 * XPUB drops a record for the reader whose queue is full, which counts messages, not bytes. So all queues
 * together hold at most TAP_BUDGET bytes: what would be more is lost to all readers. The number that every
 * record has shows it to them, and a counter to others.
 */
static bool
send_record(struct tap *t, const char *topic, size_t topic_len, const void *frame, size_t len)
{
	const size_t charged = len + RECORD_OVERHEAD;

	if (atomic_load_explicit(&held_bytes, memory_order_relaxed) + charged > TAP_BUDGET)
		return false;
	/* EAGAIN does not happen without XPUB_NODROP, but would be a loss too. */
	if (!socket_send(t->socket, topic, topic_len, true)
	    || !socket_send(t->socket, t->meta.data, t->meta.size, true))
		return false;
	struct tap_copy *c = obj_alloc(sizeof(*c) + len);
	c->charged = charged;
	memcpy(c->bytes, frame, len);
	atomic_fetch_add_explicit(&held_bytes, charged, memory_order_relaxed);
	return socket_give(t->socket, c->bytes, len, release, c);
}

/* On libzmq's thread, or on ours. */
static void
release(void *bytes, void *arg)
{
	struct tap_copy *c = arg;

	(void)bytes;
	atomic_fetch_sub_explicit(&held_bytes, c->charged, memory_order_relaxed);
	free(c);
}

/* The frame without what is secret; false when it does not decode: then nothing of it is shown. */
static bool
redact(struct tap *t, const void *frame, size_t len)
{
	struct frame f;
	union msg_body body;

	msg_arena_reset(&t->arena);
	if (frame_open(&f, frame, len, &t->arena) != NULL)
		return false;
	msgpack_sbuffer_clear(&t->redacted);
	frame_begin(&t->redacted, &f.env);
	while (f.bodies > 0) {
		if (!frame_next(&f, &t->arena, &body))
			return false;
		msg_redact(f.env.type, &body, &t->arena);
		msg_pack(&t->redacted, f.env.type, &body);
	}
	return true;
}

/* Not until it is empty: a reader that subscribes in a loop would take all of the loop's time. */
static void
on_wake(void *arg)
{
	const struct timeval next_turn = { 0 };
	struct tap *t = arg;
	bool changed = false;
	int taken = 0;

	while (taken < PER_TURN && take(t, &changed))
		taken++;
	if (changed)
		recompute(t);
	if (taken == PER_TURN)
		MUST(evtimer_add(t->later, &next_turn) == 0);
}

static void
on_later(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	on_wake(arg);
}

/*
 * Subscriptions arrive as one byte (1 on, 0 off) and the prefix; the same prefix of several readers
 * arrives once. False: there is none now.
 */
static bool
take(struct tap *t, bool *changed)
{
	zmq_msg_t msg;
	bool more;

	zmq_msg_init(&msg);
	const bool got = socket_recv(t->socket, &msg, &more);
	if (got) {
		const char *p = zmq_msg_data(&msg);
		const size_t len = zmq_msg_size(&msg);

		if (len >= 1 && len <= TOPIC_MAX && (p[0] == 0 || p[0] == 1))
			*changed |= subscribe(t, p + 1, len - 1, p[0] == 1);
	}
	zmq_msg_close(&msg);
	return got;
}

/* True: the set of prefixes is another one now. A reader with more of them than fit costs no recomputing. */
static bool
subscribe(struct tap *t, const char *text, size_t len, bool on)
{
	const uint32_t id = keytab_find(t->prefixes, text, len);
	const bool changes =
	    on ? id == KEYTAB_NONE && keytab_count(t->prefixes) < PREFIXES_MAX : id != KEYTAB_NONE;

	if (changes && on)
		keytab_add(t->prefixes, text, len, NULL);
	else if (changes)
		keytab_remove(t->prefixes, id);
	return changes;
}

static void
recompute(struct tap *t)
{
	for (unsigned d = 0; d < TAP_DIRECTIONS; d++) {
		for (unsigned l = 0; l < LINK_MAX; l++) {
			for (unsigned m = 0; m < MSG_MAX; m++) {
				char topic[TOPIC_MAX];
				const size_t len = tap_topic(topic, sizeof(topic),
				    (enum tap_direction)d, t->role, (enum link)l, (enum msg)m);

				tap_subscribed[d][l][m] = matches(t, topic, len);
			}
		}
	}
}

static bool
matches(const struct tap *t, const char *topic, size_t len)
{
	KEYTAB_EACH(t->prefixes, id) {
		size_t n;
		const char *prefix = keytab_key(t->prefixes, id, &n);

		if (n <= len && memcmp(prefix, topic, n) == 0)
			return true;
	}
	return false;
}

#else

struct tap *
tap_open(struct event_base *base, const char *run_dir, enum role r, uint64_t incarnation)
{
	(void)base, (void)run_dir, (void)r, (void)incarnation;
	return obj_alloc(1);
}

void
tap_close(struct tap **tp)
{
	free(*tp);
	*tp = NULL;
}

#endif
