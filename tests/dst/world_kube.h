/*
 * tests/dst/world_kube.h - the world of the Kubernetes plane: a model apiserver, and two instances of the
 * watcher that read, write and elect a leader on it, each under an actor with a mirror.
 *
 * Product code in each instance: reflector, store, plan, lease; the glue is written as reading.c, stream.c,
 * service.c and elect.c do it. Simulated is what lies outside: the server with its history, its lagging
 * replicas and its lies; the network; the actor.
 *
 * A write of the server has a number (rv) and a uid is never used twice, so whatever an instance says can
 * be dated; rv alone cannot, because a cluster may be restored to an earlier one.
 */
#ifndef MUSTER_WORLD_KUBE_H
#define MUSTER_WORLD_KUBE_H

#include "actors/kube-watcher/plan.h"
#include "actors/kube-watcher/reflector.h"
#include "actors/kube-watcher/store.h"
#include "dst.h"

enum {
	KUBE_KEYS_MAX	= 10,
	KUBE_INSTANCES	= 2,
	KUBE_REPLICAS	= 3,
	KUBE_LOG_MAX	= 2048,
	KUBE_WRITES_MAX = 512,
	KUBE_TEXT	= 40,
	KUBE_NOBODY	= -1,
};

/* Rules that `--break` takes out, in the glue or in the network, never in the product. */
#define KUBE_BREAKS(B)										\
	B(SWEEP,       "sweep",       "what a complete list does not name stays in the store")	\
	B(DROP,        "drop",        "a list that broke off counts as complete")		\
	B(INITIAL_END, "initial-end", "the first initial event counts as the end of the list")	\
	B(MARKS,       "marks",       "marks of a list that broke off count for the next one")	\
	B(BRAKE,       "brake",       "a list that suddenly shrank is believed at once")	\
	B(ANY_VERSION, "any-version", "the first list takes any version, as client-go does")	\
	B(BOOKMARK,    "bookmark",    "a bookmark overtakes the events before it")		\
	B(LATE,        "late",        "words of an older request are taken for the present one") \
	B(RESYNC,      "resync",      "no list from time to time: a lost event stays lost")	\
	B(REPLAY,      "replay",      "events that come again are taken for new ones")		\
	B(ROLLBACK,    "rollback",    "a confirmed list does not replace what is newer")	\
	B(OLDER,       "older",       "older versions of an object are published too")		\
	B(OWN_WRITE,   "own-write",   "answers to own writes are not merged into the store")	\
	B(PASSED,      "passed",      "an answer that the watch has overtaken is merged all the same") \
	B(OLD_EPOCH,      "predates",    "an answer from before a restore is merged all the same") \
	B(TOMBSTONE,   "tombstone",   "an own delete is not remembered")			\
	B(READY_GATE,  "ready-gate",  "the mirror is told before the first list is complete")	\
	B(LEASE,       "lease",       "writes do not ask for the lease")			\
	B(SEND_TIME,   "send-time",   "a renewal counts from its answer, not from its sending")	\
	B(SIGN_OF_LIFE, "sign-of-life", "the renewals of the holder go unnoticed")		\
	B(TIMEOUT,     "timeout",     "a write is waited for longer than the lease lasts")	\
	B(RELEASE,     "release",     "the lease is released while a write may still arrive")	\
	B(FORMER_LIFE, "former-life", "the lease is released though a former life may have written") \
	B(DELETED,     "deleted",     "a deleted lease is created anew without waiting")	\
	B(UNKNOWN,     "unknown",     "a write without an answer counts as not done")		\
	B(REPEAT,      "repeat",      "a write without an answer is sent again")

enum kube_break {
	BREAK_KUBE_NONE,
#define KUBE_BREAK_ENUM(ID, name, what) BREAK_KUBE_##ID,
	KUBE_BREAKS(KUBE_BREAK_ENUM)
#undef KUBE_BREAK_ENUM
};

/* ---- The server ---- */

struct kube_object {
	uint32_t	uid;		/* 0: not there */
	uint64_t	rv;
	bool		ending;		/* deletionTimestamp: a finalizer holds it */
};

struct kube_state {
	struct kube_object	objects[KUBE_KEYS_MAX];
};

/* One line of the history. */
struct kube_event {
	uint64_t		rv;
	uint32_t		key;
	enum watch_type		type;
	struct kube_object	object;		/* DELETED: as it was, at the version of its end */
};

