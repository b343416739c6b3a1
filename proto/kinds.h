/*
 * proto/kinds.h - every Kubernetes kind that is read, and its fields that are read. kube-watcher drops
 * the rest.
 *
 * A kind is a message: its fields below are the fields of its body, in this order, with the path of
 * each of them. Both walkers (JSON and protobuf) are driven by this one table.
 *
 * KINDS: K(ID, body, number, ONE, API group, resource, Kind, scope, versions, form)
 *	versions	those we can read, best first; discovery chooses among what the server has
 *	form		PROTO: built in, read as protobuf (JSON when the server answers so); JSON: a CRD;
 *			LIVE: never watched, read as JSON in answer to a get or a list of a reader, which
 *			may send those without a row in rights.h; it has one version and no protobuf paths
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
#define TEST_DRAIN_READERS	0
#define TEST_NODE_FIELDS(P)
#endif

#define MCO_GROUP	"machineconfiguration.openshift.io"
/* On the bus and in rights.h always this one; kube-watcher's setting insight-group renames it outside. */
#define INSIGHT_GROUP	"openshift.muller.dev"
#define KARPENTER_GROUP	"karpenter.sh"
#define LINODE_GROUP	"karpenter.k8s.linode"
#define VPSIE_GROUP	"autoscaler.vpsie.com"
#define CAPI_GROUP	"cluster.x-k8s.io"
#define CAPI_INFRA_GROUP	"infrastructure.cluster.x-k8s.io"
#define CAPI_CONTROL_GROUP	"controlplane.cluster.x-k8s.io"
#define CAPI_IPAM_GROUP	"ipam.cluster.x-k8s.io"
#define CAPI_VIP_PREFIX	"vip.capi.gorizond.io/"		/* of labels and annotations */

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
	K(NODE_POD, node_pod, 0x0207, ONE, "", "pods", "Pod", NAMESPACED, "v1", LIVE)		\
	K(VOLUME_ATTACHMENT, volume_attachment, 0x0208, ONE, "storage.k8s.io", "volumeattachments",	\
	    "VolumeAttachment", CLUSTER, "v1", LIVE)						\
	K(VOLUME_CLAIM, volume_claim, 0x0209, ONE, "", "persistentvolumeclaims",		\
	    "PersistentVolumeClaim", NAMESPACED, "v1", LIVE)					\
	K(NODE_CLAIM, node_claim, 0x0210, ONE, KARPENTER_GROUP, "nodeclaims",			\
	    "NodeClaim", CLUSTER, "v1", JSON)							\
	K(NODE_POOL, node_pool, 0x0211, ONE, KARPENTER_GROUP, "nodepools",			\
	    "NodePool", CLUSTER, "v1", JSON)							\
	K(LINODE_CLASS, linode_class, 0x0212, ONE, LINODE_GROUP, "linodenodeclasses",		\
	    "LinodeNodeClass", CLUSTER, "v1alpha1", JSON)					\
	K(NODE_GROUP, node_group, 0x0230, ONE, VPSIE_GROUP, "nodegroups", "NodeGroup", NAMESPACED,	\
	    "v1alpha1", JSON)									\
	K(VPSIE_NODE, vpsie_node, 0x0231, ONE, VPSIE_GROUP, "vpsienodes", "VPSieNode", NAMESPACED,	\
	    "v1alpha1", JSON)									\
	K(CAPI_CLUSTER, capi_cluster, 0x0240, ONE, CAPI_GROUP, "clusters", "Cluster", NAMESPACED,	\
	    "v1beta2 v1beta1", JSON)								\
	K(MACHINE_DEPLOYMENT, machine_deployment, 0x0241, ONE, CAPI_GROUP, "machinedeployments",	\
	    "MachineDeployment", NAMESPACED, "v1beta2 v1beta1", JSON)				\
	K(AWS_TEMPLATE, aws_template, 0x0242, ONE, CAPI_INFRA_GROUP, "awsmachinetemplates",	\
	    "AWSMachineTemplate", NAMESPACED, "v1beta2 v1beta1", JSON)				\
	K(AWS_CLUSTER, aws_cluster, 0x0243, ONE, CAPI_INFRA_GROUP, "awsclusters",		\
	    "AWSCluster", NAMESPACED, "v1beta2 v1beta1", JSON)					\
	K(AWS_CONTROL_PLANE, aws_control_plane, 0x0244, ONE, CAPI_CONTROL_GROUP,		\
	    "awsmanagedcontrolplanes", "AWSManagedControlPlane", NAMESPACED, "v1beta2 v1beta1", JSON)	\
	K(CLUSTER_CLASS, cluster_class, 0x0250, ONE, CAPI_GROUP, "clusterclasses", "ClusterClass",	\
	    NAMESPACED, "v1beta2 v1beta1", JSON)						\
	K(IP_CLAIM, ip_claim, 0x0251, ONE, CAPI_IPAM_GROUP, "ipaddressclaims", "IPAddressClaim",	\
	    NAMESPACED, "v1beta2 v1beta1 v1alpha1", JSON)					\
	K(IP_ADDRESS, ip_address, 0x0252, ONE, CAPI_IPAM_GROUP, "ipaddresses", "IPAddress",	\
	    NAMESPACED, "v1beta2 v1beta1 v1alpha1", JSON)					\
	K(GLOBAL_IP_POOL, global_ip_pool, 0x0253, ONE, CAPI_IPAM_GROUP, "globalinclusterippools",	\
	    "GlobalInClusterIPPool", CLUSTER, "v1alpha2 v1alpha1", JSON)			\
	K(IP_POOL, ip_pool, 0x0254, ONE, CAPI_IPAM_GROUP, "inclusterippools", "InClusterIPPool",	\
	    NAMESPACED, "v1alpha2 v1alpha1", JSON)						\
	TEST_KINDS(K)

