/* actors/kube-watcher/cluster_clock.c - cluster time as an offset of the monotonic clock. Pure. */
#include "cluster_clock.h"

#include <stdlib.h>

void
cluster_clock_set(struct cluster_clock *c, int64_t date_us, int64_t at_ms)
{
	if (at_ms < c->at_ms)
		return;
	c->offset_ms = date_us / 1000 - at_ms;
	c->at_ms = at_ms;
}

bool
cluster_clock_moved(struct cluster_clock *c)
{
	const bool first = c->published_ms == 0 && c->offset_ms != 0;

	if (!first && llabs(c->offset_ms - c->published_ms) <= CLUSTER_CLOCK_NOISE_MS)
		return false;
	c->published_ms = c->offset_ms;
	return true;
}
