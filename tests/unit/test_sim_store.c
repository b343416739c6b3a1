/*
 * tests/unit/test_sim_store.c - objects, versions and the past: random histories against a model
 * that keeps every state whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "random.h"
#include "sim/kube/discovery/sim_registry.h"
#include "sim/kube/store/sim_store.h"

enum { KEYS = 12, STEPS = 200, HISTORIES = 30 };

/* What there was at each version: the version of each key's object, 0 where there was none. */
struct model {
	uint64_t	at[STEPS + 1][KEYS];
};

struct seen {
	size_t			changes;
	struct sim_change	last;
};

static void
note(const struct sim_change *c, void *arg)
{
	struct seen *const s = arg;

	s->changes++;
	s->last = *c;
}

/* Namespaces "a", "a-b" and "b": where a slash and a dash sort matters. */
static void
name_of(size_t key, char *ns, char *name, size_t size)
{
	static const char *const spaces[] = { "a", "a-b", "b" };

	snprintf(ns, size, "%s", spaces[key % NITEMS(spaces)]);
	snprintf(name, size, "n%zu", key);
}

static json_t *
object_of(size_t key, uint64_t step)
{
	char ns[16], name[16];

	name_of(key, ns, name, sizeof(ns));
	return json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:{s:o}}", "apiVersion", "v1", "kind",
	    "ConfigMap", "metadata", "name", name, "namespace", ns, "resourceVersion", "ignored",
	    "data", "step", json_sprintf("%llu", (unsigned long long)step));
}

static size_t
key_of(const struct sim_blob *b)
{
	return strtoul(sim_blob_name(b) + 1, NULL, 10);
}

/* The snapshot is the model's row, in order of keys, and of that namespace alone. */
static void
check_snapshot(
    const struct sim_store *s, const struct sim_storage *st, const char *ns, uint64_t rv, const uint64_t *row)
{
	struct sim_snapshot *snap = sim_store_snapshot(s, st, ns, rv);
	size_t wanted = 0;
	char in[16], name[16];

	assert_non_null(snap);
	assert_int_equal(snap->rv, rv);
	for (size_t i = 0; i < snap->n; i++) {
		assert_int_equal(snap->objects[i]->rv, row[key_of(snap->objects[i])]);
		if (i > 0)
			assert_true(strcmp(sim_blob_key(snap->objects[i - 1]),
			    sim_blob_key(snap->objects[i])) < 0);
	}
	for (size_t key = 0; key < KEYS; key++) {
		name_of(key, in, name, sizeof(in));
		wanted += row[key] != 0 && (ns[0] == '\0' || strcmp(ns, in) == 0);
	}
	assert_int_equal(snap->n, wanted);
	sim_snapshot_free(&snap);
}

static void
the_past_is_what_it_was(void **state)
{
	static const char *const spaces[] = { "", "a", "a-b", "b", "c" };
	uint64_t seed = 5;

	(void)state;
	for (int history = 0; history < HISTORIES; history++) {
		struct seen seen = { 0 };
		struct sim_store *s = sim_store_new(note, &seen);
		struct sim_registry *g = sim_registry_new(s);
		struct sim_storage *const st = sim_store_storage(s, "", "configmaps");
		struct model *const m = obj_alloc(sizeof(*m));
		uint64_t rv = 0;

		for (uint64_t step = 0; step < STEPS && rv < STEPS; step++) {
			const size_t key = random_below(&seed, KEYS);
			char full[40], ns[16], name[16];

			name_of(key, ns, name, sizeof(ns));
			snprintf(full, sizeof(full), "%s/%s", ns, name);
			const bool there = sim_storage_get(st, full) != NULL;
			if (random_below(&seed, 3) == 0) {
				assert_int_equal(sim_store_remove(s, st, full) != 0, there);
				if (!there)
					continue;
			} else {
				json_t *const object = object_of(key, step);
				assert_int_equal(sim_store_put(s, st, object)->rv, rv + 1);
				json_decref(object);
			}
			rv++;
			memcpy(m->at[rv], m->at[rv - 1], sizeof(m->at[0]));
			m->at[rv][key] = sim_storage_get(st, full) != NULL ? rv : 0;
			assert_int_equal(s->rv, rv);
			assert_int_equal(seen.changes, rv);
			assert_int_equal(seen.last.before != NULL, there);
		}
		for (uint64_t at = 1; at <= rv; at++)
			check_snapshot(s, st, spaces[random_below(&seed, NITEMS(spaces))], at, m->at[at]);
		assert_null(sim_store_snapshot(s, st, "", rv + 1));
		sim_history_forget_all(&s->history);
		assert_null(sim_store_snapshot(s, st, "", rv - 1));
		check_snapshot(s, st, "", rv, m->at[rv]);
		free(m);
		sim_registry_free(&g);
		sim_store_free(&s);
	}
}

/* The window forgets by count, oldest first, and never the newest. */
static void
the_window_is_bounded(void **state)
{
	struct seen seen = { 0 };
	struct sim_store *s = sim_store_new(note, &seen);
	struct sim_registry *g = sim_registry_new(s);
	struct sim_storage *const st = sim_store_storage(s, "", "configmaps");
	const struct sim_history *const h = &s->history;

	(void)state;
	for (uint64_t i = 0; i < HISTORY_MAX + 10; i++) {
		json_t *const object = object_of(0, i);
		sim_store_put(s, st, object);
		json_decref(object);
	}
	assert_int_equal(h->n, HISTORY_MAX);
	assert_int_equal(h->forgotten, 10);
	assert_null(sim_history_get(h, 10));
	assert_int_equal(sim_history_get(h, 11)->rv, 11);
	assert_int_equal(sim_history_get(h, HISTORY_MAX + 10)->rv, HISTORY_MAX + 10);
	assert_null(sim_history_get(h, HISTORY_MAX + 11));
	sim_registry_free(&g);
	sim_store_free(&s);
}

/* And by age, but for the last hundred (issue 10.16). */
static void
an_old_change_is_forgotten(void **state)
{
	struct sim_history h = { 0 };

	(void)state;
	for (uint64_t rv = 1; rv <= 3 * HISTORY_MIN; rv++)
		sim_history_add(&h, (struct sim_change){ .rv = rv, .at_ms = (int64_t)rv });
	assert_int_equal(h.forgotten, 0);
	sim_history_expire(&h, HISTORY_AGE_MAX_MS + 50);
	assert_int_equal(h.forgotten, 49);
	sim_history_add(&h, (struct sim_change){ .rv = 301, .at_ms = HISTORY_AGE_MAX_MS + 100 });
	assert_int_equal(h.forgotten, 99);
	sim_history_expire(&h, INT64_MAX);
	assert_int_equal(h.n, HISTORY_MIN);
	assert_null(sim_history_get(&h, 201));
	assert_int_equal(sim_history_get(&h, 202)->rv, 202);
	sim_history_free(&h);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_past_is_what_it_was),
		cmocka_unit_test(the_window_is_bounded),
		cmocka_unit_test(an_old_change_is_forgotten),
	};

	return cmocka_run_group_tests_name("sim_store", tests, NULL, NULL);
}
