/*
 * actors/insight/insight.h - the parts of the actor.
 *
 *	main.c		 handles messages, reports the status, explains
 *	reconcile.c	 one key: read both mirrors, plan, start at most one write, handle its outcome
 *	plan.c		 decides (pure)
 *	insight_kinds.c	 reads and writes the two kinds of insight
 *	journal.c	 the last plan and the last write of each key
 */
#ifndef MUSTER_INSIGHT_INSIGHT_H
#define MUSTER_INSIGHT_INSIGHT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "actor.h"
#include "kinds.h"
#include "kube/time.h"
#include "msg.h"
#include "workqueue.h"
#include "writes.h"

/* ---- The status of an insight: one table for comparing, cutting and writing (plan.c) ---- */

enum insight_kind { INSIGHT_NODES, INSIGHT_POOLS, INSIGHT_KIND_MAX };

/*
 * Every field of a status except its lists: F(ID, the object that contains it or "", name, form,
 * maximum of code points or 0, kinds that have it).
 */
#define STATUS_FIELDS(F)						\
	F(NAME,          "",             "name",                ALWAYS, 0,   OF_BOTH)	\
	F(SCOPE,         "",             "scopeType",           ALWAYS, 0,   OF_BOTH)	\
	F(POOL_GROUP,    "poolResource", "group",               ALWAYS, 0,   OF_NODES)	\
	F(POOL_RESOURCE, "poolResource", "resource",            ALWAYS, 0,   OF_NODES)	\
	F(POOL,          "poolResource", "name",                ALWAYS, 0,   OF_NODES)	\
	F(VERSION,       "",             "version",             IF_ANY, 0,   OF_NODES)	\
	F(ESTIMATE,      "",             "estimatedToComplete", IF_ANY, 0,   OF_NODES)	\
	F(MESSAGE,       "",             "message",             ALWAYS, 100, OF_NODES)	\
	F(ASSESSMENT,    "",             "assessment",          ALWAYS, 0,   OF_POOLS)	\
	F(PERCENT,       "",             "completionPercent",   NUMBER, 0,   OF_POOLS)

enum status_field {
#define FIELD_ENUM(ID, ...) FIELD_##ID,
	STATUS_FIELDS(FIELD_ENUM)
#undef FIELD_ENUM
	FIELD_MAX
};
enum status_form { ALWAYS, IF_ANY, NUMBER };
enum { OF_NODES = 1 << INSIGHT_NODES, OF_POOLS = 1 << INSIGHT_POOLS, OF_BOTH = OF_NODES | OF_POOLS };

struct status_field_row {
	const char		*inside, *name;
	enum status_form	 form;
	uint32_t		 limit;
	unsigned		 kinds;		/* mask of OF_ */
};
extern const struct status_field_row status_fields[FIELD_MAX];

enum {
	/* More than the CRDs allow, so that an overlong foreign list never equals ours. */
	CONDITIONS_MAX	  = 8,
	SUMMARIES_MAX	  = 20,
	CONDITION_MESSAGE = 32768,	/* code points */
};

struct insight_condition {
	struct wire_str	type, status, reason, message;
	struct wire_str	time;		/* stored: lastTransitionTime; desired: since, or "" */
};
struct insight_summary {
	struct wire_str	type, count;	/* count in decimal, "0" rather than "" */
};
/* Texts are views; PERCENT's into the struct itself, so it is filled in place and not copied. */
struct insight_status {
	struct wire_str		 fields[FIELD_MAX];	/* "" for those that the kind does not have */
	struct insight_summary	 summaries[SUMMARIES_MAX];
	struct insight_condition conditions[CONDITIONS_MAX];
	uint32_t		 nsummaries, nconditions;
	char			 percent[24];
};

/* ---- The two kinds (insight_kinds.c). Never: code that depends on the kind other than by its row ---- */

struct insight_kind_row {
	const char	*of;		/* the resource in keys of node-state and of the work queue */
	const char	*setting;	/* enables the kind */
	const char	*resource, *kind;
	enum msg	 state, insight;	/* messages */
	/* name: of the object. The body is one of the messages above. */
	void		(*read_state)(struct insight_status *out, struct wire_str name,
			    const union msg_body *body);
	void		(*read_insight)(struct insight_status *out, const union msg_body *body);
	struct wire_str	(*deleted)(const union msg_body *body);	/* deletionTimestamp, or "" */
};
extern const struct insight_kind_row insight_kinds[INSIGHT_KIND_MAX];

enum insight_kind insight_kind_by_state(enum msg m);	/* INSIGHT_KIND_MAX: none */
enum insight_kind insight_kind_by_message(enum msg m);
enum insight_kind insight_kind_by_resource(struct wire_str resource);
/* The kind and the name of a key such as "nodes/<name>"; INSIGHT_KIND_MAX: not such a key. */
enum insight_kind insight_kind_of_key(const char *key, size_t len, struct wire_str *name);

struct insight_plan;
/*
 * JSON bodies. api: "group/version" as the cluster has it. They return the length, or 0 when it
 * does not fit. The server drops a status in a POST, so the body of a create has none.
 */
size_t status_create_body(char *buf, size_t size, enum insight_kind kind, const char *api,
    struct wire_str name);
size_t status_update_body(char *buf, size_t size, enum insight_kind kind, const char *api,
    const struct insight_status *desired, const struct insight_plan *p);
/* The Event about a write that the server refused. */
size_t status_refused_event(char *buf, size_t size, const char *verb, struct wire_str why);
/* The members of a status alone, into an open object. */
void status_put(struct json *j, enum insight_kind kind, const struct insight_status *s,
    const struct insight_condition *conditions, uint32_t nconditions);

