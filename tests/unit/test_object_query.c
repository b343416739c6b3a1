/* tests/unit/test_object_query.c - `muster explain`, `muster trace`: their argument, and their output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/object_query.h"
#include "obj.h"

static const struct object_row {
	const char	*name, *word;
	const char	*object;	/* NULL: refused */
	const char	*why;		/* a part of the reason */
} object_rows[] = {
	{ "a node", "node/worker-1", "nodes/worker-1", NULL },
	{ "by its resource", "nodes/worker-1.example.com", "nodes/worker-1.example.com", NULL },
	{ "a pool", "pool/worker", "machineconfigpools/worker", NULL },
	{ "a pool, short", "mcp/worker", "machineconfigpools/worker", NULL },
	{ "a name alone", "worker-1", NULL, "a name is missing" },
	{ "no name", "node/", NULL, "a name is missing" },
	{ "nothing", "", NULL, "a name is missing" },
	{ "an unknown kind", "planet/x", NULL, "unknown kind of object `planet`" },
	{ "nearly a kind", "nods/x", NULL, "did you mean `node" },
	{ "capitals", "node/Worker", NULL, "is not a name" },
	{ "a blank", "node/a b", NULL, "is not a name" },
	{ "an empty part", "node/a//b", NULL, "is not a name" },
	{ "a slash at the end", "node/a/", NULL, "is not a name" },
};

static void
check_object(void **state)
{
	const struct object_row *const r = *state;
	char object[QUERY_OBJECT_MAX + 1] = "", why[256] = "";

	assert_int_equal(query_object(r->word, object, why, sizeof(why)), r->object != NULL);
	if (r->object != NULL)
		assert_string_equal(object, r->object);
	else
		assert_non_null(strstr(why, r->why));
}

static void
a_name_may_have_253_characters(void **state)
{
	char word[320] = "node/", object[QUERY_OBJECT_MAX + 1], why[256];

	(void)state;
	memset(word + 5, 'a', 253);
	assert_true(query_object(word, object, why, sizeof(why)));
	word[5 + 253] = 'a';
	assert_false(query_object(word, object, why, sizeof(why)));
	assert_non_null(strstr(why, "at most 253"));
}

#define ANSWER(actors, rest)	"{\"object\":\"nodes/a\",\"actors\":{" actors "}," rest "}"
#define REST	"\"missing\":[],\"down\":[],\"left_off\":[]"
/* Inside of an actor's answer ' stands for a quote: it is JSON in a text of JSON. */
#define HOP(at, trace, key, what, more)						\
	"{'at_us':" at ",'trace':'" trace "','key':'" key "','what':'" what "'" more "}"
#define LINK(l, p)	",'link':'" l "','peer':'" p "'"
#define TEXT(t)		",'text':'" t "'"
#define ACTOR(actor, hops, more)							\
	"\"" actor "\":\"{'started_us':1000000,'hops_since_us':2000000,'known':true,"	\
	"'hops':[" hops "]" more "}\""

static const struct print_row {
	const char	*name;
	query_print	*print;
	int		 last;
	const char	*answer;
	const char	*want;		/* all of it */
} print_rows[] = {
	{ "hops of all actors in order of time, the newest change last", trace_print, 10,
	  ANSWER(
	      ACTOR("node-state",
		HOP("3000300", "0b", "nodes/a", "sent", LINK("nodes", "insight")) ","
		HOP("5000000", "0c", "nodes/a", "note", TEXT("Draining")), "") ","
	      ACTOR("kube-watcher",
		HOP("3000000", "0b", "nodes/a", "published", ",'link':'kube.node-state'" TEXT("rv 7")) ","
		HOP("3000400", "0b", "nodeprogressinsights/a", "request", TEXT("PUT")),
		",'hops_left_off':3"), REST),
	  "trace 0b  nodes/a  1970-01-01 00:00:03.000000\n"
	  "       +0.000 ms  kube-watcher                    changed  rv 7  kube.node-state\n"
	  "       +0.300 ms  node-state -> insight           nodes\n"
	  "       +0.400 ms  kube-watcher -> API server      PUT  nodeprogressinsights/a\n"
	  "trace 0c  nodes/a  1970-01-01 00:00:05.000000\n"
	  "       +0.000 ms  node-state                      Draining\n"
	  "-- node-state started at 00:00:01.000000, has hops since 00:00:02.000000\n"
	  "-- kube-watcher started at 00:00:01.000000, has hops since 00:00:02.000000, "
	  "3 older hops left off\n" },
	{ "only the last change", trace_print, 1,
	  ANSWER(ACTOR("x", HOP("3", "0b", "nodes/a", "note", TEXT("one")) ","
		HOP("4", "0c", "nodes/a", "note", TEXT("two")), ""), REST),
	  "trace 0c  nodes/a  1970-01-01 00:00:00.000004\n"
	  "       +0.000 ms  x                               two\n"
	  "-- x started at 00:00:01.000000, has hops since 00:00:02.000000\n" },
	{ "control characters of an actor do not reach the terminal", trace_print, 1,
	  ANSWER(ACTOR("x", HOP("3", "0b", "nodes/a", "note", TEXT("\\\\u001b[2J")), ""),
	      "\"missing\":[\"y\\u0007\"],\"down\":[\"z\"],\"left_off\":[]"),
	  "trace 0b  nodes/a  1970-01-01 00:00:00.000003\n"
	  "       +0.000 ms  x                               \\u001b[2J\n"
	  "-- x started at 00:00:01.000000, has hops since 00:00:02.000000\n"
	  "-- z is not running\n"
	  "-- y\\u0007 did not answer in time\n" },
	{ "an explanation", explain_print, 0,
	  ANSWER(
	      ACTOR("node-state", HOP("3000000", "0b", "nodes/a", "sent", LINK("nodes", "insight")),
		",'facts':{'rule':'5: draining','decided':{'phase':'Draining'},'more':1,"
		"'inputs':{'paused':false,'currentConfig':''},"
		"'conditions':[{'type':'Updating','status':'True','reason':'Draining',"
		"'message':'m','since':''}]},"
		"'held':[{'key':'nodes/a','link':'nodes','side':'store','rv':'',"
		"'consumers':{'insight':'acknowledged'}}]") ","
	      ACTOR("insight",
		HOP("3500000", "0b", "nodeprogressinsights/a", "write-done", TEXT("ok 200 rv 9")),
		",'facts':{'write':{'what':'status','outcome':'ok','at_us':3500000}}"), REST),
	  "nodes/a\n"
	  "\nInputs (node-state)\n"
	  "  paused                    false\n"
	  "  currentConfig             -\n"
	  "\nRule (node-state)\n"
	  "  5: draining\n"
	  "\nDecided (node-state)\n"
	  "  phase                     Draining\n"
	  "\nConditions (node-state)\n"
	  "  Updating    True    Draining              m\n"
	  "\nLast write (insight)\n"
	  "  00:00:03.500000   status  ok\n"
	  "\nMore (node-state)\n"
	  "  more                      1\n"
	  "\nConsumers\n"
	  "  node-state -> insight             acknowledged  00:00:03.000000   nodes/a\n"
	  "\nWrites\n"
	  "  insight                           done          00:00:03.500000   nodeprogressinsights/a"
	  "  ok 200 rv 9\n"
	  "\nHeld by\n"
	  "  node-state        nodes             store   nodes/a\n"
	  "\n"
	  "-- node-state started at 00:00:01.000000, has hops since 00:00:02.000000\n"
	  "-- insight started at 00:00:01.000000, has hops since 00:00:02.000000\n" },
};

