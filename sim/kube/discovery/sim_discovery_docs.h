/*
 * sim/kube/discovery/sim_discovery_docs.h - the documents of discovery, from the resources that are
 * served.
 */
#ifndef MUSTER_SIM_DISCOVERY_DOCS_H
#define MUSTER_SIM_DISCOVERY_DOCS_H

#include <jansson.h>
#include <stdbool.h>

#include "sim_resource.h"

/* `all` is ended by NULL. New references; NULL: there is no such group or version. */
json_t *sim_discovery_group_list(const struct sim_resource *const *all);
json_t *sim_discovery_group(const struct sim_resource *const *all, const char *group);
json_t *sim_discovery_resource_list(const struct sim_resource *const *all, const char *group,
    const char *version);
/* The core group, or all others. */
json_t *sim_discovery_aggregated(const struct sim_resource *const *all, bool core, const char *version);

#endif
