/* cli/object_query.c - queries all actors about one object, for `muster explain` and `muster trace`. */
#include "object_query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control_client.h"
#include "kinds.h"
#include "obj.h"
#include "utf8.h"
#include "config/nearest.h"

enum { NAME_MAX_BYTES = 253, LAST_MAX = 1000, LAST_DEFAULT = 10 };

/* Short names; besides them every resource of kinds.h as it is written in a path. */
static const struct {
	const char	*word, *resource;
} short_names[] = {
	{ "node",              "nodes" },
	{ "pool",              "machineconfigpools" },
	{ "mcp",               "machineconfigpools" },
	{ "machineconfigpool", "machineconfigpools" },
	{ "machineconfig",     "machineconfigs" },
	{ "mc",                "machineconfigs" },
	{ "nodeclaim",         "nodeclaims" },
	{ "nodepool",          "nodepools" },
	{ "linodenodeclass",   "linodenodeclasses" },
	{ "nodegroup",         "nodegroups" },
	{ "ng",                "nodegroups" },
	{ "vpsienode",         "vpsienodes" },
	{ "vn",                "vpsienodes" },
	{ "machinedeployment", "machinedeployments" },
	{ "md",                "machinedeployments" },
	{ "cluster",           "clusters" },
};

/* The lists of actors without an answer, and why they have none. */
static const struct {
	const char	*list, *why;
} absent[] = {
	{ "down",       "is not running" },
	{ "missing",    "did not answer in time" },
	{ "left_off",   "sent more than fits an answer" },
	{ "unreadable", "sent an answer that cannot be parsed" },
};

const struct flag query_flags[] = {
	{ "output", 'o', "text|json", offsetof(struct query_options, output), "json: one object, on one line" },
	{ "last",   'n', "N",         offsetof(struct query_options, last),   "the last N changes (10)" },
};

static const char *resource_of(const char *, size_t);
static const char *nearest_kind(const char *, size_t);
static bool read_answers(struct query_answer *);
static bool parse_last(const char *, int *);
static int exit_code(const struct command *, const struct query_answer *, const char *);

const char *
query_kind(size_t i)
{
	return i < NITEMS(short_names) ? short_names[i].word : NULL;
}

int
query_run(const struct command *c, const struct cli *cli, query_print *print)
{
	const struct query_options *o = cli->options;
	char object[QUERY_OBJECT_MAX + 1], why[CONTROL_WHY_MAX], request[QUERY_OBJECT_MAX + 16];
	int last = LAST_DEFAULT;
	bool json;

	if (!cli_output(c, o->output, &json))
		return CLI_USAGE;
	if (o->last != NULL && !parse_last(o->last, &last))
		return cli_usage(c, "-n takes a number from 1 to %d, not `%.64s`", LAST_MAX, o->last);
	if (!query_object(cli->words[0], object, why, sizeof(why)))
		return cli_usage(c, "%s", why);
	snprintf(request, sizeof(request), "%s %s", c->name, object);
	char *line = control_request(cli->run_dir, request, why);
	struct query_answer *a = line != NULL ? query_parse(line, why, sizeof(why)) : NULL;
	free(line);
	if (a == NULL)
		return cli_failed(c, "%s", why);
	if (json) {
		json_dumpf(a->answer, stdout, JSON_COMPACT);
		printf("\n");
	} else if (a->known) {
		print(stdout, a, last);
	} else {
		query_put_absent(stderr, a);
	}
	fflush(stdout);
	const int code = exit_code(c, a, cli->words[0]);
	query_free(&a);
	return code;
}

static int
exit_code(const struct command *c, const struct query_answer *a, const char *word)
{
	if (a->known)
		return CLI_OK;
	if (!a->complete)
		return cli_failed(c, "no actor that answered holds %s, and not all answered", word);
	cli_failed(c, "no actor holds %s; check the name, and that an enabled actor reads this kind", word);
	return CLI_UNKNOWN;
}

static bool
parse_last(const char *text, int *last)
{
	char *end;

	errno = 0;
	const long n = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || n < 1 || n > LAST_MAX)
		return false;
	*last = (int)n;
	return true;
}

