/*
 * tests/dst/world_vpsie.c - the worlds `vpsie` and `vpsie-sweep`: setup, breaks, the sweep.
 *
 * vpsie: four NodeGroups in two namespaces scale, VPSieNodes come and go by hand, one or two instances
 * request, discover, label, drain and delete machines, and everything fails at times. vpsie-sweep: one
 * instance, no other fault, one workload; the seed is the point at which vpsie-claimer is killed.
 */
#include "world_vpsie.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "runtime_breaks.h"

enum { SWEEP_LEAST = 60, SWEEP_EFFECTS = 320, DESIRED_MAX = 3, SEEDS = 800 };

static bool sweep_step(struct harness *, unsigned);

static struct harness_spec spec = {
	.role = ROLE_VPSIE_CLAIMER, .program = vpsie_claimer_main, .kind = KIND_VPSIE_NODE,
	.shared = "vpsienodes nodes", .serve = vpw_serve, .leaves = vpw_leaves, .difference = vpw_difference,
	.lists_lag = vpw_lists_lag, .sweep_step = sweep_step, .sweep_least = SWEEP_LEAST,
	.sweep_effects = SWEEP_EFFECTS, .acts = vpw_acts,
};

static struct vpw *new_world(struct sim *, bool);
static void open_api(struct vpw *);
static void add_humans(struct vpw *);
static void add_original(struct vpw *);
static void print_machines(const struct vpw *);

static void *
setup(struct sim *sim)
{
	runtime_breaks = (struct runtime_breaks){
		.no_intent = sim->broken == 1, .blind_repeat = sim->broken == 2,
		.one_observation = sim->broken == 3, .newest_first = sim->broken == 4,
		.no_settle = sim->broken == 5, .flag_as_fence = sim->broken == 6,
		.blind_label = sim->broken == 7,
	};
	struct vpw *const w = new_world(sim, false);
	const unsigned ntrees = 1 + (unsigned)sim_random(sim, RUNTIME_TREES);
	harness_open(&w->h, sim, &spec, ntrees, w->settings);
	open_api(w);
	add_humans(w);
	for (uint32_t n = 0; n < VPW_NODE_GROUPS; n++) {
		if (sim_random(sim, 3) == 0)
			continue;
		vpw_create_node_group(w, n, 0, DESIRED_MAX);
		vpw_scale(w, n, (int64_t)sim_random(sim, DESIRED_MAX));
	}
	if (sim_random(sim, 3) == 0)
		add_original(w);
	harness_begin(&w->h);
	/* Many short histories find more than a few long ones. */
	w->h.acts_left = 3 + (unsigned)sim_random(sim, 16);
	w->h.gap_ms = (const int64_t[]){ 1000, 6000, 25000 }[sim_random(sim, 3)];
	w->h.steady_clock = sim_random(sim, 4) != 0;
	w->h.runtime->http.faults = (struct http_faults){ .refused = 15, .rejected = 15, .limited = 10,
		.cut = 10, .failed = 10, .lost = 40, .late = 80, .slow = 60, .late_ms = HARNESS_LATE_MS };
	w->flagged = 15;
	return w;
}

static void *
sweep_setup(struct sim *sim)
{
	struct vpw *const w = new_world(sim, true);

	harness_open_sweep(&w->h, sim, &spec, w->settings);
	w->h.steady_clock = true;
	open_api(w);
	return w;
}

static struct vpw *
new_world(struct sim *sim, bool sweep)
{
	static const char *const urls[] = { "http://vpsie/v2", "http://vpsie" };
	struct vpw *const w = obj_alloc(sizeof(*w));
	const uint64_t any = sweep ? 1 : sim_random(sim, 512);

	spec.nacts = vpw_nacts;
	w->node_view = sweep ? 0 : (unsigned)sim_random(sim, 3);
	w->counts = any & 1;
	w->vm_status = any & 2;
	w->total = any & 4;
	w->object_answers = (any & 24) == 24;
	w->static_token = (any & 96) == 96;
	w->named = any & 256;
	w->token_life_ms = (any & 128) != 0 ? 3 * 60 * 1000 : 3600 * 1000;
	w->secret = 1;
	snprintf(w->settings, sizeof(w->settings),
	    "api-url=%s\nauth-header=%s\ncredential-dir=/vpsie\ndiscovery-interval=%d\n"
	    "resync-interval=180000\nprovisioning-timeout=%d\njoining-timeout=%d\nfailed-ttl=0\n"
	    "drain-timeout=600000\nconfirm-interval=%d\nclock-skew=60000\nrequests-per-minute=100",
	    urls[any & 1], (any & 1) != 0 ? "vpsie-auth" : "authorization", sweep ? 20000 : 10000,
	    VPW_PROVISIONING_MS, VPW_JOINING_MS, VPW_CONFIRM_MS);
	return w;
}

