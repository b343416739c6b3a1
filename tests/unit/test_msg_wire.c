/*
 * tests/unit/test_msg_wire.c - fields as bytes: what msgpack-c writes is read back, what the schema does not say is
 * refused, and nothing is read behind the last byte (the sanitizers watch).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "msg.h"
#include "obj.h"

/* ---- Bytes to bodies: `want` is the text of msg_print, NULL: refused ---- */

#define BYTES(...)	.bytes = { __VA_ARGS__ }, .len = sizeof((const uint8_t[]){ __VA_ARGS__ })
#define DOUBLE_ONE	0xcb, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0

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
	{ "text with a length of 4 bytes", MSG_CLOSE, BYTES(0x92, 0x01, 0xdb, 0, 0, 0, 1, 'x'), "nonce=1 reason=\"x\"" },
	{ "text with a NUL inside", MSG_CLOSE, BYTES(0x92, 0x01, 0xa2, 'h', 0), NULL },
	{ "bytes for text", MSG_CLOSE, BYTES(0x92, 0x01, 0xc4, 1, 'x'), NULL },
	{ "text longer than the body", MSG_CLOSE, BYTES(0x92, 0x01, 0xdb, 0xff, 0xff, 0xff, 0xff, 'x'), NULL },
	{ "flags", MSG_BEAT, BYTES(0x95, 1, 0xc3, 0xc2, 2, 3), "nonce=1 ready=true exact=false count=2 hash=3" },
	{ "number for a flag", MSG_BEAT, BYTES(0x95, 1, 1, 0xc2, 2, 3), NULL },
	{ "negative in the head", MSG_SAMPLE, BYTES(0x93, 1, 0xe0, 0xc4, 0), "number=1 sent_us=-32 padding=0 bytes" },
	{ "negative of 1 byte", MSG_SAMPLE, BYTES(0x93, 1, 0xd0, 0x80, 0xc4, 0), "number=1 sent_us=-128 padding=0 bytes" },
	{ "negative of 2 bytes", MSG_SAMPLE, BYTES(0x93, 1, 0xd1, 0x80, 0, 0xc4, 0),
	  "number=1 sent_us=-32768 padding=0 bytes" },
	{ "positive in a signed type", MSG_SAMPLE, BYTES(0x93, 1, 0xd0, 0x7f, 0xc4, 0),
	  "number=1 sent_us=127 padding=0 bytes" },
	{ "too large for a signed number", MSG_SAMPLE,
	  BYTES(0x93, 1, 0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xc4, 0), NULL },
	{ "text for bytes", MSG_SAMPLE, BYTES(0x93, 1, 1, 0xa0), NULL },
	{ "number for a list of floats", MSG_STAT,
	  BYTES(0x97, 0xa1, 'f', 0, 0xa0, 0xa0, DOUBLE_ONE, 0, 5), NULL },
	{ "list of floats", MSG_STAT, BYTES(0x97, 0xa1, 'f', 0, 0xa0, 0xa0, DOUBLE_ONE, 0, 0x91, DOUBLE_ONE),
	  "family=\"f\" kind=0 help=\"\" labels=\"\" value=1 count=0 buckets=[1]" },
	{ "list of floats with a number in it", MSG_STAT,
	  BYTES(0x97, 0xa1, 'f', 0, 0xa0, 0xa0, DOUBLE_ONE, 0, 0x91, 1), NULL },
};

/* The same bytes in memory that ends where they end. */
static bool
unpack(enum msg m, const void *bytes, size_t len, struct msg_arena *arena, union msg_body *out, uint8_t **copy)
{
	*copy = obj_memdup(bytes, len);
	return msg_unpack_value(m, *copy, len, arena, out);
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct msg_arena arena;
	union msg_body body;
	uint8_t *copy;
	char text[256];

	msg_arena_init(&arena);
	assert_int_equal(unpack(r->type, r->bytes, r->len, &arena, &body, &copy), r->want != NULL);
	if (r->want != NULL) {
		msg_print(r->type, &body, false, text, sizeof(text));
		assert_string_equal(text, r->want);
	}
	free(copy);
	msg_arena_free(&arena);
}

