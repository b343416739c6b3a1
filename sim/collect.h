/* sim/collect.h - the garbage collector: objects all of whose owners are gone are deleted. */
#ifndef MUSTER_SIM_COLLECT_H
#define MUSTER_SIM_COLLECT_H

#include "sim.h"

/* What that deletes may orphan more: it is noted like any other change, and comes again. */
void collect_orphans(struct sim *s);

#endif
