/*
 * actors/kube-watcher/event_object.h - the Event (events.k8s.io/v1) that a WRITE of OP_EVENT asks for:
 * its body checked, the object built, the requests that create it and count its series. No I/O.
 */
#ifndef MUSTER_WATCHER_EVENT_OBJECT_H
#define MUSTER_WATCHER_EVENT_OBJECT_H

#include <jansson.h>

#include "call.h"
#include "event_policy.h"

/* An Event as it was or will be created. */
struct event_object {
	json_t	*body;
	char	 ns[64], name[EVENT_NAME_MAX + 1];
};

/*
 * The WRITE names the object that the Event is about (group, version, resource, ns, name, uid); its
 * body is {"type": "Normal"|"Warning", "reason", "action", "note"} and, for a resource that kinds.h
 * does not list, "kind". NULL: fine, and *fields is that body, to be released with json_decref; else
 * what is wrong.
 */
const char *event_parse(const struct call_params *a, json_t **fields);
/* Builds e from what event_parse accepted; the body that e had is released. */
void event_build(struct event_object *e, const struct call_params *a, const json_t *fields,
    const char *instance, uint64_t unique, int64_t now_us);
/* The request that creates the Event or, with count > 0, that updates its series. call_free releases it. */
void event_request(const struct event_object *e, int64_t count, int64_t last_us, struct call_http *out);

#endif
