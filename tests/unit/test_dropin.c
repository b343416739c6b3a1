/* tests/unit/test_dropin.c - the flags of another program, in Go's syntax, as a configuration (B7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "obj.h"
#include "supervisor/dropin.h"

enum { ARGS_MAX = 8 };

/* ---- Go's syntax ---- */

static const struct dropin_flag small[] = {
	{ .name = "b", .boolean = true, .initial = "false" },
	{ .name = "on", .boolean = true, .initial = "true" },
	{ .name = "text", .initial = "start" },
};

static const struct syntax {
	const char	*name;
	const char	*args[ARGS_MAX];
	enum dropin_end	 end;
	const char	*values[NITEMS(small)];	/* or, when it is wrong, */
	const char	*error;			/* the message */
	const char	*rest;
} syntax[] = {
	{ "nothing", { NULL }, DROPIN_OK, { "false", "true", "start" }, NULL, NULL },
	{ "one hyphen", { "-b", "-text=x" }, DROPIN_OK, { "true", "true", "x" }, NULL, NULL },
	{ "two hyphens", { "--b", "--text=x" }, DROPIN_OK, { "true", "true", "x" }, NULL, NULL },
	{ "the value behind", { "--text", "x", "-b" }, DROPIN_OK, { "true", "true", "x" }, NULL, NULL },
	{ "a value like a flag", { "--text", "-b" }, DROPIN_OK, { "false", "true", "-b" }, NULL, NULL },
	{ "an empty value", { "--text=" }, DROPIN_OK, { "false", "true", "" }, NULL, NULL },
	{ "a value with equals sign", { "--text=a=b" }, DROPIN_OK, { "false", "true", "a=b" }, NULL, NULL },
	{ "false", { "--on=false" }, DROPIN_OK, { "false", "false", "start" }, NULL, NULL },
	{ "0, f, F, False", { "--on=0", "--b=T" }, DROPIN_OK, { "true", "false", "start" }, NULL, NULL },
	{ "the last one wins", { "--on=f", "--on=t" }, DROPIN_OK, { "false", "true", "start" }, NULL, NULL },
	{ "a boolean takes no word", { "--b", "false", "--text=x" }, DROPIN_OK,
	    { "true", "true", "start" }, NULL, "false" },
	{ "two hyphens alone end it", { "-b", "--", "--text=x" }, DROPIN_OK,
	    { "true", "true", "start" }, NULL, "--text=x" },
	{ "two hyphens at the end", { "-b", "--" }, DROPIN_OK, { "true", "true", "start" }, NULL, NULL },
	{ "one hyphen alone ends it", { "-", "-b" }, DROPIN_OK, { "false", "true", "start" }, NULL, "-" },
	{ "an empty word ends it", { "", "-b" }, DROPIN_OK, { "false", "true", "start" }, NULL, "" },
	{ "help", { "--help" }, DROPIN_HELP, { NULL }, NULL, NULL },
	{ "help in short", { "-b", "-h" }, DROPIN_HELP, { NULL }, NULL, NULL },
	{ "unknown", { "--colour=red" }, DROPIN_WRONG, { NULL },
	    "flag provided but not defined: -colour", NULL },
	{ "an abbreviation is unknown", { "--tex=x" }, DROPIN_WRONG, { NULL },
	    "flag provided but not defined: -tex", NULL },
	{ "three hyphens", { "---b" }, DROPIN_WRONG, { NULL }, "bad flag syntax: ---b", NULL },
	{ "no name", { "--=x" }, DROPIN_WRONG, { NULL }, "bad flag syntax: --=x", NULL },
	{ "no value", { "--text" }, DROPIN_WRONG, { NULL }, "flag needs an argument: -text", NULL },
	{ "neither true nor false", { "--b=yes" }, DROPIN_WRONG, { NULL },
	    "invalid boolean value \"yes\" for -b: parse error", NULL },
};

static int
count(const char *const *args, char **out)
{
	int n = 0;

	for (; n < ARGS_MAX && args[n] != NULL; n++)
		out[n] = (char *)(uintptr_t)args[n];
	return n;
}

