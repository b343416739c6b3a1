/*
 * sim/kube/discovery/sim_registry.h - the resources that are served now: the built-in ones, and those of the CRDs that
 * are there.
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

struct registry;
struct depot;

struct registry *registry_new(struct depot *store);
void registry_free(struct registry **rp);

/* NULL: not served. */
const struct resource *registry_find(const struct registry *g, const char *group, const char *version,
    const char *plural);
/* Any version of that kind; NULL: none. */
const struct resource *registry_kind(const struct registry *g, const char *group, const char *kind);
/* What is served, built-in first, CRDs in order of their appearance; ended by NULL. */
const struct resource *const *registry_all(const struct registry *g);

/* A CRD (checked by semantics_crd_refusal) serves its versions, in place of those it served before. */
void registry_add_crd(struct registry *g, const json_t *crd);
/* Its storage, for whoever must empty it; NULL: there was no such CRD. */
struct storage *registry_remove_crd(struct registry *g, const char *name);

#endif
