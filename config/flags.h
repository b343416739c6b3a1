/* config/flags.h - options of a command line: one row each, for the parser, the help and the manual. */
#ifndef MUSTER_FLAGS_H
#define MUSTER_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct flag {
	const char	*name;		/* "actor": --actor; NULL: only the letter */
	char		 letter;	/* 'n': -n; 0: none */
	const char	*arg;		/* what its value is called in the help; NULL: a switch */
	size_t		 offset;	/* in the caller's struct: a `const char *`, or a bool for a switch */
	const char	*help;
};

/* A table of them, and the struct that their values go to. */
struct flags {
	const struct flag	*rows;
	size_t			 n;
	void			*out;
	const struct flags	*next;		/* more of them; NULL: no */
};

enum { FLAGS_WHY_MAX = 256 };

/*
 * --name value, --name=value, -l value, -lvalue; `--` ends them. The other words move to the front
 * of argv, in order; returns how many, or -1 with the reason in why. *help: --help or -h was among
 * them.
 */
int flags_parse(const struct flags *flags, int argc, char **argv, bool *help, char why[FLAGS_WHY_MAX]);
void flags_print(FILE *out, const struct flag *rows, size_t n);

#endif
