/*
 * actors/provider/node_pods.h - an effect of a reconciler (reconcile.h): whether a Node runs Pods
 * that would be lost with it, by one live list of its Pods. Those of DaemonSets, mirror Pods and
 * finished ones do not count.
 *
 * The actor is a reader of the LIVE kinds of a drain (DRAIN_READERS in proto/kinds.h).
 */
#ifndef MUSTER_NODE_PODS_H
#define MUSTER_NODE_PODS_H

#include "actors/reconcile/reconcile.h"
#include "links.h"

/* number: that of the step. read: the list could be read; else pods is false. The key is planned again. */
typedef void node_pods_done(struct reconciler *r, int64_t number, bool read, bool pods);

/* From inside an effect_start. The Node is the object of the step's write; kube: the link with the writes. */
void node_pods_list(struct reconciler *r, struct inflight_effect *f, enum link kube, const struct work *w,
    const struct reconcile_step *step, node_pods_done *done);

#endif