#define KIND_BODIES(B)	B(node) B(machine_config_pool) B(machine_config) B(cluster_version)	\
			B(node_insight) B(pool_insight) B(node_pod) B(volume_attachment) \
			B(volume_claim) B(node_claim) B(node_pool) B(linode_class) B(node_group)	\
			B(vpsie_node) B(capi_cluster) B(machine_deployment) B(aws_template)	\
			B(aws_cluster) B(aws_control_plane) B(cluster_class) B(ip_claim)	\
			B(ip_address) B(global_ip_pool) B(ip_pool) TEST_KIND_BODIES(B)

#define NODE_READERS	(ROLE_BIT(NODE_STATE) | TEST_NODE_READERS | TEST_ECHO_READERS)
#define node_FIELDS(P)	/* type, name, JSON, protobuf, readers */ \
	P(map,  labels,        "metadata.labels",                "1.11", NODE_READERS) \
	P(map,  annotations,   "metadata.annotations",           "1.12", TEST_NODE_READERS) \
	P(map,  mco,           "metadata.annotations{" MCO_GROUP "/ currentConfig desiredConfig "	\
	    "currentImage desiredImage state reason desiredDrain lastAppliedDrain}", "1.12",		\
	    ROLE_BIT(NODE_STATE)) \
	P(map,  vpsie,         "metadata.annotations{" VPSIE_GROUP "/}", "1.12", ROLE_BIT(VPSIE_CLAIMER)) \
	P(map,  vpsie_labels,  "metadata.labels{" VPSIE_GROUP "/}", "1.11", ROLE_BIT(VPSIE_CLAIMER)) \
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

/* Of the Pods of one Node (field selector spec.nodeName=NAME): what a drain reads (drain_pods.h). */
#define DRAIN_READERS	(ROLE_BIT(LKE_CLAIMER) | ROLE_BIT(VPSIE_CLAIMER) | TEST_DRAIN_READERS)
#define node_pod_FIELDS(P)							\
	P(str,  ns,          "metadata.namespace",                  "", DRAIN_READERS) \
	P(str,  name,        "metadata.name",                       "", DRAIN_READERS) \
	P(map,  mirror,      "metadata.annotations{kubernetes.io/ config.mirror}", "", DRAIN_READERS) \
	P(map,  karpenter,   "metadata.annotations{karpenter.sh/ do-not-disrupt}", "", DRAIN_READERS) \
	P(rows, owners,      "metadata.ownerReferences[kind,controller:b]", "", DRAIN_READERS) \
	P(str,  deleted,     "metadata.deletionTimestamp",          "", DRAIN_READERS) \
	P(i64,  delete_s,    "metadata.deletionGracePeriodSeconds", "", DRAIN_READERS) \
	P(str,  priority,    "spec.priorityClassName",              "", DRAIN_READERS) \
	P(rows, tolerations, "spec.tolerations[key,operator,value,effect]", "", DRAIN_READERS) \
	P(i64,  grace_s,     "spec.terminationGracePeriodSeconds",  "", DRAIN_READERS) \
	P(str,  phase,       "status.phase",                        "", DRAIN_READERS) \
	P(rows, volumes,     "spec.volumes[name,persistentVolumeClaim.claimName,"	\
	    "ephemeral.volumeClaimTemplate.spec.volumeMode]",       "", DRAIN_READERS)

