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

static int run(const struct command *, struct cli *, int, char **);
static int check_file(const char *);
static int print_rbac(const char *);
static void print_actor(const struct config *, enum role, const struct needs_answer *);

static const struct flag flags[] = {
	{ "print-defaults",  0, NULL, offsetof(struct check_options, defaults),  "write the default file, with comments" },
	{ "print-rbac",      0, NULL, offsetof(struct check_options, rbac),      "write deploy/rbac.yaml: what the cluster must allow" },
	{ "print-reference", 0, NULL, offsetof(struct check_options, reference), "write docs/configuration.md" },
};

const struct command check_command = {
	.name = "check", .synopsis = "FILE",
	.summary = "Check a configuration file: print each error with its line, or the actors it starts.",
	.flags = flags, .nflags = NITEMS(flags),
	.more = "exit codes: 0 the file is good, 100 it is not, 2 usage\n",
	.run = run,
};

static int
run(const struct command *self, struct cli *cli, int argc, char **argv)
{
	struct check_options o = { 0 };
	int words, code;

	if (!cli_words(self, cli, argc - 1, argv + 1, &o, 0, 1, &words, &code))
		return code;
	const int options = o.defaults + o.reference + o.rbac;
	if (options == 0 && words == 0)
		return cli_usage(self, "an argument is missing: FILE");
	if (options > 1 || (options == 1 && words == 1 && !o.rbac))
		return cli_usage(self, "a file, or one option");
	const char *const file = words == 1 ? argv[1] : NULL;
	if (o.rbac)
		return print_rbac(file);
	if (file != NULL)
		return check_file(file);
	(o.defaults ? config_print_defaults : config_print_reference)(stdout);
	return CLI_OK;
}

static int
check_file(const char *path)
{
	struct config_errors errs;
	struct needs_answer answer;
	char err[SPEC_ERROR_MAX];
	struct config *c = config_load(path, &errs);
	int code = EXIT_CONFIG;

	if (c == NULL) {
		config_errors_print(&errs, stderr);
	} else if (!spec_actors(c, &answer, err, sizeof(err))) {
		fprintf(stderr, "%s\n", err);
	} else {
		printf("%s: ok\n", path);
		for (size_t i = 0; i < CHILD_MAX; i++)
			print_actor(c, child_table[i].role, &answer);
		code = 0;
	}
	config_free(&c);
	return code;
}

/* Without a file: for the defaults. */
static int
print_rbac(const char *path)
{
	struct config_errors errs;
	struct config *c = config_load(path, &errs);

	if (c == NULL) {
		config_errors_print(&errs, stderr);
		return EXIT_CONFIG;
	}
	rbac_print_group(stdout, config_get(c, "kube-watcher", "insight-group"));
	config_free(&c);
	return CLI_OK;
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
