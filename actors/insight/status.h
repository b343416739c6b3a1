/* actors/insight/status.h - the bodies that go to the cluster, as JSON. */
#ifndef MUSTER_INSIGHT_STATUS_H
#define MUSTER_INSIGHT_STATUS_H

#include "json.h"
#include "plan.h"

/*
 * api: "group/version" as the cluster has it. The length, or 0 when it does not fit. A status in a POST is
 * dropped by the server, so there is none in the first.
 */
size_t status_create_body(char *buf, size_t size, enum sort sort, const char *api, struct wire_str name);
size_t status_update_body(char *buf, size_t size, enum sort sort, const char *api, const struct status *want,
    const struct insight_plan *p);
/* The Event about what the server refused. */
size_t status_refusal_body(char *buf, size_t size, const char *verb, struct wire_str why);
/* The members of a status alone, into an object that is open. */
void status_put(struct json *j, enum sort sort, const struct status *s, const struct condition *conditions,
    uint32_t nconditions);

#endif
