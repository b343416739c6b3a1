/*
 * sim/capi/sim_ipam.h - the in-cluster IPAM provider of Cluster API: fulfils IPAddressClaims from the pools.
 *
 * As the original: first free address in the order of the ranges, the IPAddress has the name of its
 * claim, claims that name a missing or paused Cluster are skipped, no condition is set unless it is
 * switched on, and exhaustion shows only in the pool's status. It does nothing until the command
 * `ipam` (docs/simulator.md).
 */
#ifndef MUSTER_SIM_IPAM_H
#define MUSTER_SIM_IPAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/sim.h"

struct sim_ipam;

struct sim_ipam *sim_ipam_new(struct simulator *s);
void sim_ipam_free(struct sim_ipam **ip);
/*
 * {"op": "ipam", "enabled": true, "delay_ms": 50, "conditions": true}. A new reference; NULL with a text
 * in why, and nothing has changed.
 */
json_t *sim_ipam_command(struct sim_ipam *i, const json_t *command, char *why, size_t size);
/* Settings and counts. A new reference. */
json_t *sim_ipam_report(const struct sim_ipam *i);

#endif
