/*
 * tests/bus/rig.h - a producer's bus and consumers' buses in one process, over real sockets, with
 * tokens that the test has chosen; and raw libzmq sockets beside them. There is one event loop. No
 * test sleeps: each waits for a condition.
 */
#ifndef MUSTER_TEST_RIG_H
#define MUSTER_TEST_RIG_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bus.h"
#include "clock.h"
#include "envelope.h"
#include "lifeline.h"
#include "obj.h"
#include "session.h"
#include "socket.h"
#include "stat.h"

enum { RIG_TIMEOUT_MS = 20000, RIG_ENDS = 3, RIG_REPORTS = 64, RIG_PRODUCER = 7 };

/* One end, with the changes that its mirror reported and the peers that its bus reported. */
struct rig_end {
	struct bus	*bus;
	struct tap	*tap;
	enum role	 role;
	uint64_t	 incarnation;
	struct secret	 token;
	unsigned	 added, updated, gone, synced;
	struct {
		enum role	 who;
		uint64_t	 incarnation;
		char		 reason[80];
	} reports[RIG_REPORTS];
	unsigned	 nreports;
	void	       (*on_change)(struct rig_end *, const struct change *);	/* NULL: only counted */
	void		*context;	/* for a rig that is built on this one */
};

struct rig {
	char			 dir[64];
	struct event_base	*base;
	struct rig_end		 producer, consumers[RIG_ENDS];
	void			*context;	/* of the raw sockets */
};

static inline void
rig_changed(const struct change *c, void *arg)
{
	struct rig_end *e = arg;

	e->added += c->kind == CHANGE_ADDED;
	e->updated += c->kind == CHANGE_UPDATED;
	e->gone += c->kind == CHANGE_GONE;
	e->synced += c->kind == CHANGE_SYNCED;
	if (e->on_change != NULL)
		e->on_change(e, c);
}

static inline void
rig_report(enum role who, uint64_t incarnation, const char *reason, void *arg)
{
	struct rig_end *e = arg;

	if (e->nreports < RIG_REPORTS) {
		e->reports[e->nreports].who = who;
		e->reports[e->nreports].incarnation = incarnation;
		snprintf(e->reports[e->nreports].reason, sizeof(e->reports[0].reason), "%s", reason);
	}
	e->nreports++;
}

/* The folder in which that actor binds; in production the supervisor creates it. */
static inline void
rig_folder(const char *dir, enum role role)
{
	char folder[128];

	snprintf(folder, sizeof(folder), "%s/%s", dir, role_name(role));
	assert_true(mkdir(folder, 0700) == 0 || errno == EEXIST);
}

static inline void
rig_open(struct rig *r, struct rig_end *e, enum role role, uint64_t incarnation)
{
	struct bus_owner owner = { .changed = rig_changed, .report = rig_report, .arg = e };

	rig_folder(r->dir, role);
	e->role = role;
	e->incarnation = incarnation;
	e->token.len = TOKEN_BYTES;
	memset(e->token.bytes, (int)role + 1, TOKEN_BYTES);
	e->token.bytes[0] = (uint8_t)incarnation;
	owner.wanted[LINK_SAMPLES] = role == ROLE_TEST_PRODUCER ? 0 : MSG_BIT(SAMPLE);
	e->tap = tap_open(r->base, r->dir, role, incarnation);
	assert_non_null(e->tap);
	e->bus = bus_new(r->base, r->dir, role, incarnation, e->tap, &owner);
	assert_true(bus_bind(e->bus));
}

static inline void
rig_close(struct rig_end *e)
{
	bus_free(&e->bus);
	tap_close(&e->tap);
}

/* Gives both ends the peer record that the supervisor would send. */
static inline void
rig_announce(struct rig *r, struct rig_end *consumer)
{
	bus_peer(r->producer.bus, consumer->role, consumer->incarnation, &consumer->token, NULL, PEER_UP);
	bus_peer(consumer->bus, ROLE_TEST_PRODUCER, r->producer.incarnation, NULL, &consumer->token, PEER_UP);
}

