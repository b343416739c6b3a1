/*
 * sim/kube/store/sim_watch.h - WATCH: the present, if asked for, then every change, as lines of JSON.
 *
 * A watch is a position in the history. While it has not caught up it reads as fast as its client
 * does; once it has, a client that leaves more than WATCH_PENDING_MAX bytes untaken loses it.
 */
#ifndef MUSTER_SIM_WATCH_H
#define MUSTER_SIM_WATCH_H

#include <stddef.h>

#include "sim/http/sim_request.h"
#include "sim/faults/sim_faults.h"

enum { WATCH_PENDING_MAX = 8 * 1024 * 1024 };

struct change;
struct storage;
struct watches;

struct watches *watches_new(struct sim *s);
void watches_free(struct watches **wp);
size_t watches_count(const struct watches *all);

/* Something changed: the watches look at it once the loop turns. */
void watches_wake(struct watches *all);
/* Ends those of a storage whose CRD has gone. */
void watches_end(struct watches *all, const struct storage *st);
/* A fault that hits open watches at once. */
void watches_strike(struct watches *all, const struct fault *f);

void watch_serve(struct call *c);

#endif
