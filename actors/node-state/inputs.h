/*
 * actors/node-state/inputs.h - a Node as the assessment wants it: one walk over its annotations, one over its
 * conditions.
 */
#ifndef MUSTER_NODE_INPUTS_H
#define MUSTER_NODE_INPUTS_H

#include "assess.h"

/* Clears *in and fills what comes from the Node itself; views into the node's frame. */
void inputs_from_node(const struct body_node *node, struct assess_in *in);

#endif
