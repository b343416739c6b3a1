/*
 * actors/provider/call_effect.h - an effect of a reconciler (reconcile.h) that is one call of a provider.
 *
 *	static void
 *	start_delete(struct reconciler *r, struct inflight_effect *f, const struct work *w,
 *	    const struct reconcile_step *step)
 *	{
 *		call_effect_send(&claimer_of(r)->calls, f, w, &(struct client_call){ .class = DELETE,
 *		    .method = "DELETE", .path = "/vms/7" }, on_deleted);
 *	}
 *
 * Rules
 * - The key stays in work until its call has ended: it has one in flight at most.
 * - What follows for the key is the table of call_action.h; a refusal that is terminal is an Event, too.
 * - The lease is read from the mirror of the reconciler's first link each time that a mutation is about to
 *   leave: nobody has to keep it current.
 */
#ifndef MUSTER_CALL_EFFECT_H
#define MUSTER_CALL_EFFECT_H

#include <sys/queue.h>

#include "actors/reconcile/reconcile.h"
#include "client.h"

struct call_effect;

/* One per actor. Its address is kept: it does not move. */
struct call_effects {
	struct reconciler		*r;
	struct client			*client;
	struct fence_lease		 lease;		/* of the last call_effects_lease */
	int64_t				 started_ms;
	TAILQ_HEAD(, call_effect)	 open;
	struct call_effect		*answered;	/* the one whose answer is being used; or NULL */
};

/*
 * The answer of a call. True: it was used, and the key is planned again at once. about: the write of the
 * step, for reconcile_event.
 */
typedef bool call_answered(struct reconciler *r, const char *key, const struct reconcile_write *about,
    const struct client_answer *a);

/* config: without base, actor, lease and started_ms. False: there is no token; it is logged. */
bool call_effects_open(struct call_effects *c, struct reconciler *r, const struct client_config *config);
/* What is in flight ends without a callback. */
void call_effects_close(struct call_effects *c);
/* Sends it. call: without key, trace, done and arg. */
void call_effect_send(struct call_effects *c, struct inflight_effect *f, const struct work *w,
    const struct client_call *call, call_answered *answered);
/*
 * From inside call_answered: the effect goes on with another call, such as the next page of a list. What
 * call_answered returns does not count then.
 */
void call_effect_continue(struct call_effects *c, const struct client_call *call);
/* The lease as kube-watcher reported it last. */
const struct fence_lease *call_effects_lease(struct call_effects *c);

#endif
