/*
 * actors/runtime/syscall_refuse.c - enters the filter, and logs what it refuses.
 *
 * A refused call raises SIGSYS in the thread that made it; the handler logs the call, which then
 * returns EPERM.
 *
 * The actor enters it and not its parent before exec, because then nothing has to be allowed that only
 * a start needs: not even execve. What runs before is our own code, without input from outside.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "actor_private.h"
#include "log.h"
#include "obj.h"
#include "syscall_filter.h"

enum { LOGGED_ALL = 64 };	/* so many refusals are each logged, then the 128th, 256th ... */

static atomic_uint refused;

static void on_refused(int, siginfo_t *, void *);
static void set_result(ucontext_t *, int);

void
syscall_refuse(unsigned sets)
{
	static struct sock_filter code[SYSCALL_FILTER_MAX];
	const struct sock_fprog program = {
		.len = (unsigned short)syscall_filter_make(code, sets, (uint32_t)getpid()), .filter = code,
	};
	struct sigaction sa = { .sa_sigaction = on_refused, .sa_flags = SA_SIGINFO | SA_RESTART };

#ifdef MUSTER_SANITIZE
	return;		/* LeakSanitizer traces all threads when a process ends */
#endif
	if (program.len == 0) {
		log_warnx("system calls are not restricted: there is no table of them for this machine");
		return;
	}
	sigemptyset(&sa.sa_mask);
	MUST(sigaction(SIGSYS, &sa, NULL) == 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1
	    || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == -1)
		fatal("cannot restrict the system calls",
		    KV_S(HINT, "supervisor.confine: landlock does without"));
}

unsigned
syscall_refused(void)
{
	return atomic_load(&refused);
}

/*
 * In place of the C library's. libzmq's threads block all signals, and a process in which SIGSYS is
 * blocked where it is raised ends without a word of which call it was. The two signals below 34 are the
 * C library's own and may never be blocked.
 */
int
pthread_sigmask(	/* NOLINT(readability-inconsistent-declaration-parameter-name): theirs are reserved */
    int how, const sigset_t *set, sigset_t *old)
{
	enum { CANCEL = 32, SET_IDS = 33, KERNEL_BYTES = 8 };
	static const int never_blocked[] = { SIGSYS, CANCEL, SET_IDS };
	uint64_t mask = 0;

	if (set != NULL) {
		for (int sig = 1; sig < NSIG; sig++)
			mask |= sigismember(set, sig) == 1 ? UINT64_C(1) << (sig - 1) : 0;
		for (size_t i = 0; how != SIG_UNBLOCK && i < NITEMS(never_blocked); i++)
			mask &= ~(UINT64_C(1) << (never_blocked[i] - 1));
	}
	if (old != NULL)
		sigemptyset(old);
	const int saved_errno = errno;
	const long rc = syscall(SYS_rt_sigprocmask, how, set != NULL ? &mask : NULL, old, KERNEL_BYTES);
	const int error = rc == -1 ? errno : 0;
	errno = saved_errno;
	return error;
}

/* Runs in the middle of anything: the line is made without allocation and without locks. */
static void
on_refused(int sig, siginfo_t *info, void *context)
{
	const char *const name = syscall_name(info->si_syscall);
	const unsigned count = atomic_fetch_add(&refused, 1) + 1;

	(void)sig;
	if (count <= LOGGED_ALL || (count & (count - 1)) == 0)
		log_in_handler(LEVEL_WARN, "refused a system call that this actor does not need",
		    LOG_KVS(KV_S(VALUE, name != NULL ? name : "?"), KV_I(CODE, info->si_syscall),
			KV_I(COUNT, count),
			KV_S(HINT, "if it happens in normal operation, report it with this line; "
				   "supervisor.confine: landlock allows all calls")));
	/* A library that tries a call of a newer kernel has another way when there is none. */
	set_result(context, name != NULL ? -EPERM : -ENOSYS);
}

static void
set_result(ucontext_t *context, int result)
{
#if defined(__x86_64__)
	context->uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
	context->uc_mcontext.regs[0] = (unsigned long long)result;
#else
	(void)context;
	(void)result;
#endif
}
