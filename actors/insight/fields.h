/*
 * actors/insight/fields.h - the status of an insight, field by field: one table for comparing, cutting and
 * writing, one shape for what it should be (by node-state) and what is stored.
 */
#ifndef MUSTER_INSIGHT_FIELDS_H
#define MUSTER_INSIGHT_FIELDS_H

#include <stdint.h>

#include "msg.h"

enum sort { SORT_NODES, SORT_POOLS, SORT_MAX };

/*
 * Every field of a status but its lists: F(ID, the object it stands in or "", name, form, code points it may
 * have or 0, who has it).
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

enum field {
#define FIELD_ENUM(ID, ...) FIELD_##ID,
	STATUS_FIELDS(FIELD_ENUM)
#undef FIELD_ENUM
	FIELD_MAX
};
enum field_form { ALWAYS, IF_ANY, NUMBER };
enum { OF_NODES = 1 << SORT_NODES, OF_POOLS = 1 << SORT_POOLS, OF_BOTH = OF_NODES | OF_POOLS };

struct field_row {
	const char	*inside, *name;
	enum field_form	 form;
	uint32_t	 limit;
	unsigned	 sorts;		/* mask of OF_ */
};
extern const struct field_row field_table[FIELD_MAX];

enum {
	/* More than the CRDs allow, so that an overlong foreign list never passes for ours. */
	CONDITIONS_MAX	  = 8,
	SUMMARIES_MAX	  = 20,
	CONDITION_MESSAGE = 32768,	/* code points */
};

struct condition {
	struct wire_str	type, status, reason, message;
	struct wire_str	time;		/* stored: lastTransitionTime; by node-state: since, or "" */
};
struct summary {
	struct wire_str	type, count;	/* count in decimal, "0" rather than "" */
};
/* Texts are views; PERCENT's into the struct itself, so it is filled in place and not copied. */
struct status {
	struct wire_str	 fields[FIELD_MAX];	/* "" for those that the sort does not have */
	struct summary	 summaries[SUMMARIES_MAX];
	struct condition conditions[CONDITIONS_MAX];
	uint32_t	 nsummaries, nconditions;
	char		 percent[24];
};

/* To the limits: what is longer the server would never take, and it would be tried for ever. */
void fields_cut(struct status *s);

#endif
