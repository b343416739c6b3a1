/* tests/dst/kube_wire.h - shared by the two files of the network: kube_wire.c and kube_stream.c. */
#ifndef MUSTER_KUBE_WIRE_H
#define MUSTER_KUBE_WIRE_H

#include "world_kube.h"

struct kube_call *wire_call(struct kube_instance *in, enum kube_ask ask);
void wire_hear(struct kube_call *c, int64_t at_ms, sim_fn *fn, uint64_t n);
int64_t wire_lag(struct kube_world *w);
void wire_turn_down(struct kube_call *c, int status, const char *reason, bool too_large);
bool wire_bad_day(struct kube_call *c);
void wire_lie(struct kube_call *c);

sim_fn stream_arrives;

#endif
