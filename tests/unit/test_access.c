/*
 * tests/unit/test_access.c - calls that wait for a credential: what is left of their time, and whether
 * the Lease is still held when they leave (issue 10.10). A real plugin (a shell script that waits for a
 * file) and a proxy on the loop: a call that leaves is a CONNECT there. (Over plain HTTP a plugin is not
 * asked.) What a 401 does: sim/test_kube_auth.py.
 *
 * muster-test: no-valgrind=forks the helper of the plugin
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors/kube-watcher/access.h"
#include "full_listener.h"
#include "web.h"

struct rig {
	char		   dir[64];
	struct event_base *base;
	struct web	   web;
	struct access	  *access;
	struct lease	   lease;
	int		   lost;
};

/* The answer to a call, and its place in the order of the answers. */
struct outcome {
	struct answer	answer;
	int		order;
};

static int ended;

static void
on_done(const struct http_response *r, void *arg)
{
	struct outcome *o = arg;

	o->order = ++ended;
	web_record(r, &o->answer);
}

static void
on_lost(void *arg)
{
	((struct rig *)arg)->lost++;
}

static void
put(const struct rig *r, const char *name, const char *text)
{
	char path[128], other[140];

	snprintf(path, sizeof(path), "%s/%s", r->dir, name);
	snprintf(other, sizeof(other), "%s.new", path);
	FILE *const f = fopen(other, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(other, 0700), 0);
	assert_int_equal(rename(other, path), 0);
}

/* The plugin answers the token in the file `gate`, once it is there. */
static void
start(struct rig *r)
{
	char text[1024], path[128], err[KUBECONFIG_ERROR_MAX] = "";

	*r = (struct rig){ .dir = "/tmp/muster-access-XXXXXX",
		.lease = { .elect = true, .duration_ms = 15000, .renew_ms = 10000,
		    .until_ms = INT64_MAX / 2 } };
	ended = 0;
	assert_non_null(mkdtemp(r->dir));
	r->base = event_base_new();
	web_open(&r->web, r->base);
	r->web.reply = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n";
	snprintf(text, sizeof(text), "#!/bin/sh\n"
	    ": > %s/run.$$\n"
	    "while [ ! -e %s/gate ]; do sleep 0.05; done\n"
	    "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
	    "\"status\":{\"token\":\"%%s\"}}' \"$(cat %s/gate)\"\n", r->dir, r->dir, r->dir);
	put(r, "plugin", text);
	snprintf(text, sizeof(text), "current-context: c\n"
	    "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
	    "clusters: [{name: k, cluster: {server: 'https://127.0.0.1:1', "
	    "proxy-url: 'http://127.0.0.1:%d'}}]\n"
	    "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, "
	    "command: %s/plugin, interactiveMode: Never}}}]\n", r->web.port, r->dir);
	put(r, "kubeconfig", text);
	snprintf(path, sizeof(path), "%s/kubeconfig", r->dir);
	const struct access_source source = { .kubeconfig = path, .context = "" };
	r->access = access_open(&source, err, sizeof(err));
	assert_string_equal(err, "");
	access_start(r->access, r->base, on_lost, r);
	access_fence(r->access, &r->lease);
}

static void
finish(struct rig *r)
{
	char command[128];

	assert_int_equal(r->lost, 0);
	access_free(&r->access);
	web_close(&r->web);
	event_base_free(r->base);
	snprintf(command, sizeof(command), "rm -rf '%s'", r->dir);
	assert_int_equal(system(command), 0);
}

static void
turn(struct rig *r, int64_t ms)
{
	const int64_t end_ms = clock_mono_ms() + ms;
	const struct timeval tick = { .tv_usec = 10000 };

	while (clock_mono_ms() < end_ms) {
		event_base_loopexit(r->base, &tick);
		event_base_loop(r->base, EVLOOP_ONCE);
	}
}

/* Waits until the plugin was started that many times. */
static void
wait_runs(struct rig *r, size_t want)
{
	const int64_t end_ms = clock_mono_ms() + 30000;
	char pattern[128];

	snprintf(pattern, sizeof(pattern), "%s/run.*", r->dir);
	for (size_t n = 0; n < want;) {
		glob_t found;

		assert_true(clock_mono_ms() < end_ms);
		turn(r, 20);
		n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
		globfree(&found);
	}
}

static void
send_call(struct rig *r, struct outcome *o, int64_t timeout_ms, bool fenced)
{
	*o = (struct outcome){ .order = 0 };
	access_send(r->access, &(struct access_call){ .lane = ACCESS_CALLS, .method = "POST", .path = "/x",
	    .content_type = "application/json", .body = "{}", .body_len = 2, .timeout_ms = timeout_ms,
	    .fenced = fenced, .done = on_done, .arg = o });
}

