/*
 * tests/dst/world_claims.c - the worlds `claims` and `claims-sweep`: what is set up, what must hold after
 * every step, and when it is settled.
 *
 * claims: Widgets come and go, two instances order, drain and delete VMs, and everything fails at times.
 * claims-sweep: one instance, no other fault, one workload; the seed is the point at which the claimer is
 * killed: at its n-th effect, requested, sent or answered. All points lead to the same final state.
 */
#include "world_claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "runtime_breaks.h"

#define PREFIX		"test.muster.dev/"

enum {
	START_MS = 1000,	/* virtual time begins here: 0 means "none" in places of the product */
	QUIET_MS = 15 * 1000,	/* what was decided from an older list has left by then */
	HOUR_MS = 3600 * 1000,
	SWEEP_LEAST = 40, SWEEP_EFFECTS = 96,
};

/* The workload of the sweep: Widgets that are created and deleted when the step before has settled. */
static const struct {
	uint8_t	create, remove;		/* one bit per Widget */
} sweep_steps[] = { { 0x07, 0 }, { 0x08, 0x02 }, { 0, 0x04 } };

static struct claims *world_new(struct sim *, unsigned);
static void print_explanations(struct claims *);
static void on_changed(struct runtime_actor *, const struct change *);
static void on_ended(struct runtime_actor *);
static sim_fn restart;
static const char *difference(struct claims *);
static const char *widget_difference(struct claims *, const struct cluster_object *);
static void move_clocks(struct claims *);
static bool next_sweep_step(struct claims *);
static void check_sweep(struct claims *);

static void *
setup(struct sim *sim)
{
	runtime_breaks = (struct runtime_breaks){
		.flag_as_fence = sim->broken == 1, .no_margin = sim->broken == 2,
		.no_settle = sim->broken == 3, .no_brake = sim->broken == 4,
		.one_observation = sim->broken == 5, .stale_own_write = sim->broken == 6,
		.blind_repeat = sim->broken == 7, .no_defer = sim->broken == 8,
	};
	struct claims *const w = world_new(sim, RUNTIME_TREES);
	w->runtime->http.faults = (struct http_faults){ .refused = 30, .rejected = 30, .limited = 20,
		.lost = 80, .late = 150, .slow = 100, .late_ms = CLAIMS_LATE_MS };
	sim->faults = (struct sim_faults){ .latency_ms = 1 + (int64_t)sim_random(sim, 20) };
	sim->faults.drop = sim->faults.stall = (uint32_t)sim_random(sim, 8);
	w->cluster.faults = (struct cluster_faults){
		.failed = 20, .lost = 30, .late = 30, .limited = 10, .busy = 10, .expired = 10, .slow = 100,
		.lag = 50,
	};
	w->ends_at_order = 50;
	w->shrinks = 600;
	w->acts_left = 10 + (unsigned)sim_random(sim, 30);
	w->gap_ms = (const int64_t[]){ 2000, 8000, 20000 }[sim_random(sim, 3)];
	for (uint32_t i = 0; i < CLAIMS_WIDGETS; i++) {
		if (sim_random(sim, 8) != 0)
			claims_create(w, i);
	}
	sim_at(sim, sim->now_ms, claims_act, w, 0);
	return w;
}

/* The seed is the point; everything else is the same in every history. */
static void *
sweep_setup(struct sim *sim)
{
	const uint64_t seed = sim->random;

	sim->random = 1;
	sim->faults = (struct sim_faults){ .latency_ms = 5 };
	struct claims *const w = world_new(sim, 1);
	w->sweep = true;
	w->sweep_effect = (enum runtime_effect)(seed % EFFECT_MAX);
	w->sweep_at = 1 + (uint32_t)(seed / EFFECT_MAX);
	runtime_kill_after(w->trees[0].claimer, w->sweep_effect, w->sweep_at);
	return w;
}

