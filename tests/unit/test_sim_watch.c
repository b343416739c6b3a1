/* tests/unit/test_sim_watch.c - WATCH of the simulator: where it begins, what it sends, how it ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "sim_rig.h"

#define WATCH	"/api/v1/nodes?watch=1"
#define END	"\"k8s.io/initial-events-end\":\"true\""
#define LISTED	"&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
#define MARKS	"&allowWatchBookmarks=true"

/* Four namespaces, then three nodes: the newest version is 7. */
enum { THREE = 3 };

/* How it begins: what is sent before a fourth node is made. */
static const struct row {
	const char	*name, *query;
	int		 code, added;
	bool		 end;			/* the end of the initial events is sent */
	const char	*has, *lacks;
} rows[] = {
	{ "without a version: the present first", "", 200, THREE, false, NULL, "BOOKMARK" },
	{ "from any version: the same", "&resourceVersion=0" MARKS, 200, THREE, true, NULL, NULL },
	{ "from now", "&resourceVersion=7", 200, 0, false, NULL, NULL },
	{ "from before", "&resourceVersion=5", 200, 2, false, "node-00003", "node-00001" },
	{ "from the future", "&resourceVersion=99&timeoutSeconds=1", 200, 0, false, NULL, NULL },
	{ "a watch-list", LISTED MARKS, 200, THREE, true, NULL, NULL },
	{ "a watch-list without bookmarks", LISTED, 200, THREE, false, NULL, NULL },
	{ "not older than one", LISTED MARKS "&resourceVersion=6", 200, THREE, true, NULL, NULL },
	{ "not older than the future", LISTED MARKS "&resourceVersion=99", 504, 0, false,
	    "ResourceVersionTooLarge", NULL },
	{ "explicitly without the present",
	    "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", 200, 0, false, NULL, NULL },
	{ "initial events need a match", "&sendInitialEvents=true", 422, 0, false,
	    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan", NULL },
	{ "a match needs initial events", "&resourceVersion=5&resourceVersionMatch=NotOlderThan", 422,
	    0, false,
	    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided", NULL },
	{ "selected", LISTED MARKS "&timeoutSeconds=1&fieldSelector=metadata.name%3Dnode-00002", 200, 1,
	    true, "node-00002", "node-00001" },
	{ "not a version", "&resourceVersion=x", 500, 0, false, "strconv.ParseUint", NULL },
};

static void
check_row(void **state)
{
	const struct row *w = *state;
	struct rig r;
	struct rig_client c;
	char path[512];
	/* A watch that ends before that node is made waits for the end. */
	const bool ends = strstr(w->query, "timeoutSeconds") != NULL;

	rig_open(&r, THREE);
	snprintf(path, sizeof(path), WATCH "%s", w->query);
	rig_connect(&r, &c, sim_server_url(r.sim.kube));
	rig_send(&c, "GET", path, "", "");
	struct rig_answer a = rig_wait_head(&r, &c);
	assert_int_equal(a.code, w->code);
	rig_free(&a);
	rig_must_order(&r, "POST", "/cluster", "{\"op\":\"add\"}");
	a = rig_wait(&r, &c, ends ? NULL : "node-00004");
	assert_int_equal(rig_count(a.body, "\"type\":\"ADDED\""), w->added + (w->code == 200 && !ends));
	assert_int_equal(strstr(a.body, END) != NULL, w->end);
	if (w->has != NULL)
		assert_non_null(strstr(a.body, w->has));
	if (w->lacks != NULL)
		assert_null(strstr(a.body, w->lacks));
	rig_free(&a);
	rig_disconnect(&c);
	rig_close(&r);
}

/* Which changes are sent, through a selection. */
static const struct script {
	const char	*name, *query, *orders, *until;
	const char	*lines[8];	/* in this order; nothing else but bookmarks */
} scripts[] = {
	{ "every change", "&resourceVersion=7",
	    "[{'op':'add'},{'op':'label','names':['node-00001']},{'op':'remove','names':['node-00002']}]",
	    "DELETED", { "ADDED node-00004 8", "MODIFIED node-00001 9", "DELETED node-00002 10" } },
	{ "an object that enters is added", "&resourceVersion=7&labelSelector=a%3Db",
	    "[{'op':'label','names':['node-00003'],'key':'a','value':'b'},"
	    "{'op':'label','names':['node-00003'],'key':'c','value':'d'}]",
	    "MODIFIED", { "ADDED node-00003 8", "MODIFIED node-00003 9" } },
	{ "one that leaves is deleted", "&resourceVersion=7&labelSelector=a%3Db",
	    "[{'op':'label','names':['node-00003'],'key':'a','value':'b'},"
	    "{'op':'label','names':['node-00003'],'key':'a','value':'x'}]",
	    "DELETED", { "ADDED node-00003 8", "DELETED node-00003 9" } },
	{ "what is outside is not sent", "&resourceVersion=7&fieldSelector=metadata.name%3Dnode-00001",
	    "[{'op':'heartbeat','names':['node-00002']},{'op':'heartbeat','names':['node-00001']}]",
	    "MODIFIED", { "MODIFIED node-00001 9" } },
	{ "after the present, what follows", "" MARKS, "[{'op':'remove','names':['node-00001']}]",
	    "DELETED",
	    { "ADDED node-00001 5", "ADDED node-00002 6", "ADDED node-00003 7",
		"DELETED node-00001 8" } },
};

static char *
quoted(const char *text)
{
	char *const out = obj_strdup(text);

	for (char *p = out; *p != '\0'; p++)
		*p = *p == '\'' ? '"' : *p;
	return out;
}

/* "ADDED node-00004 8" of a line. */
static void
summary(const char *line, char *buf, size_t size)
{
	const char *const type = strstr(line, "\"type\":\"") + 8;
	const char *const name = strstr(line, "\"name\":\"") + 8,
			  *const rv = strstr(line, "\"resourceVersion\":\"") + 19;

	snprintf(buf, size, "%.*s %.*s %.*s", (int)strcspn(type, "\""), type, (int)strcspn(name, "\""), name,
	    (int)strcspn(rv, "\""), rv);
}

static void
check_script(void **state)
{
	const struct script *s = *state;
	struct rig r;
	struct rig_client c;
	char path[512], got[128];

	rig_open(&r, THREE);
	snprintf(path, sizeof(path), WATCH "%s", s->query);
	rig_connect(&r, &c, sim_server_url(r.sim.kube));
	rig_send(&c, "GET", path, "", "");
	char *const orders = quoted(s->orders);
	rig_must_order(&r, "POST", "/cluster", orders);
	struct rig_answer a = rig_wait(&r, &c, s->until);
	/* The last line may have come in part. */
	while (a.end == RIG_OPEN && a.body[a.len - 1] != '\n') {
		rig_free(&a);
		event_base_loop(r.base, EVLOOP_ONCE);
		a = rig_parse(&c);
	}
	size_t n = 0;
	char *rest = a.body;
	for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
		if (line[0] == '\0' || strstr(line, "BOOKMARK") != NULL)
			continue;
		summary(line, got, sizeof(got));
		assert_non_null(s->lines[n]);
		assert_string_equal(got, s->lines[n++]);
	}
	assert_null(s->lines[n]);
	rig_free(&a);
	rig_disconnect(&c);
	free(orders);
	rig_close(&r);
}

/* A version that is too old is reported in the stream, as the apiserver does. */
static void
too_old_is_an_event(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, THREE);
	rig_must_order(&r, "POST", "/compact", "");
	struct rig_answer a = rig_get(&r, WATCH "&resourceVersion=5");
	assert_int_equal(a.code, 200);
	assert_non_null(strstr(a.body, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\""));
	assert_non_null(strstr(a.body, "too old resource version: 5 (7)"));
	assert_non_null(strstr(a.body, "\"reason\":\"Expired\",\"code\":410"));
	rig_free(&a);
	/* The newest one is never too old. */
	a = rig_get(&r, WATCH "&resourceVersion=7&timeoutSeconds=1");
	assert_int_equal(a.len, 0);
	rig_free(&a);
	rig_close(&r);
}

