/*
 * sim/cluster/sim_cluster.h - what lives behind the API: Nodes that come, beat, change and go.
 *
 * Writes to the store directly, as kubelets and operators would through the API, and only objects
 * that it made itself or that a command names.
 */
#ifndef MUSTER_SIM_CLUSTER_H
#define MUSTER_SIM_CLUSTER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/sim.h"

struct sim_cluster;

struct sim_cluster *sim_cluster_new(struct simulator *s);
void sim_cluster_free(struct sim_cluster **wp);
/* The first n Nodes. */
void sim_cluster_populate(struct sim_cluster *w, size_t n);
/* Changes a second; 0: it stands still. */
void sim_cluster_churn(struct sim_cluster *w, double per_second);
/* The OpenShift of --openshift. False with a text in err. */
bool sim_cluster_begin_openshift(struct sim_cluster *w, char *err, size_t size);
/* A Node of that name as a kubelet would register it, not stored yet. A new reference. */
json_t *sim_cluster_node(struct sim_cluster *w, const char *name);
/*
 * {"op": ..., ...}: docs/simulator.md. {"changed": how many objects, ...}, a new reference; NULL
 * with a text in err.
 */
json_t *sim_cluster_command(struct sim_cluster *w, const json_t *command, char *err, size_t size);

#endif
