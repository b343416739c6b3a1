/* cli/control_commands.c - level, restart, reload: commands that send one request to musterd. */
#include <stdio.h>

#include "control_client.h"

static int run_level(const struct command *, struct cli *, int, char **);
static int run_restart(const struct command *, struct cli *, int, char **);
static int run_reload(const struct command *, struct cli *, int, char **);

const struct command level_command = {
	.name = "level", .synopsis = "ACTOR|musterd|all debug|info|warn|error",
	.summary = "Set the log level of an actor until it restarts or the configuration is reloaded.",
	.more = "example:\n  muster level metrics debug\n",
	.run = run_level,
};
const struct command restart_command = {
	.name = "restart", .synopsis = "ACTOR",
	.summary = "Stop an actor gracefully and start it again, also one that is failed.",
	.more = "example:\n  muster restart metrics\n",
	.run = run_restart,
};
const struct command reload_command = {
	.name = "reload", .synopsis = "",
	.summary = "Reload the configuration of musterd; only actors whose section changed restart.",
	.more = "An invalid file changes nothing: `muster check FILE` prints its errors.\n",
	.run = run_reload,
};

static int
run_level(const struct command *self, struct cli *cli, int argc, char **argv)
{
	char request[256];
	int words, code;

	if (!cli_words(self, cli, argc - 1, argv + 1, NULL, 2, 2, &words, &code))
		return code;
	snprintf(request, sizeof(request), "level %.100s %.100s", argv[1], argv[2]);
	return control_command(self, cli, request);
}

static int
run_restart(const struct command *self, struct cli *cli, int argc, char **argv)
{
	char request[256];
	int words, code;

	if (!cli_words(self, cli, argc - 1, argv + 1, NULL, 1, 1, &words, &code))
		return code;
	snprintf(request, sizeof(request), "restart %.100s", argv[1]);
	return control_command(self, cli, request);
}

static int
run_reload(const struct command *self, struct cli *cli, int argc, char **argv)
{
	int words, code;

	if (!cli_words(self, cli, argc - 1, argv + 1, NULL, 0, 0, &words, &code))
		return code;
	return control_command(self, cli, "reload");
}
