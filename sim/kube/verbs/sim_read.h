/* sim/kube/verbs/sim_read.h - GET of one object; the reviews that answer without keeping. */
#ifndef MUSTER_SIM_READ_H
#define MUSTER_SIM_READ_H

#include "sim/http/sim_request.h"

void sim_read_get(struct sim_request *c);
void sim_read_review(struct sim_request *c);

#endif
