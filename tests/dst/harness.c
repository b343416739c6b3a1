/*
 * tests/dst/harness.c - trees of an actor with a provider: their processes, when a history is
 * settled, and crash sweeps.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "runtime_breaks.h"

enum {
	START_MS = 1000,	/* virtual time begins here: 0 means "none" in places of the product */
	WRONG_MS = 500,
	QUIET_MS = 15 * 1000,	/* what was decided from an older list has left by then */
	HOUR_MS = 3600 * 1000,
};

int node_state_main(int argc, char **argv);	/* tests/CMakeLists.txt */

static void serve(struct runtime *, struct http_exchange *);
static void print_explanations(struct harness *);
static void on_changed(struct runtime_actor *, const struct change *);
static void on_ended(struct runtime_actor *);
static sim_fn restart;
static void move_clocks(struct harness *);
static void check_effects(struct harness *);

void
harness_open(struct harness *h, struct sim *sim, const struct harness_spec *spec, unsigned ntrees,
    const char *settings)
{
	sim->now_ms = START_MS;
	h->sim = sim;
	h->spec = spec;
	h->ntrees = ntrees;
	cluster_init(&h->cluster, sim);
	h->cluster.executed = harness_executed;
	h->cluster.absent[KIND_MACHINE_CONFIG_POOL] = h->cluster.absent[KIND_MACHINE_CONFIG] =
	    h->cluster.absent[KIND_CLUSTER_VERSION] = true;
	h->runtime = runtime_new(sim, &(struct runtime_hooks){ .requested = harness_requested,
	    .answered = harness_answered, .changed = on_changed, .ended = on_ended }, h);
	h->runtime->http.serve = serve;
	h->runtime->http.leaves = harness_leaves;
	for (unsigned i = 0; i < ntrees; i++) {
		struct harness_tree *const t = &h->trees[i];

		t->watcher = h->cluster.watchers[i] =
		    runtime_add(h->runtime, i, ROLE_KUBE_WATCHER, watcher_model_main, "");
		t->nodes = spec->no_nodes ? NULL
		    : runtime_add(h->runtime, i, ROLE_NODE_STATE, node_state_main, "metrics-node-label=off");
		t->actor = runtime_add(h->runtime, i, spec->role, spec->program, settings);
	}
	for (unsigned i = 0; i < ntrees; i++) {
		harness_start(h, h->trees[i].watcher);
		if (h->trees[i].nodes != NULL)
			harness_start(h, h->trees[i].nodes);
		harness_start(h, h->trees[i].actor);
	}
}

void
harness_begin(struct harness *h)
{
	struct sim *const sim = h->sim;

	h->runtime->http.faults = (struct http_faults){ .refused = 30, .rejected = 30, .limited = 20,
		.lost = 80, .late = 150, .slow = 100, .late_ms = HARNESS_LATE_MS };
	sim->faults = (struct sim_faults){ .latency_ms = 1 + (int64_t)sim_random(sim, 20) };
	sim->faults.drop = sim->faults.stall = (uint32_t)sim_random(sim, 8);
	h->cluster.faults = (struct cluster_faults){
		.failed = 20, .lost = 30, .late = 30, .limited = 10, .busy = 10, .expired = 10, .slow = 100,
		.lag = 50,
	};
	h->ends_at_order = 50;
	h->acts_left = 10 + (unsigned)sim_random(sim, 30);
	h->gap_ms = (const int64_t[]){ 2000, 8000, 20000 }[sim_random(sim, 3)];
	sim_at(sim, sim->now_ms, harness_act, h, 0);
}

void
harness_open_sweep(struct harness *h, struct sim *sim, const struct harness_spec *spec, const char *settings)
{
	const uint64_t seed = sim->random;

	sim->random = 1;
	sim->faults = (struct sim_faults){ .latency_ms = 5 };
	harness_open(h, sim, spec, 1, settings);
	h->sweep = true;
	runtime_kill_after(h->trees[0].actor, (enum runtime_effect)(seed % EFFECT_MAX),
	    1 + (uint32_t)(seed / EFFECT_MAX));
}

void
harness_close(struct harness *h)
{
	if (h->sim->tracing && h->sim->violation[0] != '\0')
		print_explanations(h);
	runtime_free(&h->runtime);
	cluster_free(&h->cluster);
	runtime_breaks = (struct runtime_breaks){ 0 };
}

/* How the actors explain each of their objects. */
static void
print_explanations(struct harness *h)
{
	const struct kind_row *const row = &kind_table[h->spec->kind];
	const char *const namespace = row->scope == SCOPE_NAMESPACED ? "default/" : "";
	char name[CLUSTER_NAME_MAX + 16];

	for (unsigned i = 0; i < h->cluster.count; i++) {
		const struct cluster_object *const o = &h->cluster.objects[i];

		snprintf(name, sizeof(name), "%s%s", strchr(o->name, '/') == NULL ? namespace : "", o->name);
		for (unsigned t = 0; o->kind == h->spec->kind && o->json != NULL && t < h->ntrees; t++)
			printf("# %s of %s: %s\n", o->name, h->trees[t].actor->name,
			    runtime_explain(h->trees[t].actor, row->resource, name));
	}
}

