/*
 * config/config.h - the one configuration file, read and checked whole.
 *
 * The schema is config/settings.h: a key that is not there does not exist. The sections are
 * "supervisor" and the names of the actors. Nothing here logs, exits or reads more than the file:
 * what to do about errors is the caller's matter (musterd, `muster check`: print them, exit 100).
 */
#ifndef MUSTER_CONFIG_H
#define MUSTER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct config;

enum {
	CONFIG_FILE_MAX   = 1024 * 1024,	/* bytes */
	CONFIG_DEPTH_MAX  = 8,			/* nested mappings and lists */
	CONFIG_ERRORS_MAX = 20,			/* in one run; a longer list helps nobody */
};

struct config_error {
	int	line;		/* 0: the file as a whole */
	char	text[640];	/* what is wrong, what is allowed; never a credential's value */
};

/* Sorted by line. Start with `= { 0 }`; every load or parse empties it first. */
struct config_errors {
	char			file[256];
	size_t			count;
	bool			more;	/* reading stopped at the limit */
	struct config_error	list[CONFIG_ERRORS_MAX];
};

/* `file:line: text`, one per line. */
void config_errors_print(const struct config_errors *errs, FILE *out);

/* NULL path: built-in defaults. NULL result: see errs. Regular files only: waits for no writer. */
struct config *config_load(const char *path, struct config_errors *errs);
/* The same from memory; name stands for the file in errors. */
struct config *config_parse(const char *name, const char *text, size_t len,
    struct config_errors *errs);
void config_free(struct config **cp);

/* The file it came from; NULL: built-in defaults. */
const char *config_path(const struct config *c);

/*
 * The value as canonical text: durations in ms, booleans true or false, numbers decimal, everything
 * else as written. A section or key that settings.h does not have is a bug of the caller, who dies.
 */
const char *config_get(const struct config *c, const char *section, const char *key);
/* Numbers; durations in ms; booleans 0 or 1; words: their place in the list (LEVEL_INFO). */
int64_t config_get_i64(const struct config *c, const char *section, const char *key);
/* The line that set it; 0: default. */
int config_line(const struct config *c, const char *section, const char *key);

enum config_enabled { CONFIG_UNSET, CONFIG_ON, CONFIG_OFF };

/* These take any name; one without a section in settings.h is neither mentioned nor set. */
bool config_mentioned(const struct config *c, const char *section);
/* `enabled:` of an actor; a section that is present without it counts as ON. */
enum config_enabled config_enabled(const struct config *c, const char *section);
/* The line of that key; 0: it has none. */
int config_enabled_line(const struct config *c, const char *section);

/*
 * The section as an actor gets it: "key=value\n" per key, in the order of settings.h, with defaults
 * and without `enabled`; allocated. Two sections are the same for an actor exactly when these texts are.
 */
char *config_flat(const struct config *c, const char *section);

/* The credential files that the section names, which this actor alone may open: 0, 1, 2 ... until NULL. */
const char *config_credential(const struct config *c, const char *section, size_t i);

/* The actors that have a section, in the order of settings.h: 0, 1, 2 ... until NULL. */
const char *config_actor_name(size_t i);

/* Written from settings.h: deploy/muster.yaml and docs/configuration.md (tests compare them). */
void config_print_defaults(FILE *out);
void config_print_reference(FILE *out);

#endif
