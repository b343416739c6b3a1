/*
 * actors/node-state/assess.h - how far the update of one node is: rules 1 to 7 below. Pure.
 *
 * Texts in and out are views; nothing is copied, and only the times of what makes a node unavailable are
 * parsed.
 */
#ifndef MUSTER_NODE_ASSESS_H
#define MUSTER_NODE_ASSESS_H

#include <stdbool.h>
#include <stdint.h>

#include "msg.h"

/* The annotations of body_node.mco, by their bytes ascending as there. */
#define ASSESS_MCO(A)							\
	A(CURRENT_CONFIG,     "currentConfig")				\
	A(CURRENT_IMAGE,      "currentImage")				\
	A(DESIRED_CONFIG,     "desiredConfig")				\
	A(DESIRED_DRAIN,      "desiredDrain")				\
	A(DESIRED_IMAGE,      "desiredImage")				\
	A(LAST_APPLIED_DRAIN, "lastAppliedDrain")			\
	A(REASON,             "reason")					\
	A(STATE,              "state")

enum assess_mco {
#define ASSESS_MCO_ENUM(ID, key) MCO_##ID,
	ASSESS_MCO(ASSESS_MCO_ENUM)
#undef ASSESS_MCO_ENUM
	MCO_MAX
};

/* What makes a node unavailable, in the order of the message. The first three are conditions of the Node. */
#define ASSESS_CAUSES(C)	/* ID, text, condition, status it must have */	\
	C(NOT_READY,     "Node is not ready",                            "Ready",              "True")	\
	C(DISK_PRESSURE, "Node has disk pressure",                       "DiskPressure",       "False")	\
	C(NO_NETWORK,    "Node has unavailable network",                 "NetworkUnavailable", "False")	\
	C(UNSCHEDULABLE, "Node is marked unschedulable",                 NULL,                 NULL)	\
	C(DAEMON,        "Machine Config Daemon is processing the node", NULL,                 NULL)

enum assess_cause {
#define ASSESS_CAUSE_ENUM(ID, ...) CAUSE_##ID,
	ASSESS_CAUSES(ASSESS_CAUSE_ENUM)
#undef ASSESS_CAUSE_ENUM
	CAUSE_MAX
};
enum { ASSESS_CONDITIONS = 3 };		/* causes that are conditions of the Node */

#define ASSESS_PHASES(P)							\
	P(DRAINING, "Draining") P(REBOOTING, "Rebooting") P(UPDATING, "Updating")	\
	P(COMPLETED, "Completed") P(PAUSED, "Paused") P(PENDING, "Pending")

enum assess_phase {
#define ASSESS_PHASE_ENUM(ID, name) PHASE_##ID,
	ASSESS_PHASES(ASSESS_PHASE_ENUM)
#undef ASSESS_PHASE_ENUM
	PHASE_MAX
};

/* The first rule that is true decides. */
#define ASSESS_RULES(R)		/* ID, phase (and reason), Updating, its message, for people */	\
	R(DRAINING,  DRAINING,  "True",  "The node is draining",  "1: updating, and draining")	\
	R(REBOOTING, REBOOTING, "True",  "The node is rebooting", "2: updating, state Rebooting")	\
	R(DONE,      COMPLETED, "False", "The node is updated",   "3: updating, Done, not draining")	\
	R(UPDATING,  UPDATING,  "True",  "The node is updating",  "4: updating, any other state")	\
	R(UPDATED,   COMPLETED, "False", "The node is updated",   "5: updated")			\
	R(PAUSED,    PAUSED,    "False", "The update of the node is paused",  "6: the pool is paused")	\
	R(PENDING,   PENDING,   "False", "The update of the node is pending", "7: none of the others")

enum assess_rule {
	RULE_NONE,
#define ASSESS_RULE_ENUM(ID, ...) RULE_##ID,
	ASSESS_RULES(ASSESS_RULE_ENUM)
#undef ASSESS_RULE_ENUM
	RULE_MAX
};

struct assess_condition {
	struct wire_str	status;		/* p NULL: the Node has no such condition, which is no cause */
	struct wire_str	since;		/* lastTransitionTime */
};

/* inputs_from_node fills the first part. */
struct assess_in {
	struct wire_str		mco[MCO_MAX];	/* p NULL: absent, which is not the same as empty */
	struct assess_condition	conditions[ASSESS_CONDITIONS];	/* by enum assess_cause */
	bool			unschedulable;

	struct wire_str		pool;
	bool			paused;
	struct wire_str		pool_image;	/* "": the pool is not layered */

	struct wire_str		current_version, desired_version;	/* of the two configs; "" not found */
	struct wire_str		target;		/* ClusterVersion history[0].version, or "" */
};

struct assess {
	enum assess_rule	rule;		/* never RULE_NONE */
	enum assess_phase	phase;
	bool			updated, updating, draining, degraded;
	bool			outdated;	/* version unknown, or not the target */
	bool			unavailable;	/* MCO's test, with the gate of the desired image */
	bool			available;	/* the condition: not (unavailable and not updating) */
	unsigned		causes;		/* 1 << enum assess_cause; 0 when not unavailable */
	struct wire_str		since;		/* earliest of the causes, as it came; "" none */
};

/* inputs.c: clears *in and fills what comes from the Node itself; views into the Node's frame. */
void inputs_from_node(const struct body_node *node, struct assess_in *in);
/* NODE_FACT, for claimers: addresses, readiness, labels, taints; views into the Node. */
struct body_node_fact inputs_node_fact(const struct body_node *n);

struct assess assess_node(const struct assess_in *in);

const char *assess_phase_name(enum assess_phase p);	/* "Draining" */
const char *assess_cause_text(enum assess_cause c);	/* "Node is not ready" */
const char *assess_rule_text(enum assess_rule r);	/* "1: updating, and draining": NODE_STATE's rule */

#endif
