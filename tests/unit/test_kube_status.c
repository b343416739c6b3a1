/*
 * tests/unit/test_kube_status.c - answers that refuse a request: what is read from them in both
 * encodings, and what it means.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/status.h"
#include "tests/unit/kubebytes.h"

#define STATUS(rest)	"{'kind':'Status','apiVersion':'v1','metadata':{}," rest "}"

/*
 * As real servers send them (1.35). wanted: code, reason, message, causes, seconds to wait; what it
 * means to a write and a read
 */
static const struct row {
	const char	*name, *body;
	int		 http, code;
	const char	*reason, *message, *causes;
	int64_t		 retry_after_s;
} rows[] = {
	{ "conflict",
	  STATUS("'message':'cannot','reason':'Conflict','details':{'name':'a','kind':'nodes'},'code':409"),
	  409, 409, "Conflict", "cannot", "", 0 },
	{ "already there",
	  STATUS("'reason':'AlreadyExists','message':'nodes \\'a\\' already exists','code':409"),
	  409, 409, "AlreadyExists", "nodes 'a' already exists", "", 0 },
	{ "forbidden keeps verb and resource",
	  STATUS("'reason':'Forbidden','code':403,'message':'nodes \\'a\\' is forbidden: User \\'u\\' "
		 "cannot patch resource \\'nodes\\' at the cluster scope'"),
	  403, 403, "Forbidden",
	  "nodes 'a' is forbidden: User 'u' cannot patch resource 'nodes' at the cluster scope",
	  "", 0 },
	{ "invalid, with causes",
	  STATUS("'reason':'Invalid','message':'m','code':422,'details':{'causes':["
		 "{'reason':'FieldValueRequired','message':'Required value','field':'spec.size'},"
		 "{'message':'alone'},{'field':'spec.a'},{'reason':'R'}]}"),
	  422, 422, "Invalid", "m", "spec.size: Required value\nalone\nspec.a\nR", 0 },
	{ "too many",
	  STATUS("'reason':'TooManyRequests','message':'m','details':{'retryAfterSeconds':7},'code':429"),
	  429, 429, "TooManyRequests", "m", "", 7 },
	{ "waits that nobody waits",
	  STATUS("'message':'m','details':{'retryAfterSeconds':99999999999},'code':429"),
	  429, 429, "", "m", "", STATUS_RETRY_MAX_S },
	{ "a wait before now", STATUS("'message':'m','details':{'retryAfterSeconds':-5},'code':429"),
	  429, 429, "", "m", "", 0 },
	{ "not found", STATUS("'reason':'NotFound','message':'nodes \\'a\\' not found','code':404"),
	  404, 404, "NotFound", "nodes 'a' not found", "", 0 },
	{ "unauthorised", STATUS("'reason':'Unauthorized','message':'Unauthorized','code':401"),
	  401, 401, "Unauthorized", "Unauthorized", "", 0 },
	{ "a server that failed may have written",
	  STATUS("'reason':'InternalError','message':'etcdserver: timed out','code':500"),
	  500, 500, "InternalError", "etcdserver: timed out", "", 0 },
	{ "the code of the body in a watch", STATUS("'reason':'Expired','message':'too old','code':410"),
	  0, 410, "Expired", "too old", "", 0 },
	{ "the HTTP code wins", STATUS("'message':'m','code':200"),
	  504, 504, "", "m", "", 0 },
	{ "done", STATUS("'status':'Success'"), 200, 200, "", "", "", 0 },
	{ "created", STATUS("'code':0"), 201, 201, "", "", "", 0 },
	{ "control characters",
	  STATUS("'message':'a\\nb\\u001b[31m\\u009bc \\n','reason':'R\\t','code':400"),
	  400, 400, "R", "a b [31m c", "", 0 },
	{ "a code that is none", STATUS("'message':'m','code':100000"),
	  0, 0, "", "m", "", 0 },
};

static void
check_status(const struct kube_status *s, const struct row *r)
{
	char causes[1024];

	assert_true(s->given);
	assert_int_equal(s->code, r->code);
	assert_string_equal(s->reason, r->reason);
	assert_string_equal(s->message, json_text(r->message));
	assert_int_equal(s->retry_after_s, r->retry_after_s);
	assert_int_equal(status_causes(s, causes, sizeof(causes)), strlen(r->causes));
	assert_string_equal(causes, r->causes);
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct kube_status s;
	struct bytes b = kube_object("Status", r->body);

	status_read(&s, r->http, json_text(r->body), strlen(r->body));
	check_status(&s, r);
	b = kube_wrap("v1", "Status", &b);
	uint8_t *exact = obj_memdup(b.p, b.len);
	status_read(&s, r->http, exact, b.len);
	check_status(&s, r);
	free(exact);
	bytes_free(&b);
}

