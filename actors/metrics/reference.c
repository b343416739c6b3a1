/*
 * actors/metrics/reference.c - every metric as a page for people. `./dev test
 * unit/test_metrics_reference` compares.
 */
#include "own.h"

#include "obj.h"
#include "stat.h"
#include "text.h"

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
    "more than half of it are refused and counted.\n\n"
    "While an actor restarts, its last series stay; its counters then start again from 0, as Prometheus\n"
    "expects. Series of an actor that was switched off disappear.\n\n"
    "This page is written from `include/stat_names.h` and `actors/metrics/own.c`; a test compares them.\n";
static const char actors_head[] =
    "\n## Of each actor\n\n| name | type | meaning |\n|---|---|---|\n";
static const char own_head[] =
    "\n## From the supervisor, and of the metrics actor itself\n\n"
    "| name | type | labels | meaning |\n|---|---|---|---|\n";

void
reference_print(FILE *out)
{
	fputs(head, out);
	fputs(actors_head, out);
	for (size_t i = 0; i < NITEMS(stats); i++)
		fprintf(out, "| `%s` | %s | %s |\n", stats[i].name, text_kind_name(stats[i].kind),
		    stats[i].help);
	fputs(own_head, out);
	for (size_t i = 0; i < own_count; i++) {
		const struct own_row *row = &own_table[i];

		fprintf(out, "| `%s` | %s | %s | %s |\n", row->family, text_kind_name(row->kind), row->labels,
		    row->help);
	}
}
