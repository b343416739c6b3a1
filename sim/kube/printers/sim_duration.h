/* sim/kube/printers/sim_duration.h - durations as kubectl's tables show them. Pure. */
#ifndef MUSTER_SIM_DURATION_H
#define MUSTER_SIM_DURATION_H

#include <stddef.h>
#include <stdint.h>

enum { HUMAN_MAX = 48 };

/* "5s", "3m20s", "26h", "2y10d". */
const char *human_duration(int64_t seconds, char buf[HUMAN_MAX]);
/* Since an RFC 3339 time; "<unknown>" for an empty one, "<invalid>" for what is no time. */
const char *human_since(const char *time, int64_t now_us, char buf[HUMAN_MAX]);

#endif
