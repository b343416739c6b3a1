/*
 * actors/metrics/status_page.c - the page at /: which actors run, since when. Plain HTML, no scripts. Every
 * text in it comes from other processes and is escaped. Pure.
 */
#include "route.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "version.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>muster</title>\n"
    "<meta http-equiv=\"refresh\" content=\"5\">\n"
    "<style>body{font:15px/1.5 system-ui,sans-serif;margin:2em;color:#222}table{border-collapse:collapse}"
    "th,td{text-align:left;padding:.2em 1.2em .2em 0;border-bottom:1px solid #ddd}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}tr.bad td{color:#b00020}</style></head><body>\n";
static const char table_head[] =
    "<table><thead><tr><th>actor</th><th>state</th><th>since</th><th>restarts</th><th>rss</th><th>synced</th>"
    "<th>mailbox</th><th></th></tr></thead><tbody>\n";
static const char foot[] =
    "<a href=\"/healthz?verbose\">healthz</a>\n"
    "<a href=\"/readyz?verbose\">readyz</a></p>\n</body></html>\n";

static void row(struct text *, const struct tree_status_actor *, int64_t);

static const char *const html[128] = {
	['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;",
};

void
status_page_write(const struct route_facts *f, struct text *out)
{
	const struct tree_status *tree = f->own.tree;

	text_puts(out, head);
	text_puts(out, "<h1>muster " MUSTER_VERSION "</h1>\n");
	if (tree == NULL) {
		text_puts(out, "<p>The supervisor has not sent the state of its actors yet.</p>\n");
	} else {
		text_puts(out, "<p>supervisor: ");
		text_escape(out, tree->state, html);
		text_printf(out, ", pid %" PRId64 ", as of %" PRId64 " s ago</p>\n", tree->pid,
		    f->own.tree_age_ms / 1000);
		text_puts(out, table_head);
		for (size_t i = 0; i < tree->nactors; i++) {
			if (tree->actors[i].enabled)
				row(out, &tree->actors[i], f->wall_ms - f->own.tree_age_ms);
		}
		text_puts(out, "</tbody></table>\n");
	}
	text_puts(out, f->metrics ? "<p><a href=\"/metrics\">metrics</a>\n" : "<p>");
	text_puts(out, foot);
}

static void
row(struct text *out, const struct tree_status_actor *a, int64_t sent_ms)
{
	char since[32] = "";
	struct tm tm;

	const time_t at = (time_t)(sent_ms / 1000 - a->uptime_s);
	if (a->pid != 0 && gmtime_r(&at, &tm) != NULL)
		strftime(since, sizeof(since), "%Y-%m-%d %H:%M:%SZ", &tm);
	text_printf(out, "<tr%s><td>", tree_status_running(a) && a->synced ? "" : " class=\"bad\"");
	text_escape(out, a->name, html);
	text_puts(out, "</td><td>");
	text_escape(out, a->state, html);
	text_printf(out, "</td><td>%s</td><td class=\"n\">%" PRId64 "</td><td class=\"n\">%.1f MiB</td>"
	    "<td>%s</td><td class=\"n\">%" PRId64 "</td><td>", since, a->restarts, (double)a->rss_kib / 1024,
	    a->synced ? "yes" : "no", a->mailbox);
	const char *note = tree_status_running(a) || a->last_exit == NULL ? a->status : a->last_exit;
	text_escape(out, note != NULL ? note : "", html);
	text_puts(out, "</td></tr>\n");
}
