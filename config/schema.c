/* config/schema.c - the rows of settings.h, and the lookups over them. */
#include "schema.h"

#include <string.h>

const struct section_row schema_sections[SECTION_MAX] = {
	[SECTION_SUPERVISOR] = {
		.role = ROLE_NONE,
		.help = "The process that starts the actors and keeps them running.",
	},
#define ACTOR_ROW(ID, h) [SECTION_##ID] = { .role = ROLE_##ID, .help = (h) },
	ACTOR_SECTIONS(ACTOR_ROW)
#define TEST_ROW(ID, h) [SECTION_##ID] = { .role = ROLE_##ID, .help = (h), .test = true },
	TEST_SECTIONS(TEST_ROW)
};

/* CHOICE("a|b") in a row becomes VALUE_CHOICE("a|b"), which is this: the type and its words. */
#define VALUE_CHOICE(w)	VALUE_CHOICE, .words = (w)

const struct setting schema_settings[SETTING_MAX] = {
#define SETTING_ROW(SECTION, k, TYPE, d, lo, hi, h)				\
	{									\
		.section = SECTION_##SECTION, .key = (k),			\
		.initial = (d), .help = (h),					\
		.rule = { .min = (lo), .max = (hi), .type = VALUE_##TYPE },	\
	},
	SETTINGS(SETTING_ROW)
};

const struct setting schema_enabled = {
	.section = SECTION_NONE, .key = "enabled",
	.initial = "true", .rule = { .type = VALUE_BOOL },
	.help = "Whether it runs. What an enabled actor needs is enabled with it.",
};

const char *
schema_section_name(enum section s)
{
	return s == SECTION_SUPERVISOR ? "supervisor" : role_name(schema_sections[s].role);
}

enum section
schema_section(const char *name, size_t len)
{
	for (enum section s = 0; s < SECTION_MAX; s++) {
		const char *known = schema_section_name(s);

		if (strlen(known) == len && memcmp(known, name, len) == 0)
			return s;
	}
	return SECTION_NONE;
}

size_t
schema_setting(enum section s, const char *key, size_t len)
{
	for (size_t i = 0; i < SETTING_MAX; i++) {
		const struct setting *row = &schema_settings[i];

		if (row->section == s && strlen(row->key) == len && memcmp(row->key, key, len) == 0)
			return i;
	}
	return SETTING_MAX;
}
