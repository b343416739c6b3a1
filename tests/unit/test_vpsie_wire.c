/*
 * tests/unit/test_vpsie_wire.c - requests and answers of the VPSie API: A7, D8, D11, D16, D17, D23, and the
 * defect 7 of the original: the paths that it tested were not those that it called.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/vpsie-claimer/request.h"
#include "actors/vpsie-claimer/wire.h"
#include "obj.h"

#define ORIGINAL	"https://api.vpsie.com/v2"
#define SDK		"https://api.vpsie.com"
#define UUID		"7c0d7e1e-0000-4000-8000-000000000001"

/* ---- Requests ---- */

static const struct request_row {
	const char	*name, *url;
	enum vpsie_call	 call;
	const char	*want;		/* "METHOD path body", or "!error" */
} requests[] = {
	{ "D17 VMs below /v2", ORIGINAL, CALL_LIST_VMS, "GET /v2/vm?offset=500&limit=500 " },
	{ "D17 VMs of the SDK below /api/v2", SDK, CALL_LIST_VMS, "GET /api/v2/vm?offset=500&limit=500 " },
	{ "D17 VMs of the SDK, by the other prefix", SDK "/apps/v2/", CALL_LIST_VMS, "GET /api/v2/vm?offset=500&limit=500 " },
	{ "D18 a VM by its id", ORIGINAL, CALL_READ_VM, "GET /v2/vm/41001 " },
	{ "D16 deletion by id", ORIGINAL, CALL_DELETE_VM, "DELETE /v2/vm/41001 " },
	{ "D17 a cluster below /v2", ORIGINAL, CALL_READ_CLUSTER, "GET /v2/k8s/cluster/byId/" UUID " " },
	{ "D17 a cluster of the SDK below /apps/v2", SDK "/", CALL_READ_CLUSTER, "GET /apps/v2/k8s/cluster/byId/" UUID " " },
	{ "groups", ORIGINAL, CALL_LIST_GROUPS, "GET /v2/k8s/node/groups/byClusterId/" UUID " " },
	{ "a group, with the capital K", ORIGINAL, CALL_MAKE_GROUP,
	    "POST /v2/k8s/cluster/add/group {\"clusterIdentifier\":\"" UUID "\","
	    "\"groupName\":\"web\",\"KubeSizeID\":3}" },
	{ "defect 7: the path of a worker has the numeric group", ORIGINAL, CALL_ADD_WORKER,
	    "POST /v2/k8s/cluster/byId/" UUID "/add/slave/group/77 " },
	{ "D16 deletion by UUID, with a body", SDK, CALL_DELETE_WORKER,
	    "DELETE /apps/v2/k8s/cluster/byId/" UUID "/delete/slave {\"identifier\":\"node-1\"}" },
	{ "D17 a token, as a form", ORIGINAL, CALL_TOKEN, "POST /v2/auth/from/api clientId=me%26you&clientSecret=s%2Fe%3D%25" },
	{ "another host and port", "http://127.0.0.1:8080/v2", CALL_READ_VM, "GET /v2/vm/41001 " },
	{ "no scheme", "api.vpsie.com", CALL_READ_VM, "!the URL does not begin with https://" },
	{ "no host", "https:///v2", CALL_READ_VM, "!the URL has no host" },
	{ "a query in the URL", "https://a/v2?x=1", CALL_READ_VM, "!the URL has a character that does not belong there" },
	{ "a user in the URL", "https://me:pass@a/v2", CALL_READ_VM, "!the URL has a character that does not belong there" },
	{ "a blank in the URL", "https://a/v2 ", CALL_READ_VM, "!the URL has a character that does not belong there" },
};

