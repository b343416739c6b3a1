/* supervisor/reap.c - reaps children, finds and logs the cause, applies what policy decides. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "obj.h"
#include "tree.h"

enum { SWEEPS = 50, SWEEP_MS = 10 };

static struct child *child_of(struct tree *, pid_t);
static void record_exit(struct child *, const siginfo_t *);
static void decide(struct child *, enum cause, bool);
static void describe(char[32], enum cause, const siginfo_t *);
static void release_process(struct child *);

static const enum fsm_event event_of[] = {
	[VERDICT_RESTART] = EV_DIED, [VERDICT_STAY_STOPPED] = EV_GONE, [VERDICT_FAILED] = EV_REFUSED,
};

/*
 * Until there is none: signals merge. waitid first, reap later: while the dead process keeps its
 * pid, no other group can have that number, and what is left of its own group is killed. Orphans of actors
 * come to us (PID 1, or subreaper).
 */
void
reap_children(struct tree *t)
{
	siginfo_t si = { .si_pid = 0 };

	while (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && si.si_pid != 0) {
		const pid_t pid = si.si_pid;
		struct child *const ch = child_of(t, pid);

		if (ch != NULL)
			child_kill(ch);
		while (waitpid(pid, NULL, WNOHANG) == -1 && errno == EINTR)
			;
		if (ch != NULL) {
			reap_kill_orphans(t);
			record_exit(ch, &si);
		} else {
			log_debug("reaped an orphan", KV_I(PID, pid));
		}
		si.si_pid = 0;
	}
}

void
reap_spawn_failed(struct child *ch, int errnum)
{
	release_process(ch);
	ch->deaths++;
	snprintf(ch->last_exit, sizeof(ch->last_exit), "spawn");
	ch->last_output[0] = '\0';
	errno = errnum;
	log_warn("cannot start actor", KV_S(ACTOR, ch->name), KV_I(INCARNATION, ch->incarnation));
	decide(ch, CAUSE_SPAWN, false);
}

/*
 * Grandchildren that left their group: with us gone they would run on, unless we are PID 1. Each
 * round may bring up the next generation, which falls to us when its parent dies.
 */
void
reap_all_orphans(struct tree *t)
{
	for (int i = 0; i < SWEEPS && reap_kill_orphans(t); i++) {
		poll(NULL, 0, SWEEP_MS);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

/* Those of one that had children of its own are found when it is called again. */
bool
reap_kill_orphans(struct tree *t)
{
	char path[64], text[4096], *save = NULL;
	bool any = false;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	fd_read_file(path, text, sizeof(text));
	for (const char *word = strtok_r(text, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
		const pid_t pid = (pid_t)strtol(word, NULL, 10);

		if (pid > 1 && child_of(t, pid) == NULL) {
			kill(pid, SIGKILL);
			any = true;
		}
	}
	return any;
}

static struct child *
child_of(struct tree *t, pid_t pid)
{
	TREE_EACH(t, ch) {
		if (ch->pid == pid)
			return ch;
	}
	return NULL;
}

/*
 * The records that it sent before it died still count: `bound` for the time it was ready, its last lines for
 * the cause.
 */
static void
record_exit(struct child *ch, const siginfo_t *si)
{
	lifeline_in_drain(ch);
	logpipe_finish(&ch->log);
	const struct ending end = {
		.stop_reason = ch->stop_reason, .exited = si->si_code == CLD_EXITED, .code = si->si_status,
		.out_of_memory = logpipe_out_of_memory(&ch->log),
	};
	const enum cause cause = policy_cause(&end);

	describe(ch->last_exit, cause, si);
	ch->last_output[0] = '\0';
	if (policy_cause_is_death(cause)) {
		ch->deaths++;
		logpipe_last_output(&ch->log, ch->last_output);
	}
	release_process(ch);
	decide(ch, cause, end.exited && end.code == 0);
}

static void
decide(struct child *ch, enum cause cause, bool clean)
{
	struct tree *const t = ch->tree;
	const int64_t uptime_ms = t->now_ms - ch->started_ms;
	const struct life life = {
		.core = ch->row->core, .restart = ch->row->restart, .cause = cause, .clean = clean,
		.ready_ms = ch->bound_ms != 0 ? t->now_ms - ch->bound_ms : 0, .tree_stopping = t->stopping,
	};
	const struct verdict v = policy_death(&ch->policy, &life, t->now_ms, &t->random);

	if (policy_cause_is_death(cause)) {
		tally_add(&t->tally, &(struct death){ .role = ch->row->role, .incarnation = ch->incarnation,
		    .cause = cause, .at_ms = t->now_ms, .uptime_ms = uptime_ms });
		log_warnx("actor died", KV_S(ACTOR, ch->name), KV_I(INCARNATION, ch->incarnation),
		    KV_I(UPTIME_MS, uptime_ms), KV_S(CAUSE, ch->last_exit), KV_S(WHY, v.why),
		    KV_I(NEXT_MS, v.verb == VERDICT_RESTART ? v.delay_ms : -1),
		    KV_S(LAST_OUTPUT, ch->last_output));
	} else {
		log_info("actor ended", KV_S(ACTOR, ch->name), KV_I(INCARNATION, ch->incarnation),
		    KV_I(UPTIME_MS, uptime_ms), KV_S(CAUSE, ch->last_exit));
	}
	if (!ch->row->core)
		ch->settled = true;	/* the stages above do not wait for it a second time */
	ch->deadline_ms = v.verb == VERDICT_RESTART ? t->now_ms + v.delay_ms : 0;
	ch->bound_ms = 0;
	t->changed = true;
	act_feed(ch, event_of[v.verb]);
	peers_changed(ch);
	if (!ch->spec->enabled)
		act_feed(ch, EV_DISABLE);
	if (v.escalate) {
		log_error("a core actor cannot run; musterd ends, to be restarted by its own supervisor",
		    KV_S(ACTOR, ch->name), KV_S(WHY, v.why));
		tree_stop(t, EXIT_FAILURE, v.why);
	}
}

/* "exit 111", "signal KILL", or the name of the cause where that is more precise. */
static void
describe(char out[32], enum cause cause, const siginfo_t *si)
{
	const char *const signal_name = sigabbrev_np(si->si_status);

	if (cause != CAUSE_EXIT && cause != CAUSE_SIGNAL && cause != CAUSE_CONFIG && cause != CAUSE_ORDERED)
		snprintf(out, 32, "%s", policy_cause_name(cause));
	else if (si->si_code == CLD_EXITED)
		snprintf(out, 32, "exit %d", si->si_status);
	else
		snprintf(out, 32, "signal %s", signal_name != NULL ? signal_name : "?");
}

static void
release_process(struct child *ch)
{
	ch->pid = 0;
	peers_wipe(ch);
	ch->synced = false;
	ch->mailbox = 0;
	ch->peers_dirty = 0;
	ch->level_dirty = ch->tree_dirty = false;
	watch_close(&ch->lifeline);
	logpipe_finish(&ch->log);
}
