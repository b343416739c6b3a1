/*
 * actors/vpsie-claimer/node_status.h - the status of a VPSieNode: what it should be, and the body that writes
 * it (contract D14, D19, D21, M3, E3). Pure.
 *
 * Rules
 * - createdAt is set once and never moves. provisionedAt is set with phase Provisioned, and anew when a Ready
 *   VPSieNode lost its Node: joining-timeout counts from there. All times are the cluster's.
 * - What the provider no longer reports stays as it was.
 * - Conditions VPSReady, NodeJoined, NodeReady and Error are ours; others are written back as they are.
 * - The error of a Failed VPSieNode stays; another one goes with its cause.
 */
#ifndef MUSTER_VPSIE_NODE_STATUS_H
#define MUSTER_VPSIE_NODE_STATUS_H

#include "actors/reconcile/bodies.h"
#include "discover.h"
#include "fsm.h"

enum { STATUS_CONDITIONS_MAX = 16 };

/* Texts are views. */
struct node_status {
	enum vpsie_phase	phase;
	struct wire_str		node_name, vps_status, hostname, last_error;
	int64_t			cpu, memory_mb, disk_gb, traffic_gb, observed;
	struct wire_str		created_at, provisioned_at, joined_at, ready_at, terminating_at, deleted_at;
	struct status_condition	conditions[STATUS_CONDITIONS_MAX];
	struct wire_str		updated[STATUS_CONDITIONS_MAX];	/* lastUpdateTime of each */
	uint32_t		nconditions;
};

struct status_input {
	enum vpsie_phase	 next;
	const char		*reason, *message;	/* of a move; NULL: the phase stays */
	int64_t			 generation;
	struct wire_str		 now;			/* cluster time, RFC 3339 */
	const struct machine	*machine;		/* as the last list has it; NULL: not there */
	struct wire_str		 node;			/* its Node; "": it has none */
	bool			 node_ready;
	const char		*error_reason, *error;	/* a call fails for now; NULL: none does */
};

void vpsie_status_desire(
    const struct node_status *stored, const struct status_input *in, struct node_status *out);
/* The first field that differs, or NULL. */
const char *vpsie_status_difference(const struct node_status *a, const struct node_status *b);
/* Member "status" of the open object: a merge patch, so what is empty is removed. */
void vpsie_status_put(struct json *j, const struct node_status *s);

/* ---- Conditions with lastUpdateTime, also of a NodeGroup ---- */

void vpsie_conditions_put(struct json *j, const struct status_condition *c, const struct wire_str *updated,
    uint32_t n);
/* Sets that one, added when absent: with a new time only if its status changes. */
void vpsie_condition_set(struct status_condition *list, struct wire_str *updated, uint32_t *n,
    const struct status_condition *c, struct wire_str now);

/* Rows of VPSIE_CONDITIONS (kinds.h): at most STATUS_CONDITIONS_MAX. Returns how many. */
static inline uint32_t
vpsie_conditions_read(struct wire_rows rows, struct status_condition *out, struct wire_str *updated)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];
	uint32_t n = 0;

	while (n < STATUS_CONDITIONS_MAX && rows_next(&rows, cells)) {
		updated[n] = cells[5];
		out[n++] = (struct status_condition){ .type = cells[0], .status = cells[1],
			.reason = cells[2], .message = cells[3], .time = cells[4] };
	}
	return n;
}

#endif
