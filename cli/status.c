/* cli/status.c - `muster status`: once, or every second. */
#include <errno.h>
#include <locale.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control_client.h"
#include "status_table.h"
#include "obj.h"
#include "interrupt.h"

enum { EVERY_MS = 1000 };

struct status_options {
	const char	*output;
	bool		 watch;
};

static int run(const struct command *, const struct cli *);
static int watch(const struct command *, const struct cli *, bool, const struct status_style *);
static int show(const struct command *, const struct cli *, bool, const struct status_style *);
static struct status_style style_of(FILE *);

static const struct flag flags[] = {
	{ "output", 'o', "text|json", offsetof(struct status_options, output), "json: musterd's answer unchanged" },
	{ "watch",  'w', NULL,        offsetof(struct status_options, watch),  "again every second, until Ctrl-C" },
};

const struct command status_command = {
	.name = "status", .synopsis = "[-o text|json] [-w]",
	.summary = "Show the supervisor and its actors.",
	.flags = flags, .nflags = NITEMS(flags), .options_size = sizeof(struct status_options),
	.more = "exit codes: 0 healthy, 3 degraded, 1 musterd cannot be reached, 2 usage\n\n"
		"examples:\n"
		"  muster status\n"
		"  muster status -o json | jq '.actors[] | select(.synced | not).name'\n",
	.run = run,
};

static int
run(const struct command *self, const struct cli *cli)
{
	const struct status_options *o = cli->options;
	bool json;

	if (!cli_output(self, o->output, &json))
		return CLI_USAGE;
	const struct status_style style = style_of(stdout);
	return o->watch ? watch(self, cli, json, &style) : show(self, cli, json, &style);
}

/* The first answer must come; later ones may fail for a while (musterd restarts). */
static int
watch(const struct command *self, const struct cli *cli, bool json, const struct status_style *style)
{
	const bool in_place = isatty(STDOUT_FILENO) && !json;
	const char *between = in_place ? "\033[H\033[J" : json ? "" : "\n";

	interrupt_catch();
	if (in_place)
		printf("\033[H\033[2J");
	int code = show(self, cli, json, style);
	if (code == CLI_FAILED)
		return code;
	while (!interrupt_wait(STDOUT_FILENO, EVERY_MS)) {
		printf("%s", between);
		show(self, cli, json, style);
	}
	return CLI_OK;
}

static int
show(const struct command *self, const struct cli *cli, bool json, const struct status_style *style)
{
	char why[CONTROL_WHY_MAX];
	char *answer = NULL;

	struct tree_status *r = control_status(cli->run_dir, &answer, why);
	if (r == NULL)
		return cli_failed(self, "%s", why);
	if (json)
		printf("%s\n", answer);
	else
		status_table_print(stdout, r, cli->run_dir, style);
	fflush(stdout);
	const int code = tree_status_healthy(r) ? CLI_OK : CLI_DEGRADED;
	tree_status_free(&r);
	free(answer);
	return code;
}

/* Glyphs and colour only on a terminal that supports them. */
static struct status_style
style_of(FILE *out)
{
	const bool tty = isatty(fileno(out));
	const char *no_colour = getenv("NO_COLOR");

	setlocale(LC_CTYPE, "");
	return (struct status_style){
		.utf8 = tty && strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
		.colour = tty && (no_colour == NULL || no_colour[0] == '\0'),
	};
}
