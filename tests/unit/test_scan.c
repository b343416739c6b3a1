/* tests/unit/test_scan.c - the pre-scan: every msgpack head, every wrong length, every limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "envelope.h"
#include "obj.h"
#include "scan.h"

#define BYTES(...)	(const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static const struct row {
	const char	 *name;
	const uint8_t	 *bytes;
	size_t		  len;
	enum scan_result  want;
	struct scan_info  info;
} rows[] = {
	{ "nothing",                   NULL, 0, SCAN_EMPTY, { 0 } },
	{ "positive fixint",           BYTES(0x7f), SCAN_OK, { 1, 1, 0 } },
	{ "negative fixint",           BYTES(0xe0), SCAN_OK, { 1, 1, 0 } },
	{ "nil",                       BYTES(0xc0), SCAN_OK, { 1, 1, 0 } },
	{ "false and true",            BYTES(0xc2, 0xc3), SCAN_OK, { 2, 2, 0 } },
	{ "uint8",                     BYTES(0xcc, 1), SCAN_OK, { 1, 1, 0 } },
	{ "uint16",                    BYTES(0xcd, 1, 2), SCAN_OK, { 1, 1, 0 } },
	{ "uint32",                    BYTES(0xce, 1, 2, 3, 4), SCAN_OK, { 1, 1, 0 } },
	{ "uint64",                    BYTES(0xcf, 1, 2, 3, 4, 5, 6, 7, 8), SCAN_OK, { 1, 1, 0 } },
	{ "int8",                      BYTES(0xd0, 1), SCAN_OK, { 1, 1, 0 } },
	{ "int16",                     BYTES(0xd1, 1, 2), SCAN_OK, { 1, 1, 0 } },
	{ "int32",                     BYTES(0xd2, 1, 2, 3, 4), SCAN_OK, { 1, 1, 0 } },
	{ "int64",                     BYTES(0xd3, 1, 2, 3, 4, 5, 6, 7, 8), SCAN_OK, { 1, 1, 0 } },
	{ "float32",                   BYTES(0xca, 1, 2, 3, 4), SCAN_OK, { 1, 1, 0 } },
	{ "float64",                   BYTES(0xcb, 1, 2, 3, 4, 5, 6, 7, 8), SCAN_OK, { 1, 1, 0 } },
	{ "fixstr",                    BYTES(0xa2, 'h', 'i'), SCAN_OK, { 1, 1, 0 } },
	{ "empty fixstr",              BYTES(0xa0), SCAN_OK, { 1, 1, 0 } },
	{ "str8",                      BYTES(0xd9, 2, 'h', 'i'), SCAN_OK, { 1, 1, 0 } },
	{ "str16",                     BYTES(0xda, 0, 2, 'h', 'i'), SCAN_OK, { 1, 1, 0 } },
	{ "str32",                     BYTES(0xdb, 0, 0, 0, 2, 'h', 'i'), SCAN_OK, { 1, 1, 0 } },
	{ "bin8",                      BYTES(0xc4, 2, 1, 2), SCAN_OK, { 1, 1, 0 } },
	{ "bin16",                     BYTES(0xc5, 0, 2, 1, 2), SCAN_OK, { 1, 1, 0 } },
	{ "bin32",                     BYTES(0xc6, 0, 0, 0, 2, 1, 2), SCAN_OK, { 1, 1, 0 } },
	{ "fixarray",                  BYTES(0x92, 1, 2), SCAN_OK, { 3, 1, 1 } },
	{ "empty fixarray",            BYTES(0x90), SCAN_OK, { 1, 1, 0 } },
	{ "array16",                   BYTES(0xdc, 0, 2, 1, 2), SCAN_OK, { 3, 1, 1 } },
	{ "array32",                   BYTES(0xdd, 0, 0, 0, 2, 1, 2), SCAN_OK, { 3, 1, 1 } },
	{ "fixmap",                    BYTES(0x81, 1, 2), SCAN_OK, { 3, 1, 1 } },
	{ "empty fixmap",              BYTES(0x80), SCAN_OK, { 1, 1, 0 } },
	{ "map16",                     BYTES(0xde, 0, 1, 1, 2), SCAN_OK, { 3, 1, 1 } },
	{ "map32",                     BYTES(0xdf, 0, 0, 0, 1, 1, 2), SCAN_OK, { 3, 1, 1 } },
	{ "nested, then beside it",    BYTES(0x92, 0x91, 1, 2, 3), SCAN_OK, { 5, 2, 2 } },
	{ "ends two levels at once",   BYTES(0x91, 0x91, 0x91, 0xc0, 0xc0), SCAN_OK, { 5, 2, 3 } },

	{ "never used",                BYTES(0xc1), SCAN_TYPE, { 0 } },
	{ "ext8",                      BYTES(0xc7, 1, 1, 1), SCAN_TYPE, { 0 } },
	{ "ext16",                     BYTES(0xc8, 0, 1, 1, 1), SCAN_TYPE, { 0 } },
	{ "ext32",                     BYTES(0xc9, 0, 0, 0, 1, 1, 1), SCAN_TYPE, { 0 } },
	{ "fixext1",                   BYTES(0xd4, 1, 1), SCAN_TYPE, { 0 } },
	{ "fixext2",                   BYTES(0xd5, 1, 1, 1), SCAN_TYPE, { 0 } },
	{ "fixext4",                   BYTES(0xd6, 1, 1, 1, 1, 1), SCAN_TYPE, { 0 } },
	{ "fixext8",                   BYTES(0xd7, 1, 1, 1, 1, 1, 1, 1, 1, 1), SCAN_TYPE, { 0 } },
	{ "fixext16",                  BYTES(0xd8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), SCAN_TYPE, { 0 } },
	{ "ext inside an array",       BYTES(0x91, 0xd4, 1, 1), SCAN_TYPE, { 0 } },

	{ "five bytes ask for 137 GB", BYTES(0xdd, 0xff, 0, 0, 0), SCAN_CUT, { 0 } },
	{ "array one short",           BYTES(0x93, 1, 2), SCAN_CUT, { 0 } },
	{ "map without a value",       BYTES(0x81, 1), SCAN_CUT, { 0 } },
	{ "map of 2^32-1 pairs",       BYTES(0xdf, 0xff, 0xff, 0xff, 0xff, 1), SCAN_CUT, { 0 } },
	{ "children in a later string", BYTES(0x92, 0xa1, 'x'), SCAN_CUT, { 0 } },
	{ "str longer than the frame", BYTES(0xa3, 'h', 'i'), SCAN_CUT, { 0 } },
	{ "str32 of 4 GB",             BYTES(0xdb, 0xff, 0xff, 0xff, 0xff, 'h'), SCAN_CUT, { 0 } },
	{ "bin32 of 4 GB",             BYTES(0xc6, 0xff, 0xff, 0xff, 0xff, 'h'), SCAN_CUT, { 0 } },
	{ "str8 without its length",   BYTES(0xd9), SCAN_CUT, { 0 } },
	{ "array32 with half a length", BYTES(0xdd, 0, 0), SCAN_CUT, { 0 } },
	{ "uint64 with half a value",  BYTES(0xcf, 0, 0, 0, 0), SCAN_CUT, { 0 } },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct scan_info info;

	assert_string_equal(scan_text(scan_frame(r->bytes, r->len, &info)), scan_text(r->want));
	if (r->want != SCAN_OK)
		return;
	assert_int_equal(info.objects, r->info.objects);
	assert_int_equal(info.top, r->info.top);
	assert_int_equal(info.depth, r->info.depth);
}

/* A real frame, cut at every byte: never well-formed, unless the cut falls between two bodies. */
static void
every_truncation(void **state)
{
	msgpack_sbuffer out;
	struct scan_info info;
	size_t ends[4], n = 0;

	(void)state;
	msgpack_sbuffer_init(&out);
	frame_begin(&out,
	    &(struct envelope){ .type = MSG_DELTA, .epoch = UINT64_MAX, .seq = 70000, .trace = 1 });
	ends[n++] = out.size;
	for (int i = 0; i < 3; i++) {
		const union msg_body body = { .item = {
			.key = wire_str_of("node/worker-1"), .uid = wire_str_of("0b7e"),
			.rv = wire_str_of("123"),
			.version = 1ull << (20 * i), .value = { .p = (const uint8_t *)"\1\2\3", .len = 3 },
		} };

		msg_pack(&out, MSG_DELTA, &body);
		ends[n++] = out.size;
	}
	for (size_t len = 0, end = 0; len <= out.size; len++) {
		/* An allocation of exactly that size: a sanitizer sees a read beyond it. */
		void *copy = obj_memdup(out.data, len);
		const enum scan_result got = scan_frame(copy, len, &info);

		free(copy);
		if (end < n && len == ends[end]) {
			assert_int_equal(got, SCAN_OK);
			assert_int_equal(info.top, ++end);
		} else {
			assert_int_equal(got, len == 0 ? SCAN_EMPTY : SCAN_CUT);
		}
	}
	msgpack_sbuffer_destroy(&out);
}

