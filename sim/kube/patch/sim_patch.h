/*
 * sim/kube/patch/sim_patch.h - the two patches that need no schema: JSON merge patch (RFC 7396) and
 * JSON patch (RFC 6902).
 *
 * Both follow the library the real apiserver uses where it leaves the RFC: a merge patch takes null
 * members out of objects in a list that it brings new; "replace" of a missing member of an object
 * adds it; a negative index counts from the end.
 */
#ifndef MUSTER_SIM_PATCH_H
#define MUSTER_SIM_PATCH_H

#include <jansson.h>

/* New reference; neither argument is changed. */
json_t *sim_patch_merge(const json_t *target, const json_t *patch);

/* New reference, or NULL where an operation does not apply: nothing of the patch is done then. */
json_t *sim_patch_operations(const json_t *target, const json_t *operations);

#endif
