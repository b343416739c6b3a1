/* actors/provider/fence.c - the rules of fence.h. Pure. */
#include "fence.h"

#include "obj.h"

static const struct {
	const char	*label, *text;
} reasons[FENCE_REASON_MAX] = {
#define FENCE_ROW(ID, label, text) [FENCE_##ID] = { label, text },
	FENCE_REASONS(FENCE_ROW)
#undef FENCE_ROW
};

static struct fence_verdict closed(enum fence_reason, int64_t);
static int64_t after(int64_t, int64_t);

struct fence_verdict
fence_check(const struct fence_lease *lease, const struct fence_call *call, int64_t started_ms,
    int64_t now_ms)
{
	if (!call->mutating)
		return (struct fence_verdict){ FENCE_OPEN, .begin_before_ms = INT64_MAX };
	MUST(call->timeout_ms > 0);
	if (!lease->known)
		return closed(FENCE_NO_LEASE, INT64_MAX);
	if (!lease->leading || now_ms >= lease->until_ms)
		return closed(FENCE_NOT_LEADER, INT64_MAX);
	/* Without leader election until_ms is the largest time: the difference cannot overflow. */
	const int64_t begin_before_ms =
	    lease->until_ms == INT64_MAX ? INT64_MAX : lease->until_ms - call->timeout_ms;
	if (now_ms >= begin_before_ms)
		return closed(FENCE_LEASE_ENDS, INT64_MAX);
	if (!call->idempotent) {
		if (now_ms < fence_takeover_ms(lease))
			return closed(FENCE_TAKEOVER, fence_takeover_ms(lease));
		if (call->intent_open && now_ms < after(started_ms, FENCE_SETTLE_MS))
			return closed(FENCE_OWN_START, after(started_ms, FENCE_SETTLE_MS));
	}
	return (struct fence_verdict){ FENCE_OPEN, .begin_before_ms = begin_before_ms };
}

int64_t
fence_settled_ms(const struct fence_lease *lease, int64_t started_ms)
{
	return after(lease->since_ms > started_ms ? lease->since_ms : started_ms, FENCE_SETTLE_MS);
}

int64_t
fence_takeover_ms(const struct fence_lease *lease)
{
	return lease->clean ? INT64_MIN : after(lease->since_ms, FENCE_SETTLE_MS);
}

const char *
fence_label(enum fence_reason r)
{
	return (unsigned)r < FENCE_REASON_MAX ? reasons[r].label : "?";
}

const char *
fence_text(enum fence_reason r)
{
	return (unsigned)r < FENCE_REASON_MAX ? reasons[r].text : "?";
}

static struct fence_verdict
closed(enum fence_reason reason, int64_t retry_at_ms)
{
	return (struct fence_verdict){ reason, .retry_at_ms = retry_at_ms };
}

/* A sum that stays at the largest time instead of overflowing. */
static int64_t
after(int64_t at_ms, int64_t ms)
{
	return at_ms > INT64_MAX - ms ? INT64_MAX : at_ms + ms;
}
