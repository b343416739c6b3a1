/* sim/kube/verbs/sim_read.h - GET of one object; the reviews that answer without keeping. */
#ifndef MUSTER_SIM_READ_H
#define MUSTER_SIM_READ_H

#include "sim/http/sim_request.h"

void read_get(struct call *c);
void read_review(struct call *c);

#endif
