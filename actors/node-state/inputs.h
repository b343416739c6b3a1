/* actors/node-state/inputs.h - what is read from a Node: for the assessment, and for claimers. */
#ifndef MUSTER_NODE_INPUTS_H
#define MUSTER_NODE_INPUTS_H

#include "assess.h"

/* Clears *in and fills what comes from the Node itself; views into the node's frame. */
void inputs_from_node(const struct body_node *node, struct assess_in *in);
/* NODE_FACT: addresses, readiness, labels, taints; views into the Node. */
struct body_node_fact inputs_node_fact(const struct body_node *n);

#endif
