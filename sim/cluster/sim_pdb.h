/* sim/cluster/sim_pdb.h - PodDisruptionBudgets: may this Pod be evicted now? */
#ifndef MUSTER_SIM_PDB_H
#define MUSTER_SIM_PDB_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/kube/store/sim_blob.h"
#include "sim/sim.h"

/* NULL: yes, and the budget (if one covers it) has been charged. Else the Status 429 or 500. */
json_t *sim_pdb_check(struct simulator *s, const struct sim_blob *pod, bool dry_run);

#endif
