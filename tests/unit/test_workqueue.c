/* tests/unit/test_workqueue.c - the keyed work queue: scripts of calls, and what holds for many keys. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "obj.h"
#include "workqueue.h"

enum op { OP_END, OP_ADD, OP_ADD_INITIAL, OP_ADD_AFTER, OP_NEXT, OP_NONE, OP_FINISH, OP_DUE, OP_NEVER_DUE,
	OP_FAILED };

struct step {
	enum op			 op;
	int64_t			 at;
	const char		*key;
	int64_t			 n;
	enum work_result	 result;
	uint32_t		 failures;
};

#define ANY			-1
#define CAP			(5 * 60 * 1000)
#define ADD(t, k)		{ .op = OP_ADD, .at = (t), .key = (k) }
#define ADD_INITIAL(t, k)	{ .op = OP_ADD_INITIAL, .at = (t), .key = (k) }
#define ADD_AFTER(t, k, after)	{ .op = OP_ADD_AFTER, .at = (t), .key = (k), .n = (after) }
/* That key comes next, after so long a wait and so many failures; no key is ready; workqueue_due_ms. */
#define NEXT(t, k, waited, f)	{ .op = OP_NEXT, .at = (t), .key = (k), .n = (waited), .failures = (f) }
#define NONE(t)			{ .op = OP_NONE, .at = (t) }
#define FINISH(t, k, r, after)	{ .op = OP_FINISH, .at = (t), .key = (k), .n = (after), .result = (r) }
#define DUE(t, when)		{ .op = OP_DUE, .at = (t), .n = (when) }
#define NEVER_DUE(t)		{ .op = OP_NEVER_DUE, .at = (t) }
/* The key failed so many times before t, and is ready at t. */
#define T(ms)			(20 * CAP + (ms))	/* late enough for what comes before */
#define FAILED(t, k, f)		{ .op = OP_FAILED, .at = (t), .key = (k), .failures = (f) }

struct row {
	const char	*name;
	struct step	 steps[20];
};

