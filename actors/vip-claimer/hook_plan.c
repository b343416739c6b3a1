/* actors/vip-claimer/hook_plan.c - the answers of the hooks, from one replica's view (V2, V3, V7). Pure. */
#include <stddef.h>

#include "obj.h"
#include "vip.h"

#define USABLE	(VIP_ADDRESS_NAMED | VIP_ADDRESS_PRESENT | VIP_ADDRESS_OF_CLAIM | VIP_ADDRESS_VALID)

enum answer { PASS, SOON, RETRY };

/*
 * What both hooks wait for: the first rule whose facts are all true, and all false, decides; the last one
 * covers the rest. PASS: there is nothing to wait for.
 */
static const struct rule {
	unsigned	 all_true, all_false;
	enum answer	 answer;
	enum vip_subject about;
	const char	*why;
} rules[] = {
	{ VIP_SET, 0,            PASS,  VIP_OF_NONE,     "the endpoint is set" },
	{ 0, VIP_CLASS_NAMED,    PASS,  VIP_OF_NONE,     "the Cluster has no topology class" },
	{ VIP_DELETING, 0,       PASS,  VIP_OF_NONE,     "the Cluster is being deleted" },
	{ 0, VIP_READABLE,       RETRY, VIP_OF_RESOURCE, "vip-claimer may not read a resource, check its RBAC" },
	{ 0, VIP_SYNCED,         RETRY, VIP_OF_NONE,     "vip-claimer has not read the objects of the cluster yet" },
	{ 0, VIP_CLAIM | VIP_POOL, PASS, VIP_OF_LABELS,  "no pool for the ClusterClass" },
	{ 0, VIP_NAME_FITS,      RETRY, VIP_OF_NONE,     "the Cluster's name is too long for the name of a claim" },
	{ 0, VIP_CLAIM,          RETRY, VIP_OF_CLAIM_IN_POOL, "waiting until the claim is created" },
	{ VIP_CLAIM_DELETING, 0, RETRY, VIP_OF_CLAIM,    "waiting until an older claim is deleted" },
	{ 0, VIP_CLAIM_OWNED | VIP_CLAIM_OWNERLESS, RETRY, VIP_OF_CLAIM, "the claim belongs to another owner and is not used" },
	{ USABLE, 0,             SOON,  VIP_OF_ADDRESS,  "the address is allocated and is being set" },
	{ VIP_ADDRESS_PRESENT, VIP_ADDRESS_OF_CLAIM, RETRY, VIP_OF_CLAIM, "the IPAddress belongs to another claim and is not used" },
	{ VIP_ADDRESS_PRESENT, VIP_ADDRESS_VALID, RETRY, VIP_OF_CLAIM, "the IPAddress does not have an IP address" },
	{ VIP_CLAIM_NOT_READY, 0, RETRY, VIP_OF_REASON,  "the IPAM provider reports that the claim is not ready" },
	{ 0, VIP_LATE,           RETRY, VIP_OF_CLAIM_IN_POOL, "waiting for an address" },
	{ VIP_CLAIM_POOL_EMPTY, 0, RETRY, VIP_OF_POOL,   "the pool is exhausted, add addresses or free some" },
	{ 0, VIP_CLAIM_POOL,     RETRY, VIP_OF_CLAIM_IN_POOL, "the pool of the claim does not exist" },
	{ 0, 0,                  RETRY, VIP_OF_CLAIM_IN_POOL, "the pool has free addresses, but the IPAM provider gives none" },
};

static const struct rule *rule_for(unsigned);
static int64_t retry_after_s(const struct vip_input *);

void
vip_gate_plan(const struct vip_input *s, struct vip_gate *out)
{
	MUST(s->role == VIP_CONTROL_PLANE);
	vip_view(s, &out->view);
	const struct rule *const r = rule_for(out->view.facts);
	out->pass = r->answer == PASS;
	out->retry_s = r->answer == PASS ? 0 : r->answer == SOON ? 1 : retry_after_s(s);
	out->why = r->why;
	vip_message(out->message, r->why, r->about, s, &out->view);
}

/*
 * "No patch" only for a Cluster that has no address and gets none. What is on its way to the Cluster may be
 * rendered already: the reconciler sets this address and no other.
 */
void
vip_patch_plan(const struct vip_input *s, struct vip_patch_plan *out)
{
	MUST(s->role == VIP_CONTROL_PLANE);
	vip_view(s, &out->view);
	const unsigned facts = out->view.facts;
	const struct rule *r = rule_for(facts);
	out->result = VIP_PATCHES_FAIL;
	out->host = wire_str_of("");
	out->port = s->cluster.port > 0 ? s->cluster.port : s->default_port;
	out->why = r->why;
	if ((facts & VIP_SYNCED) == 0 || (facts & VIP_CLUSTER) == 0) {
		out->why = (facts & VIP_SYNCED) == 0
		    ? "vip-claimer has not read the objects of the cluster yet"
		    : "vip-claimer has not read the Cluster yet";
		vip_message(out->message, out->why, VIP_OF_NONE, s, &out->view);
		return;
	}
	if ((facts & VIP_SET) != 0) {
		out->result = VIP_PATCHES_GIVE;
		out->host = s->cluster.host;
	} else if (r->answer == SOON) {
		out->result = VIP_PATCHES_GIVE;
		out->host = s->address.address;
	} else if (r->answer == PASS) {
		out->result = VIP_PATCHES_NONE;
	}
	vip_message(out->message, r->why, r->about, s, &out->view);
}

static const struct rule *
rule_for(unsigned facts)
{
	size_t i = 0;

	while ((facts & rules[i].all_true) != rules[i].all_true || (facts & rules[i].all_false) != 0) {
		i++;
		MUST(i < NITEMS(rules));
	}
	return &rules[i];
}

/*
 * 1, 1, 2, 3, 5, 5 ... by the age of the claim, or of the Cluster while it has none: no memory of calls, so
 * any replica gives the same answer.
 */
static int64_t
retry_after_s(const struct vip_input *s)
{
	static const struct {
		int64_t	below_ms, retry_s;
	} steps[] = { { 2000, 1 }, { 4000, 2 }, { 7000, 3 } };
	const int64_t since_us = s->claim.present ? s->claim.created_us : s->cluster.created_us;
	const int64_t age_ms = s->now_us > 0 && since_us > 0 ? (s->now_us - since_us) / 1000 : 0;

	for (size_t i = 0; i < NITEMS(steps); i++) {
		if (age_ms < steps[i].below_ms)
			return steps[i].retry_s;
	}
	return 5;
}
