/* tests/dst/sim.c - virtual time: a heap of events with random ties, nodes that crash and stop, the trace. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dst.h"
#include "obj.h"

struct sim_event {
	int64_t		 at_ms;
	uint64_t	 tie;
	sim_fn		*fn;
	void		*arg;
	uint64_t	 n;
	struct sim_node	*node;		/* NULL: an event of the world itself */
	uint32_t	 life;
	bool		 held;		/* deferred until the node continues */
};

enum { TRACE_LINES = 60, TRACE_WIDTH = 160, STEPS_MAX = 1000000 };

struct sim_trace_ring {
	char		line[TRACE_LINES][TRACE_WIDTH];
	uint64_t	count;
};

static bool step(struct sim *);
static bool is_void(const struct sim_event *);
static bool defer(struct sim *, struct sim_event *);
static bool run(struct sim *, const struct world *, void *);
static void node_turn(struct sim *, void *, uint64_t);
static void push(struct sim *, struct sim_event);
static struct sim_event pop(struct sim *);
static void sink(struct sim *, uint32_t, struct sim_event);
static bool before(const struct sim_event *, const struct sim_event *);

bool
sim_history(struct sim *sim, const struct world *world, uint64_t seed, unsigned broken)
{
	sim->random = seed;
	sim->broken = broken;
	void *w = world->setup(sim);
	const bool good = run(sim, world, w);
	world->teardown(w);
	return good;
}

void
sim_free(struct sim *sim)
{
	sim_late_free(sim);
	free(sim->heap);
	free(sim->trace);
}

void
sim_fail(struct sim *sim, const char *fmt, ...)
{
	va_list ap;

	if (sim->violation[0] != '\0')
		return;
	va_start(ap, fmt);
	vsnprintf(sim->violation, sizeof(sim->violation), fmt, ap);
	va_end(ap);
	SIM_TRACE(sim, "VIOLATION: %s", sim->violation);
}

void
sim_trace(struct sim *sim, const char *fmt, ...)
{
	va_list ap;

	if (sim->trace == NULL)
		sim->trace = obj_alloc(sizeof(*sim->trace));
	char *line = sim->trace->line[sim->trace->count++ % TRACE_LINES];
	const int n = snprintf(line, TRACE_WIDTH, "%7lld ms  step %5llu  ", (long long)sim->now_ms,
	    (unsigned long long)sim->steps);
	va_start(ap, fmt);
	vsnprintf(line + n, TRACE_WIDTH - (size_t)n, fmt, ap);
	va_end(ap);
	if (sim->verbose)
		printf("# %s\n", line);
}

void
sim_print_trace(const struct sim *sim)
{
	const struct sim_trace_ring *t = sim->trace;

	if (t == NULL || sim->verbose)
		return;
	for (uint64_t i = t->count > TRACE_LINES ? t->count - TRACE_LINES : 0; i < t->count; i++)
		printf("#   %s\n", t->line[i % TRACE_LINES]);
}

/* ---- Events ---- */

void
sim_at(struct sim *sim, int64_t at_ms, sim_fn *fn, void *arg, uint64_t n)
{
	push(sim, (struct sim_event){ .at_ms = at_ms, .fn = fn, .arg = arg, .n = n });
}

void
sim_node_at(struct sim *sim, struct sim_node *node, int64_t at_ms, sim_fn *fn, void *arg, uint64_t n)
{
	const struct sim_event e = {
		.at_ms = at_ms, .fn = fn, .arg = arg, .n = n, .node = node, .life = node->life,
	};

	push(sim, e);
}

void
sim_wake(struct sim *sim, struct sim_node *node, int64_t at_ms)
{
	if (at_ms < sim->now_ms)
		at_ms = sim->now_ms;
	if (!node->up || at_ms >= node->wake_ms)
		return;
	node->wake_ms = at_ms;
	sim_node_at(sim, node, at_ms, node_turn, node, (uint64_t)at_ms);
}

void
sim_node_start(struct sim *sim, struct sim_node *node)
{
	MUST(!node->up);
	node->up = true;
	node->stopped_ms = 0;
	node->wake_ms = INT64_MAX;
	sim_wake(sim, node, sim->now_ms);
}

void
sim_node_crash(struct sim *sim, struct sim_node *node)
{
	(void)sim;
	MUST(node->up);
	node->up = false;
	node->life++;
}

void
sim_node_stop(struct sim *sim, struct sim_node *node, int64_t for_ms)
{
	const int64_t until_ms = sim->now_ms + for_ms;

	if (until_ms > node->stopped_ms)
		node->stopped_ms = until_ms;
}

