/*
 * tests/actors/producer.c - N keys that change at a rate: a producer like node-state, but without
 * Kubernetes.
 *
 * It stops changing while the settle file exists, and dumps its store, which every mirror must
 * equal.
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
#include "random.h"
#include "stat.h"

enum { TICK_MS = 1, SETTLE_EVERY_MS = 50, PADDING_MAX = 65536 };

struct sample {
	uint64_t	number;
	uint32_t	generation;	/* of the key: a re-created key has another uid */
	bool		present;
};

struct producer {
	struct sample	*samples;
	int64_t		 keys, rate, churn;
	uint32_t	 padding;
	uint64_t	 random, rv;
	int64_t		 ready_at_ms, last_ms, settle_at_ms;
	double		 owed;		/* changes due and not yet made */
	bool		 ready, settled;
	struct misbehave misbehave;
};

static uint8_t padding[PADDING_MAX];

static void
key_of(char *buf, size_t size, int64_t i)
{
	snprintf(buf, size, "key-%06" PRId64, i);
}

static void
publish(struct actor *a, struct producer *p, int64_t i)
{
	char key[32], uid[64], rv[32];
	struct sample *s = &p->samples[i];
	const union msg_body body = { .sample = {
		.number = s->number, .sent_us = clock_mono_us(),
		.padding = { .p = padding, .len = p->padding },
	} };

	key_of(key, sizeof(key), i);
	snprintf(uid, sizeof(uid), "%s-%" PRIu32, key, s->generation);
	snprintf(rv, sizeof(rv), "%" PRIu64, ++p->rv);
	MUST(actor_publish(a, LINK_SAMPLES, key, uid, rv, MSG_SAMPLE, &body, actor_new_trace(a)) == E_OK);
}

/* With churn each start has other keys than the one before: mirrors must drop those that are missing. */
static void
create(struct actor *a, struct producer *p, int64_t i)
{
	p->samples[i].present = (int64_t)random_below(&p->random, 1000) >= p->churn;
	if (p->samples[i].present)
		publish(a, p, i);
}

static void
change_one(struct actor *a, struct producer *p)
{
	const int64_t i = (int64_t)random_below(&p->random, (uint64_t)p->keys);
	struct sample *s = &p->samples[i];
	char key[32];

	key_of(key, sizeof(key), i);
	s->number++;
	if (!s->present) {
		s->present = true;
		s->generation++;
	} else if ((int64_t)random_below(&p->random, 1000) < p->churn) {
		s->present = false;
		actor_retract(a, LINK_SAMPLES, key, actor_new_trace(a));
		return;
	}
	publish(a, p, i);
}

/* Series that make the page of the metrics large: 5 KiB each. */
static void
report(int64_t series)
{
	for (int64_t i = 0; i < series; i++) {
		char labels[256];

		snprintf(labels, sizeof(labels), "name=\"%0220" PRId64 "\"", i);
		stat_observe(stat_get(STAT_WQ_QUEUE, labels), 1);
	}
}

static void
start(struct actor *a, void *self)
{
	struct producer *p = self;

	p->keys = actor_setting_i64(a, "keys");
	p->rate = actor_setting_i64(a, "rate");
	p->churn = actor_setting_i64(a, "churn");
	p->padding = (uint32_t)actor_setting_i64(a, "value-bytes");
	p->random = (uint64_t)actor_setting_i64(a, "seed") + actor_incarnation(a);
	p->ready_at_ms = clock_mono_ms() + actor_setting_i64(a, "ready-after");
	report(actor_setting_i64(a, "series"));
	p->samples = obj_alloc((size_t)p->keys * sizeof(*p->samples) + 1);
	/* Half of the keys first: a snapshot sent now would report the other half as gone. */
	for (int64_t i = 0; i < p->keys / 2; i++)
		create(a, p, i);
}

static void
become_ready(struct actor *a, struct producer *p, int64_t now_ms)
{
	for (int64_t i = p->keys / 2; i < p->keys; i++)
		create(a, p, i);
	p->ready = true;
	p->last_ms = now_ms;
	actor_link_ready(a, LINK_SAMPLES);
	actor_status(a, "%" PRId64 " keys, %" PRId64 " changes a second", p->keys, p->rate);
}

static void
dump(struct actor *a, struct producer *p)
{
	const char *path = actor_setting(a, "dump");

	if (path[0] == '\0')
		return;
	struct dump *d = dump_new();
	for (int64_t i = 0; i < p->keys; i++) {
		char key[32];

		key_of(key, sizeof(key), i);
		if (p->samples[i].present)
			dump_line(d, "%s %s-%" PRIu32 " %" PRIu64, key, key,
			    p->samples[i].generation, p->samples[i].number);
	}
	if (!dump_write(&d, path))
		log_warn("cannot dump the store", KV_S(PATH, path));
}

static void
tick(struct actor *a, void *self, int64_t now_ms)
{
	struct producer *p = self;

	if (!p->ready) {
		if (now_ms < p->ready_at_ms)
			return;
		become_ready(a, p, now_ms);
		misbehave_start(&p->misbehave, a, now_ms);
	}
	misbehave_value(&p->misbehave, a, now_ms);
	misbehave_replay(&p->misbehave, a, now_ms);
	if (now_ms >= p->settle_at_ms && actor_setting(a, "settle-file")[0] != '\0') {
		const bool settle = access(actor_setting(a, "settle-file"), F_OK) == 0;

		p->settle_at_ms = now_ms + SETTLE_EVERY_MS;
		if (settle && (!p->settled || access(actor_setting(a, "dump"), F_OK) == -1))
			dump(a, p);
		p->settled = settle;
	}
	if (p->settled || p->keys == 0) {
		p->last_ms = now_ms;
		return;
	}
	p->owed += (double)(now_ms - p->last_ms) * (double)p->rate / 1000;
	p->last_ms = now_ms;
	if (p->owed > (double)p->rate)		/* after a pause: no burst of more than a second's worth */
		p->owed = (double)p->rate;
	for (; p->owed >= 1; p->owed--)
		change_one(a, p);
}

static void
stop(struct actor *a, void *self)
{
	struct producer *p = self;

	(void)a;
	misbehave_stop(&p->misbehave);
	free(p->samples);
}

static const struct actor_spec spec = {
	.name = "test-producer", .state_size = sizeof(struct producer),
	.start = start, .tick = tick, .tick_ms = TICK_MS, .stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}
