/*
 * tests/dst/world_claims.c - the worlds `claims` and `claims-sweep`: Widgets, what must hold after
 * every step, and the final state.
 *
 * claims: Widgets come and go, two instances order, drain and delete VMs, and everything fails at
 * times. claims-sweep: one instance, no other fault, one workload; the seed is the point at which
 * the claimer is killed: at its n-th effect, requested, sent or answered. All points lead to the
 * same final state.
 */
#include "world_claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "runtime_breaks.h"

#define PREFIX		"test.muster.dev/"
#define SETTINGS	"api-url=http://provider\ntoken-file=/token\ndrain-timeout=600000"

enum { SWEEP_LEAST = 40, SWEEP_EFFECTS = 96 };

/* The workload of the sweep: Widgets that are created and deleted when the step before has settled. */
static const struct {
	uint8_t	create, remove;		/* one bit per Widget */
} sweep_steps[] = { { 0x07, 0 }, { 0x08, 0x02 }, { 0, 0x04 } };

static harness_act_fn toggle_widget, touch_widget;
static const char *difference(struct harness *);
static bool lists_lag(const struct harness *);
static const char *widget_difference(struct claims *, const struct cluster_object *);
static struct cluster_object *widget(struct harness *, uint32_t);
static void create_widget(struct harness *, uint32_t);
static void delete_widget(struct harness *, uint32_t);
static bool is_wanted(struct harness *, uint32_t);
static bool sweep_step(struct harness *, unsigned);
static void check_sweep(struct claims *);

static const struct harness_act acts[] = {
	{ 20, toggle_widget }, { 4, touch_widget }, { 15, harness_shrink_lists },
};

static const struct harness_spec spec = {
	.role = ROLE_TEST_CLAIMER, .program = claimer_main, .kind = KIND_WIDGET, .acts = acts,
	.nacts = NITEMS(acts), .serve = claims_serve, .difference = difference, .lists_lag = lists_lag,
	.sweep_step = sweep_step, .sweep_least = SWEEP_LEAST, .sweep_effects = SWEEP_EFFECTS,
};

static void *
setup(struct sim *sim)
{
	struct claims *const w = obj_alloc(sizeof(*w));

	runtime_breaks = (struct runtime_breaks){
		.flag_as_fence = sim->broken == 1, .no_margin = sim->broken == 2,
		.no_settle = sim->broken == 3, .no_brake = sim->broken == 4,
		.one_observation = sim->broken == 5, .stale_own_write = sim->broken == 6,
		.blind_repeat = sim->broken == 7, .no_defer = sim->broken == 8,
	};
	harness_open(&w->h, sim, &spec, RUNTIME_TREES, SETTINGS);
	w->shrinks = 600;
	for (uint32_t i = 0; i < CLAIMS_WIDGETS; i++) {
		if (sim_random(sim, 8) != 0)
			create_widget(&w->h, i);
	}
	harness_begin(&w->h);
	return w;
}

static void *
sweep_setup(struct sim *sim)
{
	struct claims *const w = obj_alloc(sizeof(*w));

	harness_open_sweep(&w->h, sim, &spec, SETTINGS);
	return w;
}

static void
teardown(void *world)
{
	struct claims *const w = world;

	harness_close(&w->h);
	free(w);
}

/* ---- After every step ---- */

