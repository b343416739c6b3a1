/*
 * actors/insight/insight.h - the parts of the actor.
 *
 *	main.c		 its tables; reads both mirrors for a plan, and fills in the write that follows
 *	plan.c		 decides (pure)
 *	insight_kinds.c	 reads and writes the two kinds of insight
 *
 * The loop is actors/reconcile.
 */
#ifndef MUSTER_INSIGHT_INSIGHT_H
#define MUSTER_INSIGHT_INSIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "actors/reconcile/bodies.h"
#include "actors/reconcile/reconcile.h"
#include "kube/time.h"

/* ---- The status of an insight: one table for comparing, cutting and writing (plan.c) ---- */

enum insight_kind { INSIGHT_NODES, INSIGHT_POOLS, INSIGHT_KIND_MAX };

/*
 * Every field of a status except its lists: F(ID, the object that contains it or "", name, form,
 * maximum of code points or 0, kinds that have it).
 */
#define STATUS_FIELDS(F)						\
	F(NAME,          "",             "name",                ALWAYS, 0,   OF_BOTH)	\
	F(SCOPE,         "",             "scopeType",           ALWAYS, 0,   OF_BOTH)	\
	F(POOL_GROUP,    "poolResource", "group",               ALWAYS, 0,   OF_NODES)	\
	F(POOL_RESOURCE, "poolResource", "resource",            ALWAYS, 0,   OF_NODES)	\
	F(POOL,          "poolResource", "name",                ALWAYS, 0,   OF_NODES)	\
	F(VERSION,       "",             "version",             IF_ANY, 0,   OF_NODES)	\
	F(ESTIMATE,      "",             "estimatedToComplete", IF_ANY, 0,   OF_NODES)	\
	F(MESSAGE,       "",             "message",             ALWAYS, 100, OF_NODES)	\
	F(ASSESSMENT,    "",             "assessment",          ALWAYS, 0,   OF_POOLS)	\
	F(PERCENT,       "",             "completionPercent",   NUMBER, 0,   OF_POOLS)

enum status_field {
#define FIELD_ENUM(ID, ...) FIELD_##ID,
	STATUS_FIELDS(FIELD_ENUM)
#undef FIELD_ENUM
	FIELD_MAX
};
enum status_form { ALWAYS, IF_ANY, NUMBER };
enum { OF_NODES = 1 << INSIGHT_NODES, OF_POOLS = 1 << INSIGHT_POOLS, OF_BOTH = OF_NODES | OF_POOLS };

struct status_field_row {
	const char		*inside, *name;
	enum status_form	 form;
	uint32_t		 limit;
	unsigned		 kinds;		/* mask of OF_ */
};
extern const struct status_field_row status_fields[FIELD_MAX];

enum {
	/* More than the CRDs allow, so that an overlong foreign list never equals ours. */
	CONDITIONS_MAX	  = 8,
	SUMMARIES_MAX	  = 20,
	CONDITION_MESSAGE = 32768,	/* code points */
};

struct insight_summary {
	struct wire_str	type, count;	/* count in decimal, "0" rather than "" */
};
/* Texts are views; PERCENT's into the struct itself, so it is filled in place and not copied. */
struct insight_status {
	struct wire_str		 fields[FIELD_MAX];	/* "" for those that the kind does not have */
	struct insight_summary	 summaries[SUMMARIES_MAX];
	struct status_condition	 conditions[CONDITIONS_MAX];
	uint32_t		 nsummaries, nconditions;
	char			 percent[24];
};

/* ---- The two kinds (insight_kinds.c). Never: code that depends on the kind other than by its row ---- */

struct insight_kind_row {
	const char	*of;		/* the resource in keys of node-state and of the work queue */
	const char	*kind;
	enum msg	 state;
	/* name: of the object. The body is that of the state, or of the insight. */
	void		(*read_state)(struct insight_status *out, struct wire_str name,
			    const union msg_body *body);
	void		(*read_insight)(struct insight_status *out, const union msg_body *body);
	struct wire_str	(*deleted)(const union msg_body *body);	/* deletionTimestamp, or "" */
};
extern const struct insight_kind_row insight_kinds[INSIGHT_KIND_MAX];
extern const struct reconcile_kind insight_objects[INSIGHT_KIND_MAX];	/* what is written */

enum insight_kind insight_kind_by_state(enum msg m);	/* INSIGHT_KIND_MAX: none */
/* The kind and the name of a key such as "nodes/<name>"; INSIGHT_KIND_MAX: not such a key. */
enum insight_kind insight_kind_of_key(const char *key, size_t len, struct wire_str *name);

struct insight_plan;
/*
 * JSON bodies. api: "group/version" as the cluster has it. They return the length, or 0 when it
 * does not fit. The server drops a status in a POST, so the body of a create has none.
 */
size_t status_create_body(char *buf, size_t size, enum insight_kind kind, const char *api,
    struct wire_str name);
size_t status_update_body(char *buf, size_t size, enum insight_kind kind, const char *api,
    const struct insight_status *desired, const struct insight_plan *p);
/* The members of a status alone, into an open object. */
void status_put(struct json *j, enum insight_kind kind, const struct insight_status *s,
    const struct status_condition *conditions, uint32_t nconditions);

/*
 * ---- The plan (plan.c, pure) ----
 *
 * - Level-triggered: the same input gives the same plan.
 * - While the stored status equals the desired one, nothing is written. A status that another client
 *   has changed differs, so it is written; so do conditions of other types.
 * - Condition times: actors/reconcile/bodies.h.
 */
enum insight_verb {
	INSIGHT_NOTHING,
	INSIGHT_CREATE,	/* empty: the status follows */
	INSIGHT_STATUS,
	INSIGHT_DELETE,
	INSIGHT_WAIT,
	INSIGHT_VERB_MAX
};

/* All inputs of the plan. Texts are views. */
struct insight_input {
	const struct insight_status	*desired;	/* NULL: no such object, or in no pool */
	const struct insight_status	*stored;	/* NULL: no insight */
	bool				 deleting;	/* stored, with a deletionTimestamp */
	int64_t				 now_us;	/* wall clock */
};

/* Filled in place and not copied: times may point into it. */
struct insight_plan {
	enum insight_verb	 verb;
	const char		*why;
	const char		*field;		/* the first that differs from the stored status, or "" */
	struct status_condition	 conditions[CONDITIONS_MAX];	/* with their times, for the status */
	uint32_t		 nconditions;
	char			 now[TIME_TEXT_MAX];
};

void insight_plan(const struct insight_input *s, struct insight_plan *out);
/* What the reconcile loop needs of it. */
void insight_step(const struct insight_plan *p, struct reconcile_step *out);
const char *insight_verb_name(enum insight_verb v);

#endif
