/* supervisor/confine.h - what of the file system an actor can see. */
#ifndef MUSTER_CONFINE_H
#define MUSTER_CONFINE_H

#include "spec.h"

/* The Landlock version of this kernel; 0: it has none. */
int confine_version(void);
/*
 * The rules for one actor as a descriptor for confine_enter; -1 with errno. folder: where it may
 * make sockets and files.
 */
int confine_rules(const struct child_spec *spec, const char *folder);
/* Between fork and exec; async-signal-safe. Needs no_new_privs. 0, or -1 with errno. */
int confine_enter(int rules_fd);

#endif