static const struct row rows[] = {
	{ "keys come in the order they were added",
	    { ADD(0, "a"), ADD(1, "b"), ADD(2, "c"), DUE(5, 5), NEXT(5, "a", 5, 0),
		NEXT(5, "b", 4, 0), NEXT(5, "c", 3, 0), NONE(5), NEVER_DUE(5) } },
	{ "adding twice is adding once",
	    { ADD(0, "a"), ADD(1, "b"), ADD(2, "a"), NEXT(3, "a", 3, 0), NEXT(3, "b", 2, 0),
		NONE(3) } },
	{ "live overtakes initial",
	    { ADD_INITIAL(0, "a"), ADD_INITIAL(0, "b"), ADD(1, "c"), NEXT(1, "c", 0, 0),
		NEXT(1, "a", 1, 0), NEXT(1, "b", 1, 0), NONE(1) } },
	{ "a live change promotes a waiting initial key",
	    { ADD_INITIAL(0, "a"), ADD_INITIAL(0, "b"), ADD_INITIAL(0, "c"), ADD(1, "b"),
		NEXT(2, "b", 2, 0), NEXT(2, "a", 2, 0), NEXT(2, "c", 2, 0), NONE(2) } },
	{ "an initial add does not demote",
	    { ADD(0, "a"), ADD_INITIAL(0, "a"), ADD_INITIAL(0, "b"), ADD(0, "c"),
		NEXT(0, "a", 0, 0), NEXT(0, "c", 0, 0), NEXT(0, "b", 0, 0) } },
	{ "never two workers on one key",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), ADD(1, "a"), NONE(1), NEVER_DUE(1),
		FINISH(2, "a", WORK_DONE, 0), NEXT(7, "a", 5, 0), FINISH(7, "a", WORK_DONE, 0),
		NONE(7) } },
	{ "many adds during work make one more run",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), ADD(1, "a"), ADD(1, "a"), ADD_INITIAL(1, "a"),
		FINISH(2, "a", WORK_DONE, 0), NEXT(2, "a", 0, 0), FINISH(3, "a", WORK_DONE, 0),
		NONE(9999999) } },
	{ "priority of the run after work is that of what came",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), ADD_INITIAL(1, "a"), FINISH(1, "a", WORK_DONE, 0),
		ADD(1, "b"), NEXT(1, "b", 0, 0), NEXT(1, "a", 0, 0) } },
	{ "done forgets",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), FINISH(0, "a", WORK_DONE, 0), NONE(9999999),
		NEVER_DUE(0) } },
	{ "retry waits, neither an initial list nor a delay shortens it",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), FINISH(0, "a", WORK_RETRY, 0), ADD_INITIAL(1, "a"), NONE(3),
		ADD_AFTER(3, "a", 1), NONE(3), NEXT(100, "a", ANY, 1) } },
	/* Issue 10.13: a live change ends the backoff of its key, at most once a second. */
	{ "a live change ends the backoff",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), FINISH(0, "a", WORK_RETRY, 0), NONE(3), ADD(3, "a"), DUE(3, 3),
		NEXT(3, "a", 0, 1) } },
	{ "a live change while the key is in work ends the backoff",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), ADD(0, "a"), FINISH(1, "a", WORK_RETRY, 0),
		NEXT(1, "a", 0, 1), FINISH(100, "a", WORK_DONE, 0), NONE(9999999) } },
	{ "an initial list while the key is in work does not",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), ADD_INITIAL(0, "a"), FINISH(0, "a", WORK_RETRY, 0), NONE(3),
		NEXT(100, "a", ANY, 1), FINISH(100, "a", WORK_DONE, 0), NONE(9999999) } },
	{ "a live change ends the backoff of its own key only",
	    { ADD(0, "a"), ADD(0, "b"), NEXT(0, "a", 0, 0), NEXT(0, "b", 0, 0), FINISH(0, "a", WORK_RETRY, 0),
		FINISH(0, "b", WORK_RETRY, 0), ADD(1, "b"), NEXT(1, "b", 0, 1), NONE(3) } },
	{ "a second live change waits until a second has passed",
	    { FAILED(T(0), "a", 9), NEXT(T(0), "a", ANY, 9), FINISH(T(0), "a", WORK_RETRY, 0),
		ADD(T(500), "a"), NEXT(T(500), "a", 0, 10), ADD(T(501), "a"),
		FINISH(T(502), "a", WORK_RETRY, 0), DUE(T(502), T(1500)), ADD(T(600), "a"),
		ADD(T(1400), "a"), DUE(T(1400), T(1500)), NONE(T(1499)), NEXT(T(1500), "a", 0, 11),
		FINISH(T(2499), "a", WORK_RETRY, 0), ADD(T(2500), "a"), NEXT(T(2500), "a", 0, 12) } },
	{ "a live change does not prolong a short backoff",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), FINISH(0, "a", WORK_RETRY, 0), ADD(1, "a"), NEXT(1, "a", 0, 1),
		FINISH(1, "a", WORK_RETRY, 0), ADD(2, "a"), NONE(2), NEXT(100, "a", ANY, 2) } },
	{ "no change shortens a Retry-After",
	    { FAILED(T(0), "a", 9), NEXT(T(0), "a", ANY, 9), FINISH(T(0), "a", WORK_RETRY, 700),
		ADD(T(1), "a"), DUE(T(1), T(700)), NONE(T(699)), NEXT(T(700), "a", 0, 10),
		ADD(T(701), "a"), FINISH(T(702), "a", WORK_RETRY, 1500), DUE(T(702), T(2202)) } },
	{ "Retry-After is a lower bound",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), FINISH(0, "a", WORK_RETRY, 5000), DUE(0, 5000),
		NONE(4999), NEXT(5000, "a", 0, 1) } },
	{ "a good run forgets the failures",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), FINISH(0, "a", WORK_RETRY, 0), NEXT(99, "a", ANY, 1),
		FINISH(99, "a", WORK_RETRY, 0), NEXT(199, "a", ANY, 2),
		FINISH(199, "a", WORK_AFTER, 10), NEXT(209, "a", 0, 0),
		FINISH(209, "a", WORK_DONE, 0), ADD(300, "a"), NEXT(300, "a", 0, 0) } },
	{ "after: again at that time, sooner when added",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), FINISH(0, "a", WORK_AFTER, 1000), DUE(0, 1000),
		NONE(999), ADD(999, "a"), NEXT(999, "a", 0, 0), FINISH(999, "a", WORK_DONE, 0),
		NONE(9999999) } },
	{ "after, but dirty: at once",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), ADD(0, "a"), FINISH(5, "a", WORK_AFTER, 1000),
		NEXT(5, "a", 0, 0) } },
	{ "after nothing is at once, not never",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), FINISH(5, "a", WORK_AFTER, 0),
		NEXT(5, "a", 0, 0) } },
	{ "after for ever does not wrap into the past",
	    { ADD_AFTER(50, "a", INT64_MAX), NONE(60), ADD_AFTER(60, "a", 10), DUE(60, 70),
		NEXT(70, "a", 0, 0) } },
	{ "the earlier of two delays counts",
	    { ADD_AFTER(0, "a", 100), ADD_AFTER(0, "a", 200), ADD_AFTER(0, "b", 200),
		ADD_AFTER(0, "b", 50), DUE(0, 50), NEXT(100, "b", 50, 0), NEXT(100, "a", 0, 0),
		NONE(300) } },
	{ "delayed keys of one time keep their order",
	    { ADD_AFTER(0, "c", 9), ADD_AFTER(0, "a", 9), ADD_AFTER(0, "d", 9),
		ADD_AFTER(0, "b", 9), NEXT(9, "c", 0, 0), NEXT(9, "a", 0, 0), NEXT(9, "d", 0, 0),
		NEXT(9, "b", 0, 0) } },
	{ "a delay asked for during work is kept",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), ADD_AFTER(0, "a", 100), ADD_AFTER(0, "a", 40),
		FINISH(10, "a", WORK_DONE, 0), DUE(10, 40), NEXT(40, "a", 0, 0),
		FINISH(40, "a", WORK_DONE, 0), NONE(9999999) } },
	{ "of it and after_ms, the earlier",
	    { ADD(0, "a"), NEXT(0, "a", 0, 0), ADD_AFTER(0, "a", 100),
		FINISH(10, "a", WORK_AFTER, 30), DUE(10, 40), NEXT(40, "a", 0, 0) } },
	{ "a retried initial key stays behind live ones",
	    { ADD_INITIAL(0, "a"), NEXT(0, "a", 0, 0), FINISH(0, "a", WORK_RETRY, 0), ADD(50, "b"),
		NEXT(50, "b", 0, 0), NEXT(50, "a", ANY, 1) } },
	{ "unless a live change came",
	    { ADD_INITIAL(0, "a"), NEXT(0, "a", 0, 0), FINISH(0, "a", WORK_RETRY, 0), ADD(1, "a"),
		ADD_INITIAL(1, "c"), NEXT(50, "a", ANY, 1), NEXT(50, "c", 49, 0) } },
	{ "a delay of nothing is an add",
	    { ADD_AFTER(4, "a", 0), ADD_AFTER(4, "b", -5), NEXT(4, "a", 0, 0),
		NEXT(4, "b", 0, 0) } },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct workqueue *q = workqueue_new(1);
	struct work w;

	for (const struct step *s = r->steps; s->op != OP_END; s++) {
		const size_t len = s->key == NULL ? 0 : strlen(s->key);

		switch (s->op) {
		case OP_ADD:
			workqueue_add(q, s->key, len, WORK_LIVE, (uint64_t)(s - r->steps), s->at);
			break;
		case OP_ADD_INITIAL:
			workqueue_add(q, s->key, len, WORK_INITIAL, 0, s->at);
			break;
		case OP_ADD_AFTER:
			workqueue_add_after(q, s->key, len, s->n, 0, s->at);
			break;
		case OP_NEXT:
			assert_true(workqueue_next(q, s->at, &w));
			assert_string_equal(w.key, s->key);
			assert_int_equal(w.len, len);
			assert_int_equal(w.failures, s->failures);
			if (s->n != ANY)
				assert_int_equal(w.waited_ms, s->n);
			break;
		case OP_NONE:
			assert_false(workqueue_next(q, s->at, &w));
			break;
		case OP_FINISH:
			workqueue_finish(q, s->key, len, s->result, s->n, s->at);
			break;
		case OP_DUE:
			assert_int_equal(workqueue_due_ms(q, s->at), s->n);
			break;
		case OP_NEVER_DUE:
			assert_true(workqueue_due_ms(q, s->at) == INT64_MAX);
			break;
		case OP_FAILED:
			for (int64_t n = s->failures; n > 0; n--) {
				const int64_t at = s->at - n * CAP * 2;

				workqueue_add(q, s->key, len, WORK_INITIAL, 0, at);
				assert_true(workqueue_next(q, at, &w));
				workqueue_finish(q, s->key, len, WORK_RETRY, 0, at);
			}
			break;
		case OP_END:
			break;
		}
	}
	workqueue_free(&q);
	assert_null(q);
	workqueue_free(&q);
}

