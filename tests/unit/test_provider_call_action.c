/* tests/unit/test_provider_call_action.c - what the end of a call means for its key (contract A4, A8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "actors/provider/call_action.h"
#include "obj.h"

#define AGAIN(ms)	{ .result = WORK_AFTER, .after_ms = (ms) }
#define BACKOFF(ms)	{ .result = WORK_RETRY, .after_ms = (ms) }
#define TERMINAL	{ .result = WORK_DONE, .refused = true }
#define NOT_LEADING	{ .result = WORK_DONE, .not_leader = true }

static const struct row {
	const char		*name;
	struct call_facts	 in;
	struct outcome_action	 want;
} rows[] = {
	{ "done, and used: planned again at once", { .outcome = CALL_DONE, .status = 200, .taken = true }, AGAIN(0) },
	{ "A7 done, and malformed: backoff", { .outcome = CALL_DONE, .status = 200 }, BACKOFF(0) },
	{ "a 404 that the caller used", { .outcome = CALL_REFUSED, .status = 404, .taken = true }, AGAIN(0) },
	{ "A4 a 404 that it did not: backoff", { .outcome = CALL_REFUSED, .status = 404 }, BACKOFF(0) },
	{ "A7 401, and the token has changed: at once", { .outcome = CALL_REFUSED, .status = 401, .token_changed = true }, AGAIN(0) },
	{ "A7 401, the same token: backoff", { .outcome = CALL_REFUSED, .status = 401 }, BACKOFF(0) },
	{ "A4 403: backoff", { .outcome = CALL_REFUSED, .status = 403 }, BACKOFF(0) },
	{ "A4 409: backoff", { .outcome = CALL_REFUSED, .status = 409 }, BACKOFF(0) },
	{ "A4 429 waits as long as it asks for", { .outcome = CALL_REFUSED, .status = 429, .retry_after_ms = 7000 }, BACKOFF(7000) },
	{ "A4 422 is terminal", { .outcome = CALL_REFUSED, .status = 422 }, TERMINAL },
	{ "A4 400 is terminal", { .outcome = CALL_REFUSED, .status = 400 }, TERMINAL },
	{ "A4 402 is terminal", { .outcome = CALL_REFUSED, .status = 402 }, TERMINAL },
	{ "A4 500 to a read: backoff", { .outcome = CALL_FAILED, .status = 500 }, BACKOFF(0) },
	{ "A4 503 that names a time", { .outcome = CALL_FAILED, .status = 503, .retry_after_ms = 3000 }, BACKOFF(3000) },
	{ "A10 no answer to a mutation: backoff, then the plan reads", { .outcome = CALL_UNKNOWN }, BACKOFF(0) },
	{ "A4 no connection: backoff", { .outcome = CALL_NOT_SENT }, BACKOFF(0) },
	{ "A8 another leads: until this instance does", { .outcome = CALL_NOT_SENT, .fence = FENCE_NOT_LEADER }, NOT_LEADING },
	{ "A8 nothing was reported about who leads", { .outcome = CALL_NOT_SENT, .fence = FENCE_NO_LEASE }, NOT_LEADING },
	{ "A8 after a takeover: when the fence opens",
	    { .outcome = CALL_NOT_SENT, .fence = FENCE_TAKEOVER, .fence_ms = 12000 }, AGAIN(12000) },
	{ "A8 the lease ends too soon: in a second", { .outcome = CALL_NOT_SENT, .fence = FENCE_LEASE_ENDS },
	    AGAIN(RECONCILE_REQUEUE_MS) },
	{ "A8 the fence has opened meanwhile", { .outcome = CALL_NOT_SENT, .fence = FENCE_TAKEOVER, .fence_ms = -3 },
	    AGAIN(RECONCILE_REQUEUE_MS) },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	const struct outcome_action got = call_action(&r->in);

	assert_int_equal(got.result, r->want.result);
	assert_int_equal(got.after_ms, r->want.after_ms);
	assert_int_equal(got.refused, r->want.refused);
	assert_int_equal(got.not_leader, r->want.not_leader);
	assert_false(got.read_live || got.hold);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("call_action", tests, NULL, NULL);
}
