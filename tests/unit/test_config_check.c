/* tests/unit/test_config_check.c - `muster check`: exit code, stdout and stderr. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "obj.h"

#define PRODUCER	"it mirrors the producer's keys"

#define SHORT_LEASE								\
	"actors:\n  test-faulty: {}\n  kube-watcher:\n    leader-elect: true\n"	\
	"    leader-elect-lease-duration: 9s\n"
#define TOO_SHORT								\
	"FILE:5: kube-watcher.leader-elect-lease-duration of 9s is too short for actor "	\
	"test-faulty: with kube-watcher.leader-elect (line 4) a call that changes something "	\
	"at its provider takes up to 8s and must end within 2/3 of the lease; set "		\
	"leader-elect-lease-duration to more than 12s, or leader-elect to false if there is one replica\n"

#define LKE(settings)	"actors:\n  lke-claimer: {" settings "}\n"

#define RBAC_HEAD(actors)							\
	"# What kube-watcher may do in the cluster for the actors of one configuration, "	\
	"and nothing else:\n# " actors ".\n# `muster check --print-rbac FILE` writes it "	\
	"from the tables that the program itself goes by\n# (proto/kinds.h, proto/rights.h).\n"
#define RBAC_ACCOUNT								\
	"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: muster-system\n---\n"	\
	"apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: muster\n" OWN
#define OWN	"  namespace: muster-system\n"
#define RBAC(kind, namespace)							\
	"apiVersion: rbac.authorization.k8s.io/v1\nkind: " kind "\nmetadata:\n  name: muster\n" namespace
#define RBAC_RULE(group, resource, verbs)					\
	"  - apiGroups: [\"" group "\"]\n    resources: [\"" resource "\"]\n    verbs: [" verbs "]\n"
#define RBAC_BINDING(kind, namespace)						\
	RBAC(kind "Binding", namespace)						\
	"roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: " kind "\n  name: muster\n"	\
	"subjects:\n  - kind: ServiceAccount\n    name: muster\n  " OWN
#define RBAC_LEASES								\
	"---\n# The Lease of leader election, in this namespace alone.\n"	\
	RBAC("Role", OWN) "rules:\n"						\
	RBAC_RULE("coordination.k8s.io", "leases", "get, watch, create, update")	\
	"---\n" RBAC_BINDING("Role", OWN)

/* file: what a temporary file holds, which is then the last argument, and FILE in the outputs. */
static const struct row {
	const char *name;
	const char *file, *args[3];
	int code;
	const char *out, *err;
} rows[] = {
	{ "an empty file is good", .file = "", .out = "FILE: ok\n  metrics          on by default\n" },
	{ "on and off, and the line that decides",
	    .file = "actors:\n  metrics:\n    enabled: false\n  test-producer:\n",
	    .out = "FILE: ok\n  metrics          off, line 3\n  test-producer    on, line 4\n" },
	{ "what is needed, and why", .file = "actors: {test-consumer-3: {}}\n",
	    .out = "FILE: ok\n  metrics          on by default\n"
		   "  test-producer    on, because test-consumer-3 needs it: " PRODUCER "\n"
		   "  test-consumer-3  on, line 1\n" },
	{ "needed, but switched off", .code = 100,
	    .file = "actors:\n  test-consumer-3: {}\n  test-producer:\n    enabled: false\n",
	    .err = "FILE:4: actor test-consumer-3 needs test-producer (" PRODUCER "), "
		   "which is switched off here; enable test-producer or disable test-consumer-3\n" },
	{ "mistakes go to stderr", .file = "supervisor: 1\nactors: 2\n", .code = 100,
	    .err = "FILE:1: supervisor must be a mapping of keys to values, not a single value\n"
		   "FILE:2: actors must be a mapping of keys to values, not a single value\n" },
	{ "no such file", .args = { "/nonexistent/muster.yaml" }, .code = 100,
	    .err = "/nonexistent/muster.yaml: cannot open..." },
	{ "no argument", .code = 2,
	    .err = "muster check: an argument is missing: FILE\nsee: muster help check\n" },
	{ "two files", .args = { "a", "b" }, .code = 2,
	    .err = "muster check: too many arguments, from `b` on\nsee: muster help check\n" },
	{ "a file and an option", .args = { "a", "--print-defaults" }, .code = 2,
	    .err = "muster check: a file, or one option\nsee: muster help check\n" },
	{ "two options", .args = { "--print-reference", "--print-defaults" }, .code = 2,
	    .err = "muster check: a file, or one option\nsee: muster help check\n" },
	{ "unknown option", .args = { "--quiet" }, .code = 2,
	    .err = "muster check: unknown option --quiet\nsee: muster help check\n" },
	{ "help", .args = { "--help" }, .out = "usage: muster check FILE..." },
	{ "the default file", .args = { "--print-defaults" }, .out = "# muster.yaml - ..." },
	{ "what the cluster must allow", .args = { "--print-rbac" }, .out = "# deploy/rbac.yaml - ..." },
	{ "the same for a file, which is wrong", .args = { "--print-rbac" }, .code = 100,
	    .file = "actors: {kube-watcher: {insight-group: Example.com}}\n",
	    .err = "FILE:1: insight-group: \"Example.com\" is not a domain..." },
	{ "the same for a file that switches off what another needs", .args = { "--print-rbac" }, .code = 100,
	    .file = "actors:\n  test-consumer-3: {}\n  test-producer:\n    enabled: false\n",
	    .err = "FILE:4: actor test-consumer-3 needs test-producer..." },
	{ "the same for no file", .args = { "--print-rbac", "/nonexistent/muster.yaml" }, .code = 100,
	    .err = "/nonexistent/muster.yaml: cannot open..." },
	{ "what the actors of a file need", .args = { "--print-rbac" },
	    .file = "actors: {node-state: {}, metrics: {enabled: false}}\n",
	    .out = RBAC_HEAD("kube-watcher, node-state") RBAC_ACCOUNT "---\n"
		RBAC("ClusterRole", "") "rules:\n"
		RBAC_RULE("", "nodes", "list, watch")
		RBAC_RULE("machineconfiguration.openshift.io", "machineconfigpools", "list, watch")
		RBAC_RULE("machineconfiguration.openshift.io", "machineconfigs", "list, watch")
		RBAC_RULE("config.openshift.io", "clusterversions", "list, watch")
		RBAC_RULE("events.k8s.io", "events", "create, patch")
		"---\n" RBAC_BINDING("ClusterRole", "") RBAC_LEASES },
	{ "what a file of one actor without the cluster needs", .args = { "--print-rbac" }, .file = "",
	    .out = RBAC_HEAD("metrics") RBAC_ACCOUNT },
	{ "what a file without actors needs", .args = { "--print-rbac" },
	    .file = "actors: {metrics: {enabled: false}}\n", .out = RBAC_HEAD("none") RBAC_ACCOUNT },
	{ "a lease that is too short (A8)", .code = 100, .file = SHORT_LEASE, .err = TOO_SHORT },
	{ "no rights for a lease that is too short", .args = { "--print-rbac" }, .code = 100,
	    .file = SHORT_LEASE, .err = TOO_SHORT },
	{ "lke-claimer without a token", .code = 100, .file = LKE("cluster-id: 7"),
	    .err = "FILE:2: actor lke-claimer needs the setting token-file; "
		   "set actors.lke-claimer.token-file, or disable the actor\n" },
	{ "... without a cluster", .code = 100, .file = LKE("token-file: /t"),
	    .err = "FILE:2: actor lke-claimer needs cluster-id or cluster-name; set one of them, "
		   "or disable the actor\n" },
	{ "... with two clusters", .code = 100,
	    .file = LKE("token-file: /t, cluster-id: 7,\n    cluster-name: a"),
	    .err = "FILE:2: actor lke-claimer has both cluster-id and cluster-name (line 3); "
		   "leave one of them out\n" },
	{ "... with an address that is none", .code = 100,
	    .file = LKE("token-file: /t, cluster-id: 7, api-url: api.linode.com"),
	    .err = "FILE:2: lke-claimer.api-url is not an address like https://api.example.com..." },
	{ "... with a user in the address", .code = 100,
	    .file = LKE("token-file: /t, cluster-id: 7, api-url: https://me@api.linode.com"),
	    .err = "FILE:2: lke-claimer.api-url is not an address..." },
	{ "... with all it needs", .file = LKE("token-file: /t, cluster-name: a"), .out = "FILE: ok\n..." },
	{ "two options and a file", .args = { "--print-rbac", "--print-defaults" }, .file = "", .code = 2,
	    .err = "muster check: a file, or one option\nsee: muster help check\n" },
	{ "the reference", .args = { "--print-reference" }, .out = "# Configuration\n..." },
};

