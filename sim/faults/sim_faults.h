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

/* ID, name, where it is checked: CALL once per request, EVENT once per event of a watch */
#define FAULTS(F)						\
	F(STATUS,          "status",          CALL)		\
	F(DROP_CONNECTION, "drop_connection", CALL)		\
	F(UNAUTHORIZED,    "unauthorized",    CALL)		\
	F(LATENCY,         "latency",         CALL)		\
	F(LATE_ANSWER,     "late_answer",     CALL)		\
	F(LATE_EFFECT,     "late_effect",     CALL)		\
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

enum sim_fault_kind {
#define FAULT_ENUM(ID, name, point) FAULT_##ID,
	FAULTS(FAULT_ENUM)
#undef FAULT_ENUM
	FAULT_MAX
};

enum { FAULT_TEXT_MAX = 128 };

struct sim_fault {
	uint32_t		 id;
	enum sim_fault_kind	 kind;
	/*
	 * Which requests: "" matches all. verb is a comma list; resource "nodes" or
	 * "machines.cluster.x-k8s.io".
	 */
	char			 verb[FAULT_TEXT_MAX], resource[FAULT_TEXT_MAX], name[FAULT_TEXT_MAX];
	char			 user_agent[FAULT_TEXT_MAX];	/* its beginning */
	char			 event[FAULT_TEXT_MAX];		/* ADDED, MODIFIED or DELETED */
	char			 api[FAULT_TEXT_MAX];		/* a provider; "": the Kubernetes API */
	char			 class[FAULT_TEXT_MAX];		/* of a provider's calls */
	int64_t			 count, after;			/* count -1: for ever */
	bool			 now;				/* open watches are hit at once */
	/* How: each kind reads what it needs. */
	int			 code;
	char			 reason[FAULT_TEXT_MAX], retry_after[FAULT_TEXT_MAX];
	char			 mode[FAULT_TEXT_MAX];		/* body, how or mode, as the kind calls it */
	char			*text;				/* message, or the bytes of malformed */
	int64_t			 amount;			/* bytes, ms, seconds or rv */
	int64_t			 behind;			/* changes of a provider's list */
	uint64_t		 seen, hits;
};

/* What it may hit; "" where there is no such thing. */
struct sim_fault_subject {
	const char	*verb, *resource, *qualified, *name, *user_agent, *event;
	const char	*api, *class;		/* of a provider; NULL: a request to the Kubernetes API */
};

/* The faults that hit one request; NULL: none of that kind. */
struct sim_fault_plan {
	const struct sim_fault	*of[FAULT_MAX];
};

struct sim_fault_table;
struct sim_fault_table *sim_faults_new(void);
void sim_faults_free(struct sim_fault_table **fp);

/* From {"kind": ..., ...}; NULL with a text in err, which names the wrong key. */
const struct sim_fault *sim_faults_arm(struct sim_fault_table *f, const json_t *spec, char *err, size_t size);
void sim_faults_clear(struct sim_fault_table *f, int64_t id);	/* id 0: all */
json_t *sim_faults_list(const struct sim_fault_table *f);

/* The first fault of that kind that hits now, counted; NULL: none. */
const struct sim_fault *sim_faults_hit(struct sim_fault_table *f, enum sim_fault_kind kind,
    const struct sim_fault_subject *s);
/* All kinds of the point CALL. */
struct sim_fault_plan sim_faults_plan(struct sim_fault_table *f, const struct sim_fault_subject *s);
/* For faults that hit "now": would this one hit s? Counts as well. */
bool sim_faults_hit_now(struct sim_fault_table *f, const struct sim_fault *what,
    const struct sim_fault_subject *s);

/* NULL with a text in err. */
struct sim_fault *sim_fault_from_json(const json_t *spec, char *err, size_t size);
json_t *sim_fault_to_json(const struct sim_fault *x);

#endif
