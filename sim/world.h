/*
 * sim/world.h - what lives behind the API: Nodes that come, beat, change and go.
 *
 * The world writes to the store directly, as kubelets and operators would through the API, and only
 * what it made itself or is told to.
 */
#ifndef MUSTER_SIM_WORLD_H
#define MUSTER_SIM_WORLD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim.h"

struct world;

struct world *world_new(struct sim *s);
void world_free(struct world **wp);
/* The first n Nodes. */
void world_populate(struct world *w, size_t n);
/* Changes a second; 0: it stands still. */
void world_churn(struct world *w, double per_second);
/* {"op": ..., ...}: docs/simulator.md. How many objects it changed; -1 with a text in err. */
long world_do(struct world *w, const json_t *order, char *err, size_t size);

#endif
