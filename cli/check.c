/* cli/check.c - `muster check`: what musterd would say about a file, without starting anything. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "err.h"
#include "obj.h"
#include "roles.h"
#include "supervisor/needs.h"

enum { EXIT_USAGE = 2 };

static int check_file(const char *);
static bool resolve(const struct config *, struct needs_answer *);
static void tell_conflict(const struct config *, const struct need *);
static void print_actor(const struct config *, enum role, const struct needs_answer *);
static void print_usage(FILE *);

static const struct option {
	const char	 *name;
	void		(*print)(FILE *out);
} options[] = {
	{ "--print-defaults", config_print_defaults },
	{ "--print-reference", config_print_reference },
	{ "--help", print_usage },
	{ "-h", print_usage },
};

int
check_main(int argc, char **argv)
{
	const char *arg = argc == 2 ? argv[1] : "";

	for (size_t i = 0; i < NITEMS(options); i++) {
		if (strcmp(arg, options[i].name) == 0) {
			options[i].print(stdout);
			return 0;
		}
	}
	if (arg[0] == '-')
		fprintf(stderr, "muster check: unknown option %s\n", arg);
	if (arg[0] == '-' || arg[0] == '\0') {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	return check_file(arg);
}

static int
check_file(const char *path)
{
	struct config_errors errs;
	struct needs_answer answer;
	struct config *c = config_load(path, &errs);
	int code = EXIT_CONFIG;

	if (c == NULL) {
		config_errors_print(&errs, stderr);
	} else if (!resolve(c, &answer)) {
		tell_conflict(c, &answer.conflict);
	} else {
		printf("%s: ok\n", path);
		for (size_t i = 0; i < CHILD_MAX; i++)
			print_actor(c, child_table[i].role, &answer);
		code = 0;
	}
	config_free(&c);
	return code;
}

/* As musterd decides (supervisor/spec.c): what is asked for, on by default, or needed. */
static bool
resolve(const struct config *c, struct needs_answer *answer)
{
	uint64_t wanted = 0, forbidden = 0;

	for (size_t i = 0; i < CHILD_MAX; i++) {
		const uint64_t bit = UINT64_C(1) << child_table[i].role;
		const enum config_enabled said = config_enabled(c, role_name(child_table[i].role));

		if (said == CONFIG_ON || (said == CONFIG_UNSET && child_table[i].default_on))
			wanted |= bit;
		if (said == CONFIG_OFF)
			forbidden |= bit;
	}
	return needs_resolve(wanted, forbidden, answer);
}

static void
tell_conflict(const struct config *c, const struct need *n)
{
	const char *who = role_name(n->who), *needs = role_name(n->needs);

	fprintf(stderr,
	    "%s:%d: actor %s needs %s (%s), which is switched off here; enable %s or disable %s\n",
	    config_path(c), config_enabled_line(c, needs), who, needs, n->why, needs, who);
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

static void
print_usage(FILE *out)
{
	fputs("usage: muster check FILE               tell every mistake in a file, with its line\n"
	      "       muster check --print-defaults   write the default file, with comments\n"
	      "       muster check --print-reference  write docs/configuration.md\n"
	      "Exit: 0 the file is good, 100 it is not, 2 usage.\n",
	    out);
}
