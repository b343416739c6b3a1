/*
 * cli/status_table.c - the actors as a tree, as systemctl prints it: one line per actor, and below
 * an actor that does not run, the reason.
 *
 * Texts come from other processes: characters that are not printable ASCII become question marks.
 */
#include "status_table.h"

#include <inttypes.h>
#include <string.h>

#include "obj.h"
#include "utf8.h"

enum { CELL_MAX = 96 };

enum colour { COLOUR_NONE, COLOUR_GOOD, COLOUR_WAITING, COLOUR_BAD, COLOUR_FAINT, COLOUR_MAX };

static const char *const colours[COLOUR_MAX] = {
	[COLOUR_NONE] = "", [COLOUR_GOOD] = "\033[32m", [COLOUR_WAITING] = "\033[33m",
	[COLOUR_BAD] = "\033[31m", [COLOUR_FAINT] = "\033[2m",
};

static const struct glyphs {
	const char	*dot, *branch, *last, *bar;
} glyphs[] = {
	[false] = { "*", "|- ", "`- ", "|  " },
	[true]  = { "\u25cf", "\u251c\u2500 ", "\u2514\u2500 ", "\u2502  " },
};

static const struct {
	const char	*state;
	enum colour	 colour;
} state_colours[] = {
	{ "running", COLOUR_GOOD }, { "off", COLOUR_FAINT }, { "failed", COLOUR_BAD }, { "degraded", COLOUR_BAD },
	{ "backoff", COLOUR_BAD },
};

enum column {
	COL_ACTOR, COL_STATE, COL_PID, COL_UP, COL_START, COL_RESTARTS, COL_RSS, COL_SYNCED, COL_MAILBOX,
	COL_EXIT, COLUMNS
};

static const struct {
	const char	*title;
	bool		 right;
} columns[COLUMNS] = {
	[COL_ACTOR]    = { "ACTOR",     false },
	[COL_STATE]    = { "STATE",     false },
	[COL_PID]      = { "PID",       true },
	[COL_UP]       = { "UP",        true },
	[COL_START]    = { "START",     true },
	[COL_RESTARTS] = { "RESTARTS",  true },
	[COL_RSS]      = { "RSS",       true },
	[COL_SYNCED]   = { "SYNCED",    false },
	[COL_MAILBOX]  = { "MAILBOX",   true },
	[COL_EXIT]     = { "LAST EXIT", false },
};

static void measure(const struct tree_status *, int[COLUMNS]);
static void print_row(
    FILE *, const struct tree_status_actor *, const int[COLUMNS], const struct status_style *);
static void print_cell(FILE *, const char *, int, bool, enum colour, const struct status_style *);
static void print_reason(FILE *, const struct tree_status_actor *, const char *, const struct status_style *);
static void fill(char[COLUMNS][CELL_MAX], const struct tree_status_actor *);
static int cell_width(const char *);
static enum colour colour_of(const char *);
static void clean(char *, const char *);

void
status_table_print(
    FILE *out, const struct tree_status *r, const char *run_dir, const struct status_style *style)
{
	const struct glyphs *g = &glyphs[style->utf8];
	char up[32], version[CELL_MAX], state[CELL_MAX];
	int widths[COLUMNS];

	clean(version, r->version);
	clean(state, r->state);
	print_cell(out, g->dot, 0, false, colour_of(r->state), style);
	fprintf(out, " musterd %s - ", version);
	print_cell(out, state, 0, false, colour_of(r->state), style);
	status_duration(r->uptime_s, up, sizeof(up));
	fprintf(out, " (pid %" PRId64 ", up %s, %s)\n", r->pid, up, run_dir);
	measure(r, widths);
	fprintf(out, "  %*s", cell_width(g->branch), "");
	for (size_t c = 0; c < COLUMNS; c++) {
		const int width = c + 1 < COLUMNS ? widths[c] : 0;

		fprintf(out, c > 0 ? "  " : "");
		print_cell(out, columns[c].title, width, columns[c].right, COLOUR_FAINT, style);
	}
	fprintf(out, "\n");
	for (size_t i = 0; i < r->nactors; i++) {
		const bool last = i + 1 == r->nactors;

		fprintf(out, "  %s", last ? g->last : g->branch);
		print_row(out, &r->actors[i], widths, style);
		if (r->actors[i].enabled && !tree_status_running(&r->actors[i]))
			print_reason(out, &r->actors[i], last ? "   " : g->bar, style);
	}
}

