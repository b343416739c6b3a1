/*
 * supervisor/child.c - fork, exec, kill.
 *
 * Never, between fork and exec: anything but async-signal-safe calls. Everything that allocates,
 * opens or decides is prepared by the parent in struct launch.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine.h"
#include "environment.h"
#include "err.h"
#include "lifeline.h"
#include "obj.h"
#include "rundir.h"

enum {
	STACK_BYTES = 512 * 1024,	/* of every thread too: libcurl and libzmq start some */
	FILES       = 16384,
	/*
	 * RLIMIT_NPROC counts every thread and process of the real user on this machine, not those of
	 * one actor: TASKS_OF_OTHERS is room for the other actors, and for what else a person runs who
	 * starts musterd without a user of its own. CHILD_TASKS is plenty for the threads of libzmq and
	 * of libcurl's resolver; the row of an actor that starts programs has more. It ends a fork bomb
	 * long before the machine has no process number left. The kernel exempts root.
	 */
	TASKS_OF_OTHERS = 4096,
	CHILD_TASKS     = 64,
};

struct launch {
	const char			*program;
	char				*argv[3];
	const struct child_deps	*deps;
	char				**environment;
	int				 lifeline_fd, output_fd, rules_fd;
	struct rlimit			 data, stack, core, files, tasks;
	bool				 limit_memory;
	pid_t				 parent;
};

static _Noreturn void exec_actor(const struct launch *);
static void reset_signals(void);
static bool set_descriptors(const struct launch *);
static bool set_limits(const struct launch *);
static bool set_user(const struct child_deps *);
static void drop_bounding_set(void);
static bool drop_capabilities(void);
static _Noreturn void exit_failed(const char *);
static struct rlimit file_limit(void);
static struct rlimit task_limit(const struct child_row *);

bool
child_spawn(struct child *ch, const struct child_deps *g, int *lifeline_fd, int *output_fd)
{
	struct launch l = {
		.program = ch->spec->program,
		.argv = { (char *)(uintptr_t)ch->row->program, (char *)(uintptr_t)ch->name, NULL },
		.deps = g,
		.environment = environment_make(ch->row),
		.lifeline_fd = *lifeline_fd, .output_fd = *output_fd, .rules_fd = -1,
		.data = { ch->spec->data_limit, ch->spec->data_limit },
		.stack = { STACK_BYTES, STACK_BYTES },
		.files = file_limit(),
		.tasks = task_limit(ch->row),
#ifdef MUSTER_SANITIZE
		.limit_memory = false,	/* AddressSanitizer's shadow memory fits no limit */
#else
		.limit_memory = true,
#endif
		.parent = getpid(),
	};
	char folder[RUNDIR_PATH_MAX];
	pid_t pid = -1;

	if (!rundir_folder(folder, g->run_dir, ch->name, g->change_user ? g->uid : geteuid(), g->gid))
		goto out;
	if (g->confine && (l.rules_fd = confine_rules(ch->row, ch->spec, folder)) == -1)
		goto out;
	pid = fork();
	if (pid == 0)
		exec_actor(&l);
	if (pid > 0)
		ch->pid = pid;
out:;
	const int saved_errno = errno;
	environment_free(l.environment);
	fd_close(&l.rules_fd);
	fd_close(lifeline_fd);
	fd_close(output_fd);
	errno = saved_errno;
	return pid > 0;
}

void
child_signal(const struct child *ch, int sig)
{
	if (ch->pid > 0)
		kill(ch->pid, sig);
}

/*
 * Not reaped yet, so neither the pid nor the group can be anyone else's. Before setsid there is
 * only the process.
 */
void
child_kill(const struct child *ch)
{
	if (ch->pid <= 0)
		return;
	kill(-ch->pid, SIGKILL);
	kill(ch->pid, SIGKILL);
}

