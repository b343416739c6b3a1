/* sim/kube/store/sim_watches.c - all open watches. */
#include <event2/event.h>
#include <string.h>

#include "clock.h"
#include "obj.h"
#include "sim_watch_private.h"

enum { LOOK_MS = 500 };

struct watches {
	uint32_t		 magic;
#define WATCHES_MAGIC	0x57415453u
	struct sim		*sim;
	struct watch_list	 open;
	size_t			 n;
	struct event		*wake, *look;
};

static void each(struct watches *, void (*)(struct watch *, const void *), const void *);
static void pump(struct watch *, const void *);
static void end(struct watch *, const void *);
static void strike(struct watch *, const void *);
static void drop_slow(struct watch *, const void *);
static void on_wake(evutil_socket_t, short, void *);
static void on_look(evutil_socket_t, short, void *);

struct watches *
watches_new(struct sim *s)
{
	struct watches *all;

	OBJ_NEW(all, WATCHES_MAGIC);
	TAILQ_INIT(&all->open);
	all->sim = s;
	all->wake = event_new(s->base, -1, 0, on_wake, all);
	all->look = event_new(s->base, -1, EV_PERSIST, on_look, all);
	MUST(all->wake != NULL && all->look != NULL);
	event_add(all->look, &(struct timeval){ .tv_usec = LOOK_MS * 1000 });
	return all;
}

void
watches_free(struct watches **wp)
{
	struct watches *all;

	if (*wp == NULL)
		return;
	OBJ_TAKE(all, wp, WATCHES_MAGIC);
	MUST(TAILQ_EMPTY(&all->open));		/* the server went first */
	event_free(all->wake);
	event_free(all->look);
	OBJ_FREE(all);
}

size_t
watches_count(const struct watches *all)
{
	return all->n;
}

void
watches_wake(struct watches *all)
{
	event_active(all->wake, 0, 0);
}

void
watches_end(struct watches *all, const struct storage *st)
{
	each(all, end, st);
}

void
watches_strike(struct watches *all, const struct fault *f)
{
	each(all, strike, f);
}

void
watches_add(struct watches *all, struct watch *w)
{
	TAILQ_INSERT_TAIL(&all->open, w, next);
	all->n++;
}

void
watches_remove(struct watches *all, struct watch *w)
{
	TAILQ_REMOVE(&all->open, w, next);
	all->n--;
}

/* fn may end the watch it is given, no other. */
static void
each(struct watches *all, void (*fn)(struct watch *, const void *), const void *arg)
{
	struct watch *next;

	for (struct watch *w = TAILQ_FIRST(&all->open); w != NULL; w = next) {
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
on_look(evutil_socket_t fd, short what, void *arg)
{
	const int64_t now = clock_mono_ms();

	(void)fd;
	(void)what;
	each(arg, drop_slow, &now);
}

static void
drop_slow(struct watch *w, const void *arg)
{
	if (!stream_mute(w->stream) && watch_is_slow(w, *(const int64_t *)arg))
		watch_finish(w, ENDING_FIN);
}

static void
pump(struct watch *w, const void *arg)
{
	(void)arg;
	watch_pump(w);
}

static void
end(struct watch *w, const void *arg)
{
	/* Its objects' ends are still told. */
	if (w->storage == arg && !stream_mute(w->stream) && watch_pump(w))
		watch_finish(w, ENDING_CLEAN);
}

static void
strike(struct watch *w, const void *arg)
{
	const struct fault *const f = arg;
	char qualified[512];
	const struct fault_subject subject = watch_subject(w, "", "", qualified, sizeof(qualified));

	if (stream_mute(w->stream) || !faults_strike(w->sim->faults, f, &subject))
		return;
	switch (f->kind) {
	case FAULT_STALL:
		stream_stall(w->stream);
		return;
	case FAULT_CUT:
		stream_cut_after(w->stream, (size_t)f->amount, stream_ending(f));
		return;
	case FAULT_THROTTLE:
		call_throttle(stream_call(w->stream), (size_t)f->amount);
		return;
	case FAULT_SHORT_WATCH:
		watch_finish(w, ENDING_CLEAN);
		return;
	default:
		event_fault(w, f);
		stream_flush(w->stream);
		if (w->failing)
			watch_finish(w, ENDING_CLEAN);
		return;
	}
}
