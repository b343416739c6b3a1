/* supervisor/confine.h - what of the file system and of TCP an actor can use. */
#ifndef MUSTER_CONFINE_H
#define MUSTER_CONFINE_H

#include <stddef.h>
#include <stdint.h>

#include "spec.h"

/* struct landlock_ruleset_attr as of version 6: what is handled here and allowed by no rule is forbidden. */
struct confine_handled {
	uint64_t	fs, net, scoped;
};

/* The Landlock version of this kernel; 0: it has none. */
int confine_version(void);
/*
 * Everything that this version can forbid, but the TCP that the actor needs. *size: the bytes that
 * the version reads. Pure.
 */
struct confine_handled confine_handled(int version, enum tcp tcp, size_t *size);
/* Whether this kernel has filters of system calls whose refusals a process can log. */
bool confine_syscalls(void);
/* The sets of calls that the actor of that row needs (enum syscall_set). Pure. */
unsigned confine_syscall_sets(const struct child_row *row);
/*
 * The rules for one actor as a descriptor for confine_enter; -1 with errno. folder: where it may
 * make sockets and files.
 */
int confine_rules(const struct child_row *row, const struct child_spec *spec, const char *folder);
/* Between fork and exec; async-signal-safe. Needs no_new_privs. 0, or -1 with errno. */
int confine_enter(int rules_fd);

#endif
