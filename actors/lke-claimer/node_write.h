/*
 * actors/lke-claimer/node_write.h - what is written to a Node, from the Node as it was read live (C8, C9,
 * C10). No clock, no I/O.
 *
 * Each body is a merge patch with the resourceVersion of what was read: lists are replaced whole, so entries
 * of others are kept, and whoever writes meanwhile makes it a conflict.
 */
#ifndef MUSTER_LKE_NODE_WRITE_H
#define MUSTER_LKE_NODE_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "types.h"

/* A Node as JSON. */
struct live_node {
	json_t		*root;
	const char	*uid, *rv;
	bool		 finalizer;		/* ours is among its finalizers */
	bool		 unregistered;		/* it has the taint of a Node that nobody has claimed */
};

/* False: it is no Node. Either way live_node_free. */
bool live_node_read(struct live_node *n, struct wire_str json);
void live_node_free(struct live_node *n);
/* Every resource that the claim requests, and that is not 0, has an amount in the Node. */
bool live_node_allocates(const struct live_node *n, struct wire_map requests);
/* The value of the label is "true". */
bool live_node_labelled(const struct live_node *n, const char *key);

/* What registration takes over from the NodeClaim. */
struct node_registration {
	const char		*claim, *claim_uid;
	struct wire_map		 labels, annotations;
	struct wire_rows	 taints, startup_taints;
};

/* Bodies; the length, or 0 when it does not fit. */
size_t node_write_register(
    char *buf, size_t size, const struct live_node *n, const struct node_registration *r);
size_t node_write_label(char *buf, size_t size, const struct live_node *n, const char *key,
    const char *value);
size_t node_write_release(char *buf, size_t size, const struct live_node *n);
size_t node_write_taint(char *buf, size_t size, const struct live_node *n);

#endif
