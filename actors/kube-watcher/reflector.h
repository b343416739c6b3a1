/*
 * actors/kube-watcher/reflector.h - one kind's list and watch, pure: what the server did goes in, what
 * to do next comes out.
 *
 *	DISCOVER -> BEGIN -> WATCHLIST ---initial end---> COMMIT -> SYNCED -> (the same stream goes on)
 *	                  \> LIST, page by page --------> COMMIT -> SYNCED -> WATCH -> WATCH -> ...
 *
 * The caller performs the step that reflector_next returns, and calls it again until it returns WAIT; then
 * it waits for that time or for the next input. Input about a request carries that request's id; input
 * about an older one is ignored, so a late callback cannot do harm.
 *
 * Rules
 * - An object that is listed is published at once (store_seen); gone is only what a *complete* list
 *   does not contain (COMMIT). A list that breaks off removes nothing (DROP).
 * - Every list is a consistent read, or at least as new as what we have: the first asks for
 *   resourceVersion "" (most recent), a relist for NotOlderThan the last we saw. Never "0" as client-go
 *   does: "any version" may come from a lagging replica, and after a restart we would report to consumers,
 *   whose mirrors are newer, that objects are gone or back. It costs little: since 1.31 the watch cache
 *   answers "" after one progress check, and before that pages of 500 keep the quorum read small.
 * - The version to resume from moves with live events and bookmarks, never back, and not at all before
 *   the initial events have ended (they come in no order). A watch that begins at "" or "0" and is not
 *   a watch-list does not exist here.
 * - A suspicious list is confirmed by another: one that lacks more than half of what the store has, or that
 *   is older than the store, as a whole or in one object, is dropped, and a plain LIST at "" decides
 *   (`accept_rollback`).
 * - A live event that is older than the one before it cannot be ordered: its object may have ended since.
 *   It is skipped, and a list follows.
 * - No client can notice an event that the server forgot to send; so once per relist_ms a stream that
 *   ended anyway is followed by a list instead of a watch.
 */
#ifndef MUSTER_REFLECTOR_H
#define MUSTER_REFLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "kinds.h"
#include "kube/project.h"
#include "store.h"

enum {
	REFLECTOR_PAGE		 = 500,
	REFLECTOR_CONTINUE_MAX	 = 2048,	/* with a longer token the list is sent without paging */
	REFLECTOR_WATCH_MIN_S	 = 300,		/* timeoutSeconds is drawn between these two */
	REFLECTOR_WATCH_MAX_S	 = 600,
	REFLECTOR_GRACE_MS	 = 5000,	/* this long after timeoutSeconds we end it ourselves */
	REFLECTOR_LIST_MS	 = 60 * 1000,	/* for the next object of a list */
	REFLECTOR_SHORT_MS	 = 1000,	/* a watch that ends sooner, without an event, failed */
	REFLECTOR_SILENT_MS	 = 180 * 1000,	/* soft alarm: not even a bookmark */
	REFLECTOR_INITIAL_MS	 = 10 * 1000,	/* soft alarm: initial events have stalled */
	REFLECTOR_BACKOFF_MS	 = 800,		/* doubled up to the cap, plus as much again by chance */
	REFLECTOR_BACKOFF_CAP_MS = 30 * 1000,
	REFLECTOR_RESET_MS	 = 120 * 1000,	/* this long without a failure: the backoff is reset */
	REFLECTOR_STOOD_MS	 = 10 * 1000,	/* an accepted watch lived this long: the same */
	REFLECTOR_RETRY_MAX_MS	 = 60 * 1000,	/* a longer Retry-After is cut to this */
	REFLECTOR_SLOW_MS	 = 30 * 1000,	/* absent, forbidden: 30 to 60 s */
	REFLECTOR_CONFIRM_MS	 = 1000,	/* between a suspicious list and its confirmation */
	REFLECTOR_RELIST_MS	 = 6 * 3600 * 1000,
	REFLECTOR_TRIES	 = 3,		/* failures of one kind of request before another is tried */
};

