/* tests/unit/test_sim_faults.c - every fault of the simulator, seen from a bare socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "sim_rig.h"

#define WATCH	"/api/v1/nodes?watch=1&allowWatchBookmarks=true"
#define END	"initial-events-end"
#define LIST	"/api/v1/nodes"

enum { NODES = 5, ANY = -1 };

static const struct row {
	const char	*name, *fault, *path, *until;	/* until NULL: to the end of the answer */
	int		 code;
	enum rig_end	 end;
	int		 len;			/* of the body; ANY */
	int		 added;			/* events; ANY */
	const char	*in_body, *not_in_body, *in_head;
} rows[] = {
	{ "nothing armed", NULL, WATCH, END, 200, RIG_OPEN, ANY, NODES, NULL, NULL, NULL },
	{ "status with Retry-After as it stands", "{'kind':'status','code':429,'retry_after':'abc'}",
	    LIST, NULL, 429, RIG_COMPLETE, ANY, ANY, "\"reason\":\"TooManyRequests\"", NULL,
	    "Retry-After: abc" },
	{ "status as HTML", "{'kind':'status','code':503,'body':'html'}", LIST, NULL, 503, RIG_COMPLETE,
	    ANY, ANY, "<html>", "Status", "text/html" },
	{ "empty status", "{'kind':'status','code':502,'body':'empty'}", LIST, NULL, 502, RIG_COMPLETE,
	    0, ANY, NULL, NULL, NULL },
	{ "of another verb it does nothing", "{'kind':'status','verb':'create,delete'}", LIST, NULL,
	    200, RIG_COMPLETE, ANY, ANY, "NodeList", NULL, NULL },
	{ "nor of another resource", "{'kind':'status','resource':'pods'}", LIST, NULL, 200,
	    RIG_COMPLETE, ANY, ANY, "NodeList", NULL, NULL },
	{ "nor of another client", "{'kind':'status','user_agent':'rig/2'}", LIST, NULL, 200,
	    RIG_COMPLETE, ANY, ANY, "NodeList", NULL, NULL },
	{ "nor before its time", "{'kind':'status','after':1}", LIST, NULL, 200, RIG_COMPLETE, ANY, ANY,
	    "NodeList", NULL, NULL },
	{ "one of a list of verbs", "{'kind':'status','verb':'get,list','user_agent':'rig'}", LIST,
	    NULL, 503, RIG_COMPLETE, ANY, ANY, NULL, NULL, NULL },
	{ "unauthorized", "{'kind':'unauthorized'}", LIST, NULL, 401, RIG_COMPLETE, ANY, ANY,
	    "Unauthorized", NULL, NULL },
	{ "dropped before an answer", "{'kind':'drop_connection'}", LIST, NULL, 0, RIG_FIN, 0, ANY,
	    NULL, NULL, NULL },
	{ "late", "{'kind':'latency','ms':30}", LIST, NULL, 200, RIG_COMPLETE, ANY, ANY, "NodeList",
	    NULL, NULL },
	{ "version too large", "{'kind':'rv_too_large'}", LIST "?resourceVersion=1", NULL, 504,
	    RIG_COMPLETE, ANY, ANY, "\"reason\":\"ResourceVersionTooLarge\"", NULL, "Retry-After: 1" },
	{ "huge headers", "{'kind':'huge_headers','bytes':70000}", LIST, NULL, 200, RIG_COMPLETE, ANY,
	    ANY, NULL, NULL, "X-Filler: xxxx" },
	{ "cut at the first byte", "{'kind':'cut','bytes':0}", WATCH, NULL, 200, RIG_FIN, 0, 0, NULL,
	    NULL, NULL },
	{ "cut before anything happens", "{'kind':'cut','bytes':0}", WATCH "&resourceVersion=9", NULL,
	    200, RIG_FIN, 0, 0, NULL, NULL, NULL },
	{ "cut in the middle of a line", "{'kind':'cut','bytes':10}", WATCH, NULL, 200, RIG_FIN, 10,
	    ANY, "{\"type\":\"A", NULL, NULL },
	{ "reset there", "{'kind':'cut','bytes':10,'how':'reset'}", WATCH, NULL, 200, RIG_RESET, 10,
	    ANY, NULL, NULL, NULL },
	{ "ended cleanly there", "{'kind':'cut','bytes':10,'how':'clean'}", WATCH, NULL, 200,
	    RIG_COMPLETE, 10, ANY, NULL, NULL, NULL },
	{ "a list cut", "{'kind':'cut','bytes':100}", LIST, NULL, 200, RIG_FIN, 100, ANY, "NodeList",
	    NULL, NULL },
	{ "stalled", "{'kind':'stall','bytes':20}", WATCH, "{\"type\":\"ADDED\",\"ob", 200, RIG_OPEN,
	    20, ANY, NULL, NULL, NULL },
	{ "a short watch", "{'kind':'short_watch'}", WATCH, NULL, 200, RIG_COMPLETE, 0, 0, NULL, NULL,
	    NULL },
	{ "no bookmarks", "{'kind':'no_bookmarks'}", WATCH "&timeoutSeconds=1", NULL, 200, RIG_COMPLETE,
	    ANY, NODES, NULL, "BOOKMARK", NULL },
	{ "an event is dropped", "{'kind':'drop_event','name':'node-00002'}", WATCH, END, 200, RIG_OPEN,
	    ANY, NODES - 1, NULL, "\"name\":\"node-00002\"", NULL },
	{ "the third event is dropped", "{'kind':'drop_event','after':2}", WATCH, END, 200, RIG_OPEN,
	    ANY, NODES - 1, NULL, "\"name\":\"node-00003\"", NULL },
	{ "only events of that type", "{'kind':'drop_event','event':'DELETED','count':-1}", WATCH, END,
	    200, RIG_OPEN, ANY, NODES, NULL, NULL, NULL },
	{ "an event comes twice", "{'kind':'duplicate_event'}", WATCH, END, 200, RIG_OPEN, ANY,
	    NODES + 1, NULL, NULL, NULL },
	{ "410 in the stream", "{'kind':'gone_in_stream','after':2}", WATCH, NULL, 200, RIG_COMPLETE,
	    ANY, 2, "\"reason\":\"Expired\",\"code\":410", NULL, NULL },
	{ "another error in the stream",
	    "{'kind':'error_in_stream','code':429,'reason':'TooManyRequests'}", WATCH, NULL, 200,
	    RIG_COMPLETE, ANY, 0, "\"code\":429", NULL, NULL },
	{ "malformed", "{'kind':'malformed','text':'{bad'}", WATCH, END, 200, RIG_OPEN, ANY, NODES - 1,
	    "{bad\n", NULL, NULL },
	{ "no watch-lists: 400", "{'kind':'no_watchlist'}",
	    WATCH "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", NULL, 400, RIG_COMPLETE,
	    ANY, 0, "BadRequest", NULL, NULL },
	{ "no watch-lists: ignored", "{'kind':'no_watchlist','mode':'ignored'}",
	    WATCH "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1", NULL,
	    200, RIG_COMPLETE, ANY, NODES, NULL, END, NULL },
	{ "no watch-lists: an error event", "{'kind':'no_watchlist','mode':'error_event'}",
	    WATCH "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", NULL, 200, RIG_COMPLETE,
	    ANY, 0, "RequestWatchProgress", NULL, NULL },
};

