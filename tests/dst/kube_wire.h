/* tests/dst/kube_wire.h - shared by the two files of the network: kube_wire.c and kube_stream.c. */
#ifndef MUSTER_KUBE_WIRE_H
#define MUSTER_KUBE_WIRE_H

#include "world_kube.h"

struct kube_call *wire_call(struct kube_instance *in, enum kube_call_kind ask);
void wire_at_client(struct kube_call *c, int64_t at_ms, sim_fn *fn, uint64_t n);
int64_t wire_lag(struct kube_world *w);
void wire_reject(struct kube_call *c, int status, const char *reason, bool too_large);
bool wire_server_fault(struct kube_call *c);
void wire_empty_list(struct kube_call *c);

sim_fn stream_arrives;

#endif
