/*
 * tests/unit/test_provider_send.c - a mutation leaves only while the lease outlives it, decided when its
 * first byte is about to leave (contract A8): after the bucket, after the connect, after a stop.
 *
 * muster-test: no-valgrind=forks, and stops the child while it connects
 */
#include "provider_rig.h"

#include "full_listener.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* The lease lasts so that a mutation may begin for ms more. */
static void
may_begin_for(struct fence_lease *l, const struct client_class *class, int64_t ms)
{
	l->until_ms = clock_mono_ms() + class->timeout_ms + ms;
}

static const struct fence_row {
	const char		*name;
	struct fence_lease	 lease;
	unsigned		 class;
	enum fence_reason	 want;
	const char		*label;
} fence_rows[] = {
	{ "A8 who leads is not known", { 0 }, CREATE, FENCE_NO_LEASE, "reason=\"no-lease\"" },
	{ "A8 another instance leads", { .known = true }, CREATE, FENCE_NOT_LEADER, "reason=\"not-leader\"" },
	{ "A8 reading is not fenced", { .known = true }, LIST, FENCE_OPEN, NULL },
	{ "A8 a harmless POST is not fenced", { .known = true }, SEARCH, FENCE_OPEN, NULL },
};

static void
check_fence(void **state)
{
	const struct fence_row *const row = *state;
	struct result out;
	struct rig *r;

	rig_open((void **)&r);
	r->lease = row->lease;
	assert_int_equal(client_fence(r->client, row->class, false).reason, row->want);
	call(r, &out, row->class);
	assert_int_equal(out.fence, row->want);
	assert_int_equal(out.outcome, row->want == FENCE_OPEN ? CALL_DONE : CALL_NOT_SENT);
	assert_string_equal(out.error, row->want == FENCE_OPEN ? "" : fence_text(row->want));
	assert_int_equal(r->web.accepts, row->want == FENCE_OPEN);
	if (row->label != NULL)
		assert_true(counted(STAT_FENCED, row->label) == 1);
	rig_close((void **)&r);
}

/* Closes the bucket of mutations for a second, and sends one. */
static void
wait_in_the_bucket(struct rig *r, struct result *out)
{
	r->web.reply = "HTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\n{}";
	call(r, out, CREATE);
	assert_int_equal(out->outcome, CALL_REFUSED);
	r->web.reply = "HTTP/1.1 201 X\r\nContent-Length: 2\r\n\r\n{}";
	may_begin_for(&r->lease, &classes[CREATE], 400);
	begin(r, out, CREATE);
	turn(r->base, 100);
	assert_int_equal(out->calls, 0);
}

static void
a8_the_lease_ends_in_the_bucket(void **state)
{
	struct rig *const r = *state;
	struct result out;

	wait_in_the_bucket(r, &out);
	assert_true(web_until(r->base, &out.calls, 1));
	assert_int_equal(out.outcome, CALL_NOT_SENT);
	assert_int_equal(out.fence, FENCE_LEASE_ENDS);
	assert_int_equal(r->web.requests, 1);
}

static void
a8_the_lease_is_renewed_in_the_bucket(void **state)
{
	struct rig *const r = *state;
	struct result out;

	wait_in_the_bucket(r, &out);
	may_begin_for(&r->lease, &classes[CREATE], 9000);
	assert_true(web_until(r->base, &out.calls, 1));
	assert_int_equal(out.outcome, CALL_DONE);
	assert_int_equal(r->web.requests, 2);
}

static void
a8_the_lease_ends_while_it_connects(void **state)
{
	struct rig *const r = *state;
	struct full_listener l;
	struct result out;
	char byte;

	full_listener_open(&l);
	client_free(&r->client);
	snprintf(r->url, sizeof(r->url), "http://127.0.0.1:%d", l.port);
	open_client(r);
	may_begin_for(&r->lease, &classes[CREATE], 300);
	begin(r, &out, CREATE);
	turn(r->base, 400);
	assert_int_equal(out.calls, 0);
	const int filler = full_listener_accept(&l);
	assert_true(web_until(r->base, &out.calls, 1));
	assert_int_equal(out.outcome, CALL_NOT_SENT);
	assert_int_equal(out.fence, FENCE_LEASE_ENDS);
	client_free(&r->client);
	const int fd = full_listener_accept(&l);	/* it did connect */
	assert_int_equal(read(fd, &byte, 1), 0);
	close(fd);
	close(filler);
	full_listener_close(&l);
}

