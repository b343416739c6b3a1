/* cli/lost.h - holes in the numbers of tap records: what a slow reader missed. */
#ifndef MUSTER_LOST_H
#define MUSTER_LOST_H

#include <stdint.h>

#include "capture.h"

struct lost;

struct lost *lost_new(void);
void lost_free(struct lost **lp);
/*
 * How many records of that topic are missing before this one. The first of a topic or of an
 * incarnation misses none.
 */
uint64_t lost_before(struct lost *l, const struct capture *c);

#endif
