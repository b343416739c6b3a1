/* actors/runtime/timing.c - from a change to its sending, per consumer. */
#include "timing.h"

#include "obj.h"
#include "stat.h"
#include "view.h"

struct timing {
	uint32_t	 magic;
#define TIMING_MAGIC	0x54494d45u
	notify_type	*type;
	int64_t		 since_us[VIEW_SLOTS];	/* of the oldest change that is queued; 0: none is */
};

struct timing *
timing_new(notify_type *type)
{
	struct timing *t;

	OBJ_NEW(t, TIMING_MAGIC);
	t->type = type;
	return t;
}

void
timing_free(struct timing **tp)
{
	struct timing *t;

	if (*tp == NULL)
		return;
	OBJ_TAKE(t, tp, TIMING_MAGIC);
	OBJ_FREE(t);
}

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
	for (; types != 0; types &= types - 1) {
		const char *type = t->type(consumer, (enum msg)__builtin_ctzll(types));
		char labels[80] = "";

		if (type == NULL)
			continue;
		stat_label(labels, sizeof(labels), "controller_type", type);
		stat_observe(stat_get(STAT_OUE_NOTIFY, labels), (double)(now_us - t->since_us[i]) / 1e6);
	}
}

void
timing_idle(struct timing *t, size_t i)
{
	t->since_us[i] = 0;
}
