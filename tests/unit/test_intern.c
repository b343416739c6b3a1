/*
 * tests/unit/test_intern.c - values come out as they went in, what repeats is stored once, and nothing
 * stays in the pool that no value refers to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "intern.h"
#include "obj.h"
#include "random.h"

/* A stored form of the caller's own. */
struct held {
	uint8_t	*stored;
	size_t	 stored_len, len;
};

static struct held
hold(struct intern *t, const void *value, size_t len)
{
	const struct wire_bin stored = intern_store(t, value, len);
	struct held h = { .stored_len = stored.len, .len = len };

	h.stored = obj_memdup(stored.p, stored.len);
	return h;
}

static void
drop(struct intern *t, struct held *h)
{
	intern_release(t, h->stored, h->stored_len);
	free(h->stored);
	*h = (struct held){ 0 };
}

static void
check(const struct intern *t, const struct held *h, const void *value, size_t len)
{
	uint8_t *const out = obj_alloc(h->len + 1);

	out[h->len] = 0x5a;
	intern_expand(t, h->stored, h->stored_len, out);
	assert_int_equal(h->len, len);
	assert_int_equal(out[h->len], 0x5a);
	assert_memory_equal(out, value, len);
	assert_true(intern_same(t, h->stored, h->stored_len, value, len));
	free(out);
}

#define BYTES(s)	(s), sizeof(s) - 1

static const struct row {
	const char	*name;
	const char	*value;
	size_t		 len;
	uint32_t	 spans;		/* in the pool once the value came twice */
	size_t		 second;	/* bytes of its second stored form */
} rows[] = {
	{ "nothing",                               BYTES(""),                                 0, 0 },
	{ "a text alone is the value itself",      BYTES("\xa6" "worker"),                   0, 8 },
	{ "a text in a list",                      BYTES("\x91\xa6" "worker"),              1, 4 },
	{ "a text too short for a reference",      BYTES("\x91\xa3" "yes"),                 0, 6 },
	{ "the same text twice in one value",      BYTES("\x92\xa6" "worker\xa6" "worker"), 1, 6 },
	{ "a list in a list is one span",          BYTES("\x91\x92\xa4" "True\xa4" "Node"), 1, 4 },
	{ "a map in a list is one span",           BYTES("\x91\x81\xa4" "zone\xa4" "east"), 1, 4 },
	{ "numbers are not spans of their own",    BYTES("\x92\x01\xcd\x01\x02"),        0, 6 },
	{ "no msgpack: more follows",              BYTES("\xa1" "aworker"),                  0, 9 },
	{ "no msgpack: a reserved type",           BYTES("\x91\xc1worker"),                 0, 9 },
	{ "no msgpack: cut off",                   BYTES("\x92\xa6" "worker"),              0, 9 },
	{ "no msgpack: a count beyond the bytes",  BYTES("\xdd\xff\xff\xff\xff" "worker"), 0, 12 },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct intern *t = intern_new();
	struct held first = hold(t, r->value, r->len), second = hold(t, r->value, r->len);

	check(t, &first, r->value, r->len);
	check(t, &second, r->value, r->len);
	assert_int_equal(intern_count(t), r->spans);
	assert_int_equal(second.stored_len, r->second);
	drop(t, &first);
	check(t, &second, r->value, r->len);
	drop(t, &second);
	assert_int_equal(intern_count(t), 0);
	intern_free(&t);
	assert_null(t);
	intern_free(&t);
}

/* A difference is found wherever it is: in a literal, in a span, at the end, in the length. */
static void
what_differs_is_not_the_same(void **state)
{
	static const char value[] = "\x93\xa6" "worker\xa4" "zone\x07";
	const size_t len = sizeof(value) - 1;
	struct intern *t = intern_new();
	struct held a = hold(t, value, len), b = hold(t, value, len);
	char other[sizeof(value)];

	(void)state;
	for (size_t i = 0; i < len; i++) {
		memcpy(other, value, sizeof(value));
		other[i] ^= 1;
		assert_false(intern_same(t, a.stored, a.stored_len, other, len));
		assert_false(intern_same(t, b.stored, b.stored_len, other, len));
	}
	assert_false(intern_same(t, b.stored, b.stored_len, value, len - 1));
	assert_false(intern_same(t, b.stored, b.stored_len, value, len + 1));
	drop(t, &a);
	drop(t, &b);
	intern_free(&t);
}

