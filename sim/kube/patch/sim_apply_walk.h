/*
 * sim/kube/patch/sim_apply_walk.h - values seen through their schema, as server-side apply sees
 * them: which fields a value has, what differs between two, what two make together, what is left
 * without some fields.
 *
 * A list is one field, or a set of its values, or a map by its keys; an object is one field or has
 * its members as fields. Without a schema, objects have members and lists are one
 * field.
 */
#ifndef MUSTER_SIM_APPLY_WALK_H
#define MUSTER_SIM_APPLY_WALK_H

#include <jansson.h>

#include "sim_fieldset.h"

struct sim_comparison {
	json_t	*removed, *modified, *added;	/* sets; no field is in two of them */
};

/* All of them take whole objects. The results are new references; a set may be NULL. */
json_t *sim_walk_fields(const json_t *schema, const json_t *object);
struct sim_comparison sim_walk_compare(const json_t *schema, const json_t *before, const json_t *after);
void sim_comparison_free(struct sim_comparison *c);
void sim_comparison_leave_out(struct sim_comparison *c, const json_t *set);
json_t *sim_walk_merge(const json_t *schema, const json_t *live, const json_t *config);
json_t *sim_walk_remove(const json_t *schema, const json_t *object, const json_t *set);
/* The set, and every declared field that has something of the set below it. */
json_t *sim_walk_named(const json_t *schema, const json_t *set);

/* The name of an item of a set or map in a set of fields. Free it. NULL: it has none of the keys. */
char *sim_walk_item_name(const json_t *schema, const json_t *item);

#endif
