/*
 * tests/bus/test_hostile.c - whatever frame is sent to a producer, it goes on running, its valid consumers
 * are not affected, and only an authenticated sender is reported by name. Raw libzmq against a bus.
 *
 * muster-test: parallel
 */
#include "rig.h"

/* ---- Frames that are wrong from every sender ---- */

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
	rig_frame(b, &(struct envelope){ .type = MSG_HELLO }, &(union msg_body){ .hello = rig_hello });
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
	union msg_body body = { .hello = rig_hello };

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
	{ "five bytes that claim gigabytes",  rig_garbage,         "declares more bytes than it has" },
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

/* Sent without a HELLO before it: the frame is counted and its sender is reported as unknown. */
static void
from_an_unknown_sender(void **state)
{
	const struct bad_frame *row = *state;
	msgpack_sbuffer b;
	struct rig r;

	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	void *s = rig_raw(&r, ZMQ_DEALER, RIG_UNKNOWN_ID);
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

/* The sender receives the reason, is reported by name and loses its session. No other is affected. */
static void
must_be_reported(struct rig *r, void *s, const struct rig_end *as, const char *reason)
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
from_an_authenticated_peer(void **state)
{
	const struct bad_frame *row = *state;
	struct envelope session;
	struct rig_end as = { 0 };
	msgpack_sbuffer b;
	struct rig r;

	rig_start(&r, 1, 10);
	msgpack_sbuffer_init(&b);
	void *s = rig_authenticated(&r, RIG_HELLO_ID, &as, &session);
	row->fill(&b);
	rig_send(s, &b);
	must_be_reported(&r, s, &as, row->reason);
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
	void *s = rig_authenticated(&r, RIG_HELLO_ID, &as, &session);
	rig_frame(&b, &(struct envelope){ .type = MSG_ACK, .epoch = session.epoch, .seq = 1000 },
	    &(union msg_body){ .ack = { .credit = 1 } });
	rig_send(s, &b);
	must_be_reported(&r, s, &as, "acknowledges what was never sent");
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
	void *s = rig_authenticated(&r, RIG_HELLO_ID, &as, &session);
	a_hello(&b);
	assert_int_equal(zmq_send(s, b.data, b.size, ZMQ_SNDMORE), b.size);
	assert_int_equal(zmq_send(s, b.data, b.size, ZMQ_SNDMORE), b.size);
	assert_int_equal(zmq_send(s, b.data, b.size, 0), b.size);
	must_be_reported(&r, s, &as, "wrong number of parts");
	msgpack_sbuffer_destroy(&b);
	zmq_close(s);
	rig_free(&r);
}

#define ALONE(fn)	{ .name = #fn, .test_func = (fn) }

int
main(int argc, char **argv)
{
	static const struct CMUnitTest alone[] = {
		ALONE(an_ack_beyond_what_was_sent), ALONE(more_parts_than_one),
	};
	struct CMUnitTest unknown[NITEMS(bad_frames)], peers[NITEMS(bad_frames)];

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);	/* a glob, for a person */
	log_open("test", LOG_JSON, LEVEL_ERROR);
	for (size_t i = 0; i < NITEMS(bad_frames); i++) {
		const char *name = bad_frames[i].name;
		void *row = (void *)(uintptr_t)&bad_frames[i];

		unknown[i] = (struct CMUnitTest){ name, from_an_unknown_sender, NULL, NULL, row };
		peers[i] = (struct CMUnitTest){ name, from_an_authenticated_peer, NULL, NULL, row };
	}
	return cmocka_run_group_tests_name("from an unknown sender", unknown, NULL, NULL)
	    + cmocka_run_group_tests_name("from an authenticated peer", peers, NULL, NULL)
	    + cmocka_run_group_tests_name("hostile", alone, NULL, NULL);
}
