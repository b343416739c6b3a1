/*
 * actors/capa-annotator/capa.h - what the actor decides about one MachineDeployment. Pure.
 *
 *	references.c	which template, Cluster and infrastructure cluster it refers to
 *	annotations.c	its annotations for one instance type, and the patch that sets them
 *	plan.c		what to do about it, and why
 */
#ifndef MUSTER_CAPA_H
#define MUSTER_CAPA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aws_endpoint.h"
#include "catalogue.h"
#include "msg.h"

/*
 * ---- References (references.c; contract F2, F9, FR2, FR3, TR3, TR4) ----
 *
 * v1beta1 has apiVersion and, at will, a namespace; v1beta2 has apiGroup, and means the namespace of the
 * object that refers. The version in apiVersion does not count: every served version shows the same object.
 */
struct capa_reference {
	struct wire_str	api_version, api_group, kind, name, namespace;	/* "": not set */
};
struct capa_object {
	struct wire_str	namespace, name;
};

enum capa_reference_check {
	CAPA_REFERENCE_GOOD,
	CAPA_REFERENCE_EMPTY,	/* absent, or without a name */
	CAPA_REFERENCE_OTHER,	/* of another group or kind */
};

/* Of the MachineDeployment's template to the AWSMachineTemplate. namespace: of the MachineDeployment. */
enum capa_reference_check capa_template_of(
    const struct capa_reference *r, struct wire_str namespace, struct capa_object *out);

/* The object whose spec.region is the region of a Cluster. */
enum capa_region_kind {
	CAPA_REGION_NONE,	/* its references lead to no kind of AWS */
	CAPA_REGION_CLUSTER,	/* AWSCluster */
	CAPA_REGION_MANAGED,	/* AWSManagedControlPlane: EKS */
};
enum capa_region_kind capa_region_of(const struct capa_reference *infrastructure,
    const struct capa_reference *control_plane, struct wire_str namespace, struct capa_object *out);

/* On the MachineDeployment: the region when no object has it (FR3.2). */
#define CAPA_REGION_ANNOTATION	"capa.infrastructure.cluster.x-k8s.io/region"

/*
 * ---- Annotations (annotations.c; contract F1, F9, FR6) ----
 *
 * - Keys of machine.openshift.io: decimal numbers, MiB; the GPU count also when it is 0 (FR6.3).
 * - Keys of capacity.cluster-autoscaler.kubernetes.io: what the autoscaler's Cluster API provider reads. cpu
 *   and memory are quantities, where a memory without suffix would be bytes; gpu-count is an integer that
 *   counts only together with gpu-type.
 * - The GPU pair is removed when the type has no GPU. When the maker of its GPUs has no resource name here,
 *   a pair that this actor can have written is removed, and any other is left alone.
 * - labels is "key=value,key=value" without escapes and without trimming, and of a key twice the last
 *   counts. Ours takes the place of the first entry of its key, or the end; the other entries stay as they
 *   are, in their order. Empty entries, which nobody reads, go.
 * - Taints, ephemeral-disk, maxPods and all other keys are not ours: they are neither read nor written.
 */
#define CAPA_CAPACITY	"capacity.cluster-autoscaler.kubernetes.io/"
#define CAPA_KEYS(K)	/* ID, key of the annotation */			\
	K(VCPU,      "machine.openshift.io/vCPU")			\
	K(MEMORY_MB, "machine.openshift.io/memoryMb")			\
	K(GPU,       "machine.openshift.io/GPU")			\
	K(CPU,       CAPA_CAPACITY "cpu")				\
	K(MEMORY,    CAPA_CAPACITY "memory")				\
	K(GPU_COUNT, CAPA_CAPACITY "gpu-count")				\
	K(GPU_TYPE,  CAPA_CAPACITY "gpu-type")				\
	K(LABELS,    CAPA_CAPACITY "labels")

enum capa_key {
#define CAPA_KEY_ENUM(ID, key) CAPA_KEY_##ID,
	CAPA_KEYS(CAPA_KEY_ENUM)
#undef CAPA_KEY_ENUM
	CAPA_KEY_MAX
};

enum {
	CAPA_NUMBER_MAX = 16,	/* bytes; the longest is 4294967295Mi */
	CAPA_LABELS_MAX = 8192,
};

