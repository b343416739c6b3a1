/*
 * actors/metrics/metrics_docs.c - docs/metrics.md, from the tables of all families. `./dev test
 * unit/test_metrics_docs` compares.
 */
#include "builtin.h"

#include "obj.h"
#include "stat.h"
#include "exposition.h"

static const struct {
	const char	*name;
	enum stat_kind	 kind;
	const char	*help;
} stats[] = {
#define STAT_ROW(ID, name, kind, help) { name, STAT_##kind, help },
	STATS(STAT_ROW)
};

static const char head[] =
    "# Metrics\n\n"
    "The metrics actor serves `/metrics` in the Prometheus text format 0.0.4 (`metrics-bind-address`,\n"
    "default `:8080`). Names that Kubernetes controllers share (`workqueue_*`, `rest_client_*`,\n"
    "`process_*`) mean here what they mean there, so existing panels work. Every series that an actor\n"
    "reports has the label `actor` first.\n\n"
    "`/metrics` is served on that port only; the port of the probes has `/healthz` and `/readyz`. Clients\n"
    "that read at the same time share one text, at most 500 ms old, so one that does not read costs\n"
    "little. The memory limit of the actor grows with node-state's `max-nodes`; series that would take\n"
    "more than half of it are rejected and counted.\n\n"
    "While an actor restarts, its last series stay; its counters then start again from 0, as Prometheus\n"
    "expects. Series of an actor that was disabled disappear.\n\n"
    "This page is written from `include/stat_names.h` and `actors/metrics/builtin.c`; a test compares\n"
    "them.\n";
static const char actors_head[] =
    "\n## Of each actor\n\n| name | type | meaning |\n|---|---|---|\n";
static const char builtin_head[] =
    "\n## From the supervisor, and of the metrics actor itself\n\n"
    "| name | type | labels | meaning |\n|---|---|---|---|\n";

void
metrics_docs_print(FILE *out)
{
	fputs(head, out);
	fputs(actors_head, out);
	for (size_t i = 0; i < NITEMS(stats); i++)
		fprintf(out, "| `%s` | %s | %s |\n", stats[i].name, exposition_kind_name(stats[i].kind),
		    stats[i].help);
	fputs(builtin_head, out);
	for (size_t i = 0; i < builtin_count; i++) {
		const struct builtin_row *row = &builtin_families[i];

		fprintf(out, "| `%s` | %s | %s | %s |\n", row->family, exposition_kind_name(row->kind),
		    row->labels, row->help);
	}
}
