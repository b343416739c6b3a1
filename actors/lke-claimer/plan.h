/*
 * actors/lke-claimer/plan.h - what happens next with one pool key: (NodePool, instance type). Pure.
 *
 * All NodeClaims of the key are decided together, from one snapshot: who gets which machine, and at most one
 * mutation of the pool. The tag of a machine is then written by its claim (claim.h), many at a time.
 *
 * Never two machines for a claim, never two claims for a machine
 * - A machine is assigned before it is tagged, and the assignment is recorded in the NodeClaim (`reserved`):
 *   whoever comes after a crash repeats the same PUT for the same machine, which does no harm.
 * - A machine is claimable if it has no claim's tag, nobody has reserved it, and no NodeClaim's providerID
 *   names it. A claim that has a tag, a reservation or a providerID is not given another machine.
 * - Two machines with the tag of one claim, two tags of claims on one machine, two pools of the key, two
 *   NodeClaims whose names give the same tag: the key stops, nothing is changed (C7).
 *
 * Never none, with few calls
 * - `count` of the pool less the machines that are there is on its way. What waits beyond the claimable and
 *   what is on its way raises `count` once, by all of it (C5).
 * - What is on its way for longer than a claim may wait is not counted any more.
 * - POST, PUT of `count` and DELETE of a pool are preceded by an intent. While the outcome of one is not
 *   known, no other is sent: a late PUT would lower what a later one has raised, a late DELETE would take the
 *   machines of new claims. It is known when a list that began after the call shows its effect, or when
 *   FENCE_SETTLE_MS have passed and the list does not.
 */
#ifndef MUSTER_LKE_PLAN_H
#define MUSTER_LKE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

enum {
	LKE_LIVE_MS    = 30 * 1000,	/* a snapshot that is older is not live enough to delete from */
	LKE_PROVISION_MS = 500,		/* least time between two lists while ids are missing (C6) */
	LKE_SCALED_MS  = 200,		/* ... after a scaling (C6) */
	LKE_READ_PODS_MAX = 16,		/* of more Nodes the Pods are not read before machines are given */
	/* Lists while something is on its way: an eighth of the time that was waited, at most this. */
	LKE_LIST_SHARE = 8,
	LKE_LIST_MAX_MS = 15 * 1000,
};
#define LKE_NONE	UINT32_MAX

/* One NodeClaim of the key. */
struct lke_plan_claim {
	const char	*name;
	bool		 held;		/* it has our finalizer: only then is anything made for it */
	bool		 deleting;
	bool		 removable;	/* deleting, and its Node is drained or never came */
	int64_t		 reserved;	/* the machine that is recorded, or being recorded; 0: none */
	bool		 reserved_gone;	/* ... and two lists apart do not have it */
	int64_t		 provider_id;	/* of status.providerID; 0: none */
	/* Machines of the whole cluster that have its tag: 0, 1, or 2 for more; and the first of them. */
	unsigned	 tagged;
	int64_t		 tagged_id;
	bool		 same_tag;	/* another NodeClaim's name gives the same tag */
	bool		 other_key;	/* it is here for its machine alone, which may be in this pool */
};

/* One machine of the pool, by ascending id. */
struct lke_plan_instance {
	int64_t		 id;
	bool		 leaving;	/* it is being deleted, by its status or by our own call */
	unsigned	 tags;		/* of claims, on it: 0, 1, or 2 for more */
	bool		 ownerless;	/* its one tag names a NodeClaim that does not exist */
	/* A DELETE may be on its way: one was not answered, or it is old, and our start not long ago. */
	bool		 suspect;
	const char	*node_id;	/* of the LKE node; "": not known yet */
	bool		 joined;	/* it has a Node */
	bool		 tainted;	/* ... with the taint karpenter.sh/unregistered */
	bool		 pods;		/* ... that runs Pods */
	bool		 pods_unread;	/* ... of which that is not known */
	bool		 drained;	/* ... from which they have been drained; also true without a Node */
	bool		 expired;	/* unclaimed for the orphan-ttl, by two observations apart */
};

