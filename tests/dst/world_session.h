/*
 * tests/dst/world_session.h - the world of one link: a store, a producer that publishes it,
 * consumers that mirror it.
 *
 * Product code at both ends (session, view, mirror, record, work queue, codecs), real frames
 * between them; the glue is written as actors/runtime/bus_out.c and bus_in.c do it, with pipes
 * instead of sockets. Only the rest is simulated: the store that the producer watches ("truth"), the
 * network, the supervisor's messages, the work on a key.
 */
#ifndef MUSTER_WORLD_SESSION_H
#define MUSTER_WORLD_SESSION_H

#include "dst.h"
#include "envelope.h"
#include "keytab.h"
#include "mirror.h"
#include "session.h"
#include "link_store.h"
#include "workqueue.h"

enum {
	CONSUMERS_MAX = 4,
	TURN_FRAMES = 256,
	NO_SLOT = -1,
	NAME_MAX_BYTES = 32,
	VALUE_MAX_BYTES = 32 * 1024,	/* a few of them are more than LINK_STORE_BATCH_BYTES */
};

/* Rules that `--break` removes, in the glue or in the network, never in the product. */
#define SESSION_BREAKS(B)									\
	B(BEAT,         "beat",         "the producer sends no beats")				\
	B(EMPTY_BEAT,   "empty-beat",   "beats have neither the last number nor the hash")	\
	B(TOMBSTONE,    "tombstone",    "a removed key is dropped before consumers receive it")	\
	B(STALE_MIRROR, "stale-mirror", "the mirror is emptied when a snapshot begins")		\
	B(SWEEP,        "sweep",        "what a snapshot does not contain stays in the mirror")	\
	B(READY_GATE,   "ready-gate",   "a snapshot is sent before the view is ready")		\
	B(CREDIT,       "credit",       "the producer sends without credit")			\
	B(NONCE,        "nonce",        "every HELLO has the same nonce")			\
	B(EPOCH,        "epoch",        "frames of other sessions are accepted as our own")	\
	B(SILENCE,      "silence",      "the consumer has no timeout for a silent producer")	\
	B(DEDUP,        "dedup",        "a key that changes while in work is not queued again")

enum session_break {
	BREAK_NONE,
#define BREAK_ENUM(ID, name, what) BREAK_##ID,
	SESSION_BREAKS(BREAK_ENUM)
#undef BREAK_ENUM
};

/* ---- The truth: every write has a number (rv), so what a consumer holds has a version ---- */

struct truth_key {
	bool		present, unique;	/* unique: a new name each time it is created */
	bool		has_uid;
	char		name[NAME_MAX_BYTES];
	uint32_t	name_len;
	uint64_t	life;			/* counts creations: part of a unique name, and of the uid */
	uint64_t	rv;			/* last write */
	uint64_t	value_rv;		/* last write that changed the bytes: a function of it */
	uint64_t	removed_rv;		/* last time it was removed, or replaced by another uid */
	uint32_t	value_len;
};

struct truth {
	struct truth_key	*keys;
	uint32_t		 count, present, value_max;
	uint64_t		 rv;
};

/* Texts and bytes of a key as they are now, valid until the next call. */
struct truth_item {
	char		uid[NAME_MAX_BYTES], rv[NAME_MAX_BYTES];
	struct wire_str	key_s, uid_s, rv_s;
	struct wire_bin	value;
};

void truth_init(struct truth *t, struct sim *sim);
void truth_free(struct truth *t);
void truth_read(const struct truth *t, uint32_t i, struct truth_item *out);
/* True: after the write `rv` the key was removed, or got another uid. */
bool truth_was_removed(const struct truth *t, const struct body_item *item);
/*
 * What is wrong with a mirror's copy; NULL: it is the truth. rv may lag behind writes that changed
 * nothing else.
 */
const char *truth_differs(const struct truth *t, const struct body_item *item);
uint64_t text_number(struct wire_str s);

/* ---- Both ends ---- */

struct conn {
	struct sim_pipe	up, down;
};