/* ---- The object ---- */

bool
query_object(const char *word, char object[QUERY_OBJECT_MAX + 1], char *why, size_t size)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-/";
	const char *slash = strchr(word, '/');
	const size_t len = slash != NULL ? (size_t)(slash - word) : strlen(word);
	const char *resource = resource_of(word, len);

	if (slash == NULL || slash[1] == '\0') {
		snprintf(why, size, "a name is missing: `%.64s` must be KIND/NAME or KIND/NAMESPACE/NAME",
		    word);
		return false;
	}
	if (resource == NULL) {
		const char *near = nearest_kind(word, len);

		snprintf(why, size, "unknown kind of object `%.*s`%s%s%s; there are node, pool, "
		    "and those that `muster help explain` lists", len < 64 ? (int)len : 64, word,
		    near != NULL ? ": did you mean `" : "", near != NULL ? near : "",
		    near != NULL ? "`?" : "");
		return false;
	}
	const char *name = strrchr(word, '/') + 1;
	if (slash[1 + strspn(slash + 1, allowed)] != '\0' || *name == '\0' || strstr(word, "//") != NULL) {
		snprintf(why, size, "`%.64s` is not a name: lower case letters, digits, `-` and `.`",
		    slash + 1);
		return false;
	}
	const int n = snprintf(object, QUERY_OBJECT_MAX + 1, "%s%s", resource, slash);
	if (strlen(name) > NAME_MAX_BYTES || n > QUERY_OBJECT_MAX) {
		snprintf(why, size, "a name has at most %d characters", NAME_MAX_BYTES);
		return false;
	}
	return true;
}

static const char *
resource_of(const char *word, size_t len)
{
	for (size_t i = 0; i < NITEMS(short_names); i++) {
		if (strlen(short_names[i].word) == len && memcmp(short_names[i].word, word, len) == 0)
			return short_names[i].resource;
	}
	for (unsigned k = 0; k < KIND_MAX; k++) {
		if (strlen(kind_table[k].resource) == len && memcmp(kind_table[k].resource, word, len) == 0)
			return kind_table[k].resource;
	}
	return NULL;
}

static const char *
nearest_kind(const char *word, size_t len)
{
	const char *names[NITEMS(short_names) + KIND_MAX];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(short_names); i++)
		names[n++] = short_names[i].word;
	for (unsigned k = 0; k < KIND_MAX; k++)
		names[n++] = kind_table[k].resource;
	return nearest_word(word, len, names, n);
}

/* ---- The answer ---- */

struct query_answer *
query_parse(const char *line, char *why, size_t size)
{
	json_error_t error;
	json_t *answer = json_loads(line, JSON_REJECT_DUPLICATES, &error);
	const char *failure = json_string_value(json_object_get(answer, "error"));
	struct query_answer *a = NULL;

	if (answer == NULL) {
		snprintf(why, size, "musterd's answer cannot be read: %s", error.text);
	} else if (failure != NULL) {
		snprintf(why, size, "musterd answered: %.200s", failure);
	} else {
		a = obj_alloc(sizeof(*a));
		a->answer = json_incref(answer);
		a->object = query_text(answer, "object");
		if (!read_answers(a)) {
			snprintf(why, size,
			    "musterd's answer does not match the request; is musterd of another version?");
			query_free(&a);
		}
	}
	json_decref(answer);
	return a;
}

void
query_free(struct query_answer **ap)
{
	if (*ap == NULL)
		return;
	json_decref((*ap)->answer);
	free(*ap);
	*ap = NULL;
}

