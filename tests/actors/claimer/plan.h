/*
 * tests/actors/claimer/plan.h - what to do about one Widget. Pure.
 *
 * A Widget has one VM, recognised by its tag (the Widget's uid). When the Widget is deleted, the Node of the
 * VM is drained, the VM is deleted, and then the Widget goes.
 *
 * Rules
 * - The finalizer is there before anything is made, and goes when two lists agree that no VM is left.
 * - The POST that makes a VM has no idempotency key: an intent precedes it (intent.h), and the id of the VM
 *   replaces the intent.
 * - Its Node gets a label with the Widget's name. That comes back through node-state (A11).
 * - A VM that is bound is not watched: whoever deletes it at the provider, or takes the finalizer away, has
 *   decided that.
 */
#ifndef MUSTER_TEST_CLAIMER_PLAN_H
#define MUSTER_TEST_CLAIMER_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "actors/provider/absence.h"
#include "actors/provider/intent.h"

/* ID, name */
#define CLAIMER_VERBS(V)								\
	V(NOTHING, "nothing") V(WAIT, "wait")						\
	V(HOLD,    "hold")	/* write: the finalizer */				\
	V(INTEND,  "intend")	/* write: the intent */					\
	V(BIND,    "bind")	/* write: the id of its VM, the intent goes */		\
	V(LABEL,   "label")	/* write of the Node: its Widget */			\
	V(RELEASE, "release")	/* write: the finalizer goes */				\
	V(LIST,    "list")	/* call: all VMs */					\
	V(CREATE,  "create")	/* call: POST */					\
	V(DRAIN,   "drain")								\
	V(DESTROY, "destroy")	/* call: DELETE */

enum claimer_verb {
#define CLAIMER_ENUM(ID, name) CLAIMER_##ID,
	CLAIMER_VERBS(CLAIMER_ENUM)
#undef CLAIMER_ENUM
	CLAIMER_VERB_MAX
};

struct claimer_input {
	/* The Widget. */
	bool			exists, deleting, finalizer;
	enum intent_state	intent;
	bool			bound;		/* annotated with the id of its VM */
	/* The provider. */
	bool			made;		/* the POST was answered with the id of its VM */
	bool			listed;		/* by a list that may be used (shared_list.h) */
	unsigned		found;		/* VMs in it that have its tag */
	bool			retagged;	/* the VM that it is bound to has another tag */
	bool			doubtful;	/* the brake: what is missing in the list proves nothing */
	enum absence_verdict	absence;	/* of its VM, by lists that would have it */
	bool			deleted;	/* a DELETE of its VM was answered */
	bool			deleted_now;	/* ... just now */
	/* The Node with the VM's providerID, through node-state. */
	bool			node, labelled, drained;
	bool			took_over;	/* just now (fence.h): the Node may come later */
};

struct claimer_plan {
	enum claimer_verb	 verb;
	const char		*why;
	const char		*event;		/* reason of a Warning Event, when this begins; or NULL */
};

struct claimer_plan claimer_plan(const struct claimer_input *in);
const char *claimer_verb_name(enum claimer_verb v);

#endif
