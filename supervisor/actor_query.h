/*
 * supervisor/actor_query.h - one query to every actor, and the answers that have arrived.
 *
 * Never: block, or trust an answer. An actor answers when it can or not at all; its answer is passed to
 * the client as text, unparsed.
 */
#ifndef MUSTER_ACTOR_QUERY_H
#define MUSTER_ACTOR_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree;
struct child;
struct actor_query;

enum {
	QUERIES     = 4,		/* at a time */
	QUERY_MS   = 2000,
	QUERY_SIZE = 960 * 1024,	/* of all answers together; the client takes 1 MiB */
};

/* Sends the query to every actor that is up. NULL: too many queries are open. */
struct actor_query *actor_query_start(struct tree *t, const char *verb, const char *object);
void actor_query_free(struct actor_query **qp);
/* From an actor; an answer to a query that is not open is dropped. */
void actor_query_answer(const struct child *ch, uint64_t id, const char *text, size_t len);
/* Every actor that still runs has answered, or the time is up. */
bool actor_query_done(const struct actor_query *q, int64_t now_ms);
int64_t actor_query_until_ms(const struct actor_query *q);
/*
 * {"object": ..., "actors": {"<name>": "<its answer, as text>"}, "missing": [did not answer in time],
 * "down": [enabled and not up], "left_off": [too long to go with the others]}: allocated, with its length.
 */
char *actor_query_json(const struct actor_query *q, size_t *len);

#endif
