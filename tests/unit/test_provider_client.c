/*
 * tests/unit/test_provider_client.c - provider calls against a server on the loop: outcomes, token, limits,
 * metrics (contract A7). When a call leaves: test_provider_send.c. Secrets: test_provider_secret.c.
 */
#include "provider_rig.h"

#include "actors/provider/meter.h"

/* ---- Outcomes ---- */

static void
a_call(void **state)
{
	struct rig *const r = *state;
	struct result out;

	call(r, &out, LIST);
	assert_int_equal(out.outcome, CALL_DONE);
	assert_string_equal(out.body, "{\"a\": 1}");
	assert_string_equal(out.error, "");
	assert_string_equal(out.reply_error, "");
	assert_non_null(strstr(r->web.last, "GET /vms?page=1 HTTP/1.1\r\n"));
	assert_non_null(strstr(r->web.last, "Authorization: Bearer t0ken-1\r\n"));
	assert_non_null(strstr(r->web.last, "Accept: application/json\r\n"));
	assert_null(strstr(r->web.last, "Content-Type"));
	assert_true(counted(STAT_PROVIDER_REQUESTS, "provider=\"sim\",class=\"vms\",code=\"200\"") == 1);
	call(r, &out, CREATE);
	assert_non_null(strstr(r->web.last, "Content-Type: application/json\r\n"));
	assert_int_equal(client_in_flight(r->client), 0);
}

#define HEAD(code, more)	"HTTP/1.1 " code " X\r\n" more

static const struct answer_row {
	const char		*name;
	const char		*reply;		/* NULL: the connection is closed instead */
	enum call_outcome	 read, mutation;
	const char		*error;		/* a part of it */
	const char		*reply_error;	/* NULL: not checked */
} answer_rows[] = {
	{ "A7 404 with a body",
	  HEAD("404", "Content-Length: 2\r\n\r\n{}"), CALL_REFUSED, CALL_REFUSED, "404", "" },
	{ "A7 a page of HTML instead of JSON",
	  HEAD("200", "Content-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>"), CALL_DONE,
	  CALL_DONE, "", "not JSON at line 1, column 1" },
	{ "A7 a 400 of nginx", HEAD("400", "Content-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"),
	  CALL_REFUSED, CALL_REFUSED, "400", "not JSON at line 1, column 1" },
	{ "A7 a 5xx", HEAD("502", "Content-Length: 0\r\n\r\n"), CALL_FAILED, CALL_UNKNOWN, "502", NULL },
	{ "A7 a cut body", HEAD("201", "Content-Length: 100\r\n\r\n{\"a\":"), CALL_FAILED, CALL_UNKNOWN,
	  "bytes remaining", NULL },
	{ "A7 a cut chunk",
	  HEAD("200", "Transfer-Encoding: chunked\r\n\r\nff\r\n{\"a\":"), CALL_FAILED, CALL_UNKNOWN,
	  "/vms", NULL },
	{ "A7 a cut head", "HTTP/1.1 200 OK\r\nContent-Le", CALL_FAILED, CALL_UNKNOWN, "/vms", NULL },
	{ "A7 larger than 16 MiB",
	  HEAD("200", "Content-Length: 16777217\r\n\r\n{"), CALL_FAILED, CALL_UNKNOWN,
	  "/vms", NULL },
	{ "no answer", NULL, CALL_FAILED, CALL_UNKNOWN, "/vms", NULL },
	{ "a redirect",
	  HEAD("302", "Location: /x\r\nContent-Length: 0\r\n\r\n"), CALL_FAILED, CALL_UNKNOWN, "302",
	  NULL },
};

static void
check_answer(void **state)
{
	const struct answer_row *const row = *state;
	static const unsigned kinds[] = { LIST, CREATE, SEARCH };
	struct rig *r;

	for (size_t i = 0; i < NITEMS(kinds); i++) {
		struct result out;

		rig_open((void **)&r);
		r->web.reply = row->reply;
		r->web.after = CLOSE;
		call(r, &out, kinds[i]);
		assert_string_equal(call_outcome_name(out.outcome),
		    call_outcome_name(classes[kinds[i]].mutating ? row->mutation : row->read));
		assert_non_null(strstr(out.error, row->error));
		assert_null(strstr(out.error, "page=1"));	/* a query may hold a secret */
		if (row->reply_error != NULL)
			assert_string_equal(out.reply_error, row->reply_error);
		assert_int_equal(r->web.requests, 1);
		rig_close((void **)&r);
	}
}

