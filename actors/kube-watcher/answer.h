/*
 * actors/kube-watcher/answer.h - what the body of a 2xx is, JSON or protobuf. Pure: nothing is
 * decoded that is not needed: an answer has the whole object, and two of its fields are.
 */
#ifndef MUSTER_WATCHER_ANSWER_H
#define MUSTER_WATCHER_ANSWER_H

#include <stddef.h>

#include "kube/project.h"
#include "plan.h"

/* By its first bytes: servers that cannot do what was asked for answer JSON. */
enum project_form answer_form(const void *body, size_t len);
/* BODY_STATUS, BODY_OBJECT; BODY_NONE: it has no kind, or it is not complete. */
enum plan_body answer_body(const void *body, size_t len);
/* metadata.resourceVersion of a JSON object; "" when there is none, or it is too long to be one. */
void answer_rv(const void *body, size_t len, char *rv, size_t size);

#endif