/* Ends a stop early; all deferred events of the node run now. */
void
sim_node_continue(struct sim *sim, struct sim_node *node)
{
	node->stopped_ms = 0;
	for (uint32_t i = 0; i < sim->heap_len; i++) {
		struct sim_event *e = &sim->heap[i];

		if (e->node != node || !e->held || is_void(e))
			continue;
		e->at_ms = sim->now_ms;
		if (e->fn == node_turn)
			e->n = (uint64_t)(node->wake_ms = e->at_ms);
	}
	for (uint32_t i = sim->heap_len / 2; i-- > 0;)
		sink(sim, i, sim->heap[i]);
}

/* ---- A history ---- */

static bool
run(struct sim *sim, const struct world *world, void *w)
{
	const char *missing = "";

	while (world->has_actions(w) && sim->violation[0] == '\0' && step(sim))
		world->check(sim, w);
	sim->faults_over = true;
	sim->faults = (struct sim_faults){ .latency_ms = sim->faults.latency_ms };
	SIM_TRACE(sim, "no more faults");
	world->stop_faults(sim, w);
	const int64_t deadline_ms = sim->now_ms + world->settle_ms;
	while (sim->violation[0] == '\0' && (missing = world->unsettled(sim, w)) != NULL) {
		if (sim->now_ms > deadline_ms || !step(sim))
			sim_fail(sim, "not settled %lld s after the last fault: %s",
			    (long long)world->settle_ms / 1000, missing);
		else
			world->check(sim, w);
	}
	SIM_TRACE(sim, "settled");
	const int64_t held_ms = sim->now_ms + world->hold_ms;
	while (sim->violation[0] == '\0' && sim->now_ms < held_ms && step(sim)) {
		world->check(sim, w);
		if ((missing = world->unsettled(sim, w)) != NULL)
			sim_fail(sim, "was settled, then not any more: %s", missing);
	}
	if (sim->steps >= STEPS_MAX)
		sim_fail(sim, "the history does not end: %d steps", STEPS_MAX);
	return sim->violation[0] == '\0';
}

/* Runs the next event. False: there is none, or the history has too many steps. */
static bool
step(struct sim *sim)
{
	while (sim->heap_len > 0 && sim->steps < STEPS_MAX) {
		struct sim_event e = pop(sim);

		if (e.node != NULL && (is_void(&e) || defer(sim, &e)))
			continue;
		MUST(e.at_ms >= sim->now_ms);
		sim->now_ms = e.at_ms;
		sim->steps++;
		e.fn(sim, e.arg, e.n);
		return true;
	}
	return false;
}

/* The event is of an earlier life; or it is a turn, and the node was woken earlier. */
static bool
is_void(const struct sim_event *e)
{
	return e->life != e->node->life || !e->node->up
	    || (e->fn == node_turn && (int64_t)e->n != e->node->wake_ms);
}

/* A stopped node does nothing until it continues; then all events run at once, in any order. */
static bool
defer(struct sim *sim, struct sim_event *e)
{
	if (e->node->stopped_ms <= e->at_ms)
		return false;
	e->at_ms = e->node->stopped_ms;
	e->held = true;
	if (e->fn == node_turn) {
		e->node->wake_ms = e->at_ms;
		e->n = (uint64_t)e->at_ms;
	}
	push(sim, *e);
	return true;
}

static void
node_turn(struct sim *sim, void *arg, uint64_t n)
{
	struct sim_node *node = arg;

	(void)n;
	node->wake_ms = INT64_MAX;
	node->turn(sim, node->arg, node->n);
}

static void
push(struct sim *sim, struct sim_event e)
{
	if (sim->heap_len == sim->heap_cap) {
		sim->heap_cap = sim->heap_cap == 0 ? 256 : sim->heap_cap * 2;
		sim->heap = obj_realloc(sim->heap, sim->heap_cap * sizeof(*sim->heap));
	}
	e.tie = random_next(&sim->random);
	uint32_t i = sim->heap_len++;
	for (; i > 0 && before(&e, &sim->heap[(i - 1) / 2]); i = (i - 1) / 2)
		sim->heap[i] = sim->heap[(i - 1) / 2];
	sim->heap[i] = e;
}

static struct sim_event
pop(struct sim *sim)
{
	const struct sim_event top = sim->heap[0], last = sim->heap[--sim->heap_len];

	sink(sim, 0, last);
	return top;
}

/* Puts e at i or below it. */
static void
sink(struct sim *sim, uint32_t i, struct sim_event e)
{
	for (uint32_t child; (child = 2 * i + 1) < sim->heap_len; i = child) {
		if (child + 1 < sim->heap_len && before(&sim->heap[child + 1], &sim->heap[child]))
			child++;
		if (!before(&sim->heap[child], &e))
			break;
		sim->heap[i] = sim->heap[child];
	}
	sim->heap[i] = e;
}

static bool
before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->tie < b->tie;
}
