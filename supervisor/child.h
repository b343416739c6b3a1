/*
 * supervisor/child.h - the supervisor's state of one actor, and the effects on its process: fork,
 * exec, signals.
 */
#ifndef MUSTER_CHILD_H
#define MUSTER_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "actors.h"
#include "fsm.h"
#include "log.h"
#include "logpipe.h"
#include "notify.h"
#include "policy.h"
#include "spec.h"
#include "watch.h"

struct tree;

struct child {
	const struct child_row	*row;
	const struct child_spec	*spec;
	const char		*name;
	struct tree		*tree;

	enum fsm_state		 state;
	int64_t			 deadline_ms;	/* of the state; 0: none */
	int64_t			 held_ms;	/* since when orphans delay its start; 0: they do not */
	bool			 settled;	/* the stages above need not wait for it (any more) */
	bool			 restart_due;	/* its consumers changed: see reload.c */
	struct policy		 policy;

	/* This incarnation. Numbers are never used again. */
	uint64_t		 incarnation;
	/*
	 * The token of this consumer for each producer that it may connect to, by the producer's
	 * child id: a producer that has been taken over cannot use it with any other.
	 */
	struct secret		*tokens;	/* CHILD_MAX of them; NULL while there is no process */
	pid_t			 pid;		/* 0: none */
	struct watch		 lifeline;
	struct logpipe		 log;
	int64_t			 started_ms, bound_ms, beat_ms;	/* 0: not yet */
	enum stop_reason		 stop_reason;
	bool			 synced, extended;
	uint64_t		 mailbox;
	char			 status[NOTE_TEXT_MAX + 1];
	uint64_t		 bad_records;

	/* Through all incarnations. */
	enum log_level		 level;
	uint64_t		 deaths;
	char			 last_exit[32];	/* empty: never */
	char			 last_output[LOGPIPE_JOINED];	/* empty unless last_exit was a death */
	struct policy_reports	 reports[CHILD_MAX];	/* it made, by the peer's child id */

	/* Records that are due as soon as its lifeline takes them (peers.c). */
	uint64_t		 peers_dirty;
	bool			 level_dirty, tree_dirty;
};

/* What every child needs to start, the same for all. */
struct child_deps {
	const char	*run_dir;
	int		 null_fd;
	bool		 confine, own_syscalls;
	bool		 change_user;
	uid_t		 uid;
	gid_t		 gid;
};

/*
 * Forks and execs. The child's ends of its descriptors are closed here in any case. False with
 * errno: nothing is left behind. lifeline_fd and output_fd become its fd 3, and 1 and 2.
 */
bool child_spawn(struct child *ch, const struct child_deps *g, int *lifeline_fd, int *output_fd);
void child_signal(const struct child *ch, int sig);
/* SIGKILL to the whole group: an actor is the leader of its own session. */
void child_kill(const struct child *ch);
/*
 * errno of opening that file as an actor would, without Landlock; 0: it can. A process of its own tries:
 * user, groups and capabilities of musterd must not change, not even for a moment.
 */
int child_open_error(const struct child_deps *g, const char *file);
int64_t child_rss_kib(const struct child *ch);

#endif
