/* actors/provider/call_action.h - what the end of a provider call means for its key. Pure. */
#ifndef MUSTER_CALL_ACTION_H
#define MUSTER_CALL_ACTION_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/reconcile/reconcile.h"
#include "call_outcome.h"
#include "fence.h"

struct call_facts {
	enum call_outcome	outcome;
	int			status;
	bool			taken;		/* the caller used the answer, whatever its status */
	bool			token_changed;	/* 401: another token is in use by now */
	enum fence_reason	fence;		/* why it was not sent, or FENCE_OPEN */
	int64_t			fence_ms;	/* from now until the fence is to be evaluated again */
	int64_t			retry_after_ms;
};

/*
 * Planned again at once: an answer that was used, a token that changed. Later: what the fence holds back,
 * when it opens. Backoff: 401, 403, 404, 409, 429, 5xx, the network. Any other 4xx is terminal: not tried
 * again until the object changes (contract A4).
 */
struct outcome_action call_action(const struct call_facts *f);

#endif
