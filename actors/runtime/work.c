/*
 * actors/runtime/work.c - the actor's work queue on the loop: some keys per turn, then the sockets
 * get theirs.
 */
#include <string.h>

#include "actor_private.h"
#include "clock.h"
#include "log.h"
#include "obj.h"

enum { WORK_TURN = 64 };

static void run(evutil_socket_t, short, void *);
static void schedule(struct actor *, int64_t);

void
work_open(struct actor *a)
{
	char labels[64] = "";

	if (a->spec->work == NULL)
		return;
	a->queue = workqueue_new(actor_new_trace(a));
	a->work_now = event_new(a->base, -1, 0, run, a);
	a->work_later = event_new(a->base, -1, 0, run, a);
	MUST(a->work_now != NULL && a->work_later != NULL);
	stat_label(labels, sizeof(labels), "name", role_name(a->boot.role));
	a->queue_wait = stat_get(STAT_WQ_QUEUE, labels);
	a->work_time = stat_get(STAT_WQ_WORK, labels);
}

void
work_close(struct actor *a)
{
	if (a->queue == NULL)
		return;
	event_free(a->work_now);
	event_free(a->work_later);
	workqueue_free(&a->queue);
}

unsigned
work_waiting(const struct actor *a)
{
	return a->queue == NULL ? 0 : workqueue_stats(a->queue).ready;
}

void
work_stats(struct actor *a)
{
	char labels[64] = "";

	stat_set(stat_get(STAT_MAILBOX, ""), work_waiting(a));
	if (a->queue == NULL)
		return;
	const struct workqueue_stats s = workqueue_stats(a->queue);
	const int64_t now_ms = clock_mono_ms();
	stat_label(labels, sizeof(labels), "name", role_name(a->boot.role));
	stat_set(stat_get(STAT_WQ_DEPTH, labels), s.ready);
	stat_add(stat_get(STAT_WQ_ADDS, labels), (double)(s.adds - a->counted.adds));
	stat_add(stat_get(STAT_WQ_RETRIES, labels), (double)(s.retries - a->counted.retries));
	stat_set(stat_get(STAT_WQ_UNFINISHED, labels),
	    (double)(s.working * now_ms - s.sum_working_ms) / 1000);
	stat_set(stat_get(STAT_WQ_LONGEST, labels),
	    s.working == 0 ? 0 : (double)(now_ms - s.oldest_working_ms) / 1000);
	a->counted = s;
}

void
actor_enqueue(struct actor *a, const char *key, size_t len, enum work_priority prio, uint64_t trace)
{
	const int64_t now_ms = clock_mono_ms();

	MUST(a->queue != NULL);
	workqueue_add(a->queue, key, len, prio, trace, now_ms);
	schedule(a, now_ms);
}

void
actor_enqueue_after(struct actor *a, const char *key, size_t len, int64_t after_ms, uint64_t trace)
{
	const int64_t now_ms = clock_mono_ms();

	MUST(a->queue != NULL);
	workqueue_add_after(a->queue, key, len, after_ms, trace, now_ms);
	schedule(a, now_ms);
}

void
actor_finish(struct actor *a, const char *key, size_t len, enum work_result result, int64_t after_ms)
{
	const int64_t now_ms = clock_mono_ms();

	MUST(a->queue != NULL);
	workqueue_finish(a->queue, key, len, result, after_ms, now_ms);
	schedule(a, now_ms);
}

static void
run(evutil_socket_t fd, short what, void *arg)
{
	struct actor *a = arg;
	struct work w;

	(void)fd, (void)what;
	for (int n = 0; n < WORK_TURN && workqueue_next(a->queue, clock_mono_ms(), &w); n++) {
		const int64_t begun_us = clock_mono_us();
		int64_t after_ms = 0;

		stat_observe(a->queue_wait, (double)w.waited_ms / 1000);
		log_set_trace(w.trace);
		bus_release(a->bus);
		const enum work_result result = a->spec->work(a, a->self, &w, &after_ms);
		log_set_trace(0);
		const int64_t ended_us = clock_mono_us();
		stat_observe(a->work_time, (double)(ended_us - begun_us) / 1e6);
		if (result != WORK_PENDING)
			workqueue_finish(a->queue, w.key, w.len, result, after_ms, ended_us / 1000);
	}
	schedule(a, clock_mono_ms());
}

static void
schedule(struct actor *a, int64_t now_ms)
{
	const int64_t due_ms = workqueue_due_ms(a->queue, now_ms);

	if (due_ms == INT64_MAX)
		return;
	if (due_ms <= now_ms) {
		event_active(a->work_now, EV_TIMEOUT, 0);
		return;
	}
	const int64_t wait_ms = due_ms - now_ms;
	const struct timeval tv = { .tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000 };
	event_add(a->work_later, &tv);
}
