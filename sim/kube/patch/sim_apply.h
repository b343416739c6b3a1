/*
 * sim/kube/patch/sim_apply.h - who owns which field: metadata.managedFields, and server-side apply
 * on top of it.
 *
 * A write by PUT, POST or PATCH makes its manager own (operation Update) what it changed and takes
 * that from everybody else. An apply makes its manager own exactly what it sent (operation Apply),
 * takes away what it owned before and nobody else does, and is refused where it would change what
 * somebody else owns, unless it is forced.
 */
#ifndef MUSTER_SIM_APPLY_H
#define MUSTER_SIM_APPLY_H

#include <jansson.h>

#include "sim/kube/semantics/sim_semantics.h"

/* Sets object's managedFields after a write that is no apply; old NULL: it is being created. */
void sim_apply_track(const struct sim_write_params *a, json_t *object, const json_t *old);

/*
 * The object after an apply of `config` (old NULL: created), managedFields set; or NULL and a
 * Status (409 conflict).
 */
json_t *sim_apply_config(const struct sim_write_params *a, const json_t *old, const json_t *config,
    json_t **status);

/* Where only times of managedFields differ from old's, old's are taken: the write changed nothing. */
void sim_apply_keep_times(json_t *object, const json_t *old);

#endif
