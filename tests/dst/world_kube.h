/*
 * tests/dst/world_kube.h - the world of kube-watcher: a model apiserver, and two instances of the watcher
 * that read, write and elect a leader on it, each with an actor that has a mirror.
 *
 * Product code in each instance: reflector, store, plan, lease; the glue is written as informer.c, stream.c,
 * service.c and elect.c do it. Simulated is the rest: the server with its history, its lagging replicas
 * and its false answers; the network; the actor.
 *
 * A write of the server has a number (rv) and a uid is never used twice, so every value that an instance
 * publishes has a version; rv alone is not enough, because a cluster may be restored to an earlier one.
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
};

/* Rules that `--break` removes, in the glue or in the network, never in the product. */
#define KUBE_BREAKS(B)										\
	B(SWEEP,       "sweep",       "what a complete list does not contain stays in the store")	\
	B(DROP,        "drop",        "a list that broke off counts as complete")		\
	B(INITIAL_END, "initial-end", "the first initial event counts as the end of the list")	\
	B(MARKS,       "marks",       "marks of a list that broke off count for the next one")	\
	B(CONFIRM,     "confirm",     "a list that suddenly shrank is accepted at once")	\
	B(ANY_VERSION, "any-version", "the first list takes any version, as client-go does")	\
	B(BOOKMARK,    "bookmark",    "a bookmark overtakes the events before it")		\
	B(LATE,        "late",        "answers to an older request are used for the present one") \
	B(RESYNC,      "resync",      "no list from time to time: a lost event stays lost")	\
	B(REPLAY,      "replay",      "repeated events are accepted as new ones")			\
	B(ROLLBACK,    "rollback",    "a confirmed list does not replace what is newer")	\
	B(OLDER,       "older",       "older versions of an object are published too")		\
	B(OWN_WRITE,   "own-write",   "answers to own writes are not merged into the store")	\
	B(OVERTAKEN,   "overtaken",   "an answer that the watch has overtaken is merged all the same") \
	B(PREDATES,    "predates",    "an answer from before a restore is merged all the same") \
	B(TOMBSTONE,   "tombstone",   "an own delete is not remembered")			\
	B(READY_GATE,  "ready-gate",  "the mirror is filled before the first list is complete") \
	B(LEASE,       "lease",       "writes do not need the lease")				\
	B(SEND_TIME,   "send-time",   "a renewal counts from its answer, not from its sending")	\
	B(RENEWAL,     "renewal",     "the renewals of the holder are ignored")			\
	B(TIMEOUT,     "timeout",     "the timeout of a write is longer than the lease")	\
	B(RELEASE,     "release",     "the lease is released while a write may still arrive")	\
	B(FORMER_PROCESS, "former-process", "the lease is released, but a former process may have written") \
	B(DELETED,     "deleted",     "a deleted lease is created again without waiting")	\
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

/* One entry of the history. */
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
	uint64_t		seen[KUBE_REPLICAS];	/* the last version of each */
	enum kube_watchlist	watchlist;
	uint32_t		uids;			/* used so far */
	bool			ended[KUBE_LOG_MAX];	/* by uid: it was deleted, or a restore undid it */
	bool			finalizers;		/* some deletes take two steps */
	uint32_t		empty_lists;			/* lists to come that are empty by mistake */
	struct lease_seen	lease;
	bool			has_lease;
	uint32_t		restores;		/* connections older than the last are broken */
};

void server_init(struct kube_server *s, struct sim *sim);
/* Changes; each is one entry of the history. */
void server_create(struct kube_server *s, uint32_t key);
void server_change(struct kube_server *s, uint32_t key);
void server_delete(struct kube_server *s, uint32_t key);
void server_compact(struct kube_server *s, uint64_t rv);
void server_restore(struct kube_server *s, uint64_t rv);
/* Returns the objects at that version. */
struct kube_state server_at(const struct kube_server *s, uint64_t rv);
/* Returns the first entry of the history after rv; s->nlog: none. */
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

/* ---- An instance: the watcher's process, and the actor that uses it ---- */

/* A write from the actor's side: what it requested, the outcome it received, what really happened. */
struct kube_write_record {
	int		instance;
	struct kube_write request;
	uint32_t	life;		/* of the watcher that received it */
	uint32_t	executed;
	bool		settled;	/* answered, or its watcher is gone: unknown */
	enum outcome	outcome;
};

