/* supervisor/tally.h - the deaths: how many by cause since the start, and the last hundred. */
#ifndef MUSTER_TALLY_H
#define MUSTER_TALLY_H

#include <stdint.h>

#include "policy.h"

enum { TALLY_LAST = 100 };

struct death {
	enum role	role;
	uint64_t	incarnation;
	enum cause	cause;
	int64_t		at_ms, uptime_ms;
};

/* Zeroed at first. */
struct tally {
	uint64_t	count[CAUSE_MAX];
	struct death	last[TALLY_LAST];	/* a ring */
	uint64_t	total;
};

void tally_add(struct tally *t, const struct death *d);
/* The i-th last death, 0 the latest; NULL when there were not so many. */
const struct death *tally_last(const struct tally *t, unsigned i);

#endif