#define volume_attachment_FIELDS(P)						\
	P(str,  node,     "spec.nodeName",                    "", DRAIN_READERS) \
	P(str,  volume,   "spec.source.persistentVolumeName", "", DRAIN_READERS) \
	P(flag, attached, "status.attached",                  "", DRAIN_READERS)

#define volume_claim_FIELDS(P)							\
	P(str,  volume, "spec.volumeName", "", DRAIN_READERS)

/* requirements: the list as JSON. */
#define node_claim_FIELDS(P)							\
	P(str,  created,        "metadata.creationTimestamp",   "", ROLE_BIT(LKE_CLAIMER)) \
	P(str,  deleted,        "metadata.deletionTimestamp",   "", ROLE_BIT(LKE_CLAIMER)) \
	P(i64,  generation,     "metadata.generation",          "", ROLE_BIT(LKE_CLAIMER)) \
	P(rows, finalizers,     "metadata.finalizers[]",        "", ROLE_BIT(LKE_CLAIMER)) \
	P(map,  labels,         "metadata.labels",              "", ROLE_BIT(LKE_CLAIMER)) \
	P(map,  annotations,    "metadata.annotations",         "", ROLE_BIT(LKE_CLAIMER)) \
	P(str,  class_group,    "spec.nodeClassRef.group",      "", ROLE_BIT(LKE_CLAIMER)) \
	P(str,  class_kind,     "spec.nodeClassRef.kind",       "", ROLE_BIT(LKE_CLAIMER)) \
	P(str,  class_name,     "spec.nodeClassRef.name",       "", ROLE_BIT(LKE_CLAIMER)) \
	P(str,  requirements,   "spec.requirements!",           "", ROLE_BIT(LKE_CLAIMER)) \
	P(map,  requests,       "spec.resources.requests:q",    "", ROLE_BIT(LKE_CLAIMER)) \
	P(rows, taints,         "spec.taints[key,value,effect]", "", ROLE_BIT(LKE_CLAIMER)) \
	P(rows, startup_taints, "spec.startupTaints[key,value,effect]", "", ROLE_BIT(LKE_CLAIMER)) \
	P(str,  grace_period,   "spec.terminationGracePeriod",  "", ROLE_BIT(LKE_CLAIMER)) \
	P(str,  provider_id,    "status.providerID",            "", ROLE_BIT(LKE_CLAIMER)) \
	P(rows, conditions,     "status.conditions[type,status,reason,message,lastTransitionTime,"	\
	    "observedGeneration:i]",                            "", ROLE_BIT(LKE_CLAIMER))

#define node_pool_FIELDS(P)							\
	P(str,  deleted,     "metadata.deletionTimestamp", "", ROLE_BIT(LKE_CLAIMER)) \
	P(map,  intents,     "metadata.annotations{" LINODE_GROUP "/}", "", ROLE_BIT(LKE_CLAIMER))

/* kubelet: the object as JSON. */
#define linode_class_FIELDS(P)							\
	P(str,  deleted,     "metadata.deletionTimestamp", "", ROLE_BIT(LKE_CLAIMER)) \
	P(i64,  generation,  "metadata.generation",        "", ROLE_BIT(LKE_CLAIMER)) \
	P(rows, finalizers,  "metadata.finalizers[]",      "", ROLE_BIT(LKE_CLAIMER)) \
	P(rows, tags,        "spec.tags[]",                "", ROLE_BIT(LKE_CLAIMER)) \
	P(i64,  firewall,    "spec.firewallID",            "", ROLE_BIT(LKE_CLAIMER)) \
	P(str,  version,     "spec.lkeK8sVersion",         "", ROLE_BIT(LKE_CLAIMER)) \
	P(str,  kubelet,     "spec.kubelet!",              "", ROLE_BIT(LKE_CLAIMER)) \
	P(rows, conditions,  "status.conditions[type,status,reason,message,lastTransitionTime,"	\
	    "observedGeneration:i]",                       "", ROLE_BIT(LKE_CLAIMER))
