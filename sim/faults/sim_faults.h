/*
 * sim/faults/sim_faults.h - what goes wrong on purpose: armed faults, whom they hit, how often they did.
 *
 * A fault names whom it hits (verb, resource, name, user agent), skips `after` occasions, then hits
 * `count` times. A spent or cleared fault stays in memory until the end: an open stream may still
 * follow it.
 */
#ifndef MUSTER_SIM_FAULTS_H
#define MUSTER_SIM_FAULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ID, name, where it is asked for: CALL once per request, EVENT once per event of a watch */
#define FAULTS(F)						\
	F(STATUS,          "status",          CALL)		\
	F(DROP_CONNECTION, "drop_connection", CALL)		\
	F(UNAUTHORIZED,    "unauthorized",    CALL)		\
	F(LATENCY,         "latency",         CALL)		\
	F(LATE_ANSWER,     "late_answer",     CALL)		\
	F(LOST,            "lost",            CALL)		\
	F(STALE,           "stale",           CALL)		\
	F(RV_TOO_LARGE,    "rv_too_large",    CALL)		\
	F(HUGE_HEADERS,    "huge_headers",    CALL)		\
	F(DATE_OFFSET,     "date_offset",     CALL)		\
	F(CUT,             "cut",             CALL)		\
	F(STALL,           "stall",           CALL)		\
	F(THROTTLE,        "throttle",        CALL)		\
	F(GZIP_MEMBERS,    "gzip_members",    CALL)		\
	F(SHORT_WATCH,     "short_watch",     CALL)		\
	F(NO_WATCHLIST,    "no_watchlist",    CALL)		\
	F(NO_BOOKMARKS,    "no_bookmarks",    CALL)		\
	F(DROP_EVENT,      "drop_event",      EVENT)		\
	F(DUPLICATE_EVENT, "duplicate_event", EVENT)		\
	F(SWAP_EVENTS,     "swap_events",     EVENT)		\
	F(GONE_IN_STREAM,  "gone_in_stream",  EVENT)		\
	F(ERROR_IN_STREAM, "error_in_stream", EVENT)		\
	F(MALFORMED,       "malformed",       EVENT)

enum fault_kind {
#define FAULT_ENUM(ID, name, point) FAULT_##ID,
	FAULTS(FAULT_ENUM)
#undef FAULT_ENUM
	FAULT_MAX
};

enum { FAULT_TEXT_MAX = 128 };

struct fault {
	uint32_t	 id;
	enum fault_kind	 kind;
	/* Whom: "" is anybody. verb is a comma list; resource "nodes" or "machines.cluster.x-k8s.io". */
	char		 verb[FAULT_TEXT_MAX], resource[FAULT_TEXT_MAX], name[FAULT_TEXT_MAX];
	char		 user_agent[FAULT_TEXT_MAX];	/* its beginning */
	char		 event[FAULT_TEXT_MAX];		/* ADDED, MODIFIED or DELETED */
	int64_t		 count, after;			/* count -1: for ever */
	bool		 now;				/* open watches are hit at once */
	/* How: each kind reads what it needs. */
	int		 code;
	char		 reason[FAULT_TEXT_MAX], retry_after[FAULT_TEXT_MAX];
	char		 mode[FAULT_TEXT_MAX];		/* body, how or mode, as the kind calls it */
	char		*text;				/* message, or the bytes of malformed */
	int64_t		 amount;			/* bytes, ms, seconds, rv: as the kind counts */
	uint64_t	 seen, hits;
};

/* What it may hit; "" where there is no such thing. */
struct fault_subject {
	const char	*verb, *resource, *qualified, *name, *user_agent, *event;
};

/* What hits one call: NULL where nothing does. */
struct fault_plan {
	const struct fault	*of[FAULT_MAX];
};

struct faults;
struct faults *faults_new(void);
void faults_free(struct faults **fp);

/* From {"kind": ..., ...}; NULL with a text in err, which names the wrong key. */
const struct fault *faults_arm(struct faults *f, const json_t *spec, char *err, size_t size);
void faults_clear(struct faults *f, int64_t id);	/* id 0: all */
json_t *faults_list(const struct faults *f);

/* The first fault of that kind that hits now, counted; NULL: none. */
const struct fault *faults_hit(struct faults *f, enum fault_kind kind, const struct fault_subject *s);
/* All kinds of the point CALL. */
struct fault_plan faults_plan(struct faults *f, const struct fault_subject *s);
/* For faults that hit "now": would this one hit s? Counts as well. */
bool faults_strike(struct faults *f, const struct fault *what, const struct fault_subject *s);

#endif
