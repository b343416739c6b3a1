/*
 * supervisor/confine.c - Landlock: an actor can open its program, its libraries, a few system
 * files, its own folder in the run directory and its own credentials. Nothing else exists for it.
 * From version 4 on it can use no TCP but what its row names. And the sets of system calls that
 * follow from a row: the actor itself gives up the rest (actors/runtime/syscall_refuse.c).
 *
 * This is what makes "one credential per process" true: all actors run as one user, so file modes
 * cannot separate them. The rules are made by the parent; the child only enters them, which needs
 * no allocation between fork and exec.
 *
 * Up to version 8 Landlock does not judge connecting to a socket in the file system, so no rule
 * is needed to reach the peers'; making one in their place it does judge. It never judges chmod.
 */
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "environment.h"
#include "lifeline.h"
#include "log.h"
#include "obj.h"
#include "watch.h"

/* Later than the header of Debian 12; the numbers are the kernel's for ever. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE	(1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV	(1ULL << 15)
#endif
#define NET_BIND_TCP			(1ULL << 0)
#define NET_CONNECT_TCP			(1ULL << 1)
#define SCOPE_ABSTRACT_UNIX_SOCKET	(1ULL << 0)
#define SCOPE_SIGNAL			(1ULL << 1)

#define FS_READ		(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_RUN		(FS_READ | LANDLOCK_ACCESS_FS_EXECUTE)
#define FS_DEVICE	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE)
#define FS_WRITE	(FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE		\
			 | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE			\
			 | LANDLOCK_ACCESS_FS_REFER)
#define FS_FOLDER	(FS_WRITE | LANDLOCK_ACCESS_FS_MAKE_SOCK)
/* What a rule on a file, not a folder, may name. */
#define FS_OF_FILE	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE			\
			 | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_TRUNCATE			\
			 | LANDLOCK_ACCESS_FS_IOCTL_DEV)
#define FS_VERSION_1	((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

/* What every actor may open. Not all of /etc: that is where other people's secrets are. */
static const struct {
	const char	*path;
	uint64_t	 access;
} common[] = {
	{ "/lib",                      FS_RUN },
	{ "/lib64",                    FS_RUN },
	{ "/usr/lib",                  FS_RUN },
	{ "/usr/lib64",                FS_RUN },
	{ "/usr/local/lib",            FS_RUN },
	{ "/etc/ld.so.cache",          FS_READ },
	{ "/etc/ld.so.preload",        FS_READ },
	{ "/etc/resolv.conf",          FS_READ },
	{ "/etc/hosts",                FS_READ },
	{ "/etc/host.conf",            FS_READ },
	{ "/etc/nsswitch.conf",        FS_READ },
	{ "/etc/gai.conf",             FS_READ },
	{ "/etc/services",             FS_READ },
	{ "/etc/protocols",            FS_READ },
	{ "/etc/localtime",            FS_READ },
	{ "/usr/share/zoneinfo",       FS_READ },
	{ "/etc/ssl/openssl.cnf",      FS_READ },
	{ "/etc/ssl/certs",            FS_READ },
	{ "/etc/pki/tls/certs",        FS_READ },
	{ "/etc/pki/ca-trust",         FS_READ },
	{ "/usr/share/ca-certificates", FS_READ },
	{ "/usr/local/share/ca-certificates", FS_READ },
	{ "/proc",                     FS_READ },
	{ "/sys/devices/system/cpu",   FS_READ },
	{ "/dev/null",                 FS_DEVICE },
	{ "/dev/zero",                 FS_READ },
	{ "/dev/urandom",              FS_READ },
#ifdef MUSTER_COVERAGE_DIR
	/* gcov writes beside the objects */
	{ MUSTER_COVERAGE_DIR,         FS_WRITE | LANDLOCK_ACCESS_FS_MAKE_DIR },
#endif
};

static bool allow(int, const char *, uint64_t, uint64_t);

int
confine_version(void)
{
	const long v = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return v > 0 ? (int)v : 0;
}

struct confine_handled
confine_handled(int version, enum tcp tcp, size_t *size)
{
	struct confine_handled h = { .fs = FS_VERSION_1 };

	*size = version >= 6 ? sizeof(h) : version >= 4 ? offsetof(struct confine_handled, scoped)
							: sizeof(h.fs);
	if (version >= 2)
		h.fs |= LANDLOCK_ACCESS_FS_REFER;
	if (version >= 3)
		h.fs |= LANDLOCK_ACCESS_FS_TRUNCATE;
	if (version >= 4)
		h.net = ((tcp & TCP_BIND) != 0 ? 0 : NET_BIND_TCP)
		    | ((tcp & TCP_CONNECT) != 0 ? 0 : NET_CONNECT_TCP);
	if (version >= 5)
		h.fs |= LANDLOCK_ACCESS_FS_IOCTL_DEV;
	/* No actor can signal another one. */
	if (version >= 6)
		h.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
	return h;
}

bool
confine_syscalls(void)
{
	const uint32_t action = SECCOMP_RET_TRAP;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

unsigned
confine_syscall_sets(const struct child_row *row)
{
	return SYSCALL_SET_OWN | ((row->tcp & TCP_CONNECT) != 0 ? SYSCALL_SET_CONNECT : 0u)
	    | ((row->tcp & TCP_BIND) != 0 ? SYSCALL_SET_BIND : 0u) | (row->cluster ? SYSCALL_SET_HELPER : 0u);
}

int
confine_rules(const struct child_row *row, const struct child_spec *spec, const char *folder)
{
	size_t size;
	const struct confine_handled attr = confine_handled(confine_version(), row->tcp, &size);
	const uint64_t fs = attr.fs;
	int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);

	if (fd == -1)
		return -1;
	bool ok = true;
	for (size_t i = 0; i < NITEMS(common); i++)
		ok &= allow(fd, common[i].path, common[i].access, fs);
	const struct variable *v;
	const char *path;
	for (size_t at = 0; (path = environment_next(VARIABLE_PATH, row, &at, &v)) != NULL;)
		ok &= allow(fd, path, FS_READ, fs);
	ok &= allow(fd, spec->program, FS_RUN, fs) && allow(fd, folder, FS_FOLDER, fs);
	for (const struct spec_path *p = spec->paths; p < spec->paths + spec->npaths; p++)
		ok &= allow(fd, p->dir, p->write ? FS_WRITE : p->run ? FS_RUN : FS_READ, fs);
	if (!ok)
		fd_close(&fd);
	return fd;
}

int
confine_enter(int rules_fd)
{
	return (int)syscall(SYS_landlock_restrict_self, rules_fd, 0);
}

/* A path that does not exist needs no rule; a symbolic link means what it points to. */
static bool
allow(int rules_fd, const char *path, uint64_t access, uint64_t known)
{
	struct stat st;
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd == -1)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
	bool ok = fstat(fd, &st) == 0;
	if (ok) {
		const struct landlock_path_beneath_attr rule = {
			.allowed_access = access & known & (S_ISDIR(st.st_mode) ? UINT64_MAX : FS_OF_FILE),
			.parent_fd = fd,
		};

		ok = syscall(SYS_landlock_add_rule, rules_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
	}
	if (!ok)
		log_warn("cannot make a confinement rule", KV_S(PATH, path));
	fd_close(&fd);
	return ok;
}
