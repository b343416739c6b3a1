/*
 * actors/insight/plan.h - what to do about one insight, and what the answer to it means. Pure.
 *
 * Laws
 * - Level-triggered: the same scene gives the same plan, whoever asks and how often.
 * - When the stored status is as it should be, nothing is written. A status that somebody else has changed
 *   differs, so it is repaired; conditions that are not ours differ, too.
 * - A condition keeps its stored time while its status stays. One that turned, is new, or has no time that
 *   can be read gets the time of its cause (since), else now. So times survive every restart.
 * - Nothing is deleted but on two complete and current pictures: that of node-state and that of the cluster.
 */
#ifndef MUSTER_INSIGHT_PLAN_H
#define MUSTER_INSIGHT_PLAN_H

#include "kinds.h"
#include "kube/time.h"
#include "sorts.h"
#include "workqueue.h"
#include "writes.h"

enum insight_verb {
	INSIGHT_NOTHING,
	INSIGHT_CREATE,	/* empty: the status follows */
	INSIGHT_STATUS,
	INSIGHT_DELETE,
	INSIGHT_WAIT,
	INSIGHT_VERB_MAX
};

enum {
	INSIGHT_LOOK_MS	= 1000,		/* look again, unless the mirror moves before */
	INSIGHT_HOLD_MS	= 60 * 1000,	/* after what the cluster does not allow */
};

/* Everything that counts. Texts are views. */
struct insight_scene {
	bool			 on;		/* the setting of this sort */
	bool			 synced;	/* both pictures were complete once */
	bool			 fresh;		/* ... and are current now (actor_fresh) */
	bool			 leading;
	bool			 refused;	/* by the server, and nothing has changed since */
	int64_t			 hold_ms;	/* > 0: so long nothing of this sort is tried (RBAC) */
	enum kind_state		 kind;		/* does the cluster have the CRD */
	const struct status	*state;		/* NULL: no node or pool of that name, or in no pool */
	const struct status	*stored;	/* NULL: no insight */
	bool			 deleting;	/* stored, and on its way out */
	int64_t			 now_us;	/* wall clock */
};

/* Filled in place and not copied: times may point into it. */
struct insight_plan {
	enum insight_verb	 verb;
	const char		*why;
	const char		*field;		/* the first that differs from what is stored, or "" */
	int64_t			 after_ms;	/* WAIT: look again then; 0: what we wait for wakes us */
	struct condition	 conditions[CONDITIONS_MAX];	/* with their times, for the status */
	uint32_t		 nconditions;
	char			 now[TIME_TEXT_MAX];
};

void insight_plan(const struct insight_scene *s, struct insight_plan *out);
const char *insight_verb_name(enum insight_verb v);

/* What an outcome means for the key. */
struct insight_next {
	enum work_result	 result;
	int64_t			 after_ms;
	bool			 read_live;	/* first: OP_GET, which brings the mirror up to date */
	bool			 refused;	/* until something changes */
	bool			 stand_by;	/* until we lead */
	bool			 hold;		/* the whole sort, INSIGHT_HOLD_MS */
};

struct insight_next insight_next(enum op op, enum outcome o, int64_t retry_after_ms);

#endif
