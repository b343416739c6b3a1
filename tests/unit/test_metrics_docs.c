/*
 * tests/unit/test_metrics_docs.c - docs/metrics.md matches the tables.
 *
 * With --write the program writes the page instead of comparing it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "actors/metrics/builtin.h"
#include "obj.h"
#include "stat.h"

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

static void
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

static const char path[] = MUSTER_ROOT "/docs/metrics.md";

static void
the_page_is_up_to_date(void **state)
{
	char *want = NULL;
	size_t len = 0;
	char have[64 * 1024];

	(void)state;
	FILE *out = open_memstream(&want, &len);
	assert_non_null(out);
	metrics_docs_print(out);
	fclose(out);
	FILE *in = fopen(path, "r");
	if (in == NULL)
		fail_msg("cannot open %s", path);
	have[fread(have, 1, sizeof(have) - 1, in)] = '\0';
	fclose(in);
	if (strcmp(have, want) != 0)
		fail_msg("%s does not match the tables; run this test with --write", path);
	free(want);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_page_is_up_to_date) };

	if (argc == 2 && strcmp(argv[1], "--write") == 0) {
		FILE *out = fopen(path, "w");

		if (out == NULL)
			return 1;
		metrics_docs_print(out);
		return fclose(out) != 0;
	}
	return cmocka_run_group_tests_name("metrics reference", tests, NULL, NULL);
}
