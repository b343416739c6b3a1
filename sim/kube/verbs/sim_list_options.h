/* sim/kube/verbs/sim_list_options.h - which parameters of LIST and WATCH may stand together. */
#ifndef MUSTER_SIM_LIST_OPTIONS_H
#define MUSTER_SIM_LIST_OPTIONS_H

#include "sim/http/sim_request.h"

/* False: the call is answered (422, ListOptions is invalid). */
bool sim_list_options_valid(struct sim_request *c, bool watch);

#endif
