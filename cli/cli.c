/* cli/cli.c - the commands of `muster`: one table, for dispatch and for the help. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "config/nearest.h"
#include "supervisor/paths.h"
#include "version.h"

static int run_help(const struct command *, const struct cli *);

static const struct command help_command = {
	.name = "help", .synopsis = "[COMMAND]", .summary = "Show the help of a command.", .max_words = 1,
	.run = run_help,
};

static const struct command *const commands[] = {
	&status_command, &explain_command, &trace_command, &tap_command, &check_command, &level_command,
	&restart_command, &reload_command, &version_command, &help_command,
};

/* Options of every command. */
const struct flag cli_common_flags[] = {
	{ "run-dir", 0, "DIR", offsetof(struct cli, run_dir),
	    "folder of the running musterd ($MUSTER_RUN_DIR, /run/muster, $XDG_RUNTIME_DIR/muster)" },
};
const size_t cli_ncommon_flags = NITEMS(cli_common_flags);

/* The options before the command. */
struct own {
	bool	version;
};
static const struct flag own_flags[] = {
	{ "version", 0, NULL, offsetof(struct own, version), "what `muster version` prints" },
};
static const struct command muster_command = {
	.synopsis = "COMMAND ...", .flags = own_flags, .nflags = NITEMS(own_flags),
};

static bool read_words(const struct command *, struct cli *, void *, int, char **, int *);
static void print_help(const struct command *);
static void print_commands(FILE *);
static const struct command *find(const char *);
static int unknown(const char *);
static int first_word(int, char **);
static void complain(const struct command *, const char *, va_list) __attribute__((format(printf, 2, 0)));

int
cli_main(int argc, char **argv)
{
	const char *default_dir = paths_run_dir(NULL, "");
	struct cli cli = { .run_dir = default_dir != NULL ? default_dir : "" };
	struct own own = { 0 };
	int code;

	const int first = first_word(argc, argv);
	if (!read_words(&muster_command, &cli, &own, first - 1, argv + 1, &code))
		return code;
	if (own.version)
		return cli_run(&version_command, &cli, 0, argv);
	if (first == argc) {
		print_commands(stderr);
		return CLI_USAGE;
	}
	const struct command *c = find(argv[first]);
	if (c == NULL)
		return unknown(argv[first]);
	return cli_run(c, &cli, argc - first - 1, argv + first + 1);
}

const struct command *
cli_command(size_t i)
{
	return i < NITEMS(commands) ? commands[i] : NULL;
}

int
cli_run(const struct command *c, struct cli *cli, int argc, char **argv)
{
	void *options = obj_alloc(c->options_size + 1);
	int code;

	if (read_words(c, cli, options, argc, argv, &code))
		code = c->run(c, cli);
	free(options);
	/* A reader that closes its pipe has what it wants; a full disk has half a file. */
	if (fflush(stdout) == EOF && errno != EPIPE && code == CLI_OK)
		code = cli_failed(c, "cannot write the output: %s", strerror(errno));
	return code;
}

/* Fills cli. False: help or usage was printed, *code is the exit code. */
static bool
read_words(const struct command *c, struct cli *cli, void *options, int argc, char **argv, int *code)
{
	const struct flags common = { .rows = cli_common_flags, .n = NITEMS(cli_common_flags), .out = cli };
	const struct flags all = { .rows = c->flags, .n = c->nflags, .out = options, .next = &common };
	char why[FLAGS_WHY_MAX];
	bool help;

	const int words = flags_parse(&all, argc, argv, &help, why);
	cli->options = options;
	cli->words = argv;
	cli->nwords = words;
	*code = CLI_OK;
	if (help && c->name != NULL)
		print_help(c);
	else if (help)
		print_commands(stdout);
	else if (words == -1)
		*code = cli_usage(c, "%s", why);
	else if (words < c->min_words)
		*code = cli_usage(c, "an argument is missing: %s", c->synopsis);
	else if (words > c->max_words)
		*code = cli_usage(c, "too many arguments, from `%.64s` on", argv[c->max_words]);
	else
		return true;
	return false;
}

bool
cli_output(const struct command *c, const char *output, bool *json)
{
	*json = output != NULL && strcmp(output, "json") == 0;
	if (*json || output == NULL || strcmp(output, "text") == 0)
		return true;
	cli_usage(c, "unknown output `%.64s`; there are text and json", output);
	return false;
}

static void
print_help(const struct command *c)
{
	printf("usage: muster %s%s%s\n\n%s\n", c->name, c->synopsis[0] != '\0' ? " " : "", c->synopsis,
	    c->summary);
	printf("\n");
	flags_print(stdout, c->flags, c->nflags);
	flags_print(stdout, cli_common_flags, NITEMS(cli_common_flags));
	if (c->more != NULL)
		printf("\n%s", c->more);
}

int
cli_usage(const struct command *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(c, fmt, ap);
	va_end(ap);
	fprintf(stderr, "see: muster help%s%s\n", c->name != NULL ? " " : "", c->name != NULL ? c->name : "");
	return CLI_USAGE;
}

int
cli_failed(const struct command *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(c, fmt, ap);
	va_end(ap);
	return CLI_FAILED;
}

static void
complain(const struct command *c, const char *fmt, va_list ap)
{
	fprintf(stderr, "muster%s%s: ", c->name != NULL ? " " : "", c->name != NULL ? c->name : "");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
}

static int
run_help(const struct command *self, const struct cli *cli)
{
	(void)self;
	if (cli->nwords == 0) {
		print_commands(stdout);
		return CLI_OK;
	}
	const struct command *c = find(cli->words[0]);
	if (c == NULL)
		return unknown(cli->words[0]);
	print_help(c);
	return CLI_OK;
}

static void
print_commands(FILE *out)
{
	fprintf(out, "usage: muster [--run-dir DIR] COMMAND ...\n\n"
	    "Shows and controls a running musterd and its actors.\n\ncommands:\n");
	for (size_t i = 0; i < NITEMS(commands); i++)
		fprintf(out, "  %-24s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(out, "\noptions:\n");
	flags_print(out, cli_common_flags, NITEMS(cli_common_flags));
	flags_print(out, own_flags, NITEMS(own_flags));
	fprintf(out, "\nexamples:\n"
	    "  muster status -w                           the actors, every second\n"
	    "  muster explain node/worker-3               inputs, rule, consumers, last write\n"
	    "  muster tap --link stats -n 10              ten messages of that link\n"
	    "  muster check /etc/muster/muster.yaml       before a reload\n"
	    "  muster help tap                            the help of one command\n");
}

static const struct command *
find(const char *name)
{
	for (size_t i = 0; i < NITEMS(commands); i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

static int
unknown(const char *word)
{
	const char *names[NITEMS(commands)];

	for (size_t i = 0; i < NITEMS(commands); i++)
		names[i] = commands[i]->name;
	const char *near = nearest_word(word, strlen(word), names, NITEMS(commands));
	if (near != NULL)
		return cli_usage(&muster_command, "unknown command `%.64s`; did you mean `%s`?", word, near);
	return cli_usage(&muster_command, "unknown command `%.64s`", word);
}

/* The index of the command: after the options of `muster` itself. */
static int
first_word(int argc, char **argv)
{
	int i = 1;

	while (i < argc && argv[i][0] == '-')
		i += strcmp(argv[i], "--run-dir") == 0 && i + 1 < argc ? 2 : 1;
	return i;
}
