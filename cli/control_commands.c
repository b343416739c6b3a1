/* cli/control_commands.c - level, restart, reload: the command and its words are the request to musterd. */
#include <stdio.h>

#include "control_client.h"

static int run(const struct command *, const struct cli *);

const struct command level_command = {
	.name = "level", .synopsis = "ACTOR|musterd|all debug|info|warn|error",
	.summary = "Set the log level of an actor until it restarts or the configuration is reloaded.",
	.more = "example:\n  muster level metrics debug\n",
	.min_words = 2, .max_words = 2, .run = run,
};
const struct command restart_command = {
	.name = "restart", .synopsis = "ACTOR",
	.summary = "Stop an actor gracefully and start it again, also one that is failed.",
	.more = "example:\n  muster restart metrics\n",
	.min_words = 1, .max_words = 1, .run = run,
};
const struct command reload_command = {
	.name = "reload", .synopsis = "",
	.summary = "Reload the configuration of musterd; only actors whose section changed restart.",
	.more = "An invalid file changes nothing: `muster check FILE` prints its errors.\n",
	.run = run,
};

static int
run(const struct command *self, const struct cli *cli)
{
	char request[256];
	int len = snprintf(request, sizeof(request), "%s", self->name);

	for (int i = 0; i < cli->nwords; i++)
		len += snprintf(request + len, sizeof(request) - (size_t)len, " %.100s", cli->words[i]);
	return control_command(self, cli, request);
}
