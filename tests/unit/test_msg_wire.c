/*
 * tests/unit/test_msg_wire.c - the codecs byte by byte: each form of each type, and what resembles
 * one; nothing is read behind the last byte (the sanitizers check). The rest is in test_msg.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "msg.h"
#include "obj.h"

#define BYTES(...)	.bytes = { __VA_ARGS__ }, .len = sizeof((const uint8_t[]){ __VA_ARGS__ })
#define DOUBLE_ONE	0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0

/* want: as msg_print shows it; NULL: refused. */
static const struct row {
	const char	*name;
	enum msg	 type;
	uint8_t		 bytes[40];
	size_t		 len;
	const char	*want;
} rows[] = {
	{ "number in the head", MSG_ACK, BYTES(0x91, 0x7f), "credit=127" },
	{ "number of 1 byte", MSG_ACK, BYTES(0x91, 0xcc, 0xff), "credit=255" },
	{ "number of 2 bytes", MSG_ACK, BYTES(0x91, 0xcd, 0x01, 0x02), "credit=258" },
	{ "number of 4 bytes", MSG_ACK, BYTES(0x91, 0xce, 1, 0, 0, 0), "credit=16777216" },
	{ "number of 8 bytes", MSG_ACK, BYTES(0x91, 0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	  "credit=18446744073709551615" },
	{ "list with a length of 2 bytes", MSG_ACK, BYTES(0xdc, 0, 1, 0x05), "credit=5" },
	{ "list with a length of 4 bytes", MSG_ACK, BYTES(0xdd, 0, 0, 0, 1, 0x05), "credit=5" },
	{ "negative for a number", MSG_ACK, BYTES(0x91, 0xff), NULL },
	{ "text for a number", MSG_ACK, BYTES(0x91, 0xa1, '1'), NULL },
	{ "float for a number", MSG_ACK, BYTES(0x91, DOUBLE_ONE), NULL },
	{ "nil for a number", MSG_ACK, BYTES(0x91, 0xc0), NULL },
	{ "a field too few", MSG_ACK, BYTES(0x90), NULL },
	{ "a field too many", MSG_ACK, BYTES(0x92, 0x01, 0x02), NULL },
	{ "a map for a list", MSG_ACK, BYTES(0x81, 0x01, 0x02), NULL },
	{ "no list at all", MSG_ACK, BYTES(0x05), NULL },
	{ "something after the body", MSG_ACK, BYTES(0x91, 0x05, 0x05), NULL },
	{ "reserved byte", MSG_ACK, BYTES(0xc1), NULL },
	{ "text", MSG_CLOSE, BYTES(0x92, 0x01, 0xa2, 'h', 'i'), "nonce=1 reason=\"hi\"" },
	{ "empty text", MSG_CLOSE, BYTES(0x92, 0x01, 0xa0), "nonce=1 reason=\"\"" },
	{ "text with a length of 1 byte", MSG_CLOSE, BYTES(0x92, 0x01, 0xd9, 1, 'x'), "nonce=1 reason=\"x\"" },
	{ "text with a length of 4 bytes", MSG_CLOSE, BYTES(0x92, 0x01, 0xdb, 0, 0, 0, 1, 'x'),
	  "nonce=1 reason=\"x\"" },
	{ "text with a NUL inside", MSG_CLOSE, BYTES(0x92, 0x01, 0xa2, 'h', 0), NULL },
	{ "bytes for text", MSG_CLOSE, BYTES(0x92, 0x01, 0xc4, 1, 'x'), NULL },
	{ "text longer than the body", MSG_CLOSE, BYTES(0x92, 0x01, 0xdb, 0xff, 0xff, 0xff, 0xff, 'x'), NULL },
	{ "flags", MSG_BEAT, BYTES(0x95, 1, 0xc3, 0xc2, 2, 3), "nonce=1 ready=true exact=false count=2 hash=3" },
	{ "number for a flag", MSG_BEAT, BYTES(0x95, 1, 1, 0xc2, 2, 3), NULL },
	{ "negative in the head", MSG_SAMPLE, BYTES(0x93, 1, 0xe0, 0xc4, 0),
	  "number=1 sent_us=-32 padding=<0 bytes>" },
	{ "negative of 1 byte", MSG_SAMPLE, BYTES(0x93, 1, 0xd0, 0x80, 0xc4, 0),
	  "number=1 sent_us=-128 padding=<0 bytes>" },
	{ "negative of 2 bytes", MSG_SAMPLE, BYTES(0x93, 1, 0xd1, 0x80, 0, 0xc4, 0),
	  "number=1 sent_us=-32768 padding=<0 bytes>" },
	{ "positive in a signed type", MSG_SAMPLE, BYTES(0x93, 1, 0xd0, 0x7f, 0xc4, 0),
	  "number=1 sent_us=127 padding=<0 bytes>" },
	{ "too large for a signed number", MSG_SAMPLE,
	  BYTES(0x93, 1, 0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xc4, 0), NULL },
	{ "text for bytes", MSG_SAMPLE, BYTES(0x93, 1, 1, 0xa0), NULL },
	{ "number for a float", MSG_STAT,
	  BYTES(0x97, 0xa1, 'f', 0, 0xa0, 0xa0, 0xcf, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0x90), NULL },
	{ "number for a list of floats", MSG_STAT,
	  BYTES(0x97, 0xa1, 'f', 0, 0xa0, 0xa0, DOUBLE_ONE, 0, 5), NULL },
	{ "list of floats", MSG_STAT, BYTES(0x97, 0xa1, 'f', 0, 0xa0, 0xa0, DOUBLE_ONE, 0, 0x91, DOUBLE_ONE),
	  "family=\"f\" kind=0 help=\"\" labels=\"\" value=1 count=0 buckets=[1]" },
	{ "list of floats with a number in it", MSG_STAT,
	  BYTES(0x97, 0xa1, 'f', 0, 0xa0, 0xa0, DOUBLE_ONE, 0, 0x91, 1), NULL },
	{ "an empty map", MSG_NAMESPACE, BYTES(0x92, 0x80, 0xa0), "labels={} deleted=\"\"" },
	{ "a map", MSG_NAMESPACE, BYTES(0x92, 0x82, 0xa1, 'a', 0xa1, '1', 0xa1, 'b', 0xa0, 0xa0),
	  "labels={a=\"1\",b=\"\"} deleted=\"\"" },
	{ "a map with a length of 4 bytes", MSG_NAMESPACE,
	  BYTES(0x92, 0xdf, 0, 0, 0, 1, 0xa1, 'a', 0xa1, '1', 0xa0), "labels={a=\"1\"} deleted=\"\"" },
	{ "an empty key", MSG_NAMESPACE, BYTES(0x92, 0x81, 0xa0, 0xa1, '1', 0xa0),
	  "labels={\"\"=\"1\"} deleted=\"\"" },
	{ "a key twice", MSG_NAMESPACE, BYTES(0x92, 0x82, 0xa1, 'a', 0xa0, 0xa1, 'a', 0xa0, 0xa0), NULL },
	{ "an empty key twice", MSG_NAMESPACE, BYTES(0x92, 0x82, 0xa0, 0xa0, 0xa0, 0xa0, 0xa0), NULL },
	{ "keys out of order", MSG_NAMESPACE, BYTES(0x92, 0x82, 0xa1, 'b', 0xa0, 0xa1, 'a', 0xa0, 0xa0), NULL },
	{ "a map longer than the body", MSG_NAMESPACE, BYTES(0x92, 0xdf, 0xff, 0xff, 0xff, 0xff, 0xa0), NULL },
	{ "a list for a map", MSG_NAMESPACE, BYTES(0x92, 0x90, 0xa0), NULL },
};

/* Bodies of a batch follow each other: a longer one is not one body and a bit of the next. */
static const struct {
	uint8_t	bytes[20];
} no_acks[] = {
	{ { 0x92, 1, 2 } }, { { 0x90, 1 } }, { { 0x81, 1, 2 } }, { { 0xdc, 0, 2, 1, 2 } },
	{ { 0xdd, 0, 0, 0, 2, 1, 2 } }, { { 0xde, 0, 0, 0, 0, 0, 0, 0, 1, 5 } },
	{ { 0xdf, 0, 0, 0, 1, 5 } }, { { 0xc1, 1, 5 } }, { { 0x91, 0xd0, 5 } },
};

static void
arity_is_exact(void **state)
{
	struct msg_arena arena;
	union msg_body body;
	size_t used;

	(void)state;
	msg_arena_init(&arena);
	for (size_t i = 0; i < NITEMS(no_acks); i++)
		assert_false(msg_unpack(MSG_ACK, no_acks[i].bytes, sizeof(no_acks[i]), &used, &arena, &body));
	msg_arena_free(&arena);
}

/* In memory that ends where the bytes end. */
static bool
unpack_whole(const struct row *r, size_t len, struct msg_arena *arena, char *text, size_t size)
{
	uint8_t *copy = obj_memdup(r->bytes, len);
	union msg_body body;

	const bool taken = msg_unpack_value(r->type, copy, len, arena, &body);
	if (taken)
		msg_print(r->type, &body, false, text, size);
	free(copy);
	return taken;
}

static bool
unpack_one(const struct row *r, size_t len, struct msg_arena *arena)
{
	uint8_t *copy = obj_memdup(r->bytes, len);
	union msg_body body;
	size_t used;

	const bool taken = msg_unpack(r->type, copy, len, &used, arena, &body);
	free(copy);
	return taken;
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct msg_arena arena;
	char text[256];

	msg_arena_init(&arena);
	const bool taken = unpack_whole(r, r->len, &arena, text, sizeof(text));
	if (r->want == NULL) {
		assert_false(taken);
	} else {
		assert_true(taken);
		assert_string_equal(text, r->want);
		for (size_t len = 0; len < r->len; len++)	/* no beginning of it is a body */
			assert_false(unpack_one(r, len, &arena));
	}
	msg_arena_free(&arena);
}

/* Entry by entry, as they were put; and found by name. */
static void
maps_and_rows_are_read_in_place(void **state)
{
	static const char *const words[] = { "", "a", "a/b", "b", "zone" };
	struct wire_map map = { 0 }, left;
	struct wire_rows rows_ = { 0 };
	struct wire_str key, value, cells[ROWS_COLUMNS_MAX];
	msgpack_sbuffer a, b;

	(void)state;
	msgpack_sbuffer_init(&a);
	msgpack_sbuffer_init(&b);
	for (size_t i = 0; i < NITEMS(words); i++) {
		const struct wire_str row[] = { wire_str_of(words[i]), wire_str_of("x") };

		map_put(&a, &map, wire_str_of(words[i]), wire_str_of(words[NITEMS(words) - 1 - i]));
		rows_put(&b, &rows_, row, NITEMS(row));
	}
	left = map;
	for (size_t i = 0; i < NITEMS(words); i++) {
		assert_true(map_next(&left, &key, &value));
		assert_int_equal(wire_str_compare(key, wire_str_of(words[i])), 0);
		assert_true(map_get(map, words[i], &value));
		assert_int_equal(wire_str_compare(value, wire_str_of(words[NITEMS(words) - 1 - i])), 0);
		assert_true(rows_next(&rows_, cells));
		assert_int_equal(wire_str_compare(cells[0], wire_str_of(words[i])), 0);
		assert_int_equal(wire_str_compare(cells[1], wire_str_of("x")), 0);
	}
	assert_false(map_next(&left, &key, &value));
	assert_false(rows_next(&rows_, cells));
	assert_false(map_get(map, "zon", &value));
	assert_int_equal(value.len, 0);
	assert_false(map_get(map, "zones", &value));
	assert_false(map_get((struct wire_map){ 0 }, "a", &value));
	msgpack_sbuffer_destroy(&a);
	msgpack_sbuffer_destroy(&b);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(arity_is_exact);
	tests[NITEMS(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(maps_and_rows_are_read_in_place);
	return cmocka_run_group_tests_name("msg_wire", tests, NULL, NULL);
}
