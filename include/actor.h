/*
 * include/actor.h - an actor: a table of messages, a start function and, if it works on keys, a
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
#include "writes.h"

struct actor;
struct event_base;
struct json;

enum change_kind {
	CHANGE_ADDED,
	CHANGE_UPDATED,
	CHANGE_GONE,	/* value is the last one */
	/* Row of MSG_SNAP_END: the snapshot from that peer is complete; key and value are empty. */
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

/*
 * A write that a consumer requests (of kube-watcher): body is a view, copy what you keep. It is
 * answered once, at any time, by actor_result with its handle; when the session has ended
 * meanwhile, the answer is dropped. A request without a session, a malformed one and an expired one
 * do not get here.
 */
struct write_in {
	enum role		 from;
	enum link		 link;
	uint64_t		 id, handle, trace;
	int64_t			 deadline_ms;	/* of clock_mono_ms: after it, do not send it any more */
	const struct body_write	*body;		/* op is a valid enum op, body at most WRITE_BODY_MAX bytes */
};

struct actor_spec {
	const char		 *name;		/* NULL: any role (test actors) */
	size_t			  state_size;	/* of self: zeroed, handed to every function */
	const struct actor_row	 *rows;
	size_t			  nrows;
	/* Its mirrors store once what repeats in their values: then see actor_each. */
	bool			  interned;
	/* Before ZeroMQ and its threads exist: the place to fork a helper. Settings are available. */
	void			(*prepare)(struct actor *a, void *self);
	/* Before `bound`: open what you serve. */
	void			(*start)(struct actor *a, void *self);
	void			(*tick)(struct actor *a, void *self, int64_t now_ms);
	int64_t			  tick_ms;
	enum work_result	(*work)(struct actor *a, void *self, const struct work *w, int64_t *after_ms);
	/* For a role that binds a link with writes. */
	void			(*on_write)(struct actor *a, void *self, const struct write_in *w);
	/* The session of that consumer ended: its writes without an answer need none any more. */
	void			(*on_session_ended)(struct actor *a, void *self, enum role from);
	void			(*on_tree)(struct actor *a, void *self, const char *json);
	/*
	 * `muster explain <resource>/<name>` ("nodes", "worker-1"): adds members (json.h) to the
	 * object that is open in `out`; none: this actor does not have it. It must not wait or
	 * write. At most EXPLAIN_MAX bytes, or all of it is replaced by an error. Members that the
	 * command formats, all optional; any other is printed unchanged:
	 *	inputs		{name: text or number or bool}: the inputs of the decision
	 *	rule		text: the rule that matched
	 *	decided		{name: text}: what follows from it
	 *	conditions	[{type, status, reason, message, since}]
	 *	unmanaged	text: why nothing is decided about it
	 *	stored		{...}: the object in the API server, from the mirror
	 *	write		{what, outcome, message, at_us}: the last write that was requested
	 */
	void			(*explain)(struct actor *a, void *self, const char *resource,
				    const char *name, struct json *out);
	/*
	 * A stop was requested: finish what must not be interrupted, then actor_exit(a, 0). NULL:
	 * the loop ends at once. What takes longer than the stop_ms of its row (supervisor/actors.h):
	 * actor_extend_stop.
	 */
	void			(*ending)(struct actor *a, void *self);
	void			(*stop)(struct actor *a, void *self);	/* the last call */
};

enum { EXPLAIN_MAX = 24 * 1024 };

int actor_main(const struct actor_spec *spec, int argc, char **argv);

/* Identity and directory of this process. */
enum role actor_role(const struct actor *a);
uint64_t actor_incarnation(const struct actor *a);
const char *actor_run_dir(const struct actor *a);
const char *actor_instance(const struct actor *a);	/* of this musterd among its replicas (lifeline.h) */
struct event_base *actor_base(struct actor *a);

/*
 * The actor's own configuration section; the key must be in config/settings.h. Durations are in ms,
 * booleans 0 or 1.
 */
const char *actor_setting(const struct actor *a, const char *key);
int64_t actor_setting_i64(const struct actor *a, const char *key);

/*
 * Producing: a link this role binds (STATS belongs to the runtime). Publishing the same bytes again
 * sends nothing. Until actor_link_ready the consumers get "not ready" and keep what they had: a
 * producer sends only complete snapshots.
 */
enum err actor_publish(struct actor *a, enum link l, const char *key, const char *uid, const char *rv,
    enum msg type, const union msg_body *body, uint64_t trace);
/*
 * The same with a body that is packed already. force: even the same bytes are sent on, so that
 * every mirror's resourceVersion moves: the answer to an own write.
 */
enum err actor_publish_packed(struct actor *a, enum link l, const char *key, const char *uid, const char *rv,
    enum msg type, const void *bytes, size_t len, uint64_t trace, bool force);
void actor_retract(struct actor *a, enum link l, const char *key, uint64_t trace);
void actor_link_ready(struct actor *a, enum link l);
uint64_t actor_new_trace(struct actor *a);
/* The configuration has that peer, and a link connects the two. Available before `start`. */
bool actor_has_peer(const struct actor *a, enum role r);

