/*
 * sim/openshift/openshift.h - an OpenShift behind the API: pools, configs, a version, and updates
 * that roll over the Nodes.
 *
 * Level-triggered: what happens next follows from the objects as they are now, whoever changed
 * them; beside them only the step of each node is remembered. docs/simulator.md lists the commands.
 */
#ifndef MUSTER_OPENSHIFT_H
#define MUSTER_OPENSHIFT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/sim.h"

struct openshift;

struct openshift *openshift_new(struct simulator *s);
void openshift_free(struct openshift **rp);

/* Is that the "op" of an order to it? */
bool openshift_has_command(const char *op);
/* {"changed": n, ...}; NULL with a text in err. A new reference. */
json_t *openshift_command(struct openshift *r, const json_t *command, char *err, size_t size);
/* --openshift. False with a text in err. */
bool openshift_begin(struct openshift *r, char *err, size_t size);

#endif
