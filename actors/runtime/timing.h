/*
 * actors/runtime/timing.h - how long changes of a link wait for each of its consumers.
 *
 * From the change until its frame is handed to the consumer's socket; a consumer without credit
 * makes it wait. Not until the ACK: a consumer acknowledges several items together. Measured per
 * frame of deltas, from its oldest change: the queue of a consumer has one clock, which starts when
 * something is queued and stops when the queue is empty. Costs a walk over the consumers per
 * change, and nothing on links that are not measured.
 */
#ifndef MUSTER_TIMING_H
#define MUSTER_TIMING_H

#include <stddef.h>
#include <stdint.h>

#include "actor.h"
#include "link_store.h"

struct timing {
	notify_time	*observe;			/* NULL: not measured */
	int64_t		 since_us[LINK_STORE_SLOTS];	/* of the oldest change that is queued; 0: none is */
};

void timing_changed(struct timing *t, int64_t now_us);
/* A frame of deltas went to consumer i; its types as a mask. */
void timing_sent(struct timing *t, size_t i, enum role consumer, uint64_t types, int64_t now_us);
void timing_idle(struct timing *t, size_t i);	/* nothing is queued for it, or its session is another one */

#endif
