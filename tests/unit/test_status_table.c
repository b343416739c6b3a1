/* tests/unit/test_status_table.c - `muster status`: aligned, safe for a terminal, with reasons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/status_table.h"
#include "obj.h"

#define SUPER(state)								\
	"\"supervisor\":{\"pid\":7,\"state\":\"" state "\",\"uptime_s\":7500,\"version\":\"0.1.0\"}"
#define RUNNING									\
	"{\"name\":\"metrics\",\"pid\":42,\"state\":\"running\",\"incarnation\":1,\"restarts\":0,"	\
	"\"last_exit\":null,\"uptime_s\":61,\"rss_kib\":7373,\"synced\":true,\"mailbox\":0}"
#define REPAIRED								\
	"{\"name\":\"a\",\"pid\":43,\"state\":\"running\",\"incarnation\":2,\"restarts\":1,"		\
	"\"last_exit\":\"signal 9\",\"uptime_s\":3,\"rss_kib\":1024,\"synced\":false,"			\
	"\"mailbox\":12,\"status\":\"at work\"}"
#define BROKEN(more)								\
	"{\"name\":\"b\",\"pid\":0,\"state\":\"backoff\",\"incarnation\":3,\"restarts\":2,"		\
	"\"last_exit\":\"exit 111\",\"uptime_s\":0,\"rss_kib\":0,\"synced\":false,\"mailbox\":0" more "}"
#define OFF									\
	"{\"name\":\"c\",\"pid\":0,\"state\":\"off\",\"incarnation\":0,\"restarts\":0,"			\
	"\"last_exit\":null,\"uptime_s\":0,\"rss_kib\":0,\"synced\":false,\"mailbox\":0}"
#define HOSTILE									\
	"{\"name\":\"x\\u001b[2J\",\"pid\":1,\"state\":\"\\u0007\",\"incarnation\":1,\"restarts\":0,"	\
	"\"last_exit\":\"\\u00e4\\n\",\"uptime_s\":0,\"rss_kib\":0,\"synced\":true,\"mailbox\":0}"
#define TREE(state, actors)	"{" SUPER(state) ",\"actors\":[" actors "]}"

static const struct row {
	const char		*name, *json;
	struct status_style	 style;
	const char		*want;
} rows[] = {
	{ "no actors", TREE("running", ""), { 0 },
	    "* musterd 0.1.0 - running (pid 7, up 2h 5min, /run/muster)\n"
	    "     ACTOR  STATE  PID  UP  START  RESTARTS  RSS  SYNCED  MAILBOX  LAST EXIT\n" },
	{ "ASCII", TREE("running", RUNNING "," REPAIRED), { 0 },
	    "* musterd 0.1.0 - running (pid 7, up 2h 5min, /run/muster)\n"
	    "     ACTOR    STATE    PID       UP  START  RESTARTS   RSS  SYNCED  MAILBOX  LAST EXIT\n"
	    "  |- metrics  running   42  1min 1s      1         0  7.2M  yes           0\n"
	    "  `- a        running   43       3s      2         1  1.0M  no           12"
	    "  signal 9   at work\n" },
	{ "glyphs", TREE("running", RUNNING "," OFF), { .utf8 = true },
	    "● musterd 0.1.0 - running (pid 7, up 2h 5min, /run/muster)\n"
	    "     ACTOR    STATE    PID       UP  START  RESTARTS   RSS  SYNCED  MAILBOX  LAST EXIT\n"
	    "  ├─ metrics  running   42  1min 1s      1         0  7.2M  yes           0\n"
	    "  └─ c        off        -        -      0         0     -  -             -\n" },
	{ "one that waits",
	    TREE("degraded", BROKEN(",\"next_start_ms\":4000,\"last_output\":[\"one\",\"two\"]") "," OFF),
	    { 0 },
	    "* musterd 0.1.0 - degraded (pid 7, up 2h 5min, /run/muster)\n"
	    "     ACTOR  STATE    PID  UP  START  RESTARTS  RSS  SYNCED  MAILBOX  LAST EXIT\n"
	    "  |- b      backoff    -   -      3         2    -  -             -  exit 111\n"
	    "  |     last exit: exit 111\n"
	    "  |     last output: one\n"
	    "  |                  two\n"
	    "  |     next start: in 4.0 s\n"
	    "  `- c      off        -   -      0         0    -  -             -\n" },
	{ "the last one that waits", TREE("degraded", BROKEN("")), { .utf8 = true },
	    "● musterd 0.1.0 - degraded (pid 7, up 2h 5min, /run/muster)\n"
	    "     ACTOR  STATE    PID  UP  START  RESTARTS  RSS  SYNCED  MAILBOX  LAST EXIT\n"
	    "  └─ b      backoff    -   -      3         2    -  -             -  exit 111\n"
	    "        last exit: exit 111\n" },
	{ "nothing reaches the terminal", TREE("running", HOSTILE), { 0 },
	    "* musterd 0.1.0 - running (pid 7, up 2h 5min, /run/muster)\n"
	    "     ACTOR  STATE  PID  UP  START  RESTARTS   RSS  SYNCED  MAILBOX  LAST EXIT\n"
	    "  `- x?[2J  ?        1  0s      1         0  0.0M  yes           0  ??\n"
	    "        last exit: ??\n" },
	{ "colour", TREE("running", RUNNING), { .colour = true },
	    "\033[32m*\033[0m musterd 0.1.0 - \033[32mrunning\033[0m (pid 7, up 2h 5min, /run/muster)\n"
	    "     \033[2mACTOR\033[0m    \033[2mSTATE\033[0m    \033[2mPID\033[0m       \033[2mUP\033[0m  "
	    "\033[2mSTART\033[0m  \033[2mRESTARTS\033[0m   \033[2mRSS\033[0m  \033[2mSYNCED\033[0m  "
	    "\033[2mMAILBOX\033[0m  \033[2mLAST EXIT\033[0m\n"
	    "  `- metrics  \033[32mrunning\033[0m   42  1min 1s      1         0  7.2M  yes           0\n" },
};

static const struct time_row {
	int64_t		 seconds;
	const char	*want;
} time_rows[] = {
	{ 0, "0s" }, { 59, "59s" }, { 60, "1min" }, { 61, "1min 1s" }, { 3599, "59min 59s" }, { 3600, "1h" },
	{ 3660, "1h 1min" }, { 86399, "23h 59min" }, { 86400, "1d" }, { 90000, "1d 1h" }, { 8640000, "100d" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	char why[160];
	char *text = NULL;
	size_t len;

	struct tree_status *tree_status = tree_status_parse(r->json, strlen(r->json), why, sizeof(why));
	if (tree_status == NULL)
		fail_msg("%s", why);
	FILE *out = open_memstream(&text, &len);
	status_table_print(out, tree_status, "/run/muster", &r->style);
	fclose(out);
	assert_string_equal(text, r->want);
	free(text);
	tree_status_free(&tree_status);
}

static void
durations(void **state)
{
	char buf[32];

	(void)state;
	for (size_t i = 0; i < NITEMS(time_rows); i++)
		assert_string_equal(
		    status_duration(time_rows[i].seconds, buf, sizeof(buf)), time_rows[i].want);
}

/* A status of a thousand bytes is cut, and the line shows it. */
static void
long_texts_are_cut(void **state)
{
	char json[4096], status[1001] = "", why[160];
	char *text = NULL;
	size_t len;

	(void)state;
	memset(status, 'y', sizeof(status) - 1);
	snprintf(json, sizeof(json), "{" SUPER("running") ",\"actors\":[{\"name\":\"a\",\"pid\":1,"
	    "\"state\":\"running\",\"incarnation\":1,\"restarts\":0,\"last_exit\":null,\"uptime_s\":0,"
	    "\"rss_kib\":0,\"synced\":true,\"mailbox\":0,\"status\":\"%s\"}]}", status);
	struct tree_status *tree_status = tree_status_parse(json, strlen(json), why, sizeof(why));
	assert_non_null(tree_status);
	FILE *out = open_memstream(&text, &len);
	status_table_print(out, tree_status, "/run/muster", &(struct status_style){ 0 });
	fclose(out);
	assert_non_null(strstr(text, "yyyy...\n"));
	assert_true(len < 500);
	free(text);
	tree_status_free(&tree_status);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2] = {
		cmocka_unit_test(durations),
		cmocka_unit_test(long_texts_are_cut),
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[2 + i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("draw", tests, NULL, NULL);
}
