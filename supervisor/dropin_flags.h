/*
 * supervisor/dropin_flags.h - a command line as Go's flag package reads it, over a table.
 *
 *	-f  --f  --f=v		and `--f v`, unless f is a boolean
 *	-h  -help		print the help
 *	--  word		end the flags: what follows is not read
 *
 * The texts of what is wrong are Go's own: people search for them.
 */
#ifndef MUSTER_DROPIN_FLAGS_H
#define MUSTER_DROPIN_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

enum { DROPIN_FLAGS_MAX = 48, DROPIN_ERROR_MAX = 1024 };

struct dropin_flag {
	const char	*name;
	bool		 boolean;
	const char	*initial;	/* booleans "true" or "false" */
	const char	*help;
	/* the setting that judges its value and gets it; NULL: none, see the program's own rules */
	const char	*section, *key;
	const char	*idle;		/* why a value given here changes nothing; NULL: it does */
};

struct dropin_value {
	const char	*text;		/* booleans "true" or "false" */
	bool		 given;
};

struct dropin_flags {
	struct dropin_value	 values[DROPIN_FLAGS_MAX];	/* in the order of the table */
	const char		*rest;		/* the word at which the flags ended; NULL: all were read */
	char			 unknown[64];	/* the name that the table does not have; "": none */
	char			 error[DROPIN_ERROR_MAX];
};

enum dropin_end {
	DROPIN_OK,
	DROPIN_HELP,
	DROPIN_WRONG,	/* a flag, or its value, is none that the program takes */
	DROPIN_REFUSED,	/* each flag is fine; together they request what muster does not do */
};

/* args: what stands behind the name of the program. Texts stay those of args and of the table. */
enum dropin_end dropin_flags_read(const struct dropin_flag *table, size_t n, int nargs,
    char *const *args, struct dropin_flags *out);

#endif
