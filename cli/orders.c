/* cli/orders.c - level, restart, reload: commands that hand one line to musterd. */
#include <stdio.h>

#include "ask.h"

static int run_level(const struct command *, struct cli *, int, char **);
static int run_restart(const struct command *, struct cli *, int, char **);
static int run_reload(const struct command *, struct cli *, int, char **);

const struct command level_command = {
	.name = "level", .synopsis = "ACTOR|musterd|all debug|info|warn|error",
	.summary = "Changes how much an actor logs, until it restarts or the configuration is loaded again.",
	.more = "example:\n  muster level metrics debug\n",
	.run = run_level,
};
const struct command restart_command = {
	.name = "restart", .synopsis = "ACTOR",
	.summary = "Stops an actor in order and starts it again, also one that gave up.",
	.more = "example:\n  muster restart metrics\n",
	.run = run_restart,
};
const struct command reload_command = {
	.name = "reload", .synopsis = "",
	.summary = "Makes musterd read its configuration again; only actors whose part changed restart.",
	.more = "A bad file changes nothing: `muster check FILE` tells what is wrong with it.\n",
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
	return ask_order(self, cli, request);
}

static int
run_restart(const struct command *self, struct cli *cli, int argc, char **argv)
{
	char request[256];
	int words, code;

	if (!cli_words(self, cli, argc - 1, argv + 1, NULL, 1, 1, &words, &code))
		return code;
	snprintf(request, sizeof(request), "restart %.100s", argv[1]);
	return ask_order(self, cli, request);
}

static int
run_reload(const struct command *self, struct cli *cli, int argc, char **argv)
{
	int words, code;

	if (!cli_words(self, cli, argc - 1, argv + 1, NULL, 0, 0, &words, &code))
		return code;
	return ask_order(self, cli, "reload");
}
