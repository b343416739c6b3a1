/*
 * sim/kube/verbs/sim_verbs.h - the functions that answer requests about resources. Each takes the
 * request and answers it.
 */
#ifndef MUSTER_SIM_VERBS_H
#define MUSTER_SIM_VERBS_H

#include "sim/http/sim_request.h"

/* sim_list.c: which state, which objects, which page; then their bytes, as fast as the client reads. */
void sim_list_serve(struct sim_request *c);
/* Is that resourceVersion still to come? Then the request is answered: 504, ResourceVersionTooLarge. */
bool sim_list_too_large(struct sim_request *c, uint64_t rv);
/* "" and "0" are 0. False: the request is answered. */
bool sim_list_read_rv(struct sim_request *c, const char *text, bool exact, uint64_t *rv);
/* False: the request is answered (422, ListOptions is invalid). */
bool sim_list_options_valid(struct sim_request *c, bool watch);

/* sim_read.c: GET of one object; reviews, which store nothing. */
void sim_read_get(struct sim_request *c);
void sim_read_review(struct sim_request *c);

/* sim_write.c and sim_delete.c: what sim_semantics.h decides is stored and answered. */
void sim_write_create(struct sim_request *c);
void sim_write_update(struct sim_request *c);
void sim_write_patch(struct sim_request *c);
void sim_write_delete(struct sim_request *c);
void sim_write_delete_collection(struct sim_request *c);
void sim_write_evict(struct sim_request *c);		/* POST pods/NAME/eviction */

#endif
