/*
 * actors/lke-claimer/claim.h - the next step in the life of one NodeClaim, as Karpenter's own controllers
 * take it (contract C2a, C6, C8, C10, C16, C18, A4, A9). Pure.
 *
 * Order of a launch: finalizer; labels and the reserved machine in one metadata write; the machine's tag; one
 * status write with providerID, capacity, allocatable and Launched=True. Registration is one patch of the
 * Node, once. Initialization is a label of the Node, then the condition.
 */
#ifndef MUSTER_LKE_CLAIM_H
#define MUSTER_LKE_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "types.h"

/* ID, name */
#define LKE_CLAIM_VERBS(V)				\
	V(NOTHING,      "nothing")			\
	V(WAIT,         "wait")				\
	V(LEAVE,        "leave alone")			\
	V(FINALIZE,     "add finalizer")		\
	V(RESERVE,      "reserve machine")		\
	V(TAG,          "tag machine")			\
	V(LAUNCH,       "launched")			\
	V(REGISTER,     "register Node")		\
	V(INITIALIZE,   "initialize Node")		\
	V(DELETE,       "delete NodeClaim")		\
	V(SET_DEADLINE, "set termination time")		\
	V(DELETE_NODE,  "delete Node")			\
	V(DRAIN,        "drain Node")			\
	V(REMOVE,       "remove machine")		\
	V(RELEASE_NODE, "release Node")			\
	V(RELEASE,      "remove finalizer")

enum lke_claim_verb {
#define LKE_CLAIM_VERB_ENUM(ID, name) CLAIM_##ID,
	LKE_CLAIM_VERBS(LKE_CLAIM_VERB_ENUM)
#undef LKE_CLAIM_VERB_ENUM
	CLAIM_VERB_MAX
};

/* What keeps a Node from being initialized, in the order in which it is checked. */
enum lke_uninitialized {
	LKE_INITIALIZED, LKE_NODE_NOT_READY, LKE_STARTUP_TAINTS, LKE_EPHEMERAL_TAINTS, LKE_RESOURCE_MISSING,
};

struct lke_claim_input {
	/* The NodeClaim. */
	bool			exists;
	bool			ours;		/* its class is a LinodeNodeClass */
	bool			foreign;	/* a providerID, or Launched, that another program wrote */
	bool			deleting, finalizer;
	bool			launched;	/* the status has its providerID and Launched=True */
	bool			registered, initialized;	/* conditions that are True */
	bool			labelled;	/* the labels of its type are in its metadata */
	bool			grace_period, deadline;	/* terminationGracePeriod; its annotation is there */
	bool			grace_elapsed;	/* ... and its time has passed */
	/* What it needs. */
	bool			nodepool;	/* the NodePool exists */
	bool			class_found, class_ready;
	bool			catalogue;	/* types and availability have been read */
	bool			provider_failed;	/* the last list or catalogue could not be read */
	enum lke_resolved	resolved;
	const char		*violation;	/* of C7, from the plan of its key; NULL: none */
	/* Its machine: ids, 0: none. */
	int64_t			assigned, reserved;
	bool			tagged;		/* a machine has its tag */
	bool			tag_in_flight;
	bool			tag_lost;	/* launched, and its machine is there without the tag */
	bool			machine_gone;	/* two complete lists apart do not have it */
	/* Its Node: found by providerID. */
	unsigned		nodes;		/* 0, 1, or 2 for more */
	bool			node_ready, node_deleting;
	bool			node_registered, node_initialized;	/* labels */
	bool			node_finalizer;
	enum lke_uninitialized	uninitialized;
	bool			drained, volumes_detached;	/* no Pod, no volume is left that must go */
	bool			drain_over;	/* a limit ended the drain: the machine goes nevertheless */
	bool			took_over;	/* just now (fence.h): the Node may come later */
	/* Times that have passed, by cluster time and two observations. */
	bool			launch_timeout, registration_timeout;
	bool			create_deadline;	/* since the first attempt */
};

/* The reason of the Event of a CLAIM_DELETE, or of a Warning; NULL: none. */
struct lke_claim_plan {
	enum lke_claim_verb	 verb;
	const char		*why;
	const char		*event;
	const char		*reason;	/* of Launched, Unknown; NULL: nothing to report yet */
	const char		*message;	/* ... NULL: why */
};

void lke_claim_plan(const struct lke_claim_input *in, struct lke_claim_plan *out);
const char *lke_claim_verb_name(enum lke_claim_verb v);

#endif
