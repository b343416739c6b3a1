/* tests/unit/test_http_flow.c - many requests: streams, cancelling, kept connections, turns. */
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "clock.h"
#include "web.h"

/* ---- Streams. ---- */

struct stream {
	struct answer	a;		/* first: `arg` serves on_data and done */
	struct world	*w;
	char		text[256];
	int		pieces, starts;
	int64_t		start_ms;
	enum { TAKE, REFUSE, CANCEL, CANCEL_AT_START } mode;
	uint64_t	id;
	struct answer	second;
};

static bool
take_piece(const void *data, size_t len, void *arg)
{
	struct stream *const s = arg;

	snprintf(s->text + strlen(s->text), sizeof(s->text) - strlen(s->text), "%.*s", (int)len,
	    (const char *)data);
	s->pieces++;
	for (int i = 0; i < 2 && s->mode == CANCEL; i++)	/* a second cancel does no harm */
		http_cancel(s->w->http, s->id);
	return s->mode != REFUSE;
}

static void
note_start(int status, const char *content_type, void *arg)
{
	struct stream *const s = arg;

	s->starts++;
	s->start_ms = clock_mono_ms();
	snprintf(s->text + strlen(s->text), sizeof(s->text) - strlen(s->text), "<%d %s>", status,
	    content_type);
	if (s->mode == CANCEL_AT_START)
		http_cancel(s->w->http, s->id);
}

static void
begin_stream(struct world *w, struct stream *s)
{
	s->w = w;
	s->id = http_send(w->http,
	    &(struct http_request){ .method = "GET",
		.url = w->url,
		.timeout_ms = HTTP_NO_DEADLINE,
		.on_data = take_piece,
		.done = web_record,
		.arg = s,
		.max_body = 4 });
}

static void
stream_comes_in_pieces(void **state)
{
	struct world *const w = *state;
	struct stream s = { 0 };

	w->web.reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n";
	begin_stream(w, &s);
	assert_true(web_until(w->base, &s.pieces, 1));
	assert_string_equal(s.text, "one\n");
	assert_int_equal(s.a.calls, 0);
	bufferevent_write(w->web.conns[0], "4\r\ntwo\n\r\n", 9);
	assert_true(web_until(w->base, &s.pieces, 2));
	assert_string_equal(s.text, "one\ntwo\n");
	bufferevent_write(w->web.conns[0], "0\r\n\r\n", 5);
	assert_true(web_until(w->base, &s.a.calls, 1));
	assert_int_equal(s.a.err, E_OK);
	assert_string_equal(s.a.body, "");
}

