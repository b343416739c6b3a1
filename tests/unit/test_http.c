/* tests/unit/test_http.c - one request, one answer: what goes out, what comes back, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors/runtime/http_private.h"
#include "random.h"
#include "stat.h"
#include "web.h"

/* ---- One request, one answer: a table. ---- */

#define A_50	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define MANY_A	A_50 A_50
#define OK	"HTTP/1.1 200 OK\r\n"
#define CHUNKED	"Transfer-Encoding: chunked\r\n\r\n"
#define EMPTY	"Content-Length: 0\r\n\r\n"
#define LINE_A	"X-A: " MANY_A MANY_A "\r\n"
#define LINES_A	LINE_A LINE_A LINE_A LINE_A LINE_A LINE_A LINE_A LINE_A LINE_A LINE_A

static const struct row {
	const char	*name, *method;
	const char	*reply;
	enum after	 after;
	enum err	 err;
	int		 status;
	const char	*body;
	int64_t		 retry_after_ms;
} rows[] = {
	{ "ok", "GET", OK "Content-Length: 5\r\n\r\nhello", KEEP, E_OK, 200, "hello", 0 },
	{ "ok in chunks", "GET", OK CHUNKED "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", KEEP, E_OK, 200, "hello", 0 },
	{ "ok up to the close", "GET", OK "\r\nhello", CLOSE, E_OK, 200, "hello", 0 },
	{ "ok without body", "DELETE", "HTTP/1.1 204 No Content\r\n\r\n", KEEP, E_OK, 204, "", 0 },
	{ "HEAD has no body", "HEAD", OK "Content-Length: 5\r\n\r\n", KEEP, E_OK, 200, "", 0 },
	{ "created", "POST", "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}", KEEP, E_OK, 201, "{}", 0 },
	{ "100 before the answer", "PUT", "HTTP/1.1 100 Continue\r\n\r\n" OK EMPTY, KEEP, E_OK, 200, "", 0 },
	{ "a redirect is an answer", "GET", "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n" EMPTY, KEEP, E_INVALID, 302, "", 0 },
	{ "400", "GET", "HTTP/1.1 400 Bad\r\nContent-Length: 3\r\n\r\nwhy", KEEP, E_INVALID, 400, "why", 0 },
	{ "401", "GET", "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\n" EMPTY, KEEP, E_DENIED, 401, "", 0 },
	{ "403", "GET", "HTTP/1.1 403 No\r\nContent-Length: 3\r\n\r\nwhy", KEEP, E_DENIED, 403, "why", 0 },
	{ "404", "GET", "HTTP/1.1 404 No\r\n" EMPTY, KEEP, E_NOT_FOUND, 404, "", 0 },
	{ "409", "PUT", "HTTP/1.1 409 Conflict\r\n" EMPTY, KEEP, E_AGAIN, 409, "", 0 },
	{ "422", "POST", "HTTP/1.1 422 No\r\n" EMPTY, KEEP, E_INVALID, 422, "", 0 },
	{ "500", "POST", "HTTP/1.1 500 No\r\nContent-Length: 3\r\n\r\nwhy", KEEP, E_SERVER, 500, "why", 0 },
	{ "429: one second", "GET", "HTTP/1.1 429 X\r\nRetry-After: 1\r\n" EMPTY, KEEP, E_LIMITED, 429, "", 1000 },
	{ "429: now", "GET", "HTTP/1.1 429 X\r\nRetry-After: 0\r\n" EMPTY, KEEP, E_LIMITED, 429, "", 0 },
	{ "429: a day is an hour", "GET", "HTTP/1.1 429 X\r\nRetry-After: 99999\r\n" EMPTY, KEEP, E_LIMITED, 429, "", 3600000 },
	{ "429: garbage", "GET", "HTTP/1.1 429 X\r\nRetry-After: abc\r\n" EMPTY, KEEP, E_LIMITED, 429, "", 0 },
	{ "429: no Retry-After", "GET", "HTTP/1.1 429 X\r\n" EMPTY, KEEP, E_LIMITED, 429, "", 0 },
	{ "503: until a date, by the server's own clock", "GET",
	  "HTTP/1.1 503 X\r\nDate: Tue, 06 Nov 2018 08:00:00 GMT\r\n"
	  "Retry-After: Tue, 06 Nov 2018 08:02:00 GMT\r\n" EMPTY, KEEP, E_SERVER, 503, "", 120000 },
	{ "closed before the answer", "GET", NULL, CLOSE, E_NETWORK, 0, "", 0 },
	{ "closed before the answer to a POST: unknown", "POST", NULL, CLOSE, E_UNKNOWN, 0, "", 0 },
	{ "closed in the body", "GET", OK "Content-Length: 50\r\n\r\nhello", CLOSE, E_NETWORK, 200, "", 0 },
	{ "closed in the chunks", "GET", OK CHUNKED "5\r\nhello\r\n", CLOSE, E_NETWORK, 200, "", 0 },
	{ "trailers", "GET", OK CHUNKED "2\r\nhi\r\n0\r\nX-T: y\r\n\r\n", KEEP, E_OK, 200, "hi", 0 },
	{ "closed in the headers", "GET", OK "Content-Le", CLOSE, E_NETWORK, 200, "", 0 },
	{ "no HTTP at all", "GET", "SSH-2.0-OpenSSH_9.2\r\n\r\n\r\n", CLOSE, E_SERVER, 0, "", 0 },
	{ "no answer", "GET", NULL, KEEP, E_TIMEOUT, 0, "", 0 },
	{ "no answer to a DELETE: unknown", "DELETE", NULL, KEEP, E_UNKNOWN, 0, "", 0 },
	{ "answer that stops", "GET", OK "Content-Length: 50\r\n\r\nhello", KEEP, E_TIMEOUT, 200, "", 0 },
	{ "body over the limit, as announced", "GET", OK "Content-Length: 5000\r\n\r\n" MANY_A, KEEP, E_TOO_BIG, 200, "", 0 },
	{ "body over the limit, unannounced", "GET", OK "\r\n" LINES_A, CLOSE, E_TOO_BIG, 200, "", 0 },
	{ "headers over the limit", "GET", OK LINES_A LINES_A LINES_A EMPTY, KEEP, E_TOO_BIG, 200, "", 0 },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct world *w;
	struct answer a = { 0 };
	char want[256];

	world_open((void **)&w);
	w->web.reply = r->reply;
	w->web.after = r->after;
	const bool hangs = r->after == KEEP && (r->err == E_TIMEOUT || r->err == E_UNKNOWN);
	http_send(w->http,
	    &(struct http_request){ .method = r->method,
		.url = w->url,
		.timeout_ms = hangs ? 150 : 20000,
		.max_body = 1024,
		.max_headers = 4096,
		.done = web_record,
		.arg = &a });
	assert_int_equal(a.calls, 0);		/* never from inside http_send */
	assert_true(web_until(w->base, &a.calls, 1));
	if (a.err != r->err)
		fail_msg("%s (%s), wanted %s", err_name(a.err), a.error, err_name(r->err));
	assert_int_equal(a.status, r->status);
	assert_string_equal(a.body, r->body);
	assert_int_equal(a.retry_after_ms, r->retry_after_ms);
	assert_true(a.sent);
	assert_int_equal(w->web.requests, 1);
	snprintf(want, sizeof(want), "%s http://127.0.0.1:%d/path: ", r->method, w->web.port);
	if (r->err == E_OK)
		assert_string_equal(a.error, "");
	else
		assert_memory_equal(a.error, want, strlen(want));
	assert_null(strstr(a.error, "s3cr3t"));
	world_close((void **)&w);
}