static struct claims *
world_new(struct sim *sim, unsigned ntrees)
{
	struct claims *const w = obj_alloc(sizeof(*w));

	sim->now_ms = START_MS;
	w->sim = sim;
	w->ntrees = ntrees;
	cluster_init(&w->cluster, sim);
	w->cluster.executed = claims_executed;
	w->cluster.absent[KIND_MACHINE_CONFIG_POOL] = w->cluster.absent[KIND_MACHINE_CONFIG] =
	    w->cluster.absent[KIND_CLUSTER_VERSION] = true;
	w->runtime = runtime_new(sim, &(struct runtime_hooks){ .requested = claims_requested,
	    .answered = claims_answered, .changed = on_changed, .ended = on_ended }, w);
	w->runtime->http.serve = claims_serve;
	w->runtime->http.leaves = claims_leaves;
	for (unsigned i = 0; i < ntrees; i++) {
		struct claims_tree *const t = &w->trees[i];

		t->watcher = w->cluster.watchers[i] =
		    runtime_add(w->runtime, i, ROLE_KUBE_WATCHER, watcher_model_main, "");
		t->nodes = runtime_add(w->runtime, i, ROLE_NODE_STATE, node_state_main,
		    "metrics-node-label=off");
		t->claimer = runtime_add(w->runtime, i, ROLE_TEST_CLAIMER, claimer_main,
		    "api-url=http://provider\ntoken-file=/token\ndrain-timeout=600000");
	}
	for (unsigned i = 0; i < ntrees; i++) {
		claims_start(w, w->trees[i].watcher);
		claims_start(w, w->trees[i].nodes);
		claims_start(w, w->trees[i].claimer);
	}
	return w;
}

static void
teardown(void *arg)
{
	struct claims *const w = arg;

	if (w->sim->tracing && w->sim->violation[0] != '\0')
		print_explanations(w);
	runtime_free(&w->runtime);
	cluster_free(&w->cluster);
	runtime_breaks = (struct runtime_breaks){ 0 };
	free(w);
}

/* How the claimers explain each Widget. */
static void
print_explanations(struct claims *w)
{
	char name[CLUSTER_NAME_MAX + 8];

	for (unsigned i = 0; i < w->cluster.count; i++) {
		const struct cluster_object *const o = &w->cluster.objects[i];

		snprintf(name, sizeof(name), "default/%s", o->name);
		for (unsigned t = 0; o->kind == KIND_WIDGET && o->json != NULL && t < w->ntrees; t++)
			printf("# %s of %s: %s\n", o->name, w->trees[t].claimer->name,
			    runtime_explain(w->trees[t].claimer, "widgets", name));
	}
}

static bool
has_actions(void *arg)
{
	const struct claims *const w = arg;

	return w->acts_left > 0;
}

/* ---- After every step ---- */

static void
check(struct sim *sim, void *arg)
{
	struct claims *const w = arg;
	const char *owners[CLAIMS_VMS_MAX] = { NULL };

	if (w->checked == w->cluster.rv + w->vm_changes)
		return;
	w->checked = w->cluster.rv + w->vm_changes;
	for (uint32_t i = 0; i < w->nvms; i++) {
		if (!w->vms[i].deleted && claims_live_vms(w, w->vms[i].tag) > 1)
			sim_fail(sim, "the owner %s has two VMs", w->vms[i].tag);
	}
	for (unsigned i = 0; i < w->cluster.count; i++) {
		const struct cluster_object *const o = &w->cluster.objects[i];

		if (o->kind != KIND_WIDGET || o->json == NULL)
			continue;
		const unsigned long id = strtoul(claims_annotation(o, "vm"), NULL, 10);
		if (id == 0)
			continue;
		if (id > w->nvms)
			sim_fail(sim, "%s has VM %lu, which was never ordered", o->name, id);
		else if (owners[id - 1] != NULL)
			sim_fail(sim, "VM %lu has two owners: %s and %s", id, owners[id - 1], o->name);
		else
			owners[id - 1] = o->name;
	}
}

static void
on_changed(struct runtime_actor *ra, const struct change *c)
{
	(void)ra, (void)c;
}

static void
on_ended(struct runtime_actor *ra)
{
	struct claims *const w = ra->runtime->world;

	if (ra == w->trees[ra->tree].claimer)
		w->effects += ra->effects[EFFECT_SENT];
	sim_at(w->sim, w->sim->now_ms + 50 + (int64_t)sim_random(w->sim, 2000), restart, ra, 0);
}