static inline void
rig_init(struct rig *r)
{
	*r = (struct rig){ .dir = "/tmp/muster-rig-XXXXXX" };
	assert_non_null(mkdtemp(r->dir));
	setenv("ZSYS_SIGHANDLER", "false", 1);
	zsys_init();
	r->base = event_base_new();
	r->context = zmq_ctx_new();
	zmq_ctx_set(r->context, ZMQ_MAX_SOCKETS, 4096);
	assert_non_null(r->base);
}

static inline void
rig_free(struct rig *r)
{
	char command[128];

	for (int i = 0; i < RIG_ENDS; i++)
		rig_close(&r->consumers[i]);
	rig_close(&r->producer);
	zmq_ctx_term(r->context);
	event_base_free(r->base);
	stat_reset();
	snprintf(command, sizeof(command), "rm -rf %s", r->dir);
	assert_int_equal(system(command), 0);
}

/* Runs the loop until the fact is true. */
#define RIG_UNTIL(r, fact)							\
	do {									\
		const int64_t rig_until_ms = clock_mono_ms() + RIG_TIMEOUT_MS;	\
										\
		while (!(fact)) {						\
			if (clock_mono_ms() > rig_until_ms)			\
				fail_msg("not in time: %s", #fact);		\
			rig_turn(r, 1);						\
		}								\
	} while (0)

static inline void
rig_turn(struct rig *r, int ms)
{
	const struct timeval tv = { .tv_usec = ms * 1000 };

	event_base_loopexit(r->base, &tv);
	assert_int_not_equal(event_base_dispatch(r->base), -1);
}

/* ---- The producer's store ---- */

static inline void
rig_set(struct rig *r, const char *key, uint64_t number)
{
	const union msg_body body = { .sample = { .number = number } };
	msgpack_sbuffer value;
	bool changed;

	msgpack_sbuffer_init(&value);
	msg_pack(&value, MSG_SAMPLE, &body);
	assert_int_equal(
	    link_store_set(bus_store(r->producer.bus, LINK_SAMPLES), wire_str_of(key), wire_str_of("uid"),
		wire_str_of("1"), MSG_SAMPLE,
		(struct wire_bin){ .p = (const uint8_t *)value.data, .len = (uint32_t)value.size },
		1, &changed),
	    E_OK);
	msgpack_sbuffer_destroy(&value);
	bus_touch(r->producer.bus);
}

/* A producer with a complete snapshot of some keys, and consumers that have received it. */
static inline void
rig_start(struct rig *r, int consumers, int keys)
{
	char key[32];

	rig_init(r);
	rig_open(r, &r->producer, ROLE_TEST_PRODUCER, RIG_PRODUCER);
	for (int k = 0; k < keys; k++) {
		snprintf(key, sizeof(key), "key-%d", k);
		rig_set(r, key, 1);
	}
	link_store_set_ready(bus_store(r->producer.bus, LINK_SAMPLES));
	for (int i = 0; i < consumers; i++) {
		rig_open(r, &r->consumers[i], (enum role)(ROLE_TEST_CONSUMER_1 + i), 1);
		rig_announce(r, &r->consumers[i]);
	}
	for (int i = 0; i < consumers; i++)
		RIG_UNTIL(r, r->consumers[i].synced == 1);
}

/* The consumer still has its first session and receives a change at once. */
static inline void
rig_undisturbed(struct rig *r, struct rig_end *e)
{
	static uint64_t number = 1000;
	const unsigned before = e->updated;

	rig_set(r, "key-0", ++number);
	RIG_UNTIL(r, e->updated > before);
	assert_int_equal(e->synced, 1);
	assert_int_equal(e->gone, 0);
	assert_int_equal(e->nreports, 0);
	assert_true(bus_fresh(e->bus, LINK_SAMPLES));
}

static inline double
rig_stat(enum stat_id id, const char *label, const char *value)
{
	char labels[160] = "";

	assert_true(stat_label(labels, sizeof(labels), "link", "samples"));
	if (label != NULL)
		assert_true(stat_label(labels, sizeof(labels), label, value));
	return stat_value(stat_get(id, labels));
}

/* ---- Raw sockets ---- */

static inline void *
rig_raw(struct rig *r, int type, const char *id)
{
	char address[160];
	const int zero = 0;
	void *s = zmq_socket(r->context, type);

	assert_non_null(s);
	zmq_setsockopt(s, ZMQ_LINGER, &zero, sizeof(zero));
	if (id != NULL)
		zmq_setsockopt(s, ZMQ_ROUTING_ID, id, strlen(id));
	rig_folder(r->dir, ROLE_TEST_PRODUCER);
	snprintf(address, sizeof(address), "ipc://%s/test-producer/samples.ipc", r->dir);
	assert_int_equal(type == ZMQ_ROUTER ? zmq_bind(s, address) : zmq_connect(s, address), 0);
	return s;
}

/* Receives a message of one part; false when there is none yet. */
static inline bool
rig_recv(void *s, zmq_msg_t *m)
{
	return zmq_msg_recv(m, s, ZMQ_DONTWAIT) != -1;
}

/*
 * Receives frames until one is of that type; its first body goes to out (pointers into m, valid until
 * m is used again).
 */
static inline void
rig_expect(struct rig *r, void *s, zmq_msg_t *m, enum msg type, struct envelope *env, struct msg_arena *arena,
    union msg_body *out)
{
	for (;;) {
		struct frame f;

		RIG_UNTIL(r, rig_recv(s, m));
		msg_arena_reset(arena);
		assert_null(frame_open(&f, zmq_msg_data(m), zmq_msg_size(m), arena));
		if (f.env.type != type)
			continue;
		assert_true(frame_next(&f, arena, out));
		*env = f.env;
		return;
	}
}

static inline void
rig_frame(msgpack_sbuffer *out, const struct envelope *env, const union msg_body *body)
{
	msgpack_sbuffer_clear(out);
	frame_begin(out, env);
	msg_pack(out, env->type, body);
}

static inline void
rig_send(void *s, const msgpack_sbuffer *b)
{
	assert_int_equal(zmq_send(s, b->data, b->size, 0), b->size);
}

/* ---- Senders that the producer must refuse ---- */

#define RIG_UNKNOWN_ID	"unknown"
#define RIG_HELLO_ID	"test-consumer-2.1.raw"	/* a routing id that matches rig_hello */

/* Valid except for the token and the schema, which are missing. */
static const struct body_hello rig_hello = {
	.role = { .p = "test-consumer-2", .len = 15 }, .incarnation = 1, .window = 1024, .nonce = 5,
};

/* Five bytes that make msgpack-c reserve gigabytes. */
static inline void
rig_garbage(msgpack_sbuffer *b)
{
	msgpack_sbuffer_clear(b);
	msgpack_sbuffer_write(b, "\xdd\xff\0\0\0", 5);
}

/* Sends HELLO with the right token; returns once the producer has sent its snapshot. */
static inline void *
rig_authenticated(struct rig *r, const char *id, struct rig_end *as, struct envelope *session)
{
	struct msg_arena arena;
	union msg_body body = { .hello = rig_hello };
	msgpack_sbuffer b;
	zmq_msg_t m;

	as->role = ROLE_TEST_CONSUMER_2;
	as->incarnation = 1;
	as->token.len = TOKEN_BYTES;
	memset(as->token.bytes, 0x55, TOKEN_BYTES);
	bus_peer(r->producer.bus, as->role, as->incarnation, &as->token, NULL, PEER_UP);
	body.hello.token = (wire_secret){ .p = as->token.bytes, .len = TOKEN_BYTES };
	body.hello.schema = msg_schema_hash();
	void *s = rig_raw(r, ZMQ_DEALER, id);
	msgpack_sbuffer_init(&b);
	rig_frame(&b, &(struct envelope){ .type = MSG_HELLO }, &body);
	rig_send(s, &b);
	msg_arena_init(&arena);
	zmq_msg_init(&m);
	rig_expect(r, s, &m, MSG_SNAP_END, session, &arena, &body);
	zmq_msg_close(&m);
	msg_arena_free(&arena);
	msgpack_sbuffer_destroy(&b);
	return s;
}

#endif
