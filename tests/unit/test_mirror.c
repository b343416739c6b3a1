/*
 * tests/unit/test_mirror.c - the consumer's copy: which changes a handler gets, and that nothing is
 * emptied to be filled again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "keytab.h"
#include "mirror.h"
#include "obj.h"
#include "random.h"
#include "link_store.h"

/* The changes, as text: "+a" added, "~a" updated, "-a" gone, each with the value that came with it. */
struct changes {
	struct mirror	*m;
	char		 text[512];
};

static bool holds(struct mirror *, struct wire_str);

/* Every row and walk runs without a pool, and again with one. */
static struct intern *pool;

static struct mirror *
new_mirror(void)
{
	struct mirror *const m = mirror_new();

	if (pool != NULL)
		mirror_intern(m, pool);
	return m;
}

static void
record_change(enum mirror_change kind, const struct body_item *item, void *arg)
{
	static const char signs[] = { [MIRROR_ADDED] = '+', [MIRROR_UPDATED] = '~', [MIRROR_GONE] = '-' };
	struct changes *h = arg;
	const size_t at = strlen(h->text);

	snprintf(h->text + at, sizeof(h->text) - at, "%s%c%.*s=%.*s", at > 0 ? " " : "",
	    signs[kind], (int)item->key.len, item->key.p, (int)item->value.len,
	    (const char *)item->value.p);
	assert_int_equal(item->gone, kind == MIRROR_GONE);
	/* A handler that reads the mirror finds the change in it. */
	assert_int_equal(holds(h->m, item->key), kind != MIRROR_GONE);
}

enum op { OP_END, OP_BEGIN, OP_ITEM, OP_GONE, OP_SWEEP, OP_CLEAR };

struct step {
	enum op		 op;
	const char	*key, *uid, *rv, *value;
	uint64_t	 version;
	const char	*changes;
};

#define BEGIN			{ .op = OP_BEGIN, .changes = "" }
#define ITEM(k, u, r, v, n, h)							\
	{ .op = OP_ITEM, .key = (k), .uid = (u), .rv = (r), .value = (v), .version = (n), .changes = (h) }
#define GONE(k, h)		{ .op = OP_GONE, .key = (k), .changes = (h) }
#define SWEEP(h)		{ .op = OP_SWEEP, .changes = (h) }
#define CLEAR(h)		{ .op = OP_CLEAR, .changes = (h) }

static const struct row {
	const char	*name;
	struct step	 steps[16];
	const char	*left;		/* in the end: "a@uid/rv=value", by key */
} rows[] = {
	{ "a first snapshot",
	    { BEGIN, ITEM("a", "u1", "1", "x", 1, "+a=x"), ITEM("b", "u2", "2", "y", 2, "+b=y"),
		SWEEP("") },
	    "a@u1/1=x b@u2/2=y" },
	{ "a delta changes bytes",
	    { BEGIN, ITEM("a", "u1", "1", "x", 1, "+a=x"), SWEEP(""),
		ITEM("a", "u1", "2", "y", 2, "~a=y") },
	    "a@u1/2=y" },
	{ "a delta with the same bytes is no change, but is kept",
	    { BEGIN, ITEM("a", "u1", "1", "x", 1, "+a=x"), SWEEP(""),
		ITEM("a", "u1", "2", "x", 2, "") },
	    "a@u1/2=x" },
	{ "another uid is gone, then added",
	    { BEGIN, ITEM("a", "u1", "1", "x", 1, "+a=x"), SWEEP(""),
		ITEM("a", "u2", "2", "y", 2, "-a=x +a=y") },
	    "a@u2/2=y" },
	{ "even with the same bytes",
	    { BEGIN, ITEM("a", "u1", "1", "x", 1, "+a=x"), SWEEP(""),
		ITEM("a", "u2", "2", "x", 2, "-a=x +a=x") },
	    "a@u2/2=x" },
	{ "gone has the last value",
	    { BEGIN, ITEM("a", "u1", "1", "x", 1, "+a=x"), SWEEP(""), GONE("a", "-a=x") }, "" },
	{ "gone of what is not there", { BEGIN, SWEEP(""), GONE("a", "") }, "" },
	{ "an empty value",
	    { BEGIN, ITEM("a", "", "", "", 1, "+a="), SWEEP(""), ITEM("a", "", "", "x", 2, "~a=x"),
		ITEM("a", "", "", "", 3, "~a=") },
	    "a@/=" },
	{ "a second snapshot sweeps what it does not name",
	    { BEGIN, ITEM("a", "u1", "1", "x", 1, "+a=x"), ITEM("b", "u2", "2", "y", 2, "+b=y"),
		SWEEP(""), BEGIN, ITEM("b", "u2", "2", "y", 9, ""), SWEEP("-a=x") },
	    "b@u2/2=y" },
	{ "nothing is gone before its end",
	    { BEGIN, ITEM("a", "u1", "1", "x", 1, "+a=x"), SWEEP(""), BEGIN,
		ITEM("b", "u2", "2", "y", 2, "+b=y") },
	    "a@u1/1=x b@u2/2=y" },
	{ "a snapshot broken off changes nothing for the next",
	    { BEGIN, ITEM("a", "u1", "1", "x", 1, "+a=x"), ITEM("b", "", "", "y", 2, "+b=y"),
		SWEEP(""), BEGIN, ITEM("a", "u1", "1", "x", 3, ""), BEGIN,
		ITEM("b", "", "", "y", 4, ""), SWEEP("-a=x") },
	    "b@/=y" },
	{ "a snapshot may be empty",
	    { BEGIN, ITEM("a", "", "", "x", 1, "+a=x"), SWEEP(""), BEGIN, SWEEP("-a=x") }, "" },
	{ "what deltas added is swept, too",
	    { BEGIN, SWEEP(""), ITEM("a", "", "", "x", 1, "+a=x"), BEGIN, SWEEP("-a=x") }, "" },
	{ "cleared at last",
	    { BEGIN, ITEM("a", "", "", "x", 1, "+a=x"), SWEEP(""), CLEAR("-a=x"), CLEAR("") }, "" },
};

