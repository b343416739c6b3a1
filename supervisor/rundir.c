/*
 * supervisor/rundir.c - the run directory, its lock, the actors' folders in it.
 *
 * The lock matters: a second bind on the same ipc path succeeds and steals it (measured), so two
 * supervisors in one folder would take each other's actors apart without an error anywhere.
 */
#include "rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "links.h"
#include "log.h"
#include "obj.h"
#include "watch.h"

enum { LEFTOVERS_MAX = 1024 };	/* removed at a start: a folder stuffed with files must not stop our loop */

static bool check_folder(const char *, uid_t, gid_t, char *);
static bool take_lock(const char *, char *);
static int open_folder(const char *);
static bool make_private(int, uid_t, gid_t);
static void empty(int, const char *);

bool
rundir_take(const char *dir, uid_t owner, gid_t group, char err[RUNDIR_ERROR_MAX])
{
	if (dir[0] != '/')
		return err_refuse(err, RUNDIR_ERROR_MAX, "run directory %s: not an absolute path", dir);
	if (strpbrk(dir, " \t\r\n") != NULL)
		return err_refuse(err, RUNDIR_ERROR_MAX,
		    "run directory \"%s\": a blank in it cannot be handed to the actors", dir);
	if (strlen(dir) > rundir_longest())
		return err_refuse(err, RUNDIR_ERROR_MAX,
		    "run directory %s: %zu bytes are too many, because a socket path holds %d with the "
		    "socket's own name; choose one of at most %zu bytes",
		    dir, strlen(dir), LINK_PATH_MAX, rundir_longest());
	if (mkdir(dir, 0700) == -1 && errno != EEXIST)
		return err_refuse(err, RUNDIR_ERROR_MAX,
		    "run directory %s: cannot create it: %s; create its parent, or choose another with "
		    "--run-dir",
		    dir, strerror(errno));
	return check_folder(dir, owner, group, err) && take_lock(dir, err);
}

/* Everything is done through the descriptor: what a link in that place leads to is not touched. */
bool
rundir_folder(char path[RUNDIR_PATH_MAX], const char *dir, const char *actor, uid_t owner, gid_t group)
{
	const int n = snprintf(path, RUNDIR_PATH_MAX, "%s/%s", dir, actor);

	MUST(n > 0 && n < RUNDIR_PATH_MAX);
	int fd = mkdir(path, 0700) == 0 || errno == EEXIST ? open_folder(path) : -1;
	if (fd == -1 || !make_private(fd, owner, group)) {
		const int saved_errno = errno;

		log_warn("cannot prepare the folder of an actor", KV_S(ACTOR, actor), KV_S(PATH, path),
		    KV_S(HINT, "remove what is there; the folder is made anew at the next start"));
		fd_close(&fd);
		errno = saved_errno;
		return false;
	}
	empty(fd, path);
	return true;
}

/* Every actor binds a stats link, so its tap, a shorter name in the same folder, fits as well. */
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

/* Everything goes through the descriptor, so nobody can exchange the folder between two checks. */
static bool
check_folder(const char *dir, uid_t owner, gid_t group, char *err)
{
	struct stat st;
	bool ok = false;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd == -1 || fstat(fd, &st) == -1)
		err_refuse(err, RUNDIR_ERROR_MAX, "run directory %s: %s", dir, strerror(errno));
	else if (st.st_uid != owner && st.st_uid != geteuid())
		err_refuse(err, RUNDIR_ERROR_MAX,
		    "run directory %s: belongs to uid %u, not to uid %u; remove it, or choose another "
		    "with --run-dir",
		    dir, (unsigned)st.st_uid, (unsigned)owner);
	else if ((st.st_mode & 022) != 0)
		err_refuse(err, RUNDIR_ERROR_MAX,
		    "run directory %s: mode %04o lets others write into it; chmod 0700 it, or choose another "
		    "with --run-dir",
		    dir, (unsigned)st.st_mode & 07777);
	else if (st.st_uid != owner && fchown(fd, owner, group) == -1)
		err_refuse(err, RUNDIR_ERROR_MAX, "run directory %s: cannot give it to uid %u: %s", dir,
		    (unsigned)owner, strerror(errno));
	else if ((st.st_mode & 077) != 0 && fchmod(fd, 0700) == -1)
		err_refuse(err, RUNDIR_ERROR_MAX, "run directory %s: cannot make it private: %s", dir,
		    strerror(errno));
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
		return err_refuse(err, RUNDIR_ERROR_MAX, "%s: %s", path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == -1) {
		const ssize_t n = read(fd, pid, sizeof(pid) - 1);

		err_refuse(err, RUNDIR_ERROR_MAX,
		    "%s: held by musterd with pid %ld; stop that one, or choose another folder with "
		    "--run-dir",
		    path, n > 0 ? strtol(pid, NULL, 10) : -1L);
		fd_close(&fd);
		return false;
	}
	const int n = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(fd, 0) == -1 || write(fd, pid, (size_t)n) != n) {
		err_refuse(err, RUNDIR_ERROR_MAX, "%s: cannot write our pid: %s", path, strerror(errno));
		fd_close(&fd);
		return false;
	}
	return true;
}

/* Landlock does not restrict chmod (measured): an actor that was taken over may have closed the folder. */
static int
open_folder(const char *path)
{
	static const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	const int fd = open(path, flags);

	return fd == -1 && errno == EACCES && chmod(path, 0700) == 0 ? open(path, flags) : fd;
}

static bool
make_private(int fd, uid_t owner, gid_t group)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		return false;
	return (st.st_uid == owner || fchown(fd, owner, group) == 0) && fchmod(fd, 0700) == 0;
}

/* Takes fd. What cannot be removed stays and is named: it is no reason not to start. */
static void
empty(int fd, const char *path)
{
	DIR *const folder = fdopendir(fd);
	const struct dirent *entry;

	if (folder == NULL) {
		log_warn("cannot empty the folder of an actor", KV_S(PATH, path));
		fd_close(&fd);
		return;
	}
	for (int i = 0; i < LEFTOVERS_MAX && (entry = readdir(folder)) != NULL; i++) {
		char left[RUNDIR_PATH_MAX + sizeof(entry->d_name)];

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		snprintf(left, sizeof(left), "%s/%s", path, entry->d_name);
		if (unlinkat(fd, entry->d_name, 0) == -1)
			log_warn("cannot remove what is left in the folder of an actor", KV_S(PATH, left));
	}
	closedir(folder);
}