/* ---- What cannot be sent. ---- */

static const struct bad {
	const char	*name, *method, *url, *header, *bearer, *want;
} bads[] = {
	{ "bad: another scheme", "GET", "file:///etc/passwd", NULL, NULL, "URL must begin with http:// or https://" },
	{ "bad: ftp", "GET", "ftp://127.0.0.1/x", NULL, NULL, "URL must begin with http:// or https://" },
	{ "bad: no URL", "GET", "", NULL, NULL, "URL is not one" },
	{ "bad: no host", "GET", "http://", NULL, NULL, "URL is not one" },
	{ "bad: a space", "GET", "http://127.0.0.1/a b", NULL, NULL, "URL is not one" },
	{ "bad: a user name", "GET", "http://joe:s3cr3t@127.0.0.1/x", NULL, NULL, "must not carry a user name" },
	{ "bad: broken and with a user name", "GET", "http://joe:s3cr3t@127.0.0.1:99999/x", NULL, NULL, "URL is not one" },
	{ "bad: header with a line end", "GET", "http://127.0.0.1:9/x", "X: a\r\nY: s3cr3t", NULL, "a header holds a control character" },
	{ "bad: token with a line end", "GET", "http://127.0.0.1:9/x", NULL, "s3cr3t\n", "the credential holds a control character" },
	{ "bad: method", "GET /x", "http://127.0.0.1:9/x", NULL, NULL, "method is not in upper case letters" },
	{ "bad: no method", "", "http://127.0.0.1:9/x", NULL, NULL, "method is not in upper case letters" },
};

