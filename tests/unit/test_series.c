/* tests/unit/test_series.c - the table of series: order, identity, refusals, churn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "actors/metrics/series.h"
#include "obj.h"
#include "random.h"

enum { BUDGET = 16 * 1024 * 1024 };

static struct body_stat
stat_of(const char *family, enum stat_kind kind, const char *labels, double value)
{
	return (struct body_stat){ .family = wire_str_of(family), .kind = kind, .help = wire_str_of("Help."),
		.labels = wire_str_of(labels), .value = value };
}

static const char *
set(struct series_table *t, const char *actor, const char *key, const char *family, const char *labels,
    double value)
{
	const struct body_stat s = stat_of(family, STAT_GAUGE, labels, value);

	return series_set(t, actor, wire_str_of(key), &s);
}

static void
assert_text(const struct series_table *t, bool (*shown)(const char *, const void *), const char *want)
{
	char buf[4096];
	struct text out = { .buf = buf, .size = sizeof(buf) };

	series_write(t, &out, shown, NULL);
	assert_true(out.len < sizeof(buf));
	buf[out.len] = '\0';
	assert_string_equal(buf, want);
}

static bool
only_b(const char *actor, const void *arg)
{
	(void)arg;
	return strcmp(actor, "b") == 0;
}

static void
families_are_contiguous_and_sorted(void **state)
{
	struct series_table *t = series_new(BUDGET);

	(void)state;
	assert_null(set(t, "b", "k1", "f2", "", 1));
	assert_null(set(t, "a", "k1", "f10", "l=\"2\"", 2));
	assert_null(set(t, "a", "k2", "f2", "", 3));
	assert_null(set(t, "a", "k3", "f10", "l=\"1\"", 4));
	assert_null(set(t, "b", "k2", "f10", "", 5));
	assert_text(t, NULL,
	    "# HELP f10 Help.\n# TYPE f10 gauge\n"
	    "f10{actor=\"a\",l=\"1\"} 4\nf10{actor=\"a\",l=\"2\"} 2\nf10{actor=\"b\"} 5\n"
	    "# HELP f2 Help.\n# TYPE f2 gauge\nf2{actor=\"a\"} 3\nf2{actor=\"b\"} 1\n");
	assert_int_equal(series_count(t), 5);
	series_free(&t);
	assert_null(t);
	series_free(&t);
}

static void
hidden_actors_leave_no_empty_family(void **state)
{
	struct series_table *t = series_new(BUDGET);

	(void)state;
	set(t, "a", "k", "fa", "", 1);
	set(t, "a", "k2", "fb", "", 1);
	set(t, "b", "k", "fb", "", 2);
	assert_text(t, only_b, "# HELP fb Help.\n# TYPE fb gauge\nfb{actor=\"b\"} 2\n");
	series_free(&t);
}

static void
update_and_drop(void **state)
{
	struct series_table *t = series_new(BUDGET);

	(void)state;
	set(t, "a", "k", "f", "", 1);
	set(t, "a", "k", "f", "", 7);
	assert_text(t, NULL, "# HELP f Help.\n# TYPE f gauge\nf{actor=\"a\"} 7\n");
	series_drop(t, "b", wire_str_of("k"));
	series_drop(t, "a", wire_str_of("other"));
	assert_int_equal(series_count(t), 1);
	series_drop(t, "a", wire_str_of("k"));
	assert_int_equal(series_count(t), 0);
	assert_text(t, NULL, "");
	series_free(&t);
}

/* The same key with other labels or another family is another series; the old one must not stay behind. */
static void
a_key_that_moves_takes_its_series_along(void **state)
{
	struct series_table *t = series_new(BUDGET);

	(void)state;
	set(t, "a", "k", "f", "l=\"1\"", 1);
	set(t, "a", "k", "f", "l=\"2\"", 2);
	assert_text(t, NULL, "# HELP f Help.\n# TYPE f gauge\nf{actor=\"a\",l=\"2\"} 2\n");
	set(t, "a", "k", "g", "l=\"2\"", 3);
	assert_text(t, NULL, "# HELP g Help.\n# TYPE g gauge\ng{actor=\"a\",l=\"2\"} 3\n");
	series_free(&t);
}

