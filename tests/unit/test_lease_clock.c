/*
 * tests/unit/test_lease_clock.c - fault 18: nobody's wall clock decides who leads. Two instances live through
 * the same history, one with clocks that go right, one with clocks that jump by hours and years, its own and
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

struct twin {
	struct lease	lease;
	bool		mad;
};

/* How often leading began and ended in all histories: they must be worth something. */
struct tally {
	unsigned	led, lost;
};

static void live(uint64_t, struct tally *);
static bool step_both(struct twin *, int64_t, uint64_t *, struct lease_step *);
static void answer_both(struct twin *, const struct lease_step *, uint64_t *, int64_t, unsigned *);
static struct lease_seen seen_by(const struct twin *, const char *, unsigned, uint64_t *, int64_t);
static int64_t mad_us(uint64_t *);
static void same_view(const struct twin *, int64_t);

static void
fault_18_wall_clocks_decide_nothing(void **state)
{
	struct tally tally = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= HISTORIES; seed++)
		live(seed, &tally);
	assert_true(tally.led > HISTORIES && tally.lost > HISTORIES);
}

static void
live(uint64_t seed, struct tally *tally)
{
	const struct lease_config config = { .elect = true, .duration_ms = 15 * S, .identity = "us" };
	struct twin twins[2] = { { .mad = false }, { .mad = true } };
	uint64_t random = seed, madness = ~seed;
	int64_t now_ms = 1000 * S;
	unsigned versions = 0;
	bool before = false;

	for (int i = 0; i < 2; i++)
		lease_init(&twins[i].lease, &config, seed, now_ms);
	for (int n = 0; n < STEPS; n++) {
		struct lease_step step;

		now_ms += (int64_t)random_below(&random, 3 * S);
		if (random_below(&random, 20) == 0) {
			lease_changed(&twins[0].lease, now_ms);
			lease_changed(&twins[1].lease, now_ms);
		}
		if (n == STEPS - 10) {
			lease_stop(&twins[0].lease, now_ms);
			lease_stop(&twins[1].lease, now_ms);
		}
		if (step_both(twins, now_ms, &madness, &step)) {
			const bool slow = random_below(&random, 8) == 0;

			now_ms += (int64_t)random_below(&random, slow ? 12 * S : 300);
			answer_both(twins, &step, &random, now_ms, &versions);
		}
		same_view(twins, now_ms);
		const bool leading = lease_view(&twins[0].lease, now_ms).leading;
		tally->led += leading && !before;
		tally->lost += !leading && before;
		before = leading;
	}
}

/* True: a request is under way. */
static bool
step_both(struct twin *twins, int64_t now_ms, uint64_t *madness, struct lease_step *step)
{
	const struct lease_step sane = lease_next(&twins[0].lease, now_ms, now_ms * 1000);
	const struct lease_step mad = lease_next(&twins[1].lease, now_ms, mad_us(madness));

	assert_int_equal(sane.verb, mad.verb);
	assert_int_equal(sane.at_ms, mad.at_ms);
	assert_int_equal(sane.timeout_ms, mad.timeout_ms);
	assert_string_equal(sane.record.holder, mad.record.holder);
	assert_int_equal(sane.record.duration_s, mad.record.duration_s);
	assert_int_equal(sane.record.transitions, mad.record.transitions);
	if (sane.rv != NULL)
		assert_string_equal(sane.rv, mad.rv);
	*step = sane;
	return sane.verb == LEASE_GET || sane.verb == LEASE_CREATE || sane.verb == LEASE_UPDATE;
}

/* The same for both, but for the times in it. */
static void
answer_both(struct twin *twins, const struct lease_step *step, uint64_t *random, int64_t now_ms,
    unsigned *versions)
{
	static const char *const holders[] = { "us", "us", "other", "" };
	const bool wrote = step->verb != LEASE_GET;
	const uint64_t luck = random_below(random, 10);
	const enum lease_result result = luck < 7 ? LEASE_OK
	    : luck == 7 ? LEASE_FAILED : wrote ? LEASE_CONFLICT : LEASE_MISSING;
	const char *const holder =
	    wrote ? step->record.holder : holders[random_below(random, NITEMS(holders))];

	*versions += wrote || random_below(random, 2) == 0;
	for (int i = 0; i < 2; i++) {
		uint64_t own = *random + (uint64_t)i;
		const struct lease_seen seen = seen_by(&twins[i], holder, *versions, &own, now_ms);

		lease_answered(&twins[i].lease, result, result == LEASE_OK ? &seen : NULL, now_ms);
	}
}

static struct lease_seen
seen_by(const struct twin *t, const char *holder, unsigned version, uint64_t *random, int64_t now_ms)
{
	struct lease_seen seen = {
		.digest = version, .record = { .duration_s = 15, .transitions = 3 },
	};

	snprintf(seen.rv, sizeof(seen.rv), "%u", version);
	snprintf(seen.record.holder, sizeof(seen.record.holder), "%s", holder);
	seen.record.acquire_us = t->mad ? mad_us(random) : now_ms * 1000;
	seen.record.renew_us = t->mad ? mad_us(random) : now_ms * 1000;
	return seen;
}

/* An hour off, 1970, missing, the year 2999, and anything between. */
static int64_t
mad_us(uint64_t *random)
{
	static const int64_t days[] = { 0, -1, 1, 20000, 376000 };
	const int64_t day = days[random_below(random, NITEMS(days))];

	return day * DAY_US + (int64_t)random_below(random, (uint64_t)DAY_US);
}

/* `clean` alone goes by the record's own times: has its holder led for long. */
static void
same_view(const struct twin *twins, int64_t now_ms)
{
	const struct lease_view sane = lease_view(&twins[0].lease, now_ms);
	const struct lease_view mad = lease_view(&twins[1].lease, now_ms);

	assert_int_equal(sane.leading, mad.leading);
	assert_string_equal(sane.holder, mad.holder);
	assert_int_equal(sane.term, mad.term);
	assert_int_equal(sane.until_ms, mad.until_ms);
	assert_int_equal(sane.since_ms, mad.since_ms);
	for (int64_t timeout_ms = 0; timeout_ms < 15 * S; timeout_ms += 5 * S)
		assert_int_equal(lease_covers(&twins[0].lease, timeout_ms, now_ms),
		    lease_covers(&twins[1].lease, timeout_ms, now_ms));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault_18_wall_clocks_decide_nothing),
	};

	return cmocka_run_group_tests_name("lease, clocks", tests, NULL, NULL);
}
