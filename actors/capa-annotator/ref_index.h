/*
 * actors/capa-annotator/ref_index.h - which MachineDeployments refer to an object, a type or a region.
 *
 * An owner has at most one target of each relation. So what changes wakes exactly those that name it, and
 * what nobody names any more is noticed. No clock, no I/O.
 */
#ifndef MUSTER_REF_INDEX_H
#define MUSTER_REF_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "msg.h"

enum ref_relation { REF_TEMPLATE, REF_CLUSTER, REF_REGION_OBJECT, REF_TYPE, REF_REGION, REF_RELATION_MAX };

struct ref_index;

/* The last owner of that target is gone. Not the place to change the index. */
typedef void ref_unused(void *arg, const char *target);
typedef void ref_owner(void *arg, const char *owner, size_t len);

struct ref_index *ref_index_new(ref_unused *unused, void *arg);
void ref_index_free(struct ref_index **xp);
/* The owner's target of that relation is this from now on; "": none. */
void ref_index_set(struct ref_index *x, struct wire_str owner, enum ref_relation r, struct wire_str target);
void ref_index_drop(struct ref_index *x, struct wire_str owner);
bool ref_index_used(const struct ref_index *x, struct wire_str target);
/* Every owner of that target, whatever the relation. Not the place to change the index. */
void ref_index_each(const struct ref_index *x, struct wire_str target, ref_owner *fn, void *arg);

#endif