static void
histograms_change_size(void **state)
{
	struct series_table *t = series_new(BUDGET);
	struct body_stat s = stat_of("h", STAT_HISTOGRAM, "", 1);
	const double one[] = { 1, 1 }, two[] = { 1, 1, 2, 2 };

	(void)state;
	s.count = 2;
	s.buckets = (struct wire_nums){ one, 2 };
	assert_null(series_set(t, "a", wire_str_of("k"), &s));
	s.buckets = (struct wire_nums){ two, 4 };
	assert_null(series_set(t, "a", wire_str_of("k"), &s));
	assert_text(t, NULL, "# HELP h Help.\n# TYPE h histogram\nh_bucket{actor=\"a\",le=\"1\"} 1\n"
	    "h_bucket{actor=\"a\",le=\"2\"} 2\nh_bucket{actor=\"a\",le=\"+Inf\"} 2\n"
	    "h_sum{actor=\"a\"} 1\nh_count{actor=\"a\"} 2\n");
	s.buckets = (struct wire_nums){ NULL, 0 };
	assert_null(series_set(t, "a", wire_str_of("k"), &s));
	series_free(&t);
}

static const struct refusal_row {
	const char	*name;
	const char	*family, *labels, *help;
	uint64_t	 kind;
	uint32_t	 nbuckets;
} refusal_rows[] = {
	{ "bad family", "0f", "", "Help.", STAT_GAUGE, 0 },
	{ "bad labels", "f", "x", "Help.", STAT_GAUGE, 0 },
	{ "label actor", "f", "actor=\"x\"", "Help.", STAT_GAUGE, 0 },
	{ "bad help", "f", "", "\xff", STAT_GAUGE, 0 },
	{ "unknown kind", "f", "", "Help.", 3, 0 },
	{ "kind out of range", "f", "", "Help.", UINT64_MAX, 0 },
	{ "gauge with buckets", "f", "", "Help.", STAT_GAUGE, 2 },
	{ "histogram with odd buckets", "f", "", "Help.", STAT_HISTOGRAM, 1 },
	{ "family of the metrics actor", "muster_actor_up", "", "Help.", STAT_GAUGE, 0 },
	{ "kind differs from the family's", "taken", "", "Help.", STAT_COUNTER, 0 },
	{ "same series under another key", "taken", "", "Help.", STAT_GAUGE, 0 },
};

/* A refusal takes away what the key had, and touches nothing else. */
static void
check_refusal(void **state)
{
	const struct refusal_row *r = *state;
	const double buckets[] = { 1, 0 };
	struct series_table *t = series_new(BUDGET);

	assert_null(set(t, "a", "taken", "taken", "", 1));
	assert_null(set(t, "a", "k", "old", "", 1));
	struct body_stat s = stat_of(r->family, STAT_GAUGE, r->labels, 1);
	s.kind = r->kind;
	s.help = wire_str_of(r->help);
	s.buckets = (struct wire_nums){ buckets, r->nbuckets };
	assert_non_null(series_set(t, "a", wire_str_of("k"), &s));
	assert_text(t, NULL, "# HELP taken Help.\n# TYPE taken gauge\ntaken{actor=\"a\"} 1\n");
	assert_int_equal(series_count(t), 1);
	series_free(&t);
}

static void
the_memory_of_all_series_is_bounded(void **state)
{
	enum { COST = 2 * (1 + 7 + 1 + 64) + SERIES_OVERHEAD, FIT = 1000 };
	struct series_table *t = series_new(FIT * COST + COST / 2);
	char key[32], labels[32];

	(void)state;
	for (int i = 0; i < FIT + 100; i++) {
		snprintf(key, sizeof(key), "%d", i);
		snprintf(labels, sizeof(labels), "n=\"%03d\"", i % 1000);
		const char *why = set(t, i < FIT ? "a" : "b", key, "f", labels, i);
		assert_int_equal(why == NULL, i < FIT);
	}
	assert_int_equal(series_count(t), FIT);
	assert_int_equal(series_cost(t), FIT * COST);
	assert_null(set(t, "a", "5", "f", "n=\"005\"", 9));	/* those that are in go on */
	series_drop(t, "a", wire_str_of("7"));
	assert_null(set(t, "a", "new", "f", "n=\"new\"", 9));
	for (int i = 0; i < FIT; i++) {
		snprintf(key, sizeof(key), "%d", i);
		series_drop(t, "a", wire_str_of(key));
	}
	series_drop(t, "a", wire_str_of("new"));
	assert_int_equal(series_cost(t), 0);
	series_free(&t);
}