/* conditions: with lastUpdateTime, which the original writes, too: others' are written back whole. */
#define VPSIE_READER	ROLE_BIT(VPSIE_CLAIMER)
#define VPSIE_CONDITIONS	"status.conditions[type,status,reason,message,lastTransitionTime,"	\
				"lastUpdateTime]"
#define node_group_FIELDS(P)							\
	P(str,  deleted,     "metadata.deletionTimestamp",    "", VPSIE_READER)	\
	P(rows, finalizers,  "metadata.finalizers[]",         "", VPSIE_READER)	\
	P(i64,  generation,  "metadata.generation",           "", VPSIE_READER)	\
	P(map,  annotations, "metadata.annotations{" VPSIE_GROUP "/}", "", VPSIE_READER)	\
	P(i64,  min,         "spec.minNodes",                 "", VPSIE_READER)	\
	P(i64,  max,         "spec.maxNodes",                 "", VPSIE_READER)	\
	P(str,  datacenter,  "spec.datacenterID",             "", VPSIE_READER)	\
	P(str,  cluster,     "spec.resourceIdentifier",       "", VPSIE_READER)	\
	P(str,  project,     "spec.project",                  "", VPSIE_READER)	\
	P(rows, offerings,   "spec.offeringIDs[]",            "", VPSIE_READER)	\
	P(str,  preferred,   "spec.preferredInstanceType",    "", VPSIE_READER)	\
	P(str,  image,       "spec.osImageID",                "", VPSIE_READER)	\
	P(str,  kubernetes,  "spec.kubernetesVersion",        "", VPSIE_READER)	\
	P(rows, ssh_keys,    "spec.sshKeyIDs[]",              "", VPSIE_READER)	\
	P(i64,  kube_size,   "spec.kubeSizeID",               "", VPSIE_READER)	\
	P(i64,  desired,     "status.desiredNodes",           "", VPSIE_READER)	\
	P(i64,  current,     "status.currentNodes",           "", VPSIE_READER)	\
	P(i64,  ready,       "status.readyNodes",             "", VPSIE_READER)	\
	P(i64,  group_id,    "status.vpsieGroupID",           "", VPSIE_READER)	\
	P(rows, nodes,       "status.nodes[nodeName,vpsID:i,instanceType,status,createdAt,readyAt,"	\
	    "ipAddress]", "", VPSIE_READER)							\
	P(rows, conditions,  VPSIE_CONDITIONS,                "", VPSIE_READER)	\
	P(i64,  observed,    "status.observedGeneration",     "", VPSIE_READER)

#define vpsie_node_FIELDS(P)							\
	P(str,  deleted,     "metadata.deletionTimestamp",    "", VPSIE_READER)	\
	P(str,  created,     "metadata.creationTimestamp",    "", VPSIE_READER)	\
	P(rows, finalizers,  "metadata.finalizers[]",         "", VPSIE_READER)	\
	P(i64,  generation,  "metadata.generation",           "", VPSIE_READER)	\
	P(map,  annotations, "metadata.annotations{" VPSIE_GROUP "/}", "", VPSIE_READER)	\
	P(map,  labels,      "metadata.labels{" VPSIE_GROUP "/}", "", VPSIE_READER)	\
	P(i64,  id,          "spec.vpsieInstanceID",          "", VPSIE_READER)	\
	P(str,  type,        "spec.instanceType",             "", VPSIE_READER)	\
	P(str,  group,       "spec.nodeGroupName",            "", VPSIE_READER)	\
	P(str,  datacenter,  "spec.datacenterID",             "", VPSIE_READER)	\
	P(str,  cluster,     "spec.resourceIdentifier",       "", VPSIE_READER)	\
	P(str,  node_name,   "spec.nodeName",                 "", VPSIE_READER)	\
	P(str,  address,     "spec.ipAddress",                "", VPSIE_READER)	\
	P(str,  address6,    "spec.ipv6Address",              "", VPSIE_READER)	\
	P(i64,  group_id,    "spec.vpsieGroupID",             "", VPSIE_READER)	\
	P(str,  identifier,  "spec.vpsieNodeIdentifier",      "", VPSIE_READER)	\
	P(str,  phase,       "status.phase",                  "", VPSIE_READER)	\
	P(str,  joined_node, "status.nodeName",               "", VPSIE_READER)	\
	P(str,  vps_status,  "status.vpsieStatus",            "", VPSIE_READER)	\
	P(str,  hostname,    "status.hostname",               "", VPSIE_READER)	\
	P(i64,  cpu,         "status.resources.cpu",          "", VPSIE_READER)	\
	P(i64,  memory_mb,   "status.resources.memoryMB",     "", VPSIE_READER)	\
	P(i64,  disk_gb,     "status.resources.diskGB",       "", VPSIE_READER)	\
	P(i64,  traffic_gb,  "status.resources.bandwidthGB",  "", VPSIE_READER)	\
	P(str,  created_at,  "status.createdAt",              "", VPSIE_READER)	\
	P(str,  provisioned_at, "status.provisionedAt",       "", VPSIE_READER)	\
	P(str,  joined_at,   "status.joinedAt",               "", VPSIE_READER)	\
	P(str,  ready_at,    "status.readyAt",                "", VPSIE_READER)	\
	P(str,  terminating_at, "status.terminatingAt",       "", VPSIE_READER)	\
	P(str,  deleted_at,  "status.deletedAt",              "", VPSIE_READER)	\
	P(rows, conditions,  VPSIE_CONDITIONS,                "", VPSIE_READER)	\
	P(str,  last_error,  "status.lastError",              "", VPSIE_READER)	\
	P(i64,  observed,    "status.observedGeneration",     "", VPSIE_READER)