static void
restart(struct sim *sim, void *arg, uint64_t n)
{
	struct runtime_actor *const ra = arg;

	(void)sim, (void)n;
	claims_start(ra->runtime->world, ra);
}

const char *
claims_meta(const struct cluster_object *o, const char *name)
{
	const char *const text =
	    json_string_value(json_object_get(json_object_get(o->json, "metadata"), name));

	return text != NULL ? text : "";
}

const char *
claims_annotation(const struct cluster_object *o, const char *name)
{
	char key[64];

	snprintf(key, sizeof(key), PREFIX "%s", name);
	const char *const text = json_string_value(json_object_get(
	    json_object_get(json_object_get(o->json, "metadata"), "annotations"), key));
	return text != NULL ? text : "";
}

/* ---- Settled ---- */

static const char *
unsettled(struct sim *sim, void *arg)
{
	struct claims *const w = arg;

	for (unsigned i = 0; i < w->ntrees; i++) {
		const struct claims_tree *const t = &w->trees[i];

		if (!t->watcher->node.up || !t->nodes->node.up || !t->claimer->node.up)
			return "a process is down";
	}
	if (w->settled && w->mutations != w->settled_mutations)
		return "a write or a call, and nothing has changed but the clocks";
	const char *const wrong = difference(w);
	if (wrong != NULL || w->settled)
		return wrong;
	for (uint32_t i = 0; i < w->nvms; i++) {
		if (w->vms[i].from_ms > sim->now_ms || w->vms[i].until_ms > sim->now_ms)
			return "a list is old";
	}
	if (sim->now_ms - w->mutated_ms < QUIET_MS || sim->now_ms - w->faultless_ms < QUIET_MS)
		return "a mutation was just sent, or a process may still have an old state";
	if (http_server_busy(&w->runtime->http) || cluster_in_flight(&w->cluster))
		return "a call is in flight";
	if (w->sweep && next_sweep_step(w))
		return "the next step of the workload";
	w->settled_mutations = w->mutations;
	w->settled = true;
	move_clocks(w);
	return NULL;
}

/* The clocks of the machine and of the server move by an hour: nothing expires, nothing is deleted. */
static void
move_clocks(struct claims *w)
{
	const int64_t direction = sim_random(w->sim, 2) == 0 ? 1 : -1;

	runtime_set_wall(direction * HOUR_MS);
	w->cluster.clock_ms -= direction * HOUR_MS;
}

/* NULL: every Widget has its VM, bound, and there is no other VM and no other Node. */
static const char *
difference(struct claims *w)
{
	static char text[128];
	uint32_t widgets = 0, nodes = 0, live = 0;

	for (unsigned i = 0; i < w->cluster.count; i++) {
		const struct cluster_object *const o = &w->cluster.objects[i];

		if (o->json == NULL)
			continue;
		nodes += o->kind == KIND_NODE;
		if (o->kind != KIND_WIDGET)
			continue;
		widgets++;
		const char *const wrong = widget_difference(w, o);
		if (wrong == NULL)
			continue;
		snprintf(text, sizeof(text), "%s %s", o->name, wrong);
		return text;
	}
	for (uint32_t i = 0; i < w->nvms; i++)
		live += !w->vms[i].deleted;
	if (live == widgets && nodes == widgets)
		return NULL;
	snprintf(text, sizeof(text), "%u Widgets, %u VMs, %u Nodes", widgets, live, nodes);
	return text;
}

