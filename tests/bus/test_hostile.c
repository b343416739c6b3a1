/*
 * tests/bus/test_hostile.c - whatever is sent to a producer, it lives on, its honest consumers
 * notice nothing, and only a sender that has proven who it is gets blamed. Raw libzmq against a
 * real bus.
 *
 * muster-test: no-valgrind=libzmq reads memory that it did not initialise
 */
#include <dirent.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "random.h"
#include "rig.h"

enum { CYCLES = 1000, FLOOD = 20000, MUTATIONS = 3000 };

#define STRANGER	"stranger"
#define ROGUE		"test-consumer-2.1.rogue"

static const struct body_hello honest_hello = {
	.role = { .p = "test-consumer-2", .len = 15 }, .incarnation = 1, .window = 1024, .nonce = 5,
};

/* ---- Frames that are wrong whoever sends them ---- */

static void
put(msgpack_sbuffer *b, const void *p, size_t len)
{
	msgpack_sbuffer_write(b, p, len);
}

static void
repeat(msgpack_sbuffer *b, uint8_t byte, size_t n)
{
	while (n-- > 0)
		put(b, &byte, 1);
}

static void
a_hello(msgpack_sbuffer *b)
{
	rig_frame(b, &(struct envelope){ .type = MSG_HELLO }, &(union msg_body){ .hello = honest_hello });
}

static void
five_bytes(msgpack_sbuffer *b)
{
	put(b, "\xdd\xff\0\0\0", 5);
}

static void
map_of_gigabytes(msgpack_sbuffer *b)
{
	put(b, "\xdf\xff\xff\xff\xff", 5);
}

static void
string_of_gigabytes(msgpack_sbuffer *b)
{
	put(b, "\xdb\xff\xff\xff\xff" "abc", 8);
}

static void
nothing(msgpack_sbuffer *b)
{
	(void)b;
}

static void
cut(msgpack_sbuffer *b)
{
	a_hello(b);
	b->size -= 3;
}

static void
tail(msgpack_sbuffer *b)
{
	a_hello(b);
	put(b, "\xc0", 1);
}

static void
deep(msgpack_sbuffer *b)
{
	repeat(b, 0x91, 100000);
	put(b, "\xc0", 1);
}

static void
many(msgpack_sbuffer *b)
{
	put(b, "\xdd\0\x02\0\0", 5);
	repeat(b, 0xc0, 0x20000);
}

static void
extension(msgpack_sbuffer *b)
{
	put(b, "\xd4\x01\x01", 3);
}

static void
reserved(msgpack_sbuffer *b)
{
	put(b, "\xc1", 1);
}

static void
a_number(msgpack_sbuffer *b)
{
	put(b, "\x07\xc0", 2);
}

static void
short_envelope(msgpack_sbuffer *b)
{
	put(b, "\x93\x01\x00\x00\xc0", 5);
}

static void
negative_envelope(msgpack_sbuffer *b)
{
	put(b, "\x94\x01\xff\x00\x00\xc0", 6);
}

static void
unknown_message(msgpack_sbuffer *b)
{
	put(b, "\x94\xcd\x77\x77\x00\x00\x00\x90", 8);
}

static void
no_body(msgpack_sbuffer *b)
{
	put(b, "\x94\x01\x00\x00\x00", 5);
}

static void
body_of_other_arity(msgpack_sbuffer *b)
{
	put(b, "\x94\x06\x00\x00\x00\x92\x01\x01", 8);
}

static void
body_of_other_type(msgpack_sbuffer *b)
{
	put(b, "\x94\x06\x00\x00\x00\x91\xa1x", 8);
}

static void
hello_with_a_nul(msgpack_sbuffer *b)
{
	union msg_body body = { .hello = honest_hello };

	body.hello.role.len++;
	rig_frame(b, &(struct envelope){ .type = MSG_HELLO }, &body);
}

static void
a_beat(msgpack_sbuffer *b)
{
	rig_frame(b, &(struct envelope){ .type = MSG_BEAT }, &(union msg_body){ .beat = { .ready = true } });
}

static void
a_delta(msgpack_sbuffer *b)
{
	rig_frame(b, &(struct envelope){ .type = MSG_DELTA, .seq = 1 },
	    &(union msg_body){ .item = { .key = wire_str_of("k"), .type = 0x7f01 } });
}