static void
open_api(struct vpw *w)
{
	runtime_set_files(vpw_file, w);
	w->h.runtime->http.delivered = vpw_answered;
	vpw_add_platform(w, "human", VPW_HUMAN_SIZE, 0);
	if (w->h.sweep || sim_random(w->h.sim, 2) == 0)
		return;
	for (uint32_t n = 0; n < VPW_NODE_GROUPS; n++) {
		if (vpw_find_platform(w, vpw_node_groups[n].platform) == VPW_NONE)
			vpw_add_platform(w, vpw_node_groups[n].platform, vpw_node_groups[n].size, 0);
	}
}

/* The control plane, a VM outside the cluster, and a worker that nobody asked us for. */
static void
add_humans(struct vpw *w)
{
	const uint32_t group = vpw_find_platform(w, "human");
	const uint32_t plane = vpw_add_machine(w, group, VPW_NONE, 0);

	w->machines[plane].control_plane = true;
	vpw_add_machine(w, VPW_NONE, VPW_NONE, 0);
	vpw_add_machine(w, group, VPW_NONE, 0);
}

/* D22: an object of the original controller, with an address and no id; its labels have no namespace. */
static void
add_original(struct vpw *w)
{
	const uint32_t group = vpw_find_platform(w, "web");
	char address[VPW_TEXT_MAX];

	if (group == VPW_NONE)
		return;
	const uint32_t n = vpw_add_machine(w, group, VPW_NONE, 0);
	struct vpw_machine *const m = &w->machines[n];
	m->human = m->slow = false;
	m->made_ms = m->listed_ms = m->runs_ms = m->ip_ms = m->settled_ms = w->h.sim->now_ms - 1000;
	m->vm_ms = w->node_view == 1 ? m->made_ms : m->vm_ms;
	m->blinks_ms = 0;
	m->joined_ms = w->h.sim->now_ms;
	harness_join(&w->h, m->node, "");
	vpw_put_node(w, n, true);
	vpw_address(address, m, 0, true);
	struct cluster_object *const node = cluster_find(&w->h.cluster, KIND_NODE, m->node);
	json_object_set_new(json_object_get(node->json, "metadata"), "labels",
	    json_pack("{s:s, s:s, s:s}", VPW_GROUP "/managed", "true", VPW_GROUP "/nodegroup", "web",
	    VPW_GROUP "/vpsienode", "web-original"));
	cluster_touch(&w->h.cluster, node);
	cluster_put(&w->h.cluster, KIND_VPSIE_NODE, "web-original", "spec", json_pack("{s:s, s:s, s:s, s:i}",
	    "nodeGroupName", "web", "resourceIdentifier", VPW_CLUSTER, "ipAddress", address,
	    "vpsieInstanceID", 0));
	struct cluster_object *const o = cluster_find(&w->h.cluster, KIND_VPSIE_NODE, "web-original");
	json_object_update_new(json_object_get(o->json, "metadata"), json_pack("{s:s, s:i, s:[s], s:{s:s}}",
	    "creationTimestamp", "2025-12-31T00:00:00Z", "generation", 1, "finalizers",
	    "vpsienode." VPW_GROUP "/finalizer", "annotations", VPW_GROUP "/creation-requested", "true"));
	cluster_put(&w->h.cluster, KIND_VPSIE_NODE, "web-original", "status",
	    json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "phase", "Ready", "nodeName", m->node,
	    "hostname", m->hostname, "createdAt", "2025-12-31T00:00:00Z", "provisionedAt",
	    "2025-12-31T00:01:00Z", "joinedAt", "2025-12-31T00:02:00Z", "readyAt", "2025-12-31T00:03:00Z"));
}

