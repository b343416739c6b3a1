/*
 * sim/openshift/openshift_fsm.h - the update of one node, step by step, and how many may be under
 * way at once.
 *
 * Pure: what a node shows goes in, what happens next comes out. The order is that of the Machine
 * Config Operator (MCO): its node controller chooses the node and names the config; the daemon on
 * the node requests the drain; the drain controller cordons and evicts; the daemon applies, reboots
 * and requests the uncordon; only then its state is Done, together with the new currentConfig.
 */
#ifndef MUSTER_OPENSHIFT_FSM_H
#define MUSTER_OPENSHIFT_FSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What has happened last. */
enum openshift_step {
	ROLLOUT_IDLE,			/* state Done, currentConfig = desiredConfig */
	ROLLOUT_TARGETED,		/* desiredConfig is the new one; the daemon has not begun */
	ROLLOUT_WORKING,		/* state Working */
	ROLLOUT_DRAIN_REQUESTED,		/* desiredDrain drain-X */
	ROLLOUT_CORDONED,		/* unschedulable, with its taint; Pods are evicted from now on */
	ROLLOUT_DRAINED,		/* lastAppliedDrain drain-X; the daemon applies */
	ROLLOUT_REBOOTING,		/* state Rebooting */
	ROLLOUT_DOWN,			/* Ready turned Unknown */
	ROLLOUT_UP,			/* Ready turned True, another bootID */
	ROLLOUT_UNCORDON_REQUESTED,		/* desiredDrain uncordon-X */
	ROLLOUT_UNCORDONED,		/* schedulable */
	ROLLOUT_RELEASED,		/* lastAppliedDrain uncordon-X */
	ROLLOUT_STEPS,
};

struct openshift_step_row {
	const char	*name;
	const char	*state;		/* the annotation of that name while the step lasts */
	int64_t		 lasts_ms;	/* in simulated time */
};
const struct openshift_step_row *openshift_step_row(enum openshift_step step);

struct openshift_node_view {
	enum openshift_step	step;
	bool			targeted;	/* desiredConfig differs from currentConfig */
	bool			failing;	/* state Degraded or Unreconcilable */
	bool			may_start;	/* its pool has another config and room */
	bool			due;		/* the step has lasted long enough */
	size_t			pods;		/* that a drain must evict, or that are on their way out */
};

enum openshift_verb { ROLLOUT_STAY, ROLLOUT_EVICT, ROLLOUT_ADVANCE };

struct openshift_move {
	enum openshift_verb	verb;
	enum openshift_step	to;		/* of ROLLOUT_ADVANCE */
	const char		*why;		/* of what stays: "" for a node that has nothing to do */
};
struct openshift_move openshift_next(const struct openshift_node_view *v);

/* How many more nodes of a pool may begin, as the MCO counts. */
struct openshift_pace {
	int64_t		 max_unavailable;	/* 0 counts as 1 */
	bool		 percent;		/* of the nodes, rounded down */
	size_t		 nodes, unavailable;
	size_t		 failing;		/* on the very config they should get: each holds a place */
};
size_t openshift_room(const struct openshift_pace *p);

#endif
