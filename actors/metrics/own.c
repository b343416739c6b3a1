/* actors/metrics/own.c - what the supervisor knows of the actors, as metrics. Pure: the facts come in. */
#include "own.h"

#include <string.h>

#include "obj.h"
#include "version.h"

static bool actor_deaths(const struct roster_actor *, const struct own_facts *, double *);
static bool up(const struct roster_actor *, const struct own_facts *, double *);
static bool restarts(const struct roster_actor *, const struct own_facts *, double *);
static bool memory(const struct roster_actor *, const struct own_facts *, double *);
static bool beat_age(const struct roster_actor *, const struct own_facts *, double *);
static bool synced(const struct roster_actor *, const struct own_facts *, double *);
static void deaths_by_cause(struct text *, const struct own_row *, const struct own_facts *);
static void uptime(struct text *, const struct own_row *, const struct own_facts *);
static void build(struct text *, const struct own_row *, const struct own_facts *);
static void count_trees_refused(struct text *, const struct own_row *, const struct own_facts *);
static void count_series_refused(struct text *, const struct own_row *, const struct own_facts *);
static void count_series(struct text *, const struct own_row *, const struct own_facts *);
static void count_scrapes(struct text *, const struct own_row *, const struct own_facts *);
static void one(struct text *, const struct own_row *, const char *, double);

const struct own_row own_table[] = {
	{ "muster_actor_deaths_total", STAT_COUNTER, "actor",
	    "Ends of the actor's process that nobody asked for.", .of_actor = actor_deaths },
	{ "muster_actor_heartbeat_age_seconds", STAT_GAUGE, "actor",
	    "Time since the actor's loop last gave a sign of life.", .of_actor = beat_age },
	{ "muster_actor_resident_memory_bytes", STAT_GAUGE, "actor",
	    "Resident memory, as the supervisor sees it.", .of_actor = memory },
	{ "muster_actor_restarts_total", STAT_COUNTER, "actor",
	    "Starts after the first since the supervisor started.", .of_actor = restarts },
	{ "muster_actor_synced", STAT_GAUGE, "actor", "1 when every input of the actor is complete.", .of_actor = synced },
	{ "muster_actor_up", STAT_GAUGE, "actor", "1 while the actor is running.", .of_actor = up },
	{ "muster_build_info", STAT_GAUGE, "version, commit", "Always 1; the labels tell what was built.", .write = build },
	{ "muster_metrics_scrapes_total", STAT_COUNTER, "", "Answers to /metrics.", .write = count_scrapes },
	{ "muster_metrics_series", STAT_GAUGE, "", "Series held for all actors.", .write = count_series },
	{ "muster_metrics_series_refused_total", STAT_COUNTER, "",
	    "Series not taken because the text format could not show them (a bug of the sender).",
	    .write = count_series_refused },
	{ "muster_metrics_trees_refused_total", STAT_COUNTER, "",
	    "Trees of the supervisor that could not be read (a bug).", .write = count_trees_refused },
	{ "muster_supervisor_deaths_total", STAT_COUNTER, "cause",
	    "Ends of actors that nobody asked for, by cause.", .write = deaths_by_cause },
	{ "muster_supervisor_uptime_seconds", STAT_GAUGE, "", "Time since the supervisor started.", .write = uptime },
};
const size_t own_count = NITEMS(own_table);

bool
own_family(const char *name, size_t len)
{
	for (size_t i = 0; i < own_count; i++) {
		if (strlen(own_table[i].family) == len && memcmp(own_table[i].family, name, len) == 0)
			return true;
	}
	return false;
}

void
own_write(struct text *out, const struct own_facts *f)
{
	for (size_t i = 0; i < own_count; i++) {
		const struct own_row *row = &own_table[i];

		text_head(out, row->family, row->kind, row->help);
		if (row->write != NULL) {
			row->write(out, row, f);
			continue;
		}
		for (size_t k = 0; f->tree != NULL && k < f->tree->nactors; k++) {
			const struct roster_actor *a = &f->tree->actors[k];
			struct text_series s = { .actor = a->name, .labels = "" };

			if (a->enabled && row->of_actor(a, f, &s.value))
				text_series(out, row->family, row->kind, &s);
		}
	}
}

static bool
actor_deaths(const struct roster_actor *a, const struct own_facts *f, double *value)
{
	(void)f;
	*value = (double)a->deaths;
	return a->deaths >= 0;
}

static bool
up(const struct roster_actor *a, const struct own_facts *f, double *value)
{
	(void)f;
	*value = roster_running(a);
	return true;
}

static bool
restarts(const struct roster_actor *a, const struct own_facts *f, double *value)
{
	(void)f;
	*value = (double)a->restarts;
	return true;
}

static bool
memory(const struct roster_actor *a, const struct own_facts *f, double *value)
{
	(void)f;
	*value = (double)a->rss_kib * 1024;
	return a->pid != 0;
}

/* The tree says how old the beat was when it was written. */
static bool
beat_age(const struct roster_actor *a, const struct own_facts *f, double *value)
{
	*value = (double)(a->beat_age_ms + f->tree_age_ms) / 1000;
	return a->pid != 0 && a->beat_age_ms >= 0;
}

static bool
synced(const struct roster_actor *a, const struct own_facts *f, double *value)
{
	(void)f;
	*value = roster_running(a) && a->synced;
	return true;
}

static void
deaths_by_cause(struct text *out, const struct own_row *row, const struct own_facts *f)
{
	for (size_t i = 0; f->tree != NULL && i < f->tree->ndeaths; i++) {
		char labels[128] = "";

		if (stat_label(labels, sizeof(labels), "cause", f->tree->deaths[i].cause))
			one(out, row, labels, (double)f->tree->deaths[i].count);
	}
}

static void
uptime(struct text *out, const struct own_row *row, const struct own_facts *f)
{
	if (f->tree != NULL)
		one(out, row, "", (double)f->tree->uptime_s + (double)f->tree_age_ms / 1000);
}

static void
build(struct text *out, const struct own_row *row, const struct own_facts *f)
{
	(void)f;
	one(out, row, "version=\"" MUSTER_VERSION "\",commit=\"" MUSTER_COMMIT "\"", 1);
}

static void
count_trees_refused(struct text *out, const struct own_row *row, const struct own_facts *f)
{
	one(out, row, "", (double)f->trees_refused);
}

static void
count_series_refused(struct text *out, const struct own_row *row, const struct own_facts *f)
{
	one(out, row, "", (double)f->series_refused);
}

static void
count_series(struct text *out, const struct own_row *row, const struct own_facts *f)
{
	one(out, row, "", (double)f->series);
}

static void
count_scrapes(struct text *out, const struct own_row *row, const struct own_facts *f)
{
	one(out, row, "", (double)f->scrapes);
}

static void
one(struct text *out, const struct own_row *row, const char *labels, double value)
{
	text_series(out, row->family, row->kind, &(struct text_series){ .labels = labels, .value = value });
}
