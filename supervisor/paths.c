/* supervisor/paths.c - defaults for paths. */
#include "paths.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CONFIG_FILE	"/etc/muster/muster.yaml"

const char *
paths_config(const char *given)
{
	if (given != NULL)
		return given;
	return access(CONFIG_FILE, F_OK) == 0 ? CONFIG_FILE : NULL;
}

const char *
paths_run_dir(const char *given, const char *configured)
{
	static char chosen[PATH_MAX];
	const char *const env = getenv("MUSTER_RUN_DIR"), *const xdg = getenv("XDG_RUNTIME_DIR");

	if (given != NULL)
		return given;
	if (configured[0] != '\0') {
		snprintf(chosen, sizeof(chosen), "%s", configured);	/* outlives the configuration */
		return chosen;
	}
	if (env != NULL && env[0] != '\0')
		return env;
	if (geteuid() == 0)
		return "/run/muster";
	if (xdg == NULL || xdg[0] == '\0')
		return NULL;
	snprintf(chosen, sizeof(chosen), "%s/muster", xdg);
	return chosen;
}

struct spec_search
paths_programs(const char *given)
{
	static char self[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	const char *const beside = dirname(self);
	/* A folder that was given comes before the one that musterd is in. */
	return (struct spec_search){
		.dirs = { given != NULL ? given : beside, given != NULL ? beside : MUSTER_LIBEXEC_DIR },
		.euid = geteuid(),
	};
}
