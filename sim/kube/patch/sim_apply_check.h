/* sim/kube/patch/sim_apply_check.h - whether what is applied can be seen through its schema at all. */
#ifndef MUSTER_SIM_APPLY_CHECK_H
#define MUSTER_SIM_APPLY_CHECK_H

#include <jansson.h>

#include "sim/kube/semantics/sim_semantics.h"

/* NULL, or the Status 500 "failed to create typed patch object ...". */
json_t *sim_apply_check(const struct sim_write_params *a, const json_t *config);

#endif
