/*
 * tests/unit/test_envelope.c - frames: what is refused, with which error, and each body of a
 * frame that is accepted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "envelope.h"
#include "obj.h"

#define FRAME(text)	(text), sizeof(text) - 1
/* An envelope of message 6 (ACK) and its body [credit]. */
#define ACK_ENVELOPE	"\x94\x06\x01\x02\x03"
#define ACK_BODY	"\x91\x05"
#define FOUR_DEEP	"\x91\x91\x91\x91"

static const struct row {
	const char	*name, *bytes;
	size_t		 len;
	const char	*refusal;	/* NULL: accepted */
} rows[] = {
	{ "an ACK",                       FRAME(ACK_ENVELOPE ACK_BODY), NULL },
	{ "numbers written wide",         FRAME("\x94\xcf\0\0\0\0\0\0\0\6\xcd\0\1\xcc\2\3" ACK_BODY), NULL },
	{ "two items",                    FRAME("\x94\x05\1\2\3" "\x90" "\x90"), NULL },

	{ "nothing",                      FRAME(""), "empty frame" },
	{ "an extension type",            FRAME(ACK_ENVELOPE "\xd4\1\1"), "extension or reserved type" },
	{ "a body cut short",             FRAME(ACK_ENVELOPE "\x91"), "declares more bytes than it has" },
	{ "nested too deep",              FRAME(FOUR_DEEP FOUR_DEEP FOUR_DEEP FOUR_DEEP "\x91\1"), "nested deeper than 16" },
	{ "envelope is a number",         FRAME("\6" ACK_BODY), "envelope has the wrong shape" },
	{ "envelope is a map",            FRAME("\x84\6\1\1\1\2\1\3\1" ACK_BODY), "envelope has the wrong shape" },
	{ "envelope with three fields",   FRAME("\x93\6\1\2" ACK_BODY), "envelope has the wrong shape" },
	{ "envelope with five fields",    FRAME("\x95\6\1\2\3\4" ACK_BODY), "envelope has the wrong shape" },
	{ "type is a string",             FRAME("\x94\xa1" "6\1\2\3" ACK_BODY), "envelope field is not a number" },
	{ "seq is negative",              FRAME("\x94\6\1\xff\3" ACK_BODY), "envelope field is not a number" },
	{ "trace is a float",             FRAME("\x94\6\1\2\xcb\0\0\0\0\0\0\0\0" ACK_BODY), "envelope field is not a number" },
	{ "message 0",                    FRAME("\x94\0\1\2\3" ACK_BODY), "unknown message" },
	{ "message 0x7fff",               FRAME("\x94\xcd\x7f\xff\1\2\3" ACK_BODY), "unknown message" },
	{ "message 6 + 2^16",             FRAME("\x94\xce\0\1\0\6\1\2\3" ACK_BODY), "unknown message" },
	{ "message 6 + 2^32",             FRAME("\x94\xcf\0\0\0\1\0\0\0\6\1\2\3" ACK_BODY), "unknown message" },
	{ "no body",                      FRAME(ACK_ENVELOPE), "wrong number of bodies" },
	{ "two bodies where one belongs", FRAME(ACK_ENVELOPE ACK_BODY ACK_BODY), "wrong number of bodies" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct msg_arena arena;
	struct frame f;
	void *copy = obj_memdup(r->bytes, r->len);

	msg_arena_init(&arena);
	const char *refusal = frame_open(&f, copy, r->len, &arena);
	msg_arena_free(&arena);
	free(copy);
	if (r->refusal != NULL)
		assert_string_equal(refusal == NULL ? "(taken)" : refusal, r->refusal);
	else
		assert_null(refusal);
}

static void
too_big_and_too_many(void **state)
{
	uint8_t *bytes = obj_alloc(FRAME_MAX_BYTES + 1);
	struct msg_arena arena;
	struct frame f;

	(void)state;
	msg_arena_init(&arena);
	assert_string_equal(frame_open(&f, bytes, FRAME_MAX_BYTES + 1, &arena), "frame larger than 1 MiB");
	assert_string_equal(frame_open(&f, bytes, FRAME_MAX_BYTES, &arena), "more than 65536 objects");
	msg_arena_free(&arena);
	free(bytes);
}

static union msg_body
numbered_item(uint32_t n)
{
	static char key[16];

	snprintf(key, sizeof(key), "k%u", n);
	return (union msg_body){ .item = { .key = wire_str_of(key), .version = n } };
}

static void
body_after_body(void **state)
{
	const struct envelope sent = {
		.type = MSG_SNAP_ITEMS, .epoch = UINT64_MAX, .seq = 7, .trace = 1ull << 63
	};
	struct msg_arena arena;
	msgpack_sbuffer out;
	struct frame f;
	union msg_body body;

	(void)state;
	msg_arena_init(&arena);
	msgpack_sbuffer_init(&out);
	frame_begin(&out, &sent);
	for (uint32_t n = 0; n < 64; n++) {
		const union msg_body item = numbered_item(n);

		msg_pack(&out, MSG_SNAP_ITEMS, &item);
	}
	assert_null(frame_open(&f, out.data, out.size, &arena));
	assert_int_equal(f.env.type, sent.type);
	assert_int_equal(f.env.epoch, sent.epoch);
	assert_int_equal(f.env.seq, sent.seq);
	assert_int_equal(f.env.trace, sent.trace);
	for (uint32_t n = 0; n < 64; n++) {
		const union msg_body want = numbered_item(n);

		assert_int_equal(f.bodies, 64 - n);
		assert_true(frame_next(&f, &arena, &body));
		assert_int_equal(body.item.version, n);
		assert_int_equal(body.item.key.len, want.item.key.len);
		assert_memory_equal(body.item.key.p, want.item.key.p, want.item.key.len);
	}
	assert_int_equal(f.bodies, 0);
	assert_int_equal(f.left, 0);
	assert_false(frame_next(&f, &arena, &body));
	msgpack_sbuffer_destroy(&out);
	msg_arena_free(&arena);
}

/* The scan lets any object pass as a body; the codec must not, and must not move on. */
static void
a_body_of_another_message(void **state)
{
	struct msg_arena arena;
	msgpack_sbuffer out;
	struct frame f;
	union msg_body body = { .ack = { .credit = 5 } };

	(void)state;
	msg_arena_init(&arena);
	msgpack_sbuffer_init(&out);
	for (unsigned m = 0; m < MSG_MAX; m++) {
		if (m == MSG_ACK || m == MSG_SNAP_BEGIN || m == MSG_SNAP_END)	/* one number, like an ACK */
			continue;
		msgpack_sbuffer_clear(&out);
		frame_begin(&out, &(struct envelope){ .type = (enum msg)m });
		body.ack.credit = 5;
		msg_pack(&out, MSG_ACK, &body);
		assert_null(frame_open(&f, out.data, out.size, &arena));
		assert_false(frame_next(&f, &arena, &body));
		assert_int_equal(f.bodies, 1);
	}
	msgpack_sbuffer_destroy(&out);
	msg_arena_free(&arena);
}

int
main(void)
{
	static const struct CMUnitTest whole[] = {
		cmocka_unit_test(too_big_and_too_many), cmocka_unit_test(body_after_body),
		cmocka_unit_test(a_body_of_another_message),
	};
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	const int failed = cmocka_run_group_tests_name("frame_open", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("frames", whole, NULL, NULL);
}
