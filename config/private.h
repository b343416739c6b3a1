/* config/private.h - what the files of this folder share: inside struct config, list of errors. */
#ifndef MUSTER_CONFIG_PRIVATE_H
#define MUSTER_CONFIG_PRIVATE_H

#include "config.h"
#include "schema.h"

/* One value as it stands, default or from the file. */
struct config_value {
	char	*text;		/* canonical */
	int64_t	 num;
	int	 line;		/* of its key; 0: default */
};

struct config_section {
	int			line;		/* 0: not in the file */
	int			enabled_line;	/* 0: no `enabled` */
	enum config_enabled	enabled;
};

struct config {
	uint32_t		 magic;
#define CONFIG_MAGIC	0x434f4e46u
	char			*path;		/* NULL: built-in */
	struct config_value	 values[SETTING_MAX];
	struct config_section	 sections[SECTION_MAX];
};

/* Takes the text over if it fits the rule; returns what is wrong if not. */
enum value_fault config_set(struct config *c, size_t setting, const char *text, size_t len);

void errors_clear(struct config_errors *errs, const char *file);
/* In the order of lines; the last ones fall off the end. */
void errors_add(struct config_errors *errs, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Text of the file for an error: in quotes, cut when long, nothing in it that a terminal obeys. */
struct quoted {
	char	text[64];
};
struct quoted errors_quote(const char *text, size_t len);

/* Reads text into c, which holds the defaults; false with errs when anything is wrong. */
bool read_yaml(struct config *c, const char *text, size_t len, struct config_errors *errs);

#endif
