/*
 * tests/dst/world_lke.c - the worlds `lke` and `lke-sweep`: NodeClaims, what must hold after every
 * step, and the final state.
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

#define GROUP	"karpenter.k8s.linode"

enum { SWEEP_LEAST = 60, SWEEP_EFFECTS = 130, TWIN_MS = 60 * 1000, TIERS = 2, SEEDS = 500 };

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
static const char *difference(struct harness *);
static bool lists_lag(const struct harness *);
static bool sweep_step(struct harness *, unsigned);

static const struct harness_act acts[] = {
	{ 24, toggle_claim }, { 3, touch_claim }, { 5, harness_shrink_lists }, { 3, add_twin },
};

static const struct harness_spec spec = {
	.role = ROLE_LKE_CLAIMER, .program = lke_claimer_main, .kind = KIND_NODE_CLAIM,
	.shared = "nodepools nodes", .acts = acts,
	.nacts = NITEMS(acts), .serve = lkew_serve, .leaves = lkew_leaves, .difference = difference,
	.lists_lag = lists_lag, .sweep_step = sweep_step, .sweep_least = SWEEP_LEAST,
	.sweep_effects = SWEEP_EFFECTS,
};

static struct lkew *new_world(struct sim *, bool);
static void print_machines(const struct lkew *);
static void add_objects(struct lkew *);
static struct cluster_object *claim(struct harness *, uint32_t);
static void claim_name(char *, uint32_t);
static void create_claim(struct harness *, uint32_t, const char *);
static void stamp(struct harness *, enum kind, const char *, json_t *);
static void check_pools(struct lkew *);
static void check_tags(struct lkew *);
static void check_claims(struct lkew *);
static const char *claim_difference(struct lkew *, const struct cluster_object *);
static bool has_condition(const struct cluster_object *, const char *);
static bool is_ours(const struct cluster_object *);

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
			create_claim(&w->h, i, GROUP);
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
		create_claim(h, n, GROUP);
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
}

/* ---- After every step ---- */

static void
check(struct sim *sim, void *world)
{
	struct lkew *const w = world;

	if (w->clock_ms != w->h.cluster.clock_ms) {
		w->clock_ms = w->h.cluster.clock_ms;
		w->clock_moved_ms = sim->now_ms;
	}
	if (w->checked == w->h.cluster.rv + w->changes)
		return;
	w->checked = w->h.cluster.rv + w->changes;
	check_pools(w);
	check_tags(w);
	check_claims(w);
}

/* C2: one pool per key, but for what somebody made by hand. */
static void
check_pools(struct lkew *w)
{
	for (uint32_t i = 0; i < w->npools; i++) {
		for (uint32_t k = i + 1; k < w->npools && !w->pools[i].deleted; k++) {
			const bool by_hand = w->twin != LKEW_NONE && (k == w->twin || i == w->twin);

			if (!w->pools[k].deleted && !by_hand && lkew_same_key(&w->pools[i], &w->pools[k]))
				sim_fail(w->h.sim, "the pools %u and %u have one key", LKEW_POOL_BASE + i,
				    LKEW_POOL_BASE + k);
		}
	}
}

/*
 * C1, at the provider: no machine has the tags of two claims, no tag is on two; C8: none outlives
 * its claim.
 */
static void
check_tags(struct lkew *w)
{
	const char *tags[LKEW_MACHINES_MAX] = { NULL };

	for (uint32_t i = 0; i < w->nmachines; i++) {
		const struct lkew_tags *const t = &w->machines[i].tags;
		unsigned claims = 0;

		if (w->machines[i].deleted)
			continue;
		for (uint32_t k = 0; k < t->n; k++)
			claims += strncmp(t->text[k], LKEW_CLAIM_TAG, strlen(LKEW_CLAIM_TAG)) == 0;
		if (claims > 1)
			sim_fail(w->h.sim, "machine %u has the tags of two NodeClaims", i);
		tags[i] = lkew_tag_value(t, LKEW_CLAIM_TAG);
		if (tags[i] != NULL && lkew_claim_of_tag(w, tags[i]) == NULL)
			sim_fail(w->h.sim,
			    "machine %u has the tag %s, and no such NodeClaim exists", i, tags[i]);
		for (uint32_t k = 0; k < i && tags[i] != NULL; k++) {
			if (tags[k] != NULL && strcmp(tags[i], tags[k]) == 0)
				sim_fail(w->h.sim, "the machines %u and %u have the tag %s", k, i, tags[i]);
		}
	}
}

/* C1, in the cluster: a status names a machine of its own. */
static void
check_claims(struct lkew *w)
{
	const char *owners[LKEW_MACHINES_MAX] = { NULL };
	char expected[LKEW_TAG_MAX + 1];

	for (unsigned i = 0; i < w->h.cluster.count; i++) {
		const struct cluster_object *const o = &w->h.cluster.objects[i];

		if (o->kind != KIND_NODE_CLAIM || o->json == NULL || lkew_claim_machine(o) == LKEW_NONE)
			continue;
		const uint32_t m = lkew_claim_machine(o);
		if (m >= w->nmachines) {
			sim_fail(w->h.sim, "%s has a machine that was never made", o->name);
			return;
		}
		const char *const tag = lkew_tag_value(&w->machines[m].tags, LKEW_CLAIM_TAG);
		if (owners[m] != NULL)
			sim_fail(w->h.sim, "machine %u has two owners: %s and %s", m, owners[m], o->name);
		if (tag == NULL || strcmp(tag, lkew_expected(expected, LKEW_CLAIM_TAG, o->name)) != 0)
			sim_fail(w->h.sim, "%s has machine %u, whose tag is %s", o->name, m,
			    tag != NULL ? tag : "missing");
		owners[m] = o->name;
	}
}

