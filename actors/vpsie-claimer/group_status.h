/*
 * actors/vpsie-claimer/group_status.h - the status of a NodeGroup (contract D15, S1 to S3). Pure.
 *
 * currentNodes are its VPSieNodes, readyNodes those of phase Ready. nodes[] has the first GROUP_NODES_MAX of
 * them by name. Conditions Ready, Scaling, Error, AtMinCapacity and AtMaxCapacity are ours. The times of
 * scaling belong to whoever scales.
 */
#ifndef MUSTER_VPSIE_GROUP_STATUS_H
#define MUSTER_VPSIE_GROUP_STATUS_H

#include "group.h"
#include "node_status.h"

enum { GROUP_NODES_MAX = 200 };

/* A row of status.nodes[]; texts are views. */
struct group_node {
	struct wire_str	node_name, type, phase, created_at, ready_at, address;
	int64_t		id;
};

struct group_status {
	int64_t			 desired, current, ready, group_id, observed;
	const struct group_node	*nodes;
	uint32_t		 nnodes;
	struct status_condition	 conditions[STATUS_CONDITIONS_MAX];
	struct wire_str		 updated[STATUS_CONDITIONS_MAX];
	uint32_t		 nconditions;
};

/* error: a call fails for now; NULL: none does, and the plan's own error counts. */
void group_status_desire(const struct group_status *stored, const struct group_plan *plan, int64_t generation,
    const char *error_reason, const char *error, struct wire_str now, struct group_status *out);
const char *group_status_difference(const struct group_status *a, const struct group_status *b);
void group_status_put(struct json *j, const struct group_status *s);

#endif