enum lke_intent {
	LKE_INTENT_NONE,
	LKE_INTENT_READY,	/* recorded by this incarnation, and its call has not been sent */
	LKE_INTENT_SENT,	/* the call may have been sent, and its outcome is not known */
	LKE_INTENT_ENDED,	/* the outcome is known: the record has to go */
};

enum lke_intent_kind { LKE_INTEND_CREATE, LKE_INTEND_SCALE, LKE_INTEND_DELETE };

struct lke_plan_input {
	enum lke_tier			 tier;
	const struct lke_plan_claim	*claims;	/* the one that waits longest first */
	uint32_t			 nclaims;
	const struct lke_plan_instance	*instances;
	uint32_t			 ninstances;
	/* The snapshot. */
	bool				 listed;	/* one is there */
	bool				 current;	/* it began after each call of unknown outcome */
	bool				 doubtful;	/* it lost more than half (brake.h) */
	int64_t				 begun_ms;
	unsigned			 pools;		/* of the key: 0, 1, or 2 for more */
	int64_t				 pool_id, count;	/* of the one */
	bool				 overdue;	/* for the launch-timeout nothing came */
	int64_t				 waits_ms;	/* since then: the last call, or progress */
	/* Mutations. */
	bool				 mutating;	/* one of this key is in flight */
	enum lke_intent			 intent;
	enum lke_intent_kind		 intent_kind;
	int64_t				 intent_count;	/* that a pool is made with, or scaled to */
	bool				 settled;	/* FENCE_SETTLE_MS since its call, or our start */
	bool				 settled_list;	/* ... and the snapshot began after that */
	int64_t				 settled_at_ms;
	bool				 open;		/* fence and budget let a mutation start */
	bool				 braked;	/* no deletion by our own decision now */
	bool				 took_over;	/* just now (fence.h): Nodes may come later */
	int64_t				 retry_at_ms;	/* of both */
	bool				 nodepool;	/* the NodePool exists, and its class is ready */
	int64_t				 now_ms;
};

/* ID, name */
#define LKE_VERBS(V)				\
	V(NOTHING,     "nothing")		\
	V(WAIT,        "wait")			\
	V(STOP,        "stop")			\
	V(LIST,        "list")			\
	V(INTEND,      "intend")		\
	V(FORGET,      "forget intent")		\
	V(CREATE,      "create pool")		\
	V(SCALE,       "scale pool")		\
	V(DELETE_NODE, "delete node")		\
	V(DELETE_POOL, "delete pool")

enum lke_verb {
#define LKE_VERB_ENUM(ID, name) LKE_##ID,
	LKE_VERBS(LKE_VERB_ENUM)
#undef LKE_VERB_ENUM
	LKE_VERB_MAX
};

/* What is done with the Node of a machine that nobody has claimed. */
enum lke_orphan_step { LKE_ORPHAN_NONE, LKE_ORPHAN_TAINT, LKE_ORPHAN_DRAIN, LKE_ORPHAN_READ_PODS };

struct lke_plan {
	enum lke_verb	 verb;
	const char	*why;
	int64_t		 retry_at_ms;	/* LKE_WAIT, LKE_LIST: when; INT64_MAX: when something changes */
	enum lke_intent_kind	 kind;	/* LKE_INTEND: for LKE_CREATE, LKE_SCALE or LKE_DELETE_POOL */
	int64_t		 count;		/* LKE_INTEND, LKE_CREATE, LKE_SCALE: of the pool, afterwards */
	uint32_t	 instance;	/* LKE_DELETE_NODE */
	bool		 own;		/* a deletion that nobody else decided: it counts for the brake */
	uint32_t	 waiting, claimable, coming;	/* for people: claims, machines, machines */
	/*
	 * An unclaimed machine has joined: its Node is tainted or drained, or its Pods are read.
	 * LKE_NONE: none.
	 */
	uint32_t		 orphan;
	enum lke_orphan_step	 orphan_step;
};

/* assign: one for each claim, the index of its machine or LKE_NONE. */
void lke_plan(const struct lke_plan_input *in, uint32_t *assign, struct lke_plan *out);
const char *lke_verb_name(enum lke_verb v);

#endif