/* Redirects a stream to a memory file; *saved is what it wrote to before. */
static int
redirect(FILE *stream, int *saved)
{
	const int fd = memfd_create("output", MFD_CLOEXEC);

	assert_true(fd >= 0);
	fflush(stream);
	*saved = dup(fileno(stream));
	assert_true(*saved >= 0 && dup2(fd, fileno(stream)) >= 0);
	return fd;
}

/* Restores the stream; returns what it wrote, with the name of the file as FILE. */
static char *
collect(FILE *stream, int fd, int saved, const char *file)
{
	static char text[16384];
	char *out = obj_alloc(sizeof(text));
	size_t used = 0;

	fflush(stream);
	assert_true(dup2(saved, fileno(stream)) >= 0);
	close(saved);
	const ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	assert_true(n >= 0);
	text[n] = '\0';
	for (const char *p = text; *p != '\0';) {
		const bool name = file[0] != '\0' && strncmp(p, file, strlen(file)) == 0;
		const size_t step = name ? strlen(file) : 1;

		used += (size_t)snprintf(out + used, sizeof(text) - used, "%.*s",
		    name ? 4 : 1, name ? "FILE" : p);
		p += step;
	}
	return out;
}

/* A wanted text that ends with "..." is only the beginning. */
static void
assert_text(char *got, const char *want)
{
	const size_t len = want == NULL ? 0 : strlen(want);

	if (len > 3 && strcmp(want + len - 3, "...") == 0 && strlen(got) >= len)
		memcpy(got + len - 3, "...", 4);
	assert_string_equal(got, want == NULL ? "" : want);
	free(got);
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	char path[] = "/tmp/muster-check-XXXXXX";
	char *argv[4];
	int argc = 0, saved_out, saved_err;

	for (size_t i = 0; i < NITEMS(r->args) && r->args[i] != NULL; i++)
		argv[argc++] = (char *)(uintptr_t)r->args[i];
	if (r->file != NULL) {
		const int fd = mkstemp(path);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, r->file, strlen(r->file)), strlen(r->file));
		close(fd);
		argv[argc++] = path;
	}
	const int out = redirect(stdout, &saved_out), err = redirect(stderr, &saved_err);
	const int code = cli_run(&check_command, &(struct cli){ .run_dir = "" }, argc, argv);
	const char *name = r->file != NULL ? path : "";
	char *got_err = collect(stderr, err, saved_err, name);
	char *got_out = collect(stdout, out, saved_out, name);

	if (r->file != NULL)
		unlink(path);
	assert_text(got_err, r->err);
	assert_text(got_out, r->out);
	assert_int_equal(code, r->code);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("muster check", tests, NULL, NULL);
}
