/*
 * actors/runtime/bus.h - every link of one actor: stores it publishes, mirrors it keeps, sessions
 * between them.
 *
 * One pump does all of it: read what has come, let the pure sessions decide, send, until nothing is
 * left or the turn is long enough; then the loop gets its turn. Nothing blocks, nothing is dropped
 * without a resync.
 */
#ifndef MUSTER_BUS_H
#define MUSTER_BUS_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "actor.h"
#include "log.h"
#include "mirror.h"
#include "hop_log.h"
#include "tap.h"
#include "timing.h"
#include "link_store.h"

struct bus;

enum peer_state { PEER_DOWN, PEER_UP, PEER_OFF };	/* PEER_OFF: no longer part of the configuration */

struct bus_owner {
	/* A mirror changed, or is complete. */
	void	(*changed)(const struct change *c, void *arg);
	/* ROLE_NONE: unknown sender. */
	void	(*report)(enum role who, uint64_t incarnation, const char *reason, void *arg);
	/* A consumer asks for a write. NULL: of an actor that binds no link with writes. */
	void	(*write)(const struct write_in *w, void *arg);
	/* The session of that consumer ended, and its writes that have no answer: their handles are void. */
	void	(*session_ended)(enum role from, void *arg);
	/* A write of our own has ended: hand it to whoever asked. */
	void	(*wrote)(const struct write_result *r, write_done *done, void *done_arg, void *arg);
	void	*arg;
	uint64_t wanted[LINK_MAX];	/* per link: messages the actor has rows for; no row, no connection */
	bool	interned;		/* spec.interned */
};

struct bus *bus_new(struct event_base *base, const char *run_dir, enum role role, uint64_t incarnation,
    struct tap *tap, const struct bus_owner *owner);
void bus_free(struct bus **bp);

/* Binds every link this role produces. False with errno. */
bool bus_bind(struct bus *b);
/*
 * The supervisor's peer record. `expected`: the token that a HELLO of this peer must have (NULL or
 * empty: it opens no session); `presented`: the token of our HELLO to it.
 */
void bus_peer(struct bus *b, enum role who, uint64_t incarnation, const struct secret *expected,
    const struct secret *presented, enum peer_state state);

bool bus_has_peer(const struct bus *b, enum role who);

struct link_store *bus_store(struct bus *b, enum link l);	/* NULL: not a link of ours */
void bus_touch(struct bus *b);				/* a view changed: send soon */
bool bus_synced(const struct bus *b);			/* every gating input has had a complete snapshot */
bool bus_fresh(const struct bus *b, enum link l);
void bus_each(struct bus *b, enum link l, void (*fn)(const struct change *, void *), void *arg);
bool bus_read(struct bus *b, enum link l, struct wire_str key, struct change *out, union msg_body *value);
void bus_release(struct bus *b);	/* a callback returned: what bus_read gave it ends; b may be NULL */
/* See actor.h. */
uint64_t bus_write(struct bus *b, enum link l, const struct write_request *w, write_done *done, void *arg);
/* Ends the writes in flight, because the process ends. A write that a `done` then starts is dropped. */
void bus_end_writes(struct bus *b);
enum err bus_result_items(struct bus *b, uint64_t handle, const struct body_item *items, size_t n);
void bus_result(struct bus *b, uint64_t handle, const struct body_result *r,
    const char *const *keys, size_t nkeys);
void bus_stats(struct bus *b);				/* refresh gauges */

/* A key of that link's store changed (gone: was removed): sent soon, recorded, and its time taken. */
void bus_published(
    struct bus *b, enum link l, struct wire_str key, struct wire_str rv, uint64_t trace, bool gone);
void bus_time(struct bus *b, enum link l, notify_time *observe);

/* One hop of the recorder; of an object: metrics and keys that begin with a colon leave none. */
struct bus_hop {
	enum hop_what	 what;
	enum link	 link;		/* LINK_MAX: none */
	enum role	 peer;		/* ROLE_NONE: none */
	struct wire_str	 key, rv;
	uint32_t	 hash;		/* hop_log_key of a key that is not at hand; 0: none */
	uint64_t	 trace;
	int64_t		 at_us;		/* wall clock, once per frame; 0: now */
	const char	*text;		/* NULL: none */
	bool		 spare;		/* see hop_log_add */
};
void bus_hop(struct bus *b, const struct bus_hop *n);
const struct hop_log *bus_hop_log(const struct bus *b);
/* Where the key is held: one element per store and mirror, of a list that is open in j. False: nowhere. */
bool bus_held(struct bus *b, struct wire_str key, struct json *j);
/* Every key of every store and mirror, some more than once. */
void bus_keys(struct bus *b, void (*fn)(struct wire_str key, void *arg), void *arg);

#endif