/* The reader gets the status and the type before the first byte of the body. */
static const struct start_row {
	const char	*name, *reply, *text;
} start_rows[] = {
	{ "start: before the data",
	  "HTTP/1.1 200 OK\r\nContent-Type: a/b;c=d\r\nContent-Length: 3\r\n\r\none", "<200 a/b;c=d>one" },
	{ "start: no type is sent", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none", "<200 >one" },
	{ "start: without data",
	  "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 0\r\n\r\n", "<200 a/b>" },
	{ "start: of an error, whose body is none",
	  "HTTP/1.1 410 Gone\r\nContent-Type: x/y\r\nContent-Length: 3\r\n\r\nwhy", "<410 x/y>" },
	{ "start: not of a 100 or 103",
	  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nContent-Type: x/y\r\n\r\n"
	  "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 3\r\n\r\none", "<200 a/b>one" },
	{ "start: once, trailers or not",
	  "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\n\r\n"
	  "3\r\none\r\n0\r\nX: y\r\n\r\n", "<200 a/b>one" },
};

static void
check_start(void **state)
{
	const struct start_row *const r = *state;
	struct world *w;
	struct stream s = { 0 };

	world_open((void **)&w);
	w->web.reply = r->reply;
	s.w = w;
	http_send(w->http, &(struct http_request){ .method = "GET", .url = w->url, .on_start = note_start,
	    .on_data = take_piece, .done = web_record, .arg = &s });
	assert_true(web_until(w->base, &s.a.calls, 1));
	assert_string_equal(s.text, r->text);
	assert_int_equal(s.starts, 1);
	world_close((void **)&w);
}

/* A watch ends long after its headers came; their Date is that of the beginning. */
static void
answered_when_the_headers_came(void **state)
{
	struct world *const w = *state;
	struct stream s = { .w = w };
	struct answer none;

	w->web.reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n";
	const int64_t began_ms = clock_mono_ms();
	http_send(w->http, &(struct http_request){ .method = "GET", .url = w->url, .on_start = note_start,
	    .on_data = take_piece, .timeout_ms = 1000, .done = web_record, .arg = &s });
	assert_true(web_until(w->base, &s.a.calls, 1));
	assert_in_range(s.a.answered_ms, began_ms, s.start_ms);
	world_ask(w, (struct http_request){ .url = "bad" }, &none);
	assert_true(web_until(w->base, &none.calls, 1));
	assert_int_equal(none.answered_ms, 0);
}

static void
stream_cancelled_at_its_start(void **state)
{
	struct world *const w = *state;
	struct stream s = { .w = w, .mode = CANCEL_AT_START };
	struct answer next;

	w->web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none";
	s.id = http_send(w->http,
	    &(struct http_request){ .method = "GET",
		.url = w->url,
		.on_start = note_start,
		.on_data = take_piece,
		.done = web_record,
		.arg = &s });
	assert_true(web_until(w->base, &s.starts, 1));
	world_ask(w, (struct http_request){ 0 }, &next);
	assert_true(web_until(w->base, &next.calls, 1));
	assert_string_equal(s.text, "<200 >");
	assert_int_equal(s.a.calls, 0);
}

/* Our end of a connection to the server. */
static int
socket_to(int port)
{
	for (int fd = 3; fd < 256; fd++) {
		struct sockaddr_in sin = { 0 };
		socklen_t len = sizeof(sin);

		if (getpeername(fd, (struct sockaddr *)&sin, &len) == 0 && sin.sin_family == AF_INET
		    && ntohs(sin.sin_port) == port)
			return fd;
	}
	return -1;
}

static int
option_of(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
	return value;
}

/* A server that is gone is detected within a minute, and small requests go at once. */
static void
fault_11_a_dead_peer_is_noticed(void **state)
{
	struct world *const w = *state;
	struct stream s = { 0 };

	w->web.reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n";
	begin_stream(w, &s);
	assert_true(web_until(w->base, &s.pieces, 1));
	const int fd = socket_to(w->web.port);
	assert_int_not_equal(fd, -1);
	assert_int_not_equal(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
	assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 30);
	assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL), 10);
	assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 60000);
	assert_int_not_equal(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 0);
}