/* A child with a mutation that is connecting when the process stops. */
static pid_t
stop_while_connecting(int port, unsigned class)
{
	const pid_t child = fork();
	struct rig r = { .lease = { .known = true, .leading = true, .clean = true, .until_ms = INT64_MAX } };
	char err[64], url[64];
	struct result out;

	assert_true(child >= 0);
	if (child != 0)
		return child;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
	r.base = event_base_new();
	r.client = client_new(&(struct client_config){ .base = r.base, .provider = "sim", .url = url,
	    .user_agent = "muster-test/1", .classes = classes, .nclasses = NITEMS(classes),
	    .lease = &r.lease }, err, sizeof(err));
	if (class == CREATE)
		may_begin_for(&r.lease, &classes[class], 1000);
	begin(&r, &out, class);
	turn(r.base, 200);
	raise(SIGSTOP);
	web_until(r.base, &out.calls, 1);
	_exit(out.outcome == CALL_NOT_SENT ? (int)out.fence : 99);
}

/* A provider that reads nothing: most of the body waits in the kernel when the call is given up. */
static void
a8_what_is_given_up_does_not_arrive_later(void **state)
{
	enum { BODY = 1024 * 1024, RECEIVE = 4096 };
	struct rig *const r = *state;
	char *const body = calloc(1, BODY), buf[4096];
	const int small = RECEIVE;
	struct full_listener l;
	struct result out = { 0 };
	ssize_t n;

	full_listener_open(&l);
	close(full_listener_accept(&l));
	assert_int_equal(setsockopt(l.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	client_free(&r->client);
	snprintf(r->url, sizeof(r->url), "http://127.0.0.1:%d", l.port);
	open_client(r);
	memset(body, ' ', BODY);
	client_send(r->client, &(struct client_call){ .class = QUICK, .method = "POST", .path = "/vms",
	    .body = body, .body_len = BODY, .done = record, .arg = &out });
	assert_true(web_until(r->base, &out.calls, 1));
	assert_int_equal(out.outcome, CALL_UNKNOWN);
	const int fd = full_listener_accept(&l);
	client_free(&r->client);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		continue;
	assert_int_equal(n, -1);
	assert_int_equal(errno, ECONNRESET);
	close(fd);
	full_listener_close(&l);
	free(body);
}

static const struct stop_row {
	const char	*name;
	unsigned	 class;
	int		 want;		/* the fence of a call that was not sent */
} stop_rows[] = {
	{ "A8 stopped until the lease has ended", CREATE, FENCE_LEASE_ENDS },
	{ "A8 stopped until its own deadline has passed", QUICK, FENCE_OPEN },
};

static void
check_stop(void **state)
{
	const struct stop_row *const row = *state;
	const int64_t began_ms = clock_mono_ms();
	struct full_listener l;
	int status;
	char byte;

	full_listener_open(&l);
	const pid_t child = stop_while_connecting(l.port, row->class);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	assert_true(WIFSTOPPED(status));
	const int filler = full_listener_accept(&l);
	const int fd = full_listener_accept(&l);	/* the kernel connects for the stopped process */
	while (clock_mono_ms() < began_ms + 2000)
		usleep(10000);
	assert_int_equal(kill(child, SIGCONT), 0);
	assert_int_equal(read(fd, &byte, 1), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), row->want);
	close(fd);
	close(filler);
	full_listener_close(&l);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, rig_open, rig_close)
	static const struct CMUnitTest flows[] = {
		T(a8_the_lease_ends_in_the_bucket), T(a8_the_lease_is_renewed_in_the_bucket),
		T(a8_the_lease_ends_while_it_connects), T(a8_what_is_given_up_does_not_arrive_later),
	};
	struct CMUnitTest fences[NITEMS(fence_rows)], stops[NITEMS(stop_rows)];

	world_without_proxies();
	for (size_t i = 0; i < NITEMS(fence_rows); i++)
		fences[i] = (struct CMUnitTest){ fence_rows[i].name, check_fence, NULL, NULL,
			(void *)(uintptr_t)&fence_rows[i] };
	for (size_t i = 0; i < NITEMS(stop_rows); i++)
		stops[i] = (struct CMUnitTest){ stop_rows[i].name, check_stop, NULL, NULL,
			(void *)(uintptr_t)&stop_rows[i] };
	return cmocka_run_group_tests_name("client, send", flows, NULL, NULL)
	    + cmocka_run_group_tests_name("client, stopped", stops, NULL, NULL)
	    + cmocka_run_group_tests_name("client, fence", fences, NULL, NULL);
}
