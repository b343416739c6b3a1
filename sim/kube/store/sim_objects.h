/* sim/kube/store/sim_objects.h - what the simulator itself does to objects, by the same rules as its clients. */
#ifndef MUSTER_SIM_OBJECTS_H
#define MUSTER_SIM_OBJECTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "sim_blob.h"
#include "sim/sim.h"

struct storage;

/* As a POST would (CRDs are checked too). NULL with a text in err. Borrowed. */
struct blob *object_create(
    struct sim *s, const struct resource *r, const json_t *object, char *err, size_t size);
/* As a DELETE would: finalizers hold it. options may be NULL. */
void object_delete(struct sim *s, struct storage *st, struct blob *b, const json_t *options);

#endif
