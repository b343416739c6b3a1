/*
 * tests/unit/test_exec_plugin.c - ExecCredential both ways, and the helper process with real
 * plugins (shell scripts).
 *
 * muster-test: no-valgrind=counts descriptors of forked shells
 */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "kube/exec_plugin.h"
#include "kube/exec_plugin_answer.h"
#include "kube/time.h"
#include "obj.h"

#define V1	"client.authentication.k8s.io/v1"
#define CRED(x)	"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\"," x "}"

enum { WAIT_MS = 30000 };

static const struct row {
	const char	*name, *json, *want;	/* want: what is wrong; NULL: nothing */
	const char	*token, *cert;
	int64_t		 expires_us;
} rows[] = {
	{ "a token", CRED("\"status\":{\"token\":\"t\"}"), NULL, "t", NULL, TIME_UNSET_US },
	{ "a certificate", CRED("\"status\":{\"clientCertificateData\":\"c\",\"clientKeyData\":\"k\"}"),
	  NULL, NULL, "c", TIME_UNSET_US },
	{ "both, and an end", CRED("\"spec\":{},\"status\":{\"token\":\"t\",\"clientCertificateData\":\"c\","
	  "\"clientKeyData\":\"k\",\"expirationTimestamp\":\"1970-01-01T00:00:01Z\"}"), NULL,
	  "t", "c", 1000000 },
	{ "no end", CRED("\"status\":{\"token\":\"t\",\"expirationTimestamp\":null}"), NULL, "t", NULL, TIME_UNSET_US },
	{ "nothing", "", "it printed no JSON (line 1, column 0)", NULL, NULL, 0 },
	{ "words", "S3CRET", "it printed no JSON (line 1, column 1)", NULL, NULL, 0 },
	{ "a list", "[]", "its answer is not of kind ExecCredential", NULL, NULL, 0 },
	{ "another kind", "{\"kind\":\"Status\"}", "its answer is not of kind ExecCredential", NULL, NULL, 0 },
	{ "another version", "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "beta1\"}",
	  "its answer is not of the apiVersion that the kubeconfig names, " V1, NULL, NULL, 0 },
	{ "no status", CRED("\"x\":1"), "its answer has no status", NULL, NULL, 0 },
	{ "status of words", CRED("\"status\":\"S3CRET\""), "its answer's status is not an object", NULL, NULL, 0 },
	{ "an empty status", CRED("\"status\":{}"),
	  "status has neither a token nor a certificate with its key", NULL, NULL, 0 },
	{ "an empty token", CRED("\"status\":{\"token\":\"\"}"),
	  "status has neither a token nor a certificate with its key", NULL, NULL, 0 },
	{ "half a pair", CRED("\"status\":{\"token\":\"S3CRET\",\"clientKeyData\":\"S3CRET\"}"),
	  "status has only one of clientCertificateData and clientKeyData", NULL, NULL, 0 },
	{ "a number", CRED("\"status\":{\"token\":7}"), "status.token is not a text", NULL, NULL, 0 },
	{ "a NUL", CRED("\"status\":{\"token\":\"S3CRET\\u0000\"}"), "it printed no JSON (line 1, column 104)", NULL, NULL, 0 },
	{ "a header in a token", CRED("\"status\":{\"token\":\"S3CRET\\r\\nX: y\"}"),
	  "status.token holds a blank or a character that cannot be sent", NULL, NULL, 0 },
	{ "no time", CRED("\"status\":{\"token\":\"S3CRET\",\"expirationTimestamp\":\"soon\"}"),
	  "status.expirationTimestamp is not a time (RFC 3339)", NULL, NULL, 0 },
	{ "twice", CRED("\"status\":{\"token\":\"S3CRET\",\"token\":\"S3CRET\"}"),
	  "it printed no JSON (line 1, column 106)", NULL, NULL, 0 },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	char err[EXEC_PLUGIN_ERROR_MAX] = "";
	struct exec_answer a;

	const bool ok = exec_answer_parse(&a, V1, r->json, strlen(r->json), err, sizeof(err));
	assert_string_equal(err, r->want == NULL ? "" : r->want);
	assert_int_equal(ok, r->want == NULL);
	assert_true((a.token.data == NULL) == (r->token == NULL));
	assert_true((a.cert.data == NULL) == (r->cert == NULL));
	if (r->token != NULL)
		assert_string_equal(a.token.data, r->token);
	if (r->cert != NULL)
		assert_string_equal(a.cert.data, r->cert);
	if (ok)
		assert_int_equal(a.expires_us, r->expires_us);
	exec_answer_wipe(&a);
}