static void
check_bad(void **state)
{
	const struct bad *const b = *state;
	struct world *w;
	struct answer a = { 0 };

	world_open((void **)&w);
	assert_int_not_equal(http_send(w->http,
				 &(struct http_request){ .method = b->method,
				     .url = b->url,
				     .done = web_record,
				     .arg = &a,
				     .headers = (const char *const[]){ b->header, NULL },
				     .bearer = b->bearer,
				     .bearer_len = b->bearer == NULL ? 0 : strlen(b->bearer) }),
	    0);
	assert_int_equal(a.calls, 0);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_int_equal(a.err, E_INVALID);
	assert_int_equal(a.status, 0);
	assert_false(a.sent);
	if (strstr(a.error, b->want) == NULL)
		fail_msg("%s", a.error);
	assert_null(strstr(a.error, "s3cr3t"));
	world_close((void **)&w);
}

/* ---- Retry-After, all its forms (pure). ---- */

static const struct later {
	const char	*name, *value, *date;
	int64_t		 want;
} laters[] = {
	{ "later: none", NULL, NULL, 0 },
	{ "later: empty", "", NULL, 0 },
	{ "later: seconds", "120", NULL, 120000 },
	{ "later: seconds and blanks", "120 ", NULL, 120000 },
	{ "later: too many", "3601", NULL, 3600000 },
	{ "later: beyond 64 bits", "99999999999999999999999", NULL, 3600000 },
	{ "later: negative", "-5", NULL, 0 },
	{ "later: a fraction", "1.5", NULL, 0 },
	{ "later: a unit", "5s", NULL, 0 },
	{ "later: words", "soon", NULL, 0 },
	{ "later: a date by our clock", "Sun, 06 Nov 1994 08:50:37 GMT", NULL, 60000 },
	{ "later: a date by theirs", "Sun, 06 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 1994 08:50:30 GMT", 7000 },
	{ "later: their clock is garbage", "Sun, 06 Nov 1994 08:50:37 GMT", "yesterday", 60000 },
	{ "later: a date gone by", "Sun, 06 Nov 1994 08:40:00 GMT", NULL, 0 },
	{ "later: a date far off", "Sun, 06 Nov 2094 08:40:00 GMT", NULL, 3600000 },
	{ "later: a date beyond 64 bits of milliseconds", "Fri 2 Jan 1767322815", NULL, 3600000 },
	{ "later: their clock is beyond them", "Sun, 06 Nov 1994 08:50:37 GMT", "Fri 2 Jan 1767322815", 0 },
};

static void
check_later(void **state)
{
	const struct later *const l = *state;

	const int64_t wall_ms = 784111777000;	/* 08:49:37 that day */

	assert_int_equal(http_retry_after_ms(l->value, l->date, wall_ms), l->want);
}

/* ---- What goes out. ---- */