/* One msgpack object of random shape, of few texts, so that many repeat; the bytes written. */
static size_t
random_object(uint64_t *seed, uint8_t *p, unsigned depth)
{
	const uint32_t what = depth == 0 ? 4 : (uint32_t)random_below(seed, depth > 3 ? 4 : 6);
	const uint32_t n = (uint32_t)random_below(seed, depth == 0 ? 10 : 5);
	size_t at = 0;

	switch (what) {
	case 0:
		p[at++] = (uint8_t)random_below(seed, 128);
		return at;
	case 1:
		at += (size_t)sprintf((char *)p, "%c%c%016d", 0xd9, 17, (int)random_below(seed, 100000)) - 1;
		p[at++] = 'x';
		p[at++] = 'y';
		return at;
	case 2:
	case 3:
		p[at++] = (uint8_t)(0xa0 | (n + 4));
		memset(p + at, 'a' + (int)random_below(seed, 4), n + 4);
		return at + n + 4;
	case 4:
		p[at++] = (uint8_t)(0x90 | n);
		for (uint32_t i = 0; i < n; i++)
			at += random_object(seed, p + at, depth + 1);
		return at;
	default:
		p[at++] = (uint8_t)(0x80 | n);
		for (uint32_t i = 0; i < 2 * n; i++)
			at += random_object(seed, p + at, depth + 1);
		return at;
	}
}

/* Random values come and go; in the end the pool is empty. */
static void
random_values(void **state)
{
	enum { HELD = 64, STEPS = 30000, SIZE = 1 << 16 };
	struct intern *t = intern_new();
	struct held held[HELD] = { 0 };
	uint8_t *values[HELD] = { 0 };
	uint8_t *const bytes = obj_alloc(SIZE);
	uint64_t seed = 11;
	uint32_t most = 0;

	(void)state;
	for (int step = 0; step < STEPS; step++) {
		const size_t i = (size_t)random_below(&seed, HELD);

		if (values[i] != NULL) {
			check(t, &held[i], values[i], held[i].len);
			drop(t, &held[i]);
			free(values[i]);
		}
		size_t len = random_object(&seed, bytes, 0);
		assert_true(len < SIZE);
		if (random_below(&seed, 50) == 0)
			len /= 2;		/* no msgpack any more, mostly */
		values[i] = obj_memdup(bytes, len);
		held[i] = hold(t, bytes, len);
		assert_true(held[i].stored_len <= len + len / 128 + 1);
		check(t, &held[i], values[i], len);
		most = intern_count(t) > most ? intern_count(t) : most;
	}
	assert_true(most > HELD);
	for (size_t i = 0; i < HELD; i++) {
		drop(t, &held[i]);
		free(values[i]);
	}
	assert_int_equal(intern_count(t), 0);
	free(bytes);
	intern_free(&t);
}

/* Beyond the largest number of spans, what repeats is stored where it stands, and comes out all the same. */
static void
a_full_pool_stores_literals(void **state)
{
	enum { TEXTS = INTERN_SPANS_MAX + 100 };
	struct intern *t = intern_new();
	struct held *held = obj_alloc(2 * TEXTS * sizeof(*held));
	char value[16];

	(void)state;
	for (int i = 0; i < 2 * TEXTS; i++) {
		const int len = snprintf(value, sizeof(value), "\x91\xa8%08d", i / 2);

		held[i] = hold(t, value, (size_t)len);
	}
	assert_int_equal(intern_count(t), INTERN_SPANS_MAX);
	assert_int_equal(held[1].stored_len, 4);
	assert_int_equal(held[2 * TEXTS - 1].stored_len, 11);
	for (int i = 0; i < 2 * TEXTS; i++) {
		const int len = snprintf(value, sizeof(value), "\x91\xa8%08d", i / 2);

		check(t, &held[i], value, (size_t)len);
		drop(t, &held[i]);
	}
	assert_int_equal(intern_count(t), 0);
	free(held);
	intern_free(&t);
}

int
main(void)
{
	static const struct CMUnitTest whole[] = {
		cmocka_unit_test(what_differs_is_not_the_same), cmocka_unit_test(random_values),
		cmocka_unit_test(a_full_pool_stores_literals),
	};
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	const int failed = cmocka_run_group_tests_name("intern", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("intern, whole", whole, NULL, NULL);
}
