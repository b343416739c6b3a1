/*
 * tests/dst/world_annotator.c - the worlds `annotator` and `annotator-sweep`: what happens, the final
 * state, and the workload of the sweep.
 *
 * annotator: MachineDeployments, templates, Clusters, regions and catalogues change, one or two instances
 * annotate, and everything fails at times. annotator-sweep: one instance, no other fault, one workload;
 * the seed is the effect at which capa-annotator is killed.
 */
#include "world_annotator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "runtime_breaks.h"

#define SETTINGS	"catalogue-ttl=120000\nunknown-type-interval=20000\n"		\
			"credential-slack=30000\nrequest-timeout=10000\n"		\
			"retry-interval=1000\nretry-interval-max=20000\nrequests-per-second=20"

enum {
	SWEEP_LEAST = 15, SWEEP_EFFECTS = 48,
	/* What changes in the workload: two annotated, one of them again, one that becomes known. */
	SWEEP_EFFECTIVE = 4,
	PLANNED_MS = 2000,
};

static const char *difference(struct harness *);
static bool is_wanted(const struct capaw *, uint32_t);
static const char *compare(struct capaw *, const struct runtime_actor *);
static bool lists_lag(const struct harness *);
static bool sweep_step(struct harness *, unsigned);

static const struct harness_act acts[] = {
	{ 8, capaw_toggle_deployment }, { 6, capaw_change_deployment }, { 8, capaw_change_template },
	{ 8, capaw_change_cluster }, { 8, capaw_change_annotation }, { 1, capaw_toggle_kind },
	{ 6, capaw_change_catalogue }, { 4, capaw_rotate_token }, { 3, capaw_revoke_credentials },
	{ 2, capaw_move_aws_clock }, { 3, capaw_stop_region },
};

static const struct harness_spec spec = {
	.role = ROLE_CAPA_ANNOTATOR, .program = capa_annotator_main, .kind = KIND_MACHINE_DEPLOYMENT,
	.no_nodes = true, .harmless = true, .acts = acts, .nacts = NITEMS(acts), .serve = capaw_serve,
	.leaves = capaw_leaves, .requested = capaw_requested, .executed = capaw_executed,
	.changed = capaw_changed, .difference = difference, .lists_lag = lists_lag,
	.sweep_step = sweep_step, .sweep_least = SWEEP_LEAST, .sweep_effects = SWEEP_EFFECTS,
};

/* ---- Setup ---- */

static void *
setup(struct sim *sim)
{
	runtime_breaks = (struct runtime_breaks){
		.always_leading = sim->broken == 1, .first_page = sim->broken == 2,
		.failed_is_unknown = sim->broken == 3, .walk_again = sim->broken == 4,
		.clear_when_gone = sim->broken == 5, .no_version = sim->broken == 6,
		.unwatched = sim->broken == 7, .keep_gpus = sim->broken == 8,
	};
	struct capaw *const w = obj_alloc(sizeof(*w));

	w->h.sim = sim;
	capaw_aws_open(w);
	harness_open(&w->h, sim, &spec, 1 + (unsigned)sim_random(sim, RUNTIME_TREES), SETTINGS);
	w->h.cluster.reads_versions = true;
	w->h.runtime->http.delivered = capaw_delivered;
	runtime_set_files(capaw_file, w);
	for (uint32_t i = 0; i < CAPAW_CLUSTERS; i++) {
		if (sim_random(sim, 5) != 0)
			capaw_put_cluster(w, i, i == 1, capaw_region_names[sim_random(sim, CAPAW_REGIONS)]);
	}
	for (uint32_t i = 0; i < CAPAW_TEMPLATES; i++) {
		if (sim_random(sim, 5) != 0)
			capaw_put_template(w, i, capaw_type_name((uint32_t)sim_random(sim, CAPAW_TYPES)));
	}
	for (uint32_t i = 0; i < CAPAW_DEPLOYMENTS; i++) {
		const uint32_t template = (uint32_t)sim_random(sim, CAPAW_TEMPLATES);

		if (sim_random(sim, 4) != 0)
			capaw_put_deployment(w, i, template, (uint32_t)sim_random(sim, CAPAW_CLUSTERS));
	}
	harness_begin(&w->h);
	/* Many short histories find more than a few long ones. */
	w->h.acts_left = 4 + (unsigned)sim_random(sim, 16);
	w->h.gap_ms = (const int64_t[]){ 300, 3000, 12000 }[sim_random(sim, 3)];
	w->h.runtime->http.faults.lost = w->h.runtime->http.faults.late = 40;
	w->h.runtime->http.faults.broken = 30;
	w->aws_faults = (const uint32_t[]){ 0, 80, 250 }[sim_random(sim, 3)];
	return w;
}

