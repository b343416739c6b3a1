/*
 * actors/node-state/pool_tally.h - the totals of a pool's nodes, and the state of the pool
 * that follows: the content of a MachineConfigPoolProgressInsight. Pure.
 *
 * A node is added when a pool gets it and removed with the very same facts: so a change of one node
 * costs one node.
 */
#ifndef MUSTER_NODE_POOL_TALLY_H
#define MUSTER_NODE_POOL_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "assess.h"
#include "conditions.h"

/* The share of one node, kept by the caller: pool_tally_remove needs the same values. */
struct tally_node {
	enum assess_phase	phase;
	bool			degraded, available, outdated;
};

struct pool_tally {			/* all zero: an empty pool */
	uint32_t	total, degraded, available, outdated;
	uint32_t	phases[PHASE_MAX];
};

/* Progressing leaves Draining out; Excluded are the Paused ones. */
#define POOL_SUMMARIES(S)							\
	S(TOTAL, "Total") S(AVAILABLE, "Available") S(PROGRESSING, "Progressing")	\
	S(OUTDATED, "Outdated") S(DRAINING, "Draining") S(EXCLUDED, "Excluded") S(DEGRADED, "Degraded")

enum pool_summary {
#define POOL_SUMMARY_ENUM(ID, name) SUMMARY_##ID,
	POOL_SUMMARIES(POOL_SUMMARY_ENUM)
#undef POOL_SUMMARY_ENUM
	SUMMARY_MAX
};

/* The first that is true, in this order. An empty pool is Pending. */
#define POOL_ASSESSMENTS(A)							\
	A(DEGRADED, "Degraded") A(EXCLUDED, "Excluded") A(PROGRESSING, "Progressing")	\
	A(COMPLETED, "Completed") A(PENDING, "Pending")

enum pool_assessment {
#define POOL_ASSESSMENT_ENUM(ID, name) POOL_IS_##ID,
	POOL_ASSESSMENTS(POOL_ASSESSMENT_ENUM)
#undef POOL_ASSESSMENT_ENUM
	POOL_ASSESSMENT_MAX
};

enum { POOL_UPDATING, POOL_HEALTHY, POOL_CONDITION_MAX };

struct pool_summary_row {
	const char	*type;
	uint32_t	 count;
	char		 text[12];	/* the count, for the rows of POOL_STATE */
};

struct pool_report {
	enum pool_assessment	assessment;
	const char		*name;		/* of the assessment */
	int64_t			 percent;	/* completed of all, cut; 0 of an empty pool */
	struct pool_summary_row	 summaries[SUMMARY_MAX];
	/*
	 * Updating follows the assessment (Updated, Pending, Paused, Progressing). A Degraded pool
	 * is Progressing while any of its nodes drains, updates or reboots, else Pending. Healthy
	 * is False only for NodesDegraded.
	 */
	struct state_condition	 conditions[POOL_CONDITION_MAX];
};

void pool_tally_add(struct pool_tally *t, const struct tally_node *n);
void pool_tally_remove(struct pool_tally *t, const struct tally_node *n);
struct tally_node tally_node_of(const struct assess *a);
void pool_tally_report(const struct pool_tally *t, bool paused, struct pool_report *out);

#endif
