/* actors/kube-watcher/timer.h - a timer for the time that a pure plan asks to wait for. */
#ifndef MUSTER_WATCHER_TIMER_H
#define MUSTER_WATCHER_TIMER_H

#include <event2/event.h>
#include <stdint.h>

#include "obj.h"

/* At at_ms, in the past at once; INT64_MAX: never. */
static inline void
timer_set(struct event *timer, int64_t at_ms, int64_t now_ms)
{
	const int64_t wait_ms = at_ms > now_ms ? at_ms - now_ms : 0;
	const struct timeval tv = { .tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000 };

	MUST((at_ms == INT64_MAX ? evtimer_del(timer) : evtimer_add(timer, &tv)) == 0);
}

#endif
