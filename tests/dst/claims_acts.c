/* tests/dst/claims_acts.c - what happens in the world `claims`: Widgets, processes, clocks, and faults. */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "world_claims.h"

enum { STOP_MS = 20 * 1000, BUDGET_MS = 60 * 1000, HOUR_MS = 3600 * 1000 };

typedef void act(struct claims *);
static act toggle_widget, touch_widget, touch_node, kill_one, kill_at_effect, stop_one, cut_tree, move_wall;
static act move_cluster_clock, close_budgets, shrink_list;
static sim_fn end_budgets;

static const struct {
	uint32_t	 weight;
	act		*fn;
} acts[] = {
	{ 20, toggle_widget }, { 4, touch_widget }, { 3, touch_node }, { 4, kill_one }, { 8, kill_at_effect },
	{ 4, stop_one }, { 4, cut_tree }, { 2, move_wall }, { 2, move_cluster_clock }, { 3, close_budgets },
	{ 15, shrink_list },
};

static struct claims_tree *any_tree(struct claims *);
static struct runtime_actor *any_process(struct claims *);
static int64_t any_offset(struct claims *);
static struct cluster_object *widget(struct claims *, uint32_t);

void
claims_act(struct sim *sim, void *arg, uint64_t n)
{
	struct claims *const w = arg;
	uint32_t sum = 0;

	(void)n;
	if (w->acts_left == 0)
		return;
	w->acts_left--;
	for (size_t i = 0; i < NITEMS(acts); i++)
		sum += acts[i].weight;
	uint64_t pick = sim_random(sim, sum);
	for (size_t i = 0; i < NITEMS(acts); i++) {
		if (pick < acts[i].weight) {
			acts[i].fn(w);
			break;
		}
		pick -= acts[i].weight;
	}
	sim_at(sim, sim->now_ms + 1 + (int64_t)sim_random(sim, (uint64_t)w->gap_ms), claims_act, w, 0);
}

/* ---- Widgets and Nodes ---- */

static struct cluster_object *
widget(struct claims *w, uint32_t n)
{
	char name[CLUSTER_NAME_MAX];

	snprintf(name, sizeof(name), "w%u", n);
	struct cluster_object *const o = cluster_find(&w->cluster, KIND_WIDGET, name);
	return o != NULL && o->json != NULL ? o : NULL;
}

bool
claims_wanted(struct claims *w, uint32_t n)
{
	const struct cluster_object *const o = widget(w, n);

	return o != NULL && claims_meta(o, "deletionTimestamp")[0] == '\0';
}

void
claims_create(struct claims *w, uint32_t n)
{
	char name[CLUSTER_NAME_MAX];

	snprintf(name, sizeof(name), "w%u", n);
	SIM_TRACE(w->sim, "%s is created", name);
	cluster_put(&w->cluster, KIND_WIDGET, name, "spec", json_pack("{s:i}", "size", 1));
}

void
claims_delete(struct claims *w, uint32_t n)
{
	struct cluster_object *const o = widget(w, n);

	SIM_TRACE(w->sim, "%s is deleted", o->name);
	cluster_remove(&w->cluster, o);
}

/* One that is being deleted goes in its own time. */
static void
toggle_widget(struct claims *w)
{
	const uint32_t n = (uint32_t)sim_random(w->sim, CLAIMS_WIDGETS);

	if (widget(w, n) == NULL)
		claims_create(w, n);
	else if (claims_wanted(w, n))
		claims_delete(w, n);
}

static void
touch_widget(struct claims *w)
{
	struct cluster_object *const o = widget(w, (uint32_t)sim_random(w->sim, CLAIMS_WIDGETS));

	if (o != NULL)
		cluster_touch(&w->cluster, o);
}

/* As the kubelet and other controllers do all the time. */
static void
touch_node(struct claims *w)
{
	const unsigned count = w->cluster.count;
	struct cluster_object *const o =
	    count > 0 ? &w->cluster.objects[sim_random(w->sim, count)] : NULL;

	if (o != NULL && o->kind == KIND_NODE && o->json != NULL)
		cluster_touch(&w->cluster, o);
}

