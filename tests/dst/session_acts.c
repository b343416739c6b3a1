/* tests/dst/session_acts.c - the table of all actions of the session world, with their weights. */
#include "session_acts.h"

#include <inttypes.h>
#include <stdio.h>

#include "obj.h"

typedef void act_fn(struct session_world *);

static act_fn change, touch, repeat, remove_one, replace, create_and_remove, burst, churn;
static act_fn cut, crash_producer, crash_consumer, stop_consumer, stop_producer, slow_down;

static const struct act {
	act_fn		*fn;
	uint32_t	 weight;
	bool		 harmless;	/* not a fault: no session has a reason to start over */
} acts[] = {
	{ change,            420, true  },
	{ touch,              40, true  },	/* same bytes, new rv */
	{ repeat,             20, true  },	/* no change at all */
	{ remove_one,        140, true  },
	{ replace,            60, true  },	/* another uid under the same name */
	{ create_and_remove,  60, true  },	/* before any consumer receives it */
	{ burst,              25, true  },
	{ churn,              10, true  },
	{ slow_down,          15, true  },
	{ cut,                25, false },
	{ crash_producer,     15, false },
	{ crash_consumer,     20, false },
	{ stop_consumer,      15, false },
	{ stop_producer,      10, false },
};
enum { STORE_ACTS = 8 };

static const struct act *draw(struct session_world *, uint32_t);
static uint32_t any_key(struct session_world *);
static struct consumer *any_consumer(struct session_world *);
static uint32_t value_length(struct session_world *, const struct truth_key *);
static void remove_key(struct session_world *, uint32_t);

/* Mostly all actions; in one history of eight only one or two kinds. */
uint32_t
act_draw_only(struct session_world *w)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < NITEMS(acts); i++)
		mask |= (acts[i].harmless || !w->no_faults) << i;
	if (!sim_chance(w->sim, 125))
		return mask;
	uint32_t few = 1u << sim_random(w->sim, NITEMS(acts));
	few |= 1u << sim_random(w->sim, STORE_ACTS);
	return (mask & few) != 0 ? mask & few : mask;
}

void
act(struct session_world *w)
{
	draw(w, w->only)->fn(w);
}

void
act_on_store(struct session_world *w)
{
	draw(w, (1u << STORE_ACTS) - 1)->fn(w);
}

static const struct act *
draw(struct session_world *w, uint32_t mask)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < NITEMS(acts); i++)
		sum += (mask >> i & 1) * acts[i].weight;
	uint64_t at = sim_random(w->sim, sum);
	for (size_t i = 0;; i++) {
		const uint64_t weight = (mask >> i & 1) * acts[i].weight;

		if (at < weight)
			return &acts[i];
		at -= weight;
	}
}

/* ---- The store ---- */

void
act_create(struct session_world *w, uint32_t i)
{
	struct truth_key *k = &w->truth.keys[i];

	MUST(!k->present);
	k->present = true;
	k->life++;
	k->name_len = (uint32_t)snprintf(
	    k->name, sizeof(k->name), "k%u.%" PRIu64, i, k->unique ? k->life : 0);
	k->value_len = value_length(w, k);
	k->rv = k->value_rv = ++w->truth.rv;
	w->truth.present++;
	SIM_TRACE(w->sim, "store: %s is created, rv %d", k->name, (int)k->rv);
	producer_update(w, i);
}

static void
remove_key(struct session_world *w, uint32_t i)
{
	struct truth_key *k = &w->truth.keys[i];

	MUST(k->present);
	k->present = false;
	k->removed_rv = ++w->truth.rv;
	w->truth.present--;
	SIM_TRACE(w->sim, "store: %s is removed, rv %d", k->name, (int)k->removed_rv);
	producer_update(w, i);
}

static void
change(struct session_world *w)
{
	const uint32_t i = any_key(w);
	struct truth_key *k = &w->truth.keys[i];

	if (!k->present) {
		act_create(w, i);
		return;
	}
	k->value_len = value_length(w, k);
	k->rv = k->value_rv = ++w->truth.rv;
	SIM_TRACE(w->sim, "store: %s changes, rv %d", k->name, (int)k->rv);
	producer_update(w, i);
}

