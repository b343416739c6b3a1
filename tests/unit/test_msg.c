/*
 * tests/unit/test_msg.c - codecs: every message packed and unpacked, and only the exact shape is accepted.
 *
 * Generated from messages.h like the codecs: a new message is tested as soon as it is in the schema.
 * `test_msg --write-corpus DIR` writes one seed per message and form for tests/fuzz/fuzz_frame.c.
 */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "envelope.h"
#include "obj.h"

/* Sizes at which the msgpack head changes, and one beyond. */
static const uint32_t lengths[] = { 0, 1, 31, 32, 255, 256, 65535, 65536 };
static const uint64_t numbers[] = { 0, 1, 127, 128, 255, 256, 65535, 65536, UINT32_MAX, 1ull << 32,
	INT64_MAX, UINT64_MAX };
static const int64_t integers[] = { 0, -1, -32, -33, -128, -129, -32769, INT32_MIN, INT64_MIN, 1,
	128, INT64_MAX };
static const double reals[] = { 0.0, -0.0, 1.5, -DBL_MAX, DBL_MIN, 4.9e-324, 1e300, __builtin_inf(),
	-__builtin_inf(), __builtin_nan("") };
static const uint32_t counts[] = { 0, 1, 15, 16, 300 };
enum { VARIANTS = 12 };

static uint32_t longest = 65536;
static uint8_t filler[65536];
static double many_reals[300];
/* What maps and lists of rows point into: many, none freed before the end. */
static msgpack_sbuffer texts[256];
static size_t ntexts;

/* ---- Sample values, and equality, per wire type ---- */

static uint32_t
sample_length(uint32_t variant)
{
	const uint32_t len = lengths[variant % NITEMS(lengths)];

	return len < longest ? len : longest;
}

static void
sample_str(uint32_t variant, wire_str *v)
{
	*v = (wire_str){ .p = (const char *)filler, .len = sample_length(variant) };
}

static void
sample_bin(uint32_t variant, wire_bin *v)
{
	*v = (wire_bin){ .p = filler, .len = sample_length(variant + 1) };
}

static void
sample_u64(uint32_t variant, wire_u64 *v)
{
	*v = numbers[variant % NITEMS(numbers)];
}

static void
sample_i64(uint32_t variant, wire_i64 *v)
{
	*v = integers[variant % NITEMS(integers)];
}

static void
sample_f64(uint32_t variant, wire_f64 *v)
{
	*v = reals[variant % NITEMS(reals)];
}

static void
sample_flag(uint32_t variant, wire_flag *v)
{
	*v = variant % 2 != 0;
}

static void
sample_nums(uint32_t variant, wire_nums *v)
{
	for (size_t i = 0; i < NITEMS(many_reals); i++)
		many_reals[i] = reals[i % NITEMS(reals)];
	*v = (wire_nums){ .p = many_reals, .len = counts[variant % NITEMS(counts)] };
}

static msgpack_sbuffer *
new_text(void)
{
	msgpack_sbuffer *b = &texts[ntexts++ % NITEMS(texts)];

	msgpack_sbuffer_destroy(b);
	msgpack_sbuffer_init(b);
	return b;
}

static void
sample_map(uint32_t variant, wire_map *v)
{
	msgpack_sbuffer *b = new_text();
	char key[16];

	*v = (wire_map){ 0 };
	for (uint32_t i = 0; i < counts[variant % NITEMS(counts)] && i < longest; i++) {
		wire_str value;

		sample_str(variant + i, &value);
		value.len %= 400;
		snprintf(key, sizeof(key), "key-%03u", i);
		map_put(b, v, wire_str_of(key), value);
	}
}

static void
sample_rows(uint32_t variant, wire_rows *v)
{
	const uint32_t columns = variant % ROWS_COLUMNS_MAX + 1;
	msgpack_sbuffer *b = new_text();
	wire_str cells[ROWS_COLUMNS_MAX];

	*v = (wire_rows){ 0 };
	for (uint32_t i = 0; i < counts[(variant + 1) % NITEMS(counts)] && i < longest; i++) {
		for (uint32_t c = 0; c < columns; c++) {
			sample_str(variant + i + c, &cells[c]);
			cells[c].len %= 40;
		}
		rows_put(b, v, cells, columns);
	}
}