/* A kubeconfig whose plugin is `command` with two arguments; a script is given as its text. */
static char dir[64];

static int
make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/muster-plugin-XXXXXX");
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static int
remove_dir(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static struct kubeconfig *
config_for(const char *command)
{
	char text[1024], err[KUBECONFIG_ERROR_MAX] = "";

	snprintf(text, sizeof(text), "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
	    "clusters: [{name: k, cluster: {server: 'https://h:1', tls-server-name: s, "
	    "certificate-authority-data: Y2E=, proxy-url: 'http://p', disable-compression: true, extensions: "
	    "[{name: client.authentication.k8s.io/exec, extension: {a: 1}}]}}]\n"
	    "users: [{name: u, user: {exec: {command: '%s', args: [one, 'two words'], apiVersion: " V1 ", "
	    "interactiveMode: IfAvailable, provideClusterInfo: true, installHint: 'see here', "
	    "env: [{name: FRUIT, value: pear}, {name: DIR, value: %s}]}}}]\n", command, dir);
	struct kubeconfig *const k = kubeconfig_parse("/d/f", text, strlen(text), "c", err, sizeof(err));
	assert_string_equal(err, "");
	return k;
}

static struct exec_plugin *
plugin_for(const char *script, int64_t timeout_ms)
{
	char path[128], err[EXEC_PLUGIN_ERROR_MAX];

	snprintf(path, sizeof(path), "%s/plugin", dir);
	FILE *const f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", script);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0755), 0);
	struct kubeconfig *k = config_for(path);
	struct exec_plugin *const p = exec_plugin_start(k, timeout_ms, err, sizeof(err));
	kubeconfig_free(&k);		/* the helper has its own copy */
	assert_non_null(p);
	return p;
}

static enum exec_plugin_event
wait_for(struct exec_plugin *p, struct bytes *out, char *err, size_t size)
{
	const int64_t deadline = clock_mono_ms() + WAIT_MS;

	for (;;) {
		struct pollfd fd = { .fd = exec_plugin_fd(p), .events = POLLIN };

		assert_true(clock_mono_ms() < deadline);
		poll(&fd, 1, 1000);
		const enum exec_plugin_event e = exec_plugin_read(p, out, err, size);
		if (e != EXEC_PLUGIN_NOTHING)
			return e;
	}
}

/* What a script leads to. `%` in want stands for the script's path. */
static const struct run {
	const char	*name, *script;
	int64_t		 timeout_ms;
	const char	*output;	/* NULL: it fails, with these words */
	const char	*want;
} runs[] = {
	{ "arguments, no shell", "echo \"$#:$1:$2\"", 0, "2:one:two words\n", NULL },
	{ "environment", "echo $FRUIT; test -n \"$PATH\" && echo path", 0, "pear\npath\n", NULL },
	{ "KUBERNETES_EXEC_INFO", "echo \"$KUBERNETES_EXEC_INFO\"", 0,
	  "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"spec\":{\"cluster\":{"
	  "\"server\":\"https://h:1\",\"tls-server-name\":\"s\",\"certificate-authority-data\":\"Y2E=\","
	  "\"proxy-url\":\"http://p\","
	  "\"disable-compression\":true,\"config\":{\"a\":1}},\"interactive\":false}}\n", NULL },
	{ "no input", "cat; echo done", 0, "done\n", NULL },
	/* 3 is the folder that ls has open */
	{ "no descriptor of ours", "exec ls /proc/self/fd", 0, "0\n1\n2\n3\n", NULL },
	{ "nothing", "", 0, "", NULL },
	{ "stderr does not matter", "echo warning >&2; echo ok", 0, "ok\n", NULL },
	{ "its last words", "echo first >&2; echo 'last\001 word' >&2; echo >&2; echo S3CRET; exit 3", 0,
	  NULL, "plugin %: exit 3: last? word" },
	{ "silent", "exit 1", 0, NULL, "plugin %: exit 1" },
	{ "killed", "kill -9 $$", 0, NULL, "plugin %: killed by SIGKILL" },
	{ "slow", "echo waiting >&2; exec sleep 100", 300, NULL, "plugin %: no answer within 300 ms: waiting" },
	{ "ignores SIGTERM and is slow", "trap '' TERM INT; while :; do sleep 1; done", 300, NULL, "plugin %: no answer within 300 ms" },
	{ "endless", "exec cat /dev/zero", 0, NULL, "plugin %: it printed more than 1048576 bytes" },
	{ "many words", "yes complaint | head -n 30000 >&2; exit 1", 0, NULL, "plugin %: exit 1: complaint" },
	{ "long words", "head -c 50000 /dev/zero | tr '\\0' x >&2; exit 1", 0, NULL, "plugin %: exit 1: xxxxxxxx" },
};

static void
check_run(void **state)
{
	const struct run *r = *state;
	struct exec_plugin *p = plugin_for(r->script, r->timeout_ms);
	struct bytes out = { NULL, 0 };
	char err[EXEC_PLUGIN_ERROR_MAX] = "", want[EXEC_PLUGIN_ERROR_MAX];

	/* twice: what one run leaves behind must not show in the next */
	for (int i = 0; i < 2; i++) {
		assert_true(exec_plugin_request(p));
		assert_false(exec_plugin_request(p));
		const enum exec_plugin_event e = wait_for(p, &out, err, sizeof(err));
		assert_int_equal(e, r->output != NULL ? EXEC_PLUGIN_ANSWER : EXEC_PLUGIN_FAILED);
		if (r->output != NULL) {
			assert_string_equal(out.data, r->output);
		} else {
			snprintf(want, sizeof(want), "plugin %s/plugin%s", dir, strchr(r->want, '%') + 1);
			assert_memory_equal(err, want, strlen(want));
		}
		bytes_wipe(&out);
	}
	exec_plugin_free(&p);
	assert_null(p);
}

static void
large_output_comes_whole(void **state)
{
	struct exec_plugin *p = plugin_for("head -c 1048576 /dev/zero | tr '\\0' x", 0);
	struct bytes out = { NULL, 0 };
	char err[EXEC_PLUGIN_ERROR_MAX];

	(void)state;
	assert_true(exec_plugin_request(p));
	assert_int_equal(wait_for(p, &out, err, sizeof(err)), EXEC_PLUGIN_ANSWER);
	assert_int_equal(out.len, 1048576);
	assert_int_equal(strspn(out.data, "x"), 1048576);
	bytes_wipe(&out);
	exec_plugin_free(&p);
}

static void
not_there(void **state)
{
	char err[EXEC_PLUGIN_ERROR_MAX], want[EXEC_PLUGIN_ERROR_MAX];
	struct bytes out = { NULL, 0 };

	(void)state;
	const struct {
		const char	*command, *want;
	} cases[] = { { "muster-no-such-plugin", "not found; see here" },
		{ "/etc/passwd", "Permission denied; see here" } };
	for (size_t i = 0; i < NITEMS(cases); i++) {
		struct kubeconfig *k = config_for(cases[i].command);
		struct exec_plugin *p = exec_plugin_start(k, 0, err, sizeof(err));

		assert_true(exec_plugin_request(p));
		assert_int_equal(wait_for(p, &out, err, sizeof(err)), EXEC_PLUGIN_FAILED);
		snprintf(want, sizeof(want), "plugin %s: %s", cases[i].command, cases[i].want);
		assert_string_equal(err, want);
		exec_plugin_free(&p);
		kubeconfig_free(&k);
	}
}

/* The pid that a script wrote into a file of that name. */
static pid_t
pid_from(const char *name)
{
	const int64_t deadline = clock_mono_ms() + WAIT_MS;
	char path[128];
	int pid = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	while (pid == 0) {
		FILE *const f = fopen(path, "re");

		assert_true(clock_mono_ms() < deadline);
		if (f != NULL && fscanf(f, "%d", &pid) != 1)
			pid = 0;
		if (f != NULL)
			fclose(f);
		poll(NULL, 0, 10);
	}
	return pid;
}

/* The process is gone, or a zombie that its new parent has not reaped yet. */
static void
wait_until_dead(pid_t pid)
{
	const int64_t deadline = clock_mono_ms() + WAIT_MS;

	for (;;) {
		char path[64], state = 'Z';

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		FILE *const f = fopen(path, "re");
		if (f == NULL)
			return;
		const int n = fscanf(f, "%*d (%*[^)]) %c", &state);
		fclose(f);
		if (n != 1 || state == 'Z' || state == 'X')
			return;
		assert_true(clock_mono_ms() < deadline);
		poll(NULL, 0, 10);
	}
}

#define WRITE_PIDS	"echo $PPID >$DIR/.h; mv $DIR/.h $DIR/helper; echo $$ >$DIR/.p; mv $DIR/.p $DIR/pid; "

/* However the actor ends, helper and plugin end with it. */
static void
all_end_with_the_actor(void **state)
{
	const pid_t actor = fork();

	(void)state;
	if (actor == 0) {
		struct exec_plugin *p = plugin_for(WRITE_PIDS "exec sleep 100", 0);

		exec_plugin_request(p);
		for (;;)
			pause();
	}
	const pid_t plugin = pid_from("pid"), helper = pid_from("helper");
	assert_int_equal(kill(plugin, 0), 0);
	assert_int_equal(kill(helper, 0), 0);
	kill(actor, SIGKILL);
	waitpid(actor, NULL, 0);
	wait_until_dead(helper);
	wait_until_dead(plugin);
}

/* They end even when the socket is not closed, because another process has it open. */
static void
an_open_socket_keeps_nothing_running(void **state)
{
	const pid_t actor = fork();

	(void)state;
	if (actor == 0) {
		struct exec_plugin *p = plugin_for(WRITE_PIDS "exec sleep 100", 0);

		if (fork() == 0) {
			char path[128], other[140];

			snprintf(path, sizeof(path), "%s/holder", dir);
			snprintf(other, sizeof(other), "%s.new", path);
			FILE *const f = fopen(other, "we");
			fprintf(f, "%d", (int)getpid());
			fclose(f);
			rename(other, path);
			for (;;)
				pause();
		}
		exec_plugin_request(p);
		for (;;)
			pause();
	}
	const pid_t plugin = pid_from("pid"), helper = pid_from("helper"), holder = pid_from("holder");
	kill(actor, SIGKILL);
	waitpid(actor, NULL, 0);
	wait_until_dead(helper);
	wait_until_dead(plugin);
	kill(holder, SIGKILL);
}

/* A plugin that times out is ended with its children. */
static void
a_late_plugin_ends_with_its_children(void **state)
{
	struct exec_plugin *p = plugin_for("sleep 100 & echo $! >$DIR/.c; mv $DIR/.c $DIR/child; wait", 300);
	struct bytes out = { NULL, 0 };
	char err[EXEC_PLUGIN_ERROR_MAX];

	(void)state;
	exec_plugin_request(p);
	const pid_t child = pid_from("child");
	assert_int_equal(wait_for(p, &out, err, sizeof(err)), EXEC_PLUGIN_FAILED);
	wait_until_dead(child);
	exec_plugin_free(&p);
}

static void
freeing_ends_them_too(void **state)
{
	struct exec_plugin *p = plugin_for(WRITE_PIDS "exec sleep 100", 0);

	(void)state;
	exec_plugin_request(p);
	const pid_t plugin = pid_from("pid");
	exec_plugin_free(&p);
	wait_until_dead(plugin);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);	/* no zombie is left */
}

