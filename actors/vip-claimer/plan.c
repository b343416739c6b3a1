/*
 * actors/vip-claimer/plan.c - what the reconciler does about one Cluster and role (V2, V3, V5, V6,
 * V8). Pure.
 */
#include <stddef.h>

#include "obj.h"
#include "vip.h"

/* An address that can be used: it is there, it is the claim's, and it is one. */
#define USABLE	(VIP_ADDRESS_NAMED | VIP_ADDRESS_PRESENT | VIP_ADDRESS_OF_CLAIM | VIP_ADDRESS_VALID)
#define FOUND	(VIP_ADDRESS_NAMED | VIP_ADDRESS_PRESENT)

enum { NONE = VIP_EVENT_NONE, DONE = VIP_ALLOCATED, SLOW = VIP_WAITING, NO_POOL = VIP_NO_POOL };

/*
 * The first rule whose facts are all true, and all false, decides; the last one covers the rest.
 *
 * - A claim without an owner is adopted even while its Cluster goes: else nobody would delete it.
 * - A claim that belongs to another owner is not used: a Cluster of the same name that was deleted has left
 *   it, and the garbage collector deletes it, or its address goes with somebody else's object.
 * - A Cluster that is paused is not changed. With pre-allocate its claim is made, without the label: the
 *   IPAM provider skips claims that name a paused Cluster. The label follows when it is no longer paused.
 */
static const struct rule {
	unsigned	 all_true, all_false;
	enum vip_verb	 verb;
	int		 event;
	enum vip_subject about;
	const char	*why;
} rules[] = {
	{ 0, VIP_SYNCED,       VIP_WAIT,    NONE, VIP_OF_NONE,     "the first lists are not complete" },
	{ 0, VIP_CLUSTER,      VIP_NOTHING, NONE, VIP_OF_NONE,     "the Cluster does not exist" },
	{ 0, VIP_WANTED,       VIP_NOTHING, NONE, VIP_OF_NONE,     "an address for ingress is not enabled" },
	{ 0, VIP_CLASS_NAMED,  VIP_NOTHING, NONE, VIP_OF_NONE,     "the Cluster has no topology class" },
	{ 0, VIP_NAME_FITS,    VIP_WARN,    SLOW, VIP_OF_NONE,     "the Cluster's name is too long for the name of a claim" },
	{ VIP_DELETING | VIP_CLAIM_OWNERLESS, VIP_CLAIM_DELETING,
	    VIP_ADOPT_CLAIM, NONE, VIP_OF_CLAIM, "the Cluster is being deleted and its claim has no owner" },
	{ VIP_DELETING, 0,     VIP_NOTHING, NONE, VIP_OF_NONE,     "the Cluster is being deleted, and its claim with it" },
	{ VIP_PAUSED, VIP_RESERVES, VIP_WAIT, NONE, VIP_OF_NONE,   "the Cluster is paused" },
	{ VIP_SET | VIP_CLAIM_DELETING, 0, VIP_NOTHING, NONE, VIP_OF_NONE, "the address is set" },
	{ VIP_CLAIM_DELETING, 0, VIP_WAIT,  NONE, VIP_OF_CLAIM,    "the claim is being deleted, a new one follows" },
	{ VIP_CLAIM_OWNERLESS, 0, VIP_ADOPT_CLAIM, NONE, VIP_OF_CLAIM, "the claim has no owner" },
	{ VIP_SET | VIP_CLAIM, VIP_CLAIM_OWNED, VIP_NOTHING, NONE, VIP_OF_NONE, "the address is set" },
	{ VIP_CLAIM, VIP_CLAIM_OWNED, VIP_WARN, SLOW, VIP_OF_CLAIM, "the claim belongs to another owner and is not used" },
	{ VIP_CLAIM, VIP_CLAIM_LABELLED | VIP_PAUSED, VIP_ADOPT_CLAIM, NONE, VIP_OF_CLAIM, "the claim does not name its Cluster" },
	{ VIP_SET_BY_US | VIP_REST_DIFFERS, VIP_PAUSED,
	    VIP_PATCH_CLUSTER, NONE, VIP_OF_ADDRESS, "the address is set, but not everywhere" },
	{ VIP_SET, 0,          VIP_NOTHING, NONE, VIP_OF_NONE,     "the address is set" },
	{ 0, VIP_CLAIM | VIP_POOL, VIP_WARN, NO_POOL, VIP_OF_LABELS, "no pool for the ClusterClass" },
	{ 0, VIP_CLAIM,        VIP_CREATE_CLAIM, NONE, VIP_OF_CLAIM_IN_POOL, "an address is needed" },
	{ FOUND, VIP_ADDRESS_OF_CLAIM, VIP_WARN, SLOW, VIP_OF_CLAIM, "the IPAddress belongs to another claim and is not used" },
	{ FOUND, VIP_ADDRESS_VALID, VIP_WARN, SLOW, VIP_OF_CLAIM,  "the IPAddress does not have an IP address" },
	{ USABLE | VIP_PAUSED, 0, VIP_WAIT, NONE, VIP_OF_ADDRESS,  "the address is reserved while the Cluster is paused" },
	{ USABLE, VIP_CLASS_PRESENT, VIP_WAIT, NONE, VIP_OF_CLASS, "the ClusterClass does not exist" },
	{ USABLE, 0,           VIP_PATCH_CLUSTER, DONE, VIP_OF_ADDRESS, "the address is allocated" },
	{ VIP_CLAIM_NOT_READY, 0, VIP_WARN, SLOW, VIP_OF_REASON,   "the IPAM provider reports that the claim is not ready" },
	{ 0, VIP_LATE,         VIP_WAIT,    NONE, VIP_OF_CLAIM_IN_POOL, "waiting for an address" },
	{ VIP_CLAIM_POOL_EMPTY, 0, VIP_WARN, SLOW, VIP_OF_POOL,    "the pool is exhausted, add addresses or free some" },
	{ 0, VIP_CLAIM_POOL,   VIP_WARN,    SLOW, VIP_OF_CLAIM_IN_POOL, "the pool of the claim does not exist" },
	{ 0, 0,                VIP_WARN,    SLOW, VIP_OF_CLAIM_IN_POOL, "the pool has free addresses, but the IPAM provider gives none" },
};

