/*
 * tests/unit/reconcile_rig.h - a runtime and a clock for tests of actors/reconcile, and an actor whose plan a
 * test sets.
 */
#ifndef MUSTER_TEST_RECONCILE_RIG_H
#define MUSTER_TEST_RECONCILE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/reconcile/reconcile.h"
#include "clock.h"
#include "obj.h"
#include "random.h"

enum { WIDGETS, NODES, SENT_MAX = 64, KEYS_MAX = 40 };

/* ---- The runtime ---- */

static struct world {
	struct reconciler	 r;
	int64_t			 now_ms;
	const char		*fact_uid, *fact_rv;	/* of nodes/w1 on LINK_FACTS; NULL: not there */
	struct sent {
		enum op		 op;
		char		 resource[32], name[64], uid[64], rv[64];
		write_done	*done;
		void		*arg;
	} sent[SENT_MAX];
	unsigned		 nsent, nfinished;
	char			 finished[64];		/* the last key */
	enum work_result	 result;
	int64_t			 after_ms;
	/* The plan's answer, and what it was asked. */
	struct reconcile_step	 step;
	unsigned		 plans;
	enum outcome		 live;			/* of the last plan; OUTCOME_MAX: from the mirrors */
	struct inflight_effect	*effect;
	/* Of the stop. */
	int64_t			 extended_ms, busy_until_ms;
	bool			 exited;
} world;

int64_t
clock_mono_ms(void)
{
	return world.now_ms;
}

int64_t
clock_mono_us(void)
{
	return world.now_ms * 1000;
}

int64_t
clock_wall_ms(void)
{
	return world.now_ms;
}

int64_t
clock_wall_us(void)
{
	return world.now_ms * 1000;
}

void
random_secret(void *out, size_t len)
{
	memset(out, 7, len);
}

uint64_t
actor_write(struct actor *a, enum link l, const struct write_request *w, write_done *done, void *arg)
{
	struct sent *const s = &world.sent[world.nsent++];

	(void)a;
	assert_int_equal(l, LINK_KUBE_INSIGHT);
	assert_true(world.nsent <= SENT_MAX);
	*s = (struct sent){ .op = w->op, .done = done, .arg = arg };
	snprintf(s->resource, sizeof(s->resource), "%s", w->resource);
	snprintf(s->name, sizeof(s->name), "%s", w->name);
	snprintf(s->uid, sizeof(s->uid), "%s", w->uid != NULL ? w->uid : "");
	snprintf(s->rv, sizeof(s->rv), "%s", w->rv != NULL ? w->rv : "");
	return world.nsent;
}

bool
actor_read(struct actor *a, enum link l, const char *key, size_t len, struct change *out,
    union msg_body *value)
{
	(void)a;
	if (l != LINK_FACTS || world.fact_rv == NULL || len != 8 || memcmp(key, "nodes/w1", 8) != 0)
		return false;
	*value = (union msg_body){ .node_fact = { .ready = true } };
	*out = (struct change){ .kind = CHANGE_UPDATED, .link = l, .type = MSG_NODE_FACT, .value = value,
		.key = { key, (uint32_t)len }, .uid = wire_str_of(world.fact_uid),
		.rv = wire_str_of(world.fact_rv) };
	return true;
}

void
actor_finish(struct actor *a, const char *key, size_t len, enum work_result result, int64_t after_ms)
{
	(void)a;
	world.nfinished++;
	snprintf(world.finished, sizeof(world.finished), "%.*s", (int)len, key);
	world.result = result;
	world.after_ms = after_ms;
}

bool
actor_fresh(const struct actor *a, enum link l)
{
	(void)a, (void)l;
	return true;
}

int64_t
actor_setting_i64(const struct actor *a, const char *key)
{
	(void)a, (void)key;
	return 1;
}

void
actor_each(struct actor *a, enum link l, void (*fn)(const struct change *, void *), void *arg)
{
	(void)a, (void)l, (void)fn, (void)arg;
}

void
actor_enqueue(struct actor *a, const char *key, size_t len, enum work_priority prio, uint64_t trace)
{
	(void)a, (void)key, (void)len, (void)prio, (void)trace;
}

void
actor_extend_stop(struct actor *a, int64_t ms)
{
	(void)a;
	world.extended_ms += ms;
}

void
actor_exit(struct actor *a, int code)
{
	(void)a;
	assert_int_equal(code, 0);
	world.exited = true;
}

void
actor_status(struct actor *a, const char *fmt, ...)
{
	(void)a, (void)fmt;
}

/* ---- An actor that writes Nodes, which it reads through node-state ---- */

static const struct reconcile_kind kinds[] = {
	[WIDGETS] = { .group = "test.muster.dev", .resource = "widgets", .message = MSG_NODE_INSIGHT },
	[NODES] = { .group = "", .resource = "nodes", .link = LINK_FACTS },
};

static void
plan(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *out)
{
	(void)r;
	world.plans++;
	world.live = i->live != NULL ? i->live->outcome : OUTCOME_MAX;
	if (i->live != NULL)
		assert_string_equal(i->read->name, "w1");
	*out = world.step;
}

static void
start_effect(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step)
{
	(void)r;
	assert_string_equal(w->key, "claims/c1");
	assert_string_equal(step->write.name, "vm-7");
	world.effect = f;
}

static const struct reconcile_spec spec = {
	.kinds = kinds, .nkinds = NITEMS(kinds), .links = { LINK_KUBE_INSIGHT, LINK_FACTS }, .nlinks = 2,
	.refused_reason = "Refused", .noun = "widgets", .plan = plan,
};

static int
setup(void **arg)
{
	(void)arg;
	memset(&world, 0, sizeof(world));
	world.now_ms = 100000;
	reconcile_start(&world.r, NULL, &spec);
	world.r.synced = 3;
	world.r.leading = true;
	world.r.kinds[WIDGETS].state = KIND_STATE_SYNCED;
	world.fact_uid = "u1";
	world.fact_rv = "11";
	return 0;
}

static int
teardown(void **arg)
{
	(void)arg;
	reconcile_stop(NULL, &world.r);
	return 0;
}

static void
plan_nothing(void)
{
	world.step = (struct reconcile_step){ .form = STEP_NOTHING, .verb = "nothing", .why = "all is well" };
}

static void
plan_write(unsigned kind, enum op op)
{
	world.step = (struct reconcile_step){ .form = STEP_WRITE, .verb = "label", .why = "it differs",
		.write = { .op = op, .kind = kind, .action = "Label", .name = "w1", .uid = "u1",
		.rv = "11" } };
}

static enum work_result
work(const char *key)
{
	const struct work w = { .key = key, .len = strlen(key) };

	world.after_ms = 0;
	return reconcile_work(NULL, &world.r, &w, &world.after_ms);
}

/* The last request that has no answer yet gets one. */
static void
answer(enum outcome o, const char *rv)
{
	const struct sent s = world.sent[--world.nsent];
	const struct write_result result = { .op = s.op, .outcome = o, .rv = wire_str_of(rv),
		.message = wire_str_of("why"), .causes = wire_str_of(""), .reason = wire_str_of("") };

	s.done(NULL, &world.r, &result, s.arg);
}

#define TEST(fn)	cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
