/*
 * cli/explain.c - `muster explain`: the inputs of an object's state, the rule that matched, the consumers,
 * the last write.
 */
#include <inttypes.h>
#include <string.h>

#include "kinds.h"
#include "object_query.h"
#include "obj.h"

enum {
	NAME_COLUMNS   = 26,
	HOLDER_COLUMNS = 18,
	TYPE_COLUMNS   = 12,
	STATUS_COLUMNS = 8,
	REASON_COLUMNS = 22,
	PAIR_COLUMNS   = 34,
	HOW_COLUMNS    = 14,
	TIME_COLUMNS   = 18,
};

typedef void put_fn(FILE *, const json_t *);
static put_fn put_members, put_sentence, put_conditions, put_write;

/* Members that actors may give (actor.h), in the order in which they are shown. */
static const struct section {
	const char	*member, *title;
	put_fn		*put;
} sections[] = {
	{ "unmanaged",  "Unmanaged",  put_sentence },
	{ "inputs",     "Inputs",     put_members },
	{ "rule",       "Rule",       put_sentence },
	{ "decided",    "Decided",    put_members },
	{ "conditions", "Conditions", put_conditions },
	{ "stored",     "Stored",     put_members },
	{ "write",      "Last write", put_write },
};

static int run(const struct command *, const struct cli *);
static void put_section(FILE *, const struct query_answer *, const struct section *);
static void put_more(FILE *, const struct query_answer *);
static bool has_section(const char *);
static void put_consumers_of_all(FILE *, const struct query_answer *);
static void put_consumers(FILE *, const char *, const json_t *, const json_t *);
static void put_writes(FILE *, const struct query_answer *);
static void put_held(FILE *, const struct query_answer *);
static void put_value(FILE *, const json_t *);
static int64_t sent_us(const json_t *, const json_t *, const char *);
static bool has_report(const char *);
static void put_title(FILE *, const char *, const char *);
static void put_member(FILE *, const char *, const json_t *);

const struct command explain_command = {
	.name = "explain", .synopsis = "KIND/NAME|KIND/NAMESPACE/NAME [-o text|json]",
	.summary = "Explain an object's state: inputs, rule, consumers, last write.",
	.flags = query_flags, .nflags = QUERY_FLAGS - 1, .options_size = sizeof(struct query_options),
	.min_words = 1, .max_words = 1,
	.more = QUERY_KINDS
		"exit codes: 0 found, 1 musterd cannot be reached, 2 usage, 4 no actor holds the object\n\n"
		"examples:\n"
		"  muster explain node/worker-3\n"
		"  muster explain pool/worker -o json | jq '.actors[\"node-state\"].facts.inputs'\n",
	.run = run,
};

static int
run(const struct command *self, const struct cli *cli)
{
	return query_run(self, cli, explain_print);
}

void
explain_print(FILE *out, const struct query_answer *a, int last)
{
	(void)last;
	fprintf(out, "%s\n", a->object);
	for (size_t i = 0; i < NITEMS(sections); i++)
		put_section(out, a, &sections[i]);
	put_more(out, a);
	put_consumers_of_all(out, a);
	put_writes(out, a);
	put_held(out, a);
	fprintf(out, "\n");
	if (has_report(a->object) && !query_names(a, "insight"))	/* explains why there is no write */
		fprintf(out, "-- insight is not enabled: no insight is written for it\n");
	query_put_since(out, a);
	query_put_absent(out, a);
}

/* Whether insight writes an object about it. */
static bool
has_report(const char *object)
{
	char resource[64];

	snprintf(resource, sizeof(resource), "%.*s", (int)strcspn(object, "/"), object);
	return kind_report(resource) != NULL;
}

/* ---- What the actors report themselves ---- */

static void
put_section(FILE *out, const struct query_answer *a, const struct section *s)
{
	const char *actor;
	json_t *answer;

	json_object_foreach(json_object_get(a->answer, "actors"), actor, answer) {
		const json_t *const value = json_object_get(json_object_get(answer, "facts"), s->member);

		if (value == NULL)
			continue;
		put_title(out, s->title, actor);
		s->put(out, value);
	}
}

