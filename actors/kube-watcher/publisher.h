/*
 * actors/kube-watcher/publisher.h - publishes to the other actors: each gets its own projection, over its
 * own link.
 *
 * Rule: a link is ready only when every kind that its actor reads was synced once, or is known to be absent.
 * So no object is reported gone because a list was not complete yet. Once ready, a link stays ready: a
 * relist changes keys, not readiness, and if RBAC forbids one kind later, the other kinds are not held up.
 */
#ifndef MUSTER_WATCHER_PUBLISHER_H
#define MUSTER_WATCHER_PUBLISHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actor.h"
#include "kinds.h"
#include "kube/project.h"

struct publisher;

enum { PUBLISHER_KEY_MAX = 384 };		/* of object_key */

struct publisher *publisher_new(struct actor *a);
void publisher_free(struct publisher **op);

/* Roles that are configured and have a link with us. */
uint64_t publisher_enabled(const struct publisher *o);
uint64_t publisher_readers(const struct publisher *o, enum kind k);	/* enabled roles that read it */

/*
 * own: the answer to an own write; it is sent even when no projected field changed, so that the writer
 * reads its own write.
 */
void publisher_object(struct publisher *o, enum kind k, const char *key, const struct projected *p,
    bool own, uint64_t trace);
void publisher_gone(struct publisher *o, enum kind k, const char *key, uint64_t trace);
void publisher_kind(struct publisher *o, enum kind k, enum kind_state s, const char *version,
    const char *detail, uint32_t skipped);
void publisher_leader(struct publisher *o, const struct body_leader *l);

/* For the status line: kinds that are read, and of them those that are synced. */
void publisher_count(const struct publisher *o, unsigned *kinds, unsigned *synced);

#endif
