/* supervisor/options.c - parses the command line: `--name value` or `--name=value`. */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "obj.h"

const char options_usage[] =
    "usage: musterd [options]\n"
    "\n"
    "  --config FILE        the configuration; default /etc/muster/muster.yaml if it exists,\n"
    "                       else the built-in defaults\n"
    "  --run-dir DIR        sockets and lock; default $MUSTER_RUN_DIR, else /run/muster (root)\n"
    "                       or $XDG_RUNTIME_DIR/muster\n"
    "  --log-format FORMAT  json or console\n"
    "  --log-level LEVEL    debug, info, warn or error\n"
    "  --libexec-dir DIR    where the actors' programs are searched first\n"
    "  --check              only validate the configuration\n"
    "  --version            print the version\n"
    "  --help               print this\n"
    "\n"
    "SIGTERM stops in stages, a second one kills at once; SIGHUP reads the configuration again.\n";

static const struct {
	const char	*name;
	size_t		 offset;
	bool		 takes_value;
} table[] = {
	{ "--config",      offsetof(struct options, config),      true },
	{ "--run-dir",     offsetof(struct options, run_dir),     true },
	{ "--log-format",  offsetof(struct options, log_format),  true },
	{ "--log-level",   offsetof(struct options, log_level),   true },
	{ "--libexec-dir", offsetof(struct options, libexec_dir), true },
	{ "--check",       offsetof(struct options, check),       false },
	{ "--version",     offsetof(struct options, version),     false },
	{ "--help",        offsetof(struct options, help),        false },
};

bool
options_parse(int argc, char *const *argv, struct options *out, char *err, size_t size)
{
	*out = (struct options){ 0 };
	for (int a = 1; a < argc; a++) {
		const char *const equals = strchr(argv[a], '=');
		const size_t len = equals != NULL ? (size_t)(equals - argv[a]) : strlen(argv[a]);
		size_t i = 0;

		while (i < NITEMS(table)
		    && (strlen(table[i].name) != len || memcmp(table[i].name, argv[a], len) != 0))
			i++;
		if (i == NITEMS(table)) {
			snprintf(err, size, "unknown option %s; musterd --help lists them", argv[a]);
			return false;
		}
		if (!table[i].takes_value) {
			if (equals != NULL) {
				snprintf(err, size, "option %s takes no value", table[i].name);
				return false;
			}
			*(bool *)((char *)out + table[i].offset) = true;
			continue;
		}
		const char *const value = equals != NULL ? equals + 1 : a + 1 < argc ? argv[++a] : NULL;
		if (value == NULL || value[0] == '\0') {
			snprintf(err, size, "option %s needs a value", table[i].name);
			return false;
		}
		*(const char **)(void *)((char *)out + table[i].offset) = value;
	}
	return true;
}
