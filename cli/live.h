/* cli/live.h - the taps of all actors that run, on one socket. */
#ifndef MUSTER_LIVE_H
#define MUSTER_LIVE_H

#include "ask.h"
#include "filter.h"

struct live;

/* NULL with the reason in why. */
struct live *live_open(const char *run_dir, const struct filter *f, char why[ASK_WHY_MAX]);
void live_close(struct live **lp);

enum live_result { LIVE_RECORD, LIVE_NOTHING, LIVE_QUIT };
/*
 * Views, valid until the next call. NOTHING: none is waiting now (a moment to flush); with wait,
 * one is waited for, and every 2 s musterd is asked for actors that have come since.
 */
enum live_result live_next(struct live *l, bool wait, struct capture_raw *raw);

#endif