static void
depth_limit(void **state)
{
	uint8_t bytes[FRAME_MAX_DEPTH + 2];
	struct scan_info info;

	(void)state;
	memset(bytes, 0x91, sizeof(bytes));
	bytes[FRAME_MAX_DEPTH] = 0xc0;
	assert_int_equal(scan_frame(bytes, FRAME_MAX_DEPTH + 1, &info), SCAN_OK);
	assert_int_equal(info.depth, FRAME_MAX_DEPTH);
	bytes[FRAME_MAX_DEPTH] = 0x91;
	bytes[FRAME_MAX_DEPTH + 1] = 0xc0;
	assert_int_equal(scan_frame(bytes, FRAME_MAX_DEPTH + 2, &info), SCAN_DEEP);
}

/* Depth comes back when a container ends: many shallow ones in a row are not deep. */
static void
siblings_are_not_depth(void **state)
{
	uint8_t bytes[3000];
	struct scan_info info;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i += 3)
		memcpy(bytes + i, "\x91\x91\xc0", 3);
	assert_int_equal(scan_frame(bytes, sizeof(bytes), &info), SCAN_OK);
	assert_int_equal(info.depth, 2);
	assert_int_equal(info.top, 1000);
}

static void
object_limit(void **state)
{
	uint8_t *bytes = obj_alloc(FRAME_MAX_OBJECTS + 1);
	struct scan_info info;

	(void)state;
	assert_int_equal(scan_frame(bytes, FRAME_MAX_OBJECTS, &info), SCAN_OK);
	assert_int_equal(info.objects, FRAME_MAX_OBJECTS);
	assert_int_equal(scan_frame(bytes, FRAME_MAX_OBJECTS + 1, &info), SCAN_MANY);
	free(bytes);
}

