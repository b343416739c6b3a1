/* tests/unit/test_provider_fence.c - when a provider call may start (contract A8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "actors/provider/fence.h"
#include "obj.h"

#define FOREVER	INT64_MAX
#define READ	{ .timeout_ms = 30000 }
#define PUT	{ .mutating = true, .idempotent = true, .timeout_ms = 8000 }
#define POST	{ .mutating = true, .timeout_ms = 8000 }
#define REPOST	{ .mutating = true, .intent_open = true, .timeout_ms = 8000 }
#define SINCE(s, u, c)	{ .known = true, .leading = true, .clean = (c), .since_ms = (s), .until_ms = (u) }

static const struct row {
	const char		*name;
	struct fence_lease	 lease;
	struct fence_call	 call;
	int64_t			 started_ms, now_ms;
	enum fence_reason	 want;
	int64_t			 at_ms;		/* begin_before_ms when open, else retry_at_ms */
} rows[] = {
	{ "A8 reading needs no lease", { 0 }, READ, 0, 5, FENCE_OPEN, FOREVER },
	{ "A8 reading goes on after the lease", SINCE(0, 10, true), READ, 0, 50, FENCE_OPEN, FOREVER },
	{ "A8 nobody reported who leads", { 0 }, PUT, 0, 5, FENCE_NO_LEASE, FOREVER },
	{ "A8 another instance leads", { .known = true }, PUT, 0, 5, FENCE_NOT_LEADER, FOREVER },
	{ "A8 a remembered `leading` ends with its deadline", SINCE(0, 10000, true), PUT, 0, 10000, FENCE_NOT_LEADER, FOREVER },
	{ "A8 the lease outlives the call", SINCE(0, 10000, true), PUT, 0, 1999, FENCE_OPEN, 2000 },
	{ "A8 the lease ends with the call's timeout", SINCE(0, 10000, true), PUT, 0, 2000, FENCE_LEASE_ENDS, FOREVER },
	{ "A8 without election there is no end", SINCE(0, FOREVER, true), POST, 0, 5, FENCE_OPEN, FOREVER },
	{ "A8 unclean takeover holds a POST back", SINCE(1000, 900000, false), POST, 0, 30999, FENCE_TAKEOVER, 31000 },
	{ "A8 and lets it go after 30 s", SINCE(1000, 900000, false), POST, 0, 31000, FENCE_OPEN, 892000 },
	{ "A8 unclean takeover, idempotent call", SINCE(1000, 900000, false), PUT, 0, 1001, FENCE_OPEN, 892000 },
	{ "A8 clean takeover", SINCE(1000, 900000, true), POST, 0, 1001, FENCE_OPEN, 892000 },
	{ "A8 own start with an open intent", SINCE(0, 900000, true), REPOST, 40000, 69999, FENCE_OWN_START, 70000 },
	{ "A8 own start long ago", SINCE(0, 900000, true), REPOST, 40000, 70000, FENCE_OPEN, 892000 },
	{ "A8 own start without an open intent", SINCE(0, 900000, true), POST, 40000, 40001, FENCE_OPEN, 892000 },
	{ "A8 the later of both waits counts", SINCE(50000, 900000, false), REPOST, 60000, 80000, FENCE_OWN_START, 90000 },
	{ "A8 a lease taken at the end of time", SINCE(FOREVER - 1, FOREVER, false), POST, 0, 5, FENCE_TAKEOVER, FOREVER },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	const struct fence_verdict v = fence_check(&r->lease, &r->call, r->started_ms, r->now_ms);

	assert_string_equal(fence_text(v.reason), fence_text(r->want));
	assert_int_equal(v.reason == FENCE_OPEN ? v.begin_before_ms : v.retry_at_ms, r->at_ms);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("fence", tests, NULL, NULL);
}
