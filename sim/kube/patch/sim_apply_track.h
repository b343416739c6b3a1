/* sim/kube/patch/sim_apply_track.h - the parts of tracking that an apply needs too. */
#ifndef MUSTER_SIM_APPLY_TRACK_H
#define MUSTER_SIM_APPLY_TRACK_H

#include <jansson.h>

#include "sim/kube/semantics/sim_semantics.h"

/* The first apply to an object that was not tracked: what is there belongs to those before. */
void sim_apply_track_first(const struct sim_write_params *a, json_t *managers, const json_t *live);
/* The object before it is created, as Go has it: a built-in kind starts with its zero values. */
json_t *sim_apply_initial_object(const struct sim_write_params *a);
/* Sets of fields: what nobody owns; what this endpoint does not change, whatever was sent. */
json_t *sim_apply_unowned_fields(void);
json_t *sim_apply_reset_fields(const struct sim_write_params *a);

#endif
