/*
 * sim/kube/discovery/sim_resource_builtin.c - the resources that need no CRD, as the apiserver 1.35
 * describes them.
 */
#include "obj.h"
#include "sim_resource.h"

static const struct sim_selectable node_fields[] = {
	{ .name = "spec.unschedulable", .absent = "false" },
	{ .name = NULL },
};
static const struct sim_selectable namespace_fields[] = {
	{ .name = "status.phase" },
	{ .name = NULL },
};
static const struct sim_selectable secret_fields[] = {
	{ .name = "type" },
	{ .name = NULL },
};
static const struct sim_selectable pod_fields[] = {
	{ .name = "spec.nodeName" },
	{ .name = "spec.restartPolicy" },
	{ .name = "spec.schedulerName" },
	{ .name = "spec.serviceAccountName" },
	{ .name = "spec.hostNetwork", .absent = "false" },
	{ .name = "status.phase" },
	{ .name = "status.podIP" },
	{ .name = "status.podIPs" },
	{ .name = "status.nominatedNodeName" },
	{ .name = NULL },
};
static const struct sim_selectable event_fields[] = {
	{ .name = "involvedObject.kind" },
	{ .name = "involvedObject.namespace" },
	{ .name = "involvedObject.name" },
	{ .name = "involvedObject.uid" },
	{ .name = "involvedObject.apiVersion" },
	{ .name = "involvedObject.resourceVersion" },
	{ .name = "involvedObject.fieldPath" },
	{ .name = "reason" },
	{ .name = "reportingComponent" },
	{ .name = "source", .path = "source.component" },
	{ .name = "type" },
	{ .name = NULL },
};
/* The same by the names of events.k8s.io: the index is kept by the stored ones. */
static const struct sim_selectable new_event_fields[] = {
	{ .name = "regarding.kind" },
	{ .name = "regarding.namespace" },
	{ .name = "regarding.name" },
	{ .name = "regarding.uid" },
	{ .name = "regarding.apiVersion" },
	{ .name = "regarding.resourceVersion" },
	{ .name = "regarding.fieldPath" },
	{ .name = "reason" },
	{ .name = "reportingController" },
	{ .name = "type" },
	{ .name = NULL },
};
static const struct sim_rename new_event_names[] = {
	{ "regarding", "involvedObject" },
	{ "note", "message" },
	{ "reportingController", "reportingComponent" },
	{ "deprecatedSource", "source" },
	{ "deprecatedFirstTimestamp", "firstTimestamp" },
	{ "deprecatedLastTimestamp", "lastTimestamp" },
	{ "deprecatedCount", "count" },
	{ NULL, NULL },
};

#define NAMES(GROUP, VERSION, PLURAL, SINGULAR, KIND)						\
	.group = GROUP, .version = VERSION, .plural = PLURAL, .singular = SINGULAR, .kind = KIND,	\
	.list_kind = KIND "List", .builtin = true, .served = true
#define KEPT		.verbs = VERBS_ALL, .stored = true
#define REVIEW		.verbs = VERB_CREATE, .answers_only = true

const struct sim_resource sim_resource_builtin[] = {
	{
	    NAMES("", "v1", "configmaps", "configmap", "ConfigMap"),
	    KEPT,
	    .short_names = { "cm" },
	    .namespaced = true,
	},
	{
	    NAMES("", "v1", "events", "event", "Event"),
	    KEPT,
	    .short_names = { "ev" },
	    .namespaced = true, .fields = event_fields,
	},
	{
	    NAMES("", "v1", "namespaces", "namespace", "Namespace"),
	    .verbs = VERBS_ALL & ~VERB_DELETECOLLECTION, .stored = true,
	    .short_names = { "ns" },
	    .has_status = true, .fields = namespace_fields,
	},
	{
	    NAMES("", "v1", "nodes", "node", "Node"),
	    KEPT,
	    .short_names = { "no" },
	    .has_status = true, .fields = node_fields,
	},
	{
	    NAMES("", "v1", "pods", "pod", "Pod"),
	    KEPT,
	    .short_names = { "po" },
	    .categories = { "all" },
	    .namespaced = true, .has_status = true, .has_eviction = true, .graceful = true,
	    .returns_deleted = true, .counts_generation = true, .fields = pod_fields,
	},
	{
	    NAMES("", "v1", "secrets", "secret", "Secret"),
	    KEPT, .namespaced = true, .fields = secret_fields,
	},
	{
	    NAMES("", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount"),
	    KEPT,
	    .short_names = { "sa" },
	    .namespaced = true, .returns_deleted = true,
	},
	{
	    NAMES("apiextensions.k8s.io", "v1", "customresourcedefinitions",
		"customresourcedefinition", "CustomResourceDefinition"),
	    KEPT,
	    .short_names = { "crd", "crds" },
	    .categories = { "api-extensions" },
	    .has_status = true, .counts_generation = true,
	},
	{
	    NAMES("authentication.k8s.io", "v1", "selfsubjectreviews", "selfsubjectreview",
		"SelfSubjectReview"),
	    REVIEW,
	},
	{
	    NAMES("authorization.k8s.io", "v1", "selfsubjectaccessreviews",
		"selfsubjectaccessreview", "SelfSubjectAccessReview"),
	    REVIEW,
	},
	{
	    NAMES("coordination.k8s.io", "v1", "leases", "lease", "Lease"),
	    KEPT, .namespaced = true,
	},
	{
	    NAMES("events.k8s.io", "v1", "events", "event", "Event"),
	    .verbs = VERBS_ALL,
	    .short_names = { "ev" },
	    .namespaced = true, .fields = new_event_fields, .renames = new_event_names,
	},
	{
	    NAMES("policy", "v1", "poddisruptionbudgets", "poddisruptionbudget",
		"PodDisruptionBudget"),
	    KEPT,
	    .short_names = { "pdb" },
	    .namespaced = true, .has_status = true, .counts_generation = true,
	},
};
const size_t sim_resource_nbuiltin = NITEMS(sim_resource_builtin);
