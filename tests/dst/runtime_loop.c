/*
 * tests/dst/runtime_loop.c - the part of libevent that actors use, in virtual time.
 *
 * A turn runs one callback, so that other processes have theirs in between and a process can be killed
 * after each. What event_active named runs first, in that order; then timers; then sockets, whose
 * descriptors do not exist here: what has arrived wakes their owners.
 */
#include <event2/event.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "obj.h"
#include "runtime.h"

struct event {
	TAILQ_ENTRY(event)	 next;
	struct event_base	*base;
	event_callback_fn	 fn;
	void			*arg;
	evutil_socket_t		 fd;
	short			 what;
	bool			 active, pending;	/* pending: a timer that runs at due_ms */
	uint64_t		 order;			/* of event_active */
	int64_t			 due_ms, every_ms;
};

struct event_base {
	TAILQ_HEAD(, event)	 events;
	struct runtime_actor	*owner;
	uint64_t		 order;
};

static struct event *next_event(struct event_base *, int64_t);

struct event_base *
runtime_loop_new(struct runtime_actor *r)
{
	struct event_base *base = obj_alloc(sizeof(*base));

	TAILQ_INIT(&base->events);
	base->owner = r;
	return base;
}

struct runtime_actor *
runtime_loop_owner(const struct event_base *base)
{
	return base->owner;
}

bool
runtime_loop_turn(struct event_base *base)
{
	struct sim *const sim = base->owner->runtime->sim;
	struct event *e = next_event(base, sim->now_ms);

	if (e == NULL)
		return false;
	e->active = false;
	if (e->pending && e->due_ms <= sim->now_ms) {
		e->pending = (e->what & EV_PERSIST) != 0;
		e->due_ms = sim->now_ms + e->every_ms;
	}
	e->fn(e->fd, EV_TIMEOUT, e->arg);
	return true;
}

int64_t
runtime_loop_due_ms(const struct event_base *base)
{
	int64_t due_ms = INT64_MAX;
	const struct event *e;

	TAILQ_FOREACH(e, &base->events, next) {
		if (e->active)
			return 0;
		if (e->pending && e->due_ms < due_ms)
			due_ms = e->due_ms;
	}
	return due_ms;
}

static struct event *
next_event(struct event_base *base, int64_t now_ms)
{
	struct event *best = NULL, *e;

	TAILQ_FOREACH(e, &base->events, next) {
		const bool due = e->active || (e->pending && e->due_ms <= now_ms);

		if (!due)
			continue;
		if (best == NULL || e->active > best->active
		    || (e->active && best->active && e->order < best->order)
		    || (!e->active && !best->active && e->due_ms < best->due_ms))
			best = e;
	}
	return best;
}

/* ---- libevent ---- */

void
event_base_free(struct event_base *base)
{
	MUST(TAILQ_EMPTY(&base->events));	/* an actor that stops frees its events */
	free(base);
}

struct event *
event_new(struct event_base *base, evutil_socket_t fd, short what, event_callback_fn fn, void *arg)
{
	struct event *e = obj_alloc(sizeof(*e));

	e->base = base;
	e->fd = fd;
	e->what = what;
	e->fn = fn;
	e->arg = arg;
	TAILQ_INSERT_TAIL(&base->events, e, next);
	return e;
}

void
event_free(struct event *e)
{
	TAILQ_REMOVE(&e->base->events, e, next);
	free(e);
}

int
event_add(struct event *ev, const struct timeval *timeout)
{
	struct sim *const sim = ev->base->owner->runtime->sim;

	MUST(ev->fd == -1 && timeout != NULL);	/* no descriptor exists here */
	ev->every_ms = (int64_t)timeout->tv_sec * 1000 + (timeout->tv_usec + 999) / 1000;
	ev->due_ms = sim->now_ms + ev->every_ms;
	ev->pending = true;
	sim_wake(sim, &ev->base->owner->node, ev->due_ms);
	return 0;
}

int
event_del(struct event *e)
{
	e->active = e->pending = false;
	return 0;
}

void
event_active(struct event *ev, int res, short ncalls)
{
	struct sim *const sim = ev->base->owner->runtime->sim;

	(void)res, (void)ncalls;
	if (ev->active)
		return;
	ev->active = true;
	ev->order = ++ev->base->order;
	sim_wake(sim, &ev->base->owner->node, sim->now_ms);
}

int
event_pending(const struct event *ev, short events, struct timeval *tv)
{
	(void)events;
	MUST(tv == NULL);
	return ev->pending || ev->active ? EV_TIMEOUT : 0;
}
