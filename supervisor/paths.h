/* supervisor/paths.h - the paths that nobody gave. What is returned stays good. */
#ifndef MUSTER_PATHS_H
#define MUSTER_PATHS_H

#include "spec.h"

/*
 * The configuration file to read: as given, else the default one if it exists, else NULL (built-in
 * defaults).
 */
const char *paths_config(const char *given);
/* As given, else from the file, else $MUSTER_RUN_DIR, else by user. NULL: there is no place. */
const char *paths_run_dir(const char *given, const char *configured);
/* Beside musterd, then the installed folder; --libexec-dir comes first and replaces the latter. */
struct spec_search paths_programs(const char *given);

#endif