static const char *
widget_difference(struct claims *w, const struct cluster_object *o)
{
	const unsigned long id = strtoul(claims_annotation(o, "vm"), NULL, 10);

	if (claims_meta(o, "deletionTimestamp")[0] != '\0')
		return "is being deleted";
	if (claims_annotation(o, "intent")[0] != '\0')
		return "has an intent";
	if (id == 0 || id > w->nvms)
		return "is not bound";
	const struct claims_vm *const vm = &w->vms[id - 1];
	if (vm->deleted || strcmp(vm->tag, claims_meta(o, "uid")) != 0)
		return "is bound to a VM that is not its own";
	char node[CLUSTER_NAME_MAX];
	snprintf(node, sizeof(node), "vm-%lu", id);
	const struct cluster_object *const n = cluster_find(&w->cluster, KIND_NODE, node);
	const json_t *const metadata = n != NULL ? json_object_get(n->json, "metadata") : NULL;
	const char *const label =
	    json_string_value(json_object_get(json_object_get(metadata, "labels"), PREFIX "widget"));
	if (label == NULL || strcmp(label, o->name) != 0)
		return "is not the label of its Node";
	return json_array_size(json_object_get(json_object_get(o->json, "metadata"), "finalizers")) == 1
	    ? NULL : "has no finalizer";
}

/* ---- The sweep ---- */

static void
sweep_stop_faults(struct sim *sim, void *arg)
{
	(void)sim, (void)arg;
}

/* False: the workload is done. */
static bool
next_sweep_step(struct claims *w)
{
	if (w->sweep_step == NITEMS(sweep_steps)) {
		check_sweep(w);
		return false;
	}
	for (uint32_t i = 0; i < CLAIMS_WIDGETS; i++) {
		if ((sweep_steps[w->sweep_step].create >> i & 1) != 0)
			claims_create(w, i);
		if ((sweep_steps[w->sweep_step].remove >> i & 1) != 0)
			claims_delete(w, i);
	}
	w->sweep_step++;
	return true;
}

/* The final state has what the workload left, and each VM was ordered once. */
static void
check_sweep(struct claims *w)
{
	const uint32_t effects = w->effects + w->trees[0].claimer->effects[EFFECT_SENT];
	uint32_t created = 0;
	unsigned present = 0;

	for (size_t i = 0; i < NITEMS(sweep_steps); i++) {
		created += (uint32_t)__builtin_popcount(sweep_steps[i].create);
		present = (present | sweep_steps[i].create) & ~(unsigned)sweep_steps[i].remove;
	}
	for (uint32_t i = 0; i < CLAIMS_WIDGETS; i++) {
		if (claims_wanted(w, i) != ((present >> i & 1) != 0))
			sim_fail(w->sim, "the Widget w%u should%s be there", i,
			    (present >> i & 1) != 0 ? "" : " not");
	}
	if (w->nvms != created)
		sim_fail(w->sim, "%u VMs were ordered for %u Widgets", w->nvms, created);
	/* Every effect of the workload is a point. */
	if (effects < SWEEP_LEAST || effects >= SWEEP_EFFECTS)
		sim_fail(w->sim, "the workload has %u effects: not %d to %d", effects, SWEEP_LEAST,
		    SWEEP_EFFECTS - 1);
}

static const struct world_break breaks[] = {
	{ "flag-as-fence", "a remembered flag is the fence" },
	{ "no-margin", "a mutation begins though the Lease ends before it could" },
	{ "no-settle", "no wait for calls of the former leader, or of the former life" },
	{ "no-brake", "a list that lost more than half of its entries counts" },
	{ "one-observation", "one list proves that a VM is gone" },
	{ "stale-own-write", "a state that is older than an own write counts" },
	{ "blind-repeat", "a call without an answer counts as not done" },
	{ "no-defer", "a key is planned again while its effect is in flight" },
	{ NULL, NULL },
};

const struct world claims_world = {
	.name = "claims", .breaks = breaks, .weight = 5, .settle_ms = 1800 * 1000, .hold_ms = 25 * 1000,
	.setup = setup, .has_actions = has_actions, .check = check, .stop_faults = claims_stop_faults,
	.unsettled = unsettled, .teardown = teardown,
};

static const struct world_break no_breaks[] = { { NULL, NULL } };

const struct world claims_sweep_world = {
	.name = "claims-sweep", .breaks = no_breaks, .points = (uint64_t)SWEEP_EFFECTS * EFFECT_MAX,
	.settle_ms = 1800 * 1000, .hold_ms = 25 * 1000, .setup = sweep_setup, .has_actions = has_actions,
	.check = check, .stop_faults = sweep_stop_faults, .unsettled = unsettled, .teardown = teardown,
};