/* References: v1beta1 has apiVersion and a namespace, v1beta2 has apiGroup instead. */
#define CAPA_READER	ROLE_BIT(CAPA_ANNOTATOR)
#define VIP_READER	ROLE_BIT(VIP_CLAIMER)
#define capi_cluster_FIELDS(P)							\
	P(str,  created,         "metadata.creationTimestamp",        "", VIP_READER)	\
	P(str,  deleted,         "metadata.deletionTimestamp",        "", VIP_READER)	\
	P(map,  vip,             "metadata.annotations{" CAPI_VIP_PREFIX " pre-allocate "	\
	    "ingress-enabled ingress-vip}", "", VIP_READER)				\
	P(map,  vip_labels,      "metadata.labels{" CAPI_VIP_PREFIX " ingress-vip}", "", VIP_READER)	\
	P(map,  core,            "metadata.annotations{" CAPI_GROUP "/ paused}", "", VIP_READER)	\
	P(flag, paused,          "spec.paused",                       "", VIP_READER)	\
	P(str,  class_name,      "v1beta2=spec.topology.classRef.name|v1beta1=spec.topology.class", "",	\
	    VIP_READER)									\
	P(str,  class_ns,        "v1beta2=spec.topology.classRef.namespace|"		\
	    "v1beta1=spec.topology.classNamespace", "", VIP_READER)			\
	P(str,  variables,       "spec.topology.variables!",          "", VIP_READER)	\
	P(str,  host,            "spec.controlPlaneEndpoint.host",    "", VIP_READER)	\
	P(i64,  port,            "spec.controlPlaneEndpoint.port",    "", VIP_READER)	\
	P(str,  infra_version,   "spec.infrastructureRef.apiVersion", "", CAPA_READER)	\
	P(str,  infra_group,     "spec.infrastructureRef.apiGroup",   "", CAPA_READER)	\
	P(str,  infra_kind,      "spec.infrastructureRef.kind",       "", CAPA_READER)	\
	P(str,  infra_name,      "spec.infrastructureRef.name",       "", CAPA_READER)	\
	P(str,  infra_ns,        "spec.infrastructureRef.namespace",  "", CAPA_READER)	\
	P(str,  control_version, "spec.controlPlaneRef.apiVersion",   "", CAPA_READER)	\
	P(str,  control_group,   "spec.controlPlaneRef.apiGroup",     "", CAPA_READER)	\
	P(str,  control_kind,    "spec.controlPlaneRef.kind",         "", CAPA_READER)	\
	P(str,  control_name,    "spec.controlPlaneRef.name",         "", CAPA_READER)	\
	P(str,  control_ns,      "spec.controlPlaneRef.namespace",    "", CAPA_READER)

