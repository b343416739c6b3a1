/* tests/dst/lke_checks.c - what must hold in the world `lke` after every step. */
#include <string.h>

#include "world_lke.h"

static void check_pools(struct lkew *);
static void check_tags(struct lkew *);
static void check_claims(struct lkew *);

void
lkew_check(struct sim *sim, void *world)
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
