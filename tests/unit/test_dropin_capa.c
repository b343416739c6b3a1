/* tests/unit/test_dropin_capa.c - the flags of capa-annotator as a configuration: F5, FR8.1 to FR8.6. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "obj.h"
#include "supervisor/dropin.h"

enum { ARGS_MAX = 4 };
#define WATCHER	"kube-watcher"
#define PAGE	"metrics"

static const struct row {
	const char	*name;
	const char	*args[ARGS_MAX];
	int		 code;		/* DROPIN_RUN: fine */
	const char	*text;		/* else: a part of what is printed */
	struct { const char *section, *key, *value; } want[6];
} rows[] = {
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

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct config_errors *const errs = obj_alloc(sizeof(*errs));
	char *args[ARGS_MAX], *printed = NULL;
	struct dropin d;
	size_t len;
	int n = 0;
	FILE *const f = open_memstream(&printed, &len);

	for (; n < ARGS_MAX && r->args[n] != NULL; n++)
		args[n] = (char *)(uintptr_t)r->args[n];
	const int code = dropin_read(&dropin_capa_annotator, n, args, &d, f, f);
	fclose(f);
	assert_int_equal(code, r->code);
	if (code != DROPIN_RUN) {
		assert_non_null(strstr(printed, r->text));
	} else {
		struct config *c = config_parse("flags", d.yaml, strlen(d.yaml), errs);

		assert_non_null(c);
		assert_int_equal(config_enabled(c, "capa-annotator"), CONFIG_ON);
		assert_int_equal(config_enabled(c, "insight"), CONFIG_UNSET);
		for (size_t i = 0; i < NITEMS(r->want) && r->want[i].section != NULL; i++)
			assert_string_equal(
			    config_get(c, r->want[i].section, r->want[i].key), r->want[i].value);
		config_free(&c);
		dropin_close(&d);
	}
	free(errs);
	free(printed);
}

static void
by_its_name(void **state)
{
	char *argv[] = { (char *)(uintptr_t)"/usr/sbin/capa-annotator" };
	int first = 0;

	(void)state;
	assert_ptr_equal(dropin_find(1, argv, &first), &dropin_capa_annotator);
	assert_int_equal(first, 1);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(by_its_name);
	return cmocka_run_group_tests_name("dropin_capa", tests, NULL, NULL);
}