static struct body_item
item_of(const struct step *s)
{
	const struct body_item item = {
		.key = wire_str_of(s->key), .version = s->version, .type = msg_table[MSG_STAT].number,
		.gone = s->op == OP_GONE,
	};

	if (s->op == OP_GONE)
		return item;
	struct body_item full = item;
	full.uid = wire_str_of(s->uid);
	full.rv = wire_str_of(s->rv);
	full.value = (struct wire_bin){ .p = (const uint8_t *)s->value, .len = (uint32_t)strlen(s->value) };
	return full;
}

/* Copies into a sorted list of at most two keys; that is all the rows have. */
struct list {
	char	 rows[4][64];
	size_t	 n;
	uint64_t hash;
};

static void
collect(enum mirror_change kind, const struct body_item *item, void *arg)
{
	struct list *l = arg;

	(void)kind;
	l->hash ^= link_store_item_hash(hash64(item->key.p, item->key.len), item->version);
	snprintf(l->rows[l->n++], sizeof(l->rows[0]), "%.*s@%.*s/%.*s=%.*s", (int)item->key.len, item->key.p,
	    (int)item->uid.len, item->uid.p, (int)item->rv.len, item->rv.p, (int)item->value.len,
	    (const char *)item->value.p);
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct changes h = { .m = new_mirror() };
	struct list l = { .n = 0 };
	char left[256] = "";

	for (const struct step *s = r->steps; s->op != OP_END; s++) {
		h.text[0] = '\0';
		if (s->op == OP_BEGIN) {
			mirror_begin(h.m);
		} else if (s->op == OP_SWEEP) {
			mirror_sweep(h.m, record_change, &h);
		} else if (s->op == OP_CLEAR) {
			mirror_clear(h.m, record_change, &h);
		} else {
			const struct body_item item = item_of(s);

			mirror_apply(h.m, &item, record_change, &h);
		}
		assert_string_equal(h.text, s->changes);
	}
	mirror_each(h.m, collect, &l);
	assert_int_equal(mirror_count(h.m), l.n);
	assert_int_equal(mirror_hash(h.m), l.hash);
	qsort(l.rows, l.n, sizeof(l.rows[0]), by_text);
	for (size_t i = 0; i < l.n; i++)
		snprintf(left + strlen(left), sizeof(left) - strlen(left), "%s%s", i > 0 ? " " : "",
		    l.rows[i]);
	assert_string_equal(left, r->left);
	mirror_free(&h.m);
	assert_null(h.m);
	mirror_free(&h.m);
}

struct search {
	struct wire_str	key;
	bool		found;
};

