/*
 * actors/vpsie-claimer/group.h - what a NodeGroup needs: VPSieNodes to create and to remove, its group of the
 * platform, its status (contract D15, D23, S1, S2). Pure.
 *
 * Rules
 * - desired = status.desiredNodes, which whoever scales writes; absent: minNodes. It is clamped to minNodes
 *   and maxNodes. Scaling decisions are not made here.
 * - Removed first: annotated scale-down "true", then not Ready, then the youngest. Never a protected one.
 * - Failed counts: it is not replaced, and not removed unless the group shrinks.
 * - Input that cannot be served is a condition with words, and nothing is created or removed.
 * - The platform's group is found by the NodeGroup's name, or made. The request to make it has no idempotency
 *   key, so an intent precedes it; since the name recognises it, two lists without it permit another try.
 *   NodeGroups of one name in several namespaces share it: one of them makes it, the others wait for that.
 * - A deleted NodeGroup removes all its VPSieNodes, protected or not, before its finalizer goes.
 */
#ifndef MUSTER_VPSIE_GROUP_H
#define MUSTER_VPSIE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actors/provider/absence.h"
#include "fsm.h"
#include "msg.h"

enum {
	/* "<name>-<8 hex>" is the value of a label, which has 63 characters. */
	GROUP_NAME_MAX	  = 63 - 9,
	VPSIENODE_NAME_MAX = 64,
	GROUP_MESSAGE_MAX = 256,
};

/* A VPSieNode of the group, with what its own labels and annotations and those of its Node have. */
struct group_member {
	struct wire_str		name;
	enum vpsie_phase	phase;
	int64_t			created_us;	/* metadata.creationTimestamp */
	bool			deleting;
	bool			shed;		/* scale-down "true" */
	bool			protected;	/* protected, scale-down-disabled, scale-down "disabled" */
};

struct group_input {
	bool				 exists, deleting, finalizer;
	struct wire_str			 name, cluster;	/* spec.resourceIdentifier */
	int64_t				 min, max, desired;
	bool				 has_desired;
	int64_t				 kube_size;	/* spec.kubeSizeID; 0: not set */
	bool				 stale;		/* the status that would be written differs */
	/* The platform. */
	bool				 cluster_missing;	/* the provider has no such cluster */
	int64_t				 group_id;	/* status.vpsieGroupID; 0: not known */
	bool				 listed;	/* the groups, newer than our last request */
	unsigned			 named;		/* how many of them have the NodeGroup's name */
	int64_t				 listed_id;	/* the id of that one */
	bool				 intent, sent;	/* to make the group (fsm.h has the same) */
	bool				 shared;	/* a NodeGroup of another namespace makes it */
	enum absence_verdict		 absence;	/* of the group, by its name */
	const struct group_member	*members;
	uint32_t			 nmembers;
};

/* ID, name: what to do. STATUS and below are writes, then calls. */
#define GROUP_VERBS(V)										\
	V(NOTHING, "nothing") V(WAIT, "wait")							\
	V(HOLD,    "hold")		/* write: the finalizer */				\
	V(STATUS,  "status")		/* write: the status */					\
	V(INTEND,  "intend")		/* write: the intent to make the platform's group */	\
	V(CREATE,  "create")		/* write: `create` VPSieNodes */			\
	V(REMOVE,  "remove")		/* write: the first `nremove` of `order` are deleted */	\
	V(RELEASE, "release")		/* write: the finalizer goes */				\
	V(LIST,    "list-groups")	/* call */						\
	V(MAKE,    "make-group")	/* call: POST */

enum group_verb {
#define GROUP_VERB_ENUM(ID, name) GROUP_##ID,
	GROUP_VERBS(GROUP_VERB_ENUM)
#undef GROUP_VERB_ENUM
	GROUP_VERB_MAX
};

struct group_plan {
	enum group_verb	 verb;
	const char	*why;
	uint32_t	 create, nremove;
	/* The status. */
	int64_t		 desired, group_id;
	uint32_t	 current, ready;
	bool		 at_min, at_max, scaling;
	/* Condition Error and a Warning Event; "": none. What happened, and what to do. */
	const char	*reason;
	char		 message[GROUP_MESSAGE_MAX];
};

/* order, spare: room for nmembers; order gets those to remove. */
void group_plan(const struct group_input *in, uint32_t *order, uint32_t *spare, struct group_plan *out);
const char *group_verb_name(enum group_verb v);
/*
 * "<group>-<8 hex>". The same arguments give the same name, so a write that is repeated after a lost answer
 * finds its own object. salt: something that moves on, such as the NodeGroup's resourceVersion; number: of
 * the VPSieNode within that plan.
 */
void group_vpsienode_name(char out[VPSIENODE_NAME_MAX], struct wire_str group, struct wire_str uid,
    struct wire_str salt, uint32_t number);

#endif
