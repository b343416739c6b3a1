/*
 * tests/dst/world_vip.c - the worlds `vip` and `vip-sweep`: what happens, the final state, and the workload
 * of the sweep.
 *
 * vip: Clusters, classes, pools and claims come and go, one or two instances give addresses and answer
 * Cluster API, and everything fails at times. vip-sweep: one instance, no other fault, one workload; the seed
 * is the effect at which vip-claimer is killed.
 */
#include "world_vip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "runtime_breaks.h"

enum { SWEEP_LEAST = 12, SWEEP_EFFECTS = 32 };

static void begin(struct vipw *);
static const char *difference(struct harness *);
static const char *cluster_difference(struct vipw *, uint32_t);
static const char *claim_difference(struct vipw *, const struct cluster_object *);
static bool wants_ingress(const json_t *);
static bool lists_lag(const struct harness *);
static bool sweep_step(struct harness *, unsigned);

static const struct harness_act acts[] = {
	{ 12, vipw_toggle_cluster }, { 8, vipw_change_cluster }, { 2, vipw_set_endpoint },
	{ 3, vipw_change_class }, { 9, vipw_change_pool }, { 3, vipw_claim_by_hand }, { 2, vipw_delete_claim },
	{ 3, vipw_stop_ipam }, { 1, vipw_toggle_certificate },
};

static const struct harness_spec spec = {
	.role = ROLE_VIP_CLAIMER, .program = vip_claimer_main, .kind = KIND_CAPI_CLUSTER, .no_nodes = true,
	.harmless = true, .acts = acts, .nacts = NITEMS(acts), .requested = vipw_requested,
	.executed = vipw_executed, .difference = difference, .lists_lag = lists_lag,
	.sweep_step = sweep_step, .sweep_least = SWEEP_LEAST, .sweep_effects = SWEEP_EFFECTS,
};

/* ---- Setup ---- */

static void *
setup(struct sim *sim)
{
	runtime_breaks = (struct runtime_breaks){
		.always_leading = sim->broken == 1, .overwrite = sim->broken == 2,
		.any_claim = sim->broken == 3,
		.no_owner = sim->broken == 4, .unwatched_claims = sim->broken == 5,
		.pass_unread = sim->broken == 6, .no_patch = sim->broken == 7,
		.other_life = sim->broken == 8,
	};
	struct vipw *const w = obj_alloc(sizeof(*w));

	w->h.sim = sim;
	vipw_server_use(w);
	harness_open(&w->h, sim, &spec, 1 + (unsigned)sim_random(sim, RUNTIME_TREES), VIPW_SETTINGS);
	for (uint32_t i = 0; i < VIPW_CLASSES; i++)
		vipw_put_class(w, i, sim_random(sim, 2) == 0);
	for (uint32_t i = 0; i < VIPW_POOLS; i++) {
		if (sim_random(sim, 4) != 0)
			vipw_put_pool(w, i, (uint32_t)sim_random(sim, VIPW_SIZE_MAX + 1));
	}
	for (uint32_t i = 0; i < VIPW_CLUSTERS; i++) {
		if (sim_random(sim, 3) == 0)
			vipw_put_cluster(w, i, (uint32_t)sim_random(sim, VIPW_CLASSES), sim_chance(sim, 250));
	}
	harness_begin(&w->h);
	/* Many short histories find more than a few long ones. */
	w->h.acts_left = 4 + (unsigned)sim_random(sim, 16);
	w->h.gap_ms = (const int64_t[]){ 300, 3000, 12000 }[sim_random(sim, 3)];
	begin(w);
	return w;
}

static void *
sweep_setup(struct sim *sim)
{
	struct vipw *const w = obj_alloc(sizeof(*w));

	w->h.sim = sim;
	vipw_server_use(w);
	harness_open_sweep(&w->h, sim, &spec, VIPW_SETTINGS);
	begin(w);
	return w;
}

static void
begin(struct vipw *w)
{
	w->h.cluster.reads_versions = true;
	for (unsigned t = 0; t < RUNTIME_TREES; t++)
		w->cut_ms[t] = INT64_MIN / 2;
	vipw_ipam_step(w->h.sim, w, 0);
	vipw_topology_start(w);
}

static void
teardown(void *world)
{
	struct vipw *const w = world;

	harness_close(&w->h);
	vipw_topology_free(w);
	vipw_server_use(NULL);
	free(w);
}

/* Requests are checked when they are made and when they have an effect, answers when they are given. */
static void
check(struct sim *sim, void *world)
{
	(void)sim, (void)world;
}

static void
stop_faults(struct sim *sim, void *world)
{
	vipw_repair(world);
	harness_stop_faults(sim, world);
}

/* ---- The final state ---- */

static const char *
difference(struct harness *h)
{
	struct vipw *const w = (struct vipw *)h;
	const char *wrong;

	if (h->cluster.holder < 0)
		return "no instance leads";
	for (uint32_t i = 0; i < VIPW_CLUSTERS; i++) {
		if ((wrong = cluster_difference(w, i)) != NULL)
			return wrong;
	}
	for (unsigned i = 0; i < h->cluster.count; i++) {
		const struct cluster_object *const o = &h->cluster.objects[i];

		wrong = o->kind == KIND_IP_CLAIM && o->json != NULL ? claim_difference(w, o) : NULL;
		if (wrong == NULL && o->kind == KIND_IP_ADDRESS && o->json != NULL
		    && vipw_object(w, KIND_IP_CLAIM, o->name) == NULL)
			wrong = "an address is given that no claim has";
		if (wrong != NULL)
			return wrong;
	}
	return NULL;
}

