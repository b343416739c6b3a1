/* actors/metrics/builtin.c - families from the supervisor's status and of this actor itself. Pure. */
#include "builtin.h"

#include <string.h>

#include "obj.h"
#include "version.h"

static builtin_of_actor actor_deaths, up, restarts, memory, beat_age, synced;
static builtin_samples deaths_by_cause, uptime, build;
static void one(struct text *, const struct builtin_row *, const char *, double);

const struct builtin_row builtin_families[] = {
	{ "muster_actor_deaths_total", STAT_COUNTER, "actor",
	    "Unexpected ends of the actor's process.", .of_actor = actor_deaths },
	{ "muster_actor_heartbeat_age_seconds", STAT_GAUGE, "actor",
	    "Time since the last heartbeat of the actor's event loop.", .of_actor = beat_age },
	{ "muster_actor_resident_memory_bytes", STAT_GAUGE, "actor",
	    "Resident memory, as the supervisor reads it.", .of_actor = memory },
	{ "muster_actor_restarts_total", STAT_COUNTER, "actor",
	    "Starts after the first since the supervisor started.", .of_actor = restarts },
	{ "muster_actor_synced", STAT_GAUGE, "actor", "1 when all inputs of the actor are synced.", .of_actor = synced },
	{ "muster_actor_up", STAT_GAUGE, "actor", "1 while the actor is running.", .of_actor = up },
	{ "muster_build_info", STAT_GAUGE, "version, commit", "Always 1; the labels are version and commit of the build.", .write = build },
	{ "muster_metrics_scrapes_total", STAT_COUNTER, "", "Replies to /metrics.", .number = offsetof(struct builtin_facts, scrapes) },
	{ "muster_metrics_series", STAT_GAUGE, "", "Series held for all actors.", .number = offsetof(struct builtin_facts, series) },
	{ "muster_metrics_series_rejected_total", STAT_COUNTER, "",
	    "Series rejected: invalid (a bug of the sender), or over the memory budget of all series.",
	    .number = offsetof(struct builtin_facts, series_rejected) },
	{ "muster_metrics_status_rejected_total", STAT_COUNTER, "",
	    "Status records of the supervisor that could not be parsed (a bug).",
	    .number = offsetof(struct builtin_facts, status_rejected) },
	{ "muster_supervisor_deaths_total", STAT_COUNTER, "cause",
	    "Unexpected ends of actors, by cause.", .write = deaths_by_cause },
	{ "muster_supervisor_uptime_seconds", STAT_GAUGE, "", "Time since the supervisor started.", .write = uptime },
};
const size_t builtin_count = NITEMS(builtin_families);

bool
builtin_family(const char *name, size_t len)
{
	for (size_t i = 0; i < builtin_count; i++) {
		const char *family = builtin_families[i].family;

		if (strlen(family) == len && memcmp(family, name, len) == 0)
			return true;
	}
	return false;
}

void
builtin_write(struct text *out, const struct builtin_facts *f)
{
	for (size_t i = 0; i < builtin_count; i++) {
		const struct builtin_row *row = &builtin_families[i];

		exposition_head(out, row->family, row->kind, row->help);
		if (row->write != NULL)
			row->write(out, row, f);
		if (row->number != 0) {
			const void *number = (const char *)f + row->number;

			one(out, row, "", (double)*(const uint64_t *)number);
		}
		for (size_t k = 0; row->of_actor != NULL && f->tree != NULL && k < f->tree->nactors; k++) {
			const struct tree_status_actor *a = &f->tree->actors[k];
			struct exposition_series s = { .actor = a->name, .labels = "" };

			if (a->enabled && row->of_actor(a, f, &s.value))
				exposition_series(out, row->family, row->kind, &s);
		}
	}
}

static bool
actor_deaths(const struct tree_status_actor *a, const struct builtin_facts *f, double *value)
{
	(void)f;
	*value = (double)a->deaths;
	return a->deaths >= 0;
}

static bool
up(const struct tree_status_actor *a, const struct builtin_facts *f, double *value)
{
	(void)f;
	*value = tree_status_running(a);
	return true;
}

static bool
restarts(const struct tree_status_actor *a, const struct builtin_facts *f, double *value)
{
	(void)f;
	*value = (double)a->restarts;
	return true;
}

static bool
memory(const struct tree_status_actor *a, const struct builtin_facts *f, double *value)
{
	(void)f;
	*value = (double)a->rss_kib * 1024;
	return a->pid != 0;
}

/* The status has the age that the heartbeat had when it was written. */
static bool
beat_age(const struct tree_status_actor *a, const struct builtin_facts *f, double *value)
{
	*value = (double)(a->beat_age_ms + f->tree_age_ms) / 1000;
	return a->pid != 0 && a->beat_age_ms >= 0;
}

static bool
synced(const struct tree_status_actor *a, const struct builtin_facts *f, double *value)
{
	(void)f;
	*value = tree_status_running(a) && a->synced;
	return true;
}

static void
deaths_by_cause(struct text *out, const struct builtin_row *row, const struct builtin_facts *f)
{
	for (size_t i = 0; f->tree != NULL && i < f->tree->ndeaths; i++) {
		char labels[128] = "";

		if (stat_label(labels, sizeof(labels), "cause", f->tree->deaths[i].cause))
			one(out, row, labels, (double)f->tree->deaths[i].count);
	}
}

static void
uptime(struct text *out, const struct builtin_row *row, const struct builtin_facts *f)
{
	if (f->tree != NULL)
		one(out, row, "", (double)f->tree->uptime_s + (double)f->tree_age_ms / 1000);
}

static void
build(struct text *out, const struct builtin_row *row, const struct builtin_facts *f)
{
	(void)f;
	one(out, row, "version=\"" MUSTER_VERSION "\",commit=\"" MUSTER_COMMIT "\"", 1);
}

static void
one(struct text *out, const struct builtin_row *row, const char *labels, double value)
{
	exposition_series(out, row->family, row->kind,
	    &(struct exposition_series){ .labels = labels, .value = value });
}
