/* tests/unit/test_health.c - /healthz, /readyz, the page and every other path: the answer for given facts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "actors/metrics/route.h"
#include "obj.h"

#define ACTOR(name, state, synced, exit)					\
	"{\"name\":\"" name "\",\"state\":\"" state "\",\"pid\":2,\"incarnation\":3,"	\
	"\"restarts\":2,\"last_exit\":" exit ",\"uptime_s\":5,\"rss_kib\":1024,"		\
	"\"synced\":" synced ",\"mailbox\":0,\"beat_age_ms\":500,\"deaths\":2}"
#define TREE(state, actors)							\
	"{\"supervisor\":{\"pid\":1,\"state\":\"" state "\",\"uptime_s\":9,\"version\":\"0.1.0\","	\
	"\"deaths_by_cause\":{\"signal\":2}},\"actors\":[" actors "]}"
#define GOOD	TREE("running", ACTOR("a", "running", "true", "null") ","	\
		    ACTOR("b", "off", "false", "null"))
#define HALF	TREE("degraded", ACTOR("a", "running", "false", "null") ","	\
		    ACTOR("c", "backoff", "false", "\"signal 9\""))
#define HOSTILE	TREE("<b>", ACTOR("<script>alert('x')</script>&", "running", "true", "null"))

static const char not_found[] =
    "not found; there are /metrics, /healthz, /readyz (?verbose lists the checks) and /\n";

static const struct row {
	const char	*name, *path, *query;
	const char	*tree;		/* NULL: none has come */
	int64_t		 age_ms;	/* of the tree, or of the process without one */
	int		 code;
	const char	*body;		/* NULL: not compared whole */
	const char	*contains;
} rows[] = {
	{ "alive", "/healthz", NULL, GOOD, 0, 200, "ok", NULL },
	{ "alive although an actor is not", "/healthz", NULL, HALF, 0, 200, "ok", NULL },
	{ "alive before the first tree", "/healthz", NULL, NULL, 29999, 200, "ok", NULL },
	{ "not alive without any tree for 30 s", "/healthz", NULL, NULL, 30000, 503,
	    "[+]loop ok\n[-]supervisor failed: no status from the supervisor for 30 s\n"
	    "healthz check failed\n", NULL },
	{ "the last tree may be 30 s old", "/healthz", NULL, GOOD, 29999, 200, "ok", NULL },
	{ "not alive with an old tree", "/healthz", NULL, GOOD, 61000, 503, NULL,
	    "[-]supervisor failed: no status from the supervisor for 61 s\n" },
	{ "verbose", "/healthz", "verbose", GOOD, 0, 200,
	    "[+]loop ok\n[+]supervisor ok\nhealthz check passed\n", NULL },
	{ "verbose with a value", "/healthz", "verbose=1", GOOD, 0, 200, NULL, "[+]loop ok\n" },
	{ "verbose among others", "/healthz", "x=y&verbose", GOOD, 0, 200, NULL, "[+]loop ok\n" },
	{ "another word is not verbose", "/healthz", "verbosely", GOOD, 0, 200, "ok", NULL },
	{ "one check", "/healthz/loop", NULL, NULL, 99999, 200, "ok", NULL },
	{ "one check that fails", "/healthz/supervisor", NULL, NULL, 99999, 503,
	    "[-]supervisor failed: no status from the supervisor for 99 s\nhealthz check failed\n", NULL },
	{ "unknown check", "/healthz/nothing", NULL, GOOD, 0, 404, not_found, NULL },
	{ "readiness checks are not liveness checks", "/healthz/actor/a", NULL, GOOD, 0, 404, not_found, NULL },
	{ "ready", "/readyz", NULL, GOOD, 0, 200, "ok", NULL },
	{ "ready, with a slash", "/readyz/", NULL, GOOD, 0, 200, "ok", NULL },
	{ "ready, verbose, without actors that are off", "/readyz", "verbose", GOOD, 0, 200,
	    "[+]tree ok\n[+]actor/a ok\nreadyz check passed\n", NULL },
	{ "not ready: not synced and not running", "/readyz", NULL, HALF, 0, 503,
	    "[+]tree ok\n[-]actor/a failed: running, but its inputs are not synced yet\n"
	    "[-]actor/c failed: backoff, last exit: signal 9\nreadyz check failed\n", NULL },
	{ "not ready before the first tree", "/readyz", NULL, NULL, 0, 503,
	    "[-]tree failed: the supervisor has not sent the state of its actors yet\n"
	    "readyz check failed\n", NULL },
	{ "not ready with an old tree", "/readyz", NULL, GOOD, 30000, 503, NULL, "[-]tree failed: no status" },
	{ "not ready while stopping", "/readyz", NULL, TREE("stopping", ""), 0, 503, NULL,
	    "[-]tree failed: the supervisor is stopping\n" },
	{ "one actor", "/readyz/actor/a", NULL, GOOD, 0, 200, "ok", NULL },
	{ "one actor, verbose", "/readyz/actor/a", "verbose", GOOD, 0, 200,
	    "[+]actor/a ok\nreadyz check passed\n", NULL },
	{ "one actor that is not", "/readyz/actor/c", NULL, HALF, 0, 503,
	    "[-]actor/c failed: backoff, last exit: signal 9\nreadyz check failed\n", NULL },
	{ "an actor that is off has no check", "/readyz/actor/b", NULL, GOOD, 0, 404, not_found, NULL },
	{ "unknown path", "/metrics/x", NULL, GOOD, 0, 404, not_found, NULL },
	{ "path that only begins like one", "/readyzz", NULL, GOOD, 0, 404, not_found, NULL },
	{ "empty path", "", NULL, GOOD, 0, 404, not_found, NULL },
	{ "page", "/", NULL, GOOD, 0, 200, NULL,
	    "<tr><td>a</td><td>running</td><td>1970-01-01 00:01:35Z</td><td class=\"n\">2</td>"
	    "<td class=\"n\">1.0 MiB</td><td>yes</td>" },
	{ "page without a tree", "/", NULL, NULL, 0, 200, NULL, "has not sent the state of its actors yet" },
	{ "page escapes", "/", NULL, HOSTILE, 0, 200, NULL,
	    "<td>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;</td>" },
	{ "page escapes the state", "/", NULL, HOSTILE, 0, 200, NULL, "supervisor: &lt;b&gt;," },
	{ "metrics: up", "/metrics", NULL, HALF, 0, 200, NULL,
	    "muster_actor_up{actor=\"a\"} 1\nmuster_actor_up{actor=\"c\"} 0\n" },
	{ "metrics: memory", "/metrics", NULL, GOOD, 0, 200, NULL,
	    "muster_actor_resident_memory_bytes{actor=\"a\"} 1048576\n" },
	{ "metrics: the beat has aged with the tree", "/metrics", NULL, GOOD, 1000, 200, NULL,
	    "muster_actor_heartbeat_age_seconds{actor=\"a\"} 1.5\n" },
	{ "metrics: uptime", "/metrics", NULL, GOOD, 500, 200, NULL, "muster_supervisor_uptime_seconds 9.5\n" },
	{ "metrics: deaths", "/metrics", NULL, GOOD, 0, 200, NULL,
	    "muster_actor_deaths_total{actor=\"a\"} 2\n" },
	{ "metrics: deaths by cause", "/metrics", NULL, GOOD, 0, 200, NULL,
	    "muster_supervisor_deaths_total{cause=\"signal\"} 2\n" },
	{ "metrics: labels are escaped", "/metrics", NULL,
	    TREE("running", ACTOR("a\\\"\\n", "running", "true", "null")), 0, 200, NULL,
	    "muster_actor_up{actor=\"a\\\"\\n\"} 1\n" },
	{ "metrics without a tree", "/metrics", NULL, NULL, 0, 200, NULL, "muster_build_info{version=\"" },
	{ "series of actors that run", "/metrics", NULL, GOOD, 0, 200, NULL, "f{actor=\"a\"} 1\n# HELP g" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	const struct wire_str x = wire_str_of("x"), none = wire_str_of("");
	const struct body_stat f = { .family = wire_str_of("f"), .help = x, .labels = none, .value = 1 };
	const struct body_stat g = { .family = wire_str_of("g"), .help = x, .labels = none, .value = 2 };
	struct series_table *series = series_new(SERIES_BUDGET_DEFAULT);
	char why[160], buf[16384];
	struct answer a = { .body = { .buf = buf, .size = sizeof(buf) } };

	struct tree_status *tree = NULL;
	if (r->tree != NULL)
		tree = tree_status_parse(r->tree, strlen(r->tree), why, sizeof(why));
	assert_int_equal(tree != NULL, r->tree != NULL);
	series_set(series, "a", wire_str_of("f"), &f);
	series_set(series, "a", wire_str_of("g"), &g);
	series_set(series, "b", wire_str_of("f"), &f);	/* off in every tree: never shown */
	struct route_facts facts = { .series = series, .alive_ms = r->age_ms, .wall_ms = 100000,
		.metrics = true,
		.own = { .tree = tree, .tree_age_ms = r->tree != NULL ? r->age_ms : 0 } };
	route_answer(&facts, r->path, r->query, &a);
	if (route_is_metrics(&facts, r->path))
		route_metrics(&facts, &a.body);
	assert_true(a.body.len < sizeof(buf));
	buf[a.body.len] = '\0';
	assert_int_equal(a.code, r->code);
	if (r->body != NULL)
		assert_string_equal(buf, r->body);
	if (r->contains != NULL && strstr(buf, r->contains) == NULL)
		fail_msg("no `%s` in: %s", r->contains, buf);
	series_free(&series);
	tree_status_free(&tree);
}

static void
content_types(void **state)
{
	static const struct {
		const char *path, *type;
	} want[] = {
		{ "/metrics", "text/plain; version=0.0.4; charset=utf-8" },
		{ "/", "text/html; charset=utf-8" },
		{ "/healthz", "text/plain; charset=utf-8" },
		{ "/nothing", "text/plain; charset=utf-8" },
	};
	struct series_table *series = series_new(SERIES_BUDGET_DEFAULT);
	const struct route_facts facts = { .series = series, .metrics = true };

	(void)state;
	for (size_t i = 0; i < NITEMS(want); i++) {
		struct answer a = { 0 };

		route_answer(&facts, want[i].path, NULL, &a);
		assert_string_equal(a.type, want[i].type);
		assert_true(a.body.len > 0 || route_is_metrics(&facts, want[i].path));	/* without a buffer */
	}
	series_free(&series);
}

/* Issue 10.7: a flood of scrapes on the port of the probes must not reach the large page. */
static void
metrics_are_served_on_their_own_port_only(void **state)
{
	struct series_table *series = series_new(SERIES_BUDGET_DEFAULT);
	const struct route_facts facts = { .series = series, .metrics = false };
	char buf[8192] = "";
	struct answer a = { .body = { .buf = buf, .size = sizeof(buf) } };

	(void)state;
	assert_false(route_is_metrics(&facts, "/metrics"));
	route_answer(&facts, "/metrics", NULL, &a);
	assert_int_equal(a.code, 404);
	assert_null(strstr(buf, "/metrics"));
	route_answer(&facts, "/", NULL, &a);
	assert_int_equal(a.code, 200);
	assert_null(strstr(buf, "/metrics"));
	series_free(&series);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2] = {
		cmocka_unit_test(content_types), cmocka_unit_test(metrics_are_served_on_their_own_port_only),
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[2 + i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("health", tests, NULL, NULL);
}
