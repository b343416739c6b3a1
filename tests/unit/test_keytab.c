/* tests/unit/test_keytab.c - stable ids, reuse, churn against a naive model, memory by population. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/keytab.c"	/* NOLINT(bugprone-suspicious-include): places are static */
#include "obj.h"
#include "random.h"

static void
hash_is_fnv1a(void **state)
{
	static const struct {
		const char *text;
		uint64_t want;
	} rows[] = {	/* vectors of the FNV authors */
		{ "", 0xcbf29ce484222325u }, { "a", 0xaf63dc4c8601ec8cu }, { "foobar", 0x85944171f73967e8u },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(rows); i++)
		assert_int_equal(hash64(rows[i].text, strlen(rows[i].text)), rows[i].want);
	assert_int_equal(hash64_more(hash64("foo", 3), "bar", 3), hash64("foobar", 6));
}

static void
find_add_remove(void **state)
{
	struct keytab *k = keytab_new(0);
	bool added;
	size_t len = 0;

	(void)state;
	assert_int_equal(keytab_find(k, "a", 1), KEYTAB_NONE);
	const uint32_t a = keytab_add(k, "a", 1, &added);
	assert_true(added);
	assert_int_equal(keytab_add(k, "a", 1, &added), a);
	assert_false(added);
	const uint32_t empty = keytab_add(k, "", 0, NULL), nul = keytab_add(k, "a\0b", 3, NULL);
	assert_int_equal(keytab_find(k, "a\0b", 3), nul);
	assert_int_equal(keytab_find(k, "", 0), empty);
	assert_memory_equal(keytab_key(k, nul, &len), "a\0b", 4);
	assert_int_equal(len, 3);
	assert_int_equal(keytab_hash(k, a), hash64("a", 1));
	keytab_remove(k, a);
	assert_int_equal(keytab_find(k, "a", 1), KEYTAB_NONE);
	assert_null(keytab_key(k, a, NULL));
	assert_null(keytab_key(k, 12345, NULL));
	assert_int_equal(keytab_count(k), 2);
	assert_int_equal(keytab_add(k, "b", 1, NULL), a);	/* ids of removed keys are used again */
	assert_int_equal(keytab_ids(k), 3);
	keytab_free(&k);
	assert_null(k);
	keytab_free(&k);
}

/*
 * 300 possible keys, added and removed at random; ids must stay put and lookups must agree,
 * collisions included.
 */
static void
churn_agrees_with_a_plain_array(void **state)
{
	enum { KEYS = 300, STEPS = 200000 };
	uint32_t id_of[KEYS], live = 0;
	uint64_t random = 42;
	struct keytab *k = keytab_new(0);

	(void)state;
	memset(id_of, 0xff, sizeof(id_of));
	for (int step = 0; step < STEPS; step++) {
		const uint64_t which = random_below(&random, KEYS);
		char key[32];
		const size_t len = (size_t)snprintf(key, sizeof(key), "node/worker-%d", (int)which);

		assert_int_equal(keytab_find(k, key, len), id_of[which]);
		if (id_of[which] == KEYTAB_NONE && random_below(&random, 2) == 0) {
			id_of[which] = keytab_add(k, key, len, NULL);
			live++;
		} else if (id_of[which] != KEYTAB_NONE && random_below(&random, 2) == 0) {
			keytab_remove(k, id_of[which]);
			id_of[which] = KEYTAB_NONE;
			live--;
		}
		if (id_of[which] != KEYTAB_NONE)
			assert_string_equal(keytab_key(k, id_of[which], NULL), key);
		assert_int_equal(keytab_count(k), live);
	}
	assert_true(keytab_ids(k) <= KEYS);
	keytab_free(&k);
}

static void
memory_follows_the_largest_population(void **state)
{
	struct keytab *k = keytab_new(0);
	size_t after_first = 0;

	(void)state;
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 1000; i++) {
			char key[32];

			snprintf(key, sizeof(key), "r%02d-%04d", round, i);
			keytab_add(k, key, strlen(key), NULL);
		}
		for (uint32_t id = 0; id < keytab_ids(k); id++)
			keytab_remove(k, id);
		if (round == 0)
			after_first = keytab_bytes(k);
		assert_int_equal(keytab_bytes(k), after_first);
		assert_int_equal(keytab_ids(k), 1000);
	}
	keytab_free(&k);
}

