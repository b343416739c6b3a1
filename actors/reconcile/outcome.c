/* actors/reconcile/outcome.c - what the outcome of a write means for its key. Pure. */
#include "obj.h"
#include "reconcile.h"

/*
 * A live read updates the mirror, which does not get new versions of an object whose projected fields are
 * unchanged.
 */
static const struct outcome_action actions[OUTCOME_MAX] = {
	[OUTCOME_OK]         = { .result = WORK_AFTER },	/* at once: the next step */
	[OUTCOME_CONFLICT]   = { .result = WORK_RETRY, .read_live = true },
	[OUTCOME_EXISTS]     = { .result = WORK_RETRY, .read_live = true },
	[OUTCOME_NOT_FOUND]  = { .result = WORK_AFTER, .after_ms = RECONCILE_REQUEUE_MS },
	[OUTCOME_FORBIDDEN]  = { .result = WORK_AFTER, .after_ms = RECONCILE_HOLD_MS, .hold = true },
	[OUTCOME_DENIED]     = { .result = WORK_AFTER, .after_ms = RECONCILE_HOLD_MS, .hold = true },
	[OUTCOME_NOT_LEADER] = { .result = WORK_DONE, .not_leader = true },
	[OUTCOME_INVALID]    = { .result = WORK_DONE, .refused = true },
	[OUTCOME_LIMITED]    = { .result = WORK_RETRY },
	[OUTCOME_BUSY]       = { .result = WORK_AFTER, .after_ms = RECONCILE_REQUEUE_MS },
	[OUTCOME_EXPIRED]    = { .result = WORK_AFTER, .after_ms = RECONCILE_REQUEUE_MS },
	[OUTCOME_UNKNOWN]    = { .result = WORK_RETRY, .read_live = true },
	[OUTCOME_FAILED]     = { .result = WORK_RETRY },
};

struct outcome_action
outcome_action(enum op op, enum outcome o, int64_t retry_after_ms)
{
	MUST((unsigned)o < OUTCOME_MAX);
	/* A live read follows a failed write, or failed itself: the key backs off. */
	if (op == OP_GET)
		return (struct outcome_action){ .result = WORK_RETRY, .after_ms = retry_after_ms };
	struct outcome_action action = actions[o];
	if (action.after_ms < retry_after_ms)
		action.after_ms = retry_after_ms;
	return action;
}
