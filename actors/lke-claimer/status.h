/*
 * actors/lke-claimer/status.h - the conditions of a NodeClaim, as Karpenter's own controllers write them
 * (contract C6, C8, C10). Pure.
 *
 * - Launched is True or Unknown, never False: everything but Unknown is final for Karpenter.
 * - Ready is True when Launched, Registered and Initialized are. Each condition has the observedGeneration:
 *   without it Ready would change back and forth between two writers.
 * - What differs is written before the step of the plan is taken; CLAIM_LAUNCH is that write itself.
 * - The list is written whole: conditions of others are kept as they are, in their order, and the write has
 *   the resourceVersion that they were read with.
 */
#ifndef MUSTER_LKE_STATUS_H
#define MUSTER_LKE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "claim.h"
#include "json.h"
#include "msg.h"

enum { LKE_CONDITIONS_MAX = 24, LKE_MESSAGE_SIZE = 512 };

/* ID, type */
#define LKE_CONDITIONS(C)					\
	C(LAUNCHED,             "Launched")			\
	C(REGISTERED,           "Registered")			\
	C(INITIALIZED,          "Initialized")			\
	C(READY,                "Ready")			\
	C(DRAINED,              "Drained")			\
	C(VOLUMES_DETACHED,     "VolumesDetached")		\
	C(INSTANCE_TERMINATING, "InstanceTerminating")

enum lke_condition_id {
#define LKE_CONDITION_ENUM(ID, type) LKE_CONDITION_##ID,
	LKE_CONDITIONS(LKE_CONDITION_ENUM)
#undef LKE_CONDITION_ENUM
	LKE_CONDITION_MAX
};

struct lke_condition {
	struct wire_str	type, status, reason, message, time;
	int64_t		generation;	/* observedGeneration; 0: it has none */
};

struct lke_status_input {
	const struct lke_claim_input	*claim;
	const struct lke_claim_plan	*plan;
	const char			*message;	/* of Launched, Unknown; NULL: the plan's */
	int64_t				 generation;
	struct wire_str			 now;		/* for what changes */
	const struct lke_condition	*stored;
	uint32_t			 nstored;
};

/* Filled in place and not copied: views point into it. */
struct lke_status {
	struct lke_condition	conditions[LKE_CONDITIONS_MAX];
	uint32_t		n;
	bool			differs;	/* from what is stored: it has to be written */
	bool			full;		/* ours do not fit: nothing is written */
	char			ready[LKE_MESSAGE_SIZE];
};

void lke_status(const struct lke_status_input *in, struct lke_status *out);
/* One condition among those that are there: `differs` if that changes something. Its time is for a change. */
void lke_condition_set(struct lke_status *out, const struct lke_condition *wanted);
/* Member "conditions" of the open object. */
void lke_status_put(struct json *j, const struct lke_status *s);

/* Capacity or allocatable: a member of that name of the open object. least: not less of any; NULL: none. */
void lke_resources_put(struct json *j, const char *name, const struct lke_resources *r,
    const struct lke_resources *least);

#endif
