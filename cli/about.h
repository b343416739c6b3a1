/*
 * cli/about.h - what the actors say of one object: asked of musterd, read, made safe for a
 * terminal.
 *
 * Actors are not trusted: each answer is a text of its own, and one that cannot be read costs only
 * that actor.
 */
#ifndef MUSTER_ABOUT_H
#define MUSTER_ABOUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli.h"

struct about {
	const char	*object;	/* "nodes/worker-1"; of answer */
	json_t		*answer;	/* musterd's, with the actors' texts made objects */
	bool		 known;		/* somebody knows it */
	bool		 complete;	/* everybody who should has answered */
};

enum { ABOUT_OBJECT_MAX = 384, ABOUT_TIME_MAX = 32 };

/* "node/a" or "mcp/b" as the bus names it; false with the reason in why. */
bool about_object(const char *word, char object[ABOUT_OBJECT_MAX + 1], char *why, size_t size);
/* musterd's line; NULL with the reason in why. */
struct about *about_parse(const char *line, char *why, size_t size);
void about_free(struct about **ap);

/* One command: reads its words and flags, asks, prints. */
typedef void about_draw(FILE *out, const struct about *a, int last);
struct about_command {
	const struct command	*command;
	const char		*request;
	about_draw		*draw;
};
int about_run(const struct about_command *c, struct cli *cli, int argc, char **argv);

struct about_options {
	const char	*output, *last;
};
extern const struct flag about_flags[];		/* the last one, -n, is trace's alone */
enum { ABOUT_FLAGS = 2 };

/* The member of that name, or "" and 0. */
const char *about_text(const json_t *o, const char *name);
int64_t about_int(const json_t *o, const char *name);
/* Onto a terminal; the columns it took. */
int about_put(FILE *out, const char *text);
void about_put_padded(FILE *out, const char *text, int width);
/* "12:01:02.345678", local. */
const char *about_time(int64_t us, char buf[ABOUT_TIME_MAX]);
/* Since when those who know it run and remember. */
void about_put_since(FILE *out, const struct about *a);
/* Who did not answer, and why. */
void about_put_rest(FILE *out, const struct about *a);

#endif
