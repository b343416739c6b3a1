/*
 * tests/dst/vpsie_acts.c - what people do in the world `vpsie`: NodeGroups that scale, VPSieNodes by hand,
 * annotations, machines and Nodes that die or go, credentials that change.
 */
#include <stdio.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"
#include "world_vpsie.h"

enum { DESIRED_MAX = 3, QUOTA_MS = 40 * 1000, OUTAGE_MS = 40 * 1000 };

/* Two with one name share a group of the platform; the third is of equal size, the last of another. */
const struct vpw_node_group vpw_node_groups[VPW_NODE_GROUPS] = {
	{ "web", "web", 12 }, { "other/web", "web", 12 }, { "db", "db", 12 }, { "big", "big", 13 },
};

/* By hand: names that begin with each other, and equal ones in two namespaces. */
static const struct {
	const char	*name, *group;
} by_hand[] = { { "web-1", "web" }, { "web-10", "web" }, { "other/web-1", "web" }, { "db-1", "db" } };

static harness_act_fn scale, limit, toggle_group, toggle_vpsienode, delete_vpsienode, annotate, touch;
static harness_act_fn kill_machine, remove_machine, remove_node, flip_node, unlabel_node, change_address;
static harness_act_fn add_human_worker, add_human_node, reach_quota, break_api, revoke_tokens, rotate_secret;

const struct harness_act vpw_acts[] = {
	{ 16, scale }, { 3, limit }, { 3, toggle_group }, { 8, toggle_vpsienode }, { 6, delete_vpsienode },
	{ 5, annotate }, { 3, touch }, { 2, kill_machine }, { 4, remove_machine }, { 4, remove_node },
	{ 4, flip_node }, { 2, unlabel_node }, { 3, change_address }, { 4, harness_shrink_lists },
	{ 3, add_human_worker }, { 1, add_human_node }, { 2, reach_quota }, { 1, break_api },
	{ 3, revoke_tokens }, { 2, rotate_secret },
};
const size_t vpw_nacts = NITEMS(vpw_acts);

static struct cluster_object *node_group(struct vpw *, uint32_t);
static struct cluster_object *any_vpsienode(struct vpw *);
static uint32_t any_machine(struct vpw *);
static void set_annotation(struct vpw *, struct cluster_object *, const char *, const char *);

/* ---- NodeGroups ---- */

static struct cluster_object *
node_group(struct vpw *w, uint32_t n)
{
	struct cluster_object *const o =
	    cluster_find(&w->h.cluster, KIND_NODE_GROUP, vpw_node_groups[n].name);

	return o != NULL && o->json != NULL ? o : NULL;
}

void
vpw_create_node_group(struct vpw *w, uint32_t n, int64_t min, int64_t max)
{
	const struct vpw_node_group *const g = &vpw_node_groups[n];

	SIM_TRACE(w->h.sim, "NodeGroup %s is created", g->name);
	cluster_put(&w->h.cluster, KIND_NODE_GROUP, g->name, "spec",
	    json_pack("{s:I, s:I, s:s, s:s, s:I}", "minNodes", (json_int_t)min, "maxNodes", (json_int_t)max,
	    "datacenterID", "dc-5", "resourceIdentifier", VPW_CLUSTER, "kubeSizeID", (json_int_t)g->size));
	json_object_set_new(
	    json_object_get(node_group(w, n)->json, "metadata"), "generation", json_integer(1));
}

void
vpw_scale(struct vpw *w, uint32_t n, int64_t desired)
{
	const struct cluster_object *const o = node_group(w, n);

	if (o == NULL)
		return;
	json_t *const status = json_object_get(o->json, "status") != NULL
	    ? json_deep_copy(json_object_get(o->json, "status")) : json_object();
	SIM_TRACE(w->h.sim, "NodeGroup %s is scaled to %lld", o->name, (long long)desired);
	json_object_set_new(status, "desiredNodes", json_integer(desired));
	cluster_put(&w->h.cluster, KIND_NODE_GROUP, o->name, "status", status);
}

static void
scale(struct harness *h)
{
	const uint32_t n = (uint32_t)sim_random(h->sim, VPW_NODE_GROUPS);

	vpw_scale((struct vpw *)h, n, (int64_t)sim_random(h->sim, DESIRED_MAX + 1));
}

/* At times minNodes is greater than maxNodes, for a while. */
static void
limit(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;
	const struct cluster_object *const o = node_group(w, (uint32_t)sim_random(h->sim, VPW_NODE_GROUPS));
	const int64_t min = (int64_t)sim_random(h->sim, 3), max = (int64_t)sim_random(h->sim, 4);

	if (o == NULL)
		return;
	json_t *const spec = json_deep_copy(json_object_get(o->json, "spec"));
	SIM_TRACE(h->sim, "NodeGroup %s has the limits %lld and %lld", o->name, (long long)min,
	    (long long)max);
	json_object_set_new(spec, "minNodes", json_integer(min));
	json_object_set_new(spec, "maxNodes", json_integer(max));
	cluster_put(&h->cluster, KIND_NODE_GROUP, o->name, "spec", spec);
}

