/*
 * bench/lke_plan.c - lke_plan as a filter, for a provider that is modelled in virtual time.
 *
 * A line in: TIER NOW BEGUN POOLS COUNT WAITS MUTATING INTENT KIND TARGET CLAIMS MACHINES, then for
 * each claim RESERVED TAGGED_ID, for each machine ID TAGS. A line out: VERB RETRY_AT KIND COUNT, then for
 * each claim the id of its machine or 0. Lists are current and nothing fails: the faults are in
 * tests/unit/test_lke_model.c.
 */
#include <inttypes.h>
#include <stdio.h>

#include "actors/lke-claimer/plan.h"

enum { MOST = 512 };

static int64_t
next(void)
{
	int64_t value = 0;

	return scanf("%" SCNd64, &value) == 1 ? value : 0;
}

int
main(void)
{
	static struct lke_plan_claim claims[MOST];
	static struct lke_plan_instance machines[MOST];
	static uint32_t assign[MOST];
	int64_t tier;

	while (scanf("%" SCNd64, &tier) == 1) {
		struct lke_plan_input in = { .tier = tier == 0 ? LKE_STANDARD : LKE_ENTERPRISE,
			.claims = claims, .instances = machines, .listed = true, .current = true,
			.settled = true, .settled_list = true, .open = true, .nodepool = true };
		struct lke_plan p;

		in.now_ms = next();
		in.begun_ms = next();
		in.pools = (unsigned)next();
		in.pool_id = 1;
		in.count = next();
		in.waits_ms = next();
		in.mutating = next() != 0;
		in.intent = (enum lke_intent)next();
		in.intent_kind = (enum lke_intent_kind)next();
		in.intent_count = next();
		in.nclaims = (uint32_t)next();
		in.ninstances = (uint32_t)next();
		if (in.nclaims > MOST || in.ninstances > MOST)
			return 1;
		for (uint32_t i = 0; i < in.nclaims; i++) {
			claims[i] = (struct lke_plan_claim){ .name = "", .held = true, .reserved = next() };
			claims[i].tagged_id = next();
			claims[i].tagged = claims[i].tagged_id != 0;
		}
		for (uint32_t i = 0; i < in.ninstances; i++) {
			machines[i] = (struct lke_plan_instance){ .id = next(), .node_id = "n",
				.drained = true };
			machines[i].tags = (unsigned)next();
		}
		lke_plan(&in, assign, &p);
		printf("%s\t%" PRId64 " %d %" PRId64, lke_verb_name(p.verb), p.retry_at_ms,
		    (int)p.kind, p.count);
		for (uint32_t i = 0; i < in.nclaims; i++)
			printf(" %" PRId64, assign[i] == LKE_NONE ? 0 : machines[assign[i]].id);
		printf("\n");
		fflush(stdout);
	}
	return 0;
}
