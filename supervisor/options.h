/* supervisor/options.h - musterd's command line. */
#ifndef MUSTER_OPTIONS_H
#define MUSTER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "config/flags.h"

struct options {
	const char	*config, *run_dir, *log_format, *log_level, *libexec_dir;	/* NULL: not given */
	bool		 check, version, help;
};

/* Its options, for the help, the manual page and completion. */
extern const struct flag options_flags[];
extern const size_t options_nflags;

/* False with a text in err that names the argument. Reorders argv. */
bool options_parse(int argc, char **argv, struct options *out, char *err, size_t size);
void options_print_usage(FILE *out);

#endif
