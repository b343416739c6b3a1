/*
 * sim/kube/store/sim_history.h - what changed lately, in order of resourceVersion: the window that watches and old
 * lists read.
 *
 * Every resourceVersion is exactly one change, so a change is found by its number alone. The window
 * is bounded by count and by the bytes of superseded objects it keeps alive; what falls out is
 * "compacted".
 */
#ifndef MUSTER_SIM_HISTORY_H
#define MUSTER_SIM_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "sim_blob.h"

struct storage;

enum { HISTORY_MAX = 100 * 1000, HISTORY_BYTES_MAX = 64 * 1024 * 1024 };

/* before NULL: added; after NULL: deleted. */
struct change {
	uint64_t	 rv;
	struct storage	*storage;
	struct blob	*before, *after;
};

struct history {
	struct change	*ring;
	size_t		 size, first, n;	/* size is a power of two */
	size_t		 old_bytes;		/* of all `before` */
	uint64_t	 forgotten;		/* the newest resourceVersion that is no longer known */
};

/* Takes the references of c. c->rv is one more than the last. */
void history_add(struct history *h, struct change c);
/* NULL: forgotten, or still to come. */
const struct change *history_get(const struct history *h, uint64_t rv);
void history_forget_all(struct history *h);
void history_free(struct history *h);

#endif
