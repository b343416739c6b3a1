/*
 * supervisor/policy.h - what a death means, when the next start is due, when to give up. Pure: time
 * and chance come in.
 *
 * docs/supervision.md has the rules; the numbers are here and nowhere else.
 */
#ifndef MUSTER_POLICY_H
#define MUSTER_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "actors.h"

static inline int64_t
earlier(int64_t a_ms, int64_t b_ms)
{
	return a_ms < b_ms ? a_ms : b_ms;
}

enum {
	POLICY_BACKOFF_FIRST_MS = 1000,
	POLICY_BACKOFF_CAP_MS   = 60 * 1000,
	POLICY_HEALTHY_MS       = 10 * 1000,	/* ready that long: not an early death */
	POLICY_RESET_MS         = 120 * 1000,	/* ready that long: backoff starts anew (twice the cap) */
	POLICY_ESCALATE_DEATHS  = 5,
	POLICY_ESCALATE_MS      = 5 * 60 * 1000,
	POLICY_MISSED_BEATS     = 3,
	POLICY_ABORT_MS         = 5 * 1000,	/* from SIGABRT to SIGKILL: time for a backtrace */
	POLICY_KILL_MS          = 1000,		/* SIGKILL again if the kernel has not let go */
	POLICY_ORPHANS_MS       = 5 * 1000,	/* most that a start waits for orphans to be gone */
	POLICY_SYNC_MS          = 60 * 1000,	/* bound that long without being synced: degraded */
	POLICY_LATE_MS          = 500,		/* woken so much too late: we were stopped */
	POLICY_GRACE_MS         = 1000,		/* then no deadline is nearer than this */
	POLICY_EXTEND_MS        = 30 * 1000,	/* most that is granted outside a stop of the tree */
	POLICY_REPORTS          = 3,		/* of one actor about one peer per POLICY_REPORTS_MS */
	POLICY_REPORTS_MS       = 60 * 1000,
};

#define CAUSES(C)	/* ID, name, a death (false: an ordered end) */		\
	C(EXIT,      "exit",         true)					\
	C(SIGNAL,    "signal",       true)					\
	C(CONFIG,    "config",       true)	/* exit 100 */			\
	C(MEMORY,    "memory limit", true)					\
	C(WATCHDOG,  "watchdog",     true)					\
	C(NOT_READY, "not ready",    true)					\
	C(REPORTED,  "reported",     true)	/* by a peer */			\
	C(REPORT_LIMIT, "report limit", true)	/* it reported a peer too often */ \
	C(SPAWN,     "spawn",        true)	/* it could not even be forked */ \
	C(ORDERED,   "ordered",      false)

enum cause {
#define CAUSE_ENUM(ID, name, death) CAUSE_##ID,
	CAUSES(CAUSE_ENUM)
#undef CAUSE_ENUM
	CAUSE_MAX
};

/* Why musterd ended the process, if it did. */
enum stop_reason {
	STOP_REASON_NONE, STOP_REASON_ORDERED, STOP_REASON_WATCHDOG, STOP_REASON_NOT_READY,
	STOP_REASON_REPORTED, STOP_REASON_REPORT_LIMIT, STOP_REASON_MAX
};

/* How a process ended, as the supervisor saw it. */
struct ending {
	enum stop_reason	stop_reason;
	bool		exited;		/* else: by a signal */
	int		code;		/* exit code or signal */
	bool		out_of_memory;	/* its last lines contain it */
};

enum cause policy_cause(const struct ending *e);
const char *policy_cause_name(enum cause c);
bool policy_cause_is_death(enum cause c);

/* What is remembered about one child from death to death. Zeroed at first. */
struct policy {
	bool		free_used;	/* the restart without delay */
	unsigned	step;		/* delayed restarts since the last reset */
	int64_t		early[POLICY_ESCALATE_DEATHS];	/* when it last died early, a ring */
	unsigned	nearly;
};

struct life {
	bool		core;
	enum restart	restart;
	enum cause	cause;
	bool		clean;		/* exit 0 */
	int64_t		ready_ms;	/* time from `bound` to the end; 0: never bound */
	bool		tree_stopping;
};

enum verdict_verb { VERDICT_RESTART, VERDICT_STAY_STOPPED, VERDICT_FAILED };

struct verdict {
	enum verdict_verb	 verb;
	int64_t			 delay_ms;	/* VERDICT_RESTART */
	bool			 escalate;	/* orderly stop of the whole tree, exit 1 */
	const char		*why;
};

struct verdict policy_death(struct policy *p, const struct life *l, int64_t now_ms, uint64_t *random);

/* True: three beats are missing. */
bool policy_beats_missed(int64_t last_beat_ms, int64_t interval_ms, int64_t now_ms);
/* True: it has been up too long without its first full snapshot. */
bool policy_unsynced(bool synced, int64_t bound_ms, int64_t now_ms);
/* How late the loop ran; 0 when that is within the usual delay. */
int64_t policy_lateness(int64_t planned_ms, int64_t now_ms);
/*
 * A deadline after we were late: moved by that, and never so near that its owner, stopped like us,
 * cannot meet it.
 */
int64_t policy_rearm(int64_t deadline_ms, int64_t late_ms, int64_t now_ms);
/*
 * Time for one stop stage: the time of the row, or its share of what is left when that is less.
 * later_ms: the time of the stages after this one.
 */
int64_t policy_stop_ms(int64_t row_ms, int64_t later_ms, int64_t left_ms);
/* Time granted to a child that requested more; left_ms < 0: the tree is not stopping. */
int64_t policy_extend_ms(int64_t asked_ms, int64_t later_ms, int64_t left_ms);

/* Reports of one actor about one peer that were accepted lately. */
struct policy_reports {
	int64_t		at_ms[POLICY_REPORTS];
	unsigned	count;
};
bool policy_report_allowed(struct policy_reports *r, int64_t now_ms);

struct death {
	enum role	role;
	uint64_t	incarnation;
	enum cause	cause;
	int64_t		at_ms, uptime_ms;
};

enum { TALLY_LAST = 100 };

/* The deaths: how many by cause since the start, and the last hundred. Zeroed at first. */
struct tally {
	uint64_t	count[CAUSE_MAX];
	struct death	last[TALLY_LAST];	/* a ring */
	uint64_t	total;
};

void tally_add(struct tally *t, const struct death *d);
/* The i-th last death, 0 the latest; NULL when there were not so many. */
const struct death *tally_last(const struct tally *t, unsigned i);

#endif
