/* config/schema.h - settings.h as a table: sections, their settings, and how to find them. */
#ifndef MUSTER_SCHEMA_H
#define MUSTER_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "roles.h"
#include "settings.h"
#include "value.h"

enum section {
	SECTION_SUPERVISOR,
#define SECTION_ENUM(ID, help) SECTION_##ID,
	ACTOR_SECTIONS(SECTION_ENUM)
	TEST_SECTIONS(SECTION_ENUM)
#undef SECTION_ENUM
	SECTION_MAX,
	SECTION_NONE = SECTION_MAX
};

struct section_row {
	enum role	 role;		/* ROLE_NONE: the supervisor */
	const char	*help;
	bool		 test;		/* not in the default file nor in the reference */
};
extern const struct section_row schema_sections[SECTION_MAX];

struct setting {
	enum section		 section;
	const char		*key;
	struct value_rule	 rule;
	const char		*initial;	/* as in the file: "10s" */
	const char		*help;
};

enum {
#define SETTING_ONE(section, key, type, initial, min, max, help) + 1
	SETTING_MAX = 0 SETTINGS(SETTING_ONE)
#undef SETTING_ONE
};
extern const struct setting schema_settings[SETTING_MAX];

/* `enabled` of every actor's section, kept apart: it is for the supervisor, not for the actor. */
extern const struct setting schema_enabled;

const char *schema_section_name(enum section s);
/* SECTION_NONE and SETTING_MAX when there is none of that name. */
enum section schema_section(const char *name, size_t len);
size_t schema_setting(enum section s, const char *key, size_t len);

#endif