/*
 * ---- The plan (plan.c, pure) ----
 *
 * - Level-triggered: the same input gives the same plan.
 * - While the stored status equals the desired one, nothing is written. A status that another client
 *   has changed differs, so it is written; so do conditions of other types.
 * - A condition keeps its stored time while its status stays. One whose status changed, that is new,
 *   or that has no valid time gets the time of its cause (since), else now. So times survive every
 *   restart.
 * - Nothing is deleted unless both mirrors are complete and current: node-state's and the cluster's.
 */
enum insight_verb {
	INSIGHT_NOTHING,
	INSIGHT_CREATE,	/* empty: the status follows */
	INSIGHT_STATUS,
	INSIGHT_DELETE,
	INSIGHT_WAIT,
	INSIGHT_VERB_MAX
};

enum {
	INSIGHT_REQUEUE_MS	= 1000,		/* unless the mirror changes before */
	INSIGHT_HOLD_MS		= 60 * 1000,	/* after a write that the cluster forbids */
};

/* All inputs of the plan. Texts are views. */
struct insight_input {
	bool				 enabled;	/* the setting of this kind */
	bool				 synced;	/* both mirrors were complete once */
	bool				 fresh;		/* ... and are current now (actor_fresh) */
	bool				 leading;
	bool				 refused;	/* by the server, and nothing has changed since */
	int64_t				 hold_ms;	/* > 0: no write of this kind for so long (RBAC) */
	enum kind_state			 state;		/* whether the cluster has the CRD */
	const struct insight_status	*desired;	/* NULL: no such object, or in no pool */
	const struct insight_status	*stored;	/* NULL: no insight */
	bool				 deleting;	/* stored, with a deletionTimestamp */
	int64_t				 now_us;	/* wall clock */
};

/* Filled in place and not copied: times may point into it. */
struct insight_plan {
	enum insight_verb	 verb;
	const char		*why;
	const char		*field;		/* the first that differs from the stored status, or "" */
	int64_t			 after_ms;	/* WAIT: requeue then; 0: a change enqueues the key */
	struct insight_condition conditions[CONDITIONS_MAX];	/* with their times, for the status */
	uint32_t		 nconditions;
	char			 now[TIME_TEXT_MAX];
};

void insight_plan(const struct insight_input *s, struct insight_plan *out);
const char *insight_verb_name(enum insight_verb v);

/* What a write's outcome means for its key. */
struct outcome_action {
	enum work_result	 result;
	int64_t			 after_ms;
	bool			 read_live;	/* first an OP_GET, which updates the mirror */
	bool			 refused;	/* until something changes */
	bool			 not_leader;	/* until this instance leads */
	bool			 hold;		/* all writes of the kind, for INSIGHT_HOLD_MS */
};

struct outcome_action outcome_action(enum op op, enum outcome o, int64_t retry_after_ms);

/* ---- The journal (journal.c): for `muster explain`, and for what the server refused ---- */

enum { JOURNAL_MESSAGE_MAX = 200 };

struct journal;

struct journal_entry {
	enum insight_verb	 verb;
	const char		*why, *field;	/* NULL: nothing was planned yet */
	/* The last write; at_us 0: there was none. */
	enum op			 op;
	bool			 status;	/* of the status subresource */
	enum outcome		 outcome;
	int64_t			 at_us;		/* wall clock */
	char			*message;	/* owned; NULL: none */
	bool			 refused;	/* by the server, and nothing has changed since */
};

struct journal *journal_new(void);
void journal_free(struct journal **jp);
/* Created when absent; valid until the next call. */
struct journal_entry *journal_entry(struct journal *j, const char *key, size_t len);
const struct journal_entry *journal_find(const struct journal *j, const char *key, size_t len);	/* or NULL */
void journal_drop(struct journal *j, const char *key, size_t len);
/* The key, or all of them, have changed: a refused write is tried again. */
void journal_clear_refused(struct journal *j, const char *key, size_t len);
void journal_clear_all_refused(struct journal *j);

/* ---- The actor ---- */

enum {
	API_MAX = 320,
	/* kube-watcher accepts 32 writes of one actor; Events and live reads need room, too. */
	INFLIGHT_MAX = 24,
};

struct insight_kind_state {
	bool		enabled;
	enum kind_state	state;
	bool		kind_reported;			/* a missing CRD was logged */
	char		group[254], api[API_MAX];	/* as the cluster has them: "group/version" */
	uint32_t	stored;				/* insights in the mirror */
	int64_t		hold_until_ms;			/* the cluster forbids writes */
};

/* A key in work: its write is in flight, or deferred until another one ends. */
struct inflight_write {
	STAILQ_ENTRY(inflight_write) next;
	const char		*key;		/* the work queue's, until actor_finish */
	size_t			 len;
	enum insight_kind	 kind;
	enum insight_verb	 verb;
	char			 uid[128];
};

struct insight {
	struct actor			*actor;
	struct insight_kind_state	 kinds[INSIGHT_KIND_MAX];
	bool				 nodes_synced, kube_synced;	/* once complete */
	bool				 leading;
	unsigned			 inflight;	/* at most INFLIGHT_MAX */
	STAILQ_HEAD(, inflight_write)	 deferred;
	struct journal			*journal;
	char				 body[WRITE_BODY_MAX];	/* of the write that is being requested */
};

/* spec.work: reconcile.c */
enum work_result insight_reconcile(struct actor *a, void *self, const struct work *w, int64_t *after_ms);

#endif
