/*
 * actors/metrics/series.h - every series of every actor, ordered as /metrics prints them.
 *
 * A series belongs to the actor and key it came with. A family has one kind and one help text,
 * those of whoever named it first; a series that does not fit is refused alone, so that one wrong
 * actor cannot spoil the scrape.
 */
#ifndef MUSTER_METRICS_SERIES_H
#define MUSTER_METRICS_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "msg.h"
#include "text.h"

enum { SERIES_MAX = 20000 };	/* of all actors: a runaway label must not take the metrics actor along */

struct series_table;

struct series_table *series_new(void);
void series_free(struct series_table **tp);

/* NULL: taken. Otherwise why not; then nothing is kept under that key. */
const char *series_set(struct series_table *t, const char *actor, struct wire_str key,
    const struct body_stat *s);
void series_drop(struct series_table *t, const char *actor, struct wire_str key);
size_t series_count(const struct series_table *t);

typedef bool series_shown(const char *actor, const void *arg);

/* Writes the series of the actors that `shown` lets pass (NULL: all). */
void series_write(const struct series_table *t, struct text *out, series_shown *shown, const void *arg);

#endif
