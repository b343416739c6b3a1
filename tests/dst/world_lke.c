/*
 * tests/dst/world_lke.c - the worlds `lke` and `lke-sweep`: their objects, what happens to them, and the
 * workload of the sweep.
 *
 * lke: NodeClaims of three pool keys come and go, of one tier per history; two instances make
 * pools, tag, drain and delete machines, and everything fails at times. lke-sweep: one instance, no
 * other fault, one workload for each tier; the seed is the tier and the point at which lke-claimer
 * is killed.
 */
#include "world_lke.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"
#include "runtime_breaks.h"

enum { SWEEP_LEAST = 60, SWEEP_EFFECTS = 160, TWIN_MS = 60 * 1000, TIERS = 2, SEEDS = 20000 };

/* Pool keys. The tag of the second NodePool is shortened; claims' names differ where their tags are cut. */
static const struct {
	const char	*nodepool, *type;
} keys[LKEW_KEYS] = {
	{ "small", "g6-standard-1" }, { "a-nodepool-with-quite-a-long-name", "g6-standard-2" },
	{ "small", "g6-standard-2" },
};

/*
 * The workload of the sweep, of one key: a pool is made; it grows, and one of its machines goes;
 * the pool goes. Each step comes when the one before has settled.
 */
static const struct {
	uint8_t	create, remove;		/* one bit per NodeClaim */
} sweep_steps[] = { { 0x01, 0 }, { 0x08, 0x01 }, { 0, 0x08 } };

static harness_act_fn toggle_claim, touch_claim, add_twin;
static sim_fn end_twin;
static bool sweep_step(struct harness *, unsigned);

static const struct harness_act acts[] = {
	{ 24, toggle_claim }, { 3, touch_claim }, { 5, harness_shrink_lists }, { 3, add_twin },
};

static const struct harness_spec spec = {
	.role = ROLE_LKE_CLAIMER, .program = lke_claimer_main, .kind = KIND_NODE_CLAIM,
	.shared = "nodepools nodes", .acts = acts,
	.nacts = NITEMS(acts), .serve = lkew_serve, .leaves = lkew_leaves, .difference = lkew_difference,
	.lists_lag = lkew_lists_lag, .sweep_step = sweep_step, .sweep_least = SWEEP_LEAST,
	.sweep_effects = SWEEP_EFFECTS,
};

static struct lkew *new_world(struct sim *, bool);
static void print_machines(const struct lkew *);
static void add_objects(struct lkew *);
static struct cluster_object *claim(struct harness *, uint32_t);
static void claim_name(char *, uint32_t);
static void create_claim(struct harness *, uint32_t, const char *);
static void stamp(struct harness *, enum kind, const char *, json_t *);

/* ---- Setup ---- */

static void *
setup(struct sim *sim)
{
	runtime_breaks = (struct runtime_breaks){
		.no_defer = sim->broken == 1, .no_intent = sim->broken == 2, .first_match = sim->broken == 3,
		.stale_list = sim->broken == 4, .one_observation = sim->broken == 5,
		.cut_tag = sim->broken == 6, .blind_repeat = sim->broken == 7, .no_settle = sim->broken == 8,
	};
	struct lkew *const w = new_world(sim, sim_random(sim, 2) == 0);
	harness_open(&w->h, sim, &spec, 1 + (unsigned)sim_random(sim, RUNTIME_TREES), w->settings);
	add_objects(w);
	for (uint32_t i = 0; i < LKEW_CLAIMS; i++) {
		if (sim_random(sim, 4) != 0)
			create_claim(&w->h, i, LKEW_GROUP);
	}
	harness_begin(&w->h);
	/* Many short histories find more than a few long ones. */
	w->h.acts_left = 4 + (unsigned)sim_random(sim, 14);
	w->h.gap_ms = (const int64_t[]){ 500, 4000, 12000 }[sim_random(sim, 3)];
	w->h.runtime->http.faults.cut = w->h.runtime->http.faults.failed = 15;
	return w;
}

static void *
sweep_setup(struct sim *sim)
{
	struct lkew *const w = new_world(sim, sim->random % TIERS == 1);

	sim->random /= TIERS;
	harness_open_sweep(&w->h, sim, &spec, w->settings);
	add_objects(w);
	return w;
}