static void
check(struct sim *sim, void *arg)
{
	struct claims *const w = arg;
	const char *owners[CLAIMS_VMS_MAX] = { NULL };

	if (w->checked == w->h.cluster.rv + w->vm_changes)
		return;
	w->checked = w->h.cluster.rv + w->vm_changes;
	for (uint32_t i = 0; i < w->nvms; i++) {
		if (!w->vms[i].deleted && claims_live_vms(w, w->vms[i].tag) > 1)
			sim_fail(sim, "the owner %s has two VMs", w->vms[i].tag);
	}
	for (unsigned i = 0; i < w->h.cluster.count; i++) {
		const struct cluster_object *const o = &w->h.cluster.objects[i];

		if (o->kind != KIND_WIDGET || o->json == NULL)
			continue;
		const unsigned long id = strtoul(harness_annotation(o, PREFIX "vm"), NULL, 10);
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

/* ---- Widgets ---- */

static struct cluster_object *
widget(struct harness *h, uint32_t n)
{
	char name[CLUSTER_NAME_MAX];

	snprintf(name, sizeof(name), "w%u", n);
	struct cluster_object *const o = cluster_find(&h->cluster, KIND_WIDGET, name);
	return o != NULL && o->json != NULL ? o : NULL;
}

static bool
is_wanted(struct harness *h, uint32_t n)
{
	const struct cluster_object *const o = widget(h, n);

	return o != NULL && !harness_is_deleting(o);
}

static void
create_widget(struct harness *h, uint32_t n)
{
	char name[CLUSTER_NAME_MAX];

	snprintf(name, sizeof(name), "w%u", n);
	SIM_TRACE(h->sim, "%s is created", name);
	cluster_put(&h->cluster, KIND_WIDGET, name, "spec", json_pack("{s:i}", "size", 1));
}

static void
delete_widget(struct harness *h, uint32_t n)
{
	struct cluster_object *const o = widget(h, n);

	SIM_TRACE(h->sim, "%s is deleted", o->name);
	cluster_remove(&h->cluster, o);
}

/* One that is being deleted goes in its own time. */
static void
toggle_widget(struct harness *h)
{
	const uint32_t n = (uint32_t)sim_random(h->sim, CLAIMS_WIDGETS);

	if (widget(h, n) == NULL)
		create_widget(h, n);
	else if (is_wanted(h, n))
		delete_widget(h, n);
}

static void
touch_widget(struct harness *h)
{
	struct cluster_object *const o = widget(h, (uint32_t)sim_random(h->sim, CLAIMS_WIDGETS));

	if (o != NULL)
		cluster_touch(&h->cluster, o);
}

/* ---- The final state ---- */

/* NULL: every Widget has its VM, bound, and there is no other VM and no other Node. */
static const char *
difference(struct harness *h)
{
	struct claims *const w = (struct claims *)h;
	static char text[128];
	uint32_t widgets = 0, nodes = 0, live = 0;

	for (unsigned i = 0; i < w->h.cluster.count; i++) {
		const struct cluster_object *const o = &w->h.cluster.objects[i];

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
	const unsigned long id = strtoul(harness_annotation(o, PREFIX "vm"), NULL, 10);

	if (harness_is_deleting(o))
		return "is being deleted";
	if (harness_annotation(o, PREFIX "intent")[0] != '\0')
		return "has an intent";
	if (id == 0 || id > w->nvms)
		return "is not bound";
	const struct claims_vm *const vm = &w->vms[id - 1];
	if (vm->deleted || strcmp(vm->tag, harness_meta(o, "uid")) != 0)
		return "is bound to a VM that is not its own";
	char node[CLUSTER_NAME_MAX];
	snprintf(node, sizeof(node), "vm-%lu", id);
	const struct cluster_object *const n = cluster_find(&w->h.cluster, KIND_NODE, node);
	const json_t *const metadata = n != NULL ? json_object_get(n->json, "metadata") : NULL;
	const char *const label =
	    json_string_value(json_object_get(json_object_get(metadata, "labels"), PREFIX "widget"));
	if (label == NULL || strcmp(label, o->name) != 0)
		return "is not the label of its Node";
	return json_array_size(json_object_get(json_object_get(o->json, "metadata"), "finalizers")) == 1
	    ? NULL : "has no finalizer";
}

static bool
lists_lag(const struct harness *h)
{
	const struct claims *const w = (const struct claims *)h;

	for (uint32_t i = 0; i < w->nvms; i++) {
		if (w->vms[i].from_ms > h->sim->now_ms || w->vms[i].until_ms > h->sim->now_ms)
			return true;
	}
	return false;
}

/* ---- The sweep ---- */

static bool
sweep_step(struct harness *h, unsigned step)
{
	if (step == NITEMS(sweep_steps)) {
		check_sweep((struct claims *)h);
		return false;
	}
	for (uint32_t i = 0; i < CLAIMS_WIDGETS; i++) {
		if ((sweep_steps[step].create >> i & 1) != 0)
			create_widget(h, i);
		if ((sweep_steps[step].remove >> i & 1) != 0)
			delete_widget(h, i);
	}
	return true;
}

/* The final state has what the workload left, and each VM was ordered once. */
static void
check_sweep(struct claims *w)
{
	uint32_t created = 0;
	unsigned present = 0;

	for (size_t i = 0; i < NITEMS(sweep_steps); i++) {
		created += (uint32_t)__builtin_popcount(sweep_steps[i].create);
		present = (present | sweep_steps[i].create) & ~(unsigned)sweep_steps[i].remove;
	}
	for (uint32_t i = 0; i < CLAIMS_WIDGETS; i++) {
		if (is_wanted(&w->h, i) != ((present >> i & 1) != 0))
			sim_fail(w->h.sim, "the Widget w%u should%s be there", i,
			    (present >> i & 1) != 0 ? "" : " not");
	}
	if (w->nvms != created)
		sim_fail(w->h.sim, "%u VMs were ordered for %u Widgets", w->nvms, created);
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
	.setup = setup, .has_actions = harness_has_actions, .check = check,
	.stop_faults = harness_stop_faults, .unsettled = harness_unsettled, .teardown = teardown,
};

static const struct world_break no_breaks[] = { { NULL, NULL } };

const struct world claims_sweep_world = {
	.name = "claims-sweep", .breaks = no_breaks, .points = (uint64_t)SWEEP_EFFECTS * EFFECT_MAX,
	.settle_ms = 1800 * 1000, .hold_ms = 25 * 1000, .setup = sweep_setup,
	.has_actions = harness_has_actions, .check = check, .stop_faults = harness_sweep_stop_faults,
	.unsettled = harness_unsettled, .teardown = teardown,
};