static const struct words {
	const char	*name, *body, *wanted;
} words[] = {
	{ "nothing", "", "" },
	{ "a line", "upstream connect error\nmore\n", "upstream connect error" },
	{ "blank lines first", "\r\n  \n\t 404 page not found\n", "404 page not found" },
	{ "nginx", "<html>\r\n<head><title>503 Service Temporarily "
	  "Unavailable</title></head>\r\n<body>\r\n", "503 Service Temporarily Unavailable" },
	{ "a doctype", "<!DOCTYPE html><html lang='en'><body><h1>Bad <b>Gateway</b></h1>", "Bad" },
	{ "JSON of somebody else", "{'error':'denied'}", "{'error':'denied'}" },
	{ "an object that is no Status", "{'kind':'Node'}", "{'kind':'Node'}" },
	{ "not even text", "\x01\x02\xff\xfe\x1b[31mred", "?? [31mred" },
	{ "a tag that never ends", "<html", "" },
};

static void
check_words(void **state)
{
	const struct words *w = *state;
	struct kube_status s;

	status_read(&s, 503, json_text(w->body), strlen(w->body));
	assert_false(s.given);
	assert_int_equal(s.code, 503);
	assert_string_equal(s.message, json_text(w->wanted));
	assert_string_equal(s.reason, "");
}

static void
versions_that_have_gone(void **state)
{
	static const struct {
		const char *body;
		bool	    too_large;
	} asks[] = {
		{ "{'kind':'Status','reason':'Expired','code':410}", false },
		{ "{'kind':'Status','reason':'Gone'}", false },
		{ "{'kind':'Status','code':410}", false },
		{ "{'kind':'Status','reason':'Timeout','code':504,"
		  "'details':{'causes':[{'reason':'ResourceVersionTooLarge',"
		  "'message':'Too large resource version'}],'retryAfterSeconds':1}}", true },
		{ "{'kind':'Status','reason':'Timeout','message':'Too large resource version: 9, current: 1','code':504}", true },
		{ "{'kind':'Status','reason':'Timeout','code':504}", false },
		{ "{'kind':'Status','reason':'InternalError','code':500}", false },
	};
	struct kube_status s;

	(void)state;
	for (size_t i = 0; i < NITEMS(asks); i++) {
		status_read(&s, 0, json_text(asks[i].body), strlen(asks[i].body));
		assert_int_equal(status_too_large_rv(&s), asks[i].too_large);
	}
}

/* More and longer than fits: cut, between characters. */
static void
limits(void **state)
{
	struct kube_status s;
	char body[8192], small[10];
	size_t n = (size_t)snprintf(body, sizeof(body), "{'kind':'Status','message':'");

	(void)state;
	for (int i = 0; i < 800; i++)
		n += (size_t)snprintf(body + n, sizeof(body) - n, "\xc3\xa9");
	n += (size_t)snprintf(body + n, sizeof(body) - n, "','details':{'name':'worker','group':'g',"
	    "'kind':'nodes','causes':[{}");
	for (int i = 0; i < 100; i++)
		n += (size_t)snprintf(body + n, sizeof(body) - n, ",{'field':'f'}");
	n += (size_t)snprintf(body + n, sizeof(body) - n, "]}}");
	status_read(&s, 422, json_text(body), n);
	assert_true(s.given);
	assert_int_equal(strlen(s.message), sizeof(s.message) - 2);	/* two bytes each: one is left over */
	assert_int_equal(s.ncauses, STATUS_CAUSES_MAX);
	assert_int_equal(status_causes(&s, small, sizeof(small)), sizeof(small) - 1);
	assert_int_equal(status_causes(&s, small, 0), 0);
}

static void
broken_protobuf(void **state)
{
	struct bytes b = kube_object("Status", "{'message':'m','code':500}");
	struct kube_status s;

	(void)state;
	b = kube_wrap("v1", "Status", &b);
	for (size_t len = 4; len < b.len - 4; len++) {
		uint8_t *exact = obj_memdup(b.p, len);

		status_read(&s, 500, exact, len);
		assert_false(s.given);
		assert_string_equal(s.message, "an answer in protobuf that is no Status");
		assert_int_equal(s.code, 500);
		free(exact);
	}
	bytes_free(&b);
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(versions_that_have_gone),
		cmocka_unit_test(limits),
		cmocka_unit_test(broken_protobuf),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(words) + NITEMS(others)];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(words); i++)
		tests[n++] = (struct CMUnitTest){ words[i].name, check_words, NULL, NULL,
			(void *)(uintptr_t)&words[i] };
	memcpy(&tests[n], others, sizeof(others));
	return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
