/*
 * sim/kube/store/sim_history.h - what changed lately, in order of resourceVersion: the window that
 * watches and old lists read.
 *
 * Every resourceVersion is exactly one change, so a change is found by its number alone. The window
 * is bounded by count, by the bytes of superseded objects it keeps alive, and by age: the real server
 * compacts what is older than five minutes, and keeps its last hundred events.
 */
#ifndef MUSTER_SIM_HISTORY_H
#define MUSTER_SIM_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "sim_blob.h"

struct sim_storage;

enum {
	HISTORY_MIN = 100, HISTORY_MAX = 100 * 1000, HISTORY_BYTES_MAX = 64 * 1024 * 1024,
	HISTORY_AGE_MAX_MS = 5 * 60 * 1000,
};

/* before NULL: added; after NULL: deleted. */
struct sim_change {
	uint64_t		 rv;
	struct sim_storage	*storage;
	struct sim_blob		*before, *after;
	int64_t			 at_ms;
};

struct sim_history {
	struct sim_change	*ring;
	size_t			 size, first, n;	/* size is a power of two */
	size_t			 old_bytes;		/* of all `before` */
	uint64_t		 forgotten;		/* the newest rv that is no longer known */
};

/* Takes the references of c. c->rv is one more than the last. */
void sim_history_add(struct sim_history *h, struct sim_change c);
/* NULL: forgotten, or still to come. */
const struct sim_change *sim_history_get(const struct sim_history *h, uint64_t rv);
/* Forgets what is too old by now. */
void sim_history_expire(struct sim_history *h, int64_t now_ms);
void sim_history_forget_all(struct sim_history *h);
void sim_history_free(struct sim_history *h);

#endif