static void
check_request(void **state)
{
	const struct request_row *const r = *state;
	const struct vpsie_target t = { .cluster = wire_str_of(UUID),
		.identifier = wire_str_of("node-1"),
		.group_name = wire_str_of("web"),
		.id = 41001,
		.group_id = 77,
		.kube_size = 3,
		.offset = 500,
		.client_id = wire_str_of("me&you"),
		.client_secret = wire_str_of("s/e=%") };
	struct vpsie_request *const q = obj_alloc(sizeof(*q));
	struct vpsie_base base;
	char got[VPSIE_PATH_MAX + VPSIE_BODY_MAX + 16];

	const char *error = vpsie_base_parse(r->url, &base);
	if (error == NULL)
		error = vpsie_request(&base, r->call, &t, q);
	if (error != NULL)
		snprintf(got, sizeof(got), "!%s", error);
	else
		snprintf(got, sizeof(got), "%s %s %s", q->method, q->path, q->body);
	assert_string_equal(got, r->want);
	if (error == NULL) {
		assert_int_equal(strlen(q->body), q->body_len);
		assert_int_equal(q->content_type == NULL, q->body_len == 0);
		assert_null(strchr(base.host + 8, '/'));
	}
	free(q);
}

/* What an object of the cluster contains does not become another path. */
static void
A7_identifiers_are_checked(void **state)
{
	static const char *const bad[] = { "", "a/b", "..", "a?b", "a#b", "a%2f", "a b",
		"\xc3\xa9" };
	static const enum vpsie_call in_path[] = { CALL_READ_CLUSTER, CALL_LIST_GROUPS,
		CALL_ADD_WORKER, CALL_READ_VM };
	struct vpsie_request *const q = obj_alloc(sizeof(*q));
	struct vpsie_base base;
	char name[129], long_name[5000];

	(void)state;
	assert_null(vpsie_base_parse(ORIGINAL, &base));
	for (size_t i = 0; i < NITEMS(bad); i++) {
		for (size_t k = 0; k < NITEMS(in_path); k++) {
			const struct vpsie_target t = { .cluster = wire_str_of(bad[i]),
				.identifier = wire_str_of(bad[i]),
				.group_id = 1 };

			assert_non_null(vpsie_request(&base, in_path[k], &t, q));
		}
	}
	memset(name, 'a', sizeof(name));
	const struct vpsie_target long_one = { .cluster = { .p = name, .len = sizeof(name) } };
	assert_non_null(vpsie_request(&base, CALL_READ_CLUSTER, &long_one, q));
	/* Numbers and texts that are missing. */
	for (unsigned c = CALL_READ_VM; c < VPSIE_CALL_MAX; c++)
		assert_non_null(
		    vpsie_request(&base, (enum vpsie_call)c, &(struct vpsie_target){ .id = 0 }, q));
	assert_non_null(
	    vpsie_request(&base, CALL_LIST_VMS, &(struct vpsie_target){ .offset = -1 }, q));
	/* D16: without an id no VM is deleted, whatever identifier there is. */
	const struct vpsie_target no_id = { .identifier = wire_str_of(UUID) };
	assert_non_null(vpsie_request(&base, CALL_DELETE_VM, &no_id, q));
	assert_null(vpsie_request(&base, CALL_READ_VM, &no_id, q));
	assert_string_equal(q->path, "/v2/vm/" UUID);
	/* A body is not cut. */
	memset(long_name, 'n', sizeof(long_name));
	const struct wire_str huge = { .p = long_name, .len = sizeof(long_name) };
	assert_non_null(vpsie_request(&base, CALL_TOKEN,
	    &(struct vpsie_target){ .client_id = huge, .client_secret = huge }, q));
	assert_non_null(vpsie_request(&base, CALL_DELETE_WORKER,
	    &(struct vpsie_target){ .cluster = wire_str_of("c"), .identifier = huge }, q));
	memset(long_name, 'x', VPSIE_URL_MAX);
	memcpy(long_name, "https://", 8);
	long_name[VPSIE_URL_MAX] = '\0';
	assert_non_null(vpsie_base_parse(long_name, &base));
	free(q);
}

/* ---- Verdicts ---- */

