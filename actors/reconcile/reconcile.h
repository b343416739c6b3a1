/*
 * actors/reconcile/reconcile.h - the loop of every actor that writes. For one key: read the mirrors, plan,
 * perform at most one effect, handle its outcome.
 *
 * The actor is left with a table of kinds, a plan and the bodies of its writes. struct reconciler is the
 * first member of its state, so the functions below that have an actor's signature go into its tables:
 *
 *	{ MSG_WIDGET,   ROLE_KUBE_WATCHER, reconcile_on_object },	.work = reconcile_work,
 *	{ MSG_KIND,     ROLE_KUBE_WATCHER, reconcile_on_kind   },	.tick = reconcile_tick,
 *	{ MSG_LEADER,   ROLE_KUBE_WATCHER, reconcile_on_leader },	.stop = reconcile_stop,
 *	{ MSG_SNAP_END, ROLE_KUBE_WATCHER, reconcile_on_synced },	and reconcile_start in its start
 *
 * and .ending = reconcile_ending, if what is in flight is to be answered before it stops.
 *
 * - Handlers only enqueue keys. What may affect all keys (a first snapshot, a CRD, the Lease) enqueues all.
 * - A key stays in work while its effect is in flight, so it never has two. At most RECONCILE_INFLIGHT_MAX
 *   keys have one; the others are deferred, and each slot that becomes free starts the next of them.
 * - Before the plan and before the effect the gate (gate.c) decides whether they may be.
 */
#ifndef MUSTER_RECONCILE_H
#define MUSTER_RECONCILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "actor.h"
#include "keytab.h"
#include "kinds.h"

struct json;
struct reconciler;
struct inflight_effect;

enum {
	/* kube-watcher accepts 32 writes of one actor; Events are among them. */
	RECONCILE_INFLIGHT_MAX	= 24,
	RECONCILE_KINDS_MAX	= 16,
	RECONCILE_LINKS_MAX	= 4,
	RECONCILE_REQUEUE_MS	= 1000,		/* unless a change enqueues the key before */
	RECONCILE_HOLD_MS	= 60 * 1000,	/* after a write that the cluster forbids */
	RECONCILE_EFFECT_MS	= 30 * 1000,	/* an effect that is no write has ended by then */
	OWN_WRITE_MS		= 5000,
};

/* ---- What an actor is made of ---- */

struct reconcile_kind {
	const char	*group, *resource;
	const char	*setting;	/* enables it; NULL: always enabled */
	enum msg	 message;	/* 0: not watched */
	enum link	 link;		/* that it is read from; 0: the one with the writes (own_write.c) */
	bool		 counted;	/* in the status: "12 insights" */
	bool		 optional;	/* a cluster without it is nothing to report */
	const char	*install;	/* what to do when its CRD is missing; NULL: apply deploy/crds */
};

/* A write, or a live read, of one object. */
struct reconcile_write {
	enum op		 op;
	unsigned	 kind;			/* row of the spec */
	const char	*subresource;		/* static, or NULL */
	const char	*action;		/* of the Event if it is refused: "UpdateStatus"; static */
	char		 ns[64], name[254];
	char		 uid[128], rv[128];	/* preconditions, or "" */
	size_t		 body_len;		/* of reconciler.body */
	uint64_t	 trace;
	bool		 unseen;		/* it changes no field that the kind's own link carries */
};

struct reconcile_step;
/*
 * Starts an effect that is no write, such as a call of a provider, and returns. Later, never from inside it,
 * reconcile_effect_done ends it. A plan allocates nothing for it: its step may be held back or deferred.
 */
typedef void effect_start(struct reconciler *r, struct inflight_effect *f, const struct work *w,
    const struct reconcile_step *step);

enum step_form { STEP_NOTHING, STEP_WAIT, STEP_READ, STEP_WRITE, STEP_EFFECT, STEP_FORM_MAX };

