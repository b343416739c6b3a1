/*
 * actors/runtime/write_table.h - the writes that an actor requested and that have no outcome yet, and
 * what becomes of each when time passes or the session ends. Pure: no clock, no socket, no allocation.
 *
 *	pending --write_table_sent--> sent --write_table_answered--> out of the table
 *	  | deadline                  | session lost, or deadline and grace
 *	  v                           v
 *	EXPIRED: nothing happened   UNKNOWN: it may have
 *
 * What was not sent when a session ends goes with the next one. Whether a write may be sent is decided by
 * its receiver alone; the table only has no more room than one sender may use there.
 */
#ifndef MUSTER_WRITE_TABLE_H
#define MUSTER_WRITE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "links.h"
#include "writes.h"

enum { WRITE_GRACE_MS = 1000 };

enum write_state { WRITE_FREE, WRITE_PENDING, WRITE_SENT, WRITE_LOST };

struct write_entry {
	enum write_state  state;
	uint64_t	  id;
	enum link	  link;
	int64_t		  deadline_ms;
};

struct write_table {
	struct write_entry	entries[REQUESTS_PER_SENDER];
};

/* Ids ascend and are never 0. False: the table is full. */
bool write_table_add(struct write_table *t, uint64_t id, enum link l, int64_t deadline_ms);
/* The oldest that waits to be sent over this link; 0: none. */
uint64_t write_table_due(const struct write_table *t, enum link l, int64_t now_ms);
void write_table_sent(struct write_table *t, uint64_t id);
/* It was sent and is answered: out of the table. False: it was not waited for (any more). */
bool write_table_answered(struct write_table *t, uint64_t id);
/* The session of that link is over: no answer will come to what was sent. */
void write_table_lost(struct write_table *t, enum link l);
/* The next one that has ended without an answer, out of the table; 0: none. */
uint64_t write_table_ended(struct write_table *t, int64_t now_ms, enum outcome *how);
/* When write_table_ended may return a write; INT64_MAX: never. */
int64_t write_table_at(const struct write_table *t);

#endif