enum kube_watchlist {
	WATCHLIST_GOOD,
	WATCHLIST_REJECTED,
	WATCHLIST_IGNORED,
	WATCHLIST_ERROR,
	WATCHLIST_FORBIDDEN
};

struct kube_server {
	uint64_t		rv, compacted;
	struct kube_state	now;
	struct kube_event	log[KUBE_LOG_MAX];	/* in order of rv, without holes in it */
	uint32_t		nlog, keys;
	uint64_t		seen[KUBE_REPLICAS];	/* how far each has come */
	enum kube_watchlist	watchlist;
	uint32_t		uids;			/* used so far */
	bool			ended[KUBE_LOG_MAX];	/* by uid: it was deleted, or a restore undid it */
	bool			finalizers;		/* some deletes take two steps */
	uint32_t		lies;			/* lists to come that are empty and should not be */
	struct lease_seen	lease;
	bool			has_lease;
	uint32_t		lives;			/* counts restores: what is older is cut */
};

void server_init(struct kube_server *s, struct sim *sim);
/* Changes; each is one line of the history. */
void server_create(struct kube_server *s, uint32_t key);
void server_change(struct kube_server *s, uint32_t key);
void server_delete(struct kube_server *s, uint32_t key);
void server_compact(struct kube_server *s, uint64_t rv);
void server_restore(struct kube_server *s, uint64_t rv);
/* What was there at that version. */
struct kube_state server_at(const struct kube_server *s, uint64_t rv);
/* The first line of the history after rv; s->nlog: none. */
uint32_t server_after(const struct kube_server *s, uint64_t rv);

/* A request to change something, as it arrives; the answer. */
struct kube_write {
	enum op		op;
	uint32_t	key, uid;
	uint64_t	rv;
};
struct kube_reply {
	int			status;
	const char	       *reason;
	enum plan_body		body;
	struct kube_object	object;
};
/* *done: it was executed. */
struct kube_reply server_execute(
    struct kube_server *s, struct sim *sim, const struct kube_write *w, bool *done);

/* ---- An instance: the watcher's process, and the actor above it ---- */

/* A write from the actor's side: what it asked for, what it was told, what really happened. */
struct kube_deed {
	int		instance;
	struct kube_write write;
	uint32_t	life;		/* of the watcher that it was given to */
	uint32_t	executed;
	bool		settled;	/* told, or its watcher is gone: unknown */
	enum outcome	outcome;
};

/* What the actor knows for certain because it did it itself. */
struct kube_own {
	uint32_t	uid;
	uint64_t	rv;
	bool		gone;
};

struct kube_instance {
	struct kube_world	*world;
	int			 index;
	struct sim_node		 node;
	char			 name[8];
	/* the watcher */
	struct reflector_server	 server;
	struct reflector	 reflector;
	struct store		*store;
	struct plan		 plan;
	struct lease		 lease;
	int64_t			 cut_off_ms;	/* until then nothing about the Lease gets through */
	bool			 ready;		/* the first list of this life is complete */
	bool			 accepting_rollback;	/* the list under way does */
	bool			 leaving;	/* an orderly end */
	bool			 unmarked;	/* BREAK_KUBE_MARKS: the store is still in the list before */
	struct kube_call	*reading;	/* list or watch under way */
	uint32_t		 jobs[PLAN_WRITES_MAX];	/* slot -> deed */
	struct kube_object	 view[KUBE_KEYS_MAX];	/* what the bus would hold */
	/* the actor: outlives the watcher */
	struct kube_object	 mirror[KUBE_KEYS_MAX];
	uint64_t		 compared_rv;	/* the store was found equal to the server then */
	uint32_t		 compared_life;
	uint32_t		 told;		/* of which life of the server */
	uint32_t		 list_life;	/* of the server, when the list under way began */
	uint32_t		 begun, noticed; /* the same, by the reflector; the last it knows of */
	struct kube_own		 own[KUBE_KEYS_MAX];
};

/* ---- The network ---- */

enum kube_ask { ASK_LIST, ASK_WATCH, ASK_WRITE, ASK_LEASE };