/* curl repeats by itself what it sent over a kept connection that was dead: not a mutation. */
static void
a_dead_connection(void **state)
{
	struct rig *const r = *state;
	struct result out;

	call(r, &out, SEARCH);
	r->web.after = CLOSE;
	r->web.reply = NULL;
	call(r, &out, CREATE);
	assert_int_equal(out.outcome, CALL_UNKNOWN);
	assert_int_equal(r->web.requests, 2);
	/* The same with a POST that changes nothing: it is sent again over a new connection. */
	r->web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
	r->web.after = KEEP;
	call(r, &out, SEARCH);
	r->web.after = CLOSE;
	r->web.reply = NULL;
	call(r, &out, SEARCH);
	assert_int_equal(out.outcome, CALL_FAILED);
	assert_int_equal(r->web.requests, 5);
	r->web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
	r->web.after = KEEP;
	call(r, &out, SEARCH);
	assert_int_equal(out.outcome, CALL_DONE);
}

/* ---- Token ---- */

static const char unauthorized[] = "HTTP/1.1 401 X\r\nContent-Length: 2\r\n\r\n{}";

static void
a7_a_401_and_a_new_token(void **state)
{
	struct rig *const r = *state;
	struct result out;

	r->web.reply = unauthorized;
	put_token(r, "t0ken-two");
	call(r, &out, CREATE);
	assert_non_null(strstr(r->web.last, "Bearer t0ken-1\r\n"));
	assert_int_equal(out.outcome, CALL_REFUSED);
	assert_true(out.token_changed);
	assert_int_equal(r->web.requests, 1);	/* nothing is repeated here */
	call(r, &out, CREATE);
	assert_non_null(strstr(r->web.last, "Bearer t0ken-two\r\n"));
	assert_false(out.token_changed);
	assert_null(strstr(out.error, "t0ken"));
}

static void
a7_a_token_file_that_changes(void **state)
{
	struct rig *const r = *state;
	struct result out;

	call(r, &out, LIST);
	put_token(r, "t0ken-two");
	turn(r->base, 1000);
	call(r, &out, LIST);
	assert_non_null(strstr(r->web.last, "Bearer t0ken-two\r\n"));
	put_token(r, "");
	turn(r->base, 1000);
	call(r, &out, LIST);
	assert_non_null(strstr(r->web.last, "Bearer t0ken-two\r\n"));
}

static void
a_header_of_its_own_for_the_token(void **state)
{
	struct rig *const r = *state;
	struct result out;

	client_free(&r->client);
	r->token_header = "Vpsie-Auth";
	open_client(r);
	call(r, &out, LIST);
	assert_non_null(strstr(r->web.last, "\r\nVpsie-Auth: t0ken-1\r\n"));
	assert_null(strstr(r->web.last, "Bearer"));
}

/* ---- Limits ---- */

#define DATE	"Date: Fri, 02 Jan 2026 03:00:00 GMT\r\nContent-Length: 0\r\n\r\n"

static const struct limit_row {
	const char	*name, *reply;
	int64_t		 retry_after_ms;
	bool		 closed;
	double		 budget;	/* < 0: not reported */
} limit_rows[] = {
	{ "429, Retry-After: 1", HEAD("429", "Retry-After: 1\r\nContent-Length: 0\r\n\r\n"), 1000, true, -1 },
	{ "429, Retry-After: 0", HEAD("429", "Retry-After: 0\r\nContent-Length: 0\r\n\r\n"), 0, true, -1 },
	{ "429, Retry-After: 99999",
	  HEAD("429", "Retry-After: 99999\r\nContent-Length: 0\r\n\r\n"), 3600000, true, -1 },
	{ "429, Retry-After: abc",
	  HEAD("429", "Retry-After: abc\r\nContent-Length: 0\r\n\r\n"), 0, true, -1 },
	{ "429 alone", HEAD("429", "Content-Length: 0\r\n\r\n"), 0, true, -1 },
	{ "calls remain", HEAD("200", "X-RateLimit-Limit: 1600\r\nX-RateLimit-Remaining: 1599\r\n"
	  "X-RateLimit-Reset: 1767322860\r\n" DATE),
	  0, false, 1599 },
	{ "none remains", HEAD("200", "x-ratelimit-limit: 1600\r\nx-ratelimit-remaining: 0\r\n"
	  "x-ratelimit-reset: 1767322860\r\n" DATE),
	  0, true, 0 },
};

