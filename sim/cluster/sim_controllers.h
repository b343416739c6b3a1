/*
 * sim/cluster/sim_controllers.h - what a cluster does by itself behind its apiserver: CRDs become resources,
 * objects without an owner go, the contents of a namespace are deleted with it, Pods end as by a kubelet.
 *
 * Changes are queued and handled by the loop, never inside the write that caused them.
 */
#ifndef MUSTER_SIM_CONTROLLERS_H
#define MUSTER_SIM_CONTROLLERS_H

#include "sim/kube/store/sim_history.h"
#include "sim/sim.h"

struct sim_controllers;

struct sim_controllers *sim_controllers_new(struct simulator *s);
void sim_controllers_free(struct sim_controllers **cp);
void sim_controllers_enqueue(struct sim_controllers *k, const struct sim_change *c);
/* Handles what is queued, now: for the start, before the loop runs. */
void sim_controllers_run(struct sim_controllers *k);

/* sim_garbage_collector.c. What it deletes is a change like any other, and may orphan more. */
void sim_collect_orphans(struct simulator *s);

#endif