/* ---- The final state ---- */

static const char *
difference(struct harness *h)
{
	static char text[160];
	struct lkew *const w = (struct lkew *)h;
	uint32_t claims = 0, nodes = 0, live = 0;

	if (w->twin != LKEW_NONE)
		return "a pool that somebody made by hand";
	for (unsigned i = 0; i < h->cluster.count; i++) {
		const struct cluster_object *const o = &h->cluster.objects[i];

		if (o->json == NULL)
			continue;
		nodes += o->kind == KIND_NODE;
		const json_t *const metadata = json_object_get(o->json, "metadata");
		const bool annotated = json_object_size(json_object_get(metadata, "annotations")) > 0;
		if (o->kind == KIND_NODE_POOL && annotated)
			return "a NodePool has an intent";
		if (o->kind != KIND_NODE_CLAIM)
			continue;
		claims++;
		const char *const wrong = claim_difference(w, o);
		if (wrong == NULL)
			continue;
		snprintf(text, sizeof(text), "%s %s", o->name, wrong);
		return text;
	}
	for (uint32_t i = 0; i < w->nmachines; i++)
		live += !w->machines[i].deleted;
	for (uint32_t i = 0; i < w->npools; i++) {
		if (!w->pools[i].deleted && w->pools[i].count == 0)
			return "a pool is empty";
	}
	/* The claim of another provider has none of it, and the human has one machine. */
	if (live == claims && nodes == claims)
		return NULL;
	snprintf(text, sizeof(text), "%u NodeClaims, %u machines, %u Nodes", claims - 1, live - 1, nodes - 1);
	return text;
}

static const char *
claim_difference(struct lkew *w, const struct cluster_object *o)
{
	const uint32_t m = lkew_claim_machine(o);
	char node[CLUSTER_NAME_MAX];

	if (!is_ours(o)) {
		if (json_object_get(o->json, "status") != NULL
		    || json_object_get(json_object_get(o->json, "metadata"), "finalizers") != NULL)
			sim_fail(w->h.sim, "%s belongs to another provider, and was written", o->name);
		return NULL;
	}
	if (harness_is_deleting(o))
		return "is being deleted";
	if (m >= w->nmachines || w->machines[m].deleted)
		return "has no machine";
	if (!has_condition(o, "Launched") || !has_condition(o, "Registered")
	    || !has_condition(o, "Initialized"))
		return "is not initialized";
	lkew_node_name(node, m);
	const struct cluster_object *const n = cluster_find(&w->h.cluster, KIND_NODE, node);
	const json_t *const labels = n == NULL ? NULL
	    : json_object_get(json_object_get(n->json, "metadata"), "labels");
	return json_object_get(labels, "karpenter.sh/registered") != NULL
	    && json_object_get(labels, "karpenter.sh/initialized") != NULL ? NULL : "has no Node of its own";
}

static bool
is_ours(const struct cluster_object *o)
{
	const char *const group = json_string_value(json_object_get(
	    json_object_get(json_object_get(o->json, "spec"), "nodeClassRef"), "group"));

	return group != NULL && strcmp(group, GROUP) == 0;
}

static bool
has_condition(const struct cluster_object *o, const char *type)
{
	const json_t *c;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(o->json, "status"), "conditions"), i, c) {
		const char *const name = json_string_value(json_object_get(c, "type"));
		const char *const status = json_string_value(json_object_get(c, "status"));

		if (name != NULL && strcmp(name, type) == 0)
			return status != NULL && strcmp(status, "True") == 0;
	}
	return false;
}

static bool
lists_lag(const struct harness *h)
{
	const struct lkew *const w = (const struct lkew *)h;
	const int64_t now_ms = h->sim->now_ms;

	for (uint32_t i = 0; i < w->nmachines; i++) {
		const struct lkew_machine *const m = &w->machines[i];

		if (m->listed_ms > now_ms || m->until_ms > now_ms || m->tags_ms > now_ms)
			return true;
	}
	for (uint32_t i = 0; i < w->npools; i++) {
		const struct lkew_pool *const p = &w->pools[i];

		if (p->listed_ms > now_ms || p->count_ms > now_ms || p->until_ms > now_ms)
			return true;
	}
	return false;
}

/* ---- The sweep ---- */

static bool
sweep_step(struct harness *h, unsigned step)
{
	struct lkew *const w = (struct lkew *)h;
	uint32_t made = 1;	/* the human's */

	for (uint32_t i = 0; step < NITEMS(sweep_steps) && i < LKEW_CLAIMS; i++) {
		if ((sweep_steps[step].create >> i & 1) != 0)
			create_claim(h, i, GROUP);
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
	.name = "lke", .breaks = breaks, .weight = 8, .seeds = SEEDS, .settle_ms = 1800 * 1000,
	.hold_ms = 25 * 1000, .setup = setup, .has_actions = harness_has_actions, .check = check,
	.stop_faults = stop_faults, .unsettled = harness_unsettled, .teardown = teardown,
};

static const struct world_break no_breaks[] = { { NULL, NULL } };

const struct world lke_sweep_world = {
	.name = "lke-sweep", .breaks = no_breaks, .points = (uint64_t)TIERS * SWEEP_EFFECTS * EFFECT_MAX,
	.settle_ms = 1800 * 1000, .hold_ms = 25 * 1000, .setup = sweep_setup,
	.has_actions = harness_has_actions, .check = check, .stop_faults = harness_sweep_stop_faults,
	.unsettled = harness_unsettled, .teardown = teardown,
};
