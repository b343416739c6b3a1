/*
 * supervisor/rundir.h - the run directory: private, ours alone, with names that fit.
 *
 *	<run-dir>/lock, control.sock	musterd's own
 *	<run-dir>/<role>/		what that actor binds and writes; no other can make anything there
 */
#ifndef MUSTER_RUNDIR_H
#define MUSTER_RUNDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { RUNDIR_ERROR_MAX = 512, RUNDIR_PATH_MAX = 256 };

/*
 * Creates the folder when it is missing, checks it, and takes the lock that is held until the
 * process ends. owner: who the actors run as. False with a text in err.
 */
bool rundir_take(const char *dir, uid_t owner, gid_t group, char err[RUNDIR_ERROR_MAX]);
/*
 * The folder of one actor below dir, for its next incarnation: made when missing, private, empty.
 * Its path goes to `path`. False with errno, and logged.
 */
bool rundir_folder(char path[RUNDIR_PATH_MAX], const char *dir, const char *actor, uid_t owner,
    gid_t group);
/* Bytes that dir may have so that every socket in it fits a unix address. */
size_t rundir_longest(void);

#endif
