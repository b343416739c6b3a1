/*
 * sim/kube/discovery/sim_discovery.h - every path that is no resource: version, health, discovery
 * of both kinds, OpenAPI.
 */
#ifndef MUSTER_SIM_DISCOVERY_H
#define MUSTER_SIM_DISCOVERY_H

#include <jansson.h>
#include <stdbool.h>

#include "sim/http/sim_request.h"
#include "sim_resource.h"

void sim_discovery_serve(struct sim_request *c);

/* Newest and most stable first, as Kubernetes orders versions: v2, v1, v1beta2, v1beta1, v1alpha1, others. */
int sim_discovery_compare_versions(const char *a, const char *b);

/* `all` is ended by NULL. New references; NULL: there is no such group or version. */
json_t *sim_discovery_group_list(const struct sim_resource *const *all);
json_t *sim_discovery_group(const struct sim_resource *const *all, const char *group);
json_t *sim_discovery_resource_list(const struct sim_resource *const *all, const char *group,
    const char *version);
/* The core group, or all others. */
json_t *sim_discovery_aggregated(const struct sim_resource *const *all, bool core, const char *version);

#endif