static struct lkew *
new_world(struct sim *sim, bool enterprise)
{
	struct lkew *const w = obj_alloc(sizeof(*w));

	w->enterprise = enterprise;
	w->twin = LKEW_NONE;
	snprintf(w->settings, sizeof(w->settings),
	    "api-url=http://linode\napi-version=v4beta\ntoken-file=/token\ncluster-id=%d\ncluster-name=\n"
	    "tag-style=%s\ncreate-deadline=10000\ntag-verification-timeout=5000\norphan-ttl=%d\n"
	    "registration-timeout=900000\nlaunch-timeout=300000\ndrain-timeout=0\n"
	    "resync-interval=20000\ncatalogue-ttl=86400000\nlists-per-minute=200\n"
	    "calls-per-minute=1600\ndeletions-per-minute=20\nvm-memory-overhead=75", LKEW_CLUSTER,
	    sim->random % 3 == 0 ? "equals" : "colon", LKEW_ORPHAN_MS);
	return w;
}

/* NodePools, their class, a NodeClaim of another provider, and a human's pool with a machine. */
static void
add_objects(struct lkew *w)
{
	const struct lkew_tags tags = { .text = { "team:human" }, .n = 1 };
	struct harness *const h = &w->h;

	for (unsigned i = 0; i < LKEW_KEYS; i++) {
		const struct cluster_object *const o =
		    cluster_find(&h->cluster, KIND_NODE_POOL, keys[i].nodepool);

		if (o == NULL)
			cluster_put(&h->cluster, KIND_NODE_POOL, keys[i].nodepool, "spec", json_object());
	}
	cluster_put(&h->cluster, KIND_LINODE_CLASS, "class", "spec", json_pack("{s:[s]}", "tags", "team:a"));
	stamp(h, KIND_LINODE_CLASS, "class", json_object());
	create_claim(h, LKEW_CLAIMS, "example.com");
	w->pools[lkew_add_pool(w, "g6-standard-1", &tags, 1, 0)].human = true;
}

static void
teardown(void *world)
{
	struct lkew *const w = world;

	if (w->h.sim->tracing && w->h.sim->violation[0] != '\0')
		print_machines(w);
	harness_close(&w->h);
	free(w);
}

/* A clock that is an hour behind that of the provider would keep orphans for an hour. */
static void
stop_faults(struct sim *sim, void *world)
{
	struct lkew *const w = world;

	harness_stop_faults(sim, world);
	w->h.cluster.clock_ms = 0;
}

/* What is at the provider. */
static void
print_machines(const struct lkew *w)
{
	for (uint32_t i = 0; i < w->nmachines; i++) {
		const struct lkew_machine *const m = &w->machines[i];
		const char *const tag = lkew_tag_value(&m->tags, LKEW_CLAIM_TAG);

		if (!m->deleted)
			printf("# machine %u of pool %u, made at %lld ms: claim %s\n", i,
			    LKEW_POOL_BASE + m->pool, (long long)m->made_ms, tag != NULL ? tag : "none");
	}
	for (uint32_t i = 0; i < w->npools; i++) {
		if (!w->pools[i].deleted)
			printf("# pool %u of %s, count %lld\n", LKEW_POOL_BASE + i, w->pools[i].type,
			    (long long)w->pools[i].count);
	}
}

/* ---- NodeClaims ---- */

static void
claim_name(char *buf, uint32_t n)
{
	snprintf(buf, CLUSTER_NAME_MAX, "a-nodeclaim-with-a-long-name-%u", n);
}

static struct cluster_object *
claim(struct harness *h, uint32_t n)
{
	char name[CLUSTER_NAME_MAX];

	claim_name(name, n);
	struct cluster_object *const o = cluster_find(&h->cluster, KIND_NODE_CLAIM, name);
	return o != NULL && o->json != NULL ? o : NULL;
}

/* The pool key is that of its number. */
static void
create_claim(struct harness *h, uint32_t n, const char *group)
{
	char name[CLUSTER_NAME_MAX];

	claim_name(name, n);
	SIM_TRACE(h->sim, "%s is created", name);
	cluster_put(&h->cluster, KIND_NODE_CLAIM, name, "spec",
	    json_pack("{s:{s:s, s:s, s:s}, s:[{s:s, s:s, s:[s]}], s:{s:{s:s}}}", "nodeClassRef", "group",
	    group, "kind", "LinodeNodeClass", "name", "class", "requirements", "key",
	    "node.kubernetes.io/instance-type", "operator", "In", "values", keys[n % LKEW_KEYS].type,
	    "resources", "requests", "cpu", "100m"));
	stamp(h, KIND_NODE_CLAIM, name, json_pack("{s:s}", LKEW_NODEPOOL_TAG, keys[n % LKEW_KEYS].nodepool));
}

/* What the API server, and who made it, put into the metadata. labels is taken. */
static void
stamp(struct harness *h, enum kind k, const char *name, json_t *labels)
{
	json_t *const metadata =
	    json_object_get(cluster_find(&h->cluster, k, name)->json, "metadata");
	char now[TIME_TEXT_MAX];

	time_format(cluster_time_us(&h->cluster) / 1000000 * 1000000, now, sizeof(now));
	json_object_set_new(metadata, "creationTimestamp", json_string(now));
	json_object_set_new(metadata, "generation", json_integer(1));
	json_object_set_new(metadata, "labels", labels);
}

