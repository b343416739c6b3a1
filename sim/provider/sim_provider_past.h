/* sim/provider/sim_provider_past.h - the earlier states of a list, for answers that are behind. Pure. */
#ifndef MUSTER_SIM_PROVIDER_PAST_H
#define MUSTER_SIM_PROVIDER_PAST_H

#include <jansson.h>
#include <stdint.h>

struct sim_provider_past;
/* most: how many states are kept. */
struct sim_provider_past *sim_provider_past_new(size_t most);
void sim_provider_past_free(struct sim_provider_past **pp);
/* The list as it is now, just before a change. Takes it; it is not changed afterwards. */
void sim_provider_past_keep(struct sim_provider_past *p, json_t *list);
/*
 * The list of so many changes ago, or the oldest that is kept. Borrowed. NULL: the present, because
 * behind is 0 or nothing has changed yet.
 */
json_t *sim_provider_past_at(const struct sim_provider_past *p, int64_t behind);

#endif