/* Faults that are refused, and the word that the reason contains. */
static const struct {
	const char	*fault, *why;
} wrong[] = {
	{ "{}", "kind" },
	{ "{'kind':'no_such'}", "kind" },
	{ "{'kind':'cut','ms':1}", "ms" },
	{ "{'kind':'cut','how':'slowly'}", "slowly" },
	{ "{'kind':'latency','ms':'long'}", "ms" },
	{ "{'kind':'latency','ms':-2}", "ms" },
	{ "[", "JSON" },
};

static char *
quoted(const char *text)
{
	char *const out = obj_strdup(text);

	for (char *p = out; *p != '\0'; p++)
		*p = *p == '\'' ? '"' : *p;
	return out;
}

static void
arm(struct rig *r, const char *fault)
{
	char *const body = quoted(fault);

	rig_must_order(r, "POST", "/faults", body);
	free(body);
}

static void
check_row(void **state)
{
	const struct row *w = *state;
	struct rig r;

	rig_open(&r, NODES);
	if (w->fault != NULL)
		arm(&r, w->fault);
	struct rig_answer a = rig_ask(&r, "GET", w->path, "", "", w->until);
	assert_int_equal(a.code, w->code);
	assert_int_equal(a.end, w->end);
	if (w->len != ANY)
		assert_int_equal(a.len, w->len);
	if (w->added != ANY)
		assert_int_equal(rig_count(a.body, "\"type\":\"ADDED\""), w->added);
	if (w->in_body != NULL)
		assert_non_null(strstr(a.body, w->in_body));
	if (w->not_in_body != NULL)
		assert_null(strstr(a.body, w->not_in_body));
	if (w->in_head != NULL)
		assert_non_null(strstr(a.head, w->in_head));
	rig_free(&a);
	rig_close(&r);
}