/* One that is being deleted goes in its own time. */
static void
toggle_claim(struct harness *h)
{
	const uint32_t n = (uint32_t)sim_random(h->sim, LKEW_CLAIMS);
	struct cluster_object *const o = claim(h, n);

	if (o == NULL) {
		create_claim(h, n, LKEW_GROUP);
	} else if (!harness_is_deleting(o)) {
		SIM_TRACE(h->sim, "%s is deleted", o->name);
		cluster_remove(&h->cluster, o);
	}
}

static void
touch_claim(struct harness *h)
{
	struct cluster_object *const o = claim(h, (uint32_t)sim_random(h->sim, LKEW_CLAIMS));

	if (o != NULL)
		cluster_touch(&h->cluster, o);
}

/* Somebody makes a second pool with the tags of one of ours, and removes it later (C7). */
static void
add_twin(struct harness *h)
{
	struct lkew *const w = (struct lkew *)h;

	for (uint32_t i = 0; i < w->npools && w->twin == LKEW_NONE; i++) {
		const struct lkew_pool *const p = &w->pools[i];

		if (p->deleted || p->human || p->listed_ms + HARNESS_LAG_MS > h->sim->now_ms)
			continue;
		SIM_TRACE(h->sim, "somebody makes a second pool like %u", LKEW_POOL_BASE + i);
		w->twin_of = i;
		w->twin = lkew_add_pool(w, p->type, &p->tags, 1, h->sim->now_ms);
		sim_at(h->sim, h->sim->now_ms + TWIN_MS, end_twin, w, 0);
	}
}

/* The one that is in use stays: the other may have gone meanwhile. */
static void
end_twin(struct sim *sim, void *arg, uint64_t n)
{
	struct lkew *const w = arg;
	const uint32_t goes = lkew_in_use(w, w->twin) ? w->twin_of : w->twin;

	(void)n;
	SIM_TRACE(sim, "somebody deletes the pool %u", LKEW_POOL_BASE + goes);
	if (!w->pools[goes].deleted)
		lkew_delete_pool(w, goes, false);
	w->twin = LKEW_NONE;
	w->changes++;
}

/* ---- The sweep ---- */

static bool
sweep_step(struct harness *h, unsigned step)
{
	struct lkew *const w = (struct lkew *)h;
	uint32_t made = 1;	/* the human's */

	for (uint32_t i = 0; step < NITEMS(sweep_steps) && i < LKEW_CLAIMS; i++) {
		if ((sweep_steps[step].create >> i & 1) != 0)
			create_claim(h, i, LKEW_GROUP);
		if ((sweep_steps[step].remove >> i & 1) != 0)
			cluster_remove(&h->cluster, claim(h, i));
	}
	if (step < NITEMS(sweep_steps))
		return true;
	for (size_t i = 0; i < NITEMS(sweep_steps); i++)
		made += (uint32_t)__builtin_popcount(sweep_steps[i].create);
	if (w->nmachines != made)
		sim_fail(h->sim, "%u machines were made for %u", w->nmachines, made);
	return false;
}

static const struct world_break breaks[] = {
	{ "no-inflight-guard", "a key is planned again while its call is in flight" },
	{ "no-intent", "a pool is made without a record of it" },
	{ "first-match", "of two pools with one key the first one is used" },
	{ "stale-list", "a list that is older than a call counts as one that shows its effect" },
	{ "one-observation", "one observation proves that a machine is an orphan, or gone" },
	{ "cut-tag", "a tag that is too long is cut, without a hash" },
	{ "blind-repeat", "a call without an answer counts as not done" },
	{ "no-settle", "no wait for calls of the former leader, or of the former life" },
	{ NULL, NULL },
};

const struct world lke_world = {
	.name = "lke", .breaks = breaks, .seeds = SEEDS, .settle_ms = 1800 * 1000,
	.hold_ms = 25 * 1000, .setup = setup, .has_actions = harness_has_actions, .check = lkew_check,
	.stop_faults = stop_faults, .unsettled = harness_unsettled, .teardown = teardown,
};

static const struct world_break no_breaks[] = { { NULL, NULL } };

const struct world lke_sweep_world = {
	.name = "lke-sweep", .breaks = no_breaks, .points = (uint64_t)TIERS * SWEEP_EFFECTS * EFFECT_MAX,
	.settle_ms = 1800 * 1000, .hold_ms = 600 * 1000, .setup = sweep_setup,
	.has_actions = harness_has_actions, .check = lkew_check, .stop_faults = harness_sweep_stop_faults,
	.unsettled = harness_unsettled, .teardown = teardown,
};
