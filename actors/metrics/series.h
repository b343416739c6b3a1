/*
 * actors/metrics/series.h - every series of every actor, ordered as /metrics prints them.
 *
 * A series belongs to the actor and key it came with. A family has one kind and one help text,
 * those of the first series; a series that does not fit is rejected alone, so that one wrong actor
 * cannot make the whole scrape invalid.
 */
#ifndef MUSTER_METRICS_SERIES_H
#define MUSTER_METRICS_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "msg.h"
#include "exposition.h"

/*
 * What a series costs: its lines in two bodies of /metrics (body.h), and in this table, the key table and
 * the runtime's store about SERIES_OVERHEAD more. All together may cost the budget of the table: a label
 * without bounds must not exhaust the memory of the metrics actor.
 */
enum { SERIES_OVERHEAD = 1024, SERIES_BUDGET_DEFAULT = 128 * 1024 * 1024 };

struct series_table;

struct series_table *series_new(size_t budget_bytes);
void series_free(struct series_table **tp);

/* NULL: taken. Otherwise why not; then nothing is kept under that key. */
const char *series_set(struct series_table *t, const char *actor, struct wire_str key,
    const struct body_stat *s);
void series_drop(struct series_table *t, const char *actor, struct wire_str key);
size_t series_count(const struct series_table *t);
size_t series_cost(const struct series_table *t);

typedef bool series_shown(const char *actor, const void *arg);

/* Writes the series of the actors that `shown` lets pass (NULL: all). */
void series_write(const struct series_table *t, struct text *out, series_shown *shown, const void *arg);

#endif