static void
wrong_faults_are_refused(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 0);
	for (size_t i = 0; i < NITEMS(wrong); i++) {
		char *const body = quoted(wrong[i].fault);
		struct rig_answer a = rig_order(&r, "POST", "/faults", body);

		assert_int_equal(a.code, 400);
		assert_non_null(strstr(a.body, wrong[i].why));
		rig_free(&a);
		free(body);
	}
	rig_close(&r);
}

/* The write happens, the answer does not. */
static void
a_lost_answer_is_a_write_all_the_same(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 0);
	arm(&r, "{'kind':'lost','verb':'create'}");
	struct rig_answer a = rig_ask(&r, "POST", "/api/v1/namespaces/default/configmaps", "",
	    "{\"metadata\":{\"name\":\"c\"}}", NULL);
	assert_int_equal(a.end, RIG_FIN);
	assert_int_equal(a.len, 0);
	rig_free(&a);
	a = rig_get(&r, "/api/v1/namespaces/default/configmaps/c");
	assert_int_equal(a.code, 200);
	rig_free(&a);
	rig_close(&r);
}

/* The object is there before its creator receives the answer. */
static void
a_late_answer_comes_after_the_write(void **state)
{
	struct rig r;
	struct rig_client c;

	(void)state;
	rig_open(&r, 0);
	arm(&r, "{'kind':'late_answer','verb':'create','ms':300}");
	rig_connect(&r, &c, sim_server_url(r.sim.kube));
	rig_send(&c, "POST", "/api/v1/namespaces/default/configmaps", "", "{\"metadata\":{\"name\":\"c\"}}");
	struct rig_answer a;
	do {
		a = rig_get(&r, "/api/v1/namespaces/default/configmaps/c");
		const bool there = a.code == 200;

		rig_free(&a);
		if (there)
			break;
	} while (true);
	a = rig_wait(&r, &c, NULL);
	assert_int_equal(a.code, 201);
	assert_non_null(strstr(a.body, "\"name\":\"c\""));
	rig_free(&a);
	rig_disconnect(&c);
	rig_close(&r);
}

static void
the_date_is_another(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 0);
	arm(&r, "{'kind':'date_offset','seconds':-1700000000}");
	struct rig_answer a = rig_get(&r, LIST);
	assert_non_null(strstr(a.head, "Date: "));
	assert_non_null(strstr(a.head, " 197"));
	rig_free(&a);
	a = rig_get(&r, LIST);
	assert_null(strstr(a.head, " 197"));
	rig_free(&a);
	rig_close(&r);
}

