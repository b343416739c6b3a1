/*
 * actors/node-state/explain.h - `muster explain node/x` and `pool/x`: what node-state decided, and
 * from what.
 */
#ifndef MUSTER_NODE_EXPLAIN_H
#define MUSTER_NODE_EXPLAIN_H

#include "fleet.h"
#include "json.h"

/* Adds the members that include/actor.h lays down. node: NULL when there is no such Node. */
void explain_node(const struct fleet *f, struct wire_str key, const struct body_node *node, bool openshift,
    struct json *out);
void explain_pool(const struct fleet *f, struct wire_str name, struct json *out);

#endif
