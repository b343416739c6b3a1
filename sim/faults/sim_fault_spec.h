/* sim/faults/sim_fault_spec.h - a fault as the control endpoint reads and shows it. */
#ifndef MUSTER_SIM_FAULT_SPEC_H
#define MUSTER_SIM_FAULT_SPEC_H

#include "sim_faults.h"

/* NULL with a text in err. */
struct sim_fault *sim_fault_from_json(const json_t *spec, char *err, size_t size);
json_t *sim_fault_to_json(const struct sim_fault *x);

#endif
