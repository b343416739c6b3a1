/* tests/unit/test_dropin_capa.c - the flags of capa-annotator as a configuration: F5, FR8.1 to FR8.6. */
#include "dropin_rows.h"

static const struct dropin_row rows[] = {
	{ "FR8.1 FR8.4 FR8.5 the defaults of the original", { NULL }, DROPIN_RUN, NULL, {
	    { PAGE, "metrics-bind-address", ":8080" }, { PAGE, "health-probe-bind-address", ":9440" },
	    { WATCHER, "leader-elect", "false" }, { WATCHER, "leader-elect-lease-duration", "120000" },
	    { WATCHER, "namespace", "" }, { "supervisor", "log-level", "info" } } },
	{ "F5 the Lease of the original", { "--leader-elect" }, DROPIN_RUN, NULL, {
	    { WATCHER, "leader-elect", "true" }, { WATCHER, "lease-name", "capa-annotator-leader" } } },
	{ "FR8.2 a namespace", { "--namespace", "team-a" }, DROPIN_RUN, NULL,
	    { { WATCHER, "namespace", "team-a" } } },
	{ "FR8.3 FR8.4 another duration", { "--leader-elect", "--leader-elect-lease-duration=90s" },
	    DROPIN_RUN, NULL, { { WATCHER, "leader-elect-lease-duration", "90000" } } },
	{ "FR8.1 FR8.5 other addresses", { "--metrics-bind-address=0", "--health-addr=127.0.0.1:1" },
	    DROPIN_RUN, NULL, { { PAGE, "metrics-bind-address", "0" },
	    { PAGE, "health-probe-bind-address", "127.0.0.1:1" } } },
	{ "empty addresses, as controller-runtime has them", { "--metrics-bind-address=", "--health-addr=" },
	    DROPIN_RUN, NULL, { { PAGE, "metrics-bind-address", ":8080" },
	    { PAGE, "health-probe-bind-address", "0" } } },
	{ "the log of klog", { "-v=4", "-logtostderr" }, DROPIN_RUN, NULL,
	    { { "supervisor", "log-level", "debug" } } },
	{ "a level that is none", { "-v=high" }, 2, "invalid value \"high\" for flag -v", { { NULL } } },
	{ "FR8.6 the removed flag", { "--feature-gates=MachineAPIMigration=true" }, 2,
	    "flag provided but not defined: -feature-gates\ncapa-annotator: --feature-gates was removed",
	    { { NULL } } },
	{ "an unknown flag, and usage follows", { "--colour" }, 2,
	    "Usage of capa-annotator:\n  -metrics-bind-address string\n", { { NULL } } },
	{ "a duration that is none", { "--leader-elect-lease-duration=long" }, 2,
	    "invalid value \"long\" for flag -leader-elect-lease-duration", { { NULL } } },
};

int
main(void)
{
	return dropin_rows_run(&dropin_capa_annotator, "capa-annotator", rows, NITEMS(rows));
}
