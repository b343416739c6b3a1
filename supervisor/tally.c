/* supervisor/tally.c - the death tally. Pure. */
#include "tally.h"

#include <stddef.h>

void
tally_add(struct tally *t, const struct death *d)
{
	t->count[d->cause]++;
	t->last[t->total % TALLY_LAST] = *d;
	t->total++;
}

const struct death *
tally_last(const struct tally *t, unsigned i)
{
	if (i >= TALLY_LAST || i >= t->total)
		return NULL;
	return &t->last[(t->total - 1 - i) % TALLY_LAST];
}