bool
harness_has_actions(void *world)
{
	const struct harness *const h = world;

	return h->acts_left > 0;
}

static void
serve(struct runtime *r, struct http_exchange *x)
{
	struct harness *const h = r->world;

	if (!h->spec->harmless && !x->harmless)
		h->mutated_ms = r->sim->now_ms;
	h->spec->serve(h, x);
}

/* ---- Processes ---- */

void
harness_start(struct harness *h, struct runtime_actor *ra)
{
	struct harness_tree *const t = &h->trees[ra->tree];

	if (ra->node.up)
		return;
	if (ra == t->actor) {
		memset(t->asked, 0, sizeof(t->asked));
		memset(t->own_rv, 0, sizeof(t->own_rv));
	}
	runtime_start(ra);
}

static void
on_changed(struct runtime_actor *ra, const struct change *c)
{
	struct harness *const h = ra->runtime->world;

	if (h->spec->changed != NULL)
		h->spec->changed(h, ra, c);
}

static void
on_ended(struct runtime_actor *ra)
{
	struct harness *const h = ra->runtime->world;

	for (unsigned e = 0; e < EFFECT_MAX && ra == h->trees[ra->tree].actor; e++)
		h->effects[e] += ra->effects[e];
	sim_at(h->sim, h->sim->now_ms + 50 + (int64_t)sim_random(h->sim, 2000), restart, ra, 0);
}

static void
restart(struct sim *sim, void *arg, uint64_t n)
{
	struct runtime_actor *const ra = arg;

	(void)sim, (void)n;
	harness_start(ra->runtime->world, ra);
}

/* ---- Objects ---- */

const char *
harness_meta(const struct cluster_object *o, const char *name)
{
	const char *const text =
	    json_string_value(json_object_get(json_object_get(o->json, "metadata"), name));

	return text != NULL ? text : "";
}

const char *
harness_annotation(const struct cluster_object *o, const char *name)
{
	const char *const text = json_string_value(json_object_get(
	    json_object_get(json_object_get(o->json, "metadata"), "annotations"), name));

	return text != NULL ? text : "";
}

bool
harness_is_deleting(const struct cluster_object *o)
{
	return harness_meta(o, "deletionTimestamp")[0] != '\0';
}

struct cluster_object *
harness_find_uid(struct harness *h, enum kind k, const char *uid)
{
	for (unsigned i = 0; i < h->cluster.count; i++) {
		struct cluster_object *const o = &h->cluster.objects[i];

		if (o->kind == k && o->json != NULL && strcmp(harness_meta(o, "uid"), uid) == 0)
			return o;
	}
	return NULL;
}

/* ---- Settled ---- */

const char *
harness_unsettled(struct sim *sim, void *world)
{
	struct harness *const h = world;

	for (unsigned i = 0; i < h->ntrees; i++) {
		const struct harness_tree *const t = &h->trees[i];

		if (!t->watcher->node.up || (t->nodes != NULL && !t->nodes->node.up) || !t->actor->node.up)
			return "a process is down";
	}
	if (h->settled && h->mutations != h->settled_mutations)
		return "a write or a call, and nothing has changed but the clocks";
	/* It is costly, and what is missing is rarely there a moment later. */
	if (!h->settled && h->wrong != NULL && sim->now_ms < h->wrong_ms + WRONG_MS)
		return h->wrong;
	h->wrong = h->spec->difference(h);
	h->wrong_ms = sim->now_ms;
	if (h->wrong != NULL || h->settled)
		return h->wrong;
	if (h->spec->lists_lag(h))
		return "a list is old";
	if (sim->now_ms - h->mutated_ms < QUIET_MS || sim->now_ms - h->faultless_ms < QUIET_MS)
		return "a mutation was just sent, or a process may still have an old state";
	if (http_server_busy(&h->runtime->http) || cluster_in_flight(&h->cluster))
		return "a call is in flight";
	if (h->sweep && h->spec->sweep_step(h, h->sweep_step)) {
		h->sweep_step++;
		return "the next step of the workload";
	}
	if (h->sweep) {
		check_effects(h);
		/* The point may not have been reached. */
		runtime_kill_after(h->trees[0].actor, EFFECT_REQUESTED, 0);
	}
	h->settled_mutations = h->mutations;
	h->settled = true;
	move_clocks(h);
	return NULL;
}

/* The clocks of the machine and of the server move by an hour: nothing expires, nothing is deleted. */
static void
move_clocks(struct harness *h)
{
	const int64_t direction = sim_random(h->sim, 2) == 0 ? 1 : -1;

	runtime_set_wall(direction * HOUR_MS);
	h->cluster.clock_ms -= direction * HOUR_MS;
}

/* Every effect of the workload of a sweep is a point. */
static void
check_effects(struct harness *h)
{
	uint32_t most = 0;

	for (unsigned e = 0; e < EFFECT_MAX; e++) {
		const uint32_t n = h->effects[e] + h->trees[0].actor->effects[e];

		most = n > most ? n : most;
	}
	if (most < h->spec->sweep_least || most >= h->spec->sweep_effects)
		sim_fail(h->sim, "the workload has %u effects: not %u to %u", most, h->spec->sweep_least,
		    h->spec->sweep_effects - 1);
}
