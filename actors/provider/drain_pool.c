/* actors/provider/drain_pool.c - whose turn it is, among all drains of an actor. */
#include "drain_private.h"
#include "obj.h"

void
drain_pool_init(struct drain_pool *p)
{
	*p = (struct drain_pool){ .in_flight = { 0 } };
	for (unsigned t = 0; t < DRAIN_TURN_MAX; t++)
		TAILQ_INIT(&p->waiting[t]);
}

bool
drain_pool_take(struct drain *d, enum drain_turn turn)
{
	struct drain_pool *const p = d->config.pool;

	if (p->in_flight[turn] < DRAIN_POOL_MAX) {
		drain_pool_leave(d);
		p->in_flight[turn]++;
		return true;
	}
	if (d->waits_for != turn) {
		drain_pool_leave(d);
		d->waits_for = turn;
		TAILQ_INSERT_TAIL(&p->waiting[turn], d, next);
	}
	return false;
}

void
drain_pool_give(struct drain_pool *p, enum drain_turn turn)
{
	struct drain *const d = TAILQ_FIRST(&p->waiting[turn]);

	MUST(p->in_flight[turn] > 0);
	p->in_flight[turn]--;
	if (d == NULL)
		return;
	drain_pool_leave(d);
	d->config.progress(d->config.arg);
}

void
drain_pool_leave(struct drain *d)
{
	if (d->waits_for == DRAIN_TURN_MAX)
		return;
	TAILQ_REMOVE(&d->config.pool->waiting[d->waits_for], d, next);
	d->waits_for = DRAIN_TURN_MAX;
}
