/*
 * actors/node-state/measure.h - the metrics of evaluations and notifications, with the names of the
 * controller that node-state replaces (docs/migration.md).
 *
 * The label `node` costs series: a dozen per node. It can be switched off, and `auto` removes it
 * for good once there are more than MEASURE_NODES_MAX nodes.
 */
#ifndef MUSTER_NODE_MEASURE_H
#define MUSTER_NODE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "keytab.h"
#include "msg.h"
#include "roles.h"
#include "stat.h"

enum { MEASURE_NODES_MAX = 500 };

struct measure {
	bool			 labelled, auto_off;
	struct keytab		*named;		/* nodes that have series of their own */
};

void measure_init(struct measure *m, const char *setting);	/* "auto", "on", "off" */
void measure_free(struct measure *m);
void measure_evaluation(struct measure *m, struct wire_str node, bool ok, double seconds);
void measure_removed(struct measure *m, struct wire_str node);
/* A change was handed to the socket of that consumer: actor_time_link. */
void measure_notification(enum role consumer, enum msg type, double seconds);
void measure_active(uint32_t nodes);

#endif
