/* tests/unit/test_cluster_clock.c - cluster time: what a Date makes of it, and when actors get it anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "actors/kube-watcher/cluster_clock.h"
#include "obj.h"

enum { S = 1000, HOUR = 3600 * S };
#define SERVER	INT64_C(1767322800000)	/* its clock, in ms, when ours is 0 */

static const struct row {
	const char	*name;
	struct date {
		int64_t	at_ms, date_ms;		/* ours, theirs less SERVER; both 0: no more */
		bool	moved;
	} dates[6];
	int64_t		 offset_ms, published_ms;	/* at the end, less SERVER */
} rows[] = {
	{ "the first Date counts", { { 5 * S, 5 * S, true } }, 0, 0 },
	{ "whole seconds are noise", { { 5 * S, 5 * S, true }, { 6999, 6 * S, false }, { 8 * S, 8 * S, false } },
	  0, 0 },
	{ "a slow answer is noise", { { 5 * S, 5 * S, true }, { 9 * S, 7500, false } }, -1500, 0 },
	{ "more than noise", { { 5 * S, 5 * S, true }, { 9 * S, 7499, true } }, -1501, -1501 },
	{ "an hour ahead",
	  { { 5 * S, 5 * S, true }, { 9 * S, HOUR + 9 * S, true }, { 10 * S, HOUR + 10 * S, false } },
	  HOUR, HOUR },
	{ "and back", { { 5 * S, 5 * S, true }, { 9 * S, HOUR + 9 * S, true }, { 10 * S, 10 * S, true } }, 0, 0 },
	{ "small steps add up", { { 5 * S, 5 * S, true }, { 6 * S, 7 * S, false }, { 7 * S, 9 * S, true } },
	  2 * S, 2 * S },
	{ "a watch that ends after a newer answer", { { 9 * S, HOUR + 9 * S, true }, { 5 * S, 5 * S, false } },
	  HOUR, HOUR },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct cluster_clock c = { 0 };

	assert_false(cluster_clock_moved(&c));
	for (size_t i = 0; i < NITEMS(r->dates) && r->dates[i].at_ms != 0; i++) {
		cluster_clock_set(&c, (SERVER + r->dates[i].date_ms) * 1000, r->dates[i].at_ms);
		assert_int_equal(cluster_clock_moved(&c), r->dates[i].moved);
		assert_false(cluster_clock_moved(&c));
	}
	assert_int_equal(c.offset_ms - SERVER, r->offset_ms);
	assert_int_equal(c.published_ms - SERVER, r->published_ms);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("cluster_clock", tests, NULL, NULL);
}
