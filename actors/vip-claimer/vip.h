/*
 * actors/vip-claimer/vip.h - what the actor decides about one Cluster. Pure.
 *
 *	pools.c		which pool a Cluster takes its address from
 *	facts.c		what the rules of the plans require, and the messages
 *	plan.c		for the reconciler, which writes on the leader: what to do, and why
 *	hook_plan.c	for the hooks, which only read and answer on any replica: the answer, and why
 *	write.c		the bodies of the reconciler's writes
 */
#ifndef MUSTER_VIP_H
#define MUSTER_VIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"

/* Labels and annotations of pools and Clusters. */
#define VIP_PREFIX		"vip.capi.gorizond.io/"
#define VIP_CLUSTER_CLASS	VIP_PREFIX "cluster-class"
#define VIP_ROLE		VIP_PREFIX "role"
#define VIP_PRIORITY		VIP_PREFIX "priority"
#define VIP_PRE_ALLOCATE	VIP_PREFIX "pre-allocate"
#define VIP_INGRESS_ENABLED	VIP_PREFIX "ingress-enabled"
#define VIP_INGRESS_VIP		VIP_PREFIX "ingress-vip"
#define VIP_CLUSTER_NAME	"cluster.x-k8s.io/cluster-name"
#define VIP_IPAM_GROUP		"ipam.cluster.x-k8s.io"
#define VIP_VARIABLE		"clusterVip"

/* ---- Roles: an address is for the control plane, or for ingress (V8: opt-in) ---- */

/* ID, value of the label, prefix of the claim's name */
#define VIP_ROLES(R)						\
	R(CONTROL_PLANE, "control-plane", "vip-cp-")		\
	R(INGRESS,       "ingress",       "vip-ingress-")

enum vip_role {
#define VIP_ROLE_ENUM(ID, label, prefix) VIP_##ID,
	VIP_ROLES(VIP_ROLE_ENUM)
#undef VIP_ROLE_ENUM
	VIP_ROLE_MAX
};

enum { VIP_NAME_SIZE = 254, VIP_MESSAGE_SIZE = 768 };

const char *vip_role_label(enum vip_role r);
/* "vip-cp-c1". The length, or 0: it is longer than a name may be. */
size_t vip_claim_name(char buf[VIP_NAME_SIZE], enum vip_role r, struct wire_str cluster);

/* ---- Pools (pools.c; V5) ---- */

struct vip_pool {
	bool		namespaced;	/* InClusterIPPool; else GlobalInClusterIPPool */
	struct wire_str	namespace, name;
	/* Labels; and annotations of the same keys, which have lists: a label's value has no comma. */
	struct wire_str	class_label, class_list, role_label, role_list;
	struct wire_str	priority;	/* a number, the smallest first; "" and what is no number: last */
	bool		paused, deleting;
	bool		counted;	/* its status has numbers */
	int64_t		free;		/* of its addresses */
};

const char *vip_pool_kind(const struct vip_pool *p);
bool vip_pool_exhausted(const struct vip_pool *p);
/*
 * The best pool for a Cluster of that namespace and class; NULL: none matches. Exhausted and paused ones come
 * after all others, pools of the Cluster's namespace before global ones, then the priority, then the name.
 */
const struct vip_pool *vip_pool_choose(const struct vip_pool *pools, size_t n, struct wire_str namespace,
    struct wire_str class, enum vip_role role);

/* ---- What the plans read. Texts are views, "" where there is none ---- */

struct vip_cluster {
	bool		present;
	struct wire_str	namespace, name, uid, resource_version;
	int64_t		created_us;	/* 0: not given */
	bool		deleting;
	bool		paused;		/* spec.paused, or the annotation cluster.x-k8s.io/paused */
	bool		pre_allocate;	/* its annotation is "true" */
	bool		ingress;	/* VIP_INGRESS_ENABLED is "true" */
	struct wire_str	class_name, class_namespace;	/* of its topology; namespace "": its own */
	struct wire_str	host;		/* of spec.controlPlaneEndpoint */
	int64_t		port;		/* 0: not set */
	struct wire_str	variables;	/* spec.topology.variables as JSON; "": none */
	struct wire_str	ingress_vip, ingress_vip_label;
};