/* Why a step is taken: label `reason` of the metrics, and the words for the log. */
#define REFLECTOR_REASONS(R)									\
	R(NONE,        "none",        "")							\
	R(START,       "start",       "first list")						\
	R(PAGE,        "page",        "next page")						\
	R(FOLLOW,      "follow",      "the list is complete, follow the changes")		\
	R(ENDED,       "ended",       "the stream ended at its timeout")				\
	R(DEADLINE,    "deadline",    "the request is past its time")				\
	R(SHORT,       "short",       "the watch ended at once and without an event")		\
	R(BROKEN,      "broken",      "the connection broke")					\
	R(REFUSED,     "refused",     "the connection was refused")				\
	R(LIMITED,     "limited",     "the server asks to slow down")				\
	R(EXPIRED,     "expired",     "our resourceVersion is too old for the server")		\
	R(TOO_LARGE,   "too-large",   "the server lags behind what we have seen")		\
	R(SERVER,      "server",      "the server failed")					\
	R(REJECTED,    "rejected",    "the server rejects the request")			\
	R(UNSUPPORTED, "unsupported", "the server has no watch-list: listing instead")		\
	R(FORBIDDEN,   "forbidden",   "the cluster does not allow it (RBAC)")			\
	R(ABSENT,      "absent",      "the server does not have this resource")			\
	R(PRESENT,     "present",     "the server has this resource")				\
	R(VERSION,     "version",     "another version of the resource is read from now on")	\
	R(SHRUNK,      "shrunk",      "the list lacks more than half of what is known: confirming") \
	R(BACK,        "back",        "the list is older than what is known: confirming")	\
	R(DISORDER,    "disorder",    "the server sent an old event again: list anew")		\
	R(RESYNC,      "resync",      "time for a full list")					\
	R(SILENT,      "silent",      "no event and no bookmark on the watch for 3 minutes")	\
	R(STALLED,     "stalled",     "waiting for the end of the initial events, none for 10 s") \
	R(COMPLETE,    "complete",    "the list is complete")

enum reflector_reason {
#define REFLECTOR_REASON_ENUM(ID, name, text) BECAUSE_##ID,
	REFLECTOR_REASONS(REFLECTOR_REASON_ENUM)
#undef REFLECTOR_REASON_ENUM
	BECAUSE_MAX
};
const char *reflector_reason_name(enum reflector_reason r);
const char *reflector_reason_text(enum reflector_reason r);

/* Facts about the server: one for all kinds; zero it when the server was upgraded. */
struct reflector_server {
	bool	no_watchlist;
};

struct reflector_config {
	bool		watchlist;	/* false: never try it */
	uint32_t	page;		/* limit of a page; REFLECTOR_PAGE */
	int64_t		relist_ms;	/* 0: never by itself; REFLECTOR_RELIST_MS */
};

enum reflector_verb {
	REFLECT_WAIT,		/* until at_ms, or until something happened */
	REFLECT_DISCOVER,	/* find out whether the server has the kind; then reflector_discovered */
	REFLECT_BEGIN,		/* store_begin(accept_rollback) */
	REFLECT_WATCHLIST,	/* start `ask` */
	REFLECT_LIST,		/* start `ask` */
	REFLECT_WATCH,		/* start `ask` */
	REFLECT_STOP,		/* cancel request `id`, if it is not over yet */
	REFLECT_COMMIT,		/* store_commit(rv): what was not listed is gone */
	REFLECT_DROP,		/* store_drop: nothing is gone */
	REFLECT_SYNCED,		/* the store is complete, of version rv */
	REFLECT_ALARM,		/* log a warning and count it; nothing else changes */
};

/* A request, every parameter decided. Texts live in the reflector until its next call. */
struct reflector_ask {
	uint32_t	 id;
	const char	*rv;		/* resourceVersion; NULL or "": leave it out, "most recent" */
	const char	*match;		/* resourceVersionMatch; NULL: leave it out */
	const char	*cont;		/* continue; NULL: leave it out */
	uint32_t	 limit;		/* 0: leave it out */
	uint32_t	 timeout_s;	/* timeoutSeconds; 0: leave it out */
	bool		 watch, initial_events, bookmarks;
};

struct reflector_step {
	enum reflector_verb	 verb;
	enum reflector_reason	 reason;	/* REFLECT_WAIT: the cause of the backoff, if any */
	int64_t			 at_ms;		/* REFLECT_WAIT */
	bool			 accept_rollback;	/* REFLECT_BEGIN */
	uint32_t		 id;		/* REFLECT_STOP */
	const char		*rv;		/* REFLECT_COMMIT, REFLECT_SYNCED */
	struct reflector_ask	 ask;		/* REFLECT_WATCHLIST, REFLECT_LIST, REFLECT_WATCH */
};

