/* tests/dst/lke_settled.c - the final state of the world `lke`. */
#include <stdio.h>
#include <string.h>

#include "world_lke.h"

static const char *find_difference(struct harness *);
static const char *claim_difference(struct lkew *, const struct cluster_object *);
static bool has_condition(const struct cluster_object *, const char *);
static bool is_ours(const struct cluster_object *);

/* It is the same until something changes in the cluster or at the provider. */
const char *
lkew_difference(struct harness *h)
{
	struct lkew *const w = (struct lkew *)h;
	const uint64_t state = h->cluster.rv + w->changes;

	if (w->compared != state)
		w->different = find_difference(h);
	w->compared = state;
	return w->different;
}

static const char *
find_difference(struct harness *h)
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

	return group != NULL && strcmp(group, LKEW_GROUP) == 0;
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

bool
lkew_lists_lag(const struct harness *h)
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
