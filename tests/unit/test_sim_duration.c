/*
 * tests/unit/test_sim_duration.c - durations as kubectl shows them; the pairs are those of
 * apimachinery's own test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/kube/printers/sim_duration.h"

enum { M = 60, H = 60 * M, D = 24 * H };
#define Y	((int64_t)365 * D)

static const struct row {
	int64_t		 seconds;
	const char	*want;
} rows[] = {
	{ -2, "<invalid>" }, { -1, "0s" }, { 0, "0s" }, { 1, "1s" }, { 70, "70s" }, { 119, "119s" },
	{ 190, "3m10s" }, { 3 * M, "3m" }, { 9 * M + 59, "9m59s" }, { 10 * M, "10m" }, { 10 * M + 30, "10m" },
	{ 179 * M, "179m" }, { 3 * H, "3h" }, { 7 * H + 50 * M, "7h50m" }, { 8 * H, "8h" }, { 47 * H, "47h" },
	{ 2 * D, "2d" }, { 7 * D + 23 * H, "7d23h" }, { 8 * D, "8d" }, { 2 * Y - D, "729d" }, { 2 * Y, "2y" },
	{ 2 * Y + 23 * H, "2y" }, { 3 * Y + D, "3y1d" }, { 8 * Y - 1, "7y364d" }, { 8 * Y, "8y" }, { 9 * Y + 23 * D, "9y" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	char buf[SIM_DURATION_MAX];

	assert_string_equal(sim_duration_format(r->seconds, buf), r->want);
}

static void
since_a_time(void **state)
{
	char buf[SIM_DURATION_MAX];
	const int64_t now_us = INT64_C(1767225600) * 1000000;		/* 2026-01-01T00:00:00Z */

	(void)state;
	assert_string_equal(sim_duration_since("2025-12-31T23:58:00Z", now_us, buf), "2m");
	assert_string_equal(sim_duration_since("2025-12-31T23:59:30.000000Z", now_us, buf), "30s");
	assert_string_equal(sim_duration_since("", now_us, buf), "<unknown>");
	assert_string_equal(sim_duration_since("yesterday", now_us, buf), "<invalid>");
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].want, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(since_a_time);
	return cmocka_run_group_tests_name("sim_human", tests, NULL, NULL);
}
