/*
 * actors/node-state/measure.h - the metrics of evaluations, with the seed's names (B6).
 *
 * The label `node` costs series: a dozen per node. It can be switched off, and `auto` gives it up for
 * good once there are more than MEASURE_NODES_MAX nodes.
 */
#ifndef MUSTER_NODE_MEASURE_H
#define MUSTER_NODE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "keytab.h"
#include "msg.h"
#include "stat.h"

enum { MEASURE_NODES_MAX = 500 };

struct measure {
	bool			 labelled, gives_up;
	struct keytab		*named;		/* nodes that have series of their own */
};

void measure_init(struct measure *m, const char *setting);	/* "auto", "on", "off" */
void measure_free(struct measure *m);
void measure_look(struct measure *m, struct wire_str node, bool ok, double seconds);
void measure_gone(struct measure *m, struct wire_str node);
void measure_active(uint32_t nodes);

#endif
