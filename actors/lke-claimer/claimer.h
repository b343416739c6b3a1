/*
 * actors/lke-claimer/claimer.h - the program: one machine of an LKE node pool per NodeClaim.
 *
 *	main.c		its tables, its start and stop; which keys a change concerns
 *	memory.c	what is remembered by key
 *	observe.c	reads cluster, pools, instances and instance types
 *	claim_view.c	reads one NodeClaim, its machine and its Node: the input of claim.c
 *	claim_step.c	turns the plan of a NodeClaim into a step
 *	claim_write.c	the bodies of its writes
 *	node_write.c	the bodies of patches of a Node
 *	pool_view.c	reads one pool key: the input of plan.c
 *	pool_step.c	turns the plan of a pool key into a step
 *	calls.c		the calls that change something, and their answers
 *	class.c		a LinodeNodeClass: its validation, status and finalizer
 *	spec_json.c	requirements and kubelet of a spec
 *	meters.c	its metrics
 *	explain.c	`muster explain`
 *
 * Keys of the work queue
 *	nodeclaims/NAME			a NodeClaim
 *	pools/NODEPOOL/TYPE		a pool key; NODEPOOL as its tag has it: a long name has one key
 *	linodenodeclasses/NAME		a LinodeNodeClass
 *	provider/linode			the list of pools and machines while nobody else asks for it
 *
 * What is remembered here is lost with the process, which only delays: what must not be lost is in the
 * cluster (reservation and intent, both annotations) or at the provider (tags).
 */
#ifndef MUSTER_LKE_CLAIMER_H
#define MUSTER_LKE_CLAIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actors/provider/absence.h"
#include "actors/provider/brake.h"
#include "actors/provider/call_effect.h"
#include "actors/provider/drain_set.h"
#include "actors/provider/id_index.h"
#include "actors/provider/intent.h"
#include "actors/provider/shared_list.h"
#include "actors/reconcile/reconcile.h"
#include "answers.h"
#include "claim.h"
#include "plan.h"
#include "pool_key.h"
#include "snapshot.h"
#include "status.h"

#define LKE_TERMINATION		"karpenter.sh/termination"	/* finalizer of NodeClaims and Nodes */
#define LKE_CLASS_TERMINATION	LINODE_GROUP "/termination"
#define LKE_PROVIDER		"linode://"
#define LKE_NODEPOOL_LABEL	"karpenter.sh/nodepool"
#define LKE_REGISTERED_LABEL	"karpenter.sh/registered"
#define LKE_INITIALIZED_LABEL	"karpenter.sh/initialized"
#define LKE_UNREGISTERED_TAINT	"karpenter.sh/unregistered"
#define LKE_DEADLINE_ANNOTATION	"karpenter.sh/nodeclaim-termination-timestamp"
#define LKE_POOL_KEYS		"pools/"
#define LKE_CLAIM_KEYS		"nodeclaims/"
#define LKE_CLASS_KEYS		"linodenodeclasses/"
#define LKE_PROVIDER_KEY	"provider/linode"

/* Rows of the kinds. */
enum { LKE_KIND_CLAIMS, LKE_KIND_POOLS, LKE_KIND_CLASSES, LKE_KIND_NODES };

enum {
	LKE_APART_MS	    = 5 * 1000,		/* between two observations of one fact */
	LKE_LEAVING_MS	    = 60 * 1000,	/* a machine that is listed for longer is deleted again */
	LKE_VERIFY_MS	    = 1000,		/* between two lists while a tag has to appear (C6) */
	LKE_PROVIDER_ID_MAX = sizeof(LKE_PROVIDER) + 24,
	LKE_POOL_KEY_MAX    = sizeof(LKE_POOL_KEYS) + LKE_KEY_SIZE,
};

/* A9: the termination deadline counts as two observations apart have it, the later one of both. */
struct claim_deadline {
	int64_t	observed_ms, at_ms;	/* of the last of them, on clock_mono_ms; 0: there was none */
	int64_t	used_ms;		/* INT64_MAX: none */
};

