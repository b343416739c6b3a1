/* cli/cli.c - the commands of `muster`: one table, for dispatch and for the help. */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "obj.h"
#include "config/nearest.h"
#include "supervisor/paths.h"
#include "version.h"

static int run_check(const struct command *, const struct cli *, int, char **);
static int run_help(const struct command *, const struct cli *, int, char **);

static const struct command check_command = {
	.name = "check", .synopsis = "FILE", .run = run_check,
	.summary = "Says whether a configuration file is good, line by line.",
};
static const struct command help_command = {
	.name = "help", .synopsis = "[COMMAND]", .summary = "Explains a command.", .run = run_help,
};

static const struct command *const commands[] = {
	&status_command, &tap_command, &check_command, &level_command, &restart_command, &reload_command,
	&version_command, &help_command,
};

/* The program itself, as the command that reads what stands before the command. */
static const struct flag global_flags[] = {
	{ "run-dir", 0, "DIR", offsetof(struct cli, run_dir),
	    "folder of the running musterd ($MUSTER_RUN_DIR, /run/muster, $XDG_RUNTIME_DIR/muster)" },
	{ "version", 0, NULL, sizeof(struct cli), "what `muster version` prints" },
};
static const struct command muster_command = {
	.synopsis = "COMMAND ...", .flags = global_flags, .nflags = NITEMS(global_flags),
};

struct global {
	struct cli	cli;
	bool		version;
};
_Static_assert(offsetof(struct global, version) == sizeof(struct cli), "where --version is kept");

static void print_commands(FILE *);
static const struct command *find(const char *);
static int unknown(const char *);
static int first_word(int, char **);
static void complain(const struct command *, const char *, va_list) __attribute__((format(printf, 2, 0)));

int
cli_main(int argc, char **argv)
{
	struct global g = { 0 };
	int words, code;

	const int own = first_word(argc, argv);
	if (!cli_words(&muster_command, own - 1, argv + 1, &g, 0, 0, &words, &code))
		return code;
	if (g.version)
		return version_command.run(&version_command, &g.cli, 1, (char *[]){ argv[0], NULL });
	if (own == argc) {
		print_commands(stderr);
		return CLI_USAGE;
	}
	const struct command *c = find(argv[own]);
	if (c == NULL)
		return unknown(argv[own]);
	const char *run_dir = paths_run_dir(g.cli.run_dir, "");
	g.cli.run_dir = run_dir != NULL ? run_dir : "";
	return c->run(c, &g.cli, argc - own, argv + own);
}

bool
cli_words(const struct command *c, int argc, char **argv, void *out, int min, int max, int *words, int *code)
{
	char why[FLAGS_WHY_MAX];
	bool help;

	*words = flags_parse(c->flags, c->nflags, argc, argv, out, &help, why);
	if (help) {
		if (c->name != NULL)
			cli_help(c);
		else
			print_commands(stdout);
		*code = CLI_OK;
		return false;
	}
	if (*words == -1)
		*code = cli_usage(c, "%s", why);
	else if (*words < min)
		*code = cli_usage(c, "an argument is missing: %s", c->synopsis);
	else if (*words > max)
		*code = cli_usage(c, "too many arguments, from `%.64s` on", argv[max]);
	return *words >= min && *words <= max;
}

void
cli_help(const struct command *c)
{
	printf("usage: muster %s%s%s\n\n%s\n", c->name, c->synopsis[0] != '\0' ? " " : "", c->synopsis,
	    c->summary);
	if (c->nflags > 0)
		printf("\n");
	flags_print(stdout, c->flags, c->nflags);
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
run_check(const struct command *self, const struct cli *cli, int argc, char **argv)
{
	(void)self;
	(void)cli;
	return check_main(argc, argv);
}

static int
run_help(const struct command *self, const struct cli *cli, int argc, char **argv)
{
	int words, code;

	if (!cli_words(self, argc - 1, argv + 1, NULL, 0, 1, &words, &code))
		return code;
	if (words == 0) {
		print_commands(stdout);
		return CLI_OK;
	}
	const struct command *c = find(argv[1]);
	if (c == NULL)
		return unknown(argv[1]);
	if (c == &check_command) {
		char name[] = "check", help[] = "--help";

		return check_main(2, (char *[]){ name, help, NULL });
	}
	cli_help(c);
	(void)cli;
	return CLI_OK;
}

static void
print_commands(FILE *out)
{
	fprintf(out, "usage: muster [--run-dir DIR] COMMAND ...\n\n"
	    "Looks at a running musterd and its actors.\n\ncommands:\n");
	for (size_t i = 0; i < NITEMS(commands); i++)
		fprintf(out, "  %-24s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(out, "\noptions:\n");
	flags_print(out, global_flags, NITEMS(global_flags));
	fprintf(out, "\nexamples:\n"
	    "  muster status -w                           the actors, every second\n"
	    "  muster tap --link stats -n 10              ten messages of that link\n"
	    "  muster check /etc/muster/muster.yaml       before a reload\n"
	    "  muster help tap                            everything about one command\n");
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

/* Where the command stands: after the options that belong to `muster` itself. */
static int
first_word(int argc, char **argv)
{
	int i = 1;

	while (i < argc && argv[i][0] == '-')
		i += strcmp(argv[i], "--run-dir") == 0 && i + 1 < argc ? 2 : 1;
	return i;
}
