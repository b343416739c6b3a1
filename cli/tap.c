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
#include "keytab.h"
#include "config/nearest.h"
#include "tapfile.h"

struct tap_options {
	const char	*actor, *link, *message, *key, *trace, *output, *count, *record, *replay;
	bool		 received;
};

static int run(const struct command *, const struct cli *);

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
	.flags = flags, .nflags = NITEMS(flags), .options_size = sizeof(struct tap_options),
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
	struct keytab		*seen;		/* for tap_loss_before */
	struct tapfile		*record;
	struct msg_arena	 arena;
};

static bool read_options(const struct command *, const struct tap_options *, struct tapping *);
static bool read_name(
    const struct command *, const char *, const char *, const char *const *, unsigned, unsigned *);
static bool read_trace(const struct command *, const char *, struct filter *);
static bool read_count(const struct command *, const char *, uint64_t *);
static int watch(struct tapping *, const struct cli *);
static int replay(struct tapping *, const char *);
static bool take(struct tapping *, const struct capture_raw *);

static int
run(const struct command *self, const struct cli *cli)
{
	const struct tap_options *o = cli->options;
	struct tapping t = { .command = self, .filter = FILTER_ALL, .left = UINT64_MAX };

	if (!read_options(self, o, &t))
		return CLI_USAGE;
	if (o->record != NULL && (t.record = tapfile_create(o->record)) == NULL)
		return cli_failed(self, "cannot write %s: %s", o->record, strerror(errno));
	interrupt_catch();
	t.seen = keytab_new(sizeof(struct tap_position));
	msg_arena_init(&t.arena);
	int code = o->replay != NULL ? replay(&t, o->replay) : watch(&t, cli);
	msg_arena_free(&t.arena);
	keytab_free(&t.seen);
	if (!tapfile_close(&t.record))
		code = cli_failed(self, "%s is not complete: %s", o->record, strerror(errno));
	return code;
}

/* False: an error was printed. */
static bool
read_options(const struct command *self, const struct tap_options *o, struct tapping *t)
{
	const char *actors[ROLE_MAX], *links[LINK_MAX], *messages[MSG_MAX];
	unsigned actor = ROLE_ANY, link = LINK_MAX, message = MSG_MAX;

	for (unsigned i = 0; i < ROLE_MAX; i++)
		actors[i] = role_name((enum role)i);
	for (unsigned i = 0; i < LINK_MAX; i++)
		links[i] = link_table[i].name;
	for (unsigned i = 0; i < MSG_MAX; i++)
		messages[i] = msg_name((enum msg)i);
	if (!cli_output(self, o->output, &t->json))
		return false;
	if (o->record != NULL && o->replay != NULL) {
		cli_usage(self, "--record and --replay exclude each other");
		return false;
	}
	if (!read_name(self, "actor", o->actor, actors, ROLE_MAX, &actor)
	    || !read_name(self, "link", o->link, links, LINK_MAX, &link)
	    || !read_name(self, "message", o->message, messages, MSG_MAX, &message)
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

	struct tap_client *l = tap_client_open(cli->run_dir, &t->filter, why);
	if (l == NULL)
		return cli_failed(t->command, "%s", why);
	while (tap_client_next(l, &raw) && take(t, &raw))
		;
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

	struct tapfile *f = tapfile_open(path);
	if (f == NULL)
		return cli_failed(t->command, "cannot replay %s: %s", path,
		    errno == EINVAL ? "not a file that `muster tap --record` wrote" : strerror(errno));
	while (!interrupt_caught() && tapfile_read(f, &raw, &why) && take(t, &raw))
		;
	fflush(stdout);
	if (why != NULL)
		code = cli_failed(t->command, "%s: damaged at byte %ld: %s", path, tapfile_offset(f), why);
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
	const uint64_t missing = wrong == NULL ? tap_loss_before(t->seen, &c) : 0;
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

/* The place of that name in its list; a name that does not exist is answered with those that do. */
static bool
read_name(const struct command *self, const char *what, const char *name, const char *const *names,
    unsigned n, unsigned *out)
{
	char list[4096] = "";
	size_t len = 0;

	if (name == NULL)
		return true;
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0) {
			*out = i;
			return true;
		}
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i > 0 ? ", " : "", names[i]);
	}
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