/* 5 ms doubling to 5 minutes, each within 0.8 and 1.2 of that, for two hundred failures. */
static void
backoff_doubles_to_the_cap(void **state)
{
	double least = 9, most = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct workqueue *q = workqueue_new(seed);
		int64_t now = 1000, base = 5;
		struct work w;

		workqueue_add(q, "k", 1, WORK_LIVE, 0, now);
		for (uint32_t n = 0; n < 200; n++) {
			assert_true(workqueue_next(q, now, &w));
			assert_int_equal(w.failures, n);
			workqueue_finish(q, "k", 1, WORK_RETRY, 0, now);
			const int64_t due = workqueue_due_ms(q, now);
			const double ratio = (double)(due - now) / (double)base;

			assert_true(ratio >= 0.8 && ratio <= 1.2);
			least = ratio < least ? ratio : least;
			most = ratio > most ? ratio : most;
			now = due;
			base = base * 2 < CAP ? base * 2 : CAP;
		}
		workqueue_free(&q);
	}
	assert_true(least < 0.82 && most > 1.18);	/* the jitter is there */
}

static void
trace_is_that_of_the_newest_add(void **state)
{
	struct workqueue *q = workqueue_new(1);
	struct work w;

	(void)state;
	workqueue_add(q, "k", 1, WORK_LIVE, 10, 0);
	workqueue_add(q, "k", 1, WORK_LIVE, 11, 0);
	assert_true(workqueue_next(q, 0, &w));
	assert_int_equal(w.trace, 11);
	workqueue_add(q, "k", 1, WORK_LIVE, 12, 0);
	workqueue_finish(q, "k", 1, WORK_RETRY, 0, 0);
	workqueue_add(q, "k", 1, WORK_LIVE, 13, 1);
	assert_true(workqueue_next(q, 100, &w));
	assert_int_equal(w.trace, 13);
	workqueue_free(&q);
}

