/* tests/dst/insight_acts.c - what happens in the world `insight`: changes, other clients, faults. */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "world_insight.h"

enum { STOP_MS = 8000, STOP_LONG_MS = 90000 };

typedef void act(struct insight_world *);
static act change_expected, add_or_remove, change_all, other_removes, other_edits, other_touches;
static act other_creates, toggle_finalizer, toggle_crd, toggle_forbidden, toggle_refusing, toggle_down;
static act toggle_cut, kill_one, kill_at_effect, terminate_one, stop_one, stop_nodes_long, move_wall;
static act explain_one;

static const struct {
	uint32_t	 weight;
	bool		 fault;		/* not in a calm history, and not in a sweep */
	act		*fn;
} acts[] = {
	{ 24, false, change_expected }, { 10, false, add_or_remove }, { 2, false, change_all },
	{ 4, false, other_removes }, { 4, false, other_edits }, { 6, false, other_touches },
	{ 3, false, other_creates }, { 3, true, toggle_finalizer }, { 3, true, toggle_crd },
	{ 2, true, toggle_forbidden }, { 3, true, toggle_refusing }, { 4, true, toggle_down },
	{ 3, true, toggle_cut }, { 5, true, kill_one }, { 5, true, kill_at_effect },
	{ 3, true, terminate_one }, { 5, true, stop_one }, { 2, true, stop_nodes_long },
	{ 2, true, move_wall }, { 2, false, explain_one },
};

static struct runtime_actor *any_process(struct insight_world *);
static struct insight_process *any_tree(struct insight_world *);
static struct cluster_object *any_object(struct insight_world *);
static uint32_t any_place(struct insight_world *);

void
insight_act(struct sim *sim, void *arg, uint64_t n)
{
	struct insight_world *const w = arg;
	const bool calm = w->mode != MODE_MIXED;
	uint32_t sum = 0;

	(void)n;
	if (w->acts_left == 0)
		return;
	w->acts_left--;
	for (size_t i = 0; i < NITEMS(acts); i++)
		sum += calm && acts[i].fault ? 0 : acts[i].weight;
	uint64_t pick = sim_random(sim, sum);
	for (size_t i = 0; i < NITEMS(acts); i++) {
		const uint32_t weight = calm && acts[i].fault ? 0 : acts[i].weight;

		if (pick < weight) {
			acts[i].fn(w);
			break;
		}
		pick -= weight;
	}
	sim_at(sim, sim->now_ms + 1 + (int64_t)sim_random(sim, (uint64_t)w->act_gap_ms), insight_act, w, 0);
}

/* ---- Processes ---- */

/* In a sweep every process of insight is armed at its start. */
void
insight_start(struct insight_world *w, struct runtime_actor *ra)
{
	const bool insight = ra == w->trees[ra->tree].insight;

	if (ra->node.up)
		return;
	runtime_start(ra);
	if (insight && w->sweeps_left > 0) {
		w->sweeps_left--;
		runtime_kill_after(ra, w->sweep_effect, w->sweep_at);
	}
}

static struct insight_process *
any_tree(struct insight_world *w)
{
	return &w->trees[sim_random(w->sim, w->ntrees)];
}

/* insight more often than the models. */
static struct runtime_actor *
any_process(struct insight_world *w)
{
	struct insight_process *const t = any_tree(w);
	const uint64_t n = sim_random(w->sim, 4);

	return n == 0 ? t->watcher : n == 1 ? t->nodes : t->insight;
}

static void
kill_one(struct insight_world *w)
{
	runtime_kill(any_process(w));
}

static void
kill_at_effect(struct insight_world *w)
{
	struct insight_process *const t = any_tree(w);
	const enum runtime_effect effect = (enum runtime_effect)sim_random(w->sim, EFFECT_MAX);
	const uint32_t n = 1 + (uint32_t)sim_random(w->sim, 6);

	runtime_kill(t->insight);
	insight_start(w, t->insight);
	runtime_kill_after(t->insight, effect, n);
}

static void
terminate_one(struct insight_world *w)
{
	runtime_terminate(any_process(w));
}

static void
stop_one(struct insight_world *w)
{
	struct runtime_actor *const ra = any_process(w);

	SIM_TRACE(w->sim, "%s is stopped", ra->name);
	if (ra->node.up)
		sim_node_stop(w->sim, &ra->node, 1 + (int64_t)sim_random(w->sim, STOP_MS));
}

/* Its consumer's mirror gets old while the cluster goes on; the Lease may come to that instance. */
static void
stop_nodes_long(struct insight_world *w)
{
	struct insight_process *const t = any_tree(w);

	SIM_TRACE(w->sim, "%s is stopped for long", t->nodes->name);
	if (t->nodes->node.up)
		sim_node_stop(w->sim, &t->nodes->node, STOP_LONG_MS);
}

/* ---- node-state ---- */

static uint32_t
any_place(struct insight_world *w)
{
	return (uint32_t)sim_random(w->sim, EXPECTED_MAX);
}

static void
change_expected(struct insight_world *w)
{
	const uint32_t place = any_place(w);

	expected_change(w, place, w->expected[place].desired);
}

static void
add_or_remove(struct insight_world *w)
{
	const uint32_t place = any_place(w);

	expected_change(w, place, !w->expected[place].desired);
}

static void
change_all(struct insight_world *w)
{
	for (uint32_t i = 0; i < EXPECTED_MAX; i++)
		expected_change(w, i, w->expected[i].desired);
}

/* ---- Other clients, and the API server ---- */