const char *
status_duration(int64_t seconds, char *buf, size_t size)
{
	static const struct {
		int64_t		 seconds;
		const char	*name;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
	size_t u = 0;

	while (u + 1 < NITEMS(units) && seconds < units[u].seconds)
		u++;
	const int64_t rest = seconds % units[u].seconds;
	const int64_t minor = u + 1 < NITEMS(units) ? rest / units[u + 1].seconds : 0;
	const int len = snprintf(buf, size, "%" PRId64 "%s", seconds / units[u].seconds, units[u].name);
	if (minor > 0 && len > 0 && (size_t)len < size)
		snprintf(buf + len, size - (size_t)len, " %" PRId64 "%s", minor, units[u + 1].name);
	return buf;
}

static void
measure(const struct tree_status *r, int widths[COLUMNS])
{
	char cells[COLUMNS][CELL_MAX];

	for (size_t c = 0; c < COLUMNS; c++)
		widths[c] = cell_width(columns[c].title);
	for (size_t i = 0; i < r->nactors; i++) {
		fill(cells, &r->actors[i]);
		for (size_t c = 0; c < COLUMNS; c++)
			widths[c] = cell_width(cells[c]) > widths[c] ? cell_width(cells[c]) : widths[c];
	}
}

/* The last column is not filled up: no blanks at the end of a line. */
static void
print_row(FILE *out, const struct tree_status_actor *a, const int widths[COLUMNS],
    const struct status_style *style)
{
	char cells[COLUMNS][CELL_MAX], status[CELL_MAX];

	fill(cells, a);
	clean(status, a->status != NULL ? a->status : "");
	for (size_t c = 0; c < COLUMNS; c++) {
		const bool last = c + 1 == COLUMNS && status[0] == '\0';

		if (last && cells[c][0] == '\0')
			break;
		fprintf(out, c > 0 ? "  " : "");
		print_cell(out, cells[c], last ? 0 : widths[c], columns[c].right,
		    c == COL_STATE ? colour_of(a->state) : COLOUR_NONE, style);
	}
	fprintf(out, "%s%s\n", status[0] != '\0' ? "  " : "", status);
}

static void
print_cell(FILE *out, const char *text, int width, bool right, enum colour colour,
    const struct status_style *style)
{
	const bool coloured = style->colour && colour != COLOUR_NONE;
	const int blanks = width > cell_width(text) ? width - cell_width(text) : 0;

	fprintf(out, "%*s%s%s%s%*s", right ? blanks : 0, "", coloured ? colours[colour] : "", text,
	    coloured ? "\033[0m" : "", right ? 0 : blanks, "");
}

/* Why an actor is not running, and what comes next. */
static void
print_reason(FILE *out, const struct tree_status_actor *a, const char *bar, const struct status_style *style)
{
	char text[CELL_MAX];

	if (a->last_exit != NULL) {
		clean(text, a->last_exit);
		fprintf(out, "  %s   last exit: %s\n", bar, text);
	}
	for (size_t i = 0; i < TREE_STATUS_OUTPUT_MAX && a->last_output[i] != NULL; i++) {
		clean(text, a->last_output[i]);
		fprintf(out, "  %s   %s", bar, i == 0 ? "last output: " : "             ");
		print_cell(out, text, 0, false, COLOUR_FAINT, style);
		fprintf(out, "\n");
	}
	if (a->next_start_ms > 0)
		fprintf(out, "  %s   next start: in %.1f s\n", bar, (double)a->next_start_ms / 1000);
	else if (strcmp(a->state, "failed") == 0)
		fprintf(out, "  %s   next start: with a new configuration, or by `muster restart`\n", bar);
}

static void
fill(char cells[COLUMNS][CELL_MAX], const struct tree_status_actor *a)
{
	for (size_t c = 0; c < COLUMNS; c++)
		snprintf(cells[c], CELL_MAX, "-");
	clean(cells[COL_ACTOR], a->name);
	clean(cells[COL_STATE], a->state);
	snprintf(cells[COL_START], CELL_MAX, "%" PRId64, a->incarnation);
	snprintf(cells[COL_RESTARTS], CELL_MAX, "%" PRId64, a->restarts);
	clean(cells[COL_EXIT], a->last_exit != NULL ? a->last_exit : "");
	if (a->pid == 0)
		return;
	snprintf(cells[COL_PID], CELL_MAX, "%" PRId64, a->pid);
	status_duration(a->uptime_s, cells[COL_UP], CELL_MAX);
	snprintf(cells[COL_RSS], CELL_MAX, "%.1fM", (double)a->rss_kib / 1024);
	snprintf(cells[COL_SYNCED], CELL_MAX, "%s", a->synced ? "yes" : "no");
	snprintf(cells[COL_MAILBOX], CELL_MAX, "%" PRId64, a->mailbox);
}

/* Characters, not bytes. */
static int
cell_width(const char *s)
{
	int n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static enum colour
colour_of(const char *state)
{
	for (size_t i = 0; i < NITEMS(state_colours); i++) {
		if (strcmp(state_colours[i].state, state) == 0)
			return state_colours[i].colour;
	}
	return COLOUR_WAITING;
}

/* What is not printable ASCII becomes a question mark; what is too long ends in dots. */
static void
clean(char *cell, const char *s)
{
	size_t n = 0;

	while (*s != '\0' && n < CELL_MAX - 1) {
		const size_t len = utf8_length(s, strlen(s));

		cell[n++] = *s >= ' ' && *s <= '~' ? *s : '?';
		s += len > 0 ? len : 1;
	}
	cell[n] = '\0';
	if (*s != '\0')
		memcpy(cell + CELL_MAX - 4, "...", 4);
}
