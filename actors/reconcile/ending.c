/* actors/reconcile/ending.c - an orderly stop: what is in flight is answered first. */
#include "clock.h"
#include "log.h"
#include "reconcile.h"

static int64_t busy_until_ms(struct reconciler *);

void
reconcile_ending(struct actor *a, void *self)
{
	struct reconciler *const r = self;
	const int64_t now_ms = clock_mono_ms();

	r->ending = true;
	r->ends_ms = busy_until_ms(r);
	if (r->ends_ms > now_ms) {
		log_info("stopping when the requests in flight have been answered",
		    KV_I(LIMIT, r->ends_ms - now_ms));
		actor_extend_stop(a, r->ends_ms - now_ms);
	}
	reconcile_end_if_idle(r);
}

void
reconcile_end_if_idle(struct reconciler *r)
{
	if (r->ending && (busy_until_ms(r) == 0 || clock_mono_ms() >= r->ends_ms))
		actor_exit(r->actor, 0);
}

/* 0: nothing is in flight. */
static int64_t
busy_until_ms(struct reconciler *r)
{
	const int64_t effects_ms = r->inflight == 0 ? 0 : r->inflight_until_ms;
	const int64_t others_ms = r->spec->busy_until_ms == NULL ? 0 : r->spec->busy_until_ms(r);

	return effects_ms > others_ms ? effects_ms : others_ms;
}
