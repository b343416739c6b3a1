/*
 * sim/kube/store/sim_watch.h - WATCH: the present, if requested, then every change, as lines of JSON.
 *
 * A watch is a position in the history. While it has not caught up it reads as fast as its client
 * does; once it has, a client that leaves more than WATCH_PENDING_MAX bytes untaken loses it.
 */
#ifndef MUSTER_SIM_WATCH_H
#define MUSTER_SIM_WATCH_H

#include <stddef.h>

#include "sim/faults/sim_faults.h"
#include "sim/http/sim_request.h"

enum { WATCH_PENDING_MAX = 8 * 1024 * 1024 };

struct sim_change;
struct sim_storage;
struct sim_watches;

struct sim_watches *sim_watches_new(struct simulator *s);
void sim_watches_free(struct sim_watches **wp);
size_t sim_watches_count(const struct sim_watches *all);

/* Something changed: the watches send it when the loop runs. */
void sim_watches_wake(struct sim_watches *all);
/* Ends those of a storage whose CRD has gone. */
void sim_watches_end(struct sim_watches *all, const struct sim_storage *st);
/* A fault that hits open watches at once. */
void sim_watches_hit(struct sim_watches *all, const struct sim_fault *f);

void sim_watch_serve(struct sim_request *c);

#endif