enum capa_change { CAPA_KEEP, CAPA_SET, CAPA_REMOVE };

/* Filled in place and not copied: values point into it. */
struct capa_annotations {
	enum capa_change	change[CAPA_KEY_MAX];
	struct wire_str		value[CAPA_KEY_MAX];	/* of those that are set */
	unsigned		changes;		/* that are not CAPA_KEEP */
	char			numbers[CAPA_KEY_MAX][CAPA_NUMBER_MAX];
	char			labels[CAPA_LABELS_MAX];
};

const char *capa_key_name(enum capa_key k);	/* "machine.openshift.io/vCPU" */
/* current: the values that are there; p NULL: absent. False: the labels do not fit. */
bool capa_annotations(const struct instance_type *type, const struct wire_str current[CAPA_KEY_MAX],
    struct capa_annotations *out);
/*
 * The JSON merge patch of the changes alone. It names resource_version only when it changes the labels:
 * their other entries are somebody else's, and an entry added meanwhile must not be lost. The length, or 0
 * when it does not fit.
 */
size_t capa_patch_body(
    char *buf, size_t size, const struct capa_annotations *a, struct wire_str resource_version);

/*
 * ---- The plan (plan.c) ----
 *
 * - Level-triggered: the same input gives the same plan. While the annotations are right, nothing is written.
 * - What cannot be decided yet waits, and a change of what it waits for reconciles it: nothing polls.
 * - When a reference, a template, a region or a type goes, nothing is written, and what is there stays.
 */
enum capa_verb {
	CAPA_NOTHING,
	CAPA_WAIT,
	CAPA_WARN,	/* an Event, nothing written; a change reconciles it */
	CAPA_FIND,	/* find plan.type in plan.region of the catalogue, then plan again */
	CAPA_PATCH,
	CAPA_VERB_MAX
};
enum capa_event { CAPA_EVENT_NONE, CAPA_RECONCILE_ERROR, CAPA_FAILED_UPDATE };

/* Whether an object that somebody refers to is there. */
enum capa_presence {
	CAPA_ABSENT,
	CAPA_UNREAD,		/* the first list of its kind is not complete */
	CAPA_FORBIDDEN,		/* its kind may not be read */
	CAPA_PRESENT,
};

/* All inputs of the plan. Texts are views, "" where there is none. */
struct capa_input {
	bool			 synced;	/* the first snapshot of the MachineDeployments is complete */
	bool			 leading;
	bool			 refused;	/* by the server, and nothing has changed since */
	int64_t			 hold_ms;	/* > 0: no write for so long (RBAC) */
	/* The MachineDeployment. */
	bool			 deleting;
	struct wire_str		 namespace, cluster_name, region_annotation;
	struct capa_reference	 infrastructure;
	struct wire_str		 current[CAPA_KEY_MAX];	/* p NULL: absent */
	/* The template that capa_template_of names. */
	enum capa_presence	 template;
	struct wire_str		 instance_type;
	/* The Cluster, and the object that capa_region_of names; CAPA_ABSENT: it names none. */
	enum capa_presence	 cluster, region_object;
	struct wire_str		 region;
	enum aws_partition	 partition;	/* of the role of the web identity */
	/* What the catalogue has answered; found false: it has not been asked yet. */
	bool			 found;
	enum catalogue_answer	 answer;
	struct instance_type	 type;		/* of CATALOGUE_KNOWN */
};

enum { CAPA_MESSAGE_MAX = 512 };

/* Filled in place and not copied: values point into it. */
struct capa_plan {
	enum capa_verb		 verb;
	const char		*why;
	int64_t			 after_ms;	/* CAPA_WAIT: requeue then; 0: a change enqueues the key */
	enum capa_event		 event;
	char			 message[CAPA_MESSAGE_MAX];	/* why, and about what */
	struct wire_str		 region, type;	/* views into the input; "": not decided */
	struct capa_annotations	 annotations;	/* of CAPA_PATCH; no changes otherwise */
};

void capa_plan(const struct capa_input *s, struct capa_plan *out);
const char *capa_verb_name(enum capa_verb v);
const char *capa_event_reason(enum capa_event e);	/* "" for none */

#endif
