/*
 * proto/kinds.h - every Kubernetes kind that is read, and the fields somebody asked for. kube-
 * watcher drops the rest.
 *
 * KINDS: K(ID, API group, resource, kind). KIND_FIELDS: P(KIND, type, name, API versions, JSON
 * path, protobuf path, readers); the protobuf path gives field numbers (k8s.io/api generated.proto)
 * and is empty for kinds without protobuf. A field is projected when one of its readers is enabled.
 */
#ifndef MUSTER_KINDS_H
#define MUSTER_KINDS_H

#include "roles.h"

#define KINDS(K)								\
	K(NODE, "", "nodes", "Node")

#define KIND_FIELDS(P)	/* KIND, type, name, versions, JSON, protobuf, readers */			\
	P(NODE, map,  labels,        "v1", "metadata.labels",      "1.11", ROLE_BIT(NODE_STATE))	\
	P(NODE, map,  annotations,   "v1", "metadata.annotations", "1.12", ROLE_BIT(NODE_STATE))	\
	P(NODE, str,  provider_id,   "v1", "spec.providerID",      "2.3",  ROLE_BIT(NODE_STATE))	\
	P(NODE, flag, unschedulable, "v1", "spec.unschedulable",   "2.4",  ROLE_BIT(NODE_STATE))	\
	P(NODE, list, taints,        "v1", "spec.taints",          "2.5",  ROLE_BIT(NODE_STATE))	\
	P(NODE, list, conditions,    "v1", "status.conditions",    "3.4",  ROLE_BIT(NODE_STATE))	\
	P(NODE, list, addresses,     "v1", "status.addresses",     "3.5",  ROLE_BIT(NODE_STATE))

enum kind {
#define KIND_ENUM(ID, group, resource, kind) KIND_##ID,
	KINDS(KIND_ENUM)
#undef KIND_ENUM
	KIND_MAX
};

#endif