static void
check_syntax(void **state)
{
	const struct syntax *const s = *state;
	char *args[ARGS_MAX];
	struct dropin_flags f;

	assert_int_equal(dropin_flags_read(small, NITEMS(small), count(s->args, args), args, &f), s->end);
	if (s->error != NULL)
		assert_string_equal(f.error, s->error);
	for (size_t i = 0; s->end == DROPIN_OK && i < NITEMS(small); i++)
		assert_string_equal(f.values[i].text, s->values[i]);
	assert_int_equal(f.rest != NULL, s->rest != NULL);
	if (s->rest != NULL)
		assert_string_equal(f.rest, s->rest);
}

/* ---- node-state-controller ---- */

#define WATCHER	"kube-watcher"
#define PAGE	"metrics"
#define NOTHING	{ { NULL, NULL, NULL } }

static const struct meaning {
	const char	*name;
	const char	*args[ARGS_MAX];
	int		 code;		/* DROPIN_RUN: fine */
	const char	*text;		/* a part of stderr, or of the notes; NULL: there are none */
	struct { const char *section, *key, *value; } want[4];
} meanings[] = {
	{ "the defaults of the original", { NULL }, DROPIN_RUN,
	    "ClusterVersionProgressInsight, ClusterOperatorProgressInsight", {
	    { "insight", "nodes", "true" }, { "insight", "pools", "true" },
	    { PAGE, "metrics-bind-address", "0" }, { PAGE, "health-probe-bind-address", ":8081" } } },
	{ "the Lease of the original", { "--leader-elect" }, DROPIN_RUN, "ClusterVersion", {
	    { WATCHER, "leader-elect", "true" }, { WATCHER, "lease-name", "f729794d.muller.dev" } } },
	{ "B7: nodes only, and no notes",
	    { "--enable-machine-config-pool-controller=false", "--enable-cluster-version-controller=0",
	    "--enable-cluster-operator-controller=F" }, DROPIN_RUN, NULL, {
	    { "insight", "nodes", "true" }, { "insight", "pools", "false" } } },
	{ "pools only", { "--enable-node-controller=false", "--enable-cluster-operator-controller=false" },
	    DROPIN_RUN, "ClusterVersionProgressInsight", {
	    { "insight", "nodes", "false" }, { "insight", "pools", "true" } } },
	{ "all four off", { "--enable-node-controller=false", "--enable-machine-config-pool-controller=false",
	    "--enable-cluster-version-controller=false", "--enable-cluster-operator-controller=false" }, 100,
	    "all four controllers are disabled", NOTHING },
	{ "only what we do not have",
	    { "--enable-node-controller=false", "--enable-machine-config-pool-controller=false" }, 100,
	    "muster does not have a controller", NOTHING },
	{ "B7: the removed flag", { "--enable-node-state-controller=true" }, 2,
	    "flag provided but not defined: -enable-node-state-controller\nnode-state-controller: "
	    "--enable-node-state-controller was removed: node-state is enabled by --enable-node-controller",
	    NOTHING },
	{ "an unknown flag", { "--enable-node-controler" }, 2,
	    "flag provided but not defined: -enable-node-controler\nnode-state-controller: leave it out; "
	    "docs/migration.md", NOTHING },
	{ "usage follows", { "--x" }, 2, "Usage of node-state-controller:\n  -enable-node-controller\n",
	    NOTHING },
	{ "addresses", { "--metrics-bind-address", "127.0.0.1:9", "--metrics-secure=false",
	    "--health-probe-bind-address=0" }, DROPIN_RUN, "ClusterVersion", {
	    { PAGE, "metrics-bind-address", "127.0.0.1:9" }, { PAGE, "health-probe-bind-address", "0" } } },
	{ "empty addresses, as controller-runtime has them",
	    { "--metrics-bind-address=", "--health-probe-bind-address=" }, DROPIN_RUN, "ClusterVersion", {
	    { PAGE, "metrics-bind-address", ":8080" }, { PAGE, "health-probe-bind-address", "0" } } },
	{ "an address that is none", { "--health-probe-bind-address=8081" }, 2,
	    "invalid value \"8081\" for flag -health-probe-bind-address: it has no :port at its end",
	    NOTHING },
	{ "a control character", { "--health-probe-bind-address=:1\n" }, 2, "invalid value", NOTHING },
	{ "plain metrics are noted", { "--metrics-bind-address=:8443" }, DROPIN_RUN, "plain HTTP",
	    { { PAGE, "metrics-bind-address", ":8443" } } },
	{ "TLS without a certificate is refused", { "--metrics-bind-address=:8443", "--metrics-secure" }, 100,
	    "--metrics-secure=true with --metrics-bind-address=:8443 needs --metrics-cert-path", NOTHING },
	{ "TLS with a certificate",
	    { "--metrics-bind-address=:8443", "--metrics-secure", "--metrics-cert-path=/c",
	      "--metrics-cert-name=a", "--metrics-cert-key=b" },
	    DROPIN_RUN, "ClusterVersion",
	    { { PAGE, "metrics-bind-address", ":8443" }, { PAGE, "tls-dir", "/c" },
	      { PAGE, "tls-cert-name", "a" }, { PAGE, "tls-key-name", "b" } } },
	{ "a certificate alone means TLS", { "--metrics-bind-address=:8443", "--metrics-cert-path=/c" },
	    DROPIN_RUN, "ClusterVersion", { { PAGE, "tls-dir", "/c" } } },
	{ "a certificate and no TLS",
	    { "--metrics-bind-address=:8443", "--metrics-cert-path=/c", "--metrics-secure=false" },
	    DROPIN_RUN, "ClusterVersion", { { PAGE, "tls-dir", "" } } },
	{ "TLS for nothing is no matter", { "--metrics-secure=true" }, DROPIN_RUN, "ClusterVersion",
	    { { PAGE, "metrics-bind-address", "0" } } },
	{ "a flag without effect is named", { "--enable-http2" }, DROPIN_RUN, "enable-http2", NOTHING },
	{ "a word ends the flags, and it is noted", { "--leader-elect", "true", "--zap-devel" }, DROPIN_RUN,
	    "the flags end at a word", {
	    { WATCHER, "leader-elect", "true" }, { "supervisor", "log-level", "info" } } },
	{ "the log as it is with us", { NULL }, DROPIN_RUN, "ClusterVersion", {
	    { "supervisor", "log-format", "json" }, { "supervisor", "log-level", "info" } } },
	{ "the log of developers", { "--zap-devel" }, DROPIN_RUN, "ClusterVersion", {
	    { "supervisor", "log-format", "console" }, { "supervisor", "log-level", "debug" } } },
	{ "single words outrank it", { "--zap-devel", "--zap-encoder=json", "--zap-log-level=ERROR" },
	    DROPIN_RUN, "ClusterVersion", {
	    { "supervisor", "log-format", "json" }, { "supervisor", "log-level", "error" } } },
	{ "a number is debug", { "--zap-log-level=5" }, DROPIN_RUN, "ClusterVersion", {
	    { "supervisor", "log-level", "debug" } } },
	{ "zero is no level", { "--zap-log-level=0" }, 2, "invalid log level", NOTHING },
	{ "no such encoder", { "--zap-encoder=xml" }, 2, "invalid encoder value", NOTHING },
	{ "a kubeconfig with all that YAML minds", { "--kubeconfig=/a \"b\\c: #" }, DROPIN_RUN,
	    "ClusterVersion", { { WATCHER, "kubeconfig", "/a \"b\\c: #" } } },
};

