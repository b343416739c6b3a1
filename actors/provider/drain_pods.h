/*
 * actors/provider/drain_pods.h - the Pods of a Node, as a live list has them, for drain_plan.h.
 *
 * A list is used whole or not at all: one Pod that cannot be read refuses it, with the name of the field.
 * What is remembered about a Pod (refusals, requests in flight) goes over from list to list by its uid.
 */
#ifndef MUSTER_DRAIN_PODS_H
#define MUSTER_DRAIN_PODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain_plan.h"
#include "msg.h"

/* The texts of its Pods are its own. */
struct drain_pods {
	struct drain_pod	*pods;
	size_t			 n;
};

/* What the flags of a Pod depend on. */
struct drain_sight {
	const char	*taint;		/* key of the NoSchedule taint; NULL: none */
	int64_t		 cluster_us;	/* the time of the API server, for deletionTimestamp */
	int64_t		 now_ms;
};

/*
 * Adds a Pod, in place of one of the same uid: of a list that was sent twice the last counts. False: err
 * names the Pod and the field; the list is unchanged.
 */
bool drain_pods_add(struct drain_pods *list, const struct body_node_pod *p, struct wire_str uid,
    const struct drain_sight *sight, char *err, size_t size);
/* `fresh` replaces the list, which takes it. True: a Pod came, left or began to terminate. */
bool drain_pods_replace(struct drain_pods *list, struct drain_pods *fresh);
struct drain_pod *drain_pods_find(const struct drain_pods *list, const char *uid);
void drain_pods_free(struct drain_pods *list);

#endif