/* NULL: it has its address everywhere, and Cluster API has rendered it. */
static const char *
cluster_difference(struct vipw *w, uint32_t n)
{
	const struct vipw_topology *const t = &w->topologies[n];
	const struct cluster_object *const o = vipw_cluster(w, n);
	char claim[CLUSTER_NAME_MAX];
	const json_t *value;
	size_t i;
	bool given = false;

	if (o == NULL || harness_is_deleting(o))
		return NULL;
	const char *const host = vipw_text(o->json, "spec.controlPlaneEndpoint.host");
	if (host[0] == '\0')
		return "a Cluster has no endpoint";
	if (wants_ingress(o->json) && vipw_annotation(o->json, VIPW_INGRESS)[0] == '\0')
		return "a Cluster has no address for ingress";
	if (strcmp(vipw_label(o->json, VIPW_INGRESS), vipw_annotation(o->json, VIPW_INGRESS)) != 0)
		return "the label for ingress is another one";
	vipw_claim_name(claim, n, false);
	const struct cluster_object *const address = vipw_object(w, KIND_IP_ADDRESS, claim);
	const char *const class = vipw_text(o->json, "spec.topology.classRef.name");
	json_array_foreach(vipw_at(o->json, "spec.topology.variables"), i, value) {
		if (strcmp(vipw_text(value, "name"), VIPW_VARIABLE) == 0)
			given = strcmp(vipw_text(value, "value"), host) == 0;
	}
	if (!given && address != NULL && strcmp(vipw_text(address->json, "spec.address"), host) == 0
	    && w->declares[class[strlen(class) - 1] - '0'])
		return "the variable of a Cluster is not its endpoint";
	if (!t->passed || !t->rendered || strcmp(t->uid, harness_meta(o, "uid")) != 0)
		return "a Cluster is not rendered";
	return strcmp(t->host, host) == 0 ? NULL : "a Cluster is rendered without its endpoint";
}

static bool
wants_ingress(const json_t *cluster)
{
	return strcmp(vipw_annotation(cluster, VIPW_PREFIX "ingress-enabled"), "true") == 0;
}

/* NULL: its Cluster owns it; or somebody made it for a Cluster that does not exist. */
static const char *
claim_difference(struct vipw *w, const struct cluster_object *claim)
{
	const json_t *const owner = json_array_get(vipw_at(claim->json, "metadata.ownerReferences"), 0);
	bool ingress;
	const struct cluster_object *const o = vipw_cluster(w, vipw_claim_cluster(claim->name, &ingress));

	if (o == NULL)
		return owner == NULL ? NULL : "a claim outlives its Cluster";
	if (owner == NULL || strcmp(vipw_text(owner, "uid"), harness_meta(o, "uid")) != 0)
		return "a claim is not owned by its Cluster";
	if (strcmp(vipw_label(claim->json, "cluster.x-k8s.io/cluster-name"), o->name) != 0
	    && !harness_is_deleting(o))
		return "a claim does not name its Cluster";
	return NULL;
}

static bool
lists_lag(const struct harness *h)
{
	(void)h;
	return false;
}

/* ---- The sweep ---- */

/*
 * Two Clusters, one with ingress and the variable; one that comes again under its name; a claim without an
 * owner; a pool that is exhausted, and grows.
 */
static bool
sweep_step(struct harness *h, unsigned step)
{
	struct vipw *const w = (struct vipw *)h;

	switch (step) {
	case 0:
		vipw_put_class(w, 0, true);
		vipw_put_class(w, 1, false);
		vipw_put_pool(w, 0, 3);
		vipw_put_pool(w, 2, 3);
		vipw_put_pool(w, 3, 3);
		vipw_put_cluster(w, 0, 0, true);
		vipw_put_cluster(w, 1, 1, false);
		return true;
	case 1:
		cluster_remove(&h->cluster, vipw_cluster(w, 0));
		vipw_put_cluster(w, 0, 0, false);
		return true;
	case 2:
		vipw_put_claim(w, 2, 0);
		vipw_put_cluster(w, 2, 0, false);
		return true;
	case 3:
		cluster_remove(&h->cluster, vipw_cluster(w, 1));
		return true;
	default:
		if (w->answers[0] == 0 || w->answers[1] == 0)
			sim_fail(h->sim, "no hook was answered");
		return false;
	}
}

static const struct world_break breaks[] = {
	{ "deaf-to-lease", "an instance never learns that another one leads" },
	{ "overwrite", "an endpoint that is set counts as not set" },
	{ "any-claim", "a claim of another owner is used" },
	{ "no-owner", "a claim is made without its owner" },
	{ "unwatched", "a claim that gets its address wakes nobody" },
	{ "pass-unread", "the hooks answer from what is not read yet" },
	{ "no-patch", "GeneratePatches answers without a patch while the address is not known" },
	{ "other-life", "GeneratePatches answers for any Cluster of that name" },
	{ NULL, NULL },
};

const struct world vip_world = {
	.name = "vip", .breaks = breaks, .settle_ms = 1800 * 1000, .hold_ms = 60 * 1000, .setup = setup,
	.has_actions = harness_has_actions, .check = check, .stop_faults = stop_faults,
	.unsettled = harness_unsettled, .teardown = teardown,
};

static const struct world_break no_breaks[] = { { NULL, NULL } };

const struct world vip_sweep_world = {
	.name = "vip-sweep", .breaks = no_breaks, .points = (uint64_t)SWEEP_EFFECTS * EFFECT_MAX,
	.settle_ms = 1800 * 1000, .hold_ms = 60 * 1000, .setup = sweep_setup,
	.has_actions = harness_has_actions, .check = check, .stop_faults = harness_sweep_stop_faults,
	.unsettled = harness_unsettled, .teardown = teardown,
};
