/* sim/kube/store/sim_watches.c - all open watches. */
#include <event2/event.h>
#include <string.h>

#include "clock.h"
#include "obj.h"
#include "sim_watch_private.h"

enum { SLOW_CHECK_MS = 500 };

struct sim_watches {
	uint32_t		 magic;
#define WATCHES_MAGIC	0x57415453u
	struct simulator	*sim;
	struct watch_list	 open;
	size_t			 n;
	struct event		*wake, *slow_check;
};

static void each(struct sim_watches *, void (*)(struct sim_watch *, const void *), const void *);
static void pump(struct sim_watch *, const void *);
static void end(struct sim_watch *, const void *);
static void strike(struct sim_watch *, const void *);
static void drop_slow(struct sim_watch *, const void *);
static void on_wake(evutil_socket_t, short, void *);
static void on_slow_check(evutil_socket_t, short, void *);

struct sim_watches *
sim_watches_new(struct simulator *s)
{
	struct sim_watches *all;

	OBJ_NEW(all, WATCHES_MAGIC);
	TAILQ_INIT(&all->open);
	all->sim = s;
	all->wake = event_new(s->base, -1, 0, on_wake, all);
	all->slow_check = event_new(s->base, -1, EV_PERSIST, on_slow_check, all);
	MUST(all->wake != NULL && all->slow_check != NULL);
	event_add(all->slow_check, &(struct timeval){ .tv_usec = SLOW_CHECK_MS * 1000 });
	return all;
}

void
sim_watches_free(struct sim_watches **wp)
{
	struct sim_watches *all;

	if (*wp == NULL)
		return;
	OBJ_TAKE(all, wp, WATCHES_MAGIC);
	MUST(TAILQ_EMPTY(&all->open));		/* the server went first */
	event_free(all->wake);
	event_free(all->slow_check);
	OBJ_FREE(all);
}

size_t
sim_watches_count(const struct sim_watches *all)
{
	return all->n;
}

void
sim_watches_wake(struct sim_watches *all)
{
	event_active(all->wake, 0, 0);
}

void
sim_watches_end(struct sim_watches *all, const struct sim_storage *st)
{
	each(all, end, st);
}

void
sim_watches_hit(struct sim_watches *all, const struct sim_fault *f)
{
	each(all, strike, f);
}

void
sim_watches_add(struct sim_watches *all, struct sim_watch *w)
{
	TAILQ_INSERT_TAIL(&all->open, w, next);
	all->n++;
}

void
sim_watches_remove(struct sim_watches *all, struct sim_watch *w)
{
	TAILQ_REMOVE(&all->open, w, next);
	all->n--;
}

/* fn may end the watch it is given, no other. */
static void
each(struct sim_watches *all, void (*fn)(struct sim_watch *, const void *), const void *arg)
{
	struct sim_watch *next;

	for (struct sim_watch *w = TAILQ_FIRST(&all->open); w != NULL; w = next) {
		next = TAILQ_NEXT(w, next);
		fn(w, arg);
	}
}

static void
on_wake(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	each(arg, pump, NULL);
}

static void
on_slow_check(evutil_socket_t fd, short what, void *arg)
{
	const int64_t now = clock_mono_ms();

	(void)fd;
	(void)what;
	each(arg, drop_slow, &now);
}

static void
drop_slow(struct sim_watch *w, const void *arg)
{
	if (!sim_stream_mute(w->stream) && sim_watch_is_slow(w, *(const int64_t *)arg))
		sim_watch_finish(w, ENDING_FIN);
}

static void
pump(struct sim_watch *w, const void *arg)
{
	(void)arg;
	sim_watch_pump(w);
}

static void
end(struct sim_watch *w, const void *arg)
{
	/* The deletions of its objects are still sent. */
	if (w->storage == arg && !sim_stream_mute(w->stream) && sim_watch_pump(w))
		sim_watch_finish(w, ENDING_CLEAN);
}

static void
strike(struct sim_watch *w, const void *arg)
{
	const struct sim_fault *const f = arg;
	char qualified[512];
	const struct sim_fault_subject subject = sim_watch_subject(w, "", "", qualified, sizeof(qualified));

	if (sim_stream_mute(w->stream) || !sim_faults_hit_now(w->sim->faults, f, &subject))
		return;
	switch (f->kind) {
	case FAULT_STALL:
		sim_stream_stall(w->stream);
		return;
	case FAULT_CUT:
		sim_stream_cut_after(w->stream, (size_t)f->amount, sim_stream_ending(f));
		return;
	case FAULT_THROTTLE:
		sim_request_throttle(sim_stream_request(w->stream), (size_t)f->amount);
		return;
	case FAULT_SHORT_WATCH:
		sim_watch_finish(w, ENDING_CLEAN);
		return;
	default:
		sim_watch_event_fault(w, f);
		sim_stream_flush(w->stream);
		if (w->failing)
			sim_watch_finish(w, ENDING_CLEAN);
		return;
	}
}