/* ID, label `state` of muster_lke_nodeclaims */
#define LKE_STATES(S)			\
	S(WAITING,     "waiting")	\
	S(LAUNCHED,    "launched")	\
	S(REGISTERED,  "registered")	\
	S(INITIALIZED, "initialized")	\
	S(DELETING,    "deleting")	\
	S(FOREIGN,     "foreign")

enum lke_state {
	LKE_STATE_NONE,		/* of another class, or not planned yet */
#define LKE_STATE_ENUM(ID, name) LKE_STATE_##ID,
	LKE_STATES(LKE_STATE_ENUM)
#undef LKE_STATE_ENUM
	LKE_STATE_MAX
};

/* What meters_tick has set last. */
struct lke_counts {
	unsigned	claims[LKE_STATE_MAX], claimed, claimable, coming, stopped;
	unsigned	set;	/* 0: nothing yet */
};

/* Of a NodeClaim. */
struct claim_memory {
	char			uid[64];	/* a later NodeClaim of that name starts anew */
	enum lke_state		state;		/* of its last plan */
	char			type[LKE_TYPE_ID_SIZE];		/* "": not resolved */
	char			pool_key[LKE_POOL_KEY_MAX];	/* "": none */
	enum lke_resolved	resolved;
	char			message[LKE_RESOLUTION_SIZE];	/* why none is resolved */
	int64_t			assigned;	/* the machine that the plan of its pool gave it; 0: none */
	bool			wants;		/* everything that a machine for it needs is there */
	int64_t			gone_id;	/* its machine, if it is gone; 0: it is not */
	int64_t			first_ms;	/* the first attempt; 0: none yet */
	bool			removable;	/* its machine may go: its Node is drained or never came */
	int64_t			read_ms;	/* it was read live then, before something is deleted */
	int64_t			tag_ms;		/* its tag was written then; 0: not by this process */
	uint64_t		tag_list;	/* lists that had begun when that was answered */
	struct absence		machine, launch, registration;
	struct claim_deadline	deadline;
	const char		*failure;	/* the last that an Event was sent about; static */
};

/* Of a pool key. */
struct pool_memory {
	struct intent		 intent;
	enum lke_intent_kind	 intent_kind;
	int64_t			 intent_count;
	bool			 unrecorded;	/* the NodePool is gone: the intent is here alone */
	uint64_t		 after;		/* lists that had begun when its last call ended */
	uint64_t		 seen_list;	/* the last list that was evaluated */
	unsigned		 lists;		/* in a row that brought nothing */
	int64_t			 waits_ms;	/* since the last progress, or the last call */
	uint32_t		 members;	/* machines of the last list */
	int64_t			 progress_ms;	/* members or count changed then */
	int64_t			 pool_count;
	const char		*violation;	/* static; NULL: none */
	uint32_t		 claimed, claimable, coming;	/* machines, by the last plan */
	/* The call in flight. */
	int64_t			 pool_id, instance;
	bool			 own;		/* a deletion that nobody else decided */
	char			 node_id[LKE_NODE_SIZE];
	int64_t			 draining;	/* the orphan that is being drained; 0: none */
	int64_t			 blocked_ms;	/* the last call was refused: no other before */
	char			 failure[480];	/* why; "": it was not */
};

/* Of an instance; the key is its id. */
struct machine_memory {
	struct absence	expiry;
	uint64_t	deleted_list;	/* lists that had begun when our DELETE was answered */
	int64_t		deleted_ms;	/* it was answered then */
	bool		deleted, drained;
	int64_t		pods_ms;	/* its Pods were listed then; 0: never */
	bool		pods;		/* ... and there were some that would be lost with it */
	int64_t		unanswered_ms;	/* until then a DELETE that was not answered may arrive; 0: none */
};

/* An answer that came while a list was in flight: it may be newer than what the list has. */
struct late_answer {
	struct late_answer	*next;
	enum lke_call		 call;
	int64_t			 pool_id;
	size_t			 len;
	char			 body[];
};

struct lke_settings {
	enum lke_tag_style	style;
	int64_t			cluster_id;
	const char		*cluster_name;
	int64_t			create_ms, verify_ms, orphan_ms, registration_ms, launch_ms, resync_ms,
	    types_ms;
	uint32_t		memory_overhead;
};