static void
a_value(msgpack_sbuffer *b)
{
	rig_frame(b, &(struct envelope){ .type = MSG_SAMPLE },
	    &(union msg_body){ .sample = { .number = 1 } });
}

static void
a_tap_record(msgpack_sbuffer *b)
{
	rig_frame(b, &(struct envelope){ .type = MSG_TAP }, &(union msg_body){ .tap = { .seq = 1 } });
}

static const struct bad_frame {
	const char	 *name;
	void		(*fill)(msgpack_sbuffer *);
	const char	 *reason;
} bad_frames[] = {
	{ "five bytes that claim gigabytes",  five_bytes,          "declares more bytes than it has" },
	{ "a map that claims gigabytes",      map_of_gigabytes,    "declares more bytes than it has" },
	{ "a string that claims gigabytes",   string_of_gigabytes, "declares more bytes than it has" },
	{ "an empty frame",                   nothing,             "empty frame" },
	{ "a frame cut short",                cut,                 "declares more bytes than it has" },
	{ "a frame with a tail",              tail,                "wrong number of bodies" },
	{ "100,000 nested arrays",            deep,                "nested deeper than 16" },
	{ "131,072 objects",                  many,                "more than 65536 objects" },
	{ "an extension type",                extension,           "extension or reserved type" },
	{ "the reserved type",                reserved,            "extension or reserved type" },
	{ "no envelope",                      a_number,            "envelope has the wrong shape" },
	{ "an envelope of three",             short_envelope,      "envelope has the wrong shape" },
	{ "an envelope with a negative",      negative_envelope,   "envelope field is not a number" },
	{ "an unknown message",               unknown_message,     "unknown message" },
	{ "a message without a body",         no_body,             "wrong number of bodies" },
	{ "a body with a field too many",     body_of_other_arity, "body does not fit the schema" },
	{ "a body with a field of other type", body_of_other_type, "body does not fit the schema" },
	{ "a string with a NUL",              hello_with_a_nul,    "body does not fit the schema" },
	{ "a BEAT",                           a_beat,              "a message that consumers do not send" },
	{ "a DELTA",                          a_delta,             "a message that consumers do not send" },
	{ "a value by itself",                a_value,             "a message that consumers do not send" },
	{ "a tap record",                     a_tap_record,        "a message that consumers do not send" },
};

