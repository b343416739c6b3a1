/*
 * sim/kube/patch/sim_apply.h - who owns which field: metadata.managedFields, and server-side apply
 * on top of it.
 *
 * A write by PUT, POST or PATCH makes its manager own (operation Update) what it changed and takes
 * that from every other manager. An apply makes its manager own exactly what it sent (operation Apply),
 * removes what it alone owned before, and is refused where it would change what
 * another manager owns, unless it is forced.
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

/* NULL, or the Status 500 "failed to create typed patch object ...". */
json_t *sim_apply_check(const struct sim_write_params *a, const json_t *config);

#define LAST_APPLIED	"kubectl.kubernetes.io/last-applied-configuration"

/*
 * By manager, the fields of others that would change. kubectl may take what it once applied from
 * the client side.
 */
json_t *sim_conflict_find(const struct sim_write_params *a, const json_t *managers, const json_t *me,
    const json_t *changed, const json_t *live);
json_t *sim_conflict_status(const json_t *conflicts, const json_t *managers);

/* The first apply to an object that was not tracked: what is there belongs to those before. */
void sim_apply_track_first(const struct sim_write_params *a, json_t *managers, const json_t *live);
/* The object before it is created, as Go has it: a built-in kind starts with its zero values. */
json_t *sim_apply_initial_object(const struct sim_write_params *a);
/* Sets of fields: what no manager owns; what this endpoint does not change, whatever was sent. */
json_t *sim_apply_unowned_fields(void);
json_t *sim_apply_reset_fields(const struct sim_write_params *a);

#endif
