/*
 * sim/kube/verbs/sim_list.h - LIST: which state, which objects, which page; then their bytes, as fast as the
 * client takes them.
 */
#ifndef MUSTER_SIM_LIST_H
#define MUSTER_SIM_LIST_H

#include "sim/http/sim_request.h"

void sim_list_serve(struct sim_request *c);

/*
 * Is that resourceVersion still to come? Then the call is answered (504, with the cause that
 * clients know).
 */
bool sim_list_too_large(struct sim_request *c, uint64_t rv);
/* "" and "0" are 0. False: the call is answered. */
bool sim_list_read_rv(struct sim_request *c, const char *text, bool exact, uint64_t *rv);

#endif