static bool
same_map(wire_map a, wire_map b)
{
	return a.count == b.count && a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static bool
same_rows(wire_rows a, wire_rows b)
{
	return a.count == b.count && a.len == b.len && a.columns == b.columns
	    && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static bool
same_bin(wire_bin a, wire_bin b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static bool
same_str(wire_str a, wire_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/* By bits: a NaN and a minus zero must come through as they are. */
static bool
same_nums(wire_nums a, wire_nums b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len * sizeof(*a.p)) == 0);
}

static bool
same_f64(wire_f64 a, wire_f64 b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Types that differ only in what is shown of them. */
#define sample_resource	sample_str
#define sample_object	sample_str
#define sample_secret	sample_bin
#define sample_value	sample_bin
#define sample_number	sample_u64
#define same_resource	same_str
#define same_object	same_str
#define same_secret	same_bin
#define same_value	same_bin
#define same_number	same_u64
#define same_u64(a, b)	((a) == (b))
#define same_i64(a, b)	((a) == (b))
#define same_flag(a, b)	((a) == (b))

/* ---- The schema once more: sample, compare, and what each field is ---- */

enum type {
	TYPE_str,
	TYPE_bin,
	TYPE_u64,
	TYPE_i64,
	TYPE_f64,
	TYPE_flag,
	TYPE_nums,
	TYPE_map,
	TYPE_rows,
	TYPE_resource = TYPE_str,
	TYPE_object = TYPE_str,
	TYPE_secret = TYPE_bin,
	TYPE_value = TYPE_bin,
	TYPE_number = TYPE_u64
};

#define SAMPLE(type, name, ...)		sample_##type(variant++, &m->name);
#define SAME(type, name, ...)		&& same_##type(a->name, b->name)
#define FIELD_TYPE(type, name, ...)	TYPE_##type,
#define SCHEMA(body)									\
	static void									\
	sample_body_##body(uint32_t variant, union msg_body *any)			\
	{										\
		struct body_##body *m = &any->body;					\
		body##_FIELDS(SAMPLE)							\
	}										\
	static bool									\
	same_body_##body(const union msg_body *x, const union msg_body *y)		\
	{										\
		const struct body_##body *a = &x->body, *b = &y->body;			\
		return true body##_FIELDS(SAME);					\
	}										\
	static const enum type types_##body[] = { body##_FIELDS(FIELD_TYPE) };
BODIES(SCHEMA)

static const struct row {
	enum msg	  msg;
	const char	 *name;
	void		(*sample)(uint32_t, union msg_body *);
	bool		(*same)(const union msg_body *, const union msg_body *);
	const enum type	 *types;
	uint32_t	  ntypes;
} rows[] = {
#define ROW(ID, body, ...) {								\
		MSG_##ID, #ID, sample_body_##body, same_body_##body, types_##body, NITEMS(types_##body) },
	MESSAGES(ROW)
};

/* ---- Helpers ---- */

static void
pack(msgpack_sbuffer *out, const struct row *r, uint32_t variant)
{
	union msg_body body;

	msgpack_sbuffer_clear(out);
	r->sample(variant, &body);
	msg_pack(out, r->msg, &body);
}

/*
 * In memory of exactly that size, so that a sanitizer sees a read beyond it. As a value and as one
 * body of a frame: whatever is well-formed must be judged the same by both.
 */
static bool
unpacks(const struct row *r, const void *bytes, size_t len)
{
	struct msg_arena arena;
	struct scan_info info;
	union msg_body got;
	void *copy = obj_memdup(bytes, len);
	size_t used = 0;

	msg_arena_init(&arena);
	const bool ok = msg_unpack_value(r->msg, copy, len, &arena, &got);
	if (scan_frame(copy, len, &info) == SCAN_OK && info.top == 1) {
		assert_int_equal(msg_unpack(r->msg, copy, len, &used, &arena, &got), ok);
		assert_int_equal(used, ok ? len : 0);
	}
	msg_arena_free(&arena);
	free(copy);
	return ok;
}

/* Alternatives for a field: what it is on the wire, and which types of field it fits. */
static const struct alternative {
	const char	*name, *bytes;
	size_t		 len;
	uint32_t	 fits;		/* mask of enum type */
} alternatives[] = {
#define FITS(type)	(1u << TYPE_##type)
#define ALT(name, text, fits) { name, text, sizeof(text) - 1, fits }
	ALT("nil",             "\xc0", 0),
	ALT("true",            "\xc3", FITS(flag)),
	ALT("one",             "\x01", FITS(u64) | FITS(i64)),
	ALT("one as int64",    "\xd3\0\0\0\0\0\0\0\1", FITS(i64)),	/* no encoder writes u64 so */
	ALT("minus one",       "\xff", FITS(i64)),
	ALT("minus 2^63",      "\xd3\x80\0\0\0\0\0\0\0", FITS(i64)),
	ALT("2^63",            "\xcf\x80\0\0\0\0\0\0\0", FITS(u64)),
	ALT("float64",         "\xcb\x3f\xf0\0\0\0\0\0\0", FITS(f64)),
	ALT("float32",         "\xca\x3f\x80\0\0", 0),
	ALT("str",             "\xa2hi", FITS(str)),
	ALT("empty str",       "\xa0", FITS(str)),
	ALT("str with a NUL",  "\xa3h\0i", 0),
	ALT("str that is NUL", "\xa1\0", 0),
	ALT("bin",             "\xc4\2hi", FITS(bin)),
	ALT("bin with a NUL",  "\xc4\3h\0i", FITS(bin)),
	ALT("empty array",     "\x90", FITS(nums) | FITS(rows)),
	ALT("array of floats", "\x92\xcb\0\0\0\0\0\0\0\0\xcb\0\0\0\0\0\0\0\0", FITS(nums)),
	ALT("array of ints",   "\x92\1\2", 0),
	ALT("floats, one nil", "\x92\xcb\0\0\0\0\0\0\0\0\xc0", 0),
	ALT("map of numbers",  "\x81\1\2", 0),
	ALT("empty map",       "\x80", FITS(map)),
	ALT("empty map32",     "\xdf\0\0\0\0", FITS(map)),
	ALT("map",             "\x82\xa1" "a\xa1" "1\xa2" "aa\xa0", FITS(map)),
	ALT("a key twice",     "\x82\xa1" "a\xa1" "1\xa1" "a\xa1" "2", 0),
	ALT("keys descend",    "\x82\xa2" "aa\xa1" "1\xa1" "a\xa1" "2", 0),
	ALT("NUL in a key",    "\x81\xa2" "a\0\xa1" "1", 0),
	ALT("NUL in a value",  "\x81\xa1" "a\xa1\0", 0),
	ALT("value is bin",    "\x81\xa1" "a\xc4\1" "1", 0),
	ALT("value is a map",  "\x81\xa1" "a\x80", 0),
	ALT("rows",            "\x92\x92\xa1" "a\xa0\x92\xa0\xa1" "b", FITS(rows)),
	ALT("uneven rows",     "\x92\x92\xa1" "a\xa0\x91\xa1" "b", 0),
	ALT("row of nothing",  "\x91\x90", 0),
#define EMPTY_8	"\xa0\xa0\xa0\xa0\xa0\xa0\xa0\xa0"
	ALT("16 columns",      "\x91\xdc\0\x10" EMPTY_8 EMPTY_8, FITS(rows)),
	ALT("17 columns",      "\x91\xdc\0\x11" EMPTY_8 EMPTY_8 "\xa0", 0),
	ALT("row of numbers",  "\x91\x91\1", 0),
	ALT("row is a str",    "\x91\xa1" "a", 0),
};

/* The body with `fields` fields, field `which` (if there is one) replaced. */
static void
rebuild(msgpack_sbuffer *out, const msgpack_object *list, uint32_t fields, uint32_t which,
    const struct alternative *alt)
{
	msgpack_packer pk;

	msgpack_sbuffer_clear(out);
	msgpack_packer_init(&pk, out, msgpack_sbuffer_write);
	msgpack_pack_array(&pk, fields);
	for (uint32_t i = 0; i < fields; i++) {
		if (i == which)
			msgpack_sbuffer_write(out, alt->bytes, alt->len);
		else if (i < list->via.array.size)
			msgpack_pack_object(&pk, list->via.array.ptr[i]);
		else
			msgpack_pack_nil(&pk);
	}
}

/* ---- Tests, each for every message ---- */

static void
there_and_back(void **state)
{
	const struct row *r = *state;
	struct msg_arena arena;
	msgpack_sbuffer out;

	msg_arena_init(&arena);
	msgpack_sbuffer_init(&out);
	for (uint32_t v = 0; v < VARIANTS; v++) {
		union msg_body sent, got;
		size_t used = 0;

		r->sample(v, &sent);
		pack(&out, r, v);
		memset(&got, 0xee, sizeof(got));
		msg_arena_reset(&arena);
		assert_true(msg_unpack(r->msg, out.data, out.size, &used, &arena, &got));
		assert_int_equal(used, out.size);
		assert_true(r->same(&sent, &got));
	}
	msgpack_sbuffer_destroy(&out);
	msg_arena_free(&arena);
}

static void
exact_arity(void **state)
{
	const struct row *r = *state;
	msgpack_sbuffer out, bad;
	msgpack_unpacked u;

	msgpack_sbuffer_init(&out);
	msgpack_sbuffer_init(&bad);
	msgpack_unpacked_init(&u);
	pack(&out, r, 0);
	assert_int_equal(msgpack_unpack_next(&u, out.data, out.size, NULL), MSGPACK_UNPACK_SUCCESS);
	for (uint32_t fields = 0; fields < r->ntypes + 3; fields++) {
		rebuild(&bad, &u.data, fields, UINT32_MAX, NULL);
		assert_int_equal(unpacks(r, bad.data, bad.size), fields == r->ntypes);
	}
	msgpack_unpacked_destroy(&u);
	msgpack_sbuffer_destroy(&out);
	msgpack_sbuffer_destroy(&bad);
}

static void
exact_types(void **state)
{
	const struct row *r = *state;
	msgpack_sbuffer out, bad;
	msgpack_unpacked u;

	msgpack_sbuffer_init(&out);
	msgpack_sbuffer_init(&bad);
	msgpack_unpacked_init(&u);
	pack(&out, r, 1);
	assert_int_equal(msgpack_unpack_next(&u, out.data, out.size, NULL), MSGPACK_UNPACK_SUCCESS);
	for (uint32_t f = 0; f < r->ntypes; f++) {
		for (size_t a = 0; a < NITEMS(alternatives); a++) {
			const bool fits = (alternatives[a].fits >> r->types[f] & 1) != 0;

			rebuild(&bad, &u.data, r->ntypes, f, &alternatives[a]);
			if (unpacks(r, bad.data, bad.size) != fits)
				fail_msg("field %u: %s is %s", f, alternatives[a].name,
				    fits ? "refused" : "taken");
		}
	}
	msgpack_unpacked_destroy(&u);
	msgpack_sbuffer_destroy(&out);
	msgpack_sbuffer_destroy(&bad);
}

static void
nothing_but_the_body(void **state)
{
	const struct row *r = *state;
	msgpack_sbuffer out;

	msgpack_sbuffer_init(&out);
	pack(&out, r, 2);
	assert_true(unpacks(r, out.data, out.size));
	for (size_t len = 0; len < out.size; len += out.size / 500 + 1)
		assert_false(unpacks(r, out.data, len));
	assert_false(unpacks(r, out.data, out.size - 1));
	msgpack_sbuffer_write(&out, "\xc0", 1);		/* one object too many */
	assert_false(unpacks(r, out.data, out.size));
	assert_false(unpacks(r, "\xc0", 1));
	assert_false(unpacks(r, "\x81\xc0\xc0", 3));
	assert_false(unpacks(r, "\xdd\xff\0\0\0", 5));
	msgpack_sbuffer_destroy(&out);
}

/* ---- Seeds for the fuzzer: the first byte selects the form, see fuzz_frame.c ---- */

static void
write_file(const char *dir, const char *form, const char *name, uint8_t first, const msgpack_sbuffer *bytes)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s-%s", dir, form, name);
	FILE *f = fopen(path, "wb");
	if (f == NULL || fputc(first, f) == EOF
	    || fwrite(bytes->data, 1, bytes->size, f) != bytes->size || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

static void
write_corpus(const char *dir)
{
	msgpack_sbuffer out;

	longest = 40;
	msgpack_sbuffer_init(&out);
	for (size_t i = 0; i < NITEMS(rows); i++) {
		union msg_body body;

		rows[i].sample(9, &body);
		msgpack_sbuffer_clear(&out);
		msg_pack(&out, rows[i].msg, &body);
		write_file(dir, "value", rows[i].name, (uint8_t)(1 + rows[i].msg), &out);
		msgpack_sbuffer_clear(&out);
		frame_begin(&out,
		    &(struct envelope){
			.type = rows[i].msg, .epoch = 1ull << 32 | 1, .seq = 5, .trace = 7 });
		for (int n = 0; n < (msg_table[rows[i].msg].many ? 3 : 1); n++)
			msg_pack(&out, rows[i].msg, &body);
		write_file(dir, "frame", rows[i].name, 0, &out);
	}
	msgpack_sbuffer_destroy(&out);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		CMUnitTestFunction run;
	} checks[] = {
		{ "there and back", there_and_back }, { "exact arity", exact_arity }, { "exact types", exact_types },
		{ "nothing but the body", nothing_but_the_body },
	};
	static char names[NITEMS(rows) * NITEMS(checks)][64];
	struct CMUnitTest tests[NITEMS(rows) * NITEMS(checks)];
	size_t n = 0;

	memset(filler, 'x', sizeof(filler));
	if (argc == 3 && strcmp(argv[1], "--write-corpus") == 0) {
		write_corpus(argv[2]);
		return 0;
	}
	for (size_t i = 0; i < NITEMS(rows); i++) {
		for (size_t c = 0; c < NITEMS(checks); c++, n++) {
			snprintf(names[n], sizeof(names[n]), "%s: %s", rows[i].name, checks[c].name);
			tests[n] = (struct CMUnitTest){ names[n], checks[c].run, NULL, NULL,
				(void *)(uintptr_t)&rows[i] };
		}
	}
	return cmocka_run_group_tests_name("msg", tests, NULL, NULL);
}
