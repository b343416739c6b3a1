/*
 * tests/dst/harness_machines.c - what worlds of providers have in common of machines: their Nodes
 * and Pods, and lists that lag or lose entries.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "obj.h"
#include "provider/brake.h"

enum { PODS_MAX = 2, GRACE_S = 5, SHRINK_MS = BRAKE_CONFIRM_MS - 1000 };

/* ---- Nodes and Pods ---- */

struct cluster_object *
harness_join(struct harness *h, const char *node, const char *provider_id)
{
	char pod[CLUSTER_NAME_MAX];

	SIM_TRACE(h->sim, "%s joins", node);
	cluster_put(&h->cluster, KIND_NODE, node, "spec", json_pack("{s:s}", "providerID", provider_id));
	for (uint64_t i = sim_random(h->sim, PODS_MAX + 1); i > 0; i--) {
		MUST((size_t)snprintf(pod, sizeof(pod), "pod-%s-%u", node, (unsigned)i) < sizeof(pod));
		cluster_put(&h->cluster, KIND_POD, pod, "spec", json_pack("{s:s, s:i}", "nodeName", node,
		    "terminationGracePeriodSeconds", GRACE_S));
	}
	return cluster_find(&h->cluster, KIND_NODE, node);
}

void
harness_leave(struct harness *h, const char *node)
{
	struct cluster_object *const o = cluster_find(&h->cluster, KIND_NODE, node);
	char fields[2 * CLUSTER_NAME_MAX];

	if (o == NULL || o->json == NULL)
		return;
	SIM_TRACE(h->sim, "%s leaves", node);
	cluster_remove(&h->cluster, o);
	snprintf(fields, sizeof(fields), "spec.nodeName=%s", node);
	for (unsigned i = 0; i < h->cluster.count; i++) {
		struct cluster_object *const pod = &h->cluster.objects[i];

		if (pod->kind == KIND_POD && pod->json != NULL && cluster_selects(pod, fields))
			cluster_drop(&h->cluster, pod);
	}
}

bool
harness_has_pods(struct harness *h, const char *node)
{
	char fields[2 * CLUSTER_NAME_MAX];

	snprintf(fields, sizeof(fields), "spec.nodeName=%s", node);
	for (unsigned i = 0; i < h->cluster.count; i++) {
		const struct cluster_object *const o = &h->cluster.objects[i];

		if (o->kind == KIND_POD && o->json != NULL && cluster_selects(o, fields))
			return true;
	}
	return false;
}

/* ---- Lists ---- */

/*
 * While lists lose entries: less than half of what this process has seen, so that its brake must notice. Not
 * more than that: what it has not seen, few entries, and a second loss without a whole list between are
 * beyond what the brake promises.
 */
uint32_t
harness_list_limit(struct harness *h, const struct http_exchange *x)
{
	struct harness_seen *const seen = &h->trees[x->from->tree].seen;
	uint32_t least = UINT32_MAX;

	if (seen->incarnation != x->incarnation)
		*seen = (struct harness_seen){ .incarnation = x->incarnation };
	for (uint32_t i = 0; i < HARNESS_SEEN && i < seen->n; i++)
		least = seen->counts[i] < least ? seen->counts[i] : least;
	if (h->sim->now_ms >= h->shrunk_until_ms || seen->n < 2 || least <= BRAKE_SMALL
	    || (seen->shrunk != 0 && seen->shrunk != h->losses))
		return UINT32_MAX;
	seen->shrunk = h->losses;
	return least - least / 2 - 1;
}

void
harness_listed(struct harness *h, const struct http_exchange *x, uint32_t limit, uint32_t entries)
{
	struct harness_seen *const seen = &h->trees[x->from->tree].seen;

	if (limit != UINT32_MAX || x->lost || x->call == NULL)
		return;
	seen->counts[seen->n++ % HARNESS_SEEN] = entries;
	seen->shrunk = 0;
}

void
harness_list_lost_one(struct harness *h)
{
	for (unsigned t = 0; t < h->ntrees; t++) {
		for (uint32_t i = 0; i < HARNESS_SEEN; i++)
			h->trees[t].seen.counts[i] -= h->trees[t].seen.counts[i] > 0;
	}
}

void
harness_shrink_lists(struct harness *h)
{
	if (h->sim->faults_over || h->sim->now_ms < h->shrunk_until_ms)
		return;
	h->losses++;
	h->shrunk_until_ms = h->sim->now_ms + 1 + (int64_t)sim_random(h->sim, SHRINK_MS);
	SIM_TRACE(h->sim, "the provider's lists lack most machines until %lld ms",
	    (long long)h->shrunk_until_ms);
}

bool
harness_given_up(const struct http_exchange *x)
{
	return x->call == NULL && x->from->node.up && x->from->incarnation == x->incarnation;
}

int64_t
harness_lag(struct sim *sim)
{
	if (sim->faults_over)
		return 0;
	return sim_chance(sim, 300) ? HARNESS_LAG_MS : (int64_t)sim_random(sim, HARNESS_LAG_MS);
}
