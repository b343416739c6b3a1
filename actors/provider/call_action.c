/* actors/provider/call_action.c - the rules of call_action.h. Pure. */
#include "call_action.h"

#include "obj.h"

static struct outcome_action fenced(const struct call_facts *);
static bool is_terminal(int);

struct outcome_action
call_action(const struct call_facts *f)
{
	struct outcome_action action = { .result = WORK_RETRY };

	if (f->taken || f->token_changed)
		action.result = WORK_AFTER;
	else if (f->outcome == CALL_NOT_SENT && f->fence != FENCE_OPEN)
		action = fenced(f);
	else if (f->outcome == CALL_REFUSED && is_terminal(f->status))
		action = (struct outcome_action){ .result = WORK_DONE, .refused = true };
	if (action.after_ms < f->retry_after_ms)
		action.after_ms = f->retry_after_ms;
	return action;
}

static struct outcome_action
fenced(const struct call_facts *f)
{
	/* The next report that this instance leads enqueues every key. */
	if (f->fence == FENCE_NO_LEASE || f->fence == FENCE_NOT_LEADER)
		return (struct outcome_action){ .result = WORK_DONE, .not_leader = true };
	const bool timed = f->fence_ms > 0 && f->fence_ms <= FENCE_SETTLE_MS;
	return (struct outcome_action){ .result = WORK_AFTER,
		.after_ms = timed ? f->fence_ms : RECONCILE_REQUEUE_MS };
}

static bool
is_terminal(int status)
{
	static const int passing[] = { 401, 403, 404, 408, 409, 425, 429 };

	for (size_t i = 0; i < NITEMS(passing); i++) {
		if (status == passing[i])
			return false;
	}
	return status >= 400 && status <= 499;
}