/* ---- There and back ---- */

static const uint64_t numbers[] = {
	0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x10000, 0xffffffff, 0x100000000, INT64_MAX,
};
static const uint32_t lengths[] = { 0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536, 100000 };

/* Every beginning of it is refused; the whole is what was packed. Returns it, to be freed with *copy and *arena. */
static union msg_body
there_and_back(enum msg m, const union msg_body *body, struct msg_arena *arena, uint8_t **copy)
{
	msgpack_sbuffer packed;
	union msg_body back;

	msg_arena_init(arena);
	msgpack_sbuffer_init(&packed);
	msg_pack(&packed, m, body);
	for (size_t len = packed.size < 64 ? 0 : packed.size - 64; len < packed.size; len++) {
		size_t used;
		uint8_t *cut = obj_memdup(packed.data, len);

		assert_false(msg_unpack(m, cut, len, &used, arena, &back));
		free(cut);
	}
	assert_true(unpack(m, packed.data, packed.size, arena, &back, copy));
	msgpack_sbuffer_destroy(&packed);
	return back;
}

static void
numbers_return(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * NITEMS(numbers); i++) {
		const uint64_t n = numbers[i / 2];
		const int64_t signed_n = i % 2 == 0 ? (int64_t)n : -(int64_t)n - 1;
		const union msg_body body = { .sample = { .number = n, .sent_us = signed_n } };
		struct msg_arena arena;
		uint8_t *copy;

		const union msg_body back = there_and_back(MSG_SAMPLE, &body, &arena, &copy);
		assert_true(back.sample.number == n);
		assert_true(back.sample.sent_us == signed_n);
		free(copy);
		msg_arena_free(&arena);
	}
}

static void
texts_and_bytes_return(void **state)
{
	char *fill = obj_alloc(lengths[NITEMS(lengths) - 1] + 1);

	(void)state;
	memset(fill, 'x', lengths[NITEMS(lengths) - 1]);
	for (size_t i = 0; i < NITEMS(lengths); i++) {
		const union msg_body body = { .item = {
			.key = { .p = fill, .len = lengths[i] }, .version = 7, .gone = true,
			.value = { .p = (const uint8_t *)fill, .len = lengths[i] },
		} };
		struct msg_arena arena;
		uint8_t *copy;

		const union msg_body back = there_and_back(MSG_DELTA, &body, &arena, &copy);
		assert_int_equal(back.item.key.len, lengths[i]);
		assert_memory_equal(back.item.key.p, fill, lengths[i]);
		assert_int_equal(back.item.value.len, lengths[i]);
		assert_memory_equal(back.item.value.p, fill, lengths[i]);
		assert_int_equal(back.item.uid.len, 0);
		assert_true(back.item.gone && back.item.version == 7);
		free(copy);
		msg_arena_free(&arena);
	}
	free(fill);
}

static void
floats_return(void **state)
{
	static const double nums[] = { 0, -0.5, 1e300, 3 };
	const union msg_body body = { .stat = {
		.family = wire_str_of("family"), .value = 0.1, .buckets = { .p = nums, .len = NITEMS(nums) },
	} };
	struct msg_arena arena;
	uint8_t *copy;

	(void)state;
	const union msg_body back = there_and_back(MSG_STAT, &body, &arena, &copy);
	assert_memory_equal(&back.stat.value, &body.stat.value, sizeof(double));
	assert_int_equal(back.stat.buckets.len, NITEMS(nums));
	assert_memory_equal(back.stat.buckets.p, nums, sizeof(nums));
	free(copy);
	msg_arena_free(&arena);
}

int
main(void)
{
	static const struct CMUnitTest more[] = {
		cmocka_unit_test(numbers_return), cmocka_unit_test(texts_and_bytes_return), cmocka_unit_test(floats_return),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(more)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL, (void *)(uintptr_t)&rows[i] };
	memcpy(tests + NITEMS(rows), more, sizeof(more));
	return cmocka_run_group_tests_name("msg_wire", tests, NULL, NULL);
}
