/*
 * sim/cluster/sim_controllers.h - what a cluster does by itself behind its apiserver: CRDs become resources,
 * objects without an owner go, a namespace takes its contents with it, a kubelet ends Pods.
 *
 * They are told of changes and act once the loop turns, never inside the write that caused it.
 */
#ifndef MUSTER_SIM_CONTROLLERS_H
#define MUSTER_SIM_CONTROLLERS_H

#include "sim/kube/store/sim_history.h"
#include "sim/sim.h"

struct controllers;

struct controllers *controllers_new(struct sim *s);
void controllers_free(struct controllers **cp);
void controllers_note(struct controllers *k, const struct change *c);
/* Acts on what was noted, now: for the start, when no loop turns yet. */
void controllers_settle(struct controllers *k);

#endif
