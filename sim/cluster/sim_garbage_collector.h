/*
 * sim/cluster/sim_garbage_collector.h - the garbage collector: objects all of whose owners are gone
 * are deleted.
 */
#ifndef MUSTER_SIM_GARBAGE_COLLECTOR_H
#define MUSTER_SIM_GARBAGE_COLLECTOR_H

#include "sim/sim.h"

/* What that deletes may orphan more: it is noted like any other change, and comes again. */
void sim_collect_orphans(struct simulator *s);

#endif