static void
compare_key(enum mirror_change kind, const struct body_item *item, void *arg)
{
	struct search *s = arg;

	(void)kind;
	if (item->key.len == s->key.len && memcmp(item->key.p, s->key.p, s->key.len) == 0)
		s->found = true;
}

static bool
holds(struct mirror *m, struct wire_str key)
{
	struct search s = { .key = key };
	struct body_item item;

	mirror_each(m, compare_key, &s);
	assert_int_equal(mirror_get(m, key, &item), s.found);
	if (s.found)
		assert_int_equal(wire_str_compare(item.key, key), 0);
	return s.found;
}

static void
count_one(enum mirror_change kind, const struct body_item *item, void *arg)
{
	int *kinds = arg;

	(void)item;
	kinds[kind]++;
}

/*
 * A link store and a mirror fed from it agree on count and hash, whichever single keys are read in
 * between (the answers to writes); and memory follows the largest population.
 */
static void
agrees_with_a_link_store(void **state)
{
	enum { KEYS = 40, STEPS = 20000 };
	struct link_store *v = link_store_new();
	if (pool != NULL)
		link_store_intern(v, pool);
	struct mirror *m = new_mirror();
	const int slot = link_store_attach(v);
	uint64_t seed = 7, seq = 0;
	int kinds[3] = { 0, 0, 0 };
	size_t most = 0;

	(void)state;
	mirror_begin(m);
	mirror_sweep(m, count_one, kinds);
	for (int step = 0; step < STEPS; step++) {
		link_store_release(v);
		struct body_item items[8];
		char key[64], uid[16], value[32];
		bool changed;
		uint32_t n;

		snprintf(key, sizeof(key), "node/worker-%d", (int)random_below(&seed, KEYS));
		snprintf(uid, sizeof(uid), "u%d", (int)random_below(&seed, 2));
		snprintf(value, sizeof(value), "%d", (int)random_below(&seed, 3));
		const struct wire_bin bytes = { .p = (const uint8_t *)value, .len = (uint32_t)strlen(value) };
		if (random_below(&seed, 3) == 0)
			link_store_remove(v, wire_str_of(key), 0);
		else if (random_below(&seed, 4) == 0)
			link_store_force(v, wire_str_of(key), wire_str_of(uid), wire_str_of("2"),
			    MSG_STAT, bytes, 0);
		else
			link_store_set(v, wire_str_of(key), wire_str_of(uid), wire_str_of("1"),
			    MSG_STAT, bytes, 0, &changed);
		if (random_below(&seed, 3) == 0 && link_store_read_now(v, slot, wire_str_of(key), &items[0]))
			mirror_apply(m, &items[0], count_one, kinds);
		if (random_below(&seed, 4) != 0)
			continue;
		const uint32_t keys = link_store_peek(v, slot, 8, items, &n);
		for (uint32_t i = 0; i < n; i++)
			mirror_apply(m, &items[i], count_one, kinds);
		link_store_commit(v, slot, keys, seq + 1);
		seq += n;
		link_store_acked(v, slot, seq);
		if (link_store_pending(v, slot) == 0) {
			assert_int_equal(mirror_count(m), link_store_count(v));
			assert_int_equal(mirror_hash(m), link_store_hash(v));
		}
		most = mirror_bytes(m) > most ? mirror_bytes(m) : most;
	}
	assert_int_equal(kinds[MIRROR_ADDED] - kinds[MIRROR_GONE], mirror_count(m));
	assert_true(most < 32 * 1024);
	if (pool != NULL)
		assert_true(intern_count(pool) < 2 * KEYS);
	mirror_clear(m, count_one, kinds);
	assert_int_equal(mirror_count(m), 0);
	assert_int_equal(mirror_hash(m), 0);
	assert_int_equal(kinds[MIRROR_ADDED], kinds[MIRROR_GONE]);
	mirror_free(&m);
	link_store_free(&v);
}

int
main(void)
{
	static const struct CMUnitTest whole[] = { cmocka_unit_test(agrees_with_a_link_store) };
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	int failed = cmocka_run_group_tests_name("mirror", tests, NULL, NULL);
	failed += cmocka_run_group_tests_name("mirror and view", whole, NULL, NULL);
	pool = intern_new();
	failed += cmocka_run_group_tests_name("mirror with a pool", tests, NULL, NULL);
	failed += cmocka_run_group_tests_name("mirror and view with a pool", whole, NULL, NULL);
	if (intern_count(pool) != 0)
		failed++;
	intern_free(&pool);
	return failed;
}
