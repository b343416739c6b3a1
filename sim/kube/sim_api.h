/* sim/kube/sim_api.h - the Kubernetes API: from a request to the function that answers it. */
#ifndef MUSTER_SIM_API_H
#define MUSTER_SIM_API_H

#include "sim/http/sim_request.h"

struct evhttp_request;

/* arg is the struct simulator. A sim_server_handler. */
void sim_api_serve(struct evhttp_request *req, void *arg);

/* "NAMESPACE/NAME" or "NAME" of what the request is about, for the store. */
const char *sim_request_key(const struct sim_request *c, char *buf, size_t size);
enum { SIM_KEY_MAX = 1024 };

#endif