static void *
sweep_setup(struct sim *sim)
{
	struct capaw *const w = obj_alloc(sizeof(*w));

	w->h.sim = sim;
	w->h.sweep = true;
	capaw_aws_open(w);
	harness_open_sweep(&w->h, sim, &spec, SETTINGS);
	w->h.cluster.reads_versions = true;
	w->h.runtime->http.delivered = capaw_delivered;
	runtime_set_files(capaw_file, w);
	return w;
}

static void
teardown(void *world)
{
	struct capaw *const w = world;

	harness_close(&w->h);
	runtime_set_files(NULL, NULL);
	free(w);
}

/* Requests are checked when they are made, and again when they have an effect. */
static void
check(struct sim *sim, void *world)
{
	(void)sim, (void)world;
}

static void
stop_faults(struct sim *sim, void *world)
{
	struct capaw *const w = world;

	for (unsigned k = 0; k < KIND_MAX; k++) {
		if (w->h.cluster.absent[k] && (kind_table[k].readers >> ROLE_CAPA_ANNOTATOR & 1) != 0)
			cluster_set_absent(&w->h.cluster, (enum kind)k, false);
	}
	harness_stop_faults(sim, world);
	capaw_aws_stop_faults(w);
}

/* ---- The final state ---- */

static const char *
difference(struct harness *h)
{
	struct capaw *const w = (struct capaw *)h;

	if (h->settled && w->events != w->settled_events)
		return "an Event, and nothing has changed";
	w->settled_events = w->events;
	if (h->cluster.holder < 0)
		return "no instance leads";
	const uint64_t changes = h->cluster.rv + w->completed + h->cluster.term;
	if (w->compared != changes) {
		w->compared = changes;
		w->compared_ms = h->sim->now_ms;
		w->differs = compare(w, h->trees[h->cluster.holder].actor);
	}
	for (uint32_t r = 0; r < CAPAW_REGIONS && !h->settled; r++) {
		if (w->lives[h->cluster.holder].regions[r].walking && is_wanted(w, r))
			return "a region is being read, or will be after a failure";
	}
	/* What a catalogue has just brought has yet to be planned. */
	if (!h->settled && h->sim->now_ms - w->compared_ms < PLANNED_MS)
		return "something has just changed";
	return w->differs;
}

static bool
is_wanted(const struct capaw *w, uint32_t region)
{
	const struct capaw_life *const life = &w->lives[w->h.cluster.holder];

	for (uint32_t i = 0; i < CAPAW_DEPLOYMENTS; i++) {
		if (life->wanted[i] == region)
			return true;
	}
	return false;
}

/*
 * NULL: every MachineDeployment whose type is known is annotated, and the leader's catalogues are those of
 * EC2. What cannot be decided has any annotations: it keeps what was there.
 */
