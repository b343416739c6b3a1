/* sim/budget.h - PodDisruptionBudgets: may this Pod be evicted now? */
#ifndef MUSTER_SIM_BUDGET_H
#define MUSTER_SIM_BUDGET_H

#include <jansson.h>
#include <stdbool.h>

#include "blob.h"
#include "sim.h"

/* NULL: yes, and the budget (if one covers it) has been charged. Else the Status 429 or 500. */
json_t *budget_refusal(struct sim *s, const struct blob *pod, bool dry_run);

#endif