/* A request failed: an HTTP status with its Status object, no answer at all, an ERROR event in a stream. */
struct reflector_failure {
	int		 status;	/* of HTTP, or `code` of the ERROR event; 0: none came */
	const char	*reason;	/* Status.reason, or "" */
	bool		 too_large;	/* a cause is ResourceVersionTooLarge */
	bool		 refused;	/* status 0: the connection was refused */
	bool		 in_stream;	/* an ERROR event */
	int64_t		 retry_after_ms;	/* -1: none */
};

enum reflector_take {
	TAKE_SKIP,	/* not of the present request, or not an object */
	TAKE_LISTED,	/* part of a list that is not complete yet: store_seen */
	TAKE_LIVE,	/* a change: store_seen or store_deleted */
};

struct reflector {
	struct reflector_config	 config;
	struct reflector_server	*server;
	uint64_t	random;
	char		rv[PROJECT_RV_MAX + 1];		/* resume here; "": nothing complete yet */
	char		list_rv[PROJECT_RV_MAX + 1];	/* of the list under way */
	char		cont[REFLECTOR_CONTINUE_MAX];	/* "": the next page is the first */
	unsigned	want, open;		/* reflector_private.h: what comes next; what is under way */
	bool		synced;			/* a list was complete once */
	bool		initial;		/* the open stream is still in its initial events */
	bool		accepted;		/* by the server, with a 2xx */
	bool		moved;			/* it has advanced rv */
	bool		replacing;		/* the store is between BEGIN and COMMIT or DROP */
	bool		stop_due, drop_due, commit_due, synced_due;
	bool		fresh;			/* the next list: at "", not at rv */
	bool		confirm;		/* the next list: accepts a rollback */
	bool		unpaged, plain;		/* the next list: in one piece; not a watch-list */
	bool		watchlist_forbidden;	/* either RBAC forbids it, or it is not supported */
	bool		alarmed;
	enum kind_state	state;
	enum reflector_reason why;
	uint32_t	id;			/* of the open request, or of the last one */
	uint32_t	failures, broken;	/* for the backoff; in a row, for REFLECTOR_TRIES */
	int64_t		failed_ms, rest_ms;	/* the last failure; nothing is asked before rest_ms */
	int64_t		asked_ms, received_ms, deadline_ms;
	int64_t		listed_ms;		/* the last complete list */
};

void reflector_init(struct reflector *r, const struct reflector_config *c,
    struct reflector_server *server, uint64_t seed);
/* Discovery found the kind in a version that we read, or not. May be called at any time. */
void reflector_discovered(struct reflector *r, bool present, int64_t now_ms);
/* Another API version is read from now on: the open request is cancelled, and a list begins. */
void reflector_restart(struct reflector *r, int64_t now_ms);

/* The server accepted the request (2xx), the body is to come. */
void reflector_accepted(struct reflector *r, uint32_t id, int64_t now_ms);
/* An object of a LIST arrived whole. */
enum reflector_take reflector_item(struct reflector *r, uint32_t id, int64_t now_ms);
/* A page of a LIST ended well. cont "": it was the last one, and p counts (store_list_diff(rv)). */
void reflector_page(struct reflector *r, uint32_t id, const char *rv, const char *cont,
    const struct list_diff *p, int64_t now_ms);
/* An event of a watch, with an object of version rv. Bookmarks and ERROR have their own functions. */
enum reflector_take reflector_event(
    struct reflector *r, uint32_t id, enum watch_type type, const char *rv, int64_t now_ms);
void reflector_bookmark(struct reflector *r, uint32_t id, const char *rv, bool initial_end,
    const struct list_diff *p, int64_t now_ms);
/* A watch ended. clean: as HTTP ends a body. What was half of an event is thrown away by the caller. */
void reflector_ended(struct reflector *r, uint32_t id, bool clean, int64_t now_ms);
void reflector_failed(
    struct reflector *r, uint32_t id, const struct reflector_failure *f, int64_t now_ms);

/* The next step. It counts as done when it is returned; if it fails, reflector_failed is called. */
struct reflector_step reflector_next(struct reflector *r, int64_t now_ms);
/* For message KIND. SYNCED also while a later list is under way: the store is kept. */
enum kind_state reflector_state(const struct reflector *r);

#endif