struct vip_class {
	bool	present;
	bool	declares_variable;	/* VIP_VARIABLE is in spec.variables */
};

struct vip_claim {
	bool		present, deleting;
	struct wire_str	namespace, name, resource_version;
	int64_t		created_us;
	uint32_t	owners;			/* ownerReferences */
	struct wire_str	owner_uid;		/* of the one that is the Cluster's; "": none is */
	struct wire_str	cluster_label;
	struct wire_str	pool_kind, pool_name;
	struct wire_str	address_name;		/* status.addressRef.name */
	struct wire_str	not_ready;		/* the reason of condition Ready=False */
};

/* The IPAddress that the claim's status names. */
struct vip_address {
	bool		present;
	struct wire_str	address, claim_name;
};

/* All inputs of a plan. Claim and address are those of the role. */
struct vip_input {
	enum vip_role		 role;
	bool			 synced;	/* the first lists of all kinds are complete */
	struct wire_str		 forbidden;	/* a resource that may not be read; "": none */
	struct vip_cluster	 cluster;
	struct vip_class	 class;
	const struct vip_pool	*pools;
	size_t			 npools;
	struct vip_claim	 claim;
	struct vip_address	 address;
	int64_t			 now_us;	/* cluster time; 0: not known yet */
	int64_t			 budget_ms;	/* before-create-timeout */
	int64_t			 default_port;
};

/* The class that a topology names: in the Cluster's namespace unless it names another. */
struct wire_str vip_class_namespace(const struct vip_cluster *c);
/* Four numbers with dots; or what can only be IPv6. */
bool vip_is_ipv4(struct wire_str text);
bool vip_is_address(struct wire_str text);

/*
 * ---- Facts (facts.c): what the rules of both plans require to be true or false ----
 *
 * SET is the goal of the role: the endpoint has a host, or the annotation for ingress has a value. Whoever
 * set it, it is never overwritten (V6).
 */
enum vip_fact {
	VIP_SYNCED		= 1 << 0,
	VIP_READABLE		= 1 << 1,
	VIP_CLUSTER		= 1 << 2,
	VIP_WANTED		= 1 << 3,	/* the role: ingress is opt-in */
	VIP_CLASS_NAMED		= 1 << 4,
	VIP_CLASS_PRESENT	= 1 << 5,
	VIP_NAME_FITS		= 1 << 6,	/* of the claim */
	VIP_DELETING		= 1 << 7,
	VIP_PAUSED		= 1 << 8,
	VIP_RESERVES		= 1 << 9,	/* pre-allocate */
	VIP_SET			= 1 << 10,
	VIP_SET_BY_US		= 1 << 11,	/* ... to the address of the claim */
	VIP_REST_DIFFERS	= 1 << 12,	/* the variable, or ingress's label, is not the address */
	VIP_POOL		= 1 << 13,	/* one matches */
	VIP_CLAIM		= 1 << 14,
	VIP_CLAIM_DELETING	= 1 << 15,
	VIP_CLAIM_OWNERLESS	= 1 << 16,
	VIP_CLAIM_OWNED		= 1 << 17,	/* by this Cluster: its uid */
	VIP_CLAIM_LABELLED	= 1 << 18,
	VIP_ADDRESS_NAMED	= 1 << 19,
	VIP_ADDRESS_PRESENT	= 1 << 20,
	VIP_ADDRESS_OF_CLAIM	= 1 << 21,
	VIP_ADDRESS_VALID	= 1 << 22,
	VIP_CLAIM_NOT_READY	= 1 << 23,	/* the provider gives a reason */
	VIP_LATE		= 1 << 24,	/* the claim is older than the wait budget */
	VIP_CLAIM_POOL		= 1 << 25,	/* the claim's pool is there */
	VIP_CLAIM_POOL_EMPTY	= 1 << 26,	/* ... and has no free address */
};

/* What a plan has derived from its input. */
struct vip_view {
	unsigned		 facts;
	char			 claim_name[VIP_NAME_SIZE];
	const struct vip_pool	*pool;		/* chosen for a new claim; NULL: none */
	struct wire_str		 pool_name;	/* of the claim, or of `pool` */
	int64_t			 late_in_ms;	/* until the wait budget is used up; 0: it is, or no claim */
};
void vip_view(const struct vip_input *s, struct vip_view *v);

