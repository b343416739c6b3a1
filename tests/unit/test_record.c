/*
 * tests/unit/test_record.c - a stored value: written, compared, read back, without a byte of
 * a neighbour.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "record.h"

#define BIN(s)	{ .p = (const uint8_t *)(s), .len = sizeof(s) - 1 }
#define STR(s)	{ .p = (s), .len = sizeof(s) - 1 }
#define ITEM(uid_, rv_, value_, type_)	\
	{ .uid = STR(uid_), .rv = STR(rv_), .value = BIN(value_), .type = (type_) }
#define SAME	.uid = STR("uid-1"), .rv = STR("100"), .value = BIN("\0bytes"), .type = 0x101

static const struct body_item stored = {
	SAME, .version = 5, .trace = 6,
};

static const struct row {
	const char	*name;
	struct body_item item;
	bool		 uid, rv, value;	/* same as stored */
} rows[] = {
	{ "all the same",                                 ITEM("uid-1", "100", "\0bytes", 0x101),    true,  true,  true },
	{ "all empty",                                    { .type = 0x101 },                         false, false, false },
	{ "another uid of that length",                   ITEM("uid-2", "100", "\0bytes", 0x101),    false, true,  true },
	{ "a longer uid",                                 ITEM("uid-11", "00", "\0bytes", 0x101),    false, false, true },
	{ "the border moved: same bytes in all",          ITEM("uid-110", "0", "\0bytes", 0x101),    false, false, true },
	{ "another rv",                                   ITEM("uid-1", "101", "\0bytes", 0x101),    true,  false, true },
	{ "a value cut short",                            ITEM("uid-1", "100", "\0byte", 0x101),     true,  true,  false },
	{ "a difference behind a NUL",                    ITEM("uid-1", "100", "\0Bytes", 0x101),    true,  true,  false },
	{ "another type",                                 ITEM("uid-1", "100", "\0bytes", 0x102),    true,  true,  false },
	{ "a type that is the same in 16 bits only",      ITEM("uid-1", "100", "\0bytes", 0x10101),  true,  true,  false },
	{ "version and trace do not count",               { SAME, .version = 99, .trace = 99 },      true,  true,  true },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct record rec = { 0 };

	record_store(&rec, NULL, &stored);
	assert_int_equal(record_same_uid(&rec, &r->item), r->uid);
	assert_int_equal(record_same_rv(&rec, &r->item), r->rv);
	assert_int_equal(record_same_value(&rec, NULL, &r->item), r->value);
	record_clear(&rec, NULL);
}

static void
out_comes_what_went_in(void **state)
{
	struct record rec = { 0 };

	(void)state;
	record_store(&rec, NULL, &stored);
	const struct body_item got = record_item(&rec, NULL, NULL, "key", 3);
	assert_memory_equal(got.key.p, "key", 3);
	assert_int_equal(got.uid.len, 5);
	assert_memory_equal(got.uid.p, "uid-1", 5);
	assert_int_equal(got.rv.len, 3);
	assert_memory_equal(got.rv.p, "100", 3);
	assert_int_equal(got.value.len, 6);
	assert_memory_equal(got.value.p, "\0bytes", 6);
	assert_int_equal(got.type, 0x101);
	assert_int_equal(got.version, 5);
	assert_int_equal(got.trace, 6);
	assert_false(got.gone);
	assert_int_equal(record_bytes(&rec), 5 + 3 + 6 + 1);
	record_clear(&rec, NULL);
	assert_null(rec.blob);
	assert_int_equal(record_bytes(&rec), 0);
	record_clear(&rec, NULL);
}

/* Larger, smaller, empty: each replaces the one before, and the size is that of the new one. */
static void
replaced_by_any_size(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 100, 3, 70000, 0, 5 };
	uint8_t *bytes = obj_alloc(70000);
	struct record rec = { 0 };

	(void)state;
	for (size_t i = 0; i < NITEMS(sizes); i++) {
		memset(bytes, (int)i, 70000);
		const struct body_item item = { .value = { .p = bytes, .len = sizes[i] }, .version = i };

		record_store(&rec, NULL, &item);
		const struct body_item got = record_item(&rec, NULL, NULL, "k", 1);
		assert_int_equal(got.value.len, sizes[i]);
		assert_memory_equal(got.value.p, bytes, sizes[i]);
		assert_int_equal(got.uid.len, 0);
		assert_int_equal(record_bytes(&rec), sizes[i] + 1);
		assert_true(record_same_value(&rec, NULL, &item));
	}
	record_clear(&rec, NULL);
	free(bytes);
}

