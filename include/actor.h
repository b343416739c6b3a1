/*
 * include/actor.h - what an actor is: a table of messages, a start, and (if it works on keys) a
 * work function.
 *
 * The runtime does the rest: identity, bus sessions, mirrors, work queue, beats, stats, tap, logs,
 * signals, stop. Everything runs on one loop in one thread; nothing in a handler may block.
 */
#ifndef MUSTER_ACTOR_H
#define MUSTER_ACTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "links.h"
#include "msg.h"
#include "roles.h"
#include "workqueue.h"

struct actor;
struct event_base;

enum change_kind {
	CHANGE_ADDED,
	CHANGE_UPDATED,
	CHANGE_GONE,	/* value is the last one known */
	/* Row of MSG_SNAP_END: the picture from that peer is complete; key and value are empty. */
	CHANGE_SYNCED,
};

/* One key of a mirror changed. All pointers are views: copy what you keep. */
struct change {
	enum change_kind	 kind;
	enum link		 link;
	enum role		 from;
	struct wire_str		 key, uid, rv;
	uint64_t		 trace;
	bool			 initial;	/* part of a snapshot, not a live change */
	enum msg		 type;
	const union msg_body	*value;
};

/* A message is accepted only from the peer that its row names (ROLE_ANY: from any binder of the link). */
struct actor_row {
	enum msg	  message;
	enum role	  from;
	void		(*handler)(struct actor *a, void *self, const struct change *c);
};

struct actor_spec {
	const char		 *name;		/* NULL: any role (test actors) */
	size_t			  state_size;	/* of self: zeroed, handed to every function */
	const struct actor_row	 *rows;
	size_t			  nrows;
	/* Before `bound`: open what you serve. */
	void			(*start)(struct actor *a, void *self);
	void			(*tick)(struct actor *a, void *self, int64_t now_ms);
	int64_t			  tick_ms;
	enum work_result	(*work)(struct actor *a, void *self, const struct work *w, int64_t *after_ms);
	void			(*on_tree)(struct actor *a, void *self, const char *json);
	void			(*stop)(struct actor *a, void *self);	/* last words; then the loop ends */
};

int actor_main(const struct actor_spec *spec, int argc, char **argv);

/* Who and where we are. */
enum role actor_role(const struct actor *a);
uint64_t actor_incarnation(const struct actor *a);
const char *actor_run_dir(const struct actor *a);
struct event_base *actor_base(struct actor *a);

/*
 * The actor's own configuration section; the key must be in config/settings.h. Durations are in ms,
 * booleans 0 or 1.
 */
const char *actor_setting(const struct actor *a, const char *key);
int64_t actor_setting_i64(const struct actor *a, const char *key);

/*
 * Producing: a link this role binds (STATS belongs to the runtime). Publishing the same bytes again
 * wakes nobody. Until actor_link_ready the consumers are told "not ready" and keep what they had: a
 * producer hands out only a complete picture.
 */
enum err actor_publish(struct actor *a, enum link l, const char *key, const char *uid, const char *rv,
    enum msg type, const union msg_body *body, uint64_t trace);
void actor_retract(struct actor *a, enum link l, const char *key, uint64_t trace);
void actor_link_ready(struct actor *a, enum link l);
uint64_t actor_new_trace(struct actor *a);

/*
 * Consuming: every key currently in the mirrors of this link (all its producers); stale ones too,
 * see actor_fresh.
 */
void actor_each(struct actor *a, enum link l, void (*fn)(const struct change *c, void *arg), void *arg);
/*
 * False while any mirror of the link is being resynced or its producer is silent: read, but destroy
 * nothing.
 */
bool actor_fresh(const struct actor *a, enum link l);

/* Working: keys for spec.work. */
void actor_enqueue(struct actor *a, const char *key, size_t len, enum work_priority prio, uint64_t trace);
void actor_enqueue_after(struct actor *a, const char *key, size_t len, int64_t after_ms, uint64_t trace);
/* For work that ends later (a request in flight): work returns WORK_PENDING and this finishes the key. */
void actor_finish(struct actor *a, const char *key, size_t len, enum work_result result, int64_t after_ms);

/* One line for `muster status`. */
void actor_status(struct actor *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Ends the process in order: 0, EXIT_CONFIG or EXIT_WEATHER. */
void actor_exit(struct actor *a, int code);

#endif
