/* supervisor/rundir.h - the folder of sockets: private, ours alone, with names that fit. */
#ifndef MUSTER_RUNDIR_H
#define MUSTER_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { RUNDIR_ERROR_MAX = 512 };

/*
 * Creates the folder when it is missing, checks it, and takes the lock that is held until the
 * process ends. owner: who the actors run as. False with a text in err.
 */
bool rundir_take(const char *dir, uid_t owner, gid_t group, char err[RUNDIR_ERROR_MAX]);
/* Bytes that dir may have so that every socket in it fits a unix address. */
size_t rundir_longest(void);

#endif