static void
touch(struct session_world *w)
{
	const uint32_t i = any_key(w);

	if (w->truth.keys[i].present)
		w->truth.keys[i].rv = ++w->truth.rv;
	producer_update(w, i);
}

static void
repeat(struct session_world *w)
{
	producer_update(w, any_key(w));
}

static void
remove_one(struct session_world *w)
{
	const uint32_t i = any_key(w);

	if (w->truth.keys[i].present)
		remove_key(w, i);
}

/* In one write or in two; a consumer that reads later gets the same. The bytes may be the same as before. */
static void
replace(struct session_world *w)
{
	const uint32_t i = any_key(w);
	struct truth_key *k = &w->truth.keys[i];

	if (!k->present)
		return;
	if (k->unique || !k->has_uid || sim_chance(w->sim, 500)) {
		remove_key(w, i);
		act_create(w, i);
		return;
	}
	k->life++;
	k->removed_rv = ++w->truth.rv;
	k->rv = ++w->truth.rv;
	if (sim_chance(w->sim, 500))
		k->value_rv = k->rv;
	SIM_TRACE(w->sim, "store: %s is replaced, uid u%d rv %d", k->name, (int)k->life, (int)k->rv);
	producer_update(w, i);
}

static void
create_and_remove(struct session_world *w)
{
	const uint32_t i = any_key(w);

	if (!w->truth.keys[i].present)
		act_create(w, i);
	remove_key(w, i);
}

static void
burst(struct session_world *w)
{
	for (uint64_t n = sim_random(w->sim, 12); n > 0; n--)
		change(w);
}

static void
churn(struct session_world *w)
{
	for (uint64_t n = sim_random(w->sim, sim_chance(w->sim, 100) ? 400 : 30); n > 0; n--)
		create_and_remove(w);
}

/* ---- Nodes and connections ---- */

static void
cut(struct session_world *w)
{
	const struct consumer *c = any_consumer(w);

	SIM_TRACE(w->sim, "connection of %s is cut", c->name);
	world_cut(w, c->index);
	world_reopen(w, c->index);
}

static void
crash_producer(struct session_world *w)
{
	if (!w->producer.node.up)
		return;
	SIM_TRACE(w->sim, "producer crashes");
	producer_crash(w);
	for (uint32_t i = 0; i < w->nconsumers; i++)
		world_cut(w, i);
	world_restart_soon(w, CONSUMERS_MAX);
}

static void
crash_consumer(struct session_world *w)
{
	struct consumer *c = any_consumer(w);

	if (!c->node.up)
		return;
	SIM_TRACE(w->sim, "%s crashes", c->name);
	consumer_crash(w, c->index);
	world_cut(w, c->index);
	world_restart_soon(w, c->index);
}

static void
stop_consumer(struct session_world *w)
{
	struct consumer *c = any_consumer(w);

	SIM_TRACE(w->sim, "%s is stopped", c->name);
	sim_node_stop(w->sim, &c->node, (int64_t)sim_random(w->sim, 16000));
}

static void
stop_producer(struct session_world *w)
{
	SIM_TRACE(w->sim, "producer is stopped");
	sim_node_stop(w->sim, &w->producer.node, (int64_t)sim_random(w->sim, 16000));
}

static void
slow_down(struct session_world *w)
{
	struct consumer *c = any_consumer(w);

	c->slow_ms = sim_chance(w->sim, 500) ? 0 : (int64_t)sim_random(w->sim, 100);
}

/* A few hot keys get half of all actions. */
static uint32_t
any_key(struct session_world *w)
{
	const uint32_t hot = w->truth.count < 3 ? w->truth.count : 3;

	return (uint32_t)sim_random(w->sim, sim_chance(w->sim, 500) ? hot : w->truth.count);
}

static struct consumer *
any_consumer(struct session_world *w)
{
	return &w->consumers[sim_random(w->sim, w->nconsumers)];
}

/* Eight bytes or more differ between any two writes; an empty value differs only from others. */
static uint32_t
value_length(struct session_world *w, const struct truth_key *k)
{
	if (k->value_len > 0 && sim_chance(w->sim, 30))
		return 0;
	return 8 + (uint32_t)sim_random(w->sim, w->truth.value_max - 8);
}
