/*
 * actors/metrics/body.h - the text of /metrics, one for all clients that read it.
 *
 * A client that does not read keeps its reply in memory. So replies share a counted body: a request
 * within BODY_FRESH_MS gets the last one again, and there are never more than BODIES_MAX of them.
 * While slow clients hold that many, the newest is served, until the limits of connections
 * (server/connections.h) end them.
 */
#ifndef MUSTER_METRICS_BODY_H
#define MUSTER_METRICS_BODY_H

#include "exposition.h"

enum { BODY_FRESH_MS = 500, BODIES_MAX = 2 };

struct bodies;

struct body {
	struct bodies	*owner;
	unsigned	 refs;
	size_t		 len;
	char		*text;
};

/* Adds the text to what is there; called again with more room when it did not fit. */
typedef void body_render(void *arg, struct text *out);

struct bodies *bodies_new(void);
/* Bodies that are still being sent stay until the last of them is released. */
void bodies_free(struct bodies **bp);
/* The caller gets a reference. */
struct body *bodies_get(struct bodies *b, body_render *render, void *arg, int64_t now_ms);
void body_release(struct body *body);

#endif
