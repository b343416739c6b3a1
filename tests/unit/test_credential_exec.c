/*
 * tests/unit/test_credential_exec.c - credentials from a plugin: requested, renewed, refused, failed.
 * The helper and the plugin are real; the test sets the time.
 *
 * muster-test: no-valgrind=runs plugins
 */
#include "clock.h"
#include "credential_rig.h"
#include "kube/credential_plan.h"
#include "kube/time.h"

enum { WAIT_MS = 30000 };

/* A plugin that prints the file `answer`, or fails when there is none; and counts its runs. */
static struct exec_plugin *
open_plugin(struct credential **c)
{
	struct kubeconfig *k;
	char err[1024] = "", script[512];

	snprintf(script, sizeof(script), "#!/bin/sh\necho run >>%s/runs; cat %s/answer", dir, dir);
	put("plugin", script);
	k = config("",
	    "exec: {command: ./plugin, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}");
	struct exec_plugin *const p = exec_plugin_start(k, 0, err, sizeof(err));
	assert_non_null(p);
	*c = credential_open(&k, p, now, err, sizeof(err));
	assert_non_null(*c);
	return p;
}

static void
put_answer(const char *status)
{
	char text[8192];

	snprintf(text, sizeof(text), "{\"kind\":\"ExecCredential\","
	    "\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{%s}}", status);
	put("answer", text);
}

static void
put_pair(const char *cert, const char *key)
{
	char status[8000];

	snprintf(status, sizeof(status), "\"clientCertificateData\":\"%s\",\"clientKeyData\":\"%s\"", cert,
	    key);
	put_answer(status);
}

static void
until_it_answers(struct credential *c, struct exec_plugin *p)
{
	struct pollfd fd = { .fd = exec_plugin_fd(p), .events = POLLIN };

	while (credential_running(c)) {
		assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
		credential_readable(c, now);
	}
}

static int
runs(void)
{
	char path[128];
	int n = 0;

	snprintf(path, sizeof(path), "%s/runs", dir);
	FILE *const f = fopen(path, "re");
	for (int ch; f != NULL && (ch = getc(f)) != EOF;)
		n += ch == '\n';
	if (f != NULL)
		fclose(f);
	return n;
}

static void
a_plugin_is_asked(void **state)
{
	char end[TIME_TEXT_MAX], status[256];
	struct credential *c;

	(void)state;
	time_format((clock_wall_ms() + 3600 * S) * 1000, end, sizeof(end));
	snprintf(status, sizeof(status), "\"token\":\"one\",\"expirationTimestamp\":\"%s\"", end);
	put_answer(status);
	struct exec_plugin *p = open_plugin(&c);
	assert_non_null(strstr(view_of(c, CREDENTIAL_WAITING).error, ": waiting for its answer"));
	until_it_answers(c, p);
	const struct credential_view first = view_of(c, CREDENTIAL_READY);
	assert_string_equal(first.token, "one");
	assert_null(first.error);
	/* an hour less the leeway, and the second that the text cuts */
	const int64_t next = next_ms(c) - now;
	assert_in_range(next, 3585 * S, 3590 * S);
	now += next - 1;
	assert_false(credential_tick(c, now));
	assert_int_equal(runs(), 1);
	put_answer("\"token\":\"two\"");
	now += 1;
	credential_tick(c, now);
	assert_string_equal(view_of(c, CREDENTIAL_READY).token, "one");	/* until the new one is there */
	until_it_answers(c, p);
	const struct credential_view second = view_of(c, CREDENTIAL_READY);
	assert_string_equal(second.token, "two");
	assert_true(second.serial > first.serial);
	assert_int_equal(runs(), 2);
	assert_int_equal(next_ms(c), CREDENTIAL_NEVER);
	credential_free(&c);
	exec_plugin_free(&p);
}

static void
a_401_drops_its_answer(void **state)
{
	struct credential *c;

	(void)state;
	put_answer("\"token\":\"one\"");
	struct exec_plugin *p = open_plugin(&c);
	until_it_answers(c, p);
	/* fresh: the refusal may be about the one before it */
	now += 1 * S;
	assert_true(credential_unauthorized(c, now));
	assert_string_equal(view_of(c, CREDENTIAL_READY).token, "one");
	assert_int_equal(next_ms(c), now + 9 * S);
	now += 9 * S;
	credential_tick(c, now);
	until_it_answers(c, p);
	assert_int_equal(runs(), 2);
	put_answer("\"token\":\"two\"");
	now += 100 * S;
	assert_true(credential_unauthorized(c, now));
	assert_null(view_of(c, CREDENTIAL_WAITING).token);
	/* and the others of the same burst wait for the same answer */
	now += 20 * S;
	assert_true(credential_unauthorized(c, now));
	until_it_answers(c, p);
	assert_string_equal(view_of(c, CREDENTIAL_READY).token, "two");
	assert_int_equal(runs(), 3);
	credential_free(&c);
	exec_plugin_free(&p);
}

