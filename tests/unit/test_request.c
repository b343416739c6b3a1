/* tests/unit/test_request.c - lines of the control socket: what they order, and the answer to the writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "supervisor/request.h"

#define N58	"0123456789012345678901234567890123456789012345678901234567"
#define C64	N58 "012345"

static const struct row {
	const char	*name, *line;
	const char	*wrong;		/* NULL: fine; else a part of the text */
	struct request	 want;
} rows[] = {
	{ "status", "status", NULL, { .verb = REQ_STATUS, .role = ROLE_NONE } },
	{ "blanks around it", "  status  ", NULL, { .verb = REQ_STATUS, .role = ROLE_NONE } },
	{ "a carriage return", "status\r", NULL, { .verb = REQ_STATUS, .role = ROLE_NONE } },
	{ "reload", "reload", NULL, { .verb = REQ_RELOAD, .role = ROLE_NONE } },
	{ "stop", "stop", NULL, { .verb = REQ_STOP, .role = ROLE_NONE } },
	{ "restart", "restart metrics", NULL, { .verb = REQ_RESTART, .role = ROLE_METRICS } },
	{ "level of one", "level metrics debug", NULL, { .verb = REQ_LEVEL, .role = ROLE_METRICS, .level = LEVEL_DEBUG } },
	{ "level of all", "level all warn", NULL, { .verb = REQ_LEVEL, .role = ROLE_ANY, .level = LEVEL_WARN } },
	{ "level of musterd", "level musterd error", NULL, { .verb = REQ_LEVEL, .role = ROLE_NONE, .level = LEVEL_ERROR } },

	{ "nothing", "", "unknown request", { 0 } },
	{ "blanks", "   ", "unknown request", { 0 } },
	{ "unknown verb", "dance", "unknown request", { 0 } },
	{ "a longer verb", "statuses", "unknown request", { 0 } },
	{ "status of something", "status metrics", "no argument", { 0 } },
	{ "restart of nothing", "restart", "usage: restart", { 0 } },
	{ "restart of two", "restart metrics metrics", "usage: restart", { 0 } },
	{ "restart of an unknown actor", "restart nobody", "no such actor", { 0 } },
	{ "restart of all", "restart all", "no such actor", { 0 } },
	{ "level without a level", "level metrics", "usage: level", { 0 } },
	{ "an unknown level", "level metrics loud", "unknown level", { 0 } },
	{ "level of an unknown actor", "level nobody info", "no such actor", { 0 } },
	{ "four words", "level metrics info now", "not a request", { 0 } },
	{ "a word of 385 bytes", "restart " C64 C64 C64 C64 C64 C64 "a", "not a request", { 0 } },
	{ "an object of 384 bytes", "explain nodes/" C64 C64 C64 C64 C64 N58, NULL,
	  { .verb = REQ_EXPLAIN, .role = ROLE_NONE, .object = "nodes/" C64 C64 C64 C64 C64 N58 } },
	{ "explain", "explain nodes/worker-1", NULL,
	  { .verb = REQ_EXPLAIN, .role = ROLE_NONE, .object = "nodes/worker-1" } },
	{ "trace, in a namespace", "trace leases/kube-node-lease/a.b", NULL,
	  { .verb = REQ_TRACE, .role = ROLE_NONE, .object = "leases/kube-node-lease/a.b" } },
	{ "explain nothing", "explain", "usage: explain", { 0 } },
	{ "explain two", "explain nodes/a nodes/b", "usage: explain", { 0 } },
	{ "explain a name alone", "explain worker-1", "a name is missing", { 0 } },
	{ "explain an empty name", "explain nodes/", "not an object", { 0 } },
	{ "explain an empty resource", "explain /a", "not an object", { 0 } },
	{ "explain four parts", "explain a/b/c/d", "not an object", { 0 } },
	{ "explain in capitals", "explain nodes/A", "not an object", { 0 } },
	{ "explain a newline's escape", "explain nodes/a%0a", "not an object", { 0 } },
	{ "a control character", "status\x1b", "not a request", { 0 } },
	{ "a tab", "level\tmetrics\tinfo", "not a request", { 0 } },
	{ "not ASCII", "stat\xc3\xbcs", "not a request", { 0 } },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	char *const line = obj_memdup(r->line, strlen(r->line));
	struct request q;
	const char *const wrong = request_parse(line, strlen(r->line), &q);

	free(line);
	if (r->wrong != NULL) {
		assert_non_null(wrong);
		assert_non_null(strstr(wrong, r->wrong));
		return;
	}
	assert_null(wrong);
	assert_int_equal(q.verb, r->want.verb);
	assert_int_equal(q.role, r->want.role);
	assert_int_equal(q.level, r->want.level);
	assert_string_equal(q.object, r->want.object);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
