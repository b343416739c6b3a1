/*
 * sim/kube/store/sim_objects.h - what the simulator itself does to objects, by the same rules as
 * its clients.
 */
#ifndef MUSTER_SIM_OBJECTS_H
#define MUSTER_SIM_OBJECTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim/sim.h"
#include "sim_blob.h"

struct sim_storage;

/* As a POST would (CRDs are checked too). NULL with a text in err. Borrowed. */
struct sim_blob *sim_object_create(
    struct simulator *s, const struct sim_resource *r, const json_t *object, char *err, size_t size);
/* As a DELETE would: finalizers hold it. at_once: without a grace period. */
void sim_object_delete(struct simulator *s, struct sim_storage *st, struct sim_blob *b, bool at_once);

#endif
