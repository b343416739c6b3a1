/* tests/unit/test_options.c - musterd's command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "supervisor/options.h"

static const struct row {
	const char	*name;
	const char	*argv[6];
	const char	*wrong;		/* NULL: fine; else a part of the text */
	struct options	 want;
} rows[] = {
	{ "nothing", { NULL }, NULL, { 0 } },
	{ "value behind", { "--config", "a.yaml", NULL }, NULL, { .config = "a.yaml" } },
	{ "value attached", { "--run-dir=/r", "--log-level=debug", NULL }, NULL, { .run_dir = "/r", .log_level = "debug" } },
	{ "a value with an equals sign", { "--config=/a=b", NULL }, NULL, { .config = "/a=b" } },
	{ "the last one wins", { "--config=a", "--config=b", NULL }, NULL, { .config = "b" } },
	{ "flags", { "--check", "--libexec-dir", "/l", NULL }, NULL, { .check = true, .libexec_dir = "/l" } },
	{ "unknown", { "--colour", NULL }, "unknown option --colour", { 0 } },
	{ "unknown with a value", { "--colour=red", NULL }, "--colour=red", { 0 } },
	{ "an abbreviation is unknown", { "--conf", "x", NULL }, "--conf", { 0 } },
	{ "a stray word", { "start", NULL }, "unknown option start", { 0 } },
	{ "an empty word", { "", NULL }, "unknown option", { 0 } },
	{ "value missing", { "--config", NULL }, "--config needs a value", { 0 } },
	{ "value empty", { "--config=", NULL }, "--config needs a value", { 0 } },
	{ "flag with a value", { "--check=yes", NULL }, "--check takes no value", { 0 } },
};

static void
same(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		assert_true(a == b);
	else
		assert_string_equal(a, b);
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	static const char name[] = "musterd";
	char *argv[8] = { (char *)(uintptr_t)name }, err[256] = "";
	struct options o;
	int argc = 1;

	for (size_t i = 0; r->argv[i] != NULL; i++)
		argv[argc++] = (char *)(uintptr_t)r->argv[i];
	assert_int_equal(options_parse(argc, argv, &o, err, sizeof(err)), r->wrong == NULL);
	if (r->wrong != NULL) {
		assert_non_null(strstr(err, r->wrong));
		return;
	}
	same(o.config, r->want.config);
	same(o.run_dir, r->want.run_dir);
	same(o.log_level, r->want.log_level);
	same(o.log_format, r->want.log_format);
	same(o.libexec_dir, r->want.libexec_dir);
	assert_int_equal(o.check, r->want.check);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