static void
size_limit(void **state)
{
	uint8_t *bytes = obj_alloc(FRAME_MAX_BYTES + 1);
	struct scan_info info;

	(void)state;
	/* One string that fills the frame to its last byte. */
	memcpy(bytes, "\xdb\x00\x0f\xff\xfb", 5);
	assert_int_equal(scan_frame(bytes, FRAME_MAX_BYTES, &info), SCAN_OK);
	assert_int_equal(info.objects, 1);
	assert_int_equal(scan_frame(bytes, FRAME_MAX_BYTES + 1, &info), SCAN_TOO_BIG);
	free(bytes);
}

/* Any two bytes, alone and before a short tail: an answer, no crash, and msgpack agrees with an OK. */
static void
every_pair_of_bytes(void **state)
{
	(void)state;
	for (unsigned pair = 0; pair <= 0xffff; pair++) {
		const uint8_t bytes[] = { (uint8_t)(pair >> 8), (uint8_t)pair, 0x01, 0xa1, 'x', 0xc0 };
		struct scan_info info;

		for (size_t len = 1; len <= sizeof(bytes); len++) {
			if (scan_frame(bytes, len, &info) != SCAN_OK)
				continue;
			msgpack_unpacked u;
			size_t off = 0;
			uint32_t top = 0;

			msgpack_unpacked_init(&u);
			while (off < len) {
				const msgpack_unpack_return rc =
				    msgpack_unpack_next(&u, (const char *)bytes, len, &off);

				assert_int_equal(rc, MSGPACK_UNPACK_SUCCESS);
				top++;
			}
			assert_int_equal(top, info.top);
			msgpack_unpacked_destroy(&u);
		}
	}
}

static void
every_result_has_a_text(void **state)
{
	(void)state;
	for (unsigned r = 0; r < SCAN_MAX; r++)
		assert_string_not_equal(scan_text((enum scan_result)r), "?");
	assert_string_equal(scan_text(SCAN_MAX), "?");
}

int
main(void)
{
	static const struct CMUnitTest whole[] = {
		cmocka_unit_test(every_truncation), cmocka_unit_test(depth_limit),
		cmocka_unit_test(siblings_are_not_depth), cmocka_unit_test(object_limit),
		cmocka_unit_test(size_limit), cmocka_unit_test(every_pair_of_bytes),
		cmocka_unit_test(every_result_has_a_text),
	};
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	const int failed = cmocka_run_group_tests_name("scan", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("scan, whole frames", whole, NULL, NULL);
}
