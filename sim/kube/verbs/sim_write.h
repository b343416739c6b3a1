/*
 * sim/kube/verbs/sim_write.h - the writing verbs: what semantics decides is put into the store and
 * answered.
 */
#ifndef MUSTER_SIM_WRITE_H
#define MUSTER_SIM_WRITE_H

#include "sim/http/sim_request.h"

void sim_write_create(struct sim_request *c);
void sim_write_update(struct sim_request *c);
void sim_write_patch(struct sim_request *c);
void sim_write_delete(struct sim_request *c);
void sim_write_delete_collection(struct sim_request *c);
void sim_write_evict(struct sim_request *c);		/* POST pods/NAME/eviction */

#endif