/* What the effect of the step that was just planned needs. */
struct lke_order {
	int64_t			pool_id, instance, count;
	char			node_id[LKE_NODE_SIZE], type[LKE_TYPE_ID_SIZE];
	struct lke_tag_list	tags;
	int64_t			firewall;
	char			version[LKE_NAME_SIZE];
	bool			own;
};

struct lke_claimer {
	struct reconciler	 r;		/* first: reconcile.h */
	struct call_effects	 calls;
	struct client_class	 classes[LKE_CALL_MAX];
	struct lke_settings	 settings;
	struct drain_policy	 policy;
	struct drain_set	*drains;
	struct id_index		*nodes;		/* by spec.providerID: the key of a Node */
	struct id_index		*owners;	/* by status.providerID: the key of a NodeClaim */
	struct id_index		*tags;		/* by the value of its tag: the key of a NodeClaim */
	struct keytab		*claims, *pools, *machines;	/* pointers to the structs above */
	struct brake		 brake;
	/* The cluster, and the last complete lists of it. */
	bool			 known;
	struct lke_cluster	 cluster;
	struct shared_list	 list;
	struct lke_snapshot	*snapshot;	/* NULL: none */
	struct late_answer	*late;
	/* Instance types of its region. */
	struct shared_list	 catalogue;
	struct lke_types	 types;
	int64_t			 types_ms;	/* read then; 0: never */
	/* What is being read. */
	struct lke_snapshot	*next;
	struct lke_types	 next_types;
	struct lke_walk		 cluster_walk;
	unsigned		 clusters;	/* that have the label */
	const char		*failure;	/* why the provider could not be read,
	    for people; NULL: it was */
	struct lke_order	 order;
	struct lke_counts	 counts;
};

struct lke_claimer *claimer_of(struct reconciler *r);

/* ---- memory.c ---- */
void memory_open(struct lke_claimer *c);
void memory_close(struct lke_claimer *c);
/* Machines that are in no list any more, but for those that somebody still waits to see gone. */
void memory_forget_machines(struct lke_claimer *c);
struct claim_memory *claim_memory(struct lke_claimer *c, const char *key);	/* made when absent */
struct pool_memory *pool_memory(struct lke_claimer *c, const char *key);
struct machine_memory *machine_memory(struct lke_claimer *c, int64_t id);
struct claim_memory *claim_memory_find(const struct lke_claimer *c, const char *key);	/* or NULL */
struct machine_memory *machine_memory_find(const struct lke_claimer *c, int64_t id);
void claimer_enqueue(struct lke_claimer *c, const char *key);
/* Every key that a new list may concern. */
void claimer_listed(struct lke_claimer *c);
/* "linode://ID" and back; 0: it is none. */
void provider_id_put(char buf[LKE_PROVIDER_ID_MAX], int64_t id);
int64_t provider_id_read(struct wire_str text);
int64_t wire_int(struct wire_str text);		/* digits alone; 0: it is no such number */
/* A list that lost half, a mirror that is not current: what is missing proves nothing. */
bool claimer_doubtful(const struct lke_claimer *c, int64_t now_ms);
bool claimer_braked(const struct lke_claimer *c, int64_t now_ms, int64_t *retry_at_ms);
const struct lke_type *claimer_type(const struct lke_claimer *c, const char *id);	/* or NULL */
bool cluster_now_us(struct lke_claimer *c, int64_t *us);

/* ---- observe.c ---- */
/* Steps that read the lists, or the types; they wait while somebody else does. */
void observe_list(struct lke_claimer *c, const struct work *w, struct reconcile_step *step, int64_t now_ms);
void observe_types(struct lke_claimer *c, const struct work *w, struct reconcile_step *step, int64_t now_ms);
bool observe_types_due(const struct lke_claimer *c, int64_t now_ms);
/* The answer to a mutation is newer than the snapshot, and perhaps than the list in flight. */
void observe_answer(struct lke_claimer *c, enum lke_call call, const struct pool_memory *p, const char *body,
    size_t len);
void observe_close(struct lke_claimer *c);
void provider_plan(struct lke_claimer *c, const struct reconcile_item *i, struct reconcile_step *step);