static void
values_stay_with_their_keys(void **state)
{
	enum { KEYS = 100 };
	struct keytab *k = keytab_new(sizeof(uint64_t));
	uint32_t ids[KEYS];
	char key[32];

	(void)state;
	for (int i = 0; i < KEYS; i++) {
		snprintf(key, sizeof(key), "key-%d", i);
		ids[i] = keytab_add(k, key, strlen(key), NULL);
		assert_int_equal(*(uint64_t *)keytab_value(k, ids[i]), 0);
		*(uint64_t *)keytab_value(k, ids[i]) = (uint64_t)i + 1;
	}
	for (int i = 0; i < KEYS; i++)
		assert_int_equal(*(uint64_t *)keytab_value(k, ids[i]), i + 1);
	keytab_remove(k, ids[7]);
	assert_int_equal(keytab_add(k, "another", 7, NULL), ids[7]);
	assert_int_equal(*(uint64_t *)keytab_value(k, ids[7]), 0);
	assert_true(keytab_bytes(k) >= KEYS * sizeof(uint64_t));
	keytab_free(&k);
}

/*
 * Keys that somebody chose to be equal in the bits of the public hash that an index of this size would
 * use: their places differ, and nobody outside can choose them (issue 10.15).
 */
static void
keys_with_the_same_public_hash_have_places_of_their_own(void **state)
{
	enum { KEYS = 500, BITS = 0x3ff };
	struct keytab *k = keytab_new(0);
	size_t steps = 0;
	char key[32];

	(void)state;
	for (uint64_t i = 0; keytab_count(k) < KEYS; i++) {
		const size_t len = (size_t)snprintf(key, sizeof(key), "%llu", (unsigned long long)i);

		if ((hash64(key, len) & BITS) == 0)
			keytab_add(k, key, len, NULL);
	}
	assert_int_equal(k->index_size, BITS + 1);
	for (uint32_t id = 0; id < KEYS; id++)
		steps += (index_position(k, id) - k->slots[id].place) & (k->index_size - 1);
	assert_true(steps < KEYS * 20);		/* one is usual; it would be KEYS / 2 */
	keytab_free(&k);
}

static void
every_process_has_a_seed_of_its_own(void **state)
{
	const uint64_t before[2] = { seed[0], seed[1] };
	const uint32_t place = keytab_place("node/worker-1", 13);

	(void)state;
	set_seed();
	assert_memory_not_equal(before, seed, sizeof(seed));
	seed[0] = before[0];
	seed[1] = before[1];
	assert_int_equal(keytab_place("node/worker-1", 13), place);
}

/* The authors' key and messages (00 01 02 ...); the results are those of SipHash-1-3, low half. */
static void
places_are_siphash(void **state)
{
	static const struct {
		size_t		len;
		uint64_t	want;
	} rows[] = {
		{ 0, 0xabac0158050fc4dcu }, { 1, 0xc9f49bf37d57ca93u }, { 8, 0x369095118d299a8eu },
		{ 15, 0xd320d86d2a519956u },
	};
	const uint64_t before[2] = { seed[0], seed[1] };
	char message[16];

	(void)state;
	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (char)i;
	seed[0] = 0x0706050403020100u;
	seed[1] = 0x0f0e0d0c0b0a0908u;
	for (size_t i = 0; i < NITEMS(rows); i++)
		assert_int_equal(keytab_place(message, rows[i].len), (uint32_t)rows[i].want);
	memcpy(seed, before, sizeof(seed));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_stay_with_their_keys),
		cmocka_unit_test(keys_with_the_same_public_hash_have_places_of_their_own),
		cmocka_unit_test(every_process_has_a_seed_of_its_own),
		cmocka_unit_test(places_are_siphash),
		cmocka_unit_test(hash_is_fnv1a),
		cmocka_unit_test(find_add_remove),
		cmocka_unit_test(churn_agrees_with_a_plain_array),
		cmocka_unit_test(memory_follows_the_largest_population),
	};
	return cmocka_run_group_tests_name("keytab", tests, NULL, NULL);
}