static struct config *
parse(const char *yaml)
{
	struct config_errors *const errs = obj_alloc(sizeof(*errs));
	struct config *const c = config_parse("flags", yaml, strlen(yaml), errs);

	config_errors_print(errs, stderr);
	free(errs);
	return c;
}

static void
check_notes(const struct dropin *d, const char *want)
{
	bool found = false;

	for (size_t i = 0; i < d->nnotes && want != NULL; i++)
		found |= strstr(d->notes[i].text, want) != NULL || strstr(d->notes[i].about, want) != NULL;
	assert_true(want != NULL ? found : d->nnotes == 0);
}

static void
check_meaning(void **state)
{
	const struct meaning *const m = *state;
	char *args[ARGS_MAX], *err = NULL;
	struct dropin d;
	size_t len;
	FILE *const f = open_memstream(&err, &len);

	const int code = dropin_read(&dropin_node_state, count(m->args, args), args, &d, f, f);
	fclose(f);
	assert_int_equal(code, m->code);
	if (code != DROPIN_RUN) {
		assert_non_null(strstr(err, m->text));
	} else {
		assert_string_equal(err, "");
		check_notes(&d, m->text);
		struct config *c = parse(d.yaml);
		assert_non_null(c);
		assert_int_equal(config_enabled(c, "insight"), CONFIG_ON);
		/* insight brings it */
		assert_int_equal(config_enabled(c, "node-state"), CONFIG_UNSET);
		for (size_t i = 0; i < NITEMS(m->want) && m->want[i].section != NULL; i++)
			assert_string_equal(
			    config_get(c, m->want[i].section, m->want[i].key), m->want[i].value);
		config_free(&c);
		dropin_close(&d);
	}
	free(err);
}

