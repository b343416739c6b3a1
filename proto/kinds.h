/*
 * proto/kinds.h - every Kubernetes kind that is read, and its fields that are read. kube-watcher drops
 * the rest.
 *
 * A kind is a message: its fields below are the fields of its body, in this order, with the path of
 * each of them. Both walkers (JSON and protobuf) are driven by this one table.
 *
 * KINDS: K(ID, body, number, ONE, API group, resource, Kind, scope, versions, form)
 *	versions	those we can read, best first; discovery chooses among what the server has
 *	form		PROTO: built in, read as protobuf (JSON when the server answers so); JSON: a CRD
 * <body>_FIELDS: P(type, name, JSON path, protobuf path, readers)
 *	type		as in messages.h: str, flag, i64, map (text to text, sorted by key), rows (records of
 *			text columns)
 *	JSON path	names with dots. A list of records gives its columns in brackets:
 *			"spec.taints[key,value,effect]"; "[]" alone: a list of texts.
 *			"v1beta1=a.b|v1beta2=c.d" where versions differ. A trailing "!" (str only):
 *			the whole subtree as JSON text. A map may want some entries only:
 *			"metadata.annotations{example.com/ a b}" gives a and b of that prefix, without
 *			it; "{example.com/}" all of that prefix.
 *	protobuf path	the same way in field numbers (k8s.io/api generated.proto); "" for kinds without
 *			protobuf. A letter after the last number gives the type there: t a metav1.Time (as
 *			RFC 3339 text), i an integer, b a bool, q a Quantity; none: a string.
 *			In a kind without protobuf it stands behind a colon in the JSON path: "spec.max:q"
 *			(there q is a string or a number). A map with q is one of quantities. As text, 0
 *			and false are empty.
 *	readers		roles that get this field. A role that reads no field of a kind does not
 *			get it. Each role gets its own projection over its own link (links.h), so a change
 *			wakes only the roles that read what changed.
 *
 * Missing, null and empty are the same: "", 0, false, no entries.
 */
#ifndef MUSTER_KINDS_H
#define MUSTER_KINDS_H

#include "roles.h"

#ifdef MUSTER_TEST_ACTORS
#include "../tests/actors/kinds.def"
#else
#define TEST_KINDS(K)
#define TEST_KIND_BODIES(B)
#define TEST_NODE_READERS	0
#define TEST_ECHO_READERS	0
#define TEST_NODE_FIELDS(P)
#endif

#define MCO_GROUP	"machineconfiguration.openshift.io"
/* On the bus and in rights.h always this one; kube-watcher's setting insight-group renames it outside. */
#define INSIGHT_GROUP	"openshift.muller.dev"

#define KINDS(K)	/* ID, body, number, ONE, group, resource, Kind, scope, versions, form */ \
	K(NODE, node, 0x0201, ONE, "", "nodes", "Node", CLUSTER, "v1", PROTO)			\
	K(MACHINE_CONFIG_POOL, machine_config_pool, 0x0202, ONE, MCO_GROUP, "machineconfigpools",	\
	    "MachineConfigPool", CLUSTER, "v1", JSON)						\
	K(MACHINE_CONFIG, machine_config, 0x0203, ONE, MCO_GROUP, "machineconfigs",		\
	    "MachineConfig", CLUSTER, "v1", JSON)						\
	K(CLUSTER_VERSION, cluster_version, 0x0204, ONE, "config.openshift.io", "clusterversions",	\
	    "ClusterVersion", CLUSTER, "v1", JSON)						\
	K(NODE_INSIGHT, node_insight, 0x0205, ONE, INSIGHT_GROUP, "nodeprogressinsights",	\
	    "NodeProgressInsight", CLUSTER, "v1alpha1", JSON)					\
	K(POOL_INSIGHT, pool_insight, 0x0206, ONE, INSIGHT_GROUP, "machineconfigpoolprogressinsights",	\
	    "MachineConfigPoolProgressInsight", CLUSTER, "v1alpha1", JSON)			\
	TEST_KINDS(K)

#define KIND_BODIES(B)	B(node) B(machine_config_pool) B(machine_config) B(cluster_version)	\
			B(node_insight) B(pool_insight) TEST_KIND_BODIES(B)

#define NODE_READERS	(ROLE_BIT(NODE_STATE) | TEST_NODE_READERS | TEST_ECHO_READERS)
#define node_FIELDS(P)	/* type, name, JSON, protobuf, readers */ \
	P(map,  labels,        "metadata.labels",                "1.11", NODE_READERS) \
	P(map,  annotations,   "metadata.annotations",           "1.12", TEST_NODE_READERS) \
	P(map,  mco,           "metadata.annotations{" MCO_GROUP "/ currentConfig desiredConfig "	\
	    "currentImage desiredImage state reason desiredDrain lastAppliedDrain}", "1.12",		\
	    ROLE_BIT(NODE_STATE)) \
	P(str,  deleted,       "metadata.deletionTimestamp",     "1.9t", NODE_READERS) \
	P(rows, finalizers,    "metadata.finalizers[]",          "1.14[]", TEST_NODE_READERS) \
	P(str,  provider_id,   "spec.providerID",                "2.3",  NODE_READERS) \
	P(flag, unschedulable, "spec.unschedulable",             "2.4",  NODE_READERS) \
	P(rows, taints,        "spec.taints[key,value,effect]",  "2.5[1,2,3]", NODE_READERS) \
	P(rows, conditions,    "status.conditions[type,status,reason,lastTransitionTime]", \
	    "3.4[1,2,5,4t]", NODE_READERS) \
	P(rows, addresses,     "status.addresses[type,address]", "3.5[1,2]", NODE_READERS) \
	TEST_NODE_FIELDS(P)

