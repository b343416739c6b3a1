/* supervisor/act.c - performs the actions of the state machine on one child. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lifeline.h"
#include "obj.h"
#include "random.h"
#include "tree.h"

enum { ORPHANS_AGAIN_MS = 10 };

typedef void action(struct child *);
static action do_spawn, do_up, do_term, do_abort, do_kill;
static bool held(struct child *);
static bool open_pair(struct child *, int *, int *);
static void new_incarnation(struct child *);

static action *const actions[A_MAX] = {
	[A_SPAWN] = do_spawn, [A_UP] = do_up, [A_TERM] = do_term, [A_ABORT] = do_abort, [A_KILL] = do_kill,
	[A_BACKOFF] = NULL,	/* reap.c has set the deadline */
};

/* The stop reason of a child that is ended by this event. */
static const enum stop_reason stop_reason_of[EV_MAX] = {
	[EV_DEADLINE] = STOP_REASON_NOT_READY, [EV_BEATS_MISSED] = STOP_REASON_WATCHDOG,
	[EV_REPORTED] = STOP_REASON_REPORTED, [EV_REPORT_LIMIT] = STOP_REASON_REPORT_LIMIT,
	[EV_RESTART] = STOP_REASON_ORDERED, [EV_DISABLE] = STOP_REASON_ORDERED,
	[EV_STOP] = STOP_REASON_ORDERED, [EV_KILL_ALL] = STOP_REASON_ORDERED,
};

void
act_feed(struct child *ch, enum fsm_event e)
{
	const struct fsm_step step = fsm_step(ch->state, e);

	if (step.action == A_NONE && step.next == ST_SAME)
		return;
	if (step.next != ST_SAME && step.next != ch->state) {
		log_debug("state", KV_S(ACTOR, ch->name), KV_S(FROM, fsm_state_name(ch->state)),
		    KV_S(TO, fsm_state_name(step.next)));
		ch->state = step.next;
		ch->tree->changed = true;
		if (ch->state != ST_BACKOFF && !fsm_has_process(ch->state))
			ch->deadline_ms = 0;
	}
	if (e == EV_ENABLE)
		ch->settled = false;
	/* The first reason stays: a stop timeout is still a stop. */
	if (ch->stop_reason == STOP_REASON_NONE && fsm_has_process(ch->state))
		ch->stop_reason = stop_reason_of[e];
	if (actions[step.action] != NULL)
		actions[step.action](ch);
}

static void
do_spawn(struct child *ch)
{
	int lifeline_fd = -1, output_fd = -1;

	if (held(ch))
		return;
	new_incarnation(ch);
	/* The producers that it will connect to get its tokens before it exists. */
	peers_changed(ch);
	peers_flush_all(ch->tree);
	if (open_pair(ch, &lifeline_fd, &output_fd) && peers_boot(ch)
	    && child_spawn(ch, &ch->tree->deps, &lifeline_fd, &output_fd)) {
		log_info("actor started", KV_S(ACTOR, ch->name), KV_I(PID, ch->pid),
		    KV_I(INCARNATION, ch->incarnation), KV_I(STAGE, ch->row->stage));
		return;
	}
	const int saved_errno = errno;
	fd_close(&lifeline_fd);
	fd_close(&output_fd);
	reap_spawn_failed(ch, saved_errno);
}

/*
 * True: processes that some actor left behind are not gone yet, although they were killed; the start
 * is tried again soon. One that hangs in the kernel will never run again: after a while it is left.
 */
static bool
held(struct child *ch)
{
	const int64_t now_ms = ch->tree->now_ms;

	if (!reap_kill_orphans(ch->tree)) {
		ch->held_ms = 0;
		return false;
	}
	if (ch->held_ms == 0)
		ch->held_ms = now_ms;
	if (now_ms - ch->held_ms >= POLICY_ORPHANS_MS) {
		log_warnx("a process that an actor left behind survives SIGKILL; the actor starts beside it",
		    KV_S(ACTOR, ch->name), KV_I(DURATION_MS, now_ms - ch->held_ms));
		ch->held_ms = 0;
		return false;
	}
	ch->deadline_ms = now_ms + ORPHANS_AGAIN_MS;
	act_feed(ch, EV_DIED);
	return true;
}

static void
do_up(struct child *ch)
{
	ch->bound_ms = ch->beat_ms = ch->tree->now_ms;
	ch->deadline_ms = 0;
	ch->settled = true;
	log_info("actor is up", KV_S(ACTOR, ch->name), KV_I(PID, ch->pid), KV_I(INCARNATION, ch->incarnation),
	    KV_I(DURATION_MS, ch->bound_ms - ch->started_ms));
	peers_changed(ch);
}

static void
do_term(struct child *ch)
{
	const struct tree *const t = ch->tree;
	int64_t wait_ms = ch->row->stop_ms;

	if (t->stopping)
		wait_ms = policy_stop_ms(wait_ms, tree_later_ms(t, ch->row->stop_stage),
		    t->stop_by_ms - t->now_ms);
	lifeline_send(ch->lifeline.fd, "stop");		/* full: SIGTERM means the same */
	child_signal(ch, SIGTERM);
	ch->deadline_ms = t->now_ms + wait_ms;
}

static void
do_abort(struct child *ch)
{
	child_signal(ch, SIGABRT);
	ch->deadline_ms = ch->tree->now_ms + POLICY_ABORT_MS;
}

static void
do_kill(struct child *ch)
{
	log_warnx("killing actor", KV_S(ACTOR, ch->name), KV_I(PID, ch->pid),
	    KV_I(INCARNATION, ch->incarnation));
	child_kill(ch);
	ch->deadline_ms = ch->tree->now_ms + POLICY_KILL_MS;
}

/* Ours are in the loop and in ch; the other ends are for the child. */
static bool
open_pair(struct child *ch, int *lifeline_fd, int *output_fd)
{
	int pair[2], out[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1)
		return false;
	*lifeline_fd = pair[1];
	if (!watch_open(&ch->lifeline, ch->tree->epoll_fd, pair[0], EPOLLIN, lifeline_in_ready, ch))
		return false;
	if (pipe2(out, O_CLOEXEC) == -1)
		return false;
	*output_fd = out[1];
	if (fcntl(out[0], F_SETFL, O_NONBLOCK) == -1) {
		fd_close(&out[0]);
		return false;
	}
	return logpipe_open(&ch->log, ch->tree->epoll_fd, out[0]);
}

static void
new_incarnation(struct child *ch)
{
	ch->incarnation++;
	peers_mint(ch);
	ch->started_ms = ch->tree->now_ms;
	ch->deadline_ms = ch->started_ms + ch->row->ready_ms;
	ch->bound_ms = ch->beat_ms = 0;
	ch->stop_reason = STOP_REASON_NONE;
	ch->synced = ch->extended = ch->restart_due = false;
	ch->mailbox = 0;
	ch->status[0] = '\0';
	ch->bad_records = 0;
	ch->peers_dirty = 0;
	ch->level_dirty = false;
}
