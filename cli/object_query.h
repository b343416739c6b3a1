/*
 * cli/object_query.h - a query about one object: sent to musterd, which forwards it to the actors; their
 * answers parsed, and made safe for a terminal.
 *
 * Actors are not trusted: each answer is a text of its own, and one that cannot be parsed affects only
 * that actor.
 */
#ifndef MUSTER_OBJECT_QUERY_H
#define MUSTER_OBJECT_QUERY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli.h"

struct query_answer {
	const char	*object;	/* "nodes/worker-1"; of answer */
	json_t		*answer;	/* musterd's, with the actors' texts made objects */
	bool		 known;		/* some actor holds it */
	bool		 complete;	/* every actor that runs has answered */
};

enum { QUERY_OBJECT_MAX = 384, QUERY_TIME_MAX = 32 };

/* The key of "node/a" or "mcp/b" on the bus; false with the reason in why. */
bool query_object(const char *word, char object[QUERY_OBJECT_MAX + 1], char *why, size_t size);
/* The short names of kinds: 0, 1, 2 ... until NULL. */
const char *query_kind(size_t i);
/* The kinds, for the help of a command. */
#define QUERY_KINDS								\
	"kinds: node, pool, machineconfig, nodeclaim, nodepool, linodenodeclass, nodegroup,\n"	\
	"vpsienode, machinedeployment, and every resource that an actor reads\n\n"
/* Parses musterd's line; NULL with the reason in why. */
struct query_answer *query_parse(const char *line, char *why, size_t size);
void query_free(struct query_answer **ap);

/* The output of `muster trace` (the last changes, the newest last) and of `muster explain`. */
typedef void query_print(FILE *out, const struct query_answer *a, int last);
query_print trace_print, explain_print;
/* A command whose name is also that of the request: queries, and prints the answer. */
int query_run(const struct command *c, const struct cli *cli, query_print *print);

struct query_options {
	const char	*output, *last;
};
extern const struct flag query_flags[];		/* the last one, -n, is trace's alone */
enum { QUERY_FLAGS = 2 };

/* The member of that name, or "" and 0. */
const char *query_text(const json_t *o, const char *name);
int64_t query_int(const json_t *o, const char *name);
/* Prints what is safe for a terminal; returns the columns used. */
int query_put(FILE *out, const char *text);
void query_put_padded(FILE *out, const char *text, int width);
/* "12:01:02.345678", local. */
const char *query_time(int64_t us, char buf[QUERY_TIME_MAX]);
/* Since when the actors that hold it run, and have hops. */
void query_put_since(FILE *out, const struct query_answer *a);
/* The actors that did not answer, and why. */
void query_put_absent(FILE *out, const struct query_answer *a);
/* That actor runs, or should: it has answered, or is among those that did not. */
bool query_names(const struct query_answer *a, const char *actor);

#endif
