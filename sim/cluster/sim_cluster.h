/*
 * sim/cluster/sim_cluster.h - what lives behind the API: Nodes that come, beat, change and go.
 *
 * The world writes to the store directly, as kubelets and operators would through the API, and only
 * what it made itself or is told to.
 */
#ifndef MUSTER_SIM_CLUSTER_H
#define MUSTER_SIM_CLUSTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/sim.h"

struct world;

struct world *world_new(struct sim *s);
void world_free(struct world **wp);
/* The first n Nodes. */
void world_populate(struct world *w, size_t n);
/* Changes a second; 0: it stands still. */
void world_churn(struct world *w, double per_second);
/* The OpenShift of --openshift. False with a text in err. */
bool world_begin_openshift(struct world *w, char *err, size_t size);
/* A Node of that name as a kubelet would register it, not stored yet. A new reference. */
json_t *world_node(struct world *w, const char *name);
/*
 * {"op": ..., ...}: docs/simulator.md. {"changed": how many objects, ...}, a new reference; NULL
 * with a text in err.
 */
json_t *world_do(struct world *w, const json_t *order, char *err, size_t size);

#endif
