/* cli/tap.c - `muster tap`: watch the messages between actors, live or from a file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control_client.h"
#include "filter.h"
#include "tap_line.h"
#include "obj.h"
#include "interrupt.h"
#include "config/nearest.h"
#include "tapfile.h"

enum { NAMES_MAX = 128 };

struct tap_options {
	const char	*actor, *link, *message, *key, *trace, *output, *count, *record, *replay;
	bool		 received;
};

static int run(const struct command *, struct cli *, int, char **);

static const struct flag flags[] = {
	{ "actor",    0,   "ACTOR",     offsetof(struct tap_options, actor),    "only what this actor sends" },
	{ "link",     0,   "LINK",      offsetof(struct tap_options, link),     "only this link" },
	{ "message",  0,   "MESSAGE",   offsetof(struct tap_options, message),  "only this message, or items with this value" },
	{ "key",      0,   "GLOB",      offsetof(struct tap_options, key),      "only items whose key matches, as in a shell" },
	{ "trace",    0,   "ID",        offsetof(struct tap_options, trace),    "only what belongs to this trace (hex)" },
	{ "received", 0,   NULL,        offsetof(struct tap_options, received), "what actors receive instead of what they send" },
	{ "output",   'o', "text|json", offsetof(struct tap_options, output),   "json: one object per line" },
	{ "count",    'n', "COUNT",     offsetof(struct tap_options, count),    "end after so many messages" },
	{ "record",   0,   "FILE",      offsetof(struct tap_options, record),   "keep the records too; --key and --trace do not apply" },
	{ "replay",   0,   "FILE",      offsetof(struct tap_options, replay),   "read them from a file; musterd is not needed" },
};

const struct command tap_command = {
	.name = "tap",
	.synopsis = "[--actor A] [--link L] [--message M] [--key GLOB] [--trace ID] [--received]\n"
		    "                  [-o text|json] [-n COUNT] [--record FILE | --replay FILE]",
	.summary = "Show the messages between actors, one line each.",
	.flags = flags, .nflags = NITEMS(flags),
	.more = "Ctrl-C ends it. A tap never delays the actors: a reader that is too slow loses records,\n"
		"and their number is printed.\n\n"
		"exit codes: 0 ended, 1 musterd cannot be reached or a file is bad, 2 usage\n\n"
		"examples:\n"
		"  muster tap --link stats --message DELTA\n"
		"  muster tap --key 'worker-*' -o json | jq .value\n"
		"  muster tap --record night.tap >/dev/null; muster tap --replay night.tap --trace 1f00d\n",
	.run = run,
};

/* A running tap. */
struct tapping {
	const struct command	*command;
	struct filter		 filter;
	bool			 json;
	uint64_t		 left;		/* lines still to print */
	struct tap_loss		*lost;
	struct tapfile		*record;
	struct msg_arena	 arena;
};

/* The names of a list, by number. */
typedef const char *name_at(unsigned i);

static bool read_options(const struct command *, const struct tap_options *, struct tapping *);
static bool read_name(const struct command *, const char *, const char *, name_at *, unsigned, unsigned *);
static bool read_trace(const struct command *, const char *, struct filter *);
static bool read_count(const struct command *, const char *, uint64_t *);
static int watch(struct tapping *, const struct cli *);
static int replay(struct tapping *, const char *);
static bool take(struct tapping *, const struct capture_raw *);
static name_at role_at, link_at, message_at;

static int
run(const struct command *self, struct cli *cli, int argc, char **argv)
{
	struct tap_options o = { .output = "text" };
	struct tapping t = { .command = self, .filter = FILTER_ALL, .left = UINT64_MAX };
	int words, code;

	if (!cli_words(self, cli, argc - 1, argv + 1, &o, 0, 0, &words, &code))
		return code;
	if (!read_options(self, &o, &t))
		return CLI_USAGE;
	if (o.record != NULL && (t.record = tapfile_create(o.record)) == NULL)
		return cli_failed(self, "cannot write %s: %s", o.record, strerror(errno));
	interrupt_catch();
	t.lost = tap_loss_new();
	msg_arena_init(&t.arena);
	code = o.replay != NULL ? replay(&t, o.replay) : watch(&t, cli);
	msg_arena_free(&t.arena);
	tap_loss_free(&t.lost);
	if (!tapfile_close(&t.record))
		code = cli_failed(self, "%s is not complete: %s", o.record, strerror(errno));
	return code;
}

/* False: an error was printed. */
static bool
read_options(const struct command *self, const struct tap_options *o, struct tapping *t)
{
	unsigned actor = ROLE_ANY, link = LINK_MAX, message = MSG_MAX;

	t->json = strcmp(o->output, "json") == 0;
	if (!t->json && strcmp(o->output, "text") != 0) {
		cli_usage(self, "unknown output `%.64s`; there are text and json", o->output);
		return false;
	}
	if (o->record != NULL && o->replay != NULL) {
		cli_usage(self, "--record and --replay exclude each other");
		return false;
	}
	if (!read_name(self, "actor", o->actor, role_at, ROLE_MAX, &actor)
	    || !read_name(self, "link", o->link, link_at, LINK_MAX, &link)
	    || !read_name(self, "message", o->message, message_at, MSG_MAX, &message)
	    || !read_trace(self, o->trace, &t->filter) || !read_count(self, o->count, &t->left))
		return false;
	t->filter.direction = o->received ? TAP_IN : TAP_OUT;
	t->filter.actor = (enum role)actor;
	t->filter.link = (enum link)link;
	t->filter.message = (enum msg)message;
	t->filter.key = o->key;
	return true;
}