static void
teardown(void *world)
{
	struct vpw *const w = world;

	if (w->h.sim->tracing && w->h.sim->violation[0] != '\0')
		print_machines(w);
	runtime_set_files(NULL, NULL);
	harness_close(&w->h);
	free(w);
}

static void
stop_faults(struct sim *sim, void *world)
{
	struct vpw *const w = world;

	harness_stop_faults(sim, world);
	w->flagged = 0;
	vpw_correct(w);
}

/* What is at the provider, and what became of the requests. */
static void
print_machines(const struct vpw *w)
{
	for (uint32_t i = 0; i < w->nmachines; i++) {
		const struct vpw_machine *const m = &w->machines[i];

		printf("# machine %u %s of %s for %s: node %s made %lld listed %lld shown %lld%s%s%s\n", i,
		    m->hostname, m->group != VPW_NONE ? w->platform[m->group].name : "-",
		    m->record != VPW_NONE ? w->records[m->record].name : m->human ? "a human" : "-", m->node,
		    (long long)m->made_ms, (long long)m->listed_ms, (long long)m->shown_ms,
		    m->deleted ? " deleted" : "", m->stopped ? " stopped" : "", m->slow ? " slow" : "");
	}
	for (uint32_t i = 0; i < w->nrecords; i++) {
		const struct vpw_record *const v = &w->records[i];

		printf("# %s %s: phase %u%s, requests %u made %u at %lld, machine %d, ended %lld\n", v->name,
		    v->uid, v->phase, v->exists ? "" : " gone", v->sent, v->made, (long long)v->sent_ms,
		    (int)v->machine, (long long)v->ended_ms);
	}
}

/* ---- The sweep ---- */

/* A NodeGroup goes 0 -> 2 -> 1, one VPSieNode beside it comes by hand, everything is deleted. */
static bool
sweep_step(struct harness *h, unsigned step)
{
	struct vpw *const w = (struct vpw *)h;

	if (step == 0) {
		vpw_create_node_group(w, 0, 0, DESIRED_MAX);
		vpw_scale(w, 0, 2);
	} else if (step == 1) {
		vpw_scale(w, 0, 1);
	} else if (step == 2) {
		cluster_remove(&h->cluster, cluster_find(&h->cluster, KIND_NODE_GROUP, "web"));
	} else {
		for (uint32_t i = 0; i < w->nmachines; i++) {
			if (!w->machines[i].deleted && !w->machines[i].human)
				sim_fail(h->sim, "machine %u is left", i);
		}
		for (uint32_t i = 0; i < w->nrecords; i++) {
			if (w->records[i].exists)
				sim_fail(h->sim, "%s is left", w->records[i].name);
		}
		return false;
	}
	return true;
}

static const struct world_break breaks[] = {
	{ "intent-after", "the intent is written after the request" },
	{ "blind-repeat", "a request without an answer counts as not sent" },
	{ "one-observation", "one list proves that a machine is gone" },
	{ "newest-first", "the newest machine first, whatever its size, and however old it is" },
	{ "no-settle", "no wait for calls of the former leader, or of the former life" },
	{ "flag-as-fence", "a remembered flag is the fence" },
	{ "blind-label", "a Node is claimed without its resourceVersion" },
	{ NULL, NULL },
};

const struct world vpsie_world = {
	.name = "vpsie", .breaks = breaks, .seeds = SEEDS, .settle_ms = 7500 * 1000, .hold_ms = 100 * 1000,
	.setup = setup, .has_actions = harness_has_actions, .check = vpw_check, .stop_faults = stop_faults,
	.unsettled = harness_unsettled, .teardown = teardown,
};

static const struct world_break no_breaks[] = { { NULL, NULL } };

const struct world vpsie_sweep_world = {
	.name = "vpsie-sweep", .breaks = no_breaks, .points = (uint64_t)SWEEP_EFFECTS * EFFECT_MAX,
	.settle_ms = 3600 * 1000, .hold_ms = 25 * 1000, .setup = sweep_setup,
	.has_actions = harness_has_actions, .check = vpw_check, .stop_faults = harness_sweep_stop_faults,
	.unsettled = harness_unsettled, .teardown = teardown,
};
