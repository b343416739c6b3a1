/* tests/unit/test_provider_limit.c - what a provider's headers mean for a bucket, and a call's outcome. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "actors/provider/call_outcome.h"
#include "actors/provider/limit.h"
#include "obj.h"

#define DATE_S	INT64_C(1767322800)
#define DATE	.date_ms = DATE_S * 1000
#define LEFT(l, n, at)	.limit = (l), .remaining = (n), .reset = (at)

enum { NOW = 1000000, UNKNOWN = LIMIT_UNKNOWN };

static const struct row {
	const char		*name;
	struct limit_report	 report;
	unsigned		 in_flight;
	int64_t			 closed_ms;	/* from now; 0: open */
	int64_t			 budget, budget_after;	/* now, and six minutes later */
} rows[] = {
	{ "nothing reported", { 200, DATE }, 0, 0, UNKNOWN, UNKNOWN },
	{ "429 with a time", { 429, 7000, DATE }, 0, 7000, UNKNOWN, UNKNOWN },
	{ "429 without a time", { 429, 0, DATE }, 0, 3000, UNKNOWN, UNKNOWN },
	{ "429 with a time below the least", { 429, 1, DATE }, 0, 1000, UNKNOWN, UNKNOWN },
	{ "429 with a time above the most", { 429, 3600000, DATE }, 0, 300000, UNKNOWN, UNKNOWN },
	{ "503 with a time", { 503, 2000, DATE }, 0, 2000, UNKNOWN, UNKNOWN },
	{ "503 without a time", { 503, 0, DATE }, 0, 0, UNKNOWN, UNKNOWN },
	{ "200 with a Retry-After", { 200, 5000, DATE }, 0, 0, UNKNOWN, UNKNOWN },
	{ "calls remain", { 200, 0, LEFT("1600", "1599", "1767322860"), DATE }, 8, 0, 1599, 1600 },
	{ "none remains", { 200, 0, LEFT("20", "0", "1767322815"), DATE }, 0, 15000, 0, 20 },
	{ "those that remain are in flight",
	  { 200, 0, LEFT("20", "3", "1767322815"), DATE }, 3, 15000, 3, 20 },
	{ "one more than are in flight", { 200, 0, LEFT("20", "4", "1767322815"), DATE }, 3, 0, 4, 20 },
	{ "none remains, and no reset", { 200, 0, LEFT("20", "0", NULL), DATE }, 0, 0, 0, 0 },
	{ "a reset in the past", { 200, 0, LEFT("20", "0", "1767322000"), DATE }, 0, 1000, 0, 20 },
	{ "a reset years ahead", { 200, 0, LEFT("20", "0", "1999999999"), DATE }, 0, 300000, 0, 20 },
	{ "a reset in milliseconds", { 200, 0, LEFT("20", "0", "1767322815000"), DATE }, 0, 0, 0, 0 },
	{ "429 and a later reset", { 429, 2000, LEFT("20", "0", "1767322815"), DATE }, 0, 15000, 0, 20 },
	{ "429 and an earlier reset", { 429, 20000, LEFT("20", "0", "1767322815"), DATE }, 0, 20000, 0, 20 },
	{ "a negative remainder", { 200, 0, LEFT("20", "-1", "1767322815"), DATE }, 0, 0, UNKNOWN, UNKNOWN },
	{ "words", { 200, 0, LEFT("many", "abc", "soon"), DATE }, 0, 0, UNKNOWN, UNKNOWN },
	{ "nothing in the headers", { 200, 0, LEFT("", "", ""), DATE }, 0, 0, UNKNOWN, UNKNOWN },
	{ "digits without end",
	  { 200, 0, LEFT("20", "00000000000000000000000000", "1"), DATE }, 0, 0, UNKNOWN, UNKNOWN },
	{ "a blank after the number",
	  { 200, 0, LEFT("20", "0 ", "1767322815"), DATE }, 0, 0, UNKNOWN, UNKNOWN },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct limit l;

	limit_init(&l);
	const int64_t until_ms = limit_answered(&l, &r->report, r->in_flight, NOW);
	assert_int_equal(until_ms == 0 ? 0 : until_ms - NOW, r->closed_ms);
	if (r->budget != UNKNOWN || l.remaining != UNKNOWN)
		assert_int_equal(limit_budget(&l, NOW), r->budget);
	if (r->budget_after != UNKNOWN)
		assert_int_equal(limit_budget(&l, NOW + 360000), r->budget_after);
}

