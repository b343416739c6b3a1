/*
 * kube/exec_plugin_helper.c - the helper process: waits for an order, runs the plugin, sends its
 * output.
 *
 * Forked from a process of one thread, so everything is allowed in it; but it never returns into
 * the actor's code and ends by _exit. Never: a descriptor of the actor's, or a log line (its stderr
 * is the actor's).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "exec_plugin.h"
#include "exec_plugin_private.h"
#include "obj.h"

enum { STDERR_KEPT = 1024, LINE_SHOWN = 240 };

/* One run. */
struct plugin_run {
	const struct exec_run	*run;
	int			 out, err, status;	/* read ends; status: errno of a failed exec */
	pid_t			 pid;
	int64_t			 deadline_ms;
	char			*text;			/* what it printed */
	size_t			 text_len;
	char			 last[STDERR_KEPT + 1];	/* the end of its stderr */
	size_t			 last_len;
	bool			 exited, too_much, late;
	int			 wait_status;
};

static int settle(int, pid_t);
static void serve(const struct exec_run *, int, int);
static bool start(struct plugin_run *);
static _Noreturn void exec_command(const struct exec_run *, pid_t, int, int, int);
static void follow(struct plugin_run *, int, int);
static void take_output(struct plugin_run *);
static void take_errors(struct plugin_run *);
static void finish(struct plugin_run *);
static void send_result(struct plugin_run *, int);
static const char *last_line(struct plugin_run *);
static void fail(int, const char *, ...) __attribute__((format(printf, 2, 3)));
static void answer(int, bool, const char *, size_t);

_Noreturn void
exec_helper(const struct exec_run *run, int fd, pid_t parent)
{
	const int children = settle(fd, parent);
	char order;

	while (recv(fd, &order, 1, 0) == 1)
		serve(run, fd, children);
	_exit(0);
}

/* A descriptor for SIGCHLD. Other signals are for the actor, which closes our socket when it ends. */
static int
settle(int fd, pid_t parent)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2 };
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t child;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parent || null == -1)
		_exit(1);
	prctl(PR_SET_NAME, "muster-exec");
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	for (size_t i = 0; i < NITEMS(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_SETMASK, &child, NULL);
	if (dup2(null, STDIN_FILENO) == -1 || dup2(null, STDOUT_FILENO) == -1)
		_exit(1);
	if ((fd > 3 && close_range(3, (unsigned)fd - 1, 0) == -1)
	    || close_range((unsigned)fd + 1, ~0U, 0) == -1)
		_exit(1);
	const int children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (children == -1)
		_exit(1);
	return children;
}

static void
serve(const struct exec_run *run, int fd, int children)
{
	struct plugin_run j = { .run = run, .out = -1, .err = -1, .status = -1,
		.deadline_ms = clock_mono_ms() + run->timeout_ms };

	j.text = obj_alloc(EXEC_PLUGIN_OUTPUT_MAX + 1);
	if (start(&j)) {
		follow(&j, fd, children);
		finish(&j);
		send_result(&j, fd);
	} else {
		fail(fd, "cannot be started: %s", strerror(errno));
	}
	const int fds[] = { j.out, j.err, j.status };
	for (size_t i = 0; i < NITEMS(fds); i++) {
		if (fds[i] != -1)
			close(fds[i]);
	}
	explicit_bzero(j.text, j.text_len);
	free(j.text);
}

static bool
start(struct plugin_run *j)
{
	const pid_t helper = getpid();
	int ends[3][2];

	for (size_t i = 0; i < NITEMS(ends); i++) {
		if (pipe2(ends[i], O_CLOEXEC) == -1) {
			while (i-- > 0) {
				close(ends[i][0]);
				close(ends[i][1]);
			}
			return false;
		}
	}
	j->pid = fork();
	if (j->pid == 0)
		exec_command(j->run, helper, ends[0][1], ends[1][1], ends[2][1]);
	const int saved_errno = errno;
	for (size_t i = 0; i < NITEMS(ends); i++)
		close(ends[i][1]);
	j->out = ends[0][0];
	j->err = ends[1][0];
	j->status = ends[2][0];
	fcntl(j->out, F_SETFL, O_NONBLOCK);
	fcntl(j->err, F_SETFL, O_NONBLOCK);
	errno = saved_errno;
	return j->pid > 0;
}

/* In the plugin's process, before it is the plugin. */
static _Noreturn void
exec_command(const struct exec_run *run, pid_t helper, int out, int err, int status)
{
	sigset_t none;

	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != helper)
		_exit(1);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* stdin is /dev/null already; all of ours close themselves at exec */
	if (dup2(out, STDOUT_FILENO) != -1 && dup2(err, STDERR_FILENO) != -1)
		execvpe(run->command, run->argv, run->envp);
	const int why = errno;
	_exit(write(status, &why, sizeof(why)) == sizeof(why) ? 127 : 126);
}