static int
watch(struct tapping *t, const struct cli *cli)
{
	char why[CONTROL_WHY_MAX];
	struct capture_raw raw;
	enum tap_client_result got;

	struct tap_client *l = tap_client_open(cli->run_dir, &t->filter, why);
	if (l == NULL)
		return cli_failed(t->command, "%s", why);
	bool wait = false;
	while ((got = tap_client_next(l, wait, &raw)) != TAP_CLIENT_END) {
		if (got == TAP_CLIENT_RECORD && !take(t, &raw))
			break;
		if (got == TAP_CLIENT_NOTHING && fflush(stdout) != 0)
			break;
		wait = got == TAP_CLIENT_NOTHING;
	}
	fflush(stdout);
	tap_client_close(&l);
	return CLI_OK;
}

static int
replay(struct tapping *t, const char *path)
{
	struct capture_raw raw;
	const char *why = NULL;
	int code = CLI_OK;
	bool more = true;

	struct tapfile *f = tapfile_open(path);
	if (f == NULL)
		return cli_failed(t->command, "cannot replay %s: %s", path,
		    errno == EINVAL ? "not a file that `muster tap --record` wrote" : strerror(errno));
	while (more && !interrupt_caught()) {
		const enum tapfile_result got = tapfile_read(f, &raw, &why);

		if (got == TAPFILE_DAMAGED) {
			fflush(stdout);
			code = cli_failed(t->command, "%s: damaged at byte %ld: %s", path, tapfile_offset(f),
			    why);
		}
		more = got == TAPFILE_RECORD && take(t, &raw);
	}
	fflush(stdout);
	tapfile_close(&f);
	return code;
}

/* Prints a record's lines. False: enough. */
static bool
take(struct tapping *t, const struct capture_raw *raw)
{
	struct capture c;
	struct tap_line l;

	msg_arena_reset(&t->arena);
	const char *wrong = capture_open(&c, raw, &t->arena);
	if (wrong == NULL && !filter_record(&t->filter, &c))
		return true;
	if (t->record != NULL && !tapfile_write(t->record, raw))
		return false;
	const uint64_t missing = wrong == NULL ? tap_loss_before(t->lost, &c) : 0;
	if (missing > 0)
		tap_line_print_lost(stdout, missing, role_name(c.actor), t->json);
	while (wrong == NULL && t->left > 0 && c.frame.bodies > 0) {
		if (!tap_line_next(&l, &c, &t->arena)) {
			wrong = "a body does not decode";
		} else if (filter_line(&t->filter, &l)) {
			tap_line_print(stdout, &l, t->json);
			t->left--;
		}
	}
	if (wrong != NULL)
		tap_line_print_damaged(stdout, wrong, &raw->topic, t->json);
	return t->left > 0 && !ferror(stdout);
}

/* The place of that name in its list; names that do not exist are answered with those that do. */
static bool
read_name(const struct command *self, const char *what, const char *name, name_at *at, unsigned n,
    unsigned *out)
{
	const char *names[NAMES_MAX];
	char list[4096] = "";
	size_t len = 0;

	MUST(n <= NAMES_MAX);
	for (unsigned i = 0; name != NULL && i < n; i++) {
		if (strcmp(at(i), name) == 0) {
			*out = i;
			return true;
		}
		names[i] = at(i);
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i > 0 ? ", " : "", at(i));
	}
	if (name == NULL)
		return true;
	const char *near = nearest_word(name, strlen(name), names, n);
	cli_usage(self, "unknown %s `%.64s`%s%s%s\nthere are: %s", what, name,
	    near != NULL ? "; did you mean `" : "", near != NULL ? near : "", near != NULL ? "`?" : "", list);
	return false;
}

static bool
read_trace(const struct command *self, const char *text, struct filter *f)
{
	char *end;

	if (text == NULL)
		return true;
	f->by_trace = true;
	f->trace = strtoull(text, &end, 16);
	if (strlen(text) <= 16 && strspn(text, "0123456789abcdefABCDEF") == strlen(text) && f->trace != 0)
		return true;
	cli_usage(self, "not a trace id: `%.64s`; it has up to 16 hex digits", text);
	return false;
}

static bool
read_count(const struct command *self, const char *text, uint64_t *out)
{
	if (text == NULL)
		return true;
	*out = strtoull(text, NULL, 10);
	if (strlen(text) <= 18 && strspn(text, "0123456789") == strlen(text) && *out > 0)
		return true;
	cli_usage(self, "not a count: `%.64s`; a number from 1 on", text);
	return false;
}

static const char *
role_at(unsigned i)
{
	return role_name((enum role)i);
}

static const char *
link_at(unsigned i)
{
	return link_table[i].name;
}

static const char *
message_at(unsigned i)
{
	return msg_name((enum msg)i);
}