static void
toggle_group(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;
	const uint32_t n = (uint32_t)sim_random(h->sim, VPW_NODE_GROUPS);
	struct cluster_object *const o = node_group(w, n);

	if (o == NULL) {
		vpw_create_node_group(w, n, 0, DESIRED_MAX);
	} else if (!harness_is_deleting(o)) {
		SIM_TRACE(h->sim, "NodeGroup %s is deleted", o->name);
		cluster_remove(&h->cluster, o);
	}
}

/* ---- VPSieNodes ---- */

void
vpw_create_vpsienode(struct vpw *w, uint32_t n)
{
	struct cluster *const c = &w->h.cluster;
	char now[TIME_TEXT_MAX];

	SIM_TRACE(w->h.sim, "%s is created by hand", by_hand[n].name);
	cluster_put(c, KIND_VPSIE_NODE, by_hand[n].name, "spec",
	    json_pack("{s:s}", "nodeGroupName", by_hand[n].group));
	struct cluster_object *const o = cluster_find(c, KIND_VPSIE_NODE, by_hand[n].name);
	json_t *const metadata = json_object_get(o->json, "metadata");
	time_format(cluster_time_us(c) / 1000000 * 1000000, now, sizeof(now));
	json_object_set_new(metadata, "creationTimestamp", json_string(now));
	json_object_set_new(metadata, "generation", json_integer(1));
	if (sim_random(w->h.sim, 2) == 0)
		set_annotation(w, o, VPW_GROUP "/protected", "true");
}

/* One that is being deleted goes in its own time. */
static void
toggle_vpsienode(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;
	const uint32_t n = (uint32_t)sim_random(h->sim, NITEMS(by_hand));
	struct cluster_object *const o = cluster_find(&h->cluster, KIND_VPSIE_NODE, by_hand[n].name);

	if (o == NULL || o->json == NULL) {
		vpw_create_vpsienode(w, n);
	} else if (!harness_is_deleting(o)) {
		SIM_TRACE(h->sim, "%s is deleted", o->name);
		cluster_remove(&h->cluster, o);
	}
}

static struct cluster_object *
any_vpsienode(struct vpw *w)
{
	const uint32_t skip = w->nrecords > 0 ? (uint32_t)sim_random(w->h.sim, w->nrecords) : 0;

	for (uint32_t i = 0; i < w->nrecords; i++) {
		const struct vpw_record *const v = &w->records[(i + skip) % w->nrecords];

		if (v->exists)
			return cluster_find(&w->h.cluster, KIND_VPSIE_NODE, v->name);
	}
	return NULL;
}

static void
delete_vpsienode(struct harness *h)
{
	struct cluster_object *const o = any_vpsienode((struct vpw *)h);

	if (o == NULL || o->json == NULL || harness_is_deleting(o))
		return;
	SIM_TRACE(h->sim, "%s is deleted", o->name);
	cluster_remove(&h->cluster, o);
}

static void
touch(struct harness *h)
{
	struct cluster_object *const o = any_vpsienode((struct vpw *)h);

	if (o != NULL && o->json != NULL)
		cluster_touch(&h->cluster, o);
}

/* Of a VPSieNode, or of its Node; some are taken away again. */
static void
annotate(struct harness *h)
{
	static const struct {
		const char	*name, *value;
	} marks[] = {
		{ VPW_GROUP "/protected", "true" }, { VPW_GROUP "/scale-down-disabled", "true" },
		{ VPW_GROUP "/scale-down", "true" }, { VPW_GROUP "/scale-down", "disabled" },
	};
	struct vpw *const w = (struct vpw *)h;
	const uint64_t mark = sim_random(h->sim, NITEMS(marks)), how = sim_random(h->sim, 3);
	struct cluster_object *o = any_vpsienode(w);

	if (how == 1 && o != NULL && o->json != NULL)
		o = cluster_find(&h->cluster, KIND_NODE, vpw_text(o, "status", "nodeName"));
	if (o != NULL && o->json != NULL)
		set_annotation(w, o, marks[mark].name, how == 2 ? NULL : marks[mark].value);
}

/* value NULL: it goes. */
static void
set_annotation(struct vpw *w, struct cluster_object *o, const char *name, const char *value)
{
	json_t *const metadata = json_object_get(o->json, "metadata");

	if (json_object_get(metadata, "annotations") == NULL)
		json_object_set_new(metadata, "annotations", json_object());
	json_t *const all = json_object_get(metadata, "annotations");
	if (value != NULL)
		json_object_set_new(all, name, json_string(value));
	else
		json_object_del(all, name);
	SIM_TRACE(w->h.sim, "%s: %s=%s", o->name, name, value != NULL ? value : "-");
	cluster_touch(&w->h.cluster, o);
}

/* ---- Machines and Nodes ---- */

