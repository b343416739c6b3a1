/* sim/kube/verbs/sim_write.h - the writing verbs: what semantics decides is put into the store and answered. */
#ifndef MUSTER_SIM_WRITE_H
#define MUSTER_SIM_WRITE_H

#include "sim/http/sim_request.h"

void write_create(struct call *c);
void write_update(struct call *c);
void write_patch(struct call *c);
void write_delete(struct call *c);
void write_delete_collection(struct call *c);
void write_evict(struct call *c);		/* POST pods/NAME/eviction */

#endif
