/* cli/trace.c - `muster trace`: the hops of an object's last changes through all actors, by time. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "object_query.h"
#include "obj.h"

enum { WHO_COLUMNS = 30 };

/* How a hop is printed: an arrow to or from the peer, and a word before its text. */
static const struct hop_format {
	const char	*what, *arrow, *other, *before;
	bool		 link;		/* print the link */
} formats[] = {
	{ "received",        "<-", "",           "",          true  },
	{ "published",       NULL, "",           "changed",   true  },
	{ "sent",            "->", "",           "",          true  },
	{ "write-requested", "->", "",           "requests",  false },
	{ "write-received",  "<-", "",           "receives",  false },
	{ "request",         "->", "API server", "",          false },
	{ "result",          "->", "",           "",          false },
	{ "write-done",      "<-", "",           "",          false },
	{ "note",            NULL, "",           "",          false },
};

struct hop_line {
	const char	*actor, *trace;
	const json_t	*hop;
	int64_t		 at_us;
	size_t		 order;		/* among hops of the same microsecond: as they came */
	int64_t		 began_us;	/* of its trace */
};

struct hop_lines {
	struct hop_line	*at;
	size_t		 n;
};

static int run(const struct command *, const struct cli *);
static struct hop_lines collect(const struct query_answer *);
static void date_traces(struct hop_lines *);
static int by_time(const void *, const void *);
static int by_trace(const void *, const void *);
static size_t first_shown(const struct hop_lines *, int);
static bool starts(const struct hop_lines *, size_t);
static void put_head(FILE *, const struct query_answer *, const struct hop_line *);
static void put_line(FILE *, const struct query_answer *, const struct hop_line *);
static const struct hop_format *format_of(const char *);

const struct command trace_command = {
	.name = "trace", .synopsis = "KIND/NAME|KIND/NAMESPACE/NAME [-n N] [-o text|json]",
	.summary = "Show the hops of an object's last changes through the actors, with times.",
	.flags = query_flags, .nflags = QUERY_FLAGS, .options_size = sizeof(struct query_options),
	.min_words = 1, .max_words = 1,
	.more = QUERY_KINDS
		"exit codes: 0 found, 1 musterd cannot be reached, 2 usage, 4 no actor holds the object\n\n"
		"examples:\n"
		"  muster trace node/worker-3\n"
		"  muster trace pool/worker -n 1\n",
	.run = run,
};

static int
run(const struct command *self, const struct cli *cli)
{
	return query_run(self, cli, trace_print);
}

void
trace_print(FILE *out, const struct query_answer *a, int last)
{
	struct hop_lines all = collect(a);
	const size_t first = first_shown(&all, last);

	if (all.n == 0)
		fprintf(out, "no change of %s is recorded since the actors started\n", a->object);
	for (size_t i = first; i < all.n; i++) {
		if (starts(&all, i))
			put_head(out, a, &all.at[i]);
		put_line(out, a, &all.at[i]);
	}
	query_put_since(out, a);
	query_put_absent(out, a);
	free(all.at);
}

/* ---- All hops, by trace, in order of time ---- */

static struct hop_lines
collect(const struct query_answer *a)
{
	struct hop_lines all = { .n = 0 };
	size_t cap = 0, i;
	const char *actor;
	json_t *answer, *hop;

	json_object_foreach(json_object_get(a->answer, "actors"), actor, answer) {
		json_array_foreach(json_object_get(answer, "hops"), i, hop) {
			if (all.n == cap) {
				cap = cap * 2 + 64;
				all.at = obj_realloc(all.at, cap * sizeof(*all.at));
			}
			all.at[all.n] = (struct hop_line){ .actor = actor, .hop = hop, .order = all.n,
				.trace = query_text(hop, "trace"), .at_us = query_int(hop, "at_us") };
			all.n++;
		}
	}
	if (all.n > 0) {
		qsort(all.at, all.n, sizeof(*all.at), by_time);
		date_traces(&all);
		qsort(all.at, all.n, sizeof(*all.at), by_trace);
	}
	return all;
}

/* A trace begins with its first hop, of any actor. */
static void
date_traces(struct hop_lines *all)
{
	for (size_t i = 0; i < all->n; i++) {
		size_t k = 0;

		while (strcmp(all->at[k].trace, all->at[i].trace) != 0)
			k++;
		all->at[i].began_us = all->at[k].at_us;
	}
}

static int
by_time(const void *a, const void *b)
{
	const struct hop_line *x = a, *y = b;

	if (x->at_us != y->at_us)
		return x->at_us < y->at_us ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The newest trace last. */
static int
by_trace(const void *a, const void *b)
{
	const struct hop_line *x = a, *y = b;
	const int same = strcmp(x->trace, y->trace);

	if (same == 0)
		return by_time(a, b);
	if (x->began_us != y->began_us)
		return x->began_us < y->began_us ? -1 : 1;
	return same;
}

static bool
starts(const struct hop_lines *all, size_t i)
{
	return i == 0 || strcmp(all->at[i - 1].trace, all->at[i].trace) != 0;
}

/* Where the last changes begin. */
static size_t
first_shown(const struct hop_lines *all, int last)
{
	for (size_t i = all->n; i > 0; i--) {
		if (starts(all, i - 1) && --last == 0)
			return i - 1;
	}
	return 0;
}

/* ---- Printing ---- */

static void
put_head(FILE *out, const struct query_answer *a, const struct hop_line *l)
{
	const time_t s = (time_t)(l->at_us / 1000000);
	char day[16] = "", at[QUERY_TIME_MAX];
	struct tm tm;

	if (localtime_r(&s, &tm) != NULL)
		strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	fprintf(out, "trace ");
	query_put(out, l->trace);
	fprintf(out, "  %s  %s %s\n", a->object, day, query_time(l->at_us, at));
}

static void
put_line(FILE *out, const struct query_answer *a, const struct hop_line *l)
{
	const struct hop_format *s = format_of(query_text(l->hop, "what"));
	const char *peer = query_text(l->hop, "peer"), *key = query_text(l->hop, "key");
	const char *text = query_text(l->hop, "text"), *link = query_text(l->hop, "link");
	char who[160];

	fprintf(out, "  %+11.3f ms  ", (double)(l->at_us - l->began_us) / 1000);
	if (s->arrow != NULL)
		snprintf(who, sizeof(who), "%s %s %s", l->actor, s->arrow, peer[0] != '\0' ? peer : s->other);
	else
		snprintf(who, sizeof(who), "%s", l->actor);
	query_put_padded(out, who, WHO_COLUMNS);
	if (s->before[0] != '\0')
		fprintf(out, "  %s", s->before);
	if (text[0] != '\0') {
		fprintf(out, "  ");
		query_put(out, text);
	}
	if (s->link && link[0] != '\0') {
		fprintf(out, "  ");
		query_put(out, link);
	}
	if (strcmp(key, a->object) != 0) {
		fprintf(out, "  ");
		query_put(out, key[0] != '\0' ? key : "(deleted object)");
	}
	fprintf(out, "\n");
}

static const struct hop_format *
format_of(const char *what)
{
	static const struct hop_format other = { "", NULL, "", "", true };

	for (size_t i = 0; i < NITEMS(formats); i++) {
		if (strcmp(formats[i].what, what) == 0)
			return &formats[i];
	}
	return &other;
}
