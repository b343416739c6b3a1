/*
 * actors/node-state/conditions.h - an assessment as the texts of a NodeProgressInsight. Pure.
 *
 * Everything is within the limits of the CRD: message at most 100 characters, a condition's message at most
 * 32,768 (code points, cut on a boundary), version semver-shaped and at most 64 or left out.
 */
#ifndef MUSTER_NODE_CONDITIONS_H
#define MUSTER_NODE_CONDITIONS_H

#include "assess.h"

enum {
	CONDITIONS_MESSAGE_MAX	= 100,		/* characters, not bytes */
	CONDITIONS_TEXT_MAX	= 32768,
	CONDITIONS_VERSION_MAX	= 64,
	CONDITIONS_CAUSES_MAX	= 160,		/* bytes: every cause joined */
};

/* In the order in which they are written. */
enum { CONDITION_UPDATING, CONDITION_AVAILABLE, CONDITION_DEGRADED, CONDITION_MAX };

struct state_condition {
	const char	*type, *status, *reason;	/* fixed texts */
	struct wire_str	 message;
	struct wire_str	 since;		/* RFC 3339; only with a cause (Available=False), else "" */
};

/*
 * Views into the input, into fixed texts, and into `causes` of this very struct: never copy it,
 * never move it.
 */
struct conditions {
	struct state_condition list[CONDITION_MAX];
	struct wire_str	 scope;		/* "ControlPlane" (pool master), "WorkerPool" */
	struct wire_str	 version;	/* "": leave it out */
	struct wire_str	 phase;
	struct wire_str	 estimate;	/* "0s", "10m0s", "": leave it out */
	struct wire_str	 message;
	char		 causes[CONDITIONS_CAUSES_MAX];
};

/* Fills all of out. in and its texts must outlive it. */
void conditions_from(const struct assess_in *in, const struct assess *a, struct conditions *out);

const char *conditions_scope(struct wire_str pool);
/* text, or its first `points` characters. A byte that is no UTF-8 counts as one. */
struct wire_str conditions_cut(struct wire_str text, uint32_t points);
bool conditions_is_semver(struct wire_str text);

#endif