static void
a_dead_helper_is_reported(void **state)
{
	struct exec_plugin *p = plugin_for(WRITE_PIDS "exec sleep 100", 0);
	struct bytes out = { NULL, 0 };
	char err[EXEC_PLUGIN_ERROR_MAX] = "";

	(void)state;
	exec_plugin_request(p);
	kill(pid_from("helper"), SIGKILL);
	assert_int_equal(wait_for(p, &out, err, sizeof(err)), EXEC_PLUGIN_DEAD);
	assert_non_null(strstr(err, ": its helper process is gone"));
	assert_false(exec_plugin_request(p));
	exec_plugin_free(&p);
}

/* A daemon that the plugin left behind holds its stdout; nobody waits for it. */
static void
leftovers_do_not_hold_us_up(void **state)
{
	struct exec_plugin *p = plugin_for("sleep 100 & echo $! >$DIR/.l; mv $DIR/.l $DIR/left; echo ok", 0);
	struct bytes out = { NULL, 0 };
	char err[EXEC_PLUGIN_ERROR_MAX];

	(void)state;
	exec_plugin_request(p);
	assert_int_equal(wait_for(p, &out, err, sizeof(err)), EXEC_PLUGIN_ANSWER);
	assert_string_equal(out.data, "ok\n");
	bytes_wipe(&out);
	kill(pid_from("left"), SIGKILL);
	exec_plugin_free(&p);
}