static const struct verdict_row {
	const char *name;
	int status;
	const char *body;
	enum vpsie_verdict want;
	const char *message;
} verdicts[] = {
	{ "good", 200, "{\"error\":false,\"code\":200,\"message\":\"ok\",\"data\":true}",
	    ANSWER_GOOD, "" },
	{ "204 without a body", 204, "", ANSWER_GOOD, "" },
	{ "D17 HTTP 200 with error", 200, "{\"error\":true,\"code\":400,\"message\":\"no\"}",
	    ANSWER_REFUSED, "no" },
	{ "D17 HTTP 200 with error, of any code", 200,
	    "{\"error\":true,\"code\":500,\"message\":\"no\"}", ANSWER_REFUSED, "no" },
	{ "D17 HTTP 200 with error and no code", 200, "{\"error\":true}", ANSWER_REFUSED, "" },
	{ "an error in words", 200, "{\"error\":\"bad\"}", ANSWER_REFUSED, "bad" },
	{ "an empty error is none", 200, "{\"error\":\"\"}", ANSWER_GOOD, "" },
	{ "400", 400, "{\"error\":true,\"code\":400,\"message\":\"bad size\"}", ANSWER_REFUSED,
	    "bad size" },
	{ "401", 401, "{\"error\":true,\"code\":401,\"message\":\"token\"}", ANSWER_DENIED,
	    "token" },
	{ "401 in the body of a 200", 200, "{\"error\":true,\"code\":401,\"message\":\"token\"}",
	    ANSWER_DENIED, "token" },
	{ "404", 404, "{\"error\":true,\"message\":\"none\"}", ANSWER_NOT_FOUND, "none" },
	{ "404 without JSON", 404, "not found", ANSWER_NOT_FOUND, "not JSON at line 1, column 3" },
	{ "429", 429, "{}", ANSWER_THROTTLED, "" },
	{ "429 is no limit of the plan", 429, "{\"error\":true,\"message\":\"limit reached\"}",
	    ANSWER_THROTTLED, "limit reached" },
	{ "nor is a rate limit in a 400", 400,
	    "{\"error\":true,\"message\":\"Rate limit reached\"}", ANSWER_THROTTLED,
	    "Rate limit reached" },
	{ "D17 capacity is final", 200,
	    "{\"error\":true,\"code\":400,\"message\":\"Worker node count EXCEEDS the allowed limit\"}",
	    ANSWER_CAPACITY, "Worker node count EXCEEDS the allowed limit" },
	{ "D17 capacity with 403", 403,
	    "{\"error\":true,\"message\":\"your plan does not allow this\"}", ANSWER_CAPACITY,
	    "your plan does not allow this" },
	{ "D23 502 with HTML may have happened", 502, "<html>bad gateway</html>", ANSWER_UNUSABLE,
	    "not JSON at line 1, column 1" },
	{ "D23 500 with JSON may have happened", 500,
	    "{\"error\":true,\"message\":\"quota exceeded\"}", ANSWER_UNUSABLE, "quota exceeded" },
	{ "D23 408 may have happened", 408, "{}", ANSWER_UNUSABLE, "" },
	{ "D23 200 with HTML may have happened", 200, "<html>hi</html>", ANSWER_UNUSABLE,
	    "not JSON at line 1, column 1" },
	{ "a cut body", 200, "{\"error\":fal", ANSWER_UNUSABLE, "not JSON at line 1, column 12" },
	{ "control characters in a message", 400, "{\"error\":true,\"message\":\"a\\nb\\u0007c\"}",
	    ANSWER_REFUSED, "a b c" },
};

static void
check_verdict(void **state)
{
	const struct verdict_row *const r = *state;
	const struct vpsie_answer a = vpsie_answer_read(r->status, r->body, strlen(r->body));

	assert_string_equal(vpsie_verdict_name(a.verdict), vpsie_verdict_name(r->want));
	assert_string_equal(a.message, r->message);
	assert_true(strlen(vpsie_verdict_text(a.verdict)) > 5);
	assert_string_equal(vpsie_verdict_name(ANSWER_MAX), "?");
	assert_string_equal(vpsie_verdict_text(ANSWER_MAX), "?");
}

/* ---- A worker that was requested, and a token ---- */

