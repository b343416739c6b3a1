/* sim/kube/patch/sim_apply_track.h - the parts of tracking that an apply needs too. */
#ifndef MUSTER_SIM_APPLY_TRACK_H
#define MUSTER_SIM_APPLY_TRACK_H

#include <jansson.h>

#include "sim/kube/semantics/sim_semantics.h"

/* The first apply to an object that was not tracked: what is there belongs to those before. */
void apply_track_first(const struct ask *a, json_t *managers, const json_t *live);
/* The object before it is created, as Go has it: a built-in kind starts with its zero values. */
json_t *apply_nothing_yet(const struct ask *a);
/* Sets of fields: what nobody owns; what this endpoint does not change, whatever was sent. */
json_t *apply_not_owned(void);
json_t *apply_reset(const struct ask *a);

#endif