/* What is certain for the actor, because it is the result of its own write. */
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
	int64_t			 cut_off_ms;	/* until then all requests about the Lease are lost */
	bool			 ready;		/* the first list of this life is complete */
	bool			 accepting_rollback;	/* the list in progress does */
	bool			 leaving;	/* in a clean stop */
	bool			 unmarked;	/* BREAK_KUBE_MARKS: the store is still in the list before */
	struct kube_call	*reading;	/* list or watch in progress */
	uint32_t		 jobs[PLAN_WRITES_MAX];	/* slot -> write_id */
	struct kube_object	 view[KUBE_KEYS_MAX];	/* what the bus would hold */
	/* the actor; it outlives the watcher */
	struct kube_object	 mirror[KUBE_KEYS_MAX];
	uint64_t		 compared_rv;	/* the store was found equal to the server then */
	uint32_t		 compared_life;
	/* server.restores at these times */
	uint32_t		 published_restores;	/* when the actor received all objects */
	uint32_t		 list_restores;	/* when the list in progress began */
	uint32_t		 begun_restores;	/* when the reflector began that list */
	uint32_t		 noticed_restores;	/* of its last complete list, or rollback */
	struct kube_own		 own[KUBE_KEYS_MAX];
};

/* ---- The network ---- */

enum kube_call_kind { CALL_LIST, CALL_WATCH, CALL_WRITE, CALL_LEASE };

struct kube_call {
	struct kube_call	*next;		/* all calls of a history */
	struct kube_instance	*instance;
	uint32_t		 life;		/* of the node */
	enum kube_call_kind	 kind;
	bool			 over;		/* the client has given up or has its answer */
	uint32_t		 id;		/* the reflector's */
	/* list and watch */
	uint64_t		 from;		/* version requested; 0: most recent */
	bool			 any, initial;
	uint32_t		 limit, offset;
	uint64_t		 snapshot;	/* version of the list */
	bool			 falsely_empty, last_page;
	struct reflector_failure failure;
	/* a stream */
	uint32_t		 replica, restores;
	uint64_t		 cursor, promised;	/* delivered to the client; in flight */
	uint64_t		 skip;		/* this event gets lost */
	bool			 half_open;	/* nothing arrives any more */
	bool			 initial_sent, waking;
	int64_t			 timeout_ms, ends_ms;
	/* write and lease */
	uint32_t		 slot, write_id;
	uint32_t		 restore_epoch;	/* of the store, when it was sent */
	struct lease_step	 step;
	char			 rv[KUBE_TEXT];
	bool			 sent;
	int64_t			 lag_ms, due_ms;	/* the answer arrives; 0: none is in flight */
	struct kube_reply	 reply;
	enum lease_result	 result;
	struct lease_seen	 seen;
};

/* How often each fault happens, in a thousand. */
struct kube_faults {
	uint32_t	refuse, lose, lose_answer, slow, limit, fail, cut, half_open, stray, duplicate;
	uint32_t	lag, lossy;
	uint32_t	lease_late;	/* answers about the Lease */
	uint32_t	write_late;	/* answers to writes, at most by their timeout */
};

struct kube_world {
	struct sim		*sim;
	struct kube_server	 server;
	struct kube_instance	 instances[KUBE_INSTANCES];
	struct kube_call	*calls;
	struct kube_write_record writes[KUBE_WRITES_MAX];
	uint32_t		 nwrites;
	struct kube_faults	 faults;
	unsigned		 scenario;
	uint32_t		 actions;
	uint32_t		 arriving;	/* writes in flight to the server */
	int64_t			 lease_ms;
	bool			 elect, hints;	/* hints: the Lease is watched, not only read */
	bool			 lossy;		/* the server may lose events: only lists can correct that */
	int64_t			 relist_ms;
	int64_t			 no_restart_ms;	/* not before: one must remember who held the Lease */
	int64_t			 latency_ms;
	bool			 final_changes_made;
	int64_t			 faults_over_ms;
};

extern const struct world kube_world;

/* network: kube_wire.c */
void wire_read(struct kube_instance *in, const struct reflector_step *step);
void wire_stop(struct kube_call *c);
void wire_write(struct kube_instance *in, uint32_t slot, uint32_t write_id, int64_t timeout_ms);
void wire_lease(struct kube_instance *in, const struct lease_step *step);
void wire_lease_changed(struct kube_world *w);
/* The server has a change: each stream delivers it after its own delay. */
void wire_server_changed(struct kube_world *w);
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
/* reply: of the server; NULL: the server did not answer. */
void actor_answered(
    struct kube_instance *in, uint32_t write_id, enum outcome outcome, const struct kube_reply *reply);
void actor_lost_watcher(struct kube_instance *in);	/* its watcher is gone */
/* A write of an instance took effect just now. */
void actor_executed(struct kube_world *w, uint32_t write_id);
void actor_clear_own(struct kube_world *w);	/* the cluster was restored: no result is certain any more */

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