static const char *const verb_names[VIP_VERB_MAX] = {
	[VIP_NOTHING] = "nothing", [VIP_WAIT] = "wait", [VIP_WARN] = "warn",
	[VIP_CREATE_CLAIM] = "create claim", [VIP_ADOPT_CLAIM] = "adopt claim",
	[VIP_PATCH_CLUSTER] = "patch Cluster",
};

static const char *const reasons[VIP_EVENT_MAX] = {
	[VIP_EVENT_NONE] = "", [VIP_ALLOCATED] = "VIPAllocated", [VIP_WAITING] = "VIPWaiting",
	[VIP_NO_POOL] = "NoPool",
};

void
vip_plan(const struct vip_input *s, struct vip_plan *out)
{
	size_t i = 0;

	vip_view(s, &out->view);
	const unsigned facts = out->view.facts;
	while ((facts & rules[i].all_true) != rules[i].all_true || (facts & rules[i].all_false) != 0) {
		i++;
		MUST(i < NITEMS(rules));
	}
	out->verb = rules[i].verb;
	out->event = (enum vip_event)rules[i].event;
	out->why = rules[i].why;
	/* Only the wait for an address ends with time: everything else waits for a change. */
	out->after_ms = rules[i].all_false == VIP_LATE ? out->view.late_in_ms : 0;
	vip_message(out->message, out->why, rules[i].about, s, &out->view);
}

const char *
vip_verb_name(enum vip_verb v)
{
	return (unsigned)v < VIP_VERB_MAX ? verb_names[v] : "?";
}

const char *
vip_event_reason(enum vip_event e)
{
	return (unsigned)e < VIP_EVENT_MAX ? reasons[e] : "?";
}
