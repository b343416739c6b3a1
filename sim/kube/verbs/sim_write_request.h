/*
 * sim/kube/verbs/sim_write_request.h - what every writing verb does first: the request as semantics
 * wants it.
 */
#ifndef MUSTER_SIM_WRITE_REQUEST_H
#define MUSTER_SIM_WRITE_REQUEST_H

#include "sim/http/sim_request.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim/kube/sim_api.h"

struct sim_write_request {
	struct sim_write_params	params;
	char			now[SIM_TIME_MAX], uid[SIM_UID_MAX], suffix[SIM_SUFFIX_MAX];
};

void sim_write_request_open(struct sim_write_request *w, struct sim_request *c);
void sim_write_request_close(struct sim_write_request *w);
/* The warnings that semantics left, as headers. */
void sim_write_warn(struct sim_request *c, const struct sim_write_request *w);

/* The body as a JSON object. NULL: the request is answered (400, 415). */
json_t *sim_write_body(struct sim_request *c);

#endif
