/* actors/provider/meter.h - the metrics of provider calls (include/stat_names.h), and their hop's text. */
#ifndef MUSTER_METER_H
#define MUSTER_METER_H

#include <stddef.h>
#include <stdint.h>

#include "brake.h"
#include "fence.h"

/* status 0: no answer came. */
void meter_call(const char *provider, const char *class, int status, double seconds);
void meter_budget(const char *provider, const char *class, int64_t calls);
/* A call did not start because of that; FENCE_OPEN and BRAKE_RELEASED count nothing. */
void meter_fenced(enum fence_reason reason);
void meter_braked(enum brake_reason reason);
/*
 * For `muster trace`: "linode GET pools 200". Where the space ends (HOP_TEXT), the name of the class is
 * cut, never the code. ending: the status, or the name of the outcome.
 */
void meter_hop(char *buf, size_t size, const char *provider, const char *method, const char *class,
    const char *ending);

#endif
