/* cli/check.c - `muster check`: checks a configuration file as musterd does, without starting anything. */
#include <stdio.h>

#include "cli.h"
#include "config/config.h"
#include "err.h"
#include "obj.h"
#include "roles.h"
#include "supervisor/spec.h"

struct check_options {
	bool	defaults, reference, rbac;
};

static int run(const struct command *, const struct cli *);
static int check_file(const char *);
static int print_rbac(const char *);
static struct config *load(const char *, struct needs_answer *);
static void print_actor(const struct config *, enum role, const struct needs_answer *);

static const struct flag flags[] = {
	{ "print-defaults",  0, NULL, offsetof(struct check_options, defaults),  "write the default file, with comments" },
	{ "print-rbac",      0, NULL, offsetof(struct check_options, rbac),      "what the cluster must allow; with FILE, for its actors" },
	{ "print-reference", 0, NULL, offsetof(struct check_options, reference), "write docs/configuration.md" },
};

const struct command check_command = {
	.name = "check", .synopsis = "FILE",
	.summary = "Check a configuration file: print each error with its line, or the actors it starts.",
	.flags = flags, .nflags = NITEMS(flags), .options_size = sizeof(struct check_options), .max_words = 1,
	.more = "exit codes: 0 the file is good, 100 it is not, 2 usage\n",
	.run = run,
};

static int
run(const struct command *self, const struct cli *cli)
{
	const struct check_options *o = cli->options;
	const char *const file = cli->nwords == 1 ? cli->words[0] : NULL;
	const int given = o->defaults + o->reference + o->rbac;

	if (given == 0 && file == NULL)
		return cli_usage(self, "an argument is missing: FILE");
	if (given > 1 || (given == 1 && file != NULL && !o->rbac))
		return cli_usage(self, "a file, or one option");
	if (o->rbac)
		return print_rbac(file);
	if (file != NULL)
		return check_file(file);
	(o->defaults ? config_print_defaults : config_print_reference)(stdout);
	return CLI_OK;
}

static int
check_file(const char *path)
{
	struct needs_answer answer;
	struct config *c = load(path, &answer);

	if (c == NULL)
		return EXIT_CONFIG;
	printf("%s: ok\n", path);
	for (size_t i = 0; i < CHILD_MAX; i++)
		print_actor(c, child_table[i].role, &answer);
	config_free(&c);
	return CLI_OK;
}

static int
print_rbac(const char *path)
{
	struct needs_answer answer;
	struct config *c = load(path, &answer);

	if (c == NULL)
		return EXIT_CONFIG;
	rbac_print(stdout, config_get(c, "kube-watcher", "insight-group"),
	    path != NULL ? &answer.enabled : NULL);
	config_free(&c);
	return CLI_OK;
}

/* The file, or the defaults, and which actors it starts. NULL: what is wrong was printed. */
static struct config *
load(const char *path, struct needs_answer *answer)
{
	struct config_errors errs;
	char err[SPEC_ERROR_MAX];
	struct config *c = config_load(path, &errs);

	if (c == NULL) {
		config_errors_print(&errs, stderr);
	} else if (!spec_actors(c, answer, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
		config_free(&c);
	}
	return c;
}

/* One line for an actor that runs, with the reason, or that the file speaks of. */
static void
print_actor(const struct config *c, enum role r, const struct needs_answer *answer)
{
	const struct need *n = &answer->because[r];
	const char *name = role_name(r);
	const int line = config_enabled_line(c, name);

	if ((answer->enabled >> r & 1) == 0) {
		if (line > 0)
			printf("  %-16s off, line %d\n", name, line);
	} else if (n->who != ROLE_NONE) {
		printf("  %-16s on, because %s needs it: %s\n", name, role_name(n->who), n->why);
	} else if (line > 0) {
		printf("  %-16s on, line %d\n", name, line);
	} else {
		printf("  %-16s on by default\n", name);
	}
}
