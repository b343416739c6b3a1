/*
 * bench/ends.h - the two ends of a real session, for the programs that measure it: bus, view, mirror and tap
 * as actors have them. Only the supervisor is missing: both ends have one fixed token.
 */
#ifndef MUSTER_BENCH_ENDS_H
#define MUSTER_BENCH_ENDS_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "bus.h"

/* What every actor does before its first socket; from here on no fork. */
struct event_base *bench_loop(const char *name);
/* Parses an argument that must be a number above 0; otherwise prints its name and exits. */
uint32_t bench_number(const char *name, const char *text);
void bench_until(struct event_base *base, const bool *fact);

/* The producer: `keys` keys with values of a little more than value_bytes, all of them published. */
struct source;
struct source *source_new(struct event_base *base, const char *dir, uint32_t keys, uint32_t value_bytes);
void source_free(struct source **sp);
/* The next key in turn gets a new number. The caller keeps source_pending below `keys`, or changes merge. */
void source_change(struct source *s);
uint32_t source_pending(const struct source *s);	/* changes not yet sent to the one consumer */

/* The consumer: fn is called for every change of its mirror. */
struct sink;
struct sink *sink_new(struct event_base *base, const char *dir, void (*fn)(const struct change *, void *),
    void *arg);
void sink_free(struct sink **sp);
/* Makes it send HELLO again, as when the supervisor announces a new producer; the mirror stays. */
void sink_resync(struct sink *s);

/* The deltas that this process sends or receives have a reader. */
bool bench_watched(void);

#endif