/* Ctrl-C and SIGTERM go to the whole group; they are the actor's to answer. */
static void
signals_of_the_group_do_not_end_it(void **state)
{
	struct exec_plugin *p = plugin_for("echo $PPID", 0);
	struct bytes out = { NULL, 0 };
	char err[EXEC_PLUGIN_ERROR_MAX];

	(void)state;
	exec_plugin_request(p);
	assert_int_equal(wait_for(p, &out, err, sizeof(err)), EXEC_PLUGIN_ANSWER);
	const pid_t helper = (pid_t)strtol(out.data, NULL, 10);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(kill(helper, (const int[]){ SIGTERM, SIGINT, SIGHUP }[i]), 0);
	exec_plugin_request(p);
	assert_int_equal(wait_for(p, &out, err, sizeof(err)), EXEC_PLUGIN_ANSWER);
	bytes_wipe(&out);
	exec_plugin_free(&p);
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test_setup_teardown(large_output_comes_whole, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(not_there, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(all_end_with_the_actor, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(an_open_socket_keeps_nothing_running, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_late_plugin_ends_with_its_children, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(freeing_ends_them_too, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_dead_helper_is_reported, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(leftovers_do_not_hold_us_up, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(signals_of_the_group_do_not_end_it, make_dir, remove_dir),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(runs) + NITEMS(others)];
	size_t n = 0;

	/* Descriptors that do not close themselves, on either side of the helper's own. */
	MUST(open("/dev/null", O_RDONLY) != -1 && dup2(STDIN_FILENO, 77) == 77);
	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(runs); i++)
		tests[n++] = (struct CMUnitTest){ runs[i].name, check_run, make_dir, remove_dir,
			(void *)(uintptr_t)&runs[i] };
	memcpy(tests + n, others, sizeof(others));
	return cmocka_run_group_tests_name("exec_plugin", tests, NULL, NULL);
}