/* What the plan decided for a key. Texts are static: they stay in the journal. */
struct reconcile_step {
	enum step_form		 form;
	const char		*verb, *why;
	const char		*field;		/* the first that differs, or NULL */
	int64_t			 after_ms;	/* STEP_WAIT: plan again then; 0: a change enqueues the key */
	bool			 forget;	/* nothing is left that explain could show */
	bool			 destroys;	/* not while a mirror is stale */
	/* STEP_WRITE. STEP_READ: a live read; the key is planned again with its result. */
	struct reconcile_write	 write;
	/* STEP_EFFECT */
	const char		*what;		/* for `muster explain`: "delete VM"; static */
	int64_t			 number;	/* for `start`: what the plan chose, as the id of a VM */
	effect_start		*start;
};

struct reconcile_item {
	const struct work		*work;
	/* After a live read: what was read, and its result (OK or NOT_FOUND). NULL: the mirrors decide. */
	const struct reconcile_write	*read;
	const struct write_result	*live;
};

struct reconcile_spec {
	const struct reconcile_kind *kinds;
	unsigned	 nkinds;
	enum link	 links[RECONCILE_LINKS_MAX];	/* mirrors to plan from; the first has the writes */
	unsigned	 nlinks;
	const char	*refused_reason;	/* of the Event about a write that the server refused */
	const char	*noun;			/* of the kinds that are counted: "insights" */
	/* Calls reconcile_enqueue for each key that the change concerns. */
	void		(*keys)(struct reconciler *r, const struct change *c);
	/* Mask of the kinds that must be listed before this key is planned; NULL: all. */
	unsigned	(*kinds_of)(const char *key, size_t len);
	/* Reads the mirrors (actor_read), decides by a pure plan.c, fills in *out. */
	void		(*plan)(struct reconciler *r, const struct reconcile_item *i,
			    struct reconcile_step *out);
	/* When what the actor has in flight beside effects, as a drain, has ended; 0: nothing is. Or NULL. */
	int64_t		(*busy_until_ms)(struct reconciler *r);
};

struct reconcile_kind_state {
	bool		enabled;
	bool		absent_logged;
	enum kind_state	state;
	char		group[254], api[320];	/* as the cluster has them: "group/version" */
	uint32_t	objects;		/* in the mirror */
	int64_t		hold_until_ms;		/* the cluster forbids writes */
};

struct reconciler {
	struct actor			*actor;
	const struct reconcile_spec	*spec;
	struct reconcile_kind_state	 kinds[RECONCILE_KINDS_MAX];
	unsigned			 synced;	/* mask of spec.links that were complete once */
	bool				 leading;
	bool				 enqueues_all;
	unsigned			 inflight;
	int64_t				 inflight_until_ms;	/* the last of them has ended */
	bool				 ending;
	int64_t				 ends_ms;	/* ending: at the latest */
	STAILQ_HEAD(, deferred_key)	 deferred;
	struct keytab			*journal;
	char				 body[WRITE_BODY_MAX];	/* of the write that is being planned */
};

/* ---- The loop (reconcile.c) ---- */

void reconcile_start(struct reconciler *r, struct actor *a, const struct reconcile_spec *spec);
void reconcile_stop(struct actor *a, void *self);
enum work_result reconcile_work(struct actor *a, void *self, const struct work *w, int64_t *after_ms);
/* An Event about the object of that write; a plan may send one, too. */
void reconcile_event(struct reconciler *r, const struct reconcile_write *about, const char *type,
    const char *reason, struct wire_str note);

struct outcome_action;
/* The write of its step: the object that an Event about the effect is about. */
const struct reconcile_write *reconcile_effect_write(const struct inflight_effect *f);
/* Ends an effect. outcome: static. Of the action: result, after_ms, not_leader, refused (an Event, too). */
void reconcile_effect_done(struct reconciler *r, struct inflight_effect *f, const char *outcome,
    struct wire_str message, const struct outcome_action *action);

/*
 * ---- Stop (ending.c) ----
 *
 * Nothing new begins. The process ends when what is in flight has been answered: else the next one would
 * have to find out what became of it. The supervisor is asked for the time that this can take.
 */
void reconcile_ending(struct actor *a, void *self);
void reconcile_end_if_idle(struct reconciler *r);

/* ---- Kinds, leader, keys, status (reconcile_kinds.c) ---- */