/* ---- Which program ---- */

static void
by_name_or_by_word(void **state)
{
	static const struct {
		const char	*argv[3];
		bool		 found;
		int		 first;
	} calls[] = {
		{ { "musterd", "--check", NULL }, false, 0 },
		{ { "/usr/sbin/node-state-controller", "-h", NULL }, true, 1 },
		{ { "node-state-controller", NULL, NULL }, true, 1 },
		{ { "musterd", "node-state-controller", NULL }, true, 2 },
		{ { "/node-state-controller/musterd", NULL, NULL }, false, 0 },
		{ { "musterd", "--config", "node-state-controller" }, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(calls); i++) {
		char *argv[ARGS_MAX];
		int first, argc = 0;

		for (; argc < 3 && calls[i].argv[argc] != NULL; argc++)
			argv[argc] = (char *)(uintptr_t)calls[i].argv[argc];
		const struct dropin_program *const p = dropin_find(argc, argv, &first);
		assert_int_equal(p != NULL, calls[i].found);
		if (p != NULL)
			assert_int_equal(first, calls[i].first);
	}
}

static void
help_names_every_flag(void **state)
{
	char *args[] = { (char *)(uintptr_t)"--help" }, *text = NULL;
	struct dropin d;
	size_t len;
	FILE *const f = open_memstream(&text, &len);

	(void)state;
	assert_int_equal(dropin_read(&dropin_node_state, 1, args, &d, f, stderr), 0);
	fclose(f);
	for (size_t i = 0; i < dropin_node_state.nflags; i++) {
		char line[128];

		snprintf(line, sizeof(line), "  -%s%s\n", dropin_node_state.flags[i].name,
		    dropin_node_state.flags[i].boolean ? "" : " string");
		assert_non_null(strstr(text, line));
	}
	assert_non_null(strstr(text, "(default \":8081\")"));
	assert_non_null(strstr(text, "(default true)"));
	free(text);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(syntax) + NITEMS(meanings) + 2];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(syntax); i++)
		tests[n++] = (struct CMUnitTest){ syntax[i].name, check_syntax, NULL, NULL,
			(void *)(uintptr_t)&syntax[i] };
	for (size_t i = 0; i < NITEMS(meanings); i++)
		tests[n++] = (struct CMUnitTest){ meanings[i].name, check_meaning, NULL, NULL,
			(void *)(uintptr_t)&meanings[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(by_name_or_by_word);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(help_names_every_flag);
	return cmocka_run_group_tests_name("dropin", tests, NULL, NULL);
}
