/* tests/unit/test_keytab.c - stable ids, reuse, churn against a naive model, memory by population. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "keytab.h"
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
	struct keytab *k = keytab_new();
	bool added;
	size_t len;

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
	uint64_t seed = 42;
	struct keytab *k = keytab_new();

	(void)state;
	memset(id_of, 0xff, sizeof(id_of));
	for (int step = 0; step < STEPS; step++) {
		const uint64_t which = random_below(&seed, KEYS);
		char key[32];
		const size_t len = (size_t)snprintf(key, sizeof(key), "node/worker-%d", (int)which);

		assert_int_equal(keytab_find(k, key, len), id_of[which]);
		if (id_of[which] == KEYTAB_NONE && random_below(&seed, 2) == 0) {
			id_of[which] = keytab_add(k, key, len, NULL);
			live++;
		} else if (id_of[which] != KEYTAB_NONE && random_below(&seed, 2) == 0) {
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
	struct keytab *k = keytab_new();
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

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(hash_is_fnv1a),
		cmocka_unit_test(find_add_remove),
		cmocka_unit_test(churn_agrees_with_a_plain_array),
		cmocka_unit_test(memory_follows_the_largest_population),
	};
	return cmocka_run_group_tests_name("keytab", tests, NULL, NULL);
}
