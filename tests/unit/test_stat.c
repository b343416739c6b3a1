/* tests/unit/test_stat.c - values, which changes are reported and how often, labels. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "obj.h"
#include "random.h"
#include "stat.h"

/* What stat_changed reported, one line per series. */
struct report {
	char	text[4096];
	size_t	count;
	void	(*also)(void);	/* done inside the callback, once */
};

static void
record_series(const struct stat_view *v, void *arg)
{
	struct report *h = arg;
	const size_t n = strlen(h->text);

	snprintf(h->text + n, sizeof(h->text) - n, "%s{%s} %g%s\n", v->family, v->labels, v->value,
	    v->gone ? " gone" : "");
	h->count++;
	if (h->also != NULL) {
		void (*const also)(void) = h->also;

		h->also = NULL;
		also();
	}
}

static const char *
changes(void)
{
	static struct report h;

	h = (struct report){ 0 };
	stat_changed(record_series, &h);
	return h.text;
}

static int
reset(void **state)
{
	(void)state;
	stat_reset();
	return 0;
}

static void
changes_are_reported_once(void **state)
{
	(void)state;
	struct stat_series *adds = stat_get(STAT_WQ_ADDS, ""), *depth = stat_get(STAT_WQ_DEPTH, "name=\"a\"");

	assert_ptr_equal(stat_get(STAT_WQ_ADDS, ""), adds);
	assert_ptr_not_equal(stat_get(STAT_WQ_DEPTH, "name=\"b\""), depth);
	assert_string_equal(changes(), "workqueue_adds_total{} 0\n"
	    "workqueue_depth{name=\"a\"} 0\nworkqueue_depth{name=\"b\"} 0\n");
	assert_string_equal(changes(), "");
	stat_set(depth, 7);
	stat_add(adds, 2);
	stat_add(adds, 1.5);
	assert_true(stat_value(adds) == 3.5);
	assert_string_equal(changes(), "workqueue_depth{name=\"a\"} 7\nworkqueue_adds_total{} 3.5\n");
	stat_set(depth, 7);		/* as it was: not a change */
	stat_add(adds, 0);
	assert_string_equal(changes(), "");
	stat_add(depth, -3);
	stat_set(adds, 10);		/* a counter that is counted elsewhere */
	assert_string_equal(changes(), "workqueue_depth{name=\"a\"} 4\nworkqueue_adds_total{} 10\n");
}

static void
numbers_that_are_none_are_dropped(void **state)
{
	static const double none[] = { NAN, INFINITY, -INFINITY };
	struct stat_series *adds = stat_get(STAT_WQ_ADDS, ""), *depth = stat_get(STAT_WQ_DEPTH, "");
	struct stat_series *work = stat_get(STAT_WQ_WORK, "");

	(void)state;
	stat_set(depth, 5);
	changes();
	for (size_t i = 0; i < NITEMS(none); i++) {
		stat_add(adds, none[i]);
		stat_add(depth, none[i]);
		stat_set(depth, none[i]);
		stat_observe(work, none[i]);
	}
	assert_string_equal(changes(), "");
	stat_set(depth, 1.7e308);
	stat_add(depth, 1.7e308);	/* two numbers, one sum that is none */
	assert_true(stat_value(depth) == 1.7e308);
}

struct histogram {
	double		pairs[64];
	size_t		n;
	uint64_t	count;
	double		sum;
};

static void
record_histogram(const struct stat_view *v, void *arg)
{
	struct histogram *h = arg;

	assert_int_equal(v->kind, STAT_HISTOGRAM);
	assert_true(v->nbuckets <= NITEMS(h->pairs));
	memcpy(h->pairs, v->buckets, v->nbuckets * sizeof(double));
	h->n = v->nbuckets;
	h->count = v->count;
	h->sum = v->value;
}