static void
put_more(FILE *out, const struct query_answer *a)
{
	const char *actor, *name;
	json_t *answer, *value;

	json_object_foreach(json_object_get(a->answer, "actors"), actor, answer) {
		bool titled = false;

		json_object_foreach(json_object_get(answer, "facts"), name, value) {
			if (has_section(name))
				continue;
			if (!titled)
				put_title(out, "More", actor);
			titled = true;
			put_member(out, name, value);
		}
		if (query_text(answer, "error")[0] != '\0') {
			put_title(out, "Error", actor);
			put_sentence(out, json_object_get(answer, "error"));
		}
	}
}

static bool
has_section(const char *name)
{
	for (size_t i = 0; i < NITEMS(sections); i++) {
		if (strcmp(sections[i].member, name) == 0)
			return true;
	}
	return false;
}

static void
put_members(FILE *out, const json_t *o)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)o, name, value) {
		if (json_is_array(value))
			put_conditions(out, value);
		else
			put_member(out, name, value);
	}
}

static void
put_member(FILE *out, const char *name, const json_t *value)
{
	fprintf(out, "  ");
	query_put_padded(out, name, NAME_COLUMNS);
	put_value(out, value);
	fprintf(out, "\n");
}

static void
put_sentence(FILE *out, const json_t *value)
{
	fprintf(out, "  ");
	put_value(out, value);
	fprintf(out, "\n");
}

/* A list of anything: conditions by their columns, the rest as it is. */
static void
put_conditions(FILE *out, const json_t *list)
{
	size_t i;
	json_t *c;

	json_array_foreach(list, i, c) {
		const char *const turned = query_text(c, "lastTransitionTime");
		const char *const since = turned[0] != '\0' ? turned : query_text(c, "since");

		fprintf(out, "  ");
		if (query_text(c, "status")[0] == '\0') {
			put_value(out, c);
			fprintf(out, "\n");
			continue;
		}
		query_put_padded(out, query_text(c, "type"), TYPE_COLUMNS);
		query_put_padded(out, query_text(c, "status"), STATUS_COLUMNS);
		query_put_padded(out, query_text(c, "reason"), REASON_COLUMNS);
		query_put(out, query_text(c, "message"));
		if (since[0] != '\0') {
			fprintf(out, "  since ");
			query_put(out, since);
		}
		fprintf(out, "\n");
	}
}

static void
put_write(FILE *out, const json_t *w)
{
	char at[QUERY_TIME_MAX];

	fprintf(out, "  %-18s", query_int(w, "at_us") != 0 ? query_time(query_int(w, "at_us"), at) : "-");
	query_put(out, query_text(w, "what"));
	fprintf(out, "  ");
	query_put(out, query_text(w, "outcome"));
	if (query_text(w, "message")[0] != '\0') {
		fprintf(out, ": ");
		query_put(out, query_text(w, "message"));
	}
	fprintf(out, "\n");
}

static void
put_value(FILE *out, const json_t *value)
{
	char *text;

	if (json_is_string(value)) {
		query_put(out, json_string_value(value)[0] != '\0' ? json_string_value(value) : "-");
		return;
	}
	text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	fprintf(out, "%s", text != NULL ? text : "?");	/* jansson escapes control characters */
	free(text);
}

/* ---- What the runtime reports ---- */

static void
put_consumers_of_all(FILE *out, const struct query_answer *a)
{
	const char *actor;
	json_t *answer, *held;
	size_t i;

	put_title(out, "Consumers", NULL);
	bool none = true;
	json_object_foreach(json_object_get(a->answer, "actors"), actor, answer) {
		json_array_foreach(json_object_get(answer, "held"), i, held) {
			put_consumers(out, actor, answer, held);
			none = none && json_object_size(json_object_get(held, "consumers")) == 0;
		}
	}
	if (none)
		fprintf(out, "  none\n");
}

