/*
 * actors/lke-claimer/wire.h - requests to the Linode API, v4 and v4beta. Pure.
 *
 * Paths are below <api-url>/<api-version>. Lists are read in pages of LKE_PAGE_SIZE. What a filter matches is
 * not relied on: whether {"tags":"lke12"} also matches lke123 is not documented, so every answer is checked
 * again here (snapshot.h).
 */
#ifndef MUSTER_LKE_WIRE_H
#define MUSTER_LKE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"
#include "tags.h"

enum {
	LKE_PAGE_SIZE	= 500,
	LKE_PATH_SIZE	= 256,
	LKE_FILTER_SIZE = 512,
	LKE_BODY_SIZE	= 8192,
	LKE_NODE_SIZE	= 64,	/* id of an LKE node, with the NUL */
};

enum lke_tier { LKE_STANDARD, LKE_ENTERPRISE };

/* ID, name of the class of calls, bucket of its limit, method, mutating, idempotent */
#define LKE_CALLS(C)										\
	C(FIND_CLUSTER,   "clusters",      "lists",   "GET",    false, true)			\
	C(LIST_POOLS,     "pools",         "lists",   "GET",    false, true)			\
	C(LIST_INSTANCES, "instances",     "lists",   "GET",    false, true)			\
	C(LIST_TYPES,     "types",         "lists",   "GET",    false, true)			\
	C(GET_CLUSTER,    "cluster",       "general", "GET",    false, true)			\
	C(AVAILABILITY,   "availability",  "general", "GET",    false, true)			\
	C(CREATE_POOL,    "create-pool",   "general", "POST",   true,  false)			\
	C(SCALE_POOL,     "scale-pool",    "general", "PUT",    true,  false)			\
	C(DELETE_POOL,    "delete-pool",   "general", "DELETE", true,  true)			\
	C(DELETE_NODE,    "delete-node",   "general", "DELETE", true,  true)			\
	C(TAG_INSTANCE,   "tag-instance",  "general", "PUT",    true,  true)

/*
 * SCALE_POOL sets an absolute count, and is not idempotent all the same: one that arrives late lowers what a
 * later one has raised, and the API then deletes machines of its own choice.
 */
enum lke_call {
#define LKE_CALL_ENUM(ID, ...) LKE_CALL_##ID,
	LKE_CALLS(LKE_CALL_ENUM)
#undef LKE_CALL_ENUM
	LKE_CALL_MAX
};

struct lke_call_row {
	const char	*name, *bucket, *method;
	bool		 mutating, idempotent;
};
extern const struct lke_call_row lke_calls[LKE_CALL_MAX];

/* What a path is made of; a call uses what its path has. */
struct lke_target {
	int64_t		 cluster_id, pool_id, instance_id;
	const char	*node_id, *region;
	int64_t		 page;		/* from 1 */
};

/* NUL-terminated; the length, or 0 when a part is not one that a path may have. */
size_t lke_path(char buf[LKE_PATH_SIZE], enum lke_call c, const struct lke_target *t);

/* The value of X-Filter; the length, or 0 when it does not fit. */
size_t lke_filter_cluster(char buf[LKE_FILTER_SIZE], const char *label);
/* Standard: instances of the region. Enterprise: those with the cluster's own tag. */
size_t lke_filter_instances(
    char buf[LKE_FILTER_SIZE], enum lke_tier tier, const char *region, int64_t cluster_id);

struct lke_new_pool {
	enum lke_tier			 tier;
	const char			*type;
	uint32_t			 count;
	const struct lke_tag_list	*tags;
	int64_t				 firewall_id;	/* 0: none */
	const char			*k8s_version;	/* "": the cluster's; Enterprise alone has it */
};

/*
 * Bodies; the length, or 0 when it does not fit. A pool gets no labels and no taints: labels of Karpenter
 * would make it count machines that nobody has claimed (C9), and taints come with registration (C10).
 */
size_t lke_body_create(char *buf, size_t size, const struct lke_new_pool *p);
size_t lke_body_scale(char *buf, size_t size, uint32_t count);
size_t lke_body_tags(char *buf, size_t size, const struct lke_tag_list *tags);

#endif
