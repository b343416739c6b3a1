/*
 * supervisor/dropin.h - musterd in the place of another program: called by its name, with its flags.
 *
 * The flags become a configuration, in memory and as YAML, and from there on all is as with a file:
 * `--print-config` shows it, so that one can go on with a file. What muster does not do is logged
 * at the start, or refused where ignoring it would make something less safe than it was.
 */
#ifndef MUSTER_DROPIN_H
#define MUSTER_DROPIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "dropin_flags.h"

enum { DROPIN_NOTES_MAX = 16, DROPIN_SETTINGS_MAX = 16, DROPIN_RUN = -1 };

struct dropin;
/* On failure d->flags.error has the text. */
typedef enum dropin_end dropin_step(struct dropin *d);

/* A flag that the original had once. */
struct dropin_gone {
	const char	*name, *advice;
};

struct dropin_program {
	const char			*name;
	const struct dropin_flag	*flags;
	size_t				 nflags;
	size_t				 print_flag;	/* prints the configuration instead of running it */
	const struct dropin_gone	*gone;
	size_t				 ngone;
	dropin_step			*adapt;		/* what the table of flags cannot express */
};

/* Logged at the start. */
struct dropin_note {
	bool		 warn;
	const char	*text, *about, *hint;
};

struct dropin_setting {
	const char	*section, *key, *value;
};

struct dropin {
	const struct dropin_program	*program;
	struct dropin_flags		 flags;
	struct dropin_setting		 settings[DROPIN_SETTINGS_MAX];	/* beside those of the flags' rows */
	size_t				 nsettings;
	struct dropin_note		 notes[DROPIN_NOTES_MAX];
	size_t				 nnotes;
	char				*yaml;		/* the configuration; to free */
};

extern const struct dropin_program dropin_node_state, dropin_capa_annotator, dropin_vip_allocator;

/*
 * By the last component of argv[0], or by the first word; NULL: musterd itself is meant.
 * *first: where its flags begin.
 */
const struct dropin_program *dropin_find(int argc, char *const *argv, int *first);
/*
 * DROPIN_RUN with d filled; else the exit code, after help was printed on out or mistakes on err.
 */
int dropin_read(const struct dropin_program *p, int nargs, char *const *args, struct dropin *d, FILE *out,
    FILE *err);
/* The notes, as log lines. */
void dropin_log_notes(const struct dropin *d);
void dropin_close(struct dropin *d);

/* For adapt. flag: index in the table of the program. */
bool dropin_on(const struct dropin *d, size_t flag);
const char *dropin_text(const struct dropin *d, size_t flag);
/* Go opens a relative path from where it stands; a setting of ours is absolute. */
void dropin_make_absolute(struct dropin *d, size_t flag);
/* Addresses that are empty mean what they mean to controller-runtime. */
void dropin_default_addresses(struct dropin *d, size_t metrics_flag, size_t health_flag);
void dropin_note(struct dropin *d, struct dropin_note note);
void dropin_set(struct dropin *d, const char *section, const char *key, const char *value);
enum dropin_end dropin_refuse(struct dropin *d, enum dropin_end end, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
