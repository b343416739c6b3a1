/*
 * actors/kube-watcher/outlet.h - what the other actors get: each its own projection, over its own
 * link.
 *
 * Law: a link is ready only when every kind its actor reads was complete once, or is known to be absent.
 * So nobody ever hears that something is gone because the picture was half painted. Once ready, a link
 * stays so: a relist changes keys, not readiness, and a right that was taken away in between keeps
 * nobody waiting for the other kinds.
 */
#ifndef MUSTER_WATCHER_OUTLET_H
#define MUSTER_WATCHER_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actor.h"
#include "kinds.h"
#include "kube/project.h"

struct outlet;

enum { OUTLET_KEY_MAX = 384 };

struct outlet *outlet_new(struct actor *a);
void outlet_free(struct outlet **op);

uint64_t outlet_readers(const struct outlet *o, enum kind k);	/* enabled roles that read it */

/* "<resource>/<name>" or "<resource>/<namespace>/<name>"; false when it does not fit. */
bool outlet_key(char *buf, size_t size, enum kind k, const char *ns, const char *name);

/*
 * own: our own write came back; it goes on even when no projected field changed (supervision.md 4,
 * read your writes).
 */
void outlet_object(struct outlet *o, enum kind k, const char *key, const struct projected *p,
    bool own, uint64_t trace);
void outlet_gone(struct outlet *o, enum kind k, const char *key, uint64_t trace);
void outlet_kind(struct outlet *o, enum kind k, enum kind_state s, const char *version, const char *detail,
    uint32_t skipped);
enum kind_state outlet_kind_state(const struct outlet *o, enum kind k);
void outlet_leader(struct outlet *o, const struct body_leader *l);

/* For the status line: kinds that are read, and of them those that are complete. */
void outlet_count(const struct outlet *o, unsigned *kinds, unsigned *synced);

#endif