static void
bookmarks_have_the_current_version(void **state)
{
	struct rig r;
	struct rig_client c;

	(void)state;
	rig_open(&r, THREE);
	r.options.speed = 1200;		/* a bookmark every 50 ms */
	rig_connect(&r, &c, sim_server_url(r.sim.kube));
	rig_send(&c, "GET", "/apis/coordination.k8s.io/v1/leases?watch=1&resourceVersion=7" MARKS, "", "");
	rig_must_order(&r, "POST", "/cluster", "{\"op\":\"add\"}");
	struct rig_answer a = rig_wait(&r, &c, "\"8\"");
	assert_non_null(strstr(a.body, "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Lease\",\"apiVersion\":"
	    "\"coordination.k8s.io/v1\",\"metadata\":{\"resourceVersion\":\"8\"}}}\n"));
	rig_free(&a);
	rig_disconnect(&c);
	rig_close(&r);
}

/* Columns are named once in a watch of Tables. */
static void
tables_are_watched_too(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r, THREE);
	struct rig_answer a = rig_ask(&r, "GET", WATCH "&timeoutSeconds=1",
	    "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n", "", NULL);
	assert_int_equal(rig_count(a.body, "\"kind\":\"Table\""), THREE);
	assert_int_equal(rig_count(a.body, "\"name\":\"Roles\""), 1);
	assert_int_equal(rig_count(a.body, "\"columnDefinitions\":[]"), THREE - 1);
	rig_free(&a);
	rig_close(&r);
}