static void
histogram_counts_up_to_each_bound(void **state)
{
	static const double seen[] = { 0, 0.005, 0.0051, 0.9, 1, 59, 61, 1e9, -3 };
	struct histogram h;

	(void)state;
	for (size_t i = 0; i < NITEMS(seen); i++)
		stat_observe(stat_get(STAT_WQ_WORK, ""), seen[i]);
	stat_changed(record_histogram, &h);
	assert_int_equal(h.count, NITEMS(seen));
	assert_true(fabs(h.sum - (0.005 + 0.0051 + 0.9 + 1 + 59 + 61 + 1e9)) < 1e-3);
	assert_true(h.n >= 24 && h.n <= 32 && h.n % 2 == 0);
	for (size_t i = 0; i < h.n; i += 2) {
		size_t want = 0;

		for (size_t j = 0; j < NITEMS(seen); j++)
			want += seen[j] <= h.pairs[i];
		assert_int_equal((uint64_t)h.pairs[i + 1], want);
		assert_true(i == 0 || h.pairs[i] > h.pairs[i - 2]);
	}
	assert_true(h.pairs[h.n - 2] == 60);
}

static void
a_drop_is_reported_once_and_forgotten(void **state)
{
	(void)state;
	stat_set(stat_get(STAT_KEYS, "link=\"x\""), 3);
	changes();
	stat_drop(stat_get(STAT_KEYS, "link=\"x\""));
	assert_string_equal(changes(), "muster_link_keys{link=\"x\"} 0 gone\n");
	assert_string_equal(changes(), "");
	assert_true(stat_value(stat_get(STAT_KEYS, "link=\"x\"")) == 0);
	assert_string_equal(changes(), "muster_link_keys{link=\"x\"} 0\n");
	/* never reported, so its end is not reported either */
	stat_drop(stat_get(STAT_KEYS, "link=\"y\""));
	assert_string_equal(changes(), "");
	/* gone and back between two calls: one change */
	stat_set(stat_get(STAT_KEYS, "link=\"x\""), 8);
	stat_drop(stat_get(STAT_KEYS, "link=\"x\""));
	stat_set(stat_get(STAT_KEYS, "link=\"x\""), 9);
	assert_string_equal(changes(), "muster_link_keys{link=\"x\"} 9\n");
}

static void
count_something(void)
{
	stat_add(stat_get(STAT_BUS_FRAMES, ""), 1);
	stat_get(STAT_BUS_FRAMES, "link=\"new\"");
	stat_drop(stat_get(STAT_KEYS, "link=\"b\""));
}

/*
 * The runtime sends what it receives here, and sending is counted: such a count must neither be lost
 * nor cause an endless loop.
 */
static void
counting_inside_the_callback(void **state)
{
	struct report h = { .also = count_something };

	(void)state;
	stat_add(stat_get(STAT_BUS_FRAMES, ""), 1);
	stat_set(stat_get(STAT_KEYS, "link=\"b\""), 1);
	stat_changed(record_series, &h);
	/* b was to be reported, but had ended by then without ever having been reported */
	assert_string_equal(h.text, "muster_bus_frames_total{} 1\n");
	assert_string_equal(changes(), "muster_bus_frames_total{} 2\n"
	    "muster_bus_frames_total{link=\"new\"} 0\n");
	assert_string_equal(changes(), "");
}

static void
set_again(void)
{
	stat_set(stat_get(STAT_KEYS, "link=\"a\""), 5);
}

static void
set_again_and_drop(void)
{
	set_again();
	stat_drop(stat_get(STAT_KEYS, "link=\"a\""));
}

static void
back_while_its_end_is_reported(void **state)
{
	struct report h = { .also = set_again };

	(void)state;
	stat_set(stat_get(STAT_KEYS, "link=\"a\""), 1);
	changes();
	stat_drop(stat_get(STAT_KEYS, "link=\"a\""));
	stat_changed(record_series, &h);
	assert_string_equal(h.text, "muster_link_keys{link=\"a\"} 0 gone\n");
	assert_string_equal(changes(), "muster_link_keys{link=\"a\"} 5\n");
	h = (struct report){ .also = set_again_and_drop };
	stat_drop(stat_get(STAT_KEYS, "link=\"a\""));
	stat_changed(record_series, &h);
	assert_string_equal(h.text, "muster_link_keys{link=\"a\"} 0 gone\n");
	assert_string_equal(changes(), "");
	assert_string_equal(changes(), "");
}