/* A value of three texts, as msgpack; the second one has that many bytes of 'c'. */
static struct wire_bin
texts(uint8_t *buf, uint8_t repeated)
{
	uint8_t *p = buf;

	*p++ = 0x93;
	*p++ = 0xa4;
	p = (uint8_t *)memcpy(p, "Node", 4) + 4;
	*p++ = 0xd9;
	*p++ = repeated;
	p = (uint8_t *)memset(p, 'c', repeated) + repeated;
	*p++ = 0xa0;
	return (struct wire_bin){ .p = buf, .len = (uint32_t)(p - buf) };
}

#define UUID	"0b8cbf9a-5d9e-4a53-8f5c-0123456789ab"

/* With a pool: what went in comes out, also after touches and replacements, and nothing stays behind. */
static void
with_a_pool_too(void **state)
{
	static const struct {
		const char *uid, *rv;
	} uids[] = {
		{ UUID, "100" }, { UUID, "101" }, { "0B8cbf9a-5d9e-4a53-8f5c-0123456789ab", "101" },
		{ "0b8cbf9a-5d9e-4a53-8f5c+0123456789ab", "" }, { "", "1" }, { UUID, "12345678901234567890" },
	};
	struct intern *pool = intern_new();
	struct msg_arena arena;
	struct record recs[NITEMS(uids)] = { 0 };
	uint8_t bytes[300], other[300];

	(void)state;
	msg_arena_init(&arena);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < NITEMS(uids); i++) {
			const struct body_item item = { .uid = wire_str_of(uids[i].uid),
				.rv = wire_str_of(uids[i].rv),
				.value = texts(bytes, (uint8_t)(round * 100 + 40)),
				.version = i, .trace = i + 1, .type = 0x101 };
			struct body_item touched = item, differs = item;

			record_store(&recs[i], pool, &item);
			touched.rv = wire_str_of("9");
			record_touch(&recs[i], &touched);
			assert_true(record_same_rv(&recs[i], &touched));
			record_touch(&recs[i], &item);
			const struct body_item got = record_item(&recs[i], pool, &arena, "k", 1);
			assert_true(wire_str_same(got.uid, item.uid) && wire_str_same(got.rv, item.rv));
			assert_int_equal(got.value.len, item.value.len);
			assert_memory_equal(got.value.p, item.value.p, item.value.len);
			assert_true(got.version == i && got.trace == i + 1 && got.type == 0x101);
			assert_true(record_same_uid(&recs[i], &item) && record_same_rv(&recs[i], &item));
			assert_true(record_same_value(&recs[i], pool, &item));
			differs.value = texts(other, (uint8_t)(round * 100 + 41));
			assert_false(record_same_value(&recs[i], pool, &differs));
			differs.uid = wire_str_of("0b8cbf9a-5d9e-4a53-8f5c-0123456789ac");
			assert_false(record_same_uid(&recs[i], &differs));
		}
		assert_true(record_bytes(&recs[NITEMS(uids) - 1]) < 16 + 20 + 20);
		msg_arena_reset(&arena);
	}
	for (size_t i = 0; i < NITEMS(uids); i++)
		record_clear(&recs[i], pool);
	assert_int_equal(intern_count(pool), 0);
	msg_arena_free(&arena);
	intern_free(&pool);
}

int
main(void)
{
	static const struct CMUnitTest whole[] = {
		cmocka_unit_test(out_comes_what_went_in), cmocka_unit_test(replaced_by_any_size),
		cmocka_unit_test(with_a_pool_too),
	};
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	const int failed = cmocka_run_group_tests_name("record", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("record, whole", whole, NULL, NULL);
}