/* NULL: it does not exist. */
static struct cluster_object *
any_object(struct insight_world *w)
{
	char name[CLUSTER_NAME_MAX];
	const uint32_t place = any_place(w);

	expected_name(place, name);
	struct cluster_object *const o = cluster_find(&w->cluster, expected_kind(place), name);
	return o != NULL && o->json != NULL ? o : NULL;
}

static void
other_removes(struct insight_world *w)
{
	struct cluster_object *const o = any_object(w);

	if (o != NULL)
		cluster_remove(&w->cluster, o);
}

static void
other_edits(struct insight_world *w)
{
	struct cluster_object *const o = any_object(w);

	if (o == NULL)
		return;
	json_t *const status = json_deep_copy(json_object_get(o->json, "status"));
	json_t *const own = status != NULL ? status : json_object();
	json_object_set_new(own, "message", json_string("written by another client"));
	json_object_set_new(own, "name", json_string("another"));
	cluster_put(&w->cluster, o->kind, o->name, "status", own);
}

static void
other_touches(struct insight_world *w)
{
	struct cluster_object *const o = any_object(w);

	if (o != NULL)
		cluster_touch(&w->cluster, o);
}

/* Under a name that may have no object, and with no status. */
static void
other_creates(struct insight_world *w)
{
	char name[CLUSTER_NAME_MAX];
	const uint32_t place = any_place(w);

	expected_name(place, name);
	const struct cluster_object *const o = cluster_find(&w->cluster, expected_kind(place), name);
	if (o == NULL || o->json == NULL)
		cluster_put(&w->cluster, expected_kind(place), name, "status", json_object());
}

static void
toggle_finalizer(struct insight_world *w)
{
	struct cluster_object *const o = any_object(w);

	if (o != NULL)
		cluster_set_finalizer(&w->cluster, o,
		    json_object_get(json_object_get(o->json, "metadata"), "finalizers") == NULL);
}

static void
toggle_crd(struct insight_world *w)
{
	const enum kind k = expected_kind(any_place(w));

	cluster_set_absent(&w->cluster, k, !w->cluster.absent[k]);
	SIM_TRACE(w->sim, "CRD of %s is %s", kind_table[k].resource,
	    w->cluster.absent[k] ? "removed" : "there");
}

static void
toggle_forbidden(struct insight_world *w)
{
	const enum kind k = expected_kind(any_place(w));

	w->cluster.forbidden[k] = !w->cluster.forbidden[k];
}

static void
toggle_refusing(struct insight_world *w)
{
	w->refusing = !w->refusing;
}

static void
toggle_down(struct insight_world *w)
{
	w->cluster.down = !w->cluster.down;
	SIM_TRACE(w->sim, "the API server is %s", w->cluster.down ? "down" : "up");
	if (!w->cluster.down)
		watcher_model_notify(&w->cluster);
}

/* One instance alone loses the API server: if it leads, the Lease goes to the other when it has expired. */
static void
toggle_cut(struct insight_world *w)
{
	const unsigned tree = (unsigned)sim_random(w->sim, w->ntrees);

	w->cluster.cut[tree] = !w->cluster.cut[tree];
	SIM_TRACE(w->sim, "tree %u %s the API server", tree,
	    w->cluster.cut[tree] ? "is cut off from" : "reaches");
	if (!w->cluster.cut[tree])
		watcher_model_notify(&w->cluster);
}

static void
move_wall(struct insight_world *w)
{
	static const int64_t offsets[] = { 0, 3600 * 1000, -3600 * 1000 };

	runtime_set_wall(offsets[sim_random(w->sim, NITEMS(offsets))]);
}

/* The answer must be JSON at any moment. */
static void
explain_one(struct insight_world *w)
{
	struct insight_process *const t = any_tree(w);
	const uint32_t place = any_place(w);
	char name[CLUSTER_NAME_MAX];

	expected_name(place, name);
	const char *const text = runtime_explain(
	    t->insight, place < EXPECTED_NODES ? "nodes" : "machineconfigpools", name);
	json_t *const json = json_loads(text, 0, NULL);
	if (text[0] != '\0' && json == NULL)
		sim_fail(w->sim, "explain of %s is not JSON: %.80s", name, text);
	json_decref(json);
}

/* ---- The end of all faults ---- */

/* What the server refused is written again when its object has changed: that change is made here. */
void
insight_stop_faults(struct sim *sim, void *arg)
{
	struct insight_world *const w = arg;
	struct cluster *const c = &w->cluster;

	w->acts_left = 0;
	w->sweeps_left = 0;
	w->refusing = c->down = false;
	memset(c->cut, 0, sizeof(c->cut));
	c->faults = (struct cluster_faults){ 0 };
	for (unsigned k = 0; k < KIND_MAX; k++) {
		c->forbidden[k] = false;
		if (c->absent[k])
			cluster_set_absent(c, (enum kind)k, false);
	}
	for (unsigned i = 0; i < c->count; i++)
		cluster_set_finalizer(c, &c->objects[i], false);
	for (unsigned i = 0; i < w->ntrees; i++) {
		struct runtime_actor *const all[] = {
			w->trees[i].watcher, w->trees[i].nodes, w->trees[i].insight,
		};

		for (size_t k = 0; k < NITEMS(all); k++) {
			runtime_kill_after(all[k], EFFECT_REQUESTED, 0);
			if (all[k]->node.up)
				sim_node_continue(sim, &all[k]->node);
			else
				insight_start(w, all[k]);
		}
	}
	for (uint32_t i = 0; i < EXPECTED_MAX; i++)
		expected_change(w, i, w->expected[i].desired);
	watcher_model_notify(c);
}
