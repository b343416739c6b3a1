/*
 * tests/unit/test_workqueue_model.c - random histories of the work queue against a naive model: an array of
 * keys, every rule written out once more, nothing shared but the random numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "random.h"
#include "workqueue.h"

#define CAP	(5 * 60 * 1000)

enum { KEYS = 40 };

struct model_key {
	enum { ABSENT, READY, WAITING, WORKING } state;
	bool			live, again_live, dirty, backoff;
	int64_t			at, wake, earliest, expedited;
	uint64_t		order;		/* ready: place in line; waiting: order of putting to wait */
	uint32_t		failures;
};

struct model {
	struct model_key	keys[KEYS];
	uint64_t		orders, dice;
};

static void
model_ready(struct model *m, struct model_key *k, int64_t since)
{
	k->state = READY;
	k->at = since;
	k->order = m->orders++;
}

static void
model_wait(struct model *m, struct model_key *k, int64_t until, bool backoff)
{
	k->state = WAITING;
	k->at = until;
	k->backoff = backoff;
	k->order = m->orders++;
}

/* The latest of: now, a second after the last time, what the server asked for; if that is sooner. */
static void
model_expedite(struct model *m, struct model_key *k, int64_t now)
{
	const int64_t limit = k->expedited + 1000 > k->earliest ? k->expedited + 1000 : k->earliest;
	const int64_t at = limit > now ? limit : now;

	if (at < k->at) {
		k->expedited = at;
		model_wait(m, k, at, true);
	}
}

static void
model_add(struct model *m, struct model_key *k, bool live, int64_t now)
{
	if (k->state == ABSENT) {
		*k = (struct model_key){ .live = live, .expedited = -1000 };
		model_ready(m, k, now);
	} else if (k->state == READY && live && !k->live) {
		k->live = true;
		model_ready(m, k, k->at);
	} else if (k->state == WAITING) {
		k->live |= live;
		if (!k->backoff)
			model_ready(m, k, now);
		else if (live)
			model_expedite(m, k, now);
	} else if (k->state == WORKING) {
		k->again_live = (k->dirty && k->again_live) || live;
		k->dirty = true;
	}
}

static void
model_add_after(struct model *m, struct model_key *k, int64_t after, int64_t now)
{
	if (after <= 0) {
		model_add(m, k, true, now);
	} else if (k->state == ABSENT) {
		*k = (struct model_key){ .live = true, .expedited = -1000 };
		model_wait(m, k, now + after, false);
	} else if (k->state == WAITING && !k->backoff && now + after < k->at) {
		model_wait(m, k, now + after, false);
	} else if (k->state == WORKING && now + after < k->wake) {
		k->wake = now + after;
	}
}

static struct model_key *
model_next(struct model *m, int64_t now)
{
	for (;;) {
		struct model_key *due = NULL;

		for (struct model_key *k = m->keys; k < m->keys + KEYS; k++) {
			if (k->state == WAITING && k->at <= now
			    && (due == NULL || k->at < due->at
				|| (k->at == due->at && k->order < due->order)))
				due = k;
		}
		if (due == NULL)
			break;
		model_ready(m, due, due->at);
	}
	struct model_key *best = NULL;
	for (struct model_key *k = m->keys; k < m->keys + KEYS; k++) {
		if (k->state == READY
		    && (best == NULL || k->live > best->live
			|| (k->live == best->live && k->order < best->order)))
			best = k;
	}
	return best;
}

static void
model_finish(struct model *m, struct model_key *k, enum work_result result, int64_t after, int64_t now)
{
	if (result == WORK_RETRY) {
		int64_t base = 5;

		for (uint32_t i = 0; i < k->failures && base < CAP; i++)
			base *= 2;
		const int64_t wait = random_jitter(&m->dice, base < CAP ? base : CAP);
		k->failures++;
		k->live |= k->dirty && k->again_live;
		k->earliest = now + after;
		model_wait(m, k, now + (wait > after ? wait : after), true);
		if (k->dirty && k->again_live)
			model_expedite(m, k, now);
		return;
	}
	k->failures = 0;
	if (result == WORK_AFTER && now + after < k->wake)
		k->wake = now + after;
	if (k->dirty) {
		k->live = k->again_live;
		model_ready(m, k, now);
	} else if (k->wake < INT64_MAX) {
		model_wait(m, k, k->wake, false);
	} else {
		k->state = ABSENT;
	}
}

static void
compare(const struct workqueue *q, const struct model *m, int64_t now)
{
	const struct workqueue_stats s = workqueue_stats(q);
	uint32_t counts[4] = { 0 };
	int64_t due = INT64_MAX, oldest = 0, sum = 0;

	for (const struct model_key *k = m->keys; k < m->keys + KEYS; k++) {
		counts[k->state]++;
		if (k->state == READY)
			due = now;
		if (k->state == WAITING && k->at < due)
			due = k->at > now ? k->at : now;
		if (k->state == WORKING) {
			sum += k->at;
			oldest = oldest == 0 || k->at < oldest ? k->at : oldest;
		}
	}
	assert_int_equal(s.ready, counts[READY]);
	assert_int_equal(s.delayed, counts[WAITING]);
	assert_int_equal(s.working, counts[WORKING]);
	assert_int_equal(s.oldest_working_ms, oldest);
	assert_int_equal(s.sum_working_ms, sum);
	assert_true(workqueue_due_ms(q, now) == due);
}

static void
random_history(uint64_t seed, int steps)
{
	struct model m = { .dice = seed };
	struct workqueue *q = workqueue_new(seed);
	uint64_t r = seed * 7919 + 1;
	int64_t now = 1;
	struct work w;

	for (int i = 0; i < steps; i++) {
		const size_t which = random_below(&r, KEYS);
		struct model_key *const k = &m.keys[which];
		char key[16];
		const size_t len = (size_t)snprintf(key, sizeof(key), "key-%zu", which);
		const uint64_t dice = random_below(&r, 100);

		if (dice < 30) {
			const bool live = random_below(&r, 2) == 0;

			workqueue_add(q, key, len, live ? WORK_LIVE : WORK_INITIAL, 0, now);
			model_add(&m, k, live, now);
		} else if (dice < 40) {
			const int64_t after = (int64_t)random_below(&r, 40) - 2;

			workqueue_add_after(q, key, len, after, 0, now);
			model_add_after(&m, k, after, now);
		} else if (dice < 65) {
			struct model_key *const want = model_next(&m, now);

			assert_int_equal(workqueue_next(q, now, &w), want != NULL);
			if (want != NULL) {
				assert_int_equal(atoi(w.key + 4), want - m.keys);
				assert_int_equal(w.failures, want->failures);
				assert_int_equal(w.waited_ms, now - want->at);
				want->state = WORKING;
				want->at = now;
				want->wake = INT64_MAX;
				want->dirty = false;
			}
		} else if (dice < 90) {
			const enum work_result result = (enum work_result)random_below(&r, 3);
			const int64_t after = (int64_t)random_below(&r, 30);

			if (k->state == WORKING) {
				workqueue_finish(q, key, len, result, after, now);
				model_finish(&m, k, result, after, now);
			}
		} else {
			now += (int64_t)random_below(&r, dice == 99 ? 2000000 : 20);
		}
		compare(q, &m, now);
	}
	assert_true(workqueue_bytes(q) < 16 * 1024);
	workqueue_free(&q);
}

static void
random_histories_agree_with_the_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++)
		random_history(seed, 3000);
	random_history(12345, 200000);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_histories_agree_with_the_model),
	};

	return cmocka_run_group_tests_name("workqueue, model", tests, NULL, NULL);
}
