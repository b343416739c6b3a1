/*
 * actors/kube-watcher/event_sender.h - sends the Kubernetes Events of all actors: those that
 * event_policy.h lets through, best effort. No actor waits for them.
 */
#ifndef MUSTER_WATCHER_EVENT_SENDER_H
#define MUSTER_WATCHER_EVENT_SENDER_H

#include "access.h"
#include "call.h"

struct event_sender;

struct event_sender *event_sender_new(struct actor *a, struct access *x);
void event_sender_free(struct event_sender **sp);
bool event_sender_in_flight(const struct event_sender *s);	/* a request of it may still take effect */
/* NULL: accepted; else what is wrong with the WRITE (event_parse). */
const char *event_sender_add(struct event_sender *s, const struct call_params *a);

#endif