/* What the producer has sent in one session: the model that the mirror is compared with. */
struct shadow {
	struct keytab	*keys;
	uint64_t	*versions;	/* by id */
	uint32_t	 cap;
	uint64_t	 hash;
};

struct peer {
	bool			open;
	uint64_t		incarnation, window;
	struct session_out	session;
	int			slot;
	struct shadow		sent;
};

struct producer {
	struct sim_node	 node;
	uint64_t	 incarnation;
	struct intern		*pool;
	struct link_store	*view;
	struct peer	 peers[CONSUMERS_MAX];
	uint32_t	 sessions;
	uint32_t	 listed;	/* keys of the truth read since the start */
	uint32_t	 population;	/* largest number of keys it had to hold */
};

struct tracked {
	uint64_t	changed, seen;	/* the last change, and the one that work began with */
	uint64_t	rv, uid, value;	/* what the handler last got; the value as its hash */
	bool		held, in_work;	/* held: in the mirror */
	bool		unclean;	/* changed after the last successful work began */
};

struct consumer {
	struct sim_node		 node;
	char			 name[16];
	uint32_t		 index;
	uint64_t		 incarnation, window;
	struct conn		 conn;
	bool			 writable;
	struct session_in	 session;
	struct intern		*pool;		/* every second consumer has one */
	struct mirror		*mirror;
	struct workqueue	*queue;
	struct keytab		*keys;		/* of tracked */
	struct tracked		*tracked;
	uint32_t		 tracked_cap, unclean;
	uint64_t		 clock;
	uint32_t		 workers, workers_max;
	int64_t			 slow_ms;	/* reads one frame, then does other work for so long */
	uint64_t		 resyncs;
	uint64_t		 settled_hash, settled_rv;	/* last state found equal to the truth */
	bool			 settled;
};

struct session_world {
	struct sim		*sim;
	struct truth		 truth;
	struct producer		 producer;
	struct consumer		 consumers[CONSUMERS_MAX];
	uint32_t		 nconsumers;
	msgpack_sbuffer		 buffer;
	struct msg_arena	 arena;
	uint32_t		 actions;	/* still to come */
	uint64_t		 steady_ms;	/* at most so long between two of them; 0: it varies */
	uint32_t		 only;		/* mask of the kinds that happen in this history */
	uint32_t		 work_failures;	/* in a thousand */
	uint32_t		 notices;	/* of the supervisor, in flight */
	bool			 no_faults;	/* so no session may start over */
	bool			 final_changes_made;	/* after everything was settled once */
	int64_t			 faults_over_ms;
};

extern const struct world session_world;

void producer_start(struct session_world *w);
void producer_crash(struct session_world *w);
void producer_update(struct session_world *w, uint32_t key);	/* the truth has changed here */
void producer_remove(struct session_world *w, uint32_t key);	/* the truth has removed this key */
void producer_check(struct session_world *w);

void consumer_start(struct session_world *w, uint32_t i);
void consumer_crash(struct session_world *w, uint32_t i);
void consumer_producer_up(struct session_world *w, uint32_t i, uint64_t incarnation);
void consumer_check(struct session_world *w, struct consumer *c);
const char *consumer_unsettled(struct session_world *w, struct consumer *c);

/* One body and its envelope into a pipe. */
enum sim_sent world_send(struct session_world *w, struct sim_pipe *p, const struct envelope *env,
    const union msg_body *body);
enum sim_sent world_send_buffer(
    struct session_world *w, struct sim_pipe *p, const struct envelope *env, uint32_t items);
/* Parses a received frame; NULL: it is valid, else why it is not. */
const char *world_open(struct session_world *w, const struct sim_node *at,
    const struct sim_frame *bytes, struct frame *f, union msg_body *first);
void world_reopen(struct session_world *w, uint32_t i);	/* soon, once both ends are up */

void shadow_reset(struct shadow *s);
void shadow_free(struct shadow *s);
/* False: the end of a key that this consumer was never sent. */
bool shadow_apply(struct shadow *s, const struct body_item *item);

static inline bool
broken(const struct session_world *w, enum session_break b)
{
	return w->sim->broken == (unsigned)b;
}

#endif
