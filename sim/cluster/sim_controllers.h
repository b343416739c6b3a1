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

struct sim_controllers;

struct sim_controllers *sim_controllers_new(struct simulator *s);
void sim_controllers_free(struct sim_controllers **cp);
void sim_controllers_enqueue(struct sim_controllers *k, const struct sim_change *c);
/* Acts on what was noted, now: for the start, when no loop turns yet. */
void sim_controllers_run(struct sim_controllers *k);

#endif
