/* actors/node-state/facts.h - what claimers want to know of a Node: NODE_FACT. Pure. */
#ifndef MUSTER_NODE_FACTS_H
#define MUSTER_NODE_FACTS_H

#include "msg.h"

/* Views into the Node. */
struct body_node_fact facts_of(const struct body_node *n);

#endif