struct kube_call {
	struct kube_call	*next;		/* all of a history */
	struct kube_instance	*instance;
	uint32_t		 life;		/* of the node */
	enum kube_ask		 ask;
	bool			 over;		/* the client has given up or has its answer */
	uint32_t		 id;		/* the reflector's */
	/* list and watch */
	uint64_t		 from;		/* version asked for; 0: most recent */
	bool			 any, initial;
	uint32_t		 limit, offset;
	uint64_t		 snapshot;	/* version of the list */
	bool			 lie, last_page;
	struct reflector_failure failure;
	/* a stream */
	uint32_t		 replica, server_life;
	uint64_t		 cursor, promised;	/* given to the client; on its way */
	uint64_t		 skip;		/* this event gets lost */
	bool			 mute;		/* half open */
	bool			 initial_sent, waking;
	int64_t			 timeout_ms, ends_ms;
	/* write and lease */
	uint32_t		 slot, deed;
	uint32_t		 time;		/* of the store, when it was sent */
	struct lease_step	 step;
	char			 rv[KUBE_TEXT];
	bool			 sent;
	int64_t			 lag_ms, due_ms;	/* the answer arrives: 0: none is on its way */
	struct kube_reply	 reply;
	enum lease_result	 result;
	struct lease_seen	 seen;
};

struct kube_weather {
	uint32_t	refuse, lose, lose_answer, slow, limit, fail, cut, mute, stray, duplicate, lag, lossy;
	uint32_t	late;		/* answers about the Lease */
	uint32_t	tardy;		/* answers to writes, up to the last moment */
};

struct kube_world {
	struct sim		*sim;
	struct kube_server	 server;
	struct kube_instance	 instances[KUBE_INSTANCES];
	struct kube_call	*calls;
	struct kube_deed	 deeds[KUBE_WRITES_MAX];
	uint32_t		 ndeeds;
	struct kube_weather	 weather;
	unsigned		 theme;
	uint32_t		 actions;
	uint32_t		 arriving;	/* writes on their way to the server */
	int64_t			 lease_ms;
	bool			 elect, hints;	/* hints: the Lease is watched, not only looked at */
	bool			 lossy;		/* the server may withhold something: lists must find out */
	int64_t			 relist_ms;
	int64_t			 no_restart_ms;	/* not before: somebody must remember who held the Lease */
	int64_t			 latency_ms;
	bool			 encore;
	int64_t			 calm_ms;
};

extern const struct world kube_world;

/* network: kube_wire.c */
void wire_read(struct kube_instance *in, const struct reflector_step *step);
void wire_stop(struct kube_call *c);
void wire_write(struct kube_instance *in, uint32_t slot, uint32_t deed, int64_t timeout_ms);
void wire_lease(struct kube_instance *in, const struct lease_step *step);
void wire_lease_changed(struct kube_world *w);
/* Something new can be read: streams get it, each in its own time. */
void wire_news(struct kube_world *w);
void wire_break(struct kube_world *w);
void wire_free(struct kube_world *w);

/* the watcher's glue: kube_watcher.c */
void watcher_start(struct kube_instance *in);
void watcher_crash(struct kube_instance *in);
void watcher_leave(struct kube_instance *in);
void watcher_free(struct kube_instance *in);
void watcher_item(struct kube_instance *in, uint32_t id, uint32_t key, const struct kube_object *o);
void watcher_event(struct kube_instance *in, uint32_t id, const struct kube_event *e);
void watcher_bookmark(struct kube_instance *in, uint32_t id, uint64_t rv, bool initial_end);
void watcher_page(struct kube_instance *in, const struct kube_call *c);
void watcher_written(struct kube_instance *in, const struct kube_call *c);
void watcher_elected(struct kube_instance *in, const struct kube_call *c);
void watcher_drive(struct kube_instance *in);
void watcher_check(struct kube_instance *in);
const char *watcher_unsettled(struct kube_instance *in);

/* the actor: kube_actor.c */
void actor_put(struct kube_instance *in, uint32_t key, const struct kube_object *o);
void actor_gone(struct kube_instance *in, uint32_t key);
void actor_act(struct kube_instance *in);	/* one random write */
/* reply: of the server; NULL: it never came that far. */
void actor_told(
    struct kube_instance *in, uint32_t deed, enum outcome outcome, const struct kube_reply *reply);
void actor_orphaned(struct kube_instance *in);	/* its watcher is gone */
/* A write of an instance took effect just now. */
void actor_executed(struct kube_world *w, uint32_t deed);
void actor_forget_own(struct kube_world *w);	/* the cluster was restored: nothing is certain any more */

void kube_key(char out[KUBE_TEXT], uint32_t key);
void kube_uid(char out[KUBE_TEXT], uint32_t uid);
void kube_rv(char out[KUBE_TEXT], uint64_t rv);
uint64_t kube_number(const char *text);

static inline bool
kube_broken(const struct kube_world *w, enum kube_break b)
{
	return w->sim->broken == (unsigned)b;
}

#endif
