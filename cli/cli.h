/* cli/cli.h - what the commands of `muster` share. */
#ifndef MUSTER_CLI_H
#define MUSTER_CLI_H

#include <stddef.h>

#include "flags.h"

/* Exit codes that scripts rely on. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_DEGRADED = 3, CLI_UNKNOWN = 4 };

/* What any command takes, before its name or behind it. */
struct cli {
	const char	*run_dir;	/* "": none was found */
};

struct command {
	const char		 *name, *synopsis, *summary;
	const struct flag	 *flags;
	size_t			  nflags;
	const char		 *more;		/* examples and exit codes, for the help */
	/* argv[0] is the name. Returns the exit code. */
	int			(*run)(const struct command *self, struct cli *cli, int argc, char **argv);
};

extern const struct command status_command, tap_command, check_command, version_command;
extern const struct command explain_command, trace_command;
extern const struct command level_command, restart_command, reload_command;

int cli_main(int argc, char **argv);
/*
 * Reads the command's flags into *out, those of every command into *cli, and moves the other words to
 * the front of argv. True: there are between min and max of them, *words. False: usage was printed,
 * return *code.
 */
bool cli_words(const struct command *c, struct cli *cli, int argc, char **argv, void *out, int min, int max,
    int *words, int *code);
/* "muster NAME: text" on stderr, a hint where the help is, CLI_USAGE. */
int cli_usage(const struct command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "muster NAME: text" on stderr, CLI_FAILED. */
int cli_failed(const struct command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * rbac.c: deploy/rbac.yaml, from kinds.h (what is read) and rights.h (what is written). _group: for a cluster
 * whose insight kinds have another API group.
 */
void rbac_print(FILE *out);
void rbac_print_group(FILE *out, const char *insight_group);

#endif
