/*
 * actors/runtime/crash.c - writes a backtrace when a signal ends the actor; the supervisor logs it with
 * the death.
 */
#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "actor_private.h"
#include "obj.h"

/* Few enough that the ten lines that the supervisor keeps have the reason, too. */
enum { FRAMES = 9, STACK = 64 * 1024 };

static char handler_stack[STACK];

static void on_signal(int);

/*
 * Non-dumpable: no other process of this user may trace us or read our memory, where the credential
 * is. SIGABRT is the watchdog's: the backtrace shows where the loop was stuck. The handler has a
 * stack of its own, as the usual one may be what overflowed.
 */
void
crash_install(void)
{
#ifdef MUSTER_SANITIZE
	static const int signals[] = { SIGABRT };	/* the sanitizer reports the rest better */
#else
	static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
#endif
	void *frames[1];

	MUST(prctl(PR_SET_DUMPABLE, 0) == 0);
	MUST(setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 }) == 0);
	(void)backtrace(frames, 1);	/* loads what it needs now: a handler must not allocate */
	const stack_t stack = { .ss_sp = handler_stack, .ss_size = sizeof(handler_stack) };
	MUST(sigaltstack(&stack, NULL) == 0);
	for (size_t i = 0; i < NITEMS(signals); i++) {
		struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESETHAND };

		sigemptyset(&sa.sa_mask);
		MUST(sigaction(signals[i], &sa, NULL) == 0);
	}
}

static void
on_signal(int sig)
{
	static const char text[] = "crash: signal ";
	char number[] = { (char)('0' + sig / 10), (char)('0' + sig % 10), '\n' };
	void *frames[FRAMES];

	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)!write(STDERR_FILENO, number, sizeof(number));
	const int n = backtrace(frames, FRAMES);
	/* The first is this handler. */
	backtrace_symbols_fd(frames + 1, n > 1 ? n - 1 : 0, STDERR_FILENO);
	raise(sig);	/* SA_RESETHAND: now the default action, so the parent sees the signal */
}
