/* cli/manual_pages.c - the manual pages, as roff. */
#include <string.h>

#include "cli.h"
#include "manual.h"
#include "version.h"
#include "config/schema.h"
#include "supervisor/options.h"

static void put_head(FILE *, const char *, int, const char *);
static void put_command(FILE *, const struct command *);
static void put_flags(FILE *, const struct flag *, size_t);
static void put_example(FILE *, const char *);
static void put_setting(FILE *, const struct setting *);
static void put_text(FILE *, const char *);
static void put_name(FILE *, const char *);

void
manual_print_muster(FILE *out)
{
	put_head(out, "muster", 1, "show and control a running musterd and its actors");
	fputs(".SH SYNOPSIS\n.B muster\n.RI [ option ...] \" COMMAND\" ...\n.SH DESCRIPTION\n"
	      "Each command reads from, or asks, the musterd whose sockets are in the run directory.\n"
	      ".SH COMMANDS\n", out);
	for (size_t i = 0; cli_command(i) != NULL; i++)
		put_command(out, cli_command(i));
	fputs(".SH OPTIONS\nEvery command has these.\n", out);
	put_flags(out, cli_common_flags, cli_ncommon_flags);
	fputs(".SH SEE ALSO\n.BR musterd (8),\n.BR muster.yaml (5)\n", out);
}

void
manual_print_musterd(FILE *out)
{
	put_head(out, "musterd", 8, "start the actors of muster, watch them, restart them, stop them");
	fputs(".SH SYNOPSIS\n.B musterd\n.RI [ option ...]\n"
	      ".SH DESCRIPTION\nReads its configuration, starts one process per enabled actor,\n"
	      "restarts what ends, and stops all in stages. Called by the name of a controller that it\n"
	      "replaces, it takes that controller's flags.\n.SH OPTIONS\n", out);
	put_flags(out, options_flags, options_nflags);
	fputs(".SH SIGNALS\n.TP\n.BR SIGTERM \", \" SIGINT\n"
	      "stop in stages; a second one kills at once\n"
	      ".TP\n.B SIGHUP\nread the configuration again; only actors whose section changed restart\n"
	      ".SH EXIT STATUS\n.TP\n.B 0\nstopped as requested\n"
	      ".TP\n.B 1\nan actor that the others need kept ending\n"
	      ".TP\n.B 100\nthe configuration is wrong; the first lines of output state how\n"
	      ".TP\n.B 111\nthe system refused something that may be there later\n"
	      ".SH FILES\n.TP\n.I /etc/muster/muster.yaml\nthe configuration\n"
	      ".TP\n.I /run/muster\nsockets and lock\n"
	      ".SH SEE ALSO\n.BR muster (1),\n.BR muster.yaml (5)\n", out);
}

void
manual_print_configuration(FILE *out)
{
	put_head(out, "muster.yaml", 5, "configuration of musterd and its actors");
	fputs(".SH DESCRIPTION\nOne YAML file: a section\n.B supervisor\nand, under\n.BR actors ,\n"
	      "a section per actor, which enables it unless it has\n.BR \"enabled: false\" .\n"
	      "Every key has a default. An unknown key is an error with its line.\n.PP\n"
	      "Durations are numbers with a unit: 500ms, 10s, 1h30m, or 0. No secret stands in this file:\n"
	      "a setting that needs one names the file that holds it.\n", out);
	for (enum section s = 0; s < SECTION_MAX; s++) {
		if (schema_sections[s].test)
			continue;
		fprintf(out, ".SH \"%s\"\n", schema_section_name(s));
		put_text(out, schema_sections[s].help);
		if (s != SECTION_SUPERVISOR)
			put_setting(out, &schema_enabled);
		for (size_t i = 0; i < SETTING_MAX; i++) {
			if (schema_settings[i].section == s)
				put_setting(out, &schema_settings[i]);
		}
	}
	fputs(".SH SEE ALSO\n.BR musterd (8),\n.BR muster (1)\n", out);
}

/* Without a date: two builds of one commit write the same page. */
static void
put_head(FILE *out, const char *name, int section, const char *purpose)
{
	fprintf(out, ".TH %s %d \"\" \"muster " MUSTER_VERSION "\"\n", name, section);
	fprintf(out, ".SH NAME\n%s \\- %s\n", name, purpose);
}

static void
put_command(FILE *out, const struct command *c)
{
	fputs(".SS \"", out);
	put_name(out, c->name);
	fputs("\"\n", out);
	put_text(out, c->summary);
	if (c->synopsis[0] != '\0') {
		fputs(".PP\n", out);
		put_example(out, c->synopsis);
	}
	put_flags(out, c->flags, c->nflags);
	if (c->more != NULL) {
		fputs(".PP\n", out);
		put_example(out, c->more);
	}
}

static void
put_flags(FILE *out, const struct flag *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fputs(".TP\n", out);
		if (rows[i].letter != '\0')
			fprintf(out, "\\fB\\-%c\\fR%s", rows[i].letter, rows[i].name != NULL ? ", " : "");
		if (rows[i].name != NULL) {
			fputs("\\fB\\-\\-", out);
			put_name(out, rows[i].name);
			fputs("\\fR", out);
		}
		if (rows[i].arg != NULL)
			fprintf(out, " \\fI%s\\fR", rows[i].arg);
		fputs("\n", out);
		put_text(out, rows[i].help);
	}
}

static void
put_setting(FILE *out, const struct setting *row)
{
	char allowed[VALUE_ALLOWED_MAX];

	fputs(".TP\n\\fB", out);
	put_name(out, row->key);
	fprintf(out, "\\fR (default %s)\n", row->initial[0] != '\0' ? row->initial : "empty");
	put_text(out, row->help);
	fputs("Allowed: ", out);
	put_text(out, value_allowed(&row->rule, allowed, sizeof(allowed)));
}

/* Lines as they are. */
static void
put_example(FILE *out, const char *text)
{
	fputs(".nf\n", out);
	put_text(out, text);
	fputs(".fi\n", out);
}

/* A line that begins with a dot or a quote would be a request, and a backslash begins an escape. */
static void
put_text(FILE *out, const char *text)
{
	for (const char *p = text; *p != '\0'; p++) {
		if ((p == text || p[-1] == '\n') && (*p == '.' || *p == '\''))
			fputs("\\&", out);
		if (*p == '\\')
			fputs("\\e", out);
		else
			fputc(*p, out);
	}
	if (text[0] == '\0' || text[strlen(text) - 1] != '\n')
		fputc('\n', out);
}

/* A hyphen that can be copied into a shell: roff writes a plain one as a dash. */
static void
put_name(FILE *out, const char *name)
{
	for (; *name != '\0'; name++) {
		if (*name == '-')
			fputc('\\', out);
		fputc(*name, out);
	}
}
