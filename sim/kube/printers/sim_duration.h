/* sim/kube/printers/sim_duration.h - durations as kubectl's tables show them. Pure. */
#ifndef MUSTER_SIM_DURATION_H
#define MUSTER_SIM_DURATION_H

#include <stddef.h>
#include <stdint.h>

enum { SIM_DURATION_MAX = 48 };

/* "5s", "3m20s", "26h", "2y10d". */
const char *sim_duration_format(int64_t seconds, char buf[SIM_DURATION_MAX]);
/* Since an RFC 3339 time; "<unknown>" for an empty one, "<invalid>" for what is no time. */
const char *sim_duration_since(const char *time, int64_t now_us, char buf[SIM_DURATION_MAX]);

#endif