/* A client that reads nothing while megabytes are sent loses the watch; one that reads keeps it. */
static void
a_slow_reader_is_disconnected(void **state)
{
	enum {
		MANY = 1000,
		ROUNDS = 7
	}; /* 25 MB: more than the kernel keeps for one connection, and 8 MiB */
	struct rig r;
	struct rig_client slow, quick;

	(void)state;
	rig_open(&r, MANY);
	rig_connect(&r, &slow, sim_server_url(r.sim.kube));
	rig_connect(&r, &quick, sim_server_url(r.sim.kube));
	rig_send(&slow, "GET", WATCH "&resourceVersion=1004", "", "");
	rig_send(&quick, "GET", WATCH "&resourceVersion=1004", "", "");
	rig_must_order(&r, "POST", "/cluster", "{\"op\":\"heartbeat\",\"count\":1}");
	struct rig_answer a = rig_wait(&r, &slow, "MODIFIED");
	rig_free(&a);
	bufferevent_disable(slow.bev, EV_READ);
	for (int i = 0; i < ROUNDS; i++)
		rig_must_order(&r, "POST", "/cluster", "{\"op\":\"heartbeat\"}");
	rig_must_order(
	    &r, "POST", "/cluster", "{\"op\":\"label\",\"count\":1,\"key\":\"last\",\"value\":\"one\"}");
	a = rig_wait(&r, &quick, "\"last\":\"one\"");
	assert_int_equal(a.end, RIG_OPEN);
	assert_int_equal(rig_count(a.body, "\"type\":\"MODIFIED\""), ROUNDS * MANY + 2);
	rig_free(&a);
	a = rig_order(&r, "GET", "/state", "");
	while (strstr(a.body, "\"watches\":2") != NULL) {
		rig_free(&a);
		a = rig_order(&r, "GET", "/state", "");
	}
	assert_non_null(strstr(a.body, "\"watches\":1"));
	rig_free(&a);
	bufferevent_enable(slow.bev, EV_READ);
	a = rig_wait(&r, &slow, NULL);
	assert_true(a.end == RIG_FIN || a.end == RIG_RESET);
	rig_free(&a);
	rig_disconnect(&slow);
	rig_disconnect(&quick);
	rig_close(&r);
}

int
main(void)
{
	static const struct CMUnitTest more[] = {
		cmocka_unit_test(too_old_is_an_event),
		cmocka_unit_test(bookmarks_have_the_current_version),
		cmocka_unit_test(tables_are_watched_too),
		cmocka_unit_test(a_slow_reader_is_disconnected),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(scripts) + NITEMS(more)];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(scripts); i++)
		tests[n++] = (struct CMUnitTest){ scripts[i].name, check_script, NULL, NULL,
			(void *)(uintptr_t)&scripts[i] };
	memcpy(tests + n, more, sizeof(more));
	return cmocka_run_group_tests_name("sim_watch", tests, NULL, NULL);
}