/* Sent by somebody who never said HELLO: counted, reported as unknown, nobody blamed. */
static void
from_a_stranger(void **state)
{
	const struct bad_frame *row = *state;
	msgpack_sbuffer b;
	struct rig r;

	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	void *s = rig_raw(&r, ZMQ_DEALER, STRANGER);
	row->fill(&b);
	rig_send(s, &b);
	RIG_UNTIL(&r, r.producer.nreports == 1);
	assert_int_equal(r.producer.reports[0].who, ROLE_NONE);
	assert_string_equal(r.producer.reports[0].reason, row->reason);
	assert_int_equal((int)rig_stat(STAT_BUS_REJECTED, "reason", "frame"), 1);
	rig_undisturbed(&r, &r.consumers[0]);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

/* HELLO with the real token; returns once the producer has taken it. */
static void *
authenticated(struct rig *r, const char *id, struct rig_end *as, struct envelope *session)
{
	struct msg_arena arena;
	union msg_body body = { .hello = honest_hello };
	msgpack_sbuffer b;
	zmq_msg_t m;

	as->role = ROLE_TEST_CONSUMER_2;
	as->incarnation = 1;
	as->token.len = TOKEN_BYTES;
	memset(as->token.bytes, 0x55, TOKEN_BYTES);
	bus_peer(r->producer.bus, as->role, as->incarnation, &as->token, PEER_UP);
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

/* Told why, reported by name, session over; the honest one notices nothing. */
static void
must_be_blamed(struct rig *r, void *s, const struct rig_end *as, const char *reason)
{
	struct msg_arena arena;
	struct envelope env;
	union msg_body body;
	zmq_msg_t m;

	msg_arena_init(&arena);
	zmq_msg_init(&m);
	rig_expect(r, s, &m, MSG_CLOSE, &env, &arena, &body);
	assert_int_equal(body.close.reason.len, strlen(reason));
	assert_memory_equal(body.close.reason.p, reason, strlen(reason));
	assert_int_equal(r->producer.nreports, 1);
	assert_int_equal(r->producer.reports[0].who, as->role);
	assert_int_equal(r->producer.reports[0].incarnation, as->incarnation);
	assert_string_equal(r->producer.reports[0].reason, reason);
	rig_undisturbed(r, &r->consumers[0]);
	zmq_msg_close(&m);
	msg_arena_free(&arena);
}

static void
from_a_peer_that_turned_bad(void **state)
{
	const struct bad_frame *row = *state;
	struct envelope session;
	struct rig_end as = { 0 };
	msgpack_sbuffer b;
	struct rig r;

	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	void *s = authenticated(&r, ROGUE, &as, &session);
	row->fill(&b);
	rig_send(s, &b);
	must_be_blamed(&r, s, &as, row->reason);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

static void
an_ack_beyond_what_was_sent(void **state)
{
	struct envelope session;
	struct rig_end as = { 0 };
	msgpack_sbuffer b;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	void *s = authenticated(&r, ROGUE, &as, &session);
	rig_frame(&b, &(struct envelope){ .type = MSG_ACK, .epoch = session.epoch, .seq = 1000 },
	    &(union msg_body){ .ack = { .credit = 1 } });
	rig_send(s, &b);
	must_be_blamed(&r, s, &as, "acknowledges what was never sent");
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

static void
more_parts_than_one(void **state)
{
	struct envelope session;
	struct rig_end as = { 0 };
	msgpack_sbuffer b;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	void *s = authenticated(&r, ROGUE, &as, &session);
	a_hello(&b);
	assert_int_equal(zmq_send(s, b.data, b.size, ZMQ_SNDMORE), b.size);
	assert_int_equal(zmq_send(s, b.data, b.size, ZMQ_SNDMORE), b.size);
	assert_int_equal(zmq_send(s, b.data, b.size, 0), b.size);
	must_be_blamed(&r, s, &as, "wrong number of parts");
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

/* ---- HELLOs ---- */

static void
as_it_is(union msg_body *b)
{
	(void)b;
}

static void
other_token(union msg_body *b)
{
	static const uint8_t token[TOKEN_BYTES] = { 1, 2, 3 };

	b->hello.token.p = token;
}

static void
no_token(union msg_body *b)
{
	b->hello.token.len = 0;
}

static void
part_of_the_token(union msg_body *b)
{
	b->hello.token.len--;
}

static void
role_that_may_not(union msg_body *b)
{
	b->hello.role = wire_str_of("metrics");
}

static void
role_of_the_producer(union msg_body *b)
{
	b->hello.role = wire_str_of("test-producer");
}

static void
role_that_is_none(union msg_body *b)
{
	b->hello.role = wire_str_of("");
}

static void
later_incarnation(union msg_body *b)
{
	b->hello.incarnation = 2;
}

static void
role_without_a_process(union msg_body *b)
{
	b->hello.role = wire_str_of("test-consumer-9");
}

static void
other_schema(union msg_body *b)
{
	b->hello.schema ^= 1;
}

static const struct hello_row {
	const char	 *name, *id;
	void		(*change)(union msg_body *);
	const char	 *refusal;
} hellos[] = {
	{ "another token",           ROGUE, other_token,          "wrong token" },
	{ "no token",                ROGUE, no_token,             "wrong token" },
	{ "a token cut short",       ROGUE, part_of_the_token,    "wrong token" },
	{ "a role that may not",     ROGUE, role_that_may_not,    "this role may not connect to this link" },
	{ "the producer's own role", ROGUE, role_of_the_producer, "this role may not connect to this link" },
	{ "no role",                 ROGUE, role_that_is_none,    "this role may not connect to this link" },
	{ "a later incarnation",     "test-consumer-2.2.rogue", later_incarnation,
	    "not the incarnation the supervisor announced" },
	{ "a role that does not run", "test-consumer-9.1.rogue", role_without_a_process,
	    "not the incarnation the supervisor announced" },
	{ "the routing id of another role", "test-consumer-3.1.rogue", as_it_is, "routing id does not match the HELLO" },
	{ "the routing id of another incarnation", "test-consumer-2.11.rogue", as_it_is,
	    "routing id does not match the HELLO" },
	{ "any routing id",          STRANGER, as_it_is,          "routing id does not match the HELLO" },
	{ "an overlong routing id",  "test-consumer-2.1.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    as_it_is, "routing id does not match the HELLO" },
	{ "a generated routing id",  NULL, as_it_is,              "routing id does not match the HELLO" },
	{ "another schema",          ROGUE, other_schema,         "schema differs" },
};

static void
hello_refused(void **state)
{
	const struct hello_row *row = *state;
	static const uint8_t token[TOKEN_BYTES] = { 42 };
	struct secret secret = { .len = TOKEN_BYTES };
	union msg_body body = { .hello = honest_hello };
	struct msg_arena arena;
	struct envelope env;
	msgpack_sbuffer b;
	zmq_msg_t m;
	struct rig r;

	rig_start(&r, 1, 10);
	memcpy(secret.bytes, token, TOKEN_BYTES);
	bus_peer(r.producer.bus, ROLE_TEST_CONSUMER_2, 1, &secret, PEER_UP);
	body.hello.token = (wire_secret){ .p = token, .len = TOKEN_BYTES };
	body.hello.schema = msg_schema_hash();
	row->change(&body);
	msgpack_sbuffer_init(&b);
	msg_arena_init(&arena);
	zmq_msg_init(&m);
	void *s = rig_raw(&r, ZMQ_DEALER, row->id);
	rig_frame(&b, &(struct envelope){ .type = MSG_HELLO }, &body);
	rig_send(s, &b);
	rig_expect(&r, s, &m, MSG_CLOSE, &env, &arena, &body);
	assert_int_equal(body.close.nonce, honest_hello.nonce);
	assert_int_equal(body.close.reason.len, strlen(row->refusal));
	assert_memory_equal(body.close.reason.p, row->refusal, strlen(row->refusal));
	assert_int_equal((int)rig_stat(STAT_BUS_REJECTED, "reason", "hello"), 1);
	assert_int_equal(r.producer.nreports, 0);	/* a late HELLO of a dead incarnation looks just like this */
	rig_undisturbed(&r, &r.consumers[0]);
	zmq_msg_close(&m);
	msg_arena_free(&arena);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

/* The supervisor says `-` for the token of a peer that is dead: it opens nothing any more. */
static void
the_token_of_a_dead_peer(void **state)
{
	union msg_body body = { .hello = honest_hello };
	struct msg_arena arena;
	struct envelope env;
	struct rig_end as = { 0 };
	msgpack_sbuffer b;
	zmq_msg_t m;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	void *s = authenticated(&r, ROGUE, &as, &env);
	bus_peer(r.producer.bus, as.role, as.incarnation, NULL, PEER_DOWN);
	body.hello.token = (wire_secret){ .p = as.token.bytes, .len = TOKEN_BYTES };
	body.hello.schema = msg_schema_hash();
	msgpack_sbuffer_init(&b);
	msg_arena_init(&arena);
	zmq_msg_init(&m);
	rig_frame(&b, &(struct envelope){ .type = MSG_HELLO }, &body);
	rig_send(s, &b);
	rig_expect(&r, s, &m, MSG_CLOSE, &env, &arena, &body);
	zmq_msg_close(&m);
	msg_arena_free(&arena);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

/*
 * Routing ids are self-declared: who takes that of an honest consumer must neither hear for it nor
 * speak for it.
 */
static void
the_routing_id_of_an_honest_consumer(void **state)
{
	msgpack_sbuffer b;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	void *s = rig_raw(&r, ZMQ_DEALER, "test-consumer-1.1");
	five_bytes(&b);
	rig_send(s, &b);
	RIG_UNTIL(&r, r.producer.nreports == 1);
	assert_int_equal(r.producer.reports[0].who, ROLE_NONE);
	rig_undisturbed(&r, &r.consumers[0]);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

/*
 * A second session of the same incarnation ends the first: one role, one session, however often it
 * says HELLO.
 */
static void
two_sessions_of_one_role(void **state)
{
	struct envelope first, second;
	struct msg_arena arena;
	union msg_body body;
	struct rig_end as = { 0 };
	zmq_msg_t m;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	msg_arena_init(&arena);
	zmq_msg_init(&m);
	void *a = authenticated(&r, ROGUE, &as, &first);
	void *b = authenticated(&r, "test-consumer-2.1.again", &as, &second);
	assert_true(second.epoch > first.epoch);
	rig_expect(&r, a, &m, MSG_CLOSE, &second, &arena, &body);
	assert_int_equal(second.epoch, first.epoch);
	assert_int_equal(r.producer.nreports, 0);
	bus_stats(r.producer.bus);
	assert_int_equal((int)rig_stat(STAT_SESSIONS, NULL, NULL), 2);
	zmq_msg_close(&m);
	msg_arena_free(&arena);
	zmq_close(a);
	zmq_close(b);
	rig_free(&r);
}

static void
an_ack_without_a_session(void **state)
{
	struct msg_arena arena;
	struct envelope env;
	union msg_body body;
	msgpack_sbuffer b;
	zmq_msg_t m;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	msg_arena_init(&arena);
	zmq_msg_init(&m);
	void *s = rig_raw(&r, ZMQ_DEALER, STRANGER);
	rig_frame(&b, &(struct envelope){ .type = MSG_ACK, .epoch = 77, .seq = 1 },
	    &(union msg_body){ .ack = { .credit = 1 } });
	rig_send(s, &b);
	rig_expect(&r, s, &m, MSG_CLOSE, &env, &arena, &body);
	assert_int_equal(env.epoch, 77);
	assert_int_equal(r.producer.nreports, 0);
	rig_undisturbed(&r, &r.consumers[0]);
	zmq_msg_close(&m);
	msg_arena_free(&arena);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

/* ---- Quantities ---- */

/* Larger than ZMQ_MAXMSGSIZE: libzmq ends the connection before a byte of it reaches us. */
static void
more_than_a_mebibyte(void **state)
{
	const size_t size = 64 * 1024 * 1024;
	char *big = obj_alloc(size);
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	void *s = rig_raw(&r, ZMQ_DEALER, STRANGER);
	assert_int_equal(zmq_send(s, big, size, 0), size);
	for (int i = 0; i < 20; i++)
		rig_undisturbed(&r, &r.consumers[0]);
	assert_int_equal(r.producer.nreports, 0);
	zmq_close(s);
	free(big);
	rig_free(&r);
}

/* Not even ZeroMQ: lengths of 2^63 and the like, straight into the unix socket. */
static void
bytes_that_are_no_zmtp(void **state)
{
	static const char greeting[64] = "\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL";
	static const struct {
		const char	*bytes;
		size_t		 len;
	} after[] = {
		{ "\x02\xff\xff\xff\xff\xff\xff\xff\xff", 9 },		/* a long frame of 2^64-1 bytes */
		{ "\x02\x7f\xff\xff\xff\xff\xff\xff\xff", 9 },
		{ "\x06\x80\0\0\0\0\0\0\0", 9 },			/* a command of 2^63 */
		{ "\x04\x05\x05READY", 8 },
		{ "\x04\x00", 2 },
		{ "\x00\x00\x00\x00\x00\x00", 6 },			/* messages before the handshake */
		{ "GET / HTTP/1.1\r\n\r\n", 18 },
	};
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	for (size_t i = 0; i < 2 * NITEMS(after); i++) {
		struct sockaddr_un sun = { .sun_family = AF_UNIX };
		const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		snprintf(sun.sun_path, sizeof(sun.sun_path), "%.60s/samples.test-producer.ipc", r.dir);
		assert_int_equal(connect(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
		if (i % 2 == 0)
			assert_int_equal(write(fd, greeting, sizeof(greeting)), sizeof(greeting));
		(void)!send(fd, after[i / 2].bytes, after[i / 2].len, MSG_NOSIGNAL);
		rig_undisturbed(&r, &r.consumers[0]);
		close(fd);
	}
	rig_undisturbed(&r, &r.consumers[0]);
	rig_free(&r);
}

static void
a_flood_of_garbage(void **state)
{
	const int64_t begun_ms = clock_mono_ms();
	msgpack_sbuffer b;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	void *s = rig_raw(&r, ZMQ_DEALER, STRANGER);
	five_bytes(&b);
	for (int i = 0; i < FLOOD; i++) {
		while (zmq_send(s, b.data, b.size, ZMQ_DONTWAIT) == -1)
			rig_turn(&r, 1);
		if (i % 1000 == 0)
			rig_undisturbed(&r, &r.consumers[0]);
	}
	RIG_UNTIL(&r, r.producer.nreports == FLOOD);
	rig_undisturbed(&r, &r.consumers[0]);
	print_message("# %d frames refused in %lld ms\n", FLOOD, (long long)(clock_mono_ms() - begun_ms));
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

/* Bytes of good frames changed at random: refused or taken, never a crash, never a disturbance. */
static void
frames_with_bytes_changed(void **state)
{
	static void (*const good[])(msgpack_sbuffer *) = { a_hello, a_beat, a_delta, a_value, a_tap_record };
	uint64_t random = 20240229;
	msgpack_sbuffer b;
	struct rig r;

	(void)state;
	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	void *s = rig_raw(&r, ZMQ_DEALER, STRANGER);
	for (int i = 0; i < MUTATIONS; i++) {
		good[i % NITEMS(good)](&b);
		for (uint64_t n = 1 + random_below(&random, 3); n > 0; n--)
			b.data[random_below(&random, b.size)] = (char)random_next(&random);
		while (zmq_send(s, b.data, b.size, ZMQ_DONTWAIT) == -1)
			rig_turn(&r, 1);
		if (i % 500 == 0)
			rig_undisturbed(&r, &r.consumers[0]);
	}
	for (unsigned i = 0; i < r.producer.nreports && i < RIG_REPORTS; i++)
		assert_int_equal(r.producer.reports[i].who, ROLE_NONE);
	rig_undisturbed(&r, &r.consumers[0]);
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

static int
open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static void
a_thousand_connections_come_and_go(void **state)
{
	msgpack_sbuffer b;
	struct rig r;
	unsigned refused = 0;

	(void)state;
	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	five_bytes(&b);
	zmq_close(rig_raw(&r, ZMQ_DEALER, NULL));	/* libzmq's own threads have theirs now */
	rig_turn(&r, 100);
	const int before = open_descriptors();
	for (int i = 0; i < CYCLES; i++) {
		char id[32];

		snprintf(id, sizeof(id), "%s.%d", STRANGER, i % 7);
		void *s = rig_raw(&r, ZMQ_DEALER, i % 3 == 0 ? NULL : id);
		if (i % 2 == 0) {
			rig_send(s, &b);
			refused++;
			RIG_UNTIL(&r, r.producer.nreports >= refused);
		}
		zmq_close(s);
		if (i % 100 == 0)
			rig_undisturbed(&r, &r.consumers[0]);
	}
	RIG_UNTIL(&r, open_descriptors() <= before);
	rig_undisturbed(&r, &r.consumers[0]);
	msgpack_sbuffer_destroy(&b);
	rig_free(&r);
}

#define ALONE(fn)	{ .name = #fn, .test_func = (fn) }

int
main(int argc, char **argv)
{
	static const struct CMUnitTest alone[] = {
		ALONE(an_ack_beyond_what_was_sent),
		ALONE(more_parts_than_one),
		ALONE(the_token_of_a_dead_peer),
		ALONE(the_routing_id_of_an_honest_consumer),
		ALONE(two_sessions_of_one_role),
		ALONE(an_ack_without_a_session),
		ALONE(more_than_a_mebibyte),
		ALONE(bytes_that_are_no_zmtp),
		ALONE(a_flood_of_garbage),
		ALONE(frames_with_bytes_changed),
		ALONE(a_thousand_connections_come_and_go),
	};
	struct CMUnitTest strangers[NITEMS(bad_frames)], peers[NITEMS(bad_frames)], greetings[NITEMS(hellos)];

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);	/* a glob, for a person */
	log_open("test", LOG_JSON, LEVEL_ERROR);
	for (size_t i = 0; i < NITEMS(bad_frames); i++) {
		void *row = (void *)(uintptr_t)&bad_frames[i];

		strangers[i] = (struct CMUnitTest){ bad_frames[i].name, from_a_stranger, NULL, NULL, row };
		peers[i] = (struct CMUnitTest){ bad_frames[i].name, from_a_peer_that_turned_bad,
			NULL, NULL, row };
	}
	for (size_t i = 0; i < NITEMS(hellos); i++) {
		greetings[i] = (struct CMUnitTest){
			hellos[i].name, hello_refused, NULL, NULL, (void *)(uintptr_t)&hellos[i]
		};
	}
	return cmocka_run_group_tests_name("from a stranger", strangers, NULL, NULL)
	    + cmocka_run_group_tests_name("from a peer that turned bad", peers, NULL, NULL)
	    + cmocka_run_group_tests_name("HELLO refused", greetings, NULL, NULL)
	    + cmocka_run_group_tests_name("hostile", alone, NULL, NULL);
}