/* What a message names behind its reason. */
enum vip_subject {
	VIP_OF_NONE, VIP_OF_CLASS, VIP_OF_LABELS, VIP_OF_CLAIM, VIP_OF_POOL, VIP_OF_CLAIM_IN_POOL,
	VIP_OF_ADDRESS, VIP_OF_REASON, VIP_OF_RESOURCE,
};
/* Without counters and times: it becomes a condition's message, and each change of that is a write. */
void vip_message(char buf[VIP_MESSAGE_SIZE], const char *why, enum vip_subject about,
    const struct vip_input *s, const struct vip_view *v);

/*
 * ---- The reconciler's plan (plan.c; V2, V3, V5, V6, V8) ----
 *
 * Level-triggered: the same input gives the same plan, and what waits is enqueued by a change (V4).
 */
enum vip_verb {
	VIP_NOTHING,
	VIP_WAIT,
	VIP_WARN,		/* an Event, nothing written; a change reconciles it */
	VIP_CREATE_CLAIM,
	VIP_ADOPT_CLAIM,	/* label and ownerReference */
	VIP_PATCH_CLUSTER,	/* endpoint and variable, or annotation and label for ingress */
	VIP_VERB_MAX
};
enum vip_event { VIP_EVENT_NONE, VIP_ALLOCATED, VIP_WAITING, VIP_NO_POOL, VIP_EVENT_MAX };

struct vip_plan {
	enum vip_verb		 verb;
	const char		*why;
	int64_t			 after_ms;	/* VIP_WAIT: plan again then; 0: a change enqueues the key */
	enum vip_event		 event;		/* of VIP_WARN; of VIP_PATCH_CLUSTER when it is done */
	char			 message[VIP_MESSAGE_SIZE];	/* why, and about what */
	struct vip_view		 view;
};
void vip_plan(const struct vip_input *s, struct vip_plan *out);
const char *vip_verb_name(enum vip_verb v);
const char *vip_event_reason(enum vip_event e);		/* "VIPWaiting"; "" for none */

/*
 * ---- The hooks' plans (hook_plan.c; V2, V3, V7) ----
 *
 * BeforeClusterCreate: the Cluster of the input is that of the request, from which the caller renders; the
 * rest is this replica's view. A Failure would hide its message and back off, so it never fails.
 */
struct vip_gate {
	bool		 pass;
	int64_t		 retry_s;	/* 0 when it passes */
	const char	*why;
	char		 message[VIP_MESSAGE_SIZE];
	struct vip_view	 view;
};
void vip_gate_plan(const struct vip_input *s, struct vip_gate *out);

/*
 * GeneratePatches: the Cluster is that of this replica's view. An answer without the patch would remove the
 * endpoint from the infrastructure cluster, so what is not known is a Failure.
 */
enum vip_patches { VIP_PATCHES_FAIL, VIP_PATCHES_NONE, VIP_PATCHES_GIVE };
struct vip_patch_plan {
	enum vip_patches	 result;
	const char		*why;
	char			 message[VIP_MESSAGE_SIZE];
	struct wire_str		 host;		/* VIP_PATCHES_GIVE */
	int64_t			 port;
	struct vip_view		 view;
};
void vip_patch_plan(const struct vip_input *s, struct vip_patch_plan *out);

/* ---- Bodies of writes (write.c). Each returns its length, or 0: it does not fit ---- */

/* api: "ipam.cluster.x-k8s.io/v1beta2"; cluster_api: "cluster.x-k8s.io/v1beta2", as the server has them. */
size_t vip_body_claim(char *buf, size_t size, const char *api, const char *cluster_api,
    const struct vip_input *s, const struct vip_view *v);
/* Merge patches. They name resourceVersion: what was added meanwhile is not overwritten. */
size_t vip_body_adopt(char *buf, size_t size, const char *cluster_api, const struct vip_input *s);
size_t vip_body_cluster(char *buf, size_t size, const struct vip_input *s);
/* VIP_VARIABLE of that list has this text as its value. */
bool vip_variable_is(struct wire_str variables, struct wire_str address);

#endif
