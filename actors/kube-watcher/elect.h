/*
 * actors/kube-watcher/elect.h - performs what lease.h decides, on connections of its own, and publishes
 * who leads.
 */
#ifndef MUSTER_WATCHER_ELECT_H
#define MUSTER_WATCHER_ELECT_H

#include "access.h"
#include "lease.h"
#include "publisher.h"

struct elect;

struct elect_setup {
	bool		 elect;
	int64_t		 duration_ms;
	const char	*name, *ns;
};

/* changed: leading began or ended, or was renewed. */
struct elect *elect_new(struct actor *a, struct access *x, struct publisher *o, const struct elect_setup *s,
    void (*changed)(void *arg), void *arg);
void elect_free(struct elect **ep);
/* Every second: the clock of the cluster may have moved, and without election nothing else publishes it. */
void elect_tick(struct elect *e);
const struct lease *elect_lease(const struct elect *e);
/* Orderly end: gives the Lease back, then calls stopped, once. When no write is under way. */
void elect_stop(struct elect *e, void (*stopped)(void *arg), void *arg);

#endif
