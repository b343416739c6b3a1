/* actors/metrics/reference.h - docs/metrics.md, written from the tables, so that it cannot drift. */
#ifndef MUSTER_METRICS_REFERENCE_H
#define MUSTER_METRICS_REFERENCE_H

#include <stdio.h>

void reference_print(FILE *out);

#endif
