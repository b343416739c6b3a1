/*
 * tests/unit/test_rate.c - the token bucket: scripts of requests, and the guarantee that the returned
 * wait is enough.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "random.h"
#include "rate.h"

enum { GO = 0, CLOSE = -1, CHANGE = -2, END = -3 };

#define DONE	{ 0, END, 0 }

/* want: what rate_take returns then; CLOSE: penalised until `n`; CHANGE: to n per second, burst n. */
struct ask {
	int64_t	at, want, n;
};

static const struct row {
	const char	*name;
	double		 per_second, burst;
	struct ask	 asks[12];
} rows[] = {
	{ "burst, then one at a time", 10, 3,
	  { { 0, GO, 0 }, { 0, GO, 0 }, { 0, GO, 0 }, { 0, 101, 0 },
	    { 50, 51, 0 }, { 100, GO, 0 }, { 100, 101, 0 }, DONE } },
	{ "rest fills it to the burst and no further", 10, 2,
	  { { 0, GO, 0 }, { 0, GO, 0 }, { 90000, GO, 0 }, { 90000, GO, 0 }, { 90000, 101, 0 }, DONE } },
	{ "slower than one a second", 0.5, 1, { { 0, GO, 0 }, { 0, 2001, 0 }, { 2000, GO, 0 }, DONE } },
	{ "no limit", 0, 1, { { 0, GO, 0 }, { 0, GO, 0 }, { 0, GO, 0 }, DONE } },
	{ "no limit, but closed", 0, 1,
	  { { 0, GO, 0 }, { 0, CLOSE, 500 }, { 0, 500, 0 }, { 499, 1, 0 },
	    { 500, GO, 0 }, { 500, GO, 0 }, DONE } },
	{ "after closing one token, not a burst", 10, 5,
	  { { 0, CLOSE, 1000 }, { 0, 1000, 0 }, { 1000, GO, 0 }, { 1000, 101, 0 }, { 1100, GO, 0 }, DONE } },
	{ "a shorter word does not open it", 10, 5,
	  { { 0, CLOSE, 1000 }, { 0, CLOSE, 200 }, { 300, 700, 0 }, DONE } },
	{ "a word about the past closes nothing", 10, 2,
	  { { 5000, CLOSE, 4000 }, { 5000, GO, 0 }, DONE } },
	{ "time that steps back gives nothing", 10, 1, { { 1000, GO, 0 }, { 500, 101, 0 }, { 1100, GO, 0 }, DONE } },
	{ "other limits keep what was spent", 10, 4,
	  { { 0, GO, 0 }, { 0, GO, 0 }, { 0, GO, 0 }, { 0, CHANGE, 1 }, { 0, GO, 0 },
	    { 0, 1001, 0 }, DONE } },
	{ "from no limit to a full bucket", 0, 1,
	  { { 0, GO, 0 }, { 0, CHANGE, 2 }, { 0, GO, 0 }, { 0, GO, 0 }, { 0, 501, 0 }, DONE } },
	{ "a wait no timer could hold is cut", 1e-9, 1, { { 0, GO, 0 }, { 0, INT32_MAX, 0 }, DONE } },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct rate b = rate_new(r->per_second, r->burst, 0);

	for (const struct ask *a = r->asks; a->want != END; a++) {
		if (a->want == CLOSE)
			rate_penalise(&b, a->n);
		else if (a->want == CHANGE)
			rate_change(&b, (double)a->n, (double)a->n, a->at);
		else
			assert_int_equal(rate_take(&b, a->at), a->want);
	}
}

/* A caller that waits as long as rate_take returned goes next; the rate is kept over a long time. */
static void
the_returned_wait_is_enough(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int i = 0; i < 200; i++) {
		const double per_second = (double)(1 + random_below(&seed, 5000)) / 10;
		const double burst = (double)(1 + random_below(&seed, 50));
		struct rate b = rate_new(per_second, burst, 0);
		int64_t now = 0;
		int taken = 0;

		while (taken < 500) {
			const int64_t wait = rate_take(&b, now);

			if (wait == 0) {
				taken++;
				continue;
			}
			now += wait;
			assert_int_equal(rate_take(&b, now), 0);
			taken++;
		}
		/*
		 * as many as the burst and the time allow, and not many fewer (a wait is rounded up
		 * to the next ms)
		 */
		assert_true(taken <= burst + (double)now * per_second / 1000 + 0.001);
		assert_true(taken >= (double)now * per_second / 1000 * 0.45);
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(the_returned_wait_is_enough);
	return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
