/* cli/cli.h - what the commands of `muster` share. */
#ifndef MUSTER_CLI_H
#define MUSTER_CLI_H

#include <stddef.h>
#include <stdint.h>

#include "config/flags.h"

/* Exit codes that scripts rely on. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_DEGRADED = 3, CLI_UNKNOWN = 4 };

/* What any command gets from the command line. */
struct cli {
	const char	*run_dir;	/* "": none was found */
	const void	*options;	/* what the command's flags filled; all zero where none was given */
	char		**words;	/* behind the name, without the flags */
	int		 nwords;
};

struct command {
	const char		 *name, *synopsis, *summary;
	const struct flag	 *flags;
	size_t			  nflags;
	size_t			  options_size;	/* of the struct that the flags fill; 0: no flags */
	int			  min_words, max_words;
	const char		 *more;		/* examples and exit codes, for the help */
	/* Returns the exit code. */
	int			(*run)(const struct command *self, const struct cli *cli);
};

extern const struct command status_command, tap_command, check_command, version_command;
extern const struct command explain_command, trace_command;
extern const struct command level_command, restart_command, reload_command;

int cli_main(int argc, char **argv);
/* For the manual: the commands 0, 1, 2 ... until NULL, and the options that all of them have. */
const struct command *cli_command(size_t i);
extern const struct flag cli_common_flags[];
extern const size_t cli_ncommon_flags;
/* Reads the flags and words behind the command's name, and runs it. Returns the exit code. */
int cli_run(const struct command *c, struct cli *cli, int argc, char **argv);
/* The value of -o, NULL: text. False: it is neither text nor json, and usage was printed. */
bool cli_output(const struct command *c, const char *output, bool *json);
/* "muster NAME: text" on stderr, a hint where the help is, CLI_USAGE. */
int cli_usage(const struct command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "muster NAME: text" on stderr, CLI_FAILED. */
int cli_failed(const struct command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * rbac.c: deploy/rbac.yaml, from kinds.h (what is read) and rights.h (what is written). insight_group: the
 * API group that the insight kinds have in the cluster. roles: a mask, the rights of these actors alone;
 * NULL: of all that are shipped.
 */
void rbac_print(FILE *out, const char *insight_group, const uint64_t *roles);

#endif