static void
check_limit(void **state)
{
	const struct limit_row *const row = *state;
	struct result out, next, other;
	struct rig *r;

	rig_open((void **)&r);
	r->web.reply = row->reply;
	call(r, &out, LIST);
	assert_int_equal(out.retry_after_ms, row->retry_after_ms);
	r->web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	begin(r, &next, LIST);
	call(r, &other, SEARCH);		/* of another bucket */
	turn(r->base, 300);
	assert_int_equal(next.calls, row->closed ? 0 : 1);
	if (row->budget >= 0) {
		assert_true(counted(STAT_PROVIDER_BUDGET, "provider=\"sim\",class=\"vms\"") == row->budget);
		/* the same bucket */
		assert_true(counted(STAT_PROVIDER_BUDGET, "provider=\"sim\",class=\"vm\"") == row->budget);
	}
	rig_close((void **)&r);
}

static void
a_second_is_waited(void **state)
{
	struct rig *const r = *state;
	struct result out;

	r->web.reply = limit_rows[0].reply;
	call(r, &out, LIST);
	const int64_t then_ms = clock_mono_ms();
	r->web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	call(r, &out, LIST);
	assert_int_equal(out.outcome, CALL_DONE);
	assert_true(clock_mono_ms() - then_ms >= 990);
}

/* ---- Cancelling, hops ---- */

static void
cancelled_is_not_called_back(void **state)
{
	struct rig *const r = *state;
	struct result first, second;

	r->web.reply = NULL;
	const uint64_t id = begin(r, &first, LIST);
	assert_true(web_until(r->base, &r->web.requests, 1));
	client_cancel(r->client, id);
	client_cancel(r->client, id);
	assert_int_equal(client_in_flight(r->client), 0);
	r->web.reply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
	call(r, &second, LIST);
	assert_int_equal(first.calls, 0);
	begin(r, &first, LIST);		/* freed with a call in flight */
}

static const struct hop_row {
	const char	*class, *ending, *want;
} hop_rows[] = {
	{ "pools", "200", "linode GET pools 200" },
	{ "instances", "200", "linode GET instances 200" },
	{ "volume-attachments", "200", "linode GET volume-a 200" },
	{ "pools", "not-sent", "linode GET po not-sent" },
};

static void
hops_keep_their_code(void **state)
{
	char text[25];

	(void)state;
	for (size_t i = 0; i < NITEMS(hop_rows); i++) {
		meter_hop(text, sizeof(text), "linode", "GET", hop_rows[i].class, hop_rows[i].ending);
		if (i == 0 || i == 1)
			assert_string_equal(text, hop_rows[i].want);
		assert_true(strlen(text) < sizeof(text));
		assert_string_equal(text + strlen(text) - strlen(hop_rows[i].ending), hop_rows[i].ending);
	}
}

static void
reasons_are_counted(void **state)
{
	(void)state;
	stat_reset();
	meter_fenced(FENCE_OPEN);
	meter_fenced(FENCE_TAKEOVER);
	meter_braked(BRAKE_RELEASED);
	meter_braked(BRAKE_SHRUNK);
	meter_braked(BRAKE_SHRUNK);
	assert_true(counted(STAT_FENCED, "reason=\"takeover\"") == 1);
	assert_true(counted(STAT_BRAKE, "reason=\"shrunk\"") == 2);
	assert_true(counted(STAT_BRAKE, "reason=\"\"") == 0);
	stat_reset();
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, rig_open, rig_close)
	static const struct CMUnitTest flows[] = {
		T(a_call), T(a_dead_connection), T(a7_a_401_and_a_new_token), T(a7_a_token_file_that_changes),
		T(a_header_of_its_own_for_the_token), T(a_second_is_waited), T(cancelled_is_not_called_back),
		cmocka_unit_test(hops_keep_their_code), cmocka_unit_test(reasons_are_counted),
	};
	struct CMUnitTest answers[NITEMS(answer_rows)], limits[NITEMS(limit_rows)];

	world_without_proxies();
	for (size_t i = 0; i < NITEMS(answer_rows); i++)
		answers[i] = (struct CMUnitTest){ answer_rows[i].name, check_answer, NULL, NULL,
			(void *)(uintptr_t)&answer_rows[i] };
	for (size_t i = 0; i < NITEMS(limit_rows); i++)
		limits[i] = (struct CMUnitTest){ limit_rows[i].name, check_limit, NULL, NULL,
			(void *)(uintptr_t)&limit_rows[i] };
	return cmocka_run_group_tests_name("client", flows, NULL, NULL)
	    + cmocka_run_group_tests_name("client, answers", answers, NULL, NULL)
	    + cmocka_run_group_tests_name("client, limits", limits, NULL, NULL);
}
