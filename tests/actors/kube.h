/* tests/actors/kube.h - the parts of muster-test-kube. Never in a release build. */
#ifndef MUSTER_TEST_KUBE_H
#define MUSTER_TEST_KUBE_H

#include <jansson.h>

#include "actor.h"

/* ---- kube_json.c: what an actor has received, as JSON. ---- */

/*
 * {"uid","rv","type","fields"}; of the fields only those that this role reads. A raw object is its
 * own fields.
 */
json_t *kube_object(const struct change *c, enum role reader);
json_t *kube_text(struct wire_str s);	/* what is no UTF-8 becomes "?" */

/* ---- kube_serve.c: requests over a unix socket, one JSON object per line, answered in any order. ---- */

struct kube_serve;

/* The answer; NULL: it comes later, by kube_serve_answer. Takes nothing. */
typedef json_t *kube_ask_fn(const json_t *question, uint64_t conn, void *arg);

struct kube_serve *kube_serve_new(struct event_base *base, const char *path, kube_ask_fn *ask, void *arg);
void kube_serve_free(struct kube_serve **sp);
/* Takes the answer. The connection may be closed by then. */
void kube_serve_answer(struct kube_serve *s, uint64_t conn, json_t *answer);

#endif