/* selector: the LabelSelector as JSON; "" when there is none, which here matches no node at all. */
#define machine_config_pool_FIELDS(P)						\
	P(map,  labels,      "metadata.labels{" MCO_GROUP "/ layering-enabled}", "", ROLE_BIT(NODE_STATE)) \
	P(map,  annotations, "metadata.annotations{" MCO_GROUP "/ newestImageEquivalentConfig}", "",	\
	    ROLE_BIT(NODE_STATE))						\
	P(str,  selector,    "spec.nodeSelector!", "", ROLE_BIT(NODE_STATE))	\
	P(flag, paused,      "spec.paused",        "", ROLE_BIT(NODE_STATE))

/* Metadata alone: the objects are large. */
#define machine_config_FIELDS(P)						\
	P(map,  annotations, "metadata.annotations{" MCO_GROUP "/ release-image-version}", "",	\
	    ROLE_BIT(NODE_STATE))

/* history: newest first. */
#define cluster_version_FIELDS(P)						\
	P(rows, history, "status.history[state,version]", "", ROLE_BIT(NODE_STATE))

#define node_insight_FIELDS(P)							\
	P(str,  deleted,       "metadata.deletionTimestamp",    "", ROLE_BIT(INSIGHT)) \
	P(str,  name,          "status.name",                   "", ROLE_BIT(INSIGHT)) \
	P(str,  scope,         "status.scopeType",              "", ROLE_BIT(INSIGHT)) \
	P(str,  pool_group,    "status.poolResource.group",     "", ROLE_BIT(INSIGHT)) \
	P(str,  pool_resource, "status.poolResource.resource",  "", ROLE_BIT(INSIGHT)) \
	P(str,  pool,          "status.poolResource.name",      "", ROLE_BIT(INSIGHT)) \
	P(str,  version,       "status.version",                "", ROLE_BIT(INSIGHT)) \
	P(str,  estimate,      "status.estimatedToComplete",    "", ROLE_BIT(INSIGHT)) \
	P(str,  message,       "status.message",                "", ROLE_BIT(INSIGHT)) \
	P(rows, conditions,    "status.conditions[type,status,reason,message,lastTransitionTime]", "",	\
	    ROLE_BIT(INSIGHT))

#define pool_insight_FIELDS(P)							\
	P(str,  deleted,    "metadata.deletionTimestamp",       "", ROLE_BIT(INSIGHT)) \
	P(str,  name,       "status.name",                      "", ROLE_BIT(INSIGHT)) \
	P(str,  scope,      "status.scopeType",                 "", ROLE_BIT(INSIGHT)) \
	P(str,  assessment, "status.assessment",                "", ROLE_BIT(INSIGHT)) \
	P(i64,  percent,    "status.completionPercent",         "", ROLE_BIT(INSIGHT)) \
	P(rows, summaries,  "status.summaries[type,count:i]",   "", ROLE_BIT(INSIGHT)) \
	P(rows, conditions, "status.conditions[type,status,reason,message,lastTransitionTime]", "",	\
	    ROLE_BIT(INSIGHT))

enum kind {
#define KIND_ENUM(ID, ...) KIND_##ID,
	KINDS(KIND_ENUM)
#undef KIND_ENUM
	KIND_MAX
};

/* Kinds whose objects report on an object of another kind under the same name: R(resource, of the report). */
#define KIND_REPORTS(R)								\
	R("nodes",              "nodeprogressinsights")				\
	R("machineconfigpools", "machineconfigpoolprogressinsights")

/* The state of a kind: message KIND, field `state`. */
#define KIND_STATES(S)								\
	S(LISTING,   "listing")		/* the first list is under way */	\
	S(SYNCED,    "synced")							\
	S(ABSENT,    "absent")		/* the server does not have it (CRD not installed) */ \
	S(FORBIDDEN, "forbidden")	/* RBAC: detail names verb and resource */

enum kind_state {
#define KIND_STATE_ENUM(ID, name) KIND_STATE_##ID,
	KIND_STATES(KIND_STATE_ENUM)
#undef KIND_STATE_ENUM
	KIND_STATE_MAX
};
enum kind_scope { SCOPE_CLUSTER, SCOPE_NAMESPACED };
enum kind_form { FORM_PROTO, FORM_JSON };

/* One field of a kind, as data for the readers. */
struct kind_field {
	const char	*type, *name, *json, *proto;
	uint64_t	 readers;
};

struct kind_row {
	const char		*name;		/* "NODE" */
	int			 message;	/* enum msg */
	const char		*group, *resource, *kind;
	enum kind_scope		 scope;
	const char		*versions;	/* "v1beta2 v1beta1" */
	enum kind_form		 form;
	const struct kind_field	*fields;
	unsigned		 nfields;
	uint64_t		 readers;	/* of any field */
};

#ifdef __cplusplus
extern "C" {
#endif
extern const struct kind_row kind_table[KIND_MAX];
const char *kind_state_name(enum kind_state s);		/* "?" when out of range */
/* By its group and resource. KIND_MAX: it is not read. */
enum kind kind_find(const char *group, const char *resource);
const char *kind_report(const char *resource);	/* KIND_REPORTS; NULL: none */
#ifdef __cplusplus
}
#endif

#endif