/* Parses the text of each actor; those that cannot be parsed are listed in `unreadable`. */
static bool
read_answers(struct query_answer *a)
{
	json_t *actors = json_object_get(a->answer, "actors"), *text;
	json_t *read = json_object(), *unreadable = json_array();
	const char *name;

	json_object_foreach(actors, name, text) {
		json_t *answer = json_loadb(json_string_value(text), json_string_length(text), 0, NULL);

		if (!json_is_object(answer)) {
			json_array_append_new(unreadable, json_string(name));
		} else {
			a->known = a->known || json_is_true(json_object_get(answer, "known"));
			json_object_set(read, name, answer);
		}
		json_decref(answer);
	}
	json_object_set_new(a->answer, "actors", read);
	json_object_set_new(a->answer, "unreadable", unreadable);
	a->complete = true;
	for (size_t i = 0; i < NITEMS(absent); i++) {
		if (json_array_size(json_object_get(a->answer, absent[i].list)) > 0)
			a->complete = false;
	}
	return a->object[0] != '\0' && actors != NULL;
}

const char *
query_text(const json_t *o, const char *name)
{
	const char *text = json_string_value(json_object_get(o, name));

	return text != NULL ? text : "";
}

int64_t
query_int(const json_t *o, const char *name)
{
	return json_integer_value(json_object_get(o, name));
}

/* ---- Printing ---- */

int
query_put(FILE *out, const char *text)
{
	int columns = 0;

	while (*text != '\0') {
		char shown[UTF8_SHOWN_MAX];
		size_t n;
		const size_t used = utf8_show_text(text, strlen(text), shown, &n);

		fwrite(shown, 1, n, out);
		columns += shown[0] == *text && n == used ? 1 : (int)n;
		text += used;
	}
	return columns;
}

void
query_put_padded(FILE *out, const char *text, int width)
{
	const int columns = query_put(out, text);

	fprintf(out, "%*s", columns < width ? width - columns : 0, "");
}

const char *
query_time(int64_t us, char buf[QUERY_TIME_MAX])
{
	const time_t s = (time_t)(us / 1000000);
	struct tm tm;
	size_t n = 0;

	if (localtime_r(&s, &tm) != NULL)
		n = strftime(buf, QUERY_TIME_MAX, "%H:%M:%S", &tm);
	snprintf(buf + n, QUERY_TIME_MAX - n, ".%06d", (int)(us % 1000000 < 0 ? 0 : us % 1000000));
	return buf;
}

/* A restart loses the hops of an actor, and each keeps a limited number of them. */
void
query_put_since(FILE *out, const struct query_answer *a)
{
	const char *actor;
	json_t *answer;
	char at[QUERY_TIME_MAX];

	json_object_foreach(json_object_get(a->answer, "actors"), actor, answer) {
		const int64_t left_off = query_int(answer, "hops_left_off");
		const int64_t others = query_int(answer, "hops_of_others");

		if (!json_is_true(json_object_get(answer, "known")))
			continue;
		fprintf(out, "-- ");
		query_put(out, actor);
		fprintf(out, " started at %s", query_time(query_int(answer, "started_us"), at));
		if (query_int(answer, "hops_since_us") != 0)
			fprintf(out, ", has hops since %s",
			    query_time(query_int(answer, "hops_since_us"), at));
		if (left_off > 0)
			fprintf(out, ", %" PRId64 " older hops left off", left_off);
		if (others > 0)
			fprintf(out,
			    ", %" PRId64 " hops of other objects in the same traces left out",
			    others);
		fprintf(out, "\n");
	}
}

void
query_put_absent(FILE *out, const struct query_answer *a)
{
	json_t *name;
	size_t k;

	for (size_t i = 0; i < NITEMS(absent); i++) {
		json_array_foreach(json_object_get(a->answer, absent[i].list), k, name) {
			fprintf(out, "-- ");
			query_put(out, json_is_string(name) ? json_string_value(name) : "?");
			fprintf(out, " %s\n", absent[i].why);
		}
	}
}

bool
query_names(const struct query_answer *a, const char *actor)
{
	bool named = json_object_get(json_object_get(a->answer, "actors"), actor) != NULL;
	json_t *name;
	size_t k;

	for (size_t i = 0; i < NITEMS(absent); i++) {
		json_array_foreach(json_object_get(a->answer, absent[i].list), k, name)
			named |= json_is_string(name) && strcmp(json_string_value(name), actor) == 0;
	}
	return named;
}
