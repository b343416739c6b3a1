/* actors/runtime/timing.c - measures from a change to its sending, per consumer. */
#include "timing.h"

#include "obj.h"

void
timing_changed(struct timing *t, int64_t now_us)
{
	for (size_t i = 0; i < NITEMS(t->since_us); i++) {
		if (t->since_us[i] == 0)
			t->since_us[i] = now_us;
	}
}

void
timing_sent(struct timing *t, size_t i, enum role consumer, uint64_t types, int64_t now_us)
{
	if (t->since_us[i] == 0)
		return;
	const double seconds = (double)(now_us - t->since_us[i]) / 1e6;
	for (; types != 0; types &= types - 1)
		t->observe(consumer, (enum msg)__builtin_ctzll(types), seconds);
}

void
timing_idle(struct timing *t, size_t i)
{
	t->since_us[i] = 0;
}