/* Until it has ended, prints too much, takes too long, or the actor has ended. */
static void
follow(struct plugin_run *j, int fd, int children)
{
	enum { OUT, ERR, CHILD, ACTOR, ALL };
	struct signalfd_siginfo info;

	while (!j->exited && !j->too_much && !j->late) {
		struct pollfd p[ALL] = {
			[OUT] = { .fd = j->out, .events = POLLIN },
			[ERR] = { .fd = j->err, .events = POLLIN },
			[CHILD] = { .fd = children, .events = POLLIN },
			[ACTOR] = { .fd = fd, .events = 0 },
		};
		const int64_t left_ms = j->deadline_ms - clock_mono_ms();

		if (poll(p, ALL, left_ms < 0 ? 0 : (int)left_ms) == -1 && errno != EINTR)
			_exit(1);
		if (p[ACTOR].revents & (POLLHUP | POLLERR)) {
			kill(-j->pid, SIGKILL);
			_exit(0);
		}
		if (p[OUT].revents)
			take_output(j);
		if (p[ERR].revents)
			take_errors(j);
		if (p[CHILD].revents && read(children, &info, sizeof(info)) > 0)
			j->exited = waitpid(j->pid, &j->wait_status, WNOHANG) == j->pid;
		j->late = !j->exited && clock_mono_ms() >= j->deadline_ms;
	}
}

/* A closed end is not polled any more: its place holds -1. */
static void
take_output(struct plugin_run *j)
{
	ssize_t n;

	while ((n = read(j->out, j->text + j->text_len, EXEC_PLUGIN_OUTPUT_MAX + 1 - j->text_len)) > 0) {
		j->text_len += (size_t)n;
		if (j->text_len > EXEC_PLUGIN_OUTPUT_MAX) {
			j->too_much = true;
			return;
		}
	}
	if (n == 0) {
		close(j->out);
		j->out = -1;
	}
}

static void
take_errors(struct plugin_run *j)
{
	char chunk[STDERR_KEPT / 2];
	ssize_t n;

	while ((n = read(j->err, chunk, sizeof(chunk))) > 0) {
		if (j->last_len + (size_t)n > STDERR_KEPT) {
			const size_t drop = j->last_len + (size_t)n - STDERR_KEPT;

			memmove(j->last, j->last + drop, j->last_len - drop);
			j->last_len -= drop;
		}
		memcpy(j->last + j->last_len, chunk, (size_t)n);
		j->last_len += (size_t)n;
	}
	if (n == 0) {
		close(j->err);
		j->err = -1;
	}
}

static void
finish(struct plugin_run *j)
{
	if (!j->exited) {
		kill(-j->pid, SIGKILL);
		kill(j->pid, SIGKILL);		/* it may not have a group of its own yet */
		while (waitpid(j->pid, &j->wait_status, 0) == -1 && errno == EINTR)
			;
	}
	if (j->out != -1 && !j->too_much)
		take_output(j);
	if (j->err != -1)
		take_errors(j);
}

static void
send_result(struct plugin_run *j, int fd)
{
	const char *const words = last_line(j);
	const char *const colon = words[0] == '\0' ? "" : ": ";
	const char *const hint = j->run->hint == NULL ? "" : j->run->hint;
	int why = 0;

	if (read(j->status, &why, sizeof(why)) == sizeof(why))
		fail(fd, "%s%s%s", why == ENOENT ? "not found" : strerror(why),
		    hint[0] == '\0' ? "" : "; ", hint);
	else if (j->late)
		fail(fd, "no answer within %lld ms%s%s", (long long)j->run->timeout_ms, colon, words);
	else if (j->too_much)
		fail(fd, "it printed more than %d bytes", EXEC_PLUGIN_OUTPUT_MAX);
	else if (WIFSIGNALED(j->wait_status))
		fail(fd, "killed by SIG%s%s%s", sigabbrev_np(WTERMSIG(j->wait_status)), colon, words);
	else if (WEXITSTATUS(j->wait_status) != 0)
		fail(fd, "exit %d%s%s", WEXITSTATUS(j->wait_status), colon, words);
	else
		answer(fd, false, j->text, j->text_len);
}

/* Of stderr, what is not blank, as printable ASCII. */
static const char *
last_line(struct plugin_run *j)
{
	char *end = j->last + j->last_len;

	while (end > j->last && strchr(" \t\r\n", end[-1]) != NULL)
		end--;
	*end = '\0';
	char *line = memrchr(j->last, '\n', (size_t)(end - j->last));
	line = line == NULL ? j->last : line + 1;
	for (char *c = line; c < end; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	if (end - line > LINE_SHOWN)
		line[LINE_SHOWN] = '\0';
	return line;
}

static void
fail(int fd, const char *fmt, ...)
{
	char text[EXEC_PLUGIN_ERROR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	answer(fd, true, text, strlen(text));
}

static void
answer(int fd, bool failed, const char *text, size_t len)
{
	const struct exec_head head = { .failed = failed, .len = (uint32_t)len };
	const struct {
		const void	*data;
		size_t		 len;
	} parts[] = { { &head, sizeof(head) }, { text, len } };

	for (size_t i = 0; i < NITEMS(parts); i++) {
		for (size_t at = 0; at < parts[i].len;) {
			const ssize_t n = send(fd, (const char *)parts[i].data + at, parts[i].len - at,
			    MSG_NOSIGNAL);

			if (n == -1 && errno != EINTR)
				_exit(0);
			at += n > 0 ? (size_t)n : 0;
		}
	}
}
