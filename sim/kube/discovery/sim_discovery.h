/*
 * sim/kube/discovery/sim_discovery.h - every path that is no resource: version, health, discovery
 * of both kinds, OpenAPI.
 */
#ifndef MUSTER_SIM_DISCOVERY_H
#define MUSTER_SIM_DISCOVERY_H

#include "sim/http/sim_request.h"

void sim_discovery_serve(struct sim_request *c);

/* Newest and most stable first, as Kubernetes orders versions: v2, v1, v1beta2, v1beta1, v1alpha1, others. */
int sim_discovery_compare_versions(const char *a, const char *b);

#endif
