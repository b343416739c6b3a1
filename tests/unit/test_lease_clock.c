/*
 * tests/unit/test_lease_clock.c - fault 18: no wall clock decides who leads. Two instances run through
 * the same history, one with correct clocks, one with clocks that jump by hours and years, its own and
 * those in the record; every decision must be the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/kube-watcher/lease.h"
#include "obj.h"
#include "random.h"

enum { HISTORIES = 300, STEPS = 400, S = 1000 };
static const int64_t DAY_US = INT64_C(86400) * 1000 * 1000;

struct instance {
	struct lease	lease;
	bool		wrong;
};

/* How often leading began and ended in all histories: zero would mean that they test nothing. */
struct tally {
	unsigned	led, lost;
};

static void run_history(uint64_t, struct tally *);
static bool step_both(struct instance *, int64_t, uint64_t *, struct lease_step *);
static void answer_both(struct instance *, const struct lease_step *, uint64_t *, int64_t, unsigned *);
static struct lease_seen seen_by(const struct instance *, const char *, unsigned, uint64_t *, int64_t);
static int64_t wrong_us(uint64_t *);
static void same_view(const struct instance *, int64_t);

static void
fault_18_wall_clocks_decide_nothing(void **state)
{
	struct tally tally = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= HISTORIES; seed++)
		run_history(seed, &tally);
	assert_true(tally.led > HISTORIES && tally.lost > HISTORIES);
}

static void
run_history(uint64_t seed, struct tally *tally)
{
	const struct lease_config config = { .elect = true, .duration_ms = 15 * S, .identity = "us" };
	struct instance instances[2] = { { .wrong = false }, { .wrong = true } };
	uint64_t random = seed, clock_seed = ~seed;
	int64_t now_ms = 1000 * S;
	unsigned versions = 0;
	bool before = false;

	for (int i = 0; i < 2; i++)
		lease_init(&instances[i].lease, &config, seed, now_ms);
	for (int n = 0; n < STEPS; n++) {
		struct lease_step step;

		now_ms += (int64_t)random_below(&random, 3 * S);
		if (random_below(&random, 20) == 0) {
			lease_changed(&instances[0].lease, now_ms);
			lease_changed(&instances[1].lease, now_ms);
		}
		if (n == STEPS - 10) {
			lease_stop(&instances[0].lease, now_ms);
			lease_stop(&instances[1].lease, now_ms);
		}
		if (step_both(instances, now_ms, &clock_seed, &step)) {
			const bool slow = random_below(&random, 8) == 0;

			now_ms += (int64_t)random_below(&random, slow ? 12 * S : 300);
			answer_both(instances, &step, &random, now_ms, &versions);
		}
		same_view(instances, now_ms);
		const bool leading = lease_view(&instances[0].lease, now_ms).leading;
		tally->led += leading && !before;
		tally->lost += !leading && before;
		before = leading;
	}
}

/* Returns true if a request is under way. */
static bool
step_both(struct instance *instances, int64_t now_ms, uint64_t *clock_seed, struct lease_step *step)
{
	const struct lease_step right = lease_next(&instances[0].lease, now_ms, now_ms * 1000);
	const struct lease_step wrong = lease_next(&instances[1].lease, now_ms, wrong_us(clock_seed));

	assert_int_equal(right.verb, wrong.verb);
	assert_int_equal(right.at_ms, wrong.at_ms);
	assert_int_equal(right.timeout_ms, wrong.timeout_ms);
	assert_string_equal(right.record.holder, wrong.record.holder);
	assert_int_equal(right.record.duration_s, wrong.record.duration_s);
	assert_int_equal(right.record.transitions, wrong.record.transitions);
	if (right.rv != NULL)
		assert_string_equal(right.rv, wrong.rv);
	*step = right;
	return right.verb == LEASE_GET || right.verb == LEASE_CREATE || right.verb == LEASE_UPDATE;
}

/* Both get the same answer, except for the times in it. */
static void
answer_both(struct instance *instances, const struct lease_step *step, uint64_t *random, int64_t now_ms,
    unsigned *versions)
{
	static const char *const holders[] = { "us", "us", "other", "" };
	const bool wrote = step->verb != LEASE_GET;
	const uint64_t chance = random_below(random, 10);
	const enum lease_result result = chance < 7 ? LEASE_OK
	    : chance == 7 ? LEASE_FAILED : wrote ? LEASE_CONFLICT : LEASE_MISSING;
	const char *const holder =
	    wrote ? step->record.holder : holders[random_below(random, NITEMS(holders))];

	*versions += wrote || random_below(random, 2) == 0;
	for (int i = 0; i < 2; i++) {
		uint64_t own = *random + (uint64_t)i;
		const struct lease_seen seen = seen_by(&instances[i], holder, *versions, &own, now_ms);

		lease_answered(&instances[i].lease, result, result == LEASE_OK ? &seen : NULL, now_ms);
	}
}

static struct lease_seen
seen_by(const struct instance *t, const char *holder, unsigned version, uint64_t *random, int64_t now_ms)
{
	struct lease_seen seen = {
		.digest = version, .record = { .duration_s = 15, .transitions = 3 },
	};

	snprintf(seen.rv, sizeof(seen.rv), "%u", version);
	snprintf(seen.record.holder, sizeof(seen.record.holder), "%s", holder);
	seen.record.acquire_us = t->wrong ? wrong_us(random) : now_ms * 1000;
	seen.record.renew_us = t->wrong ? wrong_us(random) : now_ms * 1000;
	return seen;
}

/* An hour off, 1970, missing, the year 2999, and anything between. */
static int64_t
wrong_us(uint64_t *random)
{
	static const int64_t days[] = { 0, -1, 1, 20000, 376000 };
	const int64_t day = days[random_below(random, NITEMS(days))];

	return day * DAY_US + (int64_t)random_below(random, (uint64_t)DAY_US);
}

/* Only `clean` depends on the times in the record: whether its holder has led for long. */
static void
same_view(const struct instance *instances, int64_t now_ms)
{
	const struct lease_view right = lease_view(&instances[0].lease, now_ms);
	const struct lease_view wrong = lease_view(&instances[1].lease, now_ms);

	assert_int_equal(right.leading, wrong.leading);
	assert_string_equal(right.holder, wrong.holder);
	assert_int_equal(right.term, wrong.term);
	assert_int_equal(right.until_ms, wrong.until_ms);
	assert_int_equal(right.since_ms, wrong.since_ms);
	for (int64_t timeout_ms = 0; timeout_ms < 15 * S; timeout_ms += 5 * S)
		assert_int_equal(lease_covers(&instances[0].lease, timeout_ms, now_ms),
		    lease_covers(&instances[1].lease, timeout_ms, now_ms));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault_18_wall_clocks_decide_nothing),
	};

	return cmocka_run_group_tests_name("lease, clocks", tests, NULL, NULL);
}