/* Ten thousand label values come and go; the reader's copy always equals the current values. */
static void
a_readers_copy_stays_equal(void **state)
{
	enum { SERIES = 50 };
	static double current[SERIES], copy[SERIES];
	uint64_t seed = 5;

	(void)state;
	memset(current, 0xff, sizeof(current));	/* NaN: not there */
	memset(copy, 0xff, sizeof(copy));
	for (int step = 0; step < 100000; step++) {
		const size_t i = random_below(&seed, SERIES);
		char labels[32];

		snprintf(labels, sizeof(labels), "n=\"%zu\"", i);
		if (random_below(&seed, 4) == 0) {
			stat_drop(stat_get(STAT_KEYS, labels));
			current[i] = NAN;
		} else {
			current[i] = (double)random_below(&seed, 3);
			stat_set(stat_get(STAT_KEYS, labels), current[i]);
		}
		if (random_below(&seed, 20) != 0)
			continue;
		static struct report h;
		h = (struct report){ 0 };
		stat_changed(record_series, &h);
		assert_true(h.count <= SERIES);
		for (char *line = strtok(h.text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
			size_t n;
			double v;

			assert_int_equal(sscanf(line, "muster_link_keys{n=\"%zu\"} %lf", &n, &v), 2);
			copy[n] = strstr(line, "gone") != NULL ? NAN : v;
		}
		for (size_t n = 0; n < SERIES; n++)
			assert_true(copy[n] == current[n] || (isnan(copy[n]) && isnan(current[n])));
	}
}

static const struct label_row {
	const char	*name, *before, *value;
	size_t		 size;
	const char	*want;		/* NULL: does not fit */
} label_rows[] = {
	{ "label: first", "", "gap", 64, "a=\"gap\"" },
	{ "label: second gets a comma", "x=\"1\"", "gap", 64, "x=\"1\",a=\"gap\"" },
	{ "label: empty", "", "", 64, "a=\"\"" },
	{ "label: escapes", "", "q\"b\\n\nx", 64, "a=\"q\\\"b\\\\n\\nx\"" },
	{ "label: UTF-8 stays, other bytes do not", "", "é\xff\xc3", 64, "a=\"é?\?\"" },
	{ "label: too long leaves buf alone", "x=\"1\"", "0123456789", 16, NULL },
	{ "label: no room for the name", "x=\"1\"", "", 7, NULL },
};

static void
check_label(void **state)
{
	const struct label_row *r = *state;
	char buf[80];

	memset(buf, '~', sizeof(buf));
	strcpy(buf, r->before);
	assert_int_equal(stat_label(buf, r->size, "a", r->value), r->want != NULL);
	assert_string_equal(buf, r->want != NULL ? r->want : r->before);
	assert_int_equal(buf[r->size], '~');
}

static void
add_negative(void)
{
	stat_add(stat_get(STAT_WQ_ADDS, ""), -1);
}

static void
lower_counter(void)
{
	stat_set(stat_get(STAT_WQ_ADDS, ""), 5);
	stat_set(stat_get(STAT_WQ_ADDS, ""), 4);
}

static void
observe_gauge(void)
{
	stat_observe(stat_get(STAT_WQ_DEPTH, ""), 1);
}

static void
wrong_use_is_impossible(void **state)
{
	static void (*const wrong[])(void) = { add_negative, lower_counter, observe_gauge };

	(void)state;
	for (size_t i = 0; i < NITEMS(wrong); i++) {
		int status;
		const pid_t pid = fork();

		if (pid == 0) {
			close(STDERR_FILENO);
			signal(SIGABRT, SIG_DFL);
			wrong[i]();
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, reset, reset)
	static const struct CMUnitTest others[] = {
		T(changes_are_reported_once),
		T(numbers_that_are_none_are_dropped),
		T(histogram_counts_up_to_each_bound),
		T(a_drop_is_reported_once_and_forgotten),
		T(counting_inside_the_callback),
		T(back_while_its_end_is_reported),
		T(a_readers_copy_stays_equal),
		T(wrong_use_is_impossible),
	};
	struct CMUnitTest tests[NITEMS(label_rows) + NITEMS(others)];

	for (size_t i = 0; i < NITEMS(label_rows); i++)
		tests[i] = (struct CMUnitTest){ label_rows[i].name, check_label, NULL, NULL,
			(void *)(uintptr_t)&label_rows[i] };
	memcpy(tests + NITEMS(label_rows), others, sizeof(others));
	return cmocka_run_group_tests_name("stat", tests, NULL, NULL);
}
