/*
 * tests/actors/consumer.c - keeps a mirror of the producer's keys and does work for each change, as
 * a claimer will.
 *
 * It dumps its mirror whenever that has been quiet for a moment, and again when the file has been
 * removed. Its status counts the changes that it received; `gone` counts the keys reported gone, which
 * must stay 0 in every test without churn.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "actor.h"
#include "clock.h"
#include "dump.h"
#include "log.h"
#include "misbehave.h"
#include "obj.h"

enum { TICK_MS = 50, QUIET_MS = 200, STATUS_MS = 500, LATENCIES_MAX = 1 << 20 };

struct consumer {
	int64_t		 slow_ms, changed_ms, status_ms;
	bool		 undumped, measures;
	struct misbehave misbehave;
	uint64_t	 added, updated, gone, worked;
	uint32_t	*latencies;	/* microseconds from change to handler */
	size_t		 nlatencies;
};

static void
on_sample(struct actor *a, void *self, const struct change *c)
{
	struct consumer *k = self;

	k->changed_ms = clock_mono_ms();
	k->undumped = true;
	k->added += c->kind == CHANGE_ADDED;
	k->updated += c->kind == CHANGE_UPDATED;
	k->gone += c->kind == CHANGE_GONE;
	if (k->measures && c->kind != CHANGE_GONE && !c->initial && k->nlatencies < LATENCIES_MAX) {
		if (k->latencies == NULL)
			k->latencies = obj_alloc(LATENCIES_MAX * sizeof(*k->latencies));
		k->latencies[k->nlatencies++] = (uint32_t)(clock_mono_us() - c->value->sample.sent_us);
	}
	actor_enqueue(a, c->key.p, c->key.len, c->initial ? WORK_INITIAL : WORK_LIVE, c->trace);
}

static void
on_synced(struct actor *a, void *self, const struct change *c)
{
	struct consumer *k = self;

	(void)a, (void)c;
	k->changed_ms = clock_mono_ms();
	k->undumped = true;
}

static enum work_result
work(struct actor *a, void *self, const struct work *w, int64_t *after_ms)
{
	struct consumer *k = self;
	const int64_t until_ms = clock_mono_ms() + k->slow_ms;

	(void)a, (void)w, (void)after_ms;
	while (clock_mono_ms() < until_ms)
		;
	k->worked++;
	return WORK_DONE;
}

static void
dump_sample(const struct change *c, void *arg)
{
	dump_line(arg, "%.*s %.*s %" PRIu64, (int)c->key.len, c->key.p, (int)c->uid.len, c->uid.p,
	    c->value->sample.number);
}

static void
count_one(const struct change *c, void *arg)
{
	(void)c;
	++*(uint64_t *)arg;
}

static uint64_t
count_keys(struct actor *a)
{
	uint64_t n = 0;

	actor_each(a, LINK_SAMPLES, count_one, &n);
	return n;
}

static void
dump(struct actor *a, struct consumer *k, int64_t now_ms)
{
	const char *path = actor_setting(a, "dump");

	if (path[0] == '\0' || now_ms - k->changed_ms < QUIET_MS || !actor_fresh(a, LINK_SAMPLES))
		return;
	if (!k->undumped && access(path, F_OK) == 0)
		return;
	k->undumped = false;
	struct dump *d = dump_new();
	actor_each(a, LINK_SAMPLES, dump_sample, d);
	if (!dump_write(&d, path))
		log_warn("cannot dump the mirror", KV_S(PATH, path));
}

static void
tick(struct actor *a, void *self, int64_t now_ms)
{
	struct consumer *k = self;

	dump(a, k, now_ms);
	misbehave_tick(&k->misbehave, a, now_ms);
	if (now_ms - k->status_ms < STATUS_MS)
		return;
	k->status_ms = now_ms;
	actor_status(a,
	    "added=%" PRIu64 " updated=%" PRIu64 " gone=%" PRIu64 " worked=%" PRIu64
	    " keys=%" PRIu64 " fresh=%d",
	    k->added, k->updated, k->gone, k->worked, count_keys(a), actor_fresh(a, LINK_SAMPLES));
}

static void
start(struct actor *a, void *self)
{
	struct consumer *k = self;

	k->slow_ms = actor_setting_i64(a, "slow");
	misbehave_start(&k->misbehave, a, clock_mono_ms());
	k->measures = actor_setting(a, "latency-file")[0] != '\0';
}

static void
stop(struct actor *a, void *self)
{
	struct consumer *k = self;

	if (k->measures) {
		FILE *f = fopen(actor_setting(a, "latency-file"), "we");

		for (size_t i = 0; f != NULL && i < k->nlatencies; i++)
			fprintf(f, "%" PRIu32 "\n", k->latencies[i]);
		if (f == NULL || fclose(f) != 0)
			log_warn("cannot write the latencies", KV_S(PATH, actor_setting(a, "latency-file")));
	}
	free(k->latencies);
	misbehave_stop(&k->misbehave);
}

static const struct actor_row rows[] = {
	/* message        only from           handler   */
	{ MSG_SAMPLE,     ROLE_TEST_PRODUCER, on_sample },
	{ MSG_SNAP_END,   ROLE_TEST_PRODUCER, on_synced },
};

static const struct actor_spec spec = {
	.state_size = sizeof(struct consumer), .rows = rows, .nrows = NITEMS(rows),
	.start = start, .tick = tick, .tick_ms = TICK_MS, .work = work, .stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}