/* What is charged for a series covers its text in two bodies. */
static void
a_histogram_costs_its_lines(void **state)
{
	static char buf[65536];
	double buckets[28];
	struct series_table *t = series_new(BUDGET);
	struct text out = { .buf = buf, .size = sizeof(buf) };

	(void)state;
	for (size_t i = 0; i < NITEMS(buckets); i += 2) {
		buckets[i] = (double)(i + 1) * 1.1;
		buckets[i + 1] = 1e15 + (double)i;
	}
	struct body_stat s = stat_of("a_family_of_a_long_name_seconds", STAT_HISTOGRAM, "node=\"x\"", 1e-300);
	s.buckets = (struct wire_nums){ buckets, NITEMS(buckets) };
	s.count = (uint64_t)2e15;
	assert_null(series_set(t, "an-actor", wire_str_of("k"), &s));
	series_write(t, &out, NULL, NULL);
	assert_true(out.len < sizeof(buf) && series_cost(t) >= 2 * out.len);
	s.buckets.len = 4;
	assert_null(series_set(t, "an-actor", wire_str_of("k"), &s));
	assert_int_equal(series_count(t), 1);
	assert_true(series_cost(t) < 3 * SERIES_OVERHEAD);
	series_free(&t);
}

/* Random changes against a plain array: the text must always be that of the array. */
static void
churn_agrees_with_a_plain_array(void **state)
{
	enum { KEYS = 64, STEPS = 20000 };
	static char buf[KEYS * 64];
	struct series_table *t = series_new(BUDGET);
	bool there[KEYS] = { false };
	uint64_t seed = 7;
	size_t live = 0;

	(void)state;
	for (int step = 0; step < STEPS; step++) {
		const unsigned k = (unsigned)random_below(&seed, KEYS);
		char key[16], family[16], labels[16];

		snprintf(key, sizeof(key), "k%u", k);
		snprintf(family, sizeof(family), "f%u", k % 5);
		snprintf(labels, sizeof(labels), "n=\"%u\"", k);
		if (random_below(&seed, 3) == 0) {
			series_drop(t, "a", wire_str_of(key));
			live -= there[k];
			there[k] = false;
		} else {
			assert_null(set(t, "a", key, family, labels, step));
			live += !there[k];
			there[k] = true;
		}
		assert_int_equal(series_count(t), live);
		struct text out = { .buf = buf, .size = sizeof(buf) };
		series_write(t, &out, NULL, NULL);
		size_t lines = 0, families = 0;
		for (size_t i = 0; i < out.len; i++)
			lines += buf[i] == '\n';
		for (unsigned f = 0; f < 5; f++) {
			bool any = false;
			for (unsigned i = f; i < KEYS; i += 5)
				any |= there[i];
			families += any;
		}
		assert_int_equal(lines, live + 2 * families);
	}
	series_free(&t);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(refusal_rows) + 7] = {
		cmocka_unit_test(families_are_contiguous_and_sorted),
		cmocka_unit_test(hidden_actors_leave_no_empty_family),
		cmocka_unit_test(update_and_drop),
		cmocka_unit_test(a_key_that_moves_takes_its_series_along),
		cmocka_unit_test(histograms_change_size),
		cmocka_unit_test(the_memory_of_all_series_is_bounded),
		cmocka_unit_test(a_histogram_costs_its_lines),
		cmocka_unit_test(churn_agrees_with_a_plain_array),
	};

	for (size_t i = 0; i < NITEMS(refusal_rows); i++)
		tests[7 + i] = (struct CMUnitTest){ refusal_rows[i].name, check_refusal, NULL, NULL,
			(void *)(uintptr_t)&refusal_rows[i] };
	return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