#define machine_deployment_FIELDS(P)						\
	P(str,  deleted,       "metadata.deletionTimestamp", "", CAPA_READER)	\
	P(map,  openshift,     "metadata.annotations{machine.openshift.io/ vCPU memoryMb GPU}", "",	\
	    CAPA_READER)							\
	P(map,  capacity,      "metadata.annotations{capacity.cluster-autoscaler.kubernetes.io/ "	\
	    "cpu memory gpu-count gpu-type labels}", "", CAPA_READER)		\
	P(map,  region,        "metadata.annotations{capa." CAPI_INFRA_GROUP "/ region}", "",	\
	    CAPA_READER)							\
	P(str,  cluster,       "spec.clusterName", "", CAPA_READER)		\
	P(str,  infra_version, "spec.template.spec.infrastructureRef.apiVersion", "", CAPA_READER)	\
	P(str,  infra_group,   "spec.template.spec.infrastructureRef.apiGroup",   "", CAPA_READER)	\
	P(str,  infra_kind,    "spec.template.spec.infrastructureRef.kind",       "", CAPA_READER)	\
	P(str,  infra_name,    "spec.template.spec.infrastructureRef.name",       "", CAPA_READER)	\
	P(str,  infra_ns,      "spec.template.spec.infrastructureRef.namespace",  "", CAPA_READER)

#define aws_template_FIELDS(P)							\
	P(str,  type,   "spec.template.spec.instanceType", "", CAPA_READER)

#define aws_cluster_FIELDS(P)							\
	P(str,  region, "spec.region", "", CAPA_READER)

#define aws_control_plane_FIELDS(P)						\
	P(str,  region, "spec.region", "", CAPA_READER)

#define cluster_class_FIELDS(P)							\
	P(rows, variables, "spec.variables[name]", "", VIP_READER)

#define ip_claim_FIELDS(P)							\
	P(str,  created,    "metadata.creationTimestamp", "", VIP_READER)	\
	P(str,  deleted,    "metadata.deletionTimestamp", "", VIP_READER)	\
	P(map,  labels,     "metadata.labels{" CAPI_GROUP "/ cluster-name}", "", VIP_READER)	\
	P(rows, owners,     "metadata.ownerReferences[kind,name,uid]", "", VIP_READER)	\
	P(str,  pool_kind,  "spec.poolRef.kind", "", VIP_READER)		\
	P(str,  pool_name,  "spec.poolRef.name", "", VIP_READER)		\
	P(str,  address,    "status.addressRef.name", "", VIP_READER)		\
	P(rows, conditions, "status.conditions[type,status,reason]", "", VIP_READER)

#define ip_address_FIELDS(P)							\
	P(str,  claim,   "spec.claimRef.name", "", VIP_READER)			\
	P(str,  address, "spec.address", "", VIP_READER)

/* addresses: the object as JSON; "": the provider has not counted yet. */
#define POOL_FIELDS(P)								\
	P(str,  deleted,     "metadata.deletionTimestamp", "", VIP_READER)	\
	P(map,  labels,      "metadata.labels{" CAPI_VIP_PREFIX " cluster-class role priority}", "",	\
	    VIP_READER)								\
	P(map,  annotations, "metadata.annotations{" CAPI_VIP_PREFIX " cluster-class role priority}",	\
	    "", VIP_READER)							\
	P(map,  core,        "metadata.annotations{" CAPI_GROUP "/ paused}", "", VIP_READER)	\
	P(str,  addresses,   "status.ipAddresses!", "", VIP_READER)		\
	P(i64,  total,       "status.ipAddresses.total", "", VIP_READER)	\
	P(i64,  free,        "status.ipAddresses.free", "", VIP_READER)		\
	P(i64,  used,        "status.ipAddresses.used", "", VIP_READER)
#define global_ip_pool_FIELDS(P)	POOL_FIELDS(P)
#define ip_pool_FIELDS(P)		POOL_FIELDS(P)

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
enum kind_form { FORM_PROTO, FORM_JSON, FORM_LIVE };

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
	uint64_t		 readers;	/* of any field, as it changes */
	uint64_t		 live_readers;	/* FORM_LIVE: of any field, in answer to a request */
};

#ifdef __cplusplus
extern "C" {
#endif
extern const struct kind_row kind_table[KIND_MAX];
const char *kind_state_name(enum kind_state s);		/* "?" when out of range */
/* By its group and resource; a watched one before a live one. KIND_MAX: it is not read. */
enum kind kind_find(const char *group, const char *resource);
/* The kind that a live read of that resource answers with for this role. KIND_MAX: none. */
enum kind kind_find_live(const char *group, const char *resource, enum role reader);
const char *kind_report(const char *resource);	/* KIND_REPORTS; NULL: none */
#ifdef __cplusplus
}
#endif

#endif