static void
stats_follow_the_work(void **state)
{
	struct workqueue *q = workqueue_new(1);
	struct work w;

	(void)state;
	workqueue_add(q, "a", 1, WORK_LIVE, 0, 100);
	workqueue_add(q, "a", 1, WORK_LIVE, 0, 100);		/* coalesced: not an add */
	workqueue_add(q, "b", 1, WORK_INITIAL, 0, 100);
	workqueue_add_after(q, "c", 1, 1000, 0, 100);
	struct workqueue_stats s = workqueue_stats(q);
	assert_int_equal(s.adds, 3);
	assert_int_equal(s.ready, 2);
	assert_int_equal(s.delayed, 1);
	assert_int_equal(s.working, 0);
	assert_int_equal(s.oldest_working_ms, 0);
	assert_true(workqueue_next(q, 110, &w));
	assert_true(workqueue_next(q, 130, &w));
	s = workqueue_stats(q);
	assert_int_equal(s.ready, 0);
	assert_int_equal(s.working, 2);
	assert_int_equal(s.oldest_working_ms, 110);
	assert_int_equal(s.sum_working_ms, 240);
	workqueue_finish(q, "a", 1, WORK_RETRY, 0, 140);
	s = workqueue_stats(q);
	assert_int_equal(s.oldest_working_ms, 130);
	assert_int_equal(s.sum_working_ms, 130);
	assert_int_equal(s.retries, 1);
	assert_int_equal(s.delayed, 2);
	workqueue_finish(q, "b", 1, WORK_DONE, 0, 150);
	s = workqueue_stats(q);
	assert_int_equal(s.done, 1);
	assert_int_equal(s.sum_working_ms, 0);
	assert_int_equal(s.oldest_working_ms, 0);
	workqueue_free(&q);
}

