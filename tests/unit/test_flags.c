/* tests/unit/test_flags.c - options of `muster`: how they are parsed, and the errors of unknown ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "config/flags.h"
#include "config/nearest.h"
#include "obj.h"

struct options {
	const char	*output, *actor, *there;
	bool		 watch, all, too;
};

static const struct flag flags[] = {
	{ "output", 'o', "FORMAT", offsetof(struct options, output), "how" },
	{ "actor",  0,   "ACTOR",  offsetof(struct options, actor),  "who" },
	{ "watch",  'w', NULL,     offsetof(struct options, watch),  "again" },
	{ NULL,     'a', NULL,     offsetof(struct options, all),    "everything" },
};
static const struct flag others[] = {
	{ "there", 0,   "PLACE", offsetof(struct options, there), "where" },
	{ NULL,    't', NULL,    offsetof(struct options, too),   "also" },
};

enum { ARGS_MAX = 6 };

static const struct row {
	const char	*name;
	const char	*argv[ARGS_MAX];
	int		 words;
	struct options	 want;
	bool		 help;
	const char	*why;		/* with words -1 */
} rows[] = {
	{ "nothing", { NULL }, 0, { 0 }, false, NULL },
	{ "words only", { "a", "b" }, 2, { 0 }, false, NULL },
	{ "long with a space", { "--output", "json" }, 0, { .output = "json" }, false, NULL },
	{ "long with an equals sign", { "--output=json" }, 0, { .output = "json" }, false, NULL },
	{ "long with an empty value", { "--output=" }, 0, { .output = "" }, false, NULL },
	{ "letter with a space", { "-o", "json" }, 0, { .output = "json" }, false, NULL },
	{ "letter with its value", { "-ojson" }, 0, { .output = "json" }, false, NULL },
	{ "switch", { "-w" }, 0, { .watch = true }, false, NULL },
	{ "long switch", { "--watch" }, 0, { .watch = true }, false, NULL },
	{ "switches together", { "-wa" }, 0, { .watch = true, .all = true }, false, NULL },
	{ "switch and value together", { "-wojson" }, 0, { .watch = true, .output = "json" }, false, NULL },
	{ "words between", { "x", "-w", "y", "--actor", "z" }, 2, { .watch = true, .actor = "z" }, false, NULL },
	{ "a value may begin with a dash", { "--actor", "-w" }, 0, { .actor = "-w" }, false, NULL },
	{ "the last one counts", { "-oa", "-ob" }, 0, { .output = "b" }, false, NULL },
	{ "two dashes end them", { "-w", "--", "-a" }, 1, { .watch = true }, false, NULL },
	{ "one dash is a word", { "-" }, 1, { 0 }, false, NULL },
	{ "help", { "--help" }, 0, { 0 }, true, NULL },
	{ "short help", { "x", "-h" }, 1, { 0 }, true, NULL },
	{ "unknown", { "--nothing" }, -1, { 0 }, false, "unknown option --nothing" },
	{ "unknown, but near", { "--ouptut", "json" }, -1, { 0 }, false,
	    "unknown option --ouptut; did you mean --output?" },
	{ "unknown letter", { "-x" }, -1, { 0 }, false, "unknown option -x" },
	{ "unknown letter among known", { "-wx" }, -1, { .watch = true }, false, "unknown option -wx" },
	{ "half a name", { "--out", "json" }, -1, { 0 }, false, "unknown option --out" },
	{ "no value", { "--actor" }, -1, { 0 }, false, "option --actor needs a value: ACTOR" },
	{ "no value for a letter", { "-o" }, -1, { 0 }, false, "option -o needs a value: FORMAT" },
	{ "of another table", { "--there", "x", "-wt" }, 0, { .watch = true, .there = "x", .too = true }, false, NULL },
	{ "near one of another table", { "--thre" }, -1, { 0 }, false,
	    "unknown option --thre; did you mean --there?" },
	{ "a value for a switch", { "--watch=yes" }, -1, { 0 }, false, "option --watch takes no value" },
};

static const struct near_row {
	const char	*name, *word, *want;
} near_rows[] = {
	{ "swapped letters", "stauts", "status" },
	{ "swapped letters of a short word", "tpa", "tap" },
	{ "missing letter", "statu", "status" },
	{ "letter too many", "statuus", "status" },
	{ "wrong letter", "ststus", "status" },
	{ "short word", "tp", "tap" },
	{ "itself", "tap", "tap" },
	{ "another word", "frobnicate", NULL },
	{ "another short word", "cat", NULL },
	{ "nothing like it", "xyz", NULL },
	{ "empty", "", NULL },
	{ "longer than any", "statusstatusstatusstatusstatusstatusstatus", NULL },
};

static const char *
shown(const char *s)
{
	return s != NULL ? s : "nothing";
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	char *argv[ARGS_MAX];
	char why[FLAGS_WHY_MAX] = "";
	struct options got = { 0 };
	bool help;
	int argc = 0;

	for (; argc < ARGS_MAX && r->argv[argc] != NULL; argc++)
		argv[argc] = (char *)(uintptr_t)r->argv[argc];
	const struct flags more = { .rows = others, .n = NITEMS(others), .out = &got };
	const struct flags all = { .rows = flags, .n = NITEMS(flags), .out = &got, .next = &more };
	assert_int_equal(flags_parse(&all, argc, argv, &help, why), r->words);
	if (r->words == -1)
		assert_string_equal(why, r->why);
	assert_int_equal(help, r->help);
	assert_int_equal(got.watch, r->want.watch);
	assert_int_equal(got.all, r->want.all);
	assert_string_equal(shown(got.output), shown(r->want.output));
	assert_string_equal(shown(got.actor), shown(r->want.actor));
	assert_string_equal(shown(got.there), shown(r->want.there));
	assert_int_equal(got.too, r->want.too);
}

static void
check_near(void **state)
{
	static const char *const names[] = { "status", "tap", "check", "restart" };
	const struct near_row *r = *state;
	const char *got = nearest_word(r->word, strlen(r->word), names, NITEMS(names));

	assert_string_equal(shown(got), shown(r->want));
}

static void
words_keep_their_order(void **state)
{
	char a[] = "a", w[] = "-w", b[] = "b", end[] = "--", c[] = "-c", why[FLAGS_WHY_MAX];
	char *argv[] = { a, w, b, end, c };
	struct options got = { 0 };
	bool help;

	(void)state;
	const struct flags all = { .rows = flags, .n = NITEMS(flags), .out = &got };
	assert_int_equal(flags_parse(&all, NITEMS(argv), argv, &help, why), 3);
	assert_string_equal(argv[0], "a");
	assert_string_equal(argv[1], "b");
	assert_string_equal(argv[2], "-c");
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(near_rows) + 1] = {
		cmocka_unit_test(words_keep_their_order),
	};
	size_t n = 1;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(near_rows); i++)
		tests[n++] = (struct CMUnitTest){ near_rows[i].name, check_near, NULL, NULL,
			(void *)(uintptr_t)&near_rows[i] };
	return cmocka_run_group_tests_name("flags", tests, NULL, NULL);
}
