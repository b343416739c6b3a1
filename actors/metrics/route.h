/*
 * actors/metrics/route.h - path in, answer out: the whole HTTP surface. Pure: the facts come in.
 */
#ifndef MUSTER_METRICS_ROUTE_H
#define MUSTER_METRICS_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "builtin.h"
#include "series.h"
#include "exposition.h"

struct answer {
	int		 code;
	const char	*type;		/* Content-Type */
	struct text	 body;
	struct body	*shared;	/* instead of body, when not NULL: the reply takes the reference */
};

struct route_facts {
	const struct series_table	*series;
	struct builtin_facts		 own;
	int64_t				 alive_ms;	/* how long this process has been there */
	int64_t				 wall_ms;
	bool				 metrics;	/* /metrics is served on this port */
};

/*
 * query: what follows the question mark; may be NULL. The body is added to, from where its text stands.
 * /metrics has no body here: where route_is_metrics is true, the caller adds it (body.h).
 */
void route_answer(const struct route_facts *f, const char *path, const char *query, struct answer *a);
bool route_is_metrics(const struct route_facts *f, const char *path);
void route_metrics(void *facts, struct text *out);	/* a body_render */
/* The page at / (status_page.c). */
void status_page_write(const struct route_facts *f, struct text *out);

#endif
