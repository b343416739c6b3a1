/* tests/unit/test_reconcile_outcome.c - what each outcome of a write means for its key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "actors/reconcile/reconcile.h"
#include "obj.h"

static const struct answer {
	const char		*name;
	enum op			 op;
	enum outcome		 outcome;
	int64_t			 retry_after_ms;
	struct outcome_action	 want;
} answers[] = {
	{ "B5 done: the next step at once", OP_CREATE, OUTCOME_OK, 0, { .result = WORK_AFTER } },
	{ "B5 A4 conflict: read live, back off", OP_UPDATE, OUTCOME_CONFLICT, 0, { .result = WORK_RETRY, .read_live = true } },
	{ "B5 exists already: read live", OP_CREATE, OUTCOME_EXISTS, 0, { .result = WORK_RETRY, .read_live = true } },
	{ "B5 unknown: read live", OP_CREATE, OUTCOME_UNKNOWN, 0, { .result = WORK_RETRY, .read_live = true } },
	{ "B5 not found on a status: it will be created", OP_UPDATE, OUTCOME_NOT_FOUND, 0, { .result = WORK_AFTER, .after_ms = 1000 } },
	{ "B5 not found on a delete", OP_DELETE, OUTCOME_NOT_FOUND, 0, { .result = WORK_AFTER, .after_ms = 1000 } },
	{ "B5 A4 forbidden: slowly", OP_CREATE, OUTCOME_FORBIDDEN, 0, { .result = WORK_AFTER, .after_ms = 60000, .hold = true } },
	{ "B5 denied by our own table: slowly", OP_CREATE, OUTCOME_DENIED, 0, { .result = WORK_AFTER, .after_ms = 60000, .hold = true } },
	{ "B5 A8 not the leader: quiet", OP_CREATE, OUTCOME_NOT_LEADER, 0, { .result = WORK_DONE, .not_leader = true } },
	{ "B5 A4 invalid: terminal", OP_UPDATE, OUTCOME_INVALID, 0, { .result = WORK_DONE, .refused = true } },
	{ "B5 A4 limited: after Retry-After", OP_UPDATE, OUTCOME_LIMITED, 7000, { .result = WORK_RETRY, .after_ms = 7000 } },
	{ "B5 busy", OP_UPDATE, OUTCOME_BUSY, 0, { .result = WORK_AFTER, .after_ms = 1000 } },
	{ "B5 expired", OP_UPDATE, OUTCOME_EXPIRED, 0, { .result = WORK_AFTER, .after_ms = 1000 } },
	{ "B5 failed: backoff", OP_UPDATE, OUTCOME_FAILED, 0, { .result = WORK_RETRY } },
	{ "B5 read live: what failed before backs off", OP_GET, OUTCOME_OK, 0, { .result = WORK_RETRY } },
	{ "B5 read live, not there", OP_GET, OUTCOME_NOT_FOUND, 0, { .result = WORK_RETRY } },
	{ "B5 read live, forbidden: no second live read", OP_GET, OUTCOME_FORBIDDEN, 0, { .result = WORK_RETRY } },
	{ "B5 read live, unknown", OP_GET, OUTCOME_UNKNOWN, 300, { .result = WORK_RETRY, .after_ms = 300 } },
};

static void
check_answer(void **arg)
{
	const struct answer *const r = *arg;
	const struct outcome_action action = outcome_action(r->op, r->outcome, r->retry_after_ms);

	assert_int_equal(action.result, r->want.result);
	assert_int_equal(action.after_ms, r->want.after_ms);
	assert_int_equal(action.read_live, r->want.read_live);
	assert_int_equal(action.refused, r->want.refused);
	assert_int_equal(action.not_leader, r->want.not_leader);
	assert_int_equal(action.hold, r->want.hold);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(answers)];

	for (size_t i = 0; i < NITEMS(answers); i++)
		tests[i] = (struct CMUnitTest){
			answers[i].name, check_answer, NULL, NULL, (void *)(uintptr_t)&answers[i] };
	return _cmocka_run_group_tests("outcome_action", tests, NITEMS(tests), NULL, NULL);
}
