/*
 * sim/kube/patch/sim_apply_managers.h - metadata.managedFields, read into a JSON object of managers
 * and written again.
 *
 * Key: who it is (manager, operation, subresource, and the apiVersion unless it applies). Value:
 * the entry, with its set of fields (sim_fieldset.h) as "set" in place of fieldsV1.
 */
#ifndef MUSTER_SIM_APPLY_MANAGERS_H
#define MUSTER_SIM_APPLY_MANAGERS_H

#include <jansson.h>

#include "sim/kube/semantics/sim_semantics.h"

/* Never NULL; entries that make no sense make it empty, as the real server does. */
json_t *sim_managers_read(const json_t *entries);
/* Writes them into the object, ordered, or takes managedFields away where there are none. */
void sim_managers_store(json_t *object, const json_t *managers);

/* The key of the manager of this request, a text. operation: "Apply" or "Update". New reference. */
json_t *sim_managers_key(const struct sim_write_params *a, const char *operation);
/* The set of fields of a manager; NULL: he has none. Borrowed. */
const json_t *sim_managers_set(const json_t *managers, const json_t *key);
/* Gives him this set (taken); an empty one removes him. now NULL: his time stays. */
void sim_managers_assign(json_t *managers, const struct sim_write_params *a, const char *operation,
    json_t *set, const char *now);
/* Removes fields from every manager but the one of that key (NULL: from all). */
void sim_managers_remove(json_t *managers, const json_t *set, const json_t *except);
/* At most ten that update: the oldest are put together as "ancient-changes". */
void sim_managers_cap(json_t *managers);

#endif