/*
 * Answering a write. The objects of the answer are sent first: those in the link's store by their
 * keys (as they are now, or as deleted; a key that is not in the store is left out), others as
 * items of their own (RAW, or a live read; key, uid, rv, type, value). The consumer puts the former
 * into its mirror before `done` is called. actor_result fills in id and items, and cuts overlong
 * texts.
 */
enum err actor_result_items(struct actor *a, uint64_t handle, const struct body_item *items, size_t n);
void actor_result(struct actor *a, uint64_t handle, const struct body_result *r,
    const char *const *keys, size_t nkeys);

/*
 * Consuming: every key currently in the mirrors of this link (all its producers); stale ones too,
 * see actor_fresh. With spec.interned what fn gets is valid until fn returns.
 */
void actor_each(struct actor *a, enum link l, void (*fn)(const struct change *c, void *arg), void *arg);
/*
 * Reads one key, if a mirror of the link has it. *value, to which out->value points, and every text in both
 * are views into the mirror: valid until the callback that reads returns to the loop, and so is what later
 * calls read beside it. Not for STATS.
 */
bool actor_read(struct actor *a, enum link l, const char *key, size_t len, struct change *out,
    union msg_body *value);
/*
 * False while a mirror of the link is being resynced, or its producer sends no beats: then nothing
 * may be deleted because of it.
 */
bool actor_fresh(const struct actor *a, enum link l);
/*
 * The time of the cluster, over a link from kube-watcher: what timestamps of objects are compared with
 * (contract A9). It is the API server's Date and the monotonic time since then, to within 3 s, whatever the
 * wall clock of this machine is. False: kube-watcher has not had an answer of the server yet.
 */
bool actor_cluster_time_us(struct actor *a, enum link l, int64_t *us);

/*
 * Writing, over a link that has writes and of which the actor reads something. Texts may be NULL
 * for "".
 *
 * `done` is called exactly once, from the loop (or before `stop`), never from inside actor_write.
 * One mutation of an object may be in flight, WRITES_PER_SENDER mutations and READS_PER_SENDER live
 * reads (writes.h); further ones end BUSY. A write is sent only inside a session whose snapshot was
 * complete; until then it is pending, and at its deadline it ends EXPIRED: it was not sent. When the
 * session is lost, or no answer arrives until a second after the deadline, it ends UNKNOWN: read live
 * before planning again. When `done` is called, the mirror holds the object as the write left it.
 */
struct write_request {
	enum op		 op;
	const char	*group, *version, *resource, *ns, *name, *subresource;
	const char	*uid, *rv;		/* preconditions */
	const char	*labels, *fields;	/* selectors of a LIST */
	const void	*body;			/* JSON text, without NUL */
	size_t		 body_len;
	int64_t		 timeout_ms;		/* > 0 */
	uint64_t	 trace;
};

/* All of it views, valid during the call. */
struct write_result {
	uint64_t		 id, trace;
	enum op			 op;
	enum outcome		 outcome;
	unsigned		 status;		/* of HTTP; 0: none */
	struct wire_str		 reason, message, causes, rv;
	uint64_t		 skipped;	/* objects of the answer that are not among the items */
	int64_t			 retry_after_ms;
	const struct change	*items;		/* objects of the answer; CHANGE_GONE: without a value */
	size_t			 nitems;
};
typedef void write_done(struct actor *a, void *self, const struct write_result *r, void *arg);

uint64_t actor_write(
    struct actor *a, enum link l, const struct write_request *w, write_done *done, void *arg);

/* Working: keys for spec.work. */
void actor_enqueue(struct actor *a, const char *key, size_t len, enum work_priority prio, uint64_t trace);
void actor_enqueue_after(struct actor *a, const char *key, size_t len, int64_t after_ms, uint64_t trace);
/* For work that ends later (a request in flight): work returns WORK_PENDING and this finishes the key. */
void actor_finish(struct actor *a, const char *key, size_t len, enum work_result result, int64_t after_ms);

/*
 * Adds a hop for `muster trace`, besides those that the runtime adds for items and writes: the
 * result for that key, in HOP_TEXT bytes (hop_log.h; more is cut). It takes tens of nanoseconds; the
 * last HOP_LOG_HOPS hops are kept.
 */
void actor_hop(struct actor *a, const char *key, uint64_t trace, const char *text);

/*
 * Measures, on a link that this actor binds, the time from a change until it is handed to each
 * consumer's socket (timing.h). `observe` is called per frame and type of message in it. Once per
 * link, from `start` on.
 */
typedef void notify_time(enum role consumer, enum msg type, double seconds);
void actor_time_link(struct actor *a, enum link l, notify_time *observe);

/* One line for `muster status`. */
void actor_status(struct actor *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * From `ending` on: the stop needs so much longer than its row allows. The supervisor grants it once, 30 s at
 * most, and while the whole tree stops no more than the others leave.
 */
void actor_extend_stop(struct actor *a, int64_t ms);
/* Ends the process after `stop`: 0, EXIT_CONFIG or EXIT_TRANSIENT. */
void actor_exit(struct actor *a, int code);

#endif