void reconcile_on_object(struct actor *a, void *self, const struct change *c);
void reconcile_on_kind(struct actor *a, void *self, const struct change *c);
void reconcile_on_leader(struct actor *a, void *self, const struct change *c);
void reconcile_on_synced(struct actor *a, void *self, const struct change *c);
void reconcile_tick(struct actor *a, void *self, int64_t now_ms);
bool reconcile_synced(const struct reconciler *r);	/* every mirror was complete once */
void reconcile_enqueue(struct reconciler *r, const char *key, size_t len, const struct change *c);
/* spec->nkinds: none. */
unsigned reconcile_kind_by_message(const struct reconcile_spec *s, enum msg m);
unsigned reconcile_kind_by_resource(const struct reconcile_spec *s, struct wire_str resource);

/* ---- The gate (gate.c, pure): whether a key may be planned, and a step performed ---- */

struct gate_facts {
	bool		ending;		/* this process stops */
	bool		enabled;	/* the settings of its kinds */
	bool		synced;		/* every mirror was complete once */
	bool		fresh;		/* ... and is current now (actor_fresh) */
	bool		leading;
	bool		refused;	/* by the server, and nothing has changed since */
	int64_t		hold_ms;	/* > 0: no write for so long (RBAC) */
	enum kind_state	state;		/* of its kinds: the first that is not synced */
};

/* False: *s has what to do instead. */
bool gate_plan(const struct gate_facts *f, struct reconcile_step *s);
/* A step that may not be performed becomes STEP_WAIT. */
void gate_step(const struct gate_facts *f, struct reconcile_step *s);

/* ---- What an outcome means for its key (outcome.c, pure) ---- */

struct outcome_action {
	enum work_result	 result;
	int64_t			 after_ms;
	bool			 read_live;	/* first an OP_GET, which updates the mirror */
	bool			 refused;	/* until something changes */
	bool			 not_leader;	/* until this instance leads */
	bool			 hold;		/* all writes of the kind, for RECONCILE_HOLD_MS */
};

struct outcome_action outcome_action(enum op op, enum outcome o, int64_t retry_after_ms);

/*
 * ---- Own writes (own_write.c, pure): A11 ----
 *
 * What comes from kube-watcher is never older than an own write: its answer is in the mirror before `done`.
 * What comes through another actor (node-state) can be. Such a key waits until that link has caught up,
 * OWN_WRITE_MS at most; then, until it has, the key is planned from a live read each time.
 */
struct own_write {
	struct reconcile_write	 write;
	char			 rv[64];	/* of the object after it; "": it is gone */
	int64_t			 until_ms;
};
enum own_write_state { OWN_WRITE_SEEN, OWN_WRITE_WAIT, OWN_WRITE_READ };

/* seen: the object on the kind's link; NULL: it is not there. */
enum own_write_state own_write_check(const struct own_write *o, const struct change *seen, int64_t now_ms);

/* ---- The journal (journal.c): for `muster explain`, and what the next plan of a key must respect ---- */

enum { JOURNAL_MESSAGE_MAX = 200 };

struct journal_entry {
	const char		*verb, *why, *field;	/* NULL: nothing was planned yet */
	/* The last effect; at_us 0: there was none. */
	const char		*what, *subresource, *outcome;
	int64_t			 at_us;		/* wall clock */
	char			*message;	/* owned; NULL: none */
	bool			 refused;	/* by the server, and nothing has changed since */
	bool			 changed;	/* since the last plan */
	struct own_write	*own;		/* owned; NULL: none that has to be waited for */
};

/* A journal is a keytab of these entries. */
void journal_free(struct keytab **jp);
/* Created when absent; valid until the next call. */
struct journal_entry *journal_entry(struct keytab *j, const char *key, size_t len);
struct journal_entry *journal_find(const struct keytab *j, const char *key, size_t len);	/* or NULL */
void journal_drop(struct keytab *j, const char *key, size_t len);
/* An input of that key changed: a refused write is tried again. */
void journal_changed(struct journal_entry *e);
/* Something changed that may concern every key. */
void journal_clear_refused(struct keytab *j);
/* Members "plan" and "write" of the answer to `muster explain`. */
void journal_put_plan(const struct journal_entry *e, struct json *out);
void journal_put_write(const struct journal_entry *e, struct json *out);

#endif