/* Of two calls to a server that is silent, the one that had waited for its credential gives up first. */
static void
a_call_that_waited_has_only_the_rest_of_its_time(void **state)
{
	struct outcome waited, direct;
	struct rig r;

	(void)state;
	start(&r);
	r.web.reply = NULL;
	send_call(&r, &waited, 4000, false);
	turn(&r, 3000);
	put(&r, "gate", "t1");
	assert_true(web_until(r.base, &r.web.requests, 1));
	send_call(&r, &direct, 3000, false);
	assert_true(web_until(r.base, &ended, 2));
	assert_int_equal(waited.order, 1);
	assert_int_equal(r.web.requests, 2);
	finish(&r);
}

static void
a_call_whose_lease_was_lost_while_it_waited_is_not_sent(void **state)
{
	struct outcome write, read;
	struct rig r;

	(void)state;
	start(&r);
	send_call(&r, &write, 5000, true);
	send_call(&r, &read, 20000, false);
	wait_runs(&r, 1);
	r.lease.until_ms = 0;
	put(&r, "gate", "t1");
	assert_true(web_until(r.base, &ended, 2));
	assert_int_equal(r.web.requests, 1);
	assert_null(strstr(read.answer.error, "Lease"));
	assert_int_equal(write.answer.status, 0);
	assert_false(write.answer.sent);
	assert_non_null(strstr(write.answer.error, "Lease"));
	/* With the Lease it leaves. */
	r.lease.until_ms = INT64_MAX / 2;
	send_call(&r, &write, 5000, true);
	assert_true(web_until(r.base, &r.web.requests, 2));
	finish(&r);
}

static void
a_fenced_call_without_a_lease_is_refused_from_the_loop(void **state)
{
	struct outcome write;
	struct rig r;

	(void)state;
	start(&r);
	put(&r, "gate", "t1");
	send_call(&r, &write, 20000, false);
	assert_true(web_until(r.base, &ended, 1));
	access_fence(r.access, NULL);
	send_call(&r, &write, 5000, true);
	assert_int_equal(write.order, 0);
	assert_true(web_until(r.base, &ended, 2));
	assert_int_equal(r.web.requests, 1);
	assert_int_equal(write.answer.status, 0);
	finish(&r);
}

static void
a_call_that_has_not_left_can_be_withdrawn(void **state)
{
	struct outcome o = { .order = 0 }, other;
	struct rig r;

	(void)state;
	start(&r);
	const uint64_t id = access_send(r.access, &(struct access_call){ .lane = ACCESS_CALLS,
		.method = "DELETE", .path = "/x", .timeout_ms = 5000, .done = on_done, .arg = &o });
	wait_runs(&r, 1);
	assert_true(access_withdraw(r.access, id));
	put(&r, "gate", "t1");
	send_call(&r, &other, 5000, true);
	assert_true(web_until(r.base, &ended, 1));
	assert_int_equal(o.order, 0);
	assert_int_equal(r.web.requests, 1);
	finish(&r);
}

/* A8: the Lease is compared when the request is connected, not only when it is dispatched. */
static void
a_call_whose_lease_was_lost_while_it_connected_is_not_sent(void **state)
{
	struct full_listener l;
	struct outcome write;
	struct rig r;
	char text[512], path[128], err[KUBECONFIG_ERROR_MAX] = "", byte;

	(void)state;
	start(&r);
	full_listener_open(&l);
	access_free(&r.access);
	snprintf(text, sizeof(text), "current-context: c\n"
	    "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
	    "clusters: [{name: k, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
	    "users: [{name: u, user: {}}]\n", l.port);
	put(&r, "kubeconfig", text);
	snprintf(path, sizeof(path), "%s/kubeconfig", r.dir);
	const struct access_source source = { .kubeconfig = path, .context = "" };
	r.access = access_open(&source, err, sizeof(err));
	assert_string_equal(err, "");
	access_start(r.access, r.base, on_lost, &r);
	access_fence(r.access, &r.lease);
	send_call(&r, &write, 5000, true);
	turn(&r, 100);
	r.lease.until_ms = 0;
	const int filler = full_listener_accept(&l);
	assert_true(web_until(r.base, &ended, 1));
	assert_false(write.answer.sent);
	assert_int_equal(write.answer.status, 0);
	access_free(&r.access);
	const int fd = full_listener_accept(&l);	/* it did connect */
	assert_int_equal(read(fd, &byte, 1), 0);
	close(fd);
	close(filler);
	full_listener_close(&l);
	finish(&r);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_waited_has_only_the_rest_of_its_time),
		cmocka_unit_test(a_call_whose_lease_was_lost_while_it_waited_is_not_sent),
		cmocka_unit_test(a_fenced_call_without_a_lease_is_refused_from_the_loop),
		cmocka_unit_test(a_call_that_has_not_left_can_be_withdrawn),
		cmocka_unit_test(a_call_whose_lease_was_lost_while_it_connected_is_not_sent),
	};

	return cmocka_run_group_tests_name("access", tests, NULL, NULL);
}
