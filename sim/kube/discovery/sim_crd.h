/*
 * sim/kube/discovery/sim_crd.h - a CustomResourceDefinition read: the resources it brings, and the status its
 * controllers give it.
 */
#ifndef MUSTER_SIM_CRD_H
#define MUSTER_SIM_CRD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim_resource.h"

struct sim_store;

enum { CRD_VERSIONS_MAX = 16 };

/* One resource per version, served or not; how many. The storage is made in store. */
size_t sim_crd_resources(const json_t *crd, struct sim_store *store,
    struct sim_resource *made[CRD_VERSIONS_MAX]);
void sim_crd_resource_free(struct sim_resource **rp);

/* The CRD with the status of one whose names are accepted; NULL: it has that already. A new reference. */
json_t *sim_crd_established(const json_t *crd, const char *now);

#endif
