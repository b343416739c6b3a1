/*
 * supervisor/loop.c - one thread, one epoll: signals, lifelines, logs, control socket, deadlines.
 *
 * Never: block anywhere but in epoll_wait, or touch what actors exchange among themselves
 * (docs/supervision.md).
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "obj.h"
#include "log_writer.h"
#include "sdnotify.h"
#include "tree.h"

enum { EVENTS = 64, LOG_LATE_MS = 1000 };

static void on_signal(void *, uint32_t);
typedef void signal_fn(struct tree *, int);
static signal_fn on_stop_signal, on_hup, on_child;
static int64_t next_ms(const struct tree *);
static void wake(struct tree *, int64_t);
static void watchdog(struct tree *);

static const struct {
	int		 sig;
	signal_fn	*handle;
} signals[] = {
	{ SIGTERM, on_stop_signal },
	{ SIGINT,  on_stop_signal },
	{ SIGHUP,  on_hup },
	{ SIGCHLD, on_child },
};

static struct watch signal_watch = { .fd = -1, .epoll_fd = -1 };
static int64_t watchdog_sent_ms;

void
loop_block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NITEMS(signals); i++) {
		sigaddset(&set, signals[i].sig);
		/*
		 * What our parent ignored (nohup does) would never reach signalfd, nor would the
		 * dead wait for us.
		 */
		signal(signals[i].sig, SIG_DFL);
	}
	MUST(sigprocmask(SIG_SETMASK, &set, NULL) == 0);
	signal(SIGPIPE, SIG_IGN);
}

int
loop_run(struct tree *t)
{
	struct epoll_event events[EVENTS];
	sigset_t set;

	MUST(sigprocmask(SIG_SETMASK, NULL, &set) == 0);
	if (!watch_open(&signal_watch, t->epoll_fd, signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC),
		EPOLLIN, on_signal, t))
		fatal("cannot read signals");
	tree_start(t);
	tree_advance(t);
	while (!tree_done(t)) {
		log_writer_flush();
		const int64_t planned_ms = next_ms(t);
		const int64_t wait_ms = planned_ms - clock_mono_ms();
		const int n = epoll_wait(t->epoll_fd, events, EVENTS, wait_ms > 0 ? (int)wait_ms : 0);

		wake(t, planned_ms);
		for (int i = 0; i < n; i++) {
			const struct watch *const w = events[i].data.ptr;

			if (w->fd != -1)
				w->ready(w->arg, events[i].events);
		}
		tree_judge(t);
		tree_advance(t);
		control_expire(t->now_ms);
		watchdog(t);
		log_flush();
	}
	watch_close(&signal_watch);
	return tree_exit_code(t);
}

static int64_t
next_ms(const struct tree *t)
{
	int64_t next = earlier(tree_next_ms(t), control_next_ms());

	if (sdnotify_watchdog_ms() > 0)
		next = earlier(next, watchdog_sent_ms + sdnotify_watchdog_ms());
	return next;
}

/* The time in which musterd was stopped, or had no processor, must not count against an actor. */
static void
wake(struct tree *t, int64_t planned_ms)
{
	const int64_t now_ms = clock_mono_ms();
	const int64_t late_ms = policy_lateness(planned_ms > t->now_ms ? planned_ms : t->now_ms, now_ms);

	t->now_ms = now_ms;
	if (late_ms == 0)
		return;
	if (late_ms >= LOG_LATE_MS)
		log_warnx("the loop ran late; every deadline is moved by the delay",
		    KV_I(DURATION_MS, late_ms));
	tree_rearm(t, late_ms);
}

/* Like the actors' own beat: sent by the loop after a full turn, and from nowhere else. */
static void
watchdog(struct tree *t)
{
	if (sdnotify_watchdog_ms() == 0 || t->now_ms - watchdog_sent_ms < sdnotify_watchdog_ms())
		return;
	sdnotify("WATCHDOG=1");
	watchdog_sent_ms = t->now_ms;
}

static void
on_signal(void *arg, uint32_t events)
{
	struct tree *const t = arg;
	struct signalfd_siginfo si;

	(void)events;
	while (read(signal_watch.fd, &si, sizeof(si)) == sizeof(si)) {
		for (size_t i = 0; i < NITEMS(signals); i++) {
			if (signals[i].sig == (int)si.ssi_signo)
				signals[i].handle(t, signals[i].sig);
		}
	}
}

static void
on_stop_signal(struct tree *t, int sig)
{
	tree_stop(t, 0, sig == SIGTERM ? "SIGTERM" : "SIGINT");
}

static void
on_hup(struct tree *t, int sig)
{
	(void)sig;
	reload(t);
}

static void
on_child(struct tree *t, int sig)
{
	(void)sig;
	reap_children(t);
}
