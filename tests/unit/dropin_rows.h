/*
 * tests/unit/dropin_rows.h - the table of a test of a drop-in: flags of an original, and what they
 * mean as a configuration.
 */
#ifndef MUSTER_TEST_DROPIN_ROWS_H
#define MUSTER_TEST_DROPIN_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "obj.h"
#include "supervisor/dropin.h"

enum { ARGS_MAX = 4, WANTS_MAX = 8, ROWS_MAX = 40 };
#define WATCHER	"kube-watcher"
#define PAGE	"metrics"

struct dropin_row {
	const char	*name;
	const char	*args[ARGS_MAX];
	int		 code;		/* DROPIN_RUN: fine */
	const char	*text;		/* else: a part of what is printed */
	struct { const char *section, *key, *value; } want[WANTS_MAX];
};

static const struct dropin_program *rows_program;
static const char *rows_actor;

static inline void
dropin_row_check(void **state)
{
	const struct dropin_row *const r = *state;
	struct config_errors *const errs = obj_alloc(sizeof(*errs));
	char *args[ARGS_MAX], *printed = NULL;
	struct dropin d;
	size_t len;
	int n = 0;
	FILE *const f = open_memstream(&printed, &len);

	for (; n < ARGS_MAX && r->args[n] != NULL; n++)
		args[n] = (char *)(uintptr_t)r->args[n];
	const int code = dropin_read(rows_program, n, args, &d, f, f);
	fclose(f);
	assert_int_equal(code, r->code);
	if (code != DROPIN_RUN) {
		assert_non_null(strstr(printed, r->text));
	} else {
		struct config *c = config_parse("flags", d.yaml, strlen(d.yaml), errs);

		assert_non_null(c);
		assert_int_equal(config_enabled(c, rows_actor), CONFIG_ON);
		assert_int_equal(config_enabled(c, "insight"), CONFIG_UNSET);
		for (size_t i = 0; i < WANTS_MAX && r->want[i].section != NULL; i++)
			assert_string_equal(
			    config_get(c, r->want[i].section, r->want[i].key), r->want[i].value);
		config_free(&c);
		dropin_close(&d);
	}
	free(errs);
	free(printed);
}

static inline void
dropin_row_name(void **state)
{
	char path[128];
	char *argv[] = { path };
	int first = 0;

	(void)state;
	snprintf(path, sizeof(path), "/usr/sbin/%s", rows_program->name);
	assert_ptr_equal(dropin_find(1, argv, &first), rows_program);
	assert_int_equal(first, 1);
}

static inline int
dropin_rows_run(
    const struct dropin_program *program, const char *actor, const struct dropin_row *rows, size_t n)
{
	struct CMUnitTest tests[ROWS_MAX];

	MUST(n < ROWS_MAX);
	rows_program = program;
	rows_actor = actor;
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, dropin_row_check, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[n] = (struct CMUnitTest){ "by its name", dropin_row_name, NULL, NULL, NULL };
	return _cmocka_run_group_tests(program->name, tests, n + 1, NULL, NULL);
}

#endif
