/* tests/unit/test_sim_options.c - the command line of muster-sim. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/sim_options.h"

enum { WORDS_MAX = 12 };

static const struct row {
	const char *name, *words[WORDS_MAX],
	    *wrong; /* wrong NULL: accepted; else a word of the reason */
} rows[] = {
	{ "the least", { "--kube", "127.0.0.1:0" }, NULL },
	{ "with an equals sign", { "--kube=127.0.0.1:0", "--nodes=5" }, NULL },
	{ "help alone", { "--help" }, NULL },
	{ "version alone", { "--version" }, NULL },
	{ "no address", { "--nodes", "5" }, "--kube" },
	{ "an unknown option", { "--kube", "x", "--speeed", "2" }, "--speeed" },
	{ "a value is missing", { "--kube" }, "--kube" },
	{ "a word too many", { "--kube", "x", "word" }, "word" },
	{ "not a number", { "--kube", "x", "--nodes", "many" }, "--nodes" },
	{ "not whole", { "--kube", "x", "--nodes", "1.5" }, "--nodes" },
	{ "too small", { "--kube", "x", "--speed", "0" }, "--speed" },
	{ "negative", { "--kube", "x", "--nodes", "-1" }, "--nodes" },
	{ "a certificate without its key", { "--kube", "x", "--tls-cert", "c" }, "--tls-key" },
	{ "an OpenShift", { "--kube", "x", "--openshift", "--infra", "2", "--release", "4.1.0" }, NULL },
	{ "workers of no OpenShift", { "--kube", "x", "--workers", "2" }, "--openshift" },
	{ "a provider", { "--kube", "x", "--vms", "y", "--vms-token", "a=b=one", "--vms-token=c=two",
	    "--provider-audit", "f" }, NULL },
	{ "a provider whose machines do not join", { "--kube", "x", "--vms", "y", "--vms-token", "a=b",
	    "--vms-join", "no" }, NULL },
	{ "two providers", { "--kube", "x", "--vms", "y", "--vms-token", "a=b", "--linode", "z",
	    "--linode-token", "a=b" }, NULL },
	{ "AWS", { "--kube", "x", "--aws", "y", "--aws-token", "a=b" }, NULL },
	{ "a token of another provider", { "--kube", "x", "--vms", "y", "--linode-token", "a=b" }, "--vms-token" },
	{ "a provider without a token", { "--kube", "x", "--vms", "y" }, "--vms-token" },
	{ "a token of no provider", { "--kube", "x", "--vms-token", "a=b" }, "--vms " },
	{ "a token without an id", { "--kube", "x", "--vms", "y", "--vms-token", "a=" }, "--vms-token" },
	{ "an id without a token", { "--kube", "x", "--vms", "y", "--vms-token", "=a" }, "--vms-token" },
	{ "neither joins nor not", { "--kube", "x", "--vms", "y", "--vms-token", "a=b", "--vms-join", "maybe" },
	    "--vms-join" },
	{ "machines of no provider", { "--kube", "x", "--vms-join", "no" }, "--vms" },
	{ "an audit of no provider", { "--kube", "x", "--provider-audit", "f" }, "--provider-audit" },
	{ "a client CA without TLS", { "--kube", "x", "--client-ca", "c" }, "--client-ca" },
};

static int
count(const char *const *words, char *argv[WORDS_MAX + 2])
{
	static char program[] = "muster-sim";
	int n = 0;

	argv[n++] = program;
	for (size_t i = 0; i < WORDS_MAX && words[i] != NULL; i++)
		argv[n++] = (char *)(uintptr_t)words[i];
	argv[n] = NULL;
	return n;
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct sim_options o;
	char *argv[WORDS_MAX + 2], why[OPTIONS_WHY_MAX] = "";

	assert_int_equal(sim_options_read(&o, count(r->words, argv), argv, why), r->wrong == NULL);
	if (r->wrong != NULL)
		assert_non_null(strstr(why, r->wrong));
}

static void
values_arrive(void **state)
{
	static const char *const words[WORDS_MAX] = { "--crds", "a", "b", "--kube", "h:1", "--crds=c",
		"--speed", "2.5", "--nodes", "7" };
	struct sim_options o;
	char *argv[WORDS_MAX + 2], why[OPTIONS_WHY_MAX] = "";

	(void)state;
	assert_true(sim_options_read(&o, count(words, argv), argv, why));
	assert_int_equal(o.ncrds, 3);
	assert_string_equal(o.crds[0], "a");
	assert_string_equal(o.crds[1], "b");
	assert_string_equal(o.crds[2], "c");
	assert_string_equal(o.kube, "h:1");
	assert_string_equal(o.control, "127.0.0.1:0");
	assert_int_equal(o.nodes, 7);
	assert_true(o.speed > 2.4 && o.speed < 2.6);
	assert_null(o.providers[SIM_PROVIDER_VMS].address);
	assert_true(o.providers[SIM_PROVIDER_VMS].join);
}

static void
an_error_does_not_show_a_token(void **state)
{
	static const char *const words[WORDS_MAX] = { "--kube", "x", "--vms", "y", "--vms-token", "se-cret" };
	struct sim_options o;
	char *argv[WORDS_MAX + 2], why[OPTIONS_WHY_MAX] = "";

	(void)state;
	assert_false(sim_options_read(&o, count(words, argv), argv, why));
	assert_null(strstr(why, "se-cret"));
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(values_arrive);
	tests[NITEMS(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(an_error_does_not_show_a_token);
	return cmocka_run_group_tests_name("sim_options", tests, NULL, NULL);
}