/* An answer without the headers leaves what the one before reported. */
static void
what_was_reported_stays(void **state)
{
	struct limit l;

	(void)state;
	limit_init(&l);
	limit_answered(&l, &(struct limit_report){ 200, 0, LEFT("20", "7", "1767322815"), DATE }, 0, NOW);
	limit_answered(&l, &(struct limit_report){ 500, DATE }, 0, NOW + 1);
	assert_int_equal(limit_budget(&l, NOW + 1), 7);
}

#define READ	false
#define MUTATE	true

static const struct end_row {
	const char		*name;
	struct call_end		 end;	/* mutating, sent, whole, status */
	enum call_outcome	 want;
} end_rows[] = {
	{ "a read", { READ, true, true, 200 }, CALL_DONE },
	{ "a read that is not modified", { READ, true, true, 304 }, CALL_DONE },
	{ "a read that is refused", { READ, true, true, 404 }, CALL_REFUSED },
	{ "a read and a 5xx", { READ, true, true, 502 }, CALL_FAILED },
	{ "a read and a redirect", { READ, true, true, 302 }, CALL_FAILED },
	{ "a read that is cut", { READ, true, false, 200 }, CALL_FAILED },
	{ "a read that is not sent", { READ, false, false, 0 }, CALL_NOT_SENT },
	{ "a mutation", { MUTATE, true, true, 201 }, CALL_DONE },
	{ "a mutation that is refused", { MUTATE, true, true, 422 }, CALL_REFUSED },
	{ "a mutation beyond the limit", { MUTATE, true, true, 429 }, CALL_REFUSED },
	{ "a mutation with a stale token", { MUTATE, true, true, 401 }, CALL_REFUSED },
	{ "a mutation and a 408: a proxy gave up", { MUTATE, true, true, 408 }, CALL_UNKNOWN },
	{ "a mutation and a 500", { MUTATE, true, true, 500 }, CALL_UNKNOWN },
	{ "a mutation and a 504", { MUTATE, true, true, 504 }, CALL_UNKNOWN },
	{ "a mutation and a 303: see what it made", { MUTATE, true, true, 303 }, CALL_UNKNOWN },
	{ "a mutation whose answer is cut", { MUTATE, true, false, 201 }, CALL_UNKNOWN },
	{ "a mutation whose refusal is cut", { MUTATE, true, false, 404 }, CALL_UNKNOWN },
	{ "a mutation without an answer", { MUTATE, true, false, 0 }, CALL_UNKNOWN },
	{ "a mutation that is not sent", { MUTATE, false, false, 0 }, CALL_NOT_SENT },
};

static void
check_end(void **state)
{
	const struct end_row *const r = *state;

	assert_string_equal(call_outcome_name(call_outcome(&r->end)), call_outcome_name(r->want));
}

int
main(void)
{
	struct CMUnitTest limits[NITEMS(rows) + 1], ends[NITEMS(end_rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		limits[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	limits[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(what_was_reported_stays);
	for (size_t i = 0; i < NITEMS(end_rows); i++)
		ends[i] = (struct CMUnitTest){ end_rows[i].name, check_end, NULL, NULL,
			(void *)(uintptr_t)&end_rows[i] };
	return cmocka_run_group_tests_name("limit", limits, NULL, NULL)
	    + cmocka_run_group_tests_name("outcome", ends, NULL, NULL);
}
