/* supervisor/options.h - musterd's command line. */
#ifndef MUSTER_OPTIONS_H
#define MUSTER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct options {
	const char	*config, *run_dir, *log_format, *log_level, *libexec_dir;	/* NULL: not given */
	bool		 check, version, help;
};

/* False with a text in err that names the argument. */
bool options_parse(int argc, char *const *argv, struct options *out, char *err, size_t size);
extern const char options_usage[];

#endif