/* ---- NodeClaims ---- */
struct claim_view {
	struct lke_claimer	*c;
	const struct work	*work;
	struct claim_memory	*memory;
	struct change		 object;
	union msg_body		 body;
	struct lke_claim_input	 in;
	struct lke_claim_plan	 plan;
	struct lke_condition	 stored[LKE_CONDITIONS_MAX];
	uint32_t		 nstored;
	const struct lke_type	*type;
	int64_t			 machine;	/* of its providerID, its tag or its reservation; 0: none */
	int64_t			 provider_id;
	char			 provider_text[LKE_PROVIDER_ID_MAX];
	bool			 has_class;
	struct change		 class_object;
	union msg_body		 class;
	struct change		 node;		/* in.nodes > 0: the fact of its Node */
	union msg_body		 fact;
	int64_t			 deadline_us;	/* in.deadline: of cluster time */
	int64_t			 deadline_ms;	/* of a drain, on clock_mono_ms; INT64_MAX: none */
	int64_t			 due_ms;	/* plan again then,
	    of clock_mono_ms; INT64_MAX: on a change */
	bool			 list_due;	/* another list has to confirm that its machine is gone */
	const char		*message;	/* of Launched, Unknown; NULL: that of the plan */
};

/* live: the Node that was read; NULL: none was. */
void claim_view_read(struct claim_view *v, struct lke_claimer *c, const struct work *w,
    const struct write_result *live, const struct reconcile_write *read, int64_t now_ms);
uint32_t conditions_of(struct wire_rows rows, struct lke_condition *out, uint32_t most);
const struct lke_condition *condition_find(const struct lke_condition *c, uint32_t n, const char *type);
void claim_plan(struct lke_claimer *c, const struct reconcile_item *i, struct reconcile_step *step);

/* Bodies: r.body of the reconciler, the length in w->body_len. */
void claim_write_finalizers(struct claim_view *v, bool ours, struct reconcile_write *w);
void claim_write_reserve(struct claim_view *v, struct reconcile_write *w);
void claim_write_status(struct claim_view *v, const struct lke_status *s, struct reconcile_write *w);
bool claim_write_deadline(struct claim_view *v, struct reconcile_write *w);
/* Requests of a NodeClaim as resources; what no machine has is left out. */
struct lke_resources claim_requests(const struct body_node_claim *b);
struct lke_sizing claim_sizing(const struct claim_view *v);

/* ---- Pool keys ---- */
void pool_plan(struct lke_claimer *c, const struct reconcile_item *i, struct reconcile_step *step);
/* Filled by pool_view.c; freed by pool_view_free. */
struct pool_view {
	struct lke_claimer		*c;
	const struct work		*work;
	struct pool_memory		*memory;
	struct wire_str			 nodepool, type;	/* of the key */
	const struct lke_pool		*pool;
	struct lke_plan_input		 in;
	struct lke_plan			 plan;
	struct lke_plan_claim		*claims;
	char				(*names)[254];
	struct lke_plan_instance	*instances;
	struct lke_member		*members;
	uint32_t			*assign;
	char				 nodepool_name[254];	/* "": it does not exist */
	char				 nodepool_uid[128], nodepool_rv[128];
	char				 class_name[254];	/* of the claim that waits longest */
	int64_t				 due_ms;
	bool				 list_due;	/* another list has to confirm something */
};
void pool_view_read(struct pool_view *v, struct lke_claimer *c, const struct work *w, int64_t now_ms);
void pool_view_free(struct pool_view *v);

/* ---- Calls that change something (effects, reconcile.h) ---- */
effect_start call_create_pool, call_scale_pool, call_delete_pool, call_delete_node, call_tag;
void calls_open(struct lke_claimer *c);

/* ---- Metrics ---- */
void meters_tick(struct lke_claimer *c);
/* What the plan of a NodeClaim, or of a pool key, was made from. */
void meters_claim(struct claim_view *v);
void meters_pool(struct pool_view *v);
void meters_warning(const char *reason);
void meters_orphans(unsigned removed);

/* ---- LinodeNodeClasses ---- */
void class_plan(struct lke_claimer *c, const struct reconcile_item *i, struct reconcile_step *step);

void claimer_explain(struct actor *a, void *self, const char *resource, const char *name, struct json *out);

#endif