/* One of ours that lives; VPW_NONE: there is none. */
static uint32_t
any_machine(struct vpw *w)
{
	const uint32_t skip = w->nmachines > 0 ? (uint32_t)sim_random(w->h.sim, w->nmachines) : 0;

	for (uint32_t i = 0; i < w->nmachines; i++) {
		const uint32_t n = (i + skip) % w->nmachines;
		const struct vpw_machine *const m = &w->machines[n];

		if (!m->human && !m->deleted && m->made_ms <= w->h.sim->now_ms)
			return n;
	}
	return VPW_NONE;
}

static void
kill_machine(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;
	const uint32_t n = any_machine(w);

	if (n == VPW_NONE)
		return;
	SIM_TRACE(h->sim, "machine %u dies", n);
	w->machines[n].stopped = true;
	w->acted_ms = h->sim->now_ms;
	w->changes++;
	vpw_put_node(w, n, false);
}

static void
remove_machine(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;
	const uint32_t n = any_machine(w);

	if (n == VPW_NONE)
		return;
	SIM_TRACE(h->sim, "somebody deletes machine %u", n);
	w->acted_ms = h->sim->now_ms;
	vpw_delete_machine(w, n, false);
}

static void
remove_node(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;
	const uint32_t n = any_machine(w);

	if (n != VPW_NONE && w->machines[n].joined_ms != 0)
		vpw_leave(w, n);
}

static void
flip_node(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;
	const uint32_t n = any_machine(w);

	if (n != VPW_NONE && w->machines[n].joined_ms != 0 && !w->machines[n].stopped)
		vpw_put_node(w, n, w->machines[n].node_ready_ms == 0);
}

static void
unlabel_node(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;
	const uint32_t n = any_machine(w);
	struct cluster_object *const o =
	    n != VPW_NONE ? cluster_find(&h->cluster, KIND_NODE, w->machines[n].node) : NULL;

	if (o == NULL || o->json == NULL)
		return;
	SIM_TRACE(h->sim, "the labels of %s are removed", o->name);
	json_object_del(json_object_get(o->json, "metadata"), "labels");
	cluster_touch(&h->cluster, o);
}

static void
change_address(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;
	const uint32_t n = any_machine(w);

	/* Of one that the original requested, nothing but the address is known before it was listed. */
	if (n == VPW_NONE || (w->machines[n].record == VPW_NONE && vpw_owner(w, n) == NULL))
		return;
	w->acted_ms = h->sim->now_ms;
	w->machines[n].address = 1000 + w->nmachines + (unsigned)w->changes++;
	SIM_TRACE(h->sim, "machine %u has another address", n);
	vpw_put_node(w, n, w->machines[n].node_ready_ms != 0);
}

/* In a group of another size, or a VM outside the cluster. */
static void
add_human_worker(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;

	const uint32_t group = sim_random(h->sim, 2) == 0 ? VPW_NONE : vpw_find_platform(w, "human");

	vpw_add_machine(w, group, VPW_NONE, 0);
}

/* Of no machine that the provider has. */
static void
add_human_node(struct harness *h)
{
	char name[CLUSTER_NAME_MAX];

	snprintf(name, sizeof(name), "rack-%u", (unsigned)sim_random(h->sim, 8));
	cluster_put(&h->cluster, KIND_NODE, name, "status", json_pack("{s:[{s:s, s:s}], s:[{s:s, s:s}]}",
	    "addresses", "type", "InternalIP", "address", "172.16.0.9", "conditions", "type", "Ready",
	    "status", "True"));
}

/* ---- The provider ---- */

static void
reach_quota(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;

	w->quota_until_ms = h->sim->now_ms + 1 + (int64_t)sim_random(h->sim, QUOTA_MS);
}

static void
break_api(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;

	w->outage_until_ms = h->sim->now_ms + 1 + (int64_t)sim_random(h->sim, OUTAGE_MS);
}

static void
revoke_tokens(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;

	w->revoked = w->issued;
}

/* At times the new one is wrong, until it is corrected. */
static void
rotate_secret(struct harness *h)
{
	struct vpw *const w = (struct vpw *)h;

	w->bad_secret = sim_random(h->sim, 3) == 0;
	w->secret++;
}

void
vpw_correct(struct vpw *w)
{
	struct harness *const h = &w->h;

	w->quota_until_ms = w->outage_until_ms = 0;
	w->bad_secret = false;
	h->cluster.clock_ms = 0;
	for (uint32_t n = 0; n < VPW_NODE_GROUPS; n++) {
		const struct cluster_object *const o = node_group(w, n);

		if (o == NULL || vpw_number(o, "spec", "minNodes") <= vpw_number(o, "spec", "maxNodes"))
			continue;
		json_t *const spec = json_deep_copy(json_object_get(o->json, "spec"));
		json_object_set_new(spec, "maxNodes", json_integer(DESIRED_MAX));
		cluster_put(&h->cluster, KIND_NODE_GROUP, o->name, "spec", spec);
	}
	for (uint32_t n = 0; n < w->nmachines; n++) {
		if (w->machines[n].joined_ms != 0 && !w->machines[n].deleted && !w->machines[n].stopped)
			vpw_put_node(w, n, true);
	}
}
