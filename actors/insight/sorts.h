/*
 * actors/insight/sorts.h - the two sorts of insight, of nodes and of pools, as a table.
 *
 * Never: a sort told from the other by anything but a row here or in fields.h.
 */
#ifndef MUSTER_INSIGHT_SORTS_H
#define MUSTER_INSIGHT_SORTS_H

#include <stddef.h>
#include <stdint.h>

#include "fields.h"

struct sort_row {
	const char	*of;		/* resource of what it is about: keys of node-state, of the queue */
	const char	*what;		/* for people */
	const char	*setting;	/* that switches it */
	const char	*resource, *kind;
	enum msg	 state, insight;	/* messages */
	/* name: of the object. The body is one of the message above. */
	void		(*read_state)(struct status *out, struct wire_str name, const union msg_body *body);
	void		(*read_insight)(struct status *out, const union msg_body *body);
	struct wire_str	(*deleted)(const union msg_body *body);	/* deletionTimestamp, or "" */
};
extern const struct sort_row sort_table[SORT_MAX];

enum sort sort_by_state(enum msg m);	/* SORT_MAX: none */
enum sort sort_by_insight(enum msg m);
enum sort sort_by_resource(struct wire_str resource);
/* Of "nodes/<name>" and the like; SORT_MAX: not a key of ours. */
enum sort sort_of_key(const char *key, size_t len, struct wire_str *name);

#endif
