/* supervisor/spec_paths.h - which folders an actor may enter. */
#ifndef MUSTER_SPEC_PATHS_H
#define MUSTER_SPEC_PATHS_H

#include <stdbool.h>

#include "spec.h"

/*
 * Fills spec->paths. False: more than SPEC_PATHS_MAX. A file that an environment variable names and that
 * cannot be read is logged: set has the user of the actors.
 */
bool spec_paths_add(const struct config *c, const struct spec_set *set, const struct child_row *row,
    struct child_spec *spec);
/* Logs which actor can open a credential of another. */
void spec_paths_warn(const struct spec_set *set);
/* "folder/name", allocated; a NULL folder is empty. */
char *spec_path_in(const char *folder, const char *name);

#endif
