/*
 * supervisor/rundir.c - the run directory and its lock.
 *
 * The lock matters: a second bind on the same ipc path succeeds and steals it (measured), so two
 * supervisors in one folder would take each other's actors apart without an error anywhere.
 */
#include "rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "links.h"
#include "obj.h"
#include "watch.h"

static bool check_folder(const char *, uid_t, gid_t, char *);
static bool take_lock(const char *, char *);
static bool refuse(char *, const char *, ...) __attribute__((format(printf, 2, 3)));

bool
rundir_take(const char *dir, uid_t owner, gid_t group, char err[RUNDIR_ERROR_MAX])
{
	if (dir[0] != '/')
		return refuse(err, "run directory %s: not an absolute path", dir);
	if (strpbrk(dir, " \t\r\n") != NULL)
		return refuse(err, "run directory \"%s\": a blank in it cannot be handed to the actors", dir);
	if (strlen(dir) > rundir_longest())
		return refuse(err,
		    "run directory %s: %zu bytes are too many, because a socket path holds %d with the "
		    "socket's own name; choose one of at most %zu bytes",
		    dir, strlen(dir), LINK_PATH_MAX, rundir_longest());
	if (mkdir(dir, 0700) == -1 && errno != EEXIST)
		return refuse(err,
		    "run directory %s: cannot create it: %s; create its parent, or choose another with "
		    "--run-dir",
		    dir, strerror(errno));
	return check_folder(dir, owner, group, err) && take_lock(dir, err);
}

size_t
rundir_longest(void)
{
	size_t longest = strlen("/control.sock");

	for (unsigned l = 0; l < LINK_MAX; l++) {
		for (unsigned r = 0; r < ROLE_MAX; r++) {
			char path[LINK_PATH_MAX + 1];

			if (link_binds((enum link)l, (enum role)r)
			    && link_path(path, sizeof(path), "", (enum link)l, (enum role)r)
			    && strlen(path) > longest)
				longest = strlen(path);
		}
	}
	return LINK_PATH_MAX - longest;
}

/* Everything is asked of the descriptor, so nobody can swap the folder between two questions. */
static bool
check_folder(const char *dir, uid_t owner, gid_t group, char *err)
{
	struct stat st;
	bool ok = false;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd == -1 || fstat(fd, &st) == -1)
		refuse(err, "run directory %s: %s", dir, strerror(errno));
	else if (st.st_uid != owner && st.st_uid != geteuid())
		refuse(err,
		    "run directory %s: belongs to uid %u, not to uid %u; remove it, or choose another "
		    "with --run-dir",
		    dir, (unsigned)st.st_uid, (unsigned)owner);
	else if ((st.st_mode & 022) != 0)
		refuse(err,
		    "run directory %s: mode %04o lets others write into it; chmod 0700 it, or choose another "
		    "with --run-dir",
		    dir, (unsigned)st.st_mode & 07777);
	else if (st.st_uid != owner && fchown(fd, owner, group) == -1)
		refuse(err, "run directory %s: cannot give it to uid %u: %s", dir, (unsigned)owner,
		    strerror(errno));
	else if ((st.st_mode & 077) != 0 && fchmod(fd, 0700) == -1)
		refuse(err, "run directory %s: cannot make it private: %s", dir, strerror(errno));
	else
		ok = true;
	fd_close(&fd);
	return ok;
}

/* The descriptor stays open on purpose: the lock ends with the process, however it ends. */
static bool
take_lock(const char *dir, char *err)
{
	char path[4096], pid[32] = "";

	snprintf(path, sizeof(path), "%s/lock", dir);
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return refuse(err, "%s: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == -1) {
		const ssize_t n = read(fd, pid, sizeof(pid) - 1);

		refuse(err,
		    "%s: held by musterd with pid %ld; stop that one, or choose another folder with "
		    "--run-dir",
		    path, n > 0 ? strtol(pid, NULL, 10) : -1L);
		fd_close(&fd);
		return false;
	}
	const int n = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(fd, 0) == -1 || write(fd, pid, (size_t)n) != n) {
		refuse(err, "%s: cannot write our pid: %s", path, strerror(errno));
		fd_close(&fd);
		return false;
	}
	return true;
}

static bool
refuse(char *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, RUNDIR_ERROR_MAX, fmt, ap);
	va_end(ap);
	return false;
}
