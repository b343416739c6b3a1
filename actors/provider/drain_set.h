/*
 * actors/provider/drain_set.h - the drains of an actor: one Node per key of its work queue.
 *
 *	plan:	if (drain_set_state(s, key) == DRAIN_WAIT)
 *			drain_set_step(s, work, &node, deadline_ms, step);	a wait; an answer enqueues
 *		else the Node is drained, or a limit ended that and the machine goes nevertheless
 *		when the key is forgotten: drain_set_drop(s, key)
 */
#ifndef MUSTER_DRAIN_SET_H
#define MUSTER_DRAIN_SET_H

#include "actors/reconcile/reconcile.h"
#include "drain.h"

struct drain_set;

/* kube: the link with the writes. */
struct drain_set *drain_set_new(struct reconciler *r, enum link kube, const struct drain_policy *policy);
/* Not before the runtime has ended the writes in flight: in `stop`. */
void drain_set_free(struct drain_set **sp);
/* DRAIN_WAIT: not drained, or not begun. DRAIN_DONE or DRAIN_GAVE_UP: how it ended. */
enum drain_verb drain_set_state(const struct drain_set *s, const char *key);
/* No Pod is left that must leave; volumes may be. */
bool drain_set_pods_gone(const struct drain_set *s, const char *key);
/*
 * Goes on if this instance leads. node: as the link of facts has it. deadline_ms: of clock_mono_ms,
 * INT64_MAX: none; it may be another one each time. *step becomes a wait with the drain's own
 * reason. When a limit ends the drain there is a Warning DrainFailed about the object of
 * step->write; the state stays DRAIN_WAIT if the machine stays (drain_then).
 */
void drain_set_step(struct drain_set *s, const struct work *w, const struct change *node,
    int64_t deadline_ms, struct reconcile_step *step);
/* For reconcile_spec: when the requests of all of them have ended; 0: none is in flight. */
int64_t drain_set_busy_until_ms(const struct drain_set *s);
/* For `muster explain`: members of the open object; none while the key has no drain. */
void drain_set_explain(const struct drain_set *s, const char *key, struct json *out);
void drain_set_drop(struct drain_set *s, const char *key);

#endif
