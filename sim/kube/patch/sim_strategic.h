/*
 * sim/kube/patch/sim_strategic.h - strategic merge patch, of built-in kinds only: lists that have a
 * merge key are merged by it.
 *
 * Directives: $patch (replace, delete, merge), $retainKeys, $deleteFromPrimitiveList/NAME,
 * $setElementOrder/NAME.
 */
#ifndef MUSTER_SIM_STRATEGIC_H
#define MUSTER_SIM_STRATEGIC_H

#include <jansson.h>

/* New reference; NULL and a Status where the patch makes no sense. */
json_t *sim_strategic_merge(const json_t *schema, const json_t *target, const json_t *patch, json_t **status);

#endif
