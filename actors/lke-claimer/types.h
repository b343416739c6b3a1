/*
 * actors/lke-claimer/types.h - which instance type a NodeClaim gets, or why none (contract C11). Pure.
 *
 *	requirements.c	labels of an instance type, and whether a requirement of a NodeClaim allows it
 *	sizing.c	capacity and allocatable of a type
 *	types.c		the cheapest type that fits
 *
 * A requirement on a key that no instance type has, such as a label of the user, does not decide about the
 * type: the NodeClaim itself carries that label.
 */
#ifndef MUSTER_LKE_TYPES_H
#define MUSTER_LKE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"

enum {
	LKE_TYPES_MAX	    = 1024,	/* there are about a hundred */
	LKE_TYPE_ID_SIZE    = 64,	/* with the NUL */
	LKE_LABEL_SIZE	    = 64,
	LKE_REFUSED_MS	    = 3 * 60 * 1000,	/* a type without capacity is not tried again before */
	LKE_RESOLUTION_SIZE = 512,
};

/* What /linode/types and the availability of the region contain. */
struct lke_type {
	char		id[LKE_TYPE_ID_SIZE], class[32];
	uint32_t	vcpus, memory_mib, disk_mib, gpus, accelerated, transfer_gb, network_mbit;
	int64_t		price;		/* an hour, in millionths of a dollar, in the region; -1: not given */
	bool		available;	/* false: the region lists the plan as not available */
	int64_t		refused_until_ms;	/* the API had no capacity for it; 0: it had */
};

/* ---- Labels and requirements (requirements.c) ---- */

/* ID, key */
#define LKE_LABELS(L)								\
	L(TYPE,          "node.kubernetes.io/instance-type")			\
	L(ZONE,          "topology.kubernetes.io/zone")				\
	L(REGION,        "topology.kubernetes.io/region")			\
	L(CAPACITY_TYPE, "karpenter.sh/capacity-type")				\
	L(ARCH,          "kubernetes.io/arch")					\
	L(OS,            "kubernetes.io/os")					\
	L(CPU,           "karpenter.k8s.linode/instance-cpu")			\
	L(MEMORY,        "karpenter.k8s.linode/instance-memory")		\
	L(DISK,          "karpenter.k8s.linode/instance-disk")			\
	L(CLASS,         "karpenter.k8s.linode/instance-class")			\
	L(GENERATION,    "karpenter.k8s.linode/instance-generation")		\
	L(GPU_NAME,      "karpenter.k8s.linode/instance-gpu-name")		\
	L(GPU_COUNT,     "karpenter.k8s.linode/instance-gpu-count")		\
	L(TRANSFER,      "karpenter.k8s.linode/instance-transfer")		\
	L(NETWORK_OUT,   "karpenter.k8s.linode/instance-network-out")		\
	L(ACCELERATED,   "karpenter.k8s.linode/instance-accelerated-devices-count")

enum lke_label {
#define LKE_LABEL_ENUM(ID, key) LKE_LABEL_##ID,
	LKE_LABELS(LKE_LABEL_ENUM)
#undef LKE_LABEL_ENUM
	LKE_LABEL_MAX
};

const char *lke_label_key(enum lke_label l);
/* By its key, or by the key it had before; LKE_LABEL_MAX: no label of an instance type. */
enum lke_label lke_label_find(struct wire_str key);
/* The value for that type, NUL-terminated; its length, 0: the type has no such label. */
size_t lke_label_value(
    char buf[LKE_LABEL_SIZE], const struct lke_type *t, const char *region, enum lke_label l);

enum lke_operator {
	LKE_IN, LKE_NOT_IN, LKE_EXISTS, LKE_DOES_NOT_EXIST, LKE_GT, LKE_LT, LKE_GTE, LKE_LTE,
	LKE_OPERATOR_MAX
};

struct lke_requirement {
	struct wire_str		 key;
	enum lke_operator	 op;
	const struct wire_str	*values;
	uint32_t		 nvalues;
	uint32_t		 min_values;	/* distinct values of the types that fit; 0: any */
};

const char *lke_operator_name(enum lke_operator op);
bool lke_operator_read(struct wire_str text, enum lke_operator *op);
bool lke_requirement_allows(const struct lke_requirement *r, const struct lke_type *t, const char *region);

/* ---- Sizing (sizing.c) ---- */

enum lke_resource { LKE_CPU, LKE_MEMORY, LKE_PODS, LKE_STORAGE, LKE_GPU, LKE_RESOURCE_MAX };

/* CPU in thousandths, memory and storage in bytes. */
struct lke_resources {
	int64_t	of[LKE_RESOURCE_MAX];
};

/* What a LinodeNodeClass has about the kubelet. Of a figure -1: not set. */
struct lke_sizing {
	uint32_t		memory_overhead;	/* thousandths that the VM does not show */
	int64_t			max_pods, pods_per_core;
	struct lke_resources	kube_reserved, system_reserved;
	int64_t			eviction_memory;	/* evictionHard memory.available, in bytes */
	int64_t			eviction_ppm;	/* ... or millionths of the capacity */
};

extern const struct lke_sizing lke_sizing_default;

const char *lke_resource_name(enum lke_resource r);	/* "nvidia.com/gpu" */
/* LKE_RESOURCE_MAX: no instance type has it. */
enum lke_resource lke_resource_find(struct wire_str name);
/* A quantity in the unit of that resource, rounded up. False: it is none, or negative. */
bool lke_resource_read(enum lke_resource r, struct wire_str quantity, int64_t *out);
/* A text for status.capacity, NUL-terminated; its length. */
size_t lke_resource_put(char buf[LKE_LABEL_SIZE], enum lke_resource r, int64_t amount);
struct lke_resources lke_capacity(const struct lke_type *t, const struct lke_sizing *s);
struct lke_resources lke_allocatable(const struct lke_type *t, const struct lke_sizing *s);

/* ---- Resolution (types.c) ---- */

struct lke_request {
	struct wire_str	name, quantity;
};

struct lke_resolve_input {
	const char			*region;
	const struct lke_type		*types;
	size_t				 ntypes;
	const struct lke_sizing		*sizing;
	const struct lke_requirement	*requirements;
	uint32_t			 nrequirements;
	const struct lke_request	*requests;
	uint32_t			 nrequests;
	int64_t				 now_ms;
};

enum lke_resolved {
	LKE_RESOLVED,
	LKE_INVALID,		/* a request is no quantity, or of a resource that no type has */
	LKE_NO_MATCH,		/* no type satisfies the requirements */
	LKE_NO_ROOM,		/* ... and none of them has the resources */
	LKE_NOT_OFFERED,	/* ... and none of them is available in the region */
	LKE_TOO_FEW,		/* ... and fewer than minValues are left */
	LKE_NO_CAPACITY,	/* ... and all were refused for lack of capacity a short time ago */
};

struct lke_resolution {
	enum lke_resolved	 result;
	const struct lke_type	*type;		/* of LKE_RESOLVED */
	int64_t			 retry_at_ms;	/* of LKE_NO_CAPACITY: when a type is tried again */
	char			 message[LKE_RESOLUTION_SIZE];	/* for people; "" of LKE_RESOLVED */
};

void lke_resolve(const struct lke_resolve_input *in, struct lke_resolution *out);

#endif
