/*
 * actors/kube-watcher/record.h - Kubernetes Events of all actors (events.k8s.io/v1): what
 * recorder.h lets through is sent, best effort, on the loop's own time.
 */
#ifndef MUSTER_WATCHER_RECORD_H
#define MUSTER_WATCHER_RECORD_H

#include "access.h"
#include "call.h"

struct record;

struct record *record_new(struct actor *a, struct access *x);
void record_free(struct record **rp);
/*
 * The ask names the object (group, resource, ns, name, uid); its body is {"type":
 * "Normal"|"Warning", "reason", "action", "note"} and, for a resource that kinds.h does not know,
 * "kind". NULL: noted; else what is wrong with it.
 */
const char *record_note(struct record *r, const struct call_ask *a, const char *version);

#endif
