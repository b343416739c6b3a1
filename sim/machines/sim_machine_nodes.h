/* sim/machines/sim_machine_nodes.h - machines whose kubelets join the simulated cluster. */
#ifndef MUSTER_SIM_MACHINE_NODES_H
#define MUSTER_SIM_MACHINE_NODES_H

#include "sim/sim.h"
#include "sim_machines.h"

struct sim_machine_nodes;

/*
 * Machines that live by the clock of the simulator (--speed). Each becomes a Node when it joins; its
 * Node is not ready while it is deleted or dead, and goes with it, as by a cloud controller.
 */
struct sim_machine_nodes *sim_machine_nodes_new(struct simulator *s, const int64_t lasts_ms[MACHINE_STATES]);
void sim_machine_nodes_free(struct sim_machine_nodes **np);
struct sim_machines *sim_machine_nodes_machines(const struct sim_machine_nodes *n);

#endif
