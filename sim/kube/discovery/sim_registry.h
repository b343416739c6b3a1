/*
 * sim/kube/discovery/sim_registry.h - the resources that are served now: the built-in ones, and
 * those of the CRDs that are there.
 *
 * A resource that is no longer served stays in memory until the end: an open stream may still point
 * to it. There are as many of them as there were changes of CRDs.
 */
#ifndef MUSTER_SIM_REGISTRY_H
#define MUSTER_SIM_REGISTRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim_resource.h"

struct sim_registry;
struct sim_store;

struct sim_registry *sim_registry_new(struct sim_store *store);
void sim_registry_free(struct sim_registry **rp);

/* NULL: not served. */
const struct sim_resource *sim_registry_find(const struct sim_registry *g, const char *group,
    const char *version, const char *plural);
/* Any version of that kind; NULL: none. */
const struct sim_resource *sim_registry_kind(const struct sim_registry *g, const char *group,
    const char *kind);
/* What is served, built-in first, CRDs in order of their appearance; ended by NULL. */
const struct sim_resource *const *sim_registry_all(const struct sim_registry *g);

/* A CRD (checked by sim_semantics_crd_refusal) serves its versions, in place of those it served before. */
void sim_registry_add_crd(struct sim_registry *g, const json_t *crd);
/* Its storage, for whoever must empty it; NULL: there was no such CRD. */
struct sim_storage *sim_registry_remove_crd(struct sim_registry *g, const char *name);

#endif
