/*
 * tests/dst/harness_acts.c - what happens in every world of an actor with a provider: to processes,
 * clocks, the API server and Nodes.
 */
#include <string.h>

#include "harness.h"
#include "obj.h"

enum { STOP_MS = 20 * 1000, BUDGET_MS = 60 * 1000, HOUR_MS = 3600 * 1000 };

static harness_act_fn touch_node, kill_one, kill_at_effect, stop_one, cut_tree, move_wall, move_cluster_clock;
static harness_act_fn close_budgets;
static sim_fn end_budgets;

static const struct harness_act acts[] = {
	{ 3, touch_node }, { 4, kill_one }, { 8, kill_at_effect }, { 4, stop_one }, { 4, cut_tree },
	{ 2, move_wall }, { 2, move_cluster_clock }, { 3, close_budgets },
};

static bool pick(struct harness *, const struct harness_act *, size_t, uint64_t *);
static uint32_t sum_of(const struct harness_act *, size_t);
static struct harness_tree *any_tree(struct harness *);
static struct runtime_actor *any_process(struct harness *);
static int64_t any_offset(struct harness *);

void
harness_act(struct sim *sim, void *arg, uint64_t n)
{
	struct harness *const h = arg;
	const struct harness_spec *const spec = h->spec;

	(void)n;
	if (h->acts_left == 0)
		return;
	h->acts_left--;
	uint64_t at = sim_random(sim, sum_of(spec->acts, spec->nacts) + sum_of(acts, NITEMS(acts)));
	if (!pick(h, spec->acts, spec->nacts, &at))
		pick(h, acts, NITEMS(acts), &at);
	sim_at(sim, sim->now_ms + 1 + (int64_t)sim_random(sim, (uint64_t)h->gap_ms), harness_act, h, 0);
}

/* The act at *at of their weights; false: there is none, and *at is what is left. */
static bool
pick(struct harness *h, const struct harness_act *list, size_t n, uint64_t *at)
{
	for (size_t i = 0; i < n; i++) {
		if (*at < list[i].weight) {
			list[i].fn(h);
			return true;
		}
		*at -= list[i].weight;
	}
	return false;
}

static uint32_t
sum_of(const struct harness_act *list, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += list[i].weight;
	return sum;
}

/* ---- Nodes ---- */

/* As the kubelet and other controllers do all the time. */
static void
touch_node(struct harness *h)
{
	const unsigned count = h->cluster.count;
	struct cluster_object *const o =
	    count > 0 ? &h->cluster.objects[sim_random(h->sim, count)] : NULL;

	if (o != NULL && o->kind == KIND_NODE && o->json != NULL)
		cluster_touch(&h->cluster, o);
}

/* ---- Processes ---- */

static struct harness_tree *
any_tree(struct harness *h)
{
	return &h->trees[sim_random(h->sim, h->ntrees)];
}

static struct runtime_actor *
any_process(struct harness *h)
{
	struct harness_tree *const t = any_tree(h);
	const uint64_t n = sim_random(h->sim, 6);

	return n == 0 && t->nodes != NULL ? t->nodes : n < 3 ? t->watcher : t->actor;
}

static void
kill_one(struct harness *h)
{
	runtime_kill(any_process(h));
}

static void
kill_at_effect(struct harness *h)
{
	struct runtime_actor *const ra = any_tree(h)->actor;
	const enum runtime_effect effect = (enum runtime_effect)sim_random(h->sim, EFFECT_MAX);

	runtime_kill_after(ra, effect, ra->effects[effect] + 1 + (uint32_t)sim_random(h->sim, 3));
}

static void
stop_one(struct harness *h)
{
	struct runtime_actor *const ra = any_process(h);

	SIM_TRACE(h->sim, "%s is stopped", ra->name);
	if (ra->node.up)
		sim_node_stop(h->sim, &ra->node, 1 + (int64_t)sim_random(h->sim, STOP_MS));
}

/* ---- The API server, the provider, the clocks ---- */

static void
cut_tree(struct harness *h)
{
	const unsigned tree = (unsigned)sim_random(h->sim, h->ntrees);

	h->cluster.cut[tree] = !h->cluster.cut[tree];
	SIM_TRACE(h->sim, "tree %u %s the API server", tree,
	    h->cluster.cut[tree] ? "is cut off from" : "reaches");
	if (!h->cluster.cut[tree])
		watcher_model_notify(&h->cluster);
}

static int64_t
any_offset(struct harness *h)
{
	static const int64_t offsets[] = { 0, HOUR_MS, -HOUR_MS };

	return offsets[sim_random(h->sim, NITEMS(offsets))];
}

static void
move_wall(struct harness *h)
{
	runtime_set_wall(any_offset(h));
}

static void
move_cluster_clock(struct harness *h)
{
	const int64_t offset_ms = any_offset(h);

	if (!h->steady_clock)
		h->cluster.clock_ms = offset_ms;
}

/* Not for as long as the policy waits for one Pod: no drain gives up. */
static void
close_budgets(struct harness *h)
{
	h->cluster.budgets = true;
	sim_at(h->sim, h->sim->now_ms + 1 + (int64_t)sim_random(h->sim, BUDGET_MS), end_budgets, h, 0);
}

static void
end_budgets(struct sim *sim, void *arg, uint64_t n)
{
	struct harness *const h = arg;

	(void)sim, (void)n;
	h->cluster.budgets = false;
}

/* ---- The end of all faults ---- */

void
harness_stop_faults(struct sim *sim, void *world)
{
	struct harness *const h = world;

	h->acts_left = 0;
	h->faultless_ms = sim->now_ms;
	h->cluster.budgets = false;
	h->runtime->http.faults = (struct http_faults){ 0 };
	h->cluster.faults = (struct cluster_faults){ 0 };
	for (unsigned i = 0; i < h->ntrees; i++) {
		struct runtime_actor *const all[] = {
			h->trees[i].watcher, h->trees[i].nodes, h->trees[i].actor,
		};

		for (size_t k = 0; k < NITEMS(all); k++) {
			if (all[k] == NULL)
				continue;
			runtime_kill_after(all[k], EFFECT_REQUESTED, 0);
			if (all[k]->node.up)
				sim_node_continue(sim, &all[k]->node);
			else
				harness_start(h, all[k]);
		}
	}
	memset(h->cluster.cut, 0, sizeof(h->cluster.cut));
	watcher_model_notify(&h->cluster);
}

void
harness_sweep_stop_faults(struct sim *sim, void *world)
{
	(void)sim, (void)world;
}
