/* tests/unit/test_tree_status.c - the supervisor's answer, good and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tree_status.h"
#include "obj.h"

#define SUPER_OF(state, pid, more)						\
	"\"supervisor\":{\"pid\":" pid ",\"state\":\"" state "\",\"uptime_s\":9,"	\
	"\"version\":\"0.1.0\"" more "}"
#define SUPER		SUPER_OF("running", "1", "")
#define ACTOR_REST	"\"pid\":2,\"incarnation\":3,\"restarts\":2,\"last_exit\":null,\"uptime_s\":5,"	\
			"\"rss_kib\":7000,\"synced\":true,\"mailbox\":0"
#define ACTOR(name, state)	"{\"name\":\"" name "\",\"state\":\"" state "\"," ACTOR_REST "}"
#define TREE(actors)	"{" SUPER ",\"actors\":[" actors "]}"

static const struct row {
	const char	*name, *json;
	bool		 taken;
	size_t		 actors;
	bool		 healthy;
} rows[] = {
	{ "no actors", TREE(""), true, 0, true },
	{ "one", TREE(ACTOR("a", "running")), true, 1, true },
	{ "off does not matter", TREE(ACTOR("a", "running") "," ACTOR("b", "off")), true, 2, true },
	{ "backoff is not healthy", TREE(ACTOR("a", "running") "," ACTOR("b", "backoff")), true, 2, false },
	{ "degraded supervisor", "{" SUPER_OF("degraded", "1", "") ",\"actors\":[]}", true, 0, false },
	{ "unknown keys are passed over", "{" SUPER ",\"actors\":[{\"name\":\"a\",\"state\":\"running\","
	    "\"new\":[{}]," ACTOR_REST "}],\"more\":1}", true, 1, true },
	{ "optional key of another type is passed over", "{" SUPER ",\"actors\":[{\"name\":\"a\","
	    "\"state\":\"running\",\"core\":\"x\","
	    "\"deaths\":\"x\",\"beat_age_ms\":\"now\"," ACTOR_REST "}]}", true, 1, true },
	{ "empty", "", false, 0, false },
	{ "cut", "{" SUPER ",\"actors\":[", false, 0, false },
	{ "not an object", "[]", false, 0, false },
	{ "a number", "5", false, 0, false },
	{ "no supervisor", "{\"actors\":[]}", false, 0, false },
	{ "no actors key", "{" SUPER "}", false, 0, false },
	{ "actors is no list", "{" SUPER ",\"actors\":{}}", false, 0, false },
	{ "actor is no object", TREE("5"), false, 0, false },
	{ "actor without state", TREE("{\"name\":\"a\"," ACTOR_REST "}"), false, 0, false },
	{ "name is a number", TREE("{\"name\":1,\"state\":\"running\"," ACTOR_REST "}"), false, 0, false },
	{ "empty name", TREE(ACTOR("", "running")), false, 0, false },
	{ "name of 65 bytes",
	    TREE(ACTOR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "running")),
	    false, 0, false },
	{ "name twice", TREE(ACTOR("a", "running") "," ACTOR("a", "running")), false, 0, false },
	{ "key twice", TREE("{\"name\":\"a\",\"name\":\"b\",\"state\":\"running\"," ACTOR_REST "}"),
	    false, 0, false },
	{ "negative pid", "{" SUPER_OF("running", "-1", "") ",\"actors\":[]}", false, 0, false },
	{ "real number for an integer", "{" SUPER_OF("running", "1.5", "") ",\"actors\":[]}", false, 0, false },
	{ "not UTF-8", TREE(ACTOR("\xff", "running")), false, 0, false },
	{ "more after it", TREE("") "x", false, 0, false },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	char why[160] = "";
	struct tree_status *t = tree_status_parse(r->json, strlen(r->json), why, sizeof(why));

	assert_int_equal(t != NULL, r->taken);
	assert_int_equal(why[0] == '\0', r->taken);
	if (t != NULL) {
		assert_int_equal(t->nactors, r->actors);
		assert_int_equal(tree_status_healthy(t), r->healthy);
	}
	tree_status_free(&t);
	assert_null(t);
}

static void
every_field_is_read(void **state)
{
	static const char json[] = "{" SUPER ",\"actors\":[{\"name\":\"a\",\"pid\":22,\"state\":\"backoff\","
	    "\"incarnation\":3,\"restarts\":2,\"last_exit\":\"signal 9\",\"uptime_s\":5,\"rss_kib\":7000,"
	    "\"synced\":true,\"mailbox\":4,\"status\":\"busy\",\"last_output\":[\"oh\",5,\"no\"],"
	    "\"next_start_ms\":1500,"
	    "\"beat_age_ms\":250,\"core\":true,\"deaths\":3,\"enabled\":false}]}";
	char why[160];
	struct tree_status *t = tree_status_parse(json, strlen(json), why, sizeof(why));

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->pid, 1);
	assert_int_equal(t->uptime_s, 9);
	assert_string_equal(t->state, "running");
	assert_string_equal(t->version, "0.1.0");
	const struct tree_status_actor *a = tree_status_find(t, "a");
	assert_non_null(a);
	assert_null(tree_status_find(t, "b"));
	assert_int_equal(a->pid, 22);
	assert_string_equal(a->state, "backoff");
	assert_int_equal(a->incarnation, 3);
	assert_int_equal(a->restarts, 2);
	assert_string_equal(a->last_exit, "signal 9");
	assert_int_equal(a->uptime_s, 5);
	assert_int_equal(a->rss_kib, 7000);
	assert_true(a->synced);
	assert_int_equal(a->mailbox, 4);
	assert_string_equal(a->status, "busy");
	assert_string_equal(a->last_output[0], "oh");
	assert_string_equal(a->last_output[1], "no");
	assert_null(a->last_output[2]);
	assert_int_equal(a->next_start_ms, 1500);
	assert_int_equal(a->beat_age_ms, 250);
	assert_true(a->core);
	assert_int_equal(a->deaths, 3);
	assert_false(a->enabled);
	tree_status_free(&t);
}

static void
absent_fields_have_their_word(void **state)
{
	static const char json[] = TREE(ACTOR("a", "running"));
	char why[160];
	struct tree_status *t = tree_status_parse(json, strlen(json), why, sizeof(why));

	(void)state;
	assert_non_null(t);
	assert_null(t->actors[0].last_exit);
	assert_null(t->actors[0].status);
	assert_null(t->actors[0].last_output[0]);
	assert_int_equal(t->actors[0].next_start_ms, -1);
	assert_int_equal(t->actors[0].beat_age_ms, -1);
	assert_int_equal(t->actors[0].deaths, -1);
	assert_true(t->actors[0].enabled);
	assert_int_equal(t->ndeaths, 0);
	tree_status_free(&t);
}

static void
deaths_are_read_by_cause(void **state)
{
	static const char json[] = "{" SUPER_OF("running", "1", ",\"deaths_by_cause\":"
	    "{\"signal\":2,\"negative\":-1,\"word\":\"x\",\"exit\":1}") ",\"actors\":[]}";
	char why[160];
	struct tree_status *t = tree_status_parse(json, strlen(json), why, sizeof(why));

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->ndeaths, 2);
	assert_string_equal(t->deaths[0].cause, "signal");
	assert_int_equal(t->deaths[0].count, 2);
	assert_string_equal(t->deaths[1].cause, "exit");
	tree_status_free(&t);
}

/* Every prefix of a good one is refused, and none is read beyond its end. */
static void
every_cut_is_refused(void **state)
{
	static const char json[] = TREE(ACTOR("a", "running") "," ACTOR("b", "off"));
	char why[160];

	(void)state;
	for (size_t len = 0; len < strlen(json); len++) {
		char *copy = obj_memdup(json, len);
		struct tree_status *t = tree_status_parse(copy, len, why, sizeof(why));

		assert_null(t);
		free(copy);
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 4] = {
		cmocka_unit_test(every_field_is_read),
		cmocka_unit_test(absent_fields_have_their_word),
		cmocka_unit_test(deaths_are_read_by_cause),
		cmocka_unit_test(every_cut_is_refused),
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[4 + i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("tree_status", tests, NULL, NULL);
}