/* ---- Processes ---- */

static struct claims_tree *
any_tree(struct claims *w)
{
	return &w->trees[sim_random(w->sim, w->ntrees)];
}

static struct runtime_actor *
any_process(struct claims *w)
{
	struct claims_tree *const t = any_tree(w);
	const uint64_t n = sim_random(w->sim, 6);

	return n == 0 ? t->nodes : n < 3 ? t->watcher : t->claimer;
}

void
claims_start(struct claims *w, struct runtime_actor *ra)
{
	struct claims_tree *const t = &w->trees[ra->tree];

	if (ra->node.up)
		return;
	if (ra == t->claimer) {
		memset(t->asked, 0, sizeof(t->asked));
		memset(t->own_rv, 0, sizeof(t->own_rv));
	}
	runtime_start(ra);
}

static void
kill_one(struct claims *w)
{
	runtime_kill(any_process(w));
}

static void
kill_at_effect(struct claims *w)
{
	struct runtime_actor *const ra = any_tree(w)->claimer;
	const enum runtime_effect effect = (enum runtime_effect)sim_random(w->sim, EFFECT_MAX);

	runtime_kill_after(ra, effect, ra->effects[effect] + 1 + (uint32_t)sim_random(w->sim, 3));
}

static void
stop_one(struct claims *w)
{
	struct runtime_actor *const ra = any_process(w);

	SIM_TRACE(w->sim, "%s is stopped", ra->name);
	if (ra->node.up)
		sim_node_stop(w->sim, &ra->node, 1 + (int64_t)sim_random(w->sim, STOP_MS));
}

/* ---- The API server, the provider, the clocks ---- */

static void
cut_tree(struct claims *w)
{
	const unsigned tree = (unsigned)sim_random(w->sim, w->ntrees);

	w->cluster.cut[tree] = !w->cluster.cut[tree];
	SIM_TRACE(w->sim, "tree %u %s the API server", tree,
	    w->cluster.cut[tree] ? "is cut off from" : "reaches");
	if (!w->cluster.cut[tree])
		watcher_model_notify(&w->cluster);
}

static int64_t
any_offset(struct claims *w)
{
	static const int64_t offsets[] = { 0, HOUR_MS, -HOUR_MS };

	return offsets[sim_random(w->sim, NITEMS(offsets))];
}

static void
move_wall(struct claims *w)
{
	runtime_set_wall(any_offset(w));
}

static void
move_cluster_clock(struct claims *w)
{
	w->cluster.clock_ms = any_offset(w);
}

/* Not for as long as the policy waits for one Pod: no drain gives up. */
static void
close_budgets(struct claims *w)
{
	w->cluster.budgets = true;
	sim_at(w->sim, w->sim->now_ms + 1 + (int64_t)sim_random(w->sim, BUDGET_MS), end_budgets, w, 0);
}

static void
end_budgets(struct sim *sim, void *arg, uint64_t n)
{
	struct claims *const w = arg;

	(void)sim, (void)n;
	w->cluster.budgets = false;
}

static void
shrink_list(struct claims *w)
{
	claims_shrink_list(w);
}

/* ---- The end of all faults ---- */

void
claims_stop_faults(struct sim *sim, void *arg)
{
	struct claims *const w = arg;

	w->acts_left = 0;
	w->faultless_ms = sim->now_ms;
	w->cluster.budgets = false;
	w->runtime->http.faults = (struct http_faults){ 0 };
	w->cluster.faults = (struct cluster_faults){ 0 };
	for (unsigned i = 0; i < w->ntrees; i++) {
		struct runtime_actor *const all[] = {
			w->trees[i].watcher, w->trees[i].nodes, w->trees[i].claimer,
		};

		for (size_t k = 0; k < NITEMS(all); k++) {
			runtime_kill_after(all[k], EFFECT_REQUESTED, 0);
			if (all[k]->node.up)
				sim_node_continue(sim, &all[k]->node);
			else
				claims_start(w, all[k]);
		}
	}
	memset(w->cluster.cut, 0, sizeof(w->cluster.cut));
	watcher_model_notify(&w->cluster);
}
