/* sim/kube/patch/sim_apply_conflict.h - what an apply would take from others. */
#ifndef MUSTER_SIM_APPLY_CONFLICT_H
#define MUSTER_SIM_APPLY_CONFLICT_H

#include <jansson.h>

#include "sim/kube/semantics/sim_semantics.h"

#define LAST_APPLIED	"kubectl.kubernetes.io/last-applied-configuration"

/*
 * By manager, the fields of others that would change. kubectl may take what it once applied from
 * the client side.
 */
json_t *sim_conflict_find(const struct sim_write_params *a, const json_t *managers, const char *me,
    const json_t *changed,
    const json_t *live);
json_t *sim_conflict_status(const json_t *conflicts, const json_t *managers);

#endif
