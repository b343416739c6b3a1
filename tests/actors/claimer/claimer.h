/*
 * tests/actors/claimer/claimer.h - test-claimer, the smallest actor that calls a provider: one VM per Widget.
 *
 *	main.c	its tables, its start and stop; turns a plan into a step; `muster explain`
 *	view.c	reads mirrors and the last list: the input of the plan
 *	plan.c	decides (pure)
 *	write.c	the bodies of its writes
 *	wire.c	the provider's calls and answers
 *
 * The provider: GET /vms: {"data":[{"id":7,"tag":"<uid of the Widget>"}]}; POST /vms {"tag"}: {"id":7};
 * DELETE /vms/7. The Node of that VM has the providerID "test://7".
 */
#ifndef MUSTER_TEST_CLAIMER_H
#define MUSTER_TEST_CLAIMER_H

#include "actors/provider/brake.h"
#include "actors/provider/call_effect.h"
#include "actors/provider/drain_set.h"
#include "actors/provider/id_index.h"
#include "actors/provider/shared_list.h"
#include "actors/reconcile/reconcile.h"
#include "plan.h"

#define CLAIMER_GROUP		"test.muster.dev"
#define CLAIMER_FINALIZER	CLAIMER_GROUP "/vm"
#define CLAIMER_PROVIDER	"test://"
#define CLAIMER_LABEL_KEY	CLAIMER_GROUP "/widget"

enum { CLAIMER_WIDGETS, CLAIMER_NODES };	/* rows of the kinds */

enum {
	CLAIMER_LIST_AGE_MS	= 2000,		/* a list that is older decides nothing */
	CLAIMER_APART_MS	= CLAIMER_LIST_AGE_MS,	/* so the second observation is of another list */
	CLAIMER_APPEAR_MS	= 5000,		/* between lists, while a VM may still appear */
	CLAIMER_DELETE_MS	= 10 * 1000,	/* between two DELETEs of a VM that stays listed */
	CLAIMER_ID_TEXT		= 24,
};

struct vm {
	int64_t	id;
	char	tag[128];
};

/* What this incarnation remembers of a Widget. It is lost with the process, which only delays. */
struct claim {
	char		uid[128];	/* of the Widget: a later one of that name starts anew */
	struct intent	intent;
	int64_t		made;		/* the id that the POST returned; 0: none */
	uint64_t	after;		/* lists that had begun when its last call ended */
	int64_t		deleted_ms;	/* a DELETE was answered then; 0: none */
	struct absence	absence;
};

struct claimer {
	struct reconciler	 r;		/* first: reconcile.h */
	struct call_effects	 calls;
	struct drain_policy	 policy;
	struct drain_set	*drains;
	struct id_index		*nodes;		/* by spec.providerID: the key of a Node */
	struct id_index		*widgets;	/* by that of its VM: the key of a Widget */
	struct keytab		*claims;	/* struct claim */
	struct brake		 brake;
	/* The last complete list. */
	struct shared_list	 list;
	struct vm		*vms;
	size_t			 nvms;
};

/* One Widget and what belongs to it. */
struct view {
	struct claimer		*c;
	const struct work	*work;
	struct claim		*claim;
	struct change		 widget;
	union msg_body		 body;
	struct claimer_input	 in;
	int64_t			 vm;		/* the id of its VM; 0: not known */
	struct change		 node;		/* in.node: the fact of its Node */
	union msg_body		 fact;
	enum brake_reason	 doubt;		/* in.doubtful: why */
	int64_t			 settled_ms;	/* lists that began later count for absence */
};

struct claimer *test_claimer_of(struct reconciler *r);
/* The claim of a key, made when absent; valid until the next call. */
struct claim *claimer_claim(struct claimer *c, const char *key);

void view_read(struct view *v, struct claimer *c, const struct work *w, int64_t now_ms);
/* After a live read of its Node (A11): facts may be older than the own write. */
void view_read_live_node(struct view *v, const struct write_result *live);
/* Keeps the two indexes current, and calls reconcile_enqueue. */
void view_keys(struct reconciler *r, const struct change *c);

/* Fills in the write of the step, a merge patch of metadata. False: the time is not known. */
bool write_fill(struct view *v, enum claimer_verb verb, struct reconcile_write *w);

bool wire_open(struct claimer *c, const char *url, const char *token_file);
/* Effects (reconcile.h). The tag of a VM to create is the uid of the step's write. */
effect_start wire_list, wire_create, wire_destroy;

#endif