static void
a_stale_list_is_of_that_version(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, 3);		/* four namespaces, three nodes: version 7 */
	rig_must_order(&r, "POST", "/cluster", "{\"op\":\"remove\",\"names\":[\"node-00002\"]}");
	arm(&r, "{'kind':'stale','rv':7,'verb':'list,get','count':2}");
	struct rig_answer a = rig_get(&r, LIST);
	assert_non_null(strstr(a.body, "\"metadata\":{\"resourceVersion\":\"7\"}"));
	assert_non_null(strstr(a.body, "\"name\":\"node-00002\""));
	rig_free(&a);
	a = rig_get(&r, LIST "/node-00002");
	assert_int_equal(a.code, 200);
	rig_free(&a);
	a = rig_get(&r, LIST "/node-00002");
	assert_int_equal(a.code, 404);
	rig_free(&a);
	rig_close(&r);
}

static void
swapped_events_change_places(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, NODES);
	arm(&r, "{'kind':'swap_events','name':'node-00002'}");
	struct rig_answer a = rig_ask(&r, "GET", WATCH, "", "", END);
	const char *const two = strstr(a.body, "\"name\":\"node-00002\"");
	assert_true(strstr(a.body, "\"name\":\"node-00003\"") < two);
	assert_true(strstr(a.body, "\"name\":\"node-00004\"") > two);
	rig_free(&a);
	rig_close(&r);
}

/* Armed with "now", a fault hits the watch that is open and not the next one. */
static void
now_hits_open_watches(void **state)
{
	struct rig r;
	struct rig_client c;

	(void)state;
	rig_open(&r, NODES);
	rig_connect(&r, &c, sim_server_url(r.sim.kube));
	rig_send(&c, "GET", WATCH, "", "");
	struct rig_answer a = rig_wait(&r, &c, END);
	assert_int_equal(a.end, RIG_OPEN);
	rig_free(&a);
	arm(&r, "{'kind':'gone_in_stream','now':true}");
	a = rig_wait(&r, &c, NULL);
	assert_int_equal(a.end, RIG_COMPLETE);
	assert_non_null(strstr(a.body, "\"code\":410"));
	rig_free(&a);
	rig_disconnect(&c);
	a = rig_ask(&r, "GET", WATCH, "", "", END);
	assert_null(strstr(a.body, "\"code\":410"));
	rig_free(&a);
	rig_close(&r);
}

/* When the server ends, every open request is closed, in a delay, a stall or a watch. */
static void
the_end_closes_every_request(void **state)
{
	struct rig r;
	struct rig_client c[3];

	(void)state;
	rig_open(&r, NODES);
	arm(&r, "{'kind':'latency','ms':60000,'verb':'list'}");
	arm(&r, "{'kind':'stall','bytes':5,'verb':'watch'}");
	for (size_t i = 0; i < NITEMS(c); i++) {
		rig_connect(&r, &c[i], sim_server_url(r.sim.kube));
		rig_send(&c[i], "GET", i == 0 ? LIST : WATCH, "", "");
	}
	struct rig_answer a = rig_wait(&r, &c[2], END);
	rig_free(&a);
	a = rig_wait(&r, &c[1], "{\"typ");
	rig_free(&a);
	rig_must_order(&r, "POST", "/disconnect", "");
	for (size_t i = 0; i < NITEMS(c); i++) {
		a = rig_wait(&r, &c[i], NULL);
		assert_true(a.end == RIG_FIN || a.end == RIG_RESET);
		rig_free(&a);
		rig_disconnect(&c[i]);
	}
	a = rig_get(&r, LIST);
	assert_int_equal(a.code, 200);
	rig_free(&a);
	rig_close(&r);
}

int
main(void)
{
	static const struct CMUnitTest more[] = {
		cmocka_unit_test(wrong_faults_are_refused),
		cmocka_unit_test(a_lost_answer_is_a_write_all_the_same),
		cmocka_unit_test(a_late_answer_comes_after_the_write),
		cmocka_unit_test(the_date_is_another),
		cmocka_unit_test(a_stale_list_is_of_that_version),
		cmocka_unit_test(swapped_events_change_places),
		cmocka_unit_test(now_hits_open_watches),
		cmocka_unit_test(the_end_closes_every_request),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(more)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	memcpy(tests + NITEMS(rows), more, sizeof(more));
	return cmocka_run_group_tests_name("sim_faults", tests, NULL, NULL);
}
