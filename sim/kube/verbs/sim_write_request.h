/* sim/kube/verbs/sim_write_request.h - what every writing verb does first: the request as semantics wants it. */
#ifndef MUSTER_SIM_WRITE_REQUEST_H
#define MUSTER_SIM_WRITE_REQUEST_H

#include "sim/kube/sim_api.h"
#include "sim/http/sim_request.h"
#include "sim/kube/semantics/sim_semantics.h"

struct write_ask {
	struct ask	ask;
	char		now[SIM_TIME_MAX], uid[SIM_UID_MAX], suffix[SIM_SUFFIX_MAX];
};

void write_ask_open(struct write_ask *w, struct call *c);
void write_ask_close(struct write_ask *w);
/* The warnings that semantics left, as headers. */
void write_warn(struct call *c, const struct write_ask *w);

/* The body as a JSON object. NULL: the call is answered (400, 415). */
json_t *write_body(struct call *c);

struct write_key {
	char	text[API_KEY_MAX];
};
struct write_key write_key(const struct call *c, const json_t *object);

#endif