/* Streams and calls at once: each stream has a connection of its own, in HTTP/1.1. */
static void
a_stream_has_its_connection(void **state)
{
	struct world *const w = *state;
	struct stream s[3] = { 0 };
	struct answer a;

	w->web.reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n";
	for (size_t i = 0; i < NITEMS(s); i++) {
		begin_stream(w, &s[i]);
		assert_true(web_until(w->base, &s[i].pieces, 1));
	}
	assert_non_null(strstr(w->web.last, " HTTP/1.1\r\n"));
	w->web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	world_ask(w, (struct http_request){ 0 }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_int_equal(w->web.accepts, NITEMS(s) + 1);
	assert_int_equal(s[0].pieces + s[1].pieces + s[2].pieces, NITEMS(s));
}

/* The body of an error is an explanation, not the stream: collected, within max_body. */
static void
stream_refused_by_the_server(void **state)
{
	struct world *const w = *state;
	struct stream s = { 0 };

	w->web.reply = "HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\nwhy?";
	begin_stream(w, &s);
	assert_true(web_until(w->base, &s.a.calls, 1));
	assert_int_equal(s.pieces, 0);
	assert_int_equal(s.a.err, E_NOT_FOUND);
	assert_string_equal(s.a.body, "why?");
}

static void
stream_refused_by_the_reader(void **state)
{
	struct world *const w = *state;
	struct stream s = { .mode = REFUSE };

	w->web.reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n";
	begin_stream(w, &s);
	assert_true(web_until(w->base, &s.a.calls, 1));
	assert_int_equal(s.pieces, 1);
	assert_int_equal(s.a.err, E_MALFORMED);
}

static void
stream_cancelled_from_inside(void **state)
{
	struct world *const w = *state;
	struct stream s = { .mode = CANCEL };
	struct answer next;

	w->web.reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n4\r\ntwo\n\r\n";
	begin_stream(w, &s);
	assert_true(web_until(w->base, &s.pieces, 1));
	w->web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	world_ask(w, (struct http_request){ 0 }, &next);
	assert_true(web_until(w->base, &next.calls, 1));
	assert_int_equal(s.pieces, 1);
	assert_int_equal(s.a.calls, 0);
	assert_int_equal(http_stats(w->http).running, 0);
}

static bool
send_from_inside(const void *data, size_t len, void *arg)
{
	struct stream *const s = arg;

	(void)data, (void)len;
	if (s->pieces++ == 0)
		world_ask(s->w, (struct http_request){ 0 }, &s->second);
	return true;
}

static void
sending_from_inside_curl(void **state)
{
	struct world *const w = *state;
	struct stream s = { .w = w };

	http_send(w->http,
	    &(struct http_request){ .method = "GET",
		.url = w->url,
		.on_data = send_from_inside,
		.done = web_record,
		.arg = &s });
	assert_true(web_until(w->base, &s.a.calls, 1));
	assert_true(web_until(w->base, &s.second.calls, 1));
	assert_int_equal(s.second.err, E_OK);
}

/* ---- Ends. ---- */

static void
cancelled_is_not_called_back(void **state)
{
	struct world *const w = *state;
	struct answer a, b, c = { 0 };

	w->web.reply = NULL;
	const uint64_t id = http_send(w->http,
	    &(struct http_request){
		.method = "GET", .url = w->url, .done = web_record, .arg = &c });
	assert_true(web_until(w->base, &w->web.requests, 1));
	http_cancel(w->http, id);
	http_cancel(w->http, id);		/* an id that has ended is fine */
	http_cancel(w->http, 0);
	http_cancel(w->http, 123456);
	w->web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	world_ask(w, (struct http_request){ 0 }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	/* one that has not started, and one that cannot */
	world_ask(w, (struct http_request){ 0 }, &a);
	http_cancel(w->http, id + 2);
	world_ask(w, (struct http_request){ .url = "nowhere://x" }, &b);
	http_cancel(w->http, id + 3);
	struct answer last;
	world_ask(w, (struct http_request){ 0 }, &last);
	assert_true(web_until(w->base, &last.calls, 1));
	assert_int_equal(a.calls + b.calls + c.calls, 0);
	assert_int_equal(http_stats(w->http).running + http_stats(w->http).waiting, 0);
}

static uint64_t to_cancel;
static struct http *http_of_test;

static void
cancel_the_other(const struct http_response *r, void *arg)
{
	http_cancel(http_of_test, to_cancel);
	web_record(r, arg);
}

/* Both end in the same turn of the loop; the first one's callback cancels the second. */
static void
cancelled_by_the_callback_of_another(void **state)
{
	struct world *const w = *state;
	struct answer a = { 0 }, b = { 0 };

	http_of_test = w->http;
	http_send(w->http,
	    &(struct http_request){
		.method = "lower", .url = w->url, .done = cancel_the_other, .arg = &a });
	to_cancel = http_send(w->http,
	    &(struct http_request){
		.method = "lower", .url = w->url, .done = web_record, .arg = &b });
	assert_true(web_until(w->base, &a.calls, 1));
	struct answer last;
	world_ask(w, (struct http_request){ 0 }, &last);
	assert_true(web_until(w->base, &last.calls, 1));
	assert_int_equal(b.calls, 0);
}

static void
freed_with_everything_under_way(void **state)
{
	struct world *const w = *state;
	struct answer a[20];

	w->web.reply = NULL;
	http_limit(w->http, "slow", 0.001, 1);
	for (size_t i = 0; i < NITEMS(a); i++)
		world_ask(w,
		    (struct http_request){
			.bucket = i % 2 == 0 ? "slow" : NULL, .url = i == 19 ? "bad" : NULL },
		    &a[i]);
	assert_true(web_until(w->base, &w->web.requests, 3));
	for (size_t i = 0; i < 4; i++)
		http_cancel(w->http, i + 1);
	world_ask(w, (struct http_request){ .url = "bad" }, &a[0]);
	http_free(&w->http);
	assert_null(w->http);
	http_free(&w->http);
}

static void
connection_is_kept(void **state)
{
	struct world *const w = *state;
	struct answer a;

	for (int i = 0; i < 5; i++) {
		world_ask(w, (struct http_request){ 0 }, &a);
		assert_true(web_until(w->base, &a.calls, 1));
		assert_int_equal(a.err, E_OK);
	}
	assert_int_equal(w->web.accepts, 1);
}

/*
 * A kept connection that is closed during a request: curl repeats the request by itself. That is right
 * for a GET; a POST must be sent once.
 */
static void
nothing_is_sent_twice(void **state)
{
	struct world *const w = *state;
	struct answer a;

	for (int i = 0; i < 2; i++) {
		const char *const method = i == 0 ? "POST" : "DELETE";

		w->web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
		w->web.after = KEEP;
		world_ask(w, (struct http_request){ 0 }, &a);
		assert_true(web_until(w->base, &a.calls, 1));
		const int before = w->web.requests, accepts = w->web.accepts;
		w->web.reply = NULL;
		w->web.after = CLOSE;
		world_ask(w, (struct http_request){ .method = method, .body = "x", .body_len = i == 0 }, &a);
		assert_true(web_until(w->base, &a.calls, 1));
		assert_int_equal(a.err, E_UNKNOWN);
		assert_true(a.sent);
		assert_int_equal(w->web.requests, before + 1);
		assert_true(w->web.accepts <= accepts + 1);
	}
}

/* ---- Turns. ---- */

static void
limit_keeps_order_and_count(void **state)
{
	struct world *const w = *state;
	struct answer a[6];
	char want[64], host[64], url[6][64];

	snprintf(host, sizeof(host), "127.0.0.1:%d", w->web.port);
	http_limit(w->http, host, 50, 2);
	for (int i = 0; i < 6; i++) {
		snprintf(url[i], sizeof(url[i]), "http://127.0.0.1:%d/%d", w->web.port, i);
		world_ask(w, (struct http_request){ .url = url[i] }, &a[i]);
	}
	assert_true(web_until(w->base, &a[5].calls, 1));
	snprintf(want, sizeof(want), "/2 /3 /4 /5 ");
	/* the first two may come in either order */
	assert_string_equal(w->web.paths + strlen(w->web.paths) - 12, want);
	assert_int_equal(w->web.requests, 6);
}

static void
waiting_is_bounded_and_has_a_deadline(void **state)
{
	struct world *const w = *state;
	static struct answer a[1005];
	int calls = 0;

	http_limit(w->http, "slow", 0.001, 2);
	for (size_t i = 0; i < NITEMS(a); i++)
		world_ask(w,
		    (struct http_request){ .bucket = "slow", .timeout_ms = i == 10 ? 100 : 600000 },
		    &a[i]);
	assert_true(web_until(w->base, &a[10].calls, 1));
	assert_true(web_until(w->base, &a[1].calls, 1));
	assert_int_equal(a[10].err, E_TIMEOUT);
	assert_non_null(strstr(a[10].error, "still waiting for its turn"));
	assert_false(a[10].sent);
	for (size_t i = 0; i < NITEMS(a); i++) {
		if (i != 10)
			assert_int_equal(a[i].calls, i < 2 || i >= 1002);
		if (i >= 1002)
			assert_int_equal(a[i].err, E_LIMITED);
		calls += a[i].calls;
	}
	assert_int_equal(calls, 2 + 3 + 1);
	assert_int_equal(w->web.requests, 2);
	assert_int_equal(http_stats(w->http).waiting, 999);
}

/* Without a limit a burst of any size starts: the bound is for those that must wait. */
static void
no_limit_no_queue(void **state)
{
	struct world *const w = *state;
	static struct answer a[1500];
	int ok = 0;

	for (size_t i = 0; i < NITEMS(a); i++)
		world_ask(w, (struct http_request){ .timeout_ms = 600000 }, &a[i]);
	for (size_t i = 0; i < NITEMS(a); i++) {
		assert_true(web_until(w->base, &a[i].calls, 1));
		ok += a[i].err == E_OK;
	}
	assert_int_equal(ok, NITEMS(a));
	assert_true(w->web.accepts <= HTTP_MAX_PER_HOST);
}

static void
a_429_makes_its_whole_bucket_wait(void **state)
{
	struct world *const w = *state;
	struct answer first, second, other;

	w->web.reply = "HTTP/1.1 429 X\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n";
	world_ask(w, (struct http_request){ .bucket = "a" }, &first);
	assert_true(web_until(w->base, &first.calls, 1));
	world_ask(w, (struct http_request){ .bucket = "a" }, &second);
	world_ask(w, (struct http_request){ .bucket = "b" }, &other);
	assert_true(web_until(w->base, &other.calls, 1));
	assert_int_equal(second.calls, 0);
	assert_int_equal(http_stats(w->http).waiting, 1);
	assert_int_equal(w->web.requests, 2);
}

static void
a_429_with_a_short_wait(void **state)
{
	struct world *const w = *state;
	struct answer first, second;

	w->web.reply = "HTTP/1.1 503 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
	world_ask(w, (struct http_request){ 0 }, &first);
	assert_true(web_until(w->base, &first.calls, 1));
	const int64_t then_ms = clock_mono_ms();
	w->web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	world_ask(w, (struct http_request){ 0 }, &second);
	assert_true(web_until(w->base, &second.calls, 1));
	assert_int_equal(second.err, E_OK);
	assert_true(clock_mono_ms() - then_ms >= 990);
}

/* A caller that paces its own requests decides itself what a 429 delays. */
static void
a_caller_that_paces_itself_only_gets_the_429(void **state)
{
	struct world *const w = *state;
	struct answer first, second;

	http_free(&w->http);
	w->http = http_new(
	    w->base, &(struct http_config){ .user_agent = "muster-test/1", .caller_paces = true });
	w->web.reply = "HTTP/1.1 429 X\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n";
	world_ask(w, (struct http_request){ 0 }, &first);
	assert_true(web_until(w->base, &first.calls, 1));
	assert_int_equal(first.retry_after_ms, 3600 * 1000);
	w->web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	world_ask(w, (struct http_request){ .timeout_ms = 20000 }, &second);
	assert_true(web_until(w->base, &second.calls, 1));
	assert_int_equal(second.err, E_OK);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, world_open, world_close)
	static const struct CMUnitTest flows[] = {
		T(answered_when_the_headers_came), T(stream_cancelled_at_its_start),
		T(fault_11_a_dead_peer_is_noticed),
		T(a_stream_has_its_connection), T(stream_comes_in_pieces), T(stream_refused_by_the_server),
		T(stream_refused_by_the_reader), T(stream_cancelled_from_inside),
		T(sending_from_inside_curl), T(cancelled_is_not_called_back),
		T(cancelled_by_the_callback_of_another), T(freed_with_everything_under_way),
		T(connection_is_kept), T(nothing_is_sent_twice), T(limit_keeps_order_and_count),
		T(waiting_is_bounded_and_has_a_deadline), T(no_limit_no_queue),
		T(a_429_makes_its_whole_bucket_wait), T(a_429_with_a_short_wait),
		T(a_caller_that_paces_itself_only_gets_the_429),
	};

	struct CMUnitTest starts[NITEMS(start_rows)];

	world_without_proxies();
	for (size_t i = 0; i < NITEMS(start_rows); i++)
		starts[i] = (struct CMUnitTest){ start_rows[i].name, check_start, NULL, NULL,
			(void *)(uintptr_t)&start_rows[i] };
	return cmocka_run_group_tests_name("http_flow", flows, NULL, NULL)
	    + cmocka_run_group_tests_name("http_flow, starts", starts, NULL, NULL);
}