int
child_open_error(const struct child_deps *g, const char *file)
{
	struct stat st;
	int status;
	const pid_t pid = fork();

	if (pid == -1)
		return errno;
	if (pid == 0) {
		if (!set_user(g) || !drop_capabilities())
			_exit(errno);
		const int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd == -1 || fstat(fd, &st) == -1)
			_exit(errno);
		_exit(S_ISDIR(st.st_mode) ? EISDIR : 0);
	}
	while (waitpid(pid, &status, 0) == -1) {
		if (errno != EINTR)
			return errno;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int64_t
child_rss_kib(const struct child *ch)
{
	char path[32], text[128];
	long pages = 0;

	if (ch->pid <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/statm", (int)ch->pid);
	fd_read_file(path, text, sizeof(text));
	if (sscanf(text, "%*s %ld", &pages) != 1)
		return 0;
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/*
 * In the child. The parent may die at any point: then the death signal is set too late, and getppid
 * shows it.
 */
static _Noreturn void
exec_actor(const struct launch *l)
{
	setsid();
	reset_signals();
	if (!set_descriptors(l))
		exit_failed("descriptors");
	if (!set_limits(l))
		exit_failed("limits");
	drop_bounding_set();
	if (!set_user(l->deps))
		exit_failed("user");
	if (!drop_capabilities())
		exit_failed("capabilities");
	/* After the change of user, which clears it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1)
		exit_failed("PDEATHSIG");
	if (getppid() != l->parent)
		_exit(EXIT_TRANSIENT);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		exit_failed("no_new_privs");
	if (l->rules_fd != -1 && confine_enter(l->rules_fd) == -1)
		exit_failed("Landlock");
	if (close_range(LIFELINE_FD + 1, ~0U, 0) == -1)
		exit_failed("close_range");
	execve(l->program, l->argv, l->environment);
	exit_failed("exec");
}

/* Both survive exec (measured: a blocked SIGTERM too). */
static void
reset_signals(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &dfl, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Ours are all above 3: main.c sees to it that 0 to 3 are taken. */
static bool
set_descriptors(const struct launch *l)
{
	return dup2(l->deps->null_fd, STDIN_FILENO) != -1
	    && dup2(l->output_fd, STDOUT_FILENO) != -1
	    && dup2(l->output_fd, STDERR_FILENO) != -1
	    && dup2(l->lifeline_fd, LIFELINE_FD) != -1;
}

/* No core file: it would hold secrets. */
static bool
set_limits(const struct launch *l)
{
	if (setrlimit(RLIMIT_CORE, &l->core) == -1 || setrlimit(RLIMIT_NOFILE, &l->files) == -1
	    || setrlimit(RLIMIT_NPROC, &l->tasks) == -1)
		return false;
	return !l->limit_memory
	    || (setrlimit(RLIMIT_STACK, &l->stack) == 0 && setrlimit(RLIMIT_DATA, &l->data) == 0);
}

static bool
set_user(const struct child_deps *g)
{
	return !g->change_user
	    || (setgroups(0, NULL) == 0 && setresgid(g->gid, g->gid, g->gid) == 0
		&& setresuid(g->uid, g->uid, g->uid) == 0);
}

/*
 * While it still is root: this needs CAP_SETPCAP. Without that it fails, and no_new_privs keeps exec
 * from giving root back what drop_capabilities takes.
 */
static void
drop_bounding_set(void)
{
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) != -1; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

/* All of them, whoever we are: root without capabilities is a user who owns root's files. */
static bool
drop_capabilities(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0
	    && syscall(SYS_capset, &head, none) == 0;
}

#define PART(s)	{ .iov_base = (void *)(uintptr_t)(s), .iov_len = strlen(s) }

/* Goes through the child's own pipe, so it is among the last lines that are logged of it. */
static _Noreturn void
exit_failed(const char *step)
{
	const char *const name = strerrorname_np(errno), *const error = name != NULL ? name : "?";
	const struct iovec parts[] = {
		PART("cannot start the actor: "), PART(step), PART(": "), PART(error), PART("\n"),
	};

	(void)!writev(STDERR_FILENO, parts, NITEMS(parts));
	_exit(EXIT_TRANSIENT);
}

/* libzmq aborts the process when accept runs out of descriptors (measured): raise what we may. */
static struct rlimit
file_limit(void)
{
	struct rlimit r;

	MUST(getrlimit(RLIMIT_NOFILE, &r) == 0);
	if (r.rlim_cur < FILES)
		r.rlim_cur = r.rlim_max < FILES ? r.rlim_max : FILES;
	return r;
}

static struct rlimit
task_limit(const struct child_row *row)
{
	struct rlimit r;

	MUST(getrlimit(RLIMIT_NPROC, &r) == 0);
	const rlim_t tasks = TASKS_OF_OTHERS + (row->tasks != 0 ? row->tasks : CHILD_TASKS);
	if (r.rlim_max > tasks)
		r.rlim_max = tasks;
	r.rlim_cur = r.rlim_max;
	return r;
}
