/* sim/machines/sim_machines.c - the table of machines and what is due. */
#include "sim_machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "random.h"

struct sim_machines {
	uint32_t			 magic;
#define MACHINES_MAGIC	0x4d414348u
	struct sim_machines_settings	 settings;
	struct sim_machine		**all;		/* by id */
	size_t				 n;
	uint64_t			 last_id;
	int64_t				 now_ms;
};

/* The state that follows by itself; the others have none. */
static const enum sim_machine_state next_of[MACHINE_STATES] = {
	[MACHINE_ORDERED]	= MACHINE_BOOTING,
	[MACHINE_BOOTING]	= MACHINE_RUNNING,
	[MACHINE_RUNNING]	= MACHINE_JOINED,
	[MACHINE_JOINED]	= MACHINE_READY,
	[MACHINE_READY]		= MACHINE_READY,
	[MACHINE_DEAD]		= MACHINE_DEAD,
	[MACHINE_DELETING]	= MACHINE_GONE,
};

static struct sim_machine *find(const struct sim_machines *, uint64_t, size_t *);
static int compare_id(const void *, const void *);
static struct sim_machine *next_due(const struct sim_machines *, int64_t);
static void enter(struct sim_machines *, struct sim_machine *, enum sim_machine_state);
static bool stays(const struct sim_machine *);
static void release(struct sim_machine *);

const char *
sim_machine_state_name(enum sim_machine_state state)
{
	static const char *const names[MACHINE_STATES] = {
		[MACHINE_GONE] = "gone", [MACHINE_ORDERED] = "ordered", [MACHINE_BOOTING] = "booting",
		[MACHINE_RUNNING] = "running", [MACHINE_JOINED] = "joined", [MACHINE_READY] = "ready",
		[MACHINE_DEAD] = "dead", [MACHINE_DELETING] = "deleting",
	};

	MUST(state < MACHINE_STATES);
	return names[state];
}

struct sim_machines *
sim_machines_new(const struct sim_machines_settings *s)
{
	struct sim_machines *all;

	OBJ_NEW(all, MACHINES_MAGIC);
	all->settings = *s;
	return all;
}

void
sim_machines_free(struct sim_machines **mp)
{
	struct sim_machines *all;

	if (*mp == NULL)
		return;
	OBJ_TAKE(all, mp, MACHINES_MAGIC);
	for (size_t i = 0; i < all->n; i++)
		release(all->all[i]);
	free(all->all);
	OBJ_FREE(all);
}

uint64_t
sim_machines_next_id(const struct sim_machines *all)
{
	return all->last_id + 1;
}

const struct sim_machine *
sim_machines_order(struct sim_machines *all, const struct sim_machine_order *o)
{
	struct sim_machine *const m = obj_alloc(sizeof(*m));

	OBJ_CHECK(all, MACHINES_MAGIC);
	m->id = ++all->last_id;
	m->name = obj_strdup(o->name);
	m->provider_id = obj_strdup(o->provider_id);
	m->labels = json_deep_copy(o->labels);
	m->taints = json_deep_copy(o->taints);
	m->capacity = json_deep_copy(o->capacity);
	m->info = json_deep_copy(o->info);
	m->last = o->last;
	all->all = obj_realloc(all->all, (all->n + 1) * sizeof(struct sim_machine *));
	all->all[all->n++] = m;
	enter(all, m, MACHINE_ORDERED);
	m->due_ms += o->delay_ms;
	return m;
}

bool
sim_machines_delete(struct sim_machines *all, uint64_t id)
{
	struct sim_machine *const m = find(all, id, NULL);

	if (m == NULL || m->state == MACHINE_DELETING)
		return false;
	enter(all, m, MACHINE_DELETING);
	return true;
}

bool
sim_machines_kill(struct sim_machines *all, uint64_t id)
{
	struct sim_machine *const m = find(all, id, NULL);

	if (m == NULL || m->state == MACHINE_DELETING)
		return false;
	if (m->state != MACHINE_DEAD)
		enter(all, m, MACHINE_DEAD);
	return true;
}

void
sim_machines_advance(struct sim_machines *all, int64_t elapsed_ms)
{
	const int64_t until_ms = all->now_ms + elapsed_ms;
	struct sim_machine *m;

	while ((m = next_due(all, until_ms)) != NULL) {
		all->now_ms = m->due_ms;
		enter(all, m, next_of[m->state]);
	}
	all->now_ms = until_ms;
}

int64_t
sim_machines_now_ms(const struct sim_machines *all)
{
	return all->now_ms;
}

const struct sim_machine *
sim_machines_find(const struct sim_machines *all, uint64_t id)
{
	return find(all, id, NULL);
}

const struct sim_machine *
sim_machines_nth(const struct sim_machines *all, size_t i)
{
	return i < all->n ? all->all[i] : NULL;
}

size_t
sim_machines_count(const struct sim_machines *all)
{
	return all->n;
}

static struct sim_machine *
find(const struct sim_machines *all, uint64_t id, size_t *index)
{
	struct sim_machine **const at = all->n == 0 ? NULL
	    : bsearch(&id, all->all, all->n, sizeof(struct sim_machine *), compare_id);

	if (at != NULL && index != NULL)
		*index = (size_t)(at - all->all);
	return at != NULL ? *at : NULL;
}

static int
compare_id(const void *id, const void *machine)
{
	const uint64_t a = *(const uint64_t *)id, b = (*(struct sim_machine *const *)machine)->id;

	return a < b ? -1 : a > b;
}

/* The one whose state ends first, at until_ms at the latest; of two at one moment the older. */
static struct sim_machine *
next_due(const struct sim_machines *all, int64_t until_ms)
{
	struct sim_machine *first = NULL;

	for (size_t i = 0; i < all->n; i++) {
		struct sim_machine *const m = all->all[i];

		if (!stays(m) && m->due_ms <= until_ms && (first == NULL || m->due_ms < first->due_ms))
			first = m;
	}
	return first;
}

static bool
stays(const struct sim_machine *m)
{
	return next_of[m->state] == m->state || (m->last == m->state && m->state != MACHINE_DELETING);
}

/* One that is gone is freed after the listener has seen it. */
static void
enter(struct sim_machines *all, struct sim_machine *m, enum sim_machine_state state)
{
	size_t index;

	m->state = state;
	m->since_ms[state] = all->now_ms;
	m->due_ms = all->now_ms + random_jitter(&all->settings.seed, all->settings.lasts_ms[state]);
	if (state == MACHINE_RUNNING) {
		snprintf(m->public_ip, sizeof(m->public_ip), "198.18.%u.%u", (unsigned)(m->id >> 8 & 255),
		    (unsigned)(m->id & 255));
		snprintf(m->private_ip, sizeof(m->private_ip), "10.128.%u.%u", (unsigned)(m->id >> 8 & 255),
		    (unsigned)(m->id & 255));
	}
	if (all->settings.changed != NULL)
		all->settings.changed(all->settings.arg, m);
	if (state != MACHINE_GONE)
		return;
	MUST(find(all, m->id, &index) == m);
	all->n--;
	memmove(&all->all[index], &all->all[index + 1], (all->n - index) * sizeof(struct sim_machine *));
	release(m);
}

static void
release(struct sim_machine *m)
{
	free(m->name);
	free(m->provider_id);
	json_decref(m->labels);
	json_decref(m->taints);
	json_decref(m->capacity);
	json_decref(m->info);
	free(m);
}