static void
D10_a_worker_is_true_or_an_object(void **state)
{
	static const struct {
		const char *body;
		enum vpsie_verdict want;
		int64_t id;
		const char *identifier;
	} answers[] = {
		{ "{\"error\":false,\"code\":200,\"message\":\"ok\",\"data\":true}", ANSWER_GOOD, 0,
		    "" },
		{ "{\"error\":false,\"data\":{\"id\":0,\"identifier\":\"n1\",\"hostname\":\"h\"}}",
		    ANSWER_GOOD, 0, "n1" },
		{ "{\"error\":false,\"data\":{\"id\":7}}", ANSWER_GOOD, 7, "" },
		{ "{\"error\":false}", ANSWER_GOOD, 0, "" },
		{ "", ANSWER_GOOD, 0, "" },
		{ "{\"error\":false,\"data\":false}", ANSWER_UNUSABLE, 0, "" },
		{ "{\"error\":false,\"data\":{\"id\":\"7\"}}", ANSWER_UNUSABLE, 0, "" },
		{ "{\"error\":false,\"data\":{\"id\":-7}}", ANSWER_UNUSABLE, 0, "" },
		{ "{\"error\":true,\"data\":{\"id\":7}}", ANSWER_REFUSED, 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(answers); i++) {
		struct vpsie_added added;
		const struct vpsie_answer a =
		    vpsie_added_read(200, answers[i].body, strlen(answers[i].body), &added);

		assert_int_equal(a.verdict, answers[i].want);
		assert_int_equal(added.id, answers[i].id);
		assert_string_equal(added.identifier, answers[i].identifier);
	}
}

static void
D17_a_token_is_refreshed_before_it_expires(void **state)
{
	const int64_t now = INT64_C(1767952800000000), minute = 60000000; /* 2026-01-09T10:00:00Z */
	static const struct {
		const char *body, *token; /* NULL: none */
		int minutes;              /* until it is refreshed */
		const char *message;
	} answers[] = {
		{ "{\"accessToken\":{\"token\":\"tok-1\",\"expires\":\"2026-01-09T11:00:00Z\"}}",
		    "tok-1", 55, "" },
		{ "{\"accessToken\":{\"token\":\"tok-1\",\"expires\":\"2026-01-09 12:00:00\"}}",
		    "tok-1", 115, "" },
		{ "{\"accessToken\":{\"token\":\"tok-1\",\"expires\":\"soon\"}}", "tok-1", 55, "" },
		{ "{\"accessToken\":{\"token\":\"tok-1\"}}", "tok-1", 55, "" },
		{ "{\"accessToken\":{\"token\":\"tok-1\",\"expires\":\"2026-01-09T09:00:00Z\"}}",
		    "tok-1", 55, "" },
		{ "{\"accessToken\":{\"token\":\"tok-1\",\"expires\":\"2026-01-09T10:04:00Z\"}}",
		    "tok-1", 2, "" },
		{ "{\"accessToken\":{\"token\":\"\"}}", NULL, 0, "accessToken.token: empty" },
		{ "{\"accessToken\":{\"token\":\"a\\nb\"}}", NULL, 0,
		    "accessToken.token: not printable" },
		{ "{\"accessToken\":{\"token\":7}}", NULL, 0, "accessToken.token: not a text" },
		{ "{\"refreshToken\":{}}", NULL, 0, "accessToken: missing" },
		{ "", NULL, 0, "accessToken: missing" },
		{ "{\"error\":true,\"code\":401,\"message\":\"wrong secret\"}", NULL, 0,
		    "wrong secret" },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(answers); i++) {
		char *token;
		int64_t refresh = now;
		const struct vpsie_answer a = vpsie_token_read(
		    200, answers[i].body, strlen(answers[i].body), now, &token, &refresh);

		assert_string_equal(a.message, answers[i].message);
		assert_int_equal(token == NULL, answers[i].token == NULL);
		assert_int_equal(a.verdict == ANSWER_GOOD, token != NULL);
		if (token != NULL)
			assert_string_equal(token, answers[i].token);
		assert_int_equal((refresh - now) / minute, answers[i].minutes);
		vpsie_token_free(&token);
		assert_null(token);
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(requests) + NITEMS(verdicts) + 3];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(requests); i++)
		tests[n++] = (struct CMUnitTest){ requests[i].name, check_request, NULL, NULL,
			(void *)(uintptr_t)&requests[i] };
	for (size_t i = 0; i < NITEMS(verdicts); i++)
		tests[n++] = (struct CMUnitTest){ verdicts[i].name, check_verdict, NULL, NULL,
			(void *)(uintptr_t)&verdicts[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(A7_identifiers_are_checked);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(D10_a_worker_is_true_or_an_object);
	tests[n++] =
	    (struct CMUnitTest)cmocka_unit_test(D17_a_token_is_refreshed_before_it_expires);
	return _cmocka_run_group_tests("vpsie_wire", tests, n, NULL, NULL);
}