static const char *
compare(struct capaw *w, const struct runtime_actor *leader)
{
	const struct capaw_life *const life = &w->lives[leader->tree];
	static char text[192];
	struct capaw_view v;

	for (uint32_t i = 0; i < CAPAW_DEPLOYMENTS; i++) {
		capaw_read(w, NULL, i, &v);
		const bool decided = v.exists && v.missing == NULL;
		const char *wrong = NULL;

		if (decided && (life->incarnation != leader->incarnation
		    || life->regions[v.region].catalogue != w->regions[v.region].count - 1))
			wrong = "the leader has not read the newest catalogue";
		else if (decided && v.type < CAPAW_TYPES && capaw_catalogue(w, v.region)->forms[v.type] != 0)
			wrong = capaw_annotations_differ(v.annotations, v.type,
			    capaw_catalogue(w, v.region)->forms[v.type]);
		json_decref(v.annotations);
		if (wrong == NULL)
			continue;
		snprintf(text, sizeof(text), "deployment-%u of type %s in %s: %s", i, capaw_type_name(v.type),
		    capaw_region_names[v.region], wrong);
		return text;
	}
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
 * Two regions, one of EKS, and a type that no region has yet; another template's type; the type comes; a
 * MachineDeployment goes.
 */
static bool
sweep_step(struct harness *h, unsigned step)
{
	struct capaw *const w = (struct capaw *)h;

	switch (step) {
	case 0:
		w->regions[1].all[0].forms[3] = 0;
		capaw_put_cluster(w, 0, false, capaw_region_names[0]);
		capaw_put_cluster(w, 1, true, capaw_region_names[1]);
		capaw_put_template(w, 0, capaw_type_name(0));
		capaw_put_template(w, 1, capaw_type_name(3));
		capaw_put_deployment(w, 0, 0, 0);
		capaw_put_deployment(w, 1, 1, 1);
		capaw_put_deployment(w, 2, 0, 1);
		return true;
	case 1:
		capaw_put_template(w, 2, capaw_type_name(2));
		capaw_put_deployment(w, 0, 2, 0);
		return true;
	case 2:
		w->regions[1].all[1] = w->regions[1].all[0];
		w->regions[1].all[1].forms[3] = 1;
		w->regions[1].count = 2;
		return true;
	case 3:
		cluster_remove(&h->cluster, capaw_deployment(w, 2));
		return true;
	default:
		if (w->effective != SWEEP_EFFECTIVE)
			sim_fail(h->sim, "%u patches changed something, not %d", w->effective,
			    SWEEP_EFFECTIVE);
		return false;
	}
}

static const struct world_break breaks[] = {
	{ "deaf-to-lease", "an instance never learns that another one leads" },
	{ "first-page", "the first page counts as the whole catalogue" },
	{ "failed-is-unknown", "a region that could not be read has no types" },
	{ "walk-again", "a region is read again as soon as an unknown type allows it, whether there is one or not" },
	{ "clear-when-gone", "annotations are removed when type, template or region goes" },
	{ "no-version", "labels are written without a resourceVersion" },
	{ "unwatched", "a template or Cluster that changes wakes nobody" },
	{ "keep-gpus", "gpu-count and gpu-type stay when the type has no GPU" },
	{ NULL, NULL },
};

const struct world annotator_world = {
	.name = "annotator", .breaks = breaks, .settle_ms = 1800 * 1000, .hold_ms = 60 * 1000, .setup = setup,
	.has_actions = harness_has_actions, .check = check, .stop_faults = stop_faults,
	.unsettled = harness_unsettled, .teardown = teardown,
};

static const struct world_break no_breaks[] = { { NULL, NULL } };

const struct world annotator_sweep_world = {
	.name = "annotator-sweep", .breaks = no_breaks, .points = (uint64_t)SWEEP_EFFECTS * EFFECT_MAX,
	.settle_ms = 1800 * 1000, .hold_ms = 60 * 1000, .setup = sweep_setup,
	.has_actions = harness_has_actions, .check = check, .stop_faults = harness_sweep_stop_faults,
	.unsettled = harness_unsettled, .teardown = teardown,
};