static void
a_plugin_that_fails_is_asked_again(void **state)
{
	struct credential *c;

	(void)state;
	struct exec_plugin *p = open_plugin(&c);
	until_it_answers(c, p);
	assert_non_null(strstr(view_of(c, CREDENTIAL_WAITING).error, "/plugin: exit 1: cat: "));
	assert_int_equal(next_ms(c), now + 1 * S);
	put("answer", "S3CRET");
	now += 1 * S;
	credential_tick(c, now);
	until_it_answers(c, p);
	const struct credential_view v = view_of(c, CREDENTIAL_WAITING);
	assert_non_null(strstr(v.error, "/plugin: it printed no JSON"));
	assert_null(strstr(v.error, "S3CRET"));
	assert_int_equal(next_ms(c), now + 2 * S);
	put_answer("\"token\":\"one\"");
	now += 2 * S;
	credential_tick(c, now);
	until_it_answers(c, p);
	assert_string_equal(view_of(c, CREDENTIAL_READY).token, "one");
	assert_null(view_of(c, CREDENTIAL_READY).error);
	credential_free(&c);
	exec_plugin_free(&p);
}

static void
a_plugin_brings_a_certificate(void **state)
{
	char cert[2][4096], key[2][4096];
	struct credential *c;

	(void)state;
	for (int i = 0; i < 2; i++) {
		make_pair(cert[i], key[i], sizeof(cert[i]));
		for (char *t = cert[i]; *t != '\0'; t++)
			*t = *t == '\n' ? '|' : *t;
		for (char *t = key[i]; *t != '\0'; t++)
			*t = *t == '\n' ? '|' : *t;
	}
	/* JSON wants \n for the line breaks: sed puts them there */
	put("plugin", "");
	put_pair(cert[0], key[1]);
	struct exec_plugin *p = open_plugin(&c);
	until_it_answers(c, p);
	assert_non_null(strstr(
	    view_of(c, CREDENTIAL_WAITING).error, "the client certificate is no certificate"));
	const uint64_t before = view_of(c, CREDENTIAL_WAITING).serial;
	char script[512];
	snprintf(script, sizeof(script), "#!/bin/sh\nsed 's/|/\\\\n/g' %s/answer", dir);
	put("plugin", script);
	now += 1 * S;
	credential_tick(c, now);
	until_it_answers(c, p);
	assert_non_null(strstr(view_of(c, CREDENTIAL_WAITING).error, "does not belong to"));
	put_pair(cert[1], key[1]);
	now += 2 * S;
	credential_tick(c, now);
	until_it_answers(c, p);
	const struct credential_view v = view_of(c, CREDENTIAL_READY);
	assert_memory_equal(v.cert, "-----BEGIN CERTIFICATE-----\n", 28);
	assert_memory_equal(v.key, "-----BEGIN PRIVATE KEY-----\n", 28);
	assert_true(v.serial > before);
	credential_free(&c);
	exec_plugin_free(&p);
}

static void
a_lost_helper_is_final(void **state)
{
	struct credential *c;

	(void)state;
	put_answer("\"token\":\"one\"");
	struct exec_plugin *p = open_plugin(&c);
	until_it_answers(c, p);
	put("plugin", "#!/bin/sh\nkill -9 $PPID");
	now += 100 * S;
	credential_unauthorized(c, now);
	until_it_answers(c, p);
	const char *const error = view_of(c, CREDENTIAL_LOST).error;
	MUST(error != NULL);
	assert_non_null(strstr(error, "its helper process is gone"));
	credential_free(&c);
	exec_plugin_free(&p);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		IN_A_FOLDER(a_plugin_is_asked), IN_A_FOLDER(a_401_drops_its_answer),
		IN_A_FOLDER(a_plugin_that_fails_is_asked_again), IN_A_FOLDER(a_plugin_brings_a_certificate),
		IN_A_FOLDER(a_lost_helper_is_final),
	};

	return cmocka_run_group_tests_name("credential_exec", tests, NULL, NULL);
}
