/*
 * actors/kube-watcher/discover.h - asks the server which of our kinds it has, in which version: at
 * the start, when a kind is missed, and now and then.
 */
#ifndef MUSTER_WATCHER_DISCOVER_H
#define MUSTER_WATCHER_DISCOVER_H

#include "access.h"
#include "kinds.h"
#include "kube/discovery.h"

struct discover;

enum {
	DISCOVER_ABSENT_MS = 10 * 1000,		/* while a kind is missing: its CRD may come any time */
	DISCOVER_CALM_MS   = 10 * 60 * 1000,	/* versions come and go, seldom */
	DISCOVER_RETRY_MS  = 1000,		/* doubled up to ABSENT_MS */
};

/* For each kind of which something is now known. */
typedef void discover_found(enum kind k, const struct discovery_result *r, void *arg);

/* wanted: mask of kinds. */
struct discover *discover_new(
    struct actor *a, struct access *x, uint64_t wanted, discover_found *found, void *arg);
void discover_free(struct discover **dp);
/* A round begins soon; one that is under way is enough. */
void discover_soon(struct discover *d);
const char *discover_error(const struct discover *d);	/* of the last round, or "" */

#endif
