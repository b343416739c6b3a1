/* tests/unit/test_config_schema.c - settings.h is sound, and what is written from it is current. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "config/config.h"
#include "config/schema.h"
#include "kinds.h"
#include "lifeline.h"
#include "obj.h"

static void
print_rbac(FILE *out)
{
	rbac_print(out, INSIGHT_GROUP, NULL);
}

static const struct written {
	const char *name, *path, *option;
	void (*print)(FILE *out);
} written[] = {
	{ "deploy/muster.yaml is current", MUSTER_ROOT "/deploy/muster.yaml",
	    "--print-defaults", config_print_defaults },
	{ "docs/configuration.md is current", MUSTER_ROOT "/docs/configuration.md",
	    "--print-reference", config_print_reference },
	{ "deploy/rbac.yaml is current", MUSTER_ROOT "/deploy/rbac.yaml",
	    "--print-rbac", print_rbac },
};

static bool
is_text(const struct setting *row)
{
	const enum value_type t = row->rule.type;

	return t == VALUE_STR || t == VALUE_PATH || t == VALUE_CREDENTIAL;
}

static char *
printed(void (*print)(FILE *out))
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	print(f);
	fclose(f);
	return text;
}

/* A change of settings.h without these files fails here, and the message states what to run. */
static void
check_written(void **state)
{
	const struct written *row = *state;
	char *want = printed(row->print);
	char *have = obj_alloc(CONFIG_FILE_MAX);
	FILE *f = fopen(row->path, "r");
	size_t n = 0;

	if (f != NULL) {
		n = fread(have, 1, CONFIG_FILE_MAX - 1, f);
		fclose(f);
	}
	if (n != strlen(want) || memcmp(have, want, n) != 0)
		fail_msg("%s does not match settings.h; write it with: muster check %s > %s",
		    row->path, row->option, row->path);
	free(have);
	free(want);
}

/* The default file sets explicitly what an empty one implies, and enables its actors. */
static void
default_file_is_the_default(void **state)
{
	struct config_errors errs;
	char *text = printed(config_print_defaults);
	struct config *built_in = config_load(NULL, &errs);
	struct config *c = config_parse("defaults", text, strlen(text), &errs);

	(void)state;
	assert_non_null(c);
	for (enum section s = 0; s < SECTION_MAX; s++) {
		const char *name = schema_section_name(s);
		char *const a = config_flat(c, name), *const b = config_flat(built_in, name);

		assert_string_equal(a, b);
		free(a);
		free(b);
		assert_int_equal(config_enabled(built_in, name), CONFIG_UNSET);
		if (!schema_sections[s].test && s != SECTION_SUPERVISOR)
			assert_int_equal(config_enabled(c, name), CONFIG_ON);
		assert_int_equal(config_mentioned(c, name), !schema_sections[s].test);
	}
	for (size_t i = 0; i < SETTING_MAX; i++) {
		const struct setting *row = &schema_settings[i];
		const int line = config_line(c, schema_section_name(row->section), row->key);

		assert_int_equal(line > 0, !schema_sections[row->section].test);
	}
	config_free(&c);
	config_free(&built_in);
	free(text);
}

static void
rows_are_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < SETTING_MAX; i++) {
		const struct setting *row = &schema_settings[i];
		const size_t len = strlen(row->key);
		int64_t num;

		assert_int_equal(value_parse(&row->rule, row->initial, strlen(row->initial), &num),
		    VALUE_FAULT_NONE);
		assert_int_equal(strspn(row->key, "abcdefghijklmnopqrstuvwxyz0123456789-"), len);
		assert_true(len <= 40);
		assert_string_not_equal(row->key, schema_enabled.key);
		assert_int_equal(row->help[strlen(row->help) - 1], '.');
		assert_null(strpbrk(row->help, "|\n"));
		assert_int_equal(schema_setting(row->section, row->key, len), i);	/* no second */
		assert_true(row->rule.min <= row->rule.max);
		assert_true(!is_text(row) || row->rule.max > 0);
		assert_true((row->rule.type == VALUE_CHOICE) == (row->rule.words != NULL));
	}
}

static void
sections_are_roles(void **state)
{
	(void)state;
	for (enum section s = 0; s < SECTION_MAX; s++) {
		const char *name = schema_section_name(s);

		assert_int_equal(schema_section(name, strlen(name)), s);
		if (s != SECTION_SUPERVISOR)
			assert_string_equal(config_actor_name(s - 1), name);
	}
	assert_null(config_actor_name(SECTION_MAX - 1));
	assert_null(config_actor_name(SIZE_MAX));
	assert_int_equal(schema_section("", 0), SECTION_NONE);
	assert_int_equal(schema_section("metricss", 8), SECTION_NONE);
	assert_int_equal(schema_section("metrics", 6), SECTION_NONE);
}

/* However long its texts, a section fits the one record in which an actor gets it. */
static void
sections_fit_the_lifeline(void **state)
{
	(void)state;
	for (enum section s = 0; s < SECTION_MAX; s++) {
		size_t most = sizeof("config ");

		for (size_t i = 0; i < SETTING_MAX; i++) {
			const struct setting *row = &schema_settings[i];

			if (row->section == s)
				most += strlen(row->key) + 2
				    + (is_text(row) ? (size_t)row->rule.max : 300);
		}
		assert_true(most < LIFELINE_MAX);
	}
}

int
main(void)
{
	enum { OTHERS = 4 };
	struct CMUnitTest tests[OTHERS + NITEMS(written)] = {
		cmocka_unit_test(default_file_is_the_default),
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(sections_are_roles),
		cmocka_unit_test(sections_fit_the_lifeline),
	};

	for (size_t i = 0; i < NITEMS(written); i++)
		tests[OTHERS + i] = (struct CMUnitTest){ written[i].name, check_written, NULL, NULL,
			(void *)(uintptr_t)&written[i] };
	return cmocka_run_group_tests_name("config schema", tests, NULL, NULL);
}