static void
put_consumers(FILE *out, const char *actor, const json_t *answer, const json_t *held)
{
	const char *consumer;
	json_t *how;

	json_object_foreach(json_object_get(held, "consumers"), consumer, how) {
		char pair[160], at[QUERY_TIME_MAX];
		const int64_t us = sent_us(answer, held, consumer);

		snprintf(pair, sizeof(pair), "%s -> %s", actor, consumer);
		fprintf(out, "  ");
		query_put_padded(out, pair, PAIR_COLUMNS);
		query_put_padded(out, json_is_string(how) ? json_string_value(how) : "?", HOW_COLUMNS);
		query_put_padded(out, us != 0 ? query_time(us, at) : "not recorded", TIME_COLUMNS);
		query_put(out, query_text(held, "key"));
		fprintf(out, "\n");
	}
}

/* When it was last sent to that consumer, as far as the hops go back. */
static int64_t
sent_us(const json_t *answer, const json_t *held, const char *consumer)
{
	int64_t us = 0;
	size_t i;
	json_t *hop;

	json_array_foreach(json_object_get(answer, "hops"), i, hop) {
		if (strcmp(query_text(hop, "what"), "sent") == 0
		    && strcmp(query_text(hop, "peer"), consumer) == 0
		    && strcmp(query_text(hop, "link"), query_text(held, "link")) == 0
		    && strcmp(query_text(hop, "key"), query_text(held, "key")) == 0)
			us = query_int(hop, "at_us");
	}
	return us;
}

/* The writes among the hops: requests and outcomes. */
static void
put_writes(FILE *out, const struct query_answer *a)
{
	const char *actor;
	json_t *answer, *hop;
	bool titled = false;
	size_t i;

	json_object_foreach(json_object_get(a->answer, "actors"), actor, answer) {
		json_array_foreach(json_object_get(answer, "hops"), i, hop) {
			const char *const what = query_text(hop, "what");
			char at[QUERY_TIME_MAX];

			if (strcmp(what, "write-requested") != 0 && strcmp(what, "write-done") != 0)
				continue;
			if (!titled)
				put_title(out, "Writes", NULL);
			titled = true;
			fprintf(out, "  ");
			query_put_padded(out, actor, PAIR_COLUMNS);
			query_put_padded(out, what + strlen("write-"), HOW_COLUMNS);
			query_put_padded(out, query_time(query_int(hop, "at_us"), at), TIME_COLUMNS);
			query_put(out, query_text(hop, "key"));
			fprintf(out, "  ");
			query_put(out, query_text(hop, "text"));
			fprintf(out, "\n");
		}
	}
}

static void
put_held(FILE *out, const struct query_answer *a)
{
	const char *actor;
	json_t *answer, *held;
	size_t i;

	put_title(out, "Held by", NULL);
	json_object_foreach(json_object_get(a->answer, "actors"), actor, answer) {
		json_array_foreach(json_object_get(answer, "held"), i, held) {
			const char *const rv = query_text(held, "rv");

			fprintf(out, "  ");
			query_put_padded(out, actor, HOLDER_COLUMNS);
			query_put_padded(out, query_text(held, "link"), HOLDER_COLUMNS);
			query_put_padded(out, query_text(held, "side"), STATUS_COLUMNS);
			query_put(out, query_text(held, "key"));
			fprintf(out, "%s", rv[0] != '\0' ? "  rv " : "");
			query_put(out, rv);
			if (json_is_false(json_object_get(held, "fresh")))
				fprintf(out, "  stale: no beat from its producer");
			fprintf(out, "\n");
		}
	}
}

static void
put_title(FILE *out, const char *title, const char *actor)
{
	fprintf(out, "\n%s", title);
	if (actor != NULL) {
		fprintf(out, " (");
		query_put(out, actor);
		fprintf(out, ")");
	}
	fprintf(out, "\n");
}
