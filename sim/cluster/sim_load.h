/* sim/cluster/sim_load.h - what is there at the start: namespaces, and the CRDs of files. */
#ifndef MUSTER_SIM_LOAD_H
#define MUSTER_SIM_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/sim.h"

void sim_load_namespaces(struct simulator *s);
/*
 * A file or a folder of .yaml, .yml and .json files; other kinds than CRDs are passed over. False
 * with a text in err.
 */
bool sim_load_crds(struct simulator *s, const char *path, char *err, size_t size);

#endif
