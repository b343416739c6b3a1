/*
 * proto/rights.h - which actor may do which verb on which Kubernetes resource. kube-watcher checks
 * it before every write; what is not listed is refused. Finer than RBAC, which has only the one
 * credential.
 *
 * R(ROLE, API group, resource[/subresource], verbs). A reader of a LIVE kind (kinds.h) may get and list it
 * without a row here.
 */
#ifndef MUSTER_RIGHTS_H
#define MUSTER_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kinds.h"
#include "roles.h"

#ifdef MUSTER_TEST_ACTORS
#include "../tests/actors/rights.def"
#else
#define TEST_RIGHTS(R)
#endif

#define VERBS(V)	V(GET, "get") V(LIST, "list") V(WATCH, "watch") V(CREATE, "create")	\
			V(UPDATE, "update") V(PATCH, "patch") V(DELETE, "delete")

enum verb {
#define VERB_ENUM(ID, name) VERB_##ID,
	VERBS(VERB_ENUM)
#undef VERB_ENUM
	VERB_MAX
};
#define VERB_BIT(ID)	(UINT32_C(1) << VERB_##ID)
#define VERBS_READ	(VERB_BIT(LIST) | VERB_BIT(WATCH))
#define VERBS_LIVE	(VERB_BIT(GET) | VERB_BIT(LIST))
#define VERBS_ALL	((VERB_BIT(DELETE) << 1) - 1)

#define RIGHTS(R)									\
	R(KUBE_WATCHER, "coordination.k8s.io", "leases",				\
	    VERB_BIT(GET) | VERB_BIT(WATCH) | VERB_BIT(CREATE) | VERB_BIT(UPDATE))	\
	R(KUBE_WATCHER, "events.k8s.io", "events", VERB_BIT(CREATE) | VERB_BIT(PATCH))	\
	R(INSIGHT, INSIGHT_GROUP, "nodeprogressinsights",				\
	    VERB_BIT(GET) | VERB_BIT(CREATE) | VERB_BIT(DELETE))			\
	R(INSIGHT, INSIGHT_GROUP, "nodeprogressinsights/status", VERB_BIT(UPDATE))	\
	R(INSIGHT, INSIGHT_GROUP, "machineconfigpoolprogressinsights",			\
	    VERB_BIT(GET) | VERB_BIT(CREATE) | VERB_BIT(DELETE))			\
	R(INSIGHT, INSIGHT_GROUP, "machineconfigpoolprogressinsights/status", VERB_BIT(UPDATE))	\
	R(INSIGHT, "events.k8s.io", "events", VERB_BIT(CREATE))				\
	R(LKE_CLAIMER, KARPENTER_GROUP, "nodeclaims",					\
	    VERB_BIT(GET) | VERB_BIT(PATCH) | VERB_BIT(DELETE))				\
	R(LKE_CLAIMER, KARPENTER_GROUP, "nodeclaims/status", VERB_BIT(PATCH))		\
	R(LKE_CLAIMER, KARPENTER_GROUP, "nodepools", VERB_BIT(GET) | VERB_BIT(PATCH))	\
	R(LKE_CLAIMER, LINODE_GROUP, "linodenodeclasses", VERB_BIT(GET) | VERB_BIT(PATCH))	\
	R(LKE_CLAIMER, LINODE_GROUP, "linodenodeclasses/status", VERB_BIT(PATCH))	\
	R(LKE_CLAIMER, "", "nodes", VERB_BIT(GET) | VERB_BIT(PATCH) | VERB_BIT(DELETE))	\
	R(LKE_CLAIMER, "", "pods/eviction", VERB_BIT(CREATE))				\
	R(LKE_CLAIMER, "", "pods", VERB_BIT(DELETE))					\
	R(LKE_CLAIMER, "events.k8s.io", "events", VERB_BIT(CREATE))			\
	R(VPSIE_CLAIMER, VPSIE_GROUP, "nodegroups", VERB_BIT(GET) | VERB_BIT(PATCH))	\
	R(VPSIE_CLAIMER, VPSIE_GROUP, "nodegroups/status", VERB_BIT(PATCH))		\
	R(VPSIE_CLAIMER, VPSIE_GROUP, "vpsienodes",					\
	    VERB_BIT(GET) | VERB_BIT(CREATE) | VERB_BIT(PATCH) | VERB_BIT(DELETE))	\
	R(VPSIE_CLAIMER, VPSIE_GROUP, "vpsienodes/status", VERB_BIT(PATCH))		\
	R(VPSIE_CLAIMER, "", "nodes", VERB_BIT(GET) | VERB_BIT(PATCH) | VERB_BIT(DELETE))	\
	R(VPSIE_CLAIMER, "", "pods/eviction", VERB_BIT(CREATE))				\
	R(VPSIE_CLAIMER, "events.k8s.io", "events", VERB_BIT(CREATE))			\
	R(CAPA_ANNOTATOR, CAPI_GROUP, "machinedeployments", VERB_BIT(GET) | VERB_BIT(PATCH))	\
	R(CAPA_ANNOTATOR, "events.k8s.io", "events", VERB_BIT(CREATE))			\
	/* blockOwnerDeletion in an ownerReference may require the right to the finalizers. */	\
	R(VIP_CLAIMER, CAPI_GROUP, "clusters", VERB_BIT(GET) | VERB_BIT(PATCH))		\
	R(VIP_CLAIMER, CAPI_GROUP, "clusters/finalizers", VERB_BIT(UPDATE))		\
	R(VIP_CLAIMER, CAPI_IPAM_GROUP, "ipaddressclaims",				\
	    VERB_BIT(GET) | VERB_BIT(CREATE) | VERB_BIT(PATCH))				\
	R(VIP_CLAIMER, "events.k8s.io", "events", VERB_BIT(CREATE))			\
	TEST_RIGHTS(R)

struct rights_row {
	enum role	 role;
	const char	*group, *resource;
	uint32_t	 verbs;
};
extern const struct rights_row rights_table[];
extern const size_t rights_count;

bool rights_allow(enum role r, enum verb v, const char *group, const char *resource);

#endif