static void
request_is_as_asked(void **state)
{
	struct world *const w = *state;
	struct answer a;

	static const char *const headers[] = {
		"Content-Type: application/merge-patch+json", "Accept: application/json", NULL,
	};

	world_ask(w, (struct http_request){ .method = "PATCH", .body = "{\"a\":1}", .body_len = 7,
	    .bearer = "t0ken, not more", .bearer_len = 5, .headers = headers }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	const char *const sent = w->web.last;
	assert_memory_equal(sent, "PATCH /path?token=s3cr3t HTTP/1.1\r\n", 35);
	assert_non_null(strstr(sent, "\r\nAuthorization: Bearer t0ken\r\n"));
	assert_non_null(strstr(sent, "\r\nUser-Agent: muster-test/1\r\n"));
	assert_non_null(strstr(sent, "\r\nContent-Type: application/merge-patch+json\r\n"));
	assert_non_null(strstr(sent, "\r\nAccept: application/json\r\n"));
	assert_non_null(strstr(sent, "\r\nContent-Length: 7\r\n"));
	assert_string_equal(strstr(sent, "\r\n\r\n") + 4, "{\"a\":1}");
	assert_null(strstr(sent, "Expect"));
	assert_null(strstr(sent, "Accept-Encoding"));

	world_ask(w, (struct http_request){ .basic = "dXNlcjpwYXNz" }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_non_null(strstr(sent, "\r\nAuthorization: Basic dXNlcjpwYXNz\r\n"));
	world_ask(w, (struct http_request){ .basic = "s3cr3t\n" }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_int_equal(a.err, E_INVALID);
	assert_null(strstr(a.error, "s3cr3t"));

	world_ask(w, (struct http_request){ .method = "POST" }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_non_null(strstr(sent, "\r\nContent-Length: 0\r\n"));
	assert_null(strstr(sent, "Content-Type"));
	world_ask(w, (struct http_request){ .method = "DELETE" }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_null(strstr(sent, "Content-"));
}

static void
large_body_goes_out_whole(void **state)
{
	struct world *const w = *state;
	const size_t len = 3 * 1024 * 1024;
	char *const body = malloc(len);
	struct answer a;

	memset(body, 'b', len);
	world_ask(w, (struct http_request){ .method = "PUT", .body = body, .body_len = len }, &a);
	memset(body, 'x', len);		/* it was copied */
	free(body);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_int_equal(a.err, E_OK);
	assert_non_null(strstr(w->web.last, "\r\n\r\nbbbb"));
}

static void
gzip_only_when_asked(void **state)
{
	static const unsigned char packed[] = {	/* `printf hello | gzip -n` */
		0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xcb, 0x48, 0xcd,
		0xc9, 0xc9, 0x07, 0x00, 0x86, 0xa6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
	};
	struct world *const w = *state;
	struct answer a;
	char reply[256];
	const int head = snprintf(reply, sizeof(reply),
	    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n", sizeof(packed));

	memcpy(reply + head, packed, sizeof(packed));
	w->web.reply = reply;
	w->web.reply_len = (size_t)head + sizeof(packed);
	world_ask(w, (struct http_request){ .gzip = true }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_non_null(strstr(w->web.last, "\r\nAccept-Encoding: gzip\r\n"));
	assert_string_equal(a.body, "hello");
	world_ask(w, (struct http_request){ .gzip = false }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_int_equal(a.body_len, sizeof(packed));
}

static void
proxy_is_asked(void **state)
{
	struct world *const w = *state;
	struct answer a;
	char proxy[64];

	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", w->web.port);
	world_ask(w, (struct http_request){ .url = "http://muster.invalid/x", .proxy = proxy }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_int_equal(a.err, E_OK);
	assert_memory_equal(w->web.last, "GET http://muster.invalid/x HTTP/1.1\r\n", 38);
	assert_string_equal(a.host, "muster.invalid");
}

static void
nobody_listens(void **state)
{
	struct world *const w = *state;
	struct answer a;

	evconnlistener_free(w->web.listener);
	w->web.listener = NULL;
	world_ask(w, (struct http_request){ .method = "POST" }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_int_equal(a.err, E_NETWORK);	/* not unknown: it never went out */
	assert_false(a.sent);
}

static void
one_header_line_without_end(void **state)
{
	struct world *const w = *state;
	const size_t len = 300 * 1024;
	char *const reply = malloc(len);
	struct answer a;

	memset(reply, 'a', len);
	memcpy(reply, "HTTP/1.1 200 OK\r\nX: ", 20);
	w->web.reply = reply;
	w->web.reply_len = len;
	world_ask(w, (struct http_request){ 0 }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_int_equal(a.err, E_TOO_BIG);
	free(reply);
}

static const char *remembered;

static void
read_headers(const struct http_response *r, void *arg)
{
	remembered = http_header(r, "audit-id") != NULL && strcmp(http_header(r, "audit-id"), "42") == 0
	    && http_header(r, "Absent") == NULL ? "yes" : "no";
	web_record(r, arg);
}

static void
headers_of_the_answer(void **state)
{
	struct world *const w = *state;
	struct answer a = { 0 };

	w->web.reply = OK "Audit-Id: 42\r\nContent-Type: text/plain; charset=x\r\n" EMPTY;
	http_send(w->http,
	    &(struct http_request){
		.method = "GET", .url = w->url, .done = read_headers, .arg = &a });
	assert_true(web_until(w->base, &a.calls, 1));
	assert_string_equal(remembered, "yes");
	assert_string_equal(a.type, "text/plain; charset=x");
}

/*
 * A vector made with the Go SDK's signer. What is signed must be sent: curl would also sign "Expect:", which
 * only removes a header.
 */
static void
signed_for_aws(void **state)
{
	static const struct http_sigv4 key = { .scope = "aws:amz:eu-west-1:ec2", .access_key = "AKIDEXAMPLE",
		.secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
	static const char *const headers[] = { "Content-Type: application/x-www-form-urlencoded",
		"X-Amz-Date: 20260102T030405Z", "X-Amz-Security-Token: EXAMPLESESSIONTOKEN==", NULL };
	static const char body[] = "Action=DescribeInstanceTypes&MaxResults=100&Version=2016-11-15";
	struct world *const w = *state;
	char proxy[64];
	struct answer a;

	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", w->web.port);
	world_ask(w, (struct http_request){ .method = "POST", .url = "http://ec2.eu-west-1.amazonaws.com/",
	    .headers = headers, .body = body, .body_len = sizeof(body) - 1, .proxy = proxy,
	    .sigv4 = &key }, &a);
	assert_true(web_until(w->base, &a.calls, 1));
	assert_int_equal(a.err, E_OK);
	assert_non_null(strstr(w->web.last, "Authorization: AWS4-HMAC-SHA256 "
	    "Credential=AKIDEXAMPLE/20260102/eu-west-1/ec2/aws4_request, "
	    "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, "
	    "Signature=3bed63a3b567a46ca8da61622c3f9c1502ea883c6e5a437d13e354265d3e0b96\r\n"));
	assert_null(strstr(w->web.last, "EXAMPLEKEY"));
	/* Twice is another request: the server signs the two values, joined. */
	assert_null(strstr(strstr(w->web.last, "X-Amz-Date:") + 1, "X-Amz-Date:"));
	assert_null(strstr(strstr(w->web.last, "Host:") + 1, "Host:"));
}

/* ---- Numbers. ---- */

static void
find_series(const struct stat_view *v, void *arg)
{
	char *const text = arg;

	snprintf(text + strlen(text), 2048 - strlen(text), "%s{%s} %g\n", v->family, v->labels,
	    v->kind == STAT_HISTOGRAM ? (double)v->count : v->value);
}

static void
requests_are_counted(void **state)
{
	struct world *const w = *state;
	struct answer a;
	char text[2048] = "", want[512], host[64];

	for (int i = 0; i < 3; i++) {
		w->web.reply = i == 2 ? NULL : "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";
		w->web.after = i == 2 ? CLOSE : KEEP;
		world_ask(w, (struct http_request){ .method = i == 2 ? "POST" : "GET" }, &a);
		assert_true(web_until(w->base, &a.calls, 1));
	}
	stat_changed(find_series, text);
	snprintf(host, sizeof(host), "host=\"127.0.0.1:%d\"", w->web.port);
	snprintf(want, sizeof(want), "rest_client_requests_total{code=\"404\",method=\"GET\",%s} 2\n", host);
	assert_non_null(strstr(text, want));
	snprintf(want, sizeof(want), "rest_client_requests_total{code=\"<error>\",method=\"POST\",%s} 1\n",
	    host);
	assert_non_null(strstr(text, want));
	snprintf(want, sizeof(want), "rest_client_request_duration_seconds{verb=\"GET\",%s} 2\n", host);
	assert_non_null(strstr(text, want));
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, world_open, world_close)
	static const struct CMUnitTest others[] = {
		T(request_is_as_asked), T(large_body_goes_out_whole), T(gzip_only_when_asked),
		T(proxy_is_asked), T(nobody_listens), T(one_header_line_without_end),
		T(headers_of_the_answer), T(signed_for_aws), T(requests_are_counted),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(bads) + NITEMS(laters) + NITEMS(others)];
	size_t n = 0;

	world_without_proxies();
	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(bads); i++)
		tests[n++] = (struct CMUnitTest){ bads[i].name, check_bad, NULL, NULL,
			(void *)(uintptr_t)&bads[i] };
	for (size_t i = 0; i < NITEMS(laters); i++)
		tests[n++] = (struct CMUnitTest){ laters[i].name, check_later, NULL, NULL,
			(void *)(uintptr_t)&laters[i] };
	memcpy(tests + n, others, sizeof(others));
	return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