/* Allocated. */
static char *
expand(const char *answer)
{
	char *const out = obj_alloc(2 * strlen(answer) + 1);
	size_t n = 0;

	for (; *answer != '\0'; answer++) {
		if (*answer == '\'')
			out[n++] = '\\';
		out[n++] = *answer == '\'' ? '"' : *answer;
	}
	return out;
}

static void
check_print(void **state)
{
	const struct print_row *const r = *state;
	char why[256] = "", *shown = NULL;
	size_t size = 0;

	char *const answer = expand(r->answer);
	struct query_answer *a = query_parse(answer, why, sizeof(why));
	free(answer);
	assert_string_equal(why, "");
	assert_non_null(a);
	FILE *out = open_memstream(&shown, &size);
	r->print(out, a, r->last);
	fclose(out);
	assert_string_equal(shown, r->want);
	free(shown);
	query_free(&a);
}

static const struct parse_row {
	const char	*name, *answer;
	const char	*why;		/* NULL: fine */
	bool		 known, complete;
} parse_rows[] = {
	{ "known", ANSWER(ACTOR("x", "", ""), REST), NULL, true, true },
	{ "no actor holds it", ANSWER("", REST), NULL, false, true },
	{ "one is missing", ANSWER("", "\"missing\":[\"x\"],\"down\":[],\"left_off\":[]"), NULL, false, false },
	{ "one answer is not JSON", ANSWER("\"x\":\"{\"", REST), NULL, false, false },
	{ "one answer is a number", ANSWER("\"x\":\"1\"", REST), NULL, false, false },
	{ "one answer is not a text", ANSWER("\"x\":{}", REST), NULL, false, false },
	{ "an error", "{\"error\":\"no\"}", "musterd answered: no", false, false },
	{ "no JSON", "hello", "cannot be read", false, false },
	{ "another answer", "{\"ok\":true}", "does not match the request", false, false },
	{ "a list", "[]", "does not match the request", false, false },
};

static void
check_parse(void **state)
{
	const struct parse_row *const r = *state;
	char why[256] = "";

	char *const answer = expand(r->answer);
	struct query_answer *a = query_parse(answer, why, sizeof(why));
	free(answer);
	if (a == NULL) {
		assert_non_null(r->why);
		assert_non_null(strstr(why, r->why));
		return;
	}
	assert_null(r->why);
	assert_int_equal(a->known, r->known);
	assert_int_equal(a->complete, r->complete);
	query_free(&a);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(object_rows) + NITEMS(print_rows) + NITEMS(parse_rows) + 1];
	size_t n = 0;

	setenv("TZ", "UTC", 1);
	for (size_t i = 0; i < NITEMS(object_rows); i++)
		tests[n++] = (struct CMUnitTest){ object_rows[i].name, check_object, NULL, NULL,
			(void *)(uintptr_t)&object_rows[i] };
	for (size_t i = 0; i < NITEMS(print_rows); i++)
		tests[n++] = (struct CMUnitTest){ print_rows[i].name, check_print, NULL, NULL,
			(void *)(uintptr_t)&print_rows[i] };
	for (size_t i = 0; i < NITEMS(parse_rows); i++)
		tests[n++] = (struct CMUnitTest){ parse_rows[i].name, check_parse, NULL, NULL,
			(void *)(uintptr_t)&parse_rows[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_name_may_have_253_characters);
	return cmocka_run_group_tests_name("about", tests, NULL, NULL);
}