static void
finish_pending(struct workqueue *q)
{
	workqueue_finish(q, "k", 1, WORK_PENDING, 0, 0);
}

static void
finish_idle(struct workqueue *q)
{
	workqueue_finish(q, "k", 1, WORK_DONE, 0, 0);
	workqueue_finish(q, "k", 1, WORK_DONE, 0, 0);
}

static void
finish_ready(struct workqueue *q)
{
	workqueue_add(q, "other", 5, WORK_LIVE, 0, 0);
	workqueue_finish(q, "other", 5, WORK_DONE, 0, 0);
}

/* A caller that finishes a key that is not in work has a defect: the process aborts. */
static void
wrong_finish_is_impossible(void **state)
{
	static void (*const wrong[])(struct workqueue *) = { finish_pending, finish_idle, finish_ready };

	(void)state;
	for (size_t i = 0; i < NITEMS(wrong); i++) {
		int status;
		const pid_t pid = fork();

		if (pid == 0) {
			struct workqueue *q = workqueue_new(1);
			struct work w;

			close(STDERR_FILENO);
			signal(SIGABRT, SIG_DFL);
			workqueue_add(q, "k", 1, WORK_LIVE, 0, 0);
			workqueue_next(q, 0, &w);
			wrong[i](q);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

/* A million different keys pass through; memory is that of the hundred that are there at a time. */
static void
memory_follows_the_keys_in_some_state(void **state)
{
	struct workqueue *q = workqueue_new(1);
	size_t bytes = 0;
	struct work w;

	(void)state;
	for (int round = 0; round < 10000; round++) {
		for (int i = 0; i < 100; i++) {
			char key[32];

			snprintf(key, sizeof(key), "k%08d", round * 100 + i);
			workqueue_add(q, key, strlen(key), i % 2 == 0 ? WORK_LIVE : WORK_INITIAL, 0, round);
		}
		while (workqueue_next(q, round, &w))
			workqueue_finish(q, w.key, w.len, WORK_DONE, 0, round);
		if (round == 0)
			bytes = workqueue_bytes(q);
		assert_int_equal(workqueue_bytes(q), bytes);
	}
	assert_true(bytes < 64 * 1024);
	workqueue_free(&q);
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(backoff_doubles_to_the_cap),
		cmocka_unit_test(trace_is_that_of_the_newest_add),
		cmocka_unit_test(stats_follow_the_work),
		cmocka_unit_test(wrong_finish_is_impossible),
		cmocka_unit_test(memory_follows_the_keys_in_some_state),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	memcpy(tests + NITEMS(rows), others, sizeof(others));
	return cmocka_run_group_tests_name("workqueue", tests, NULL, NULL);
}
