/*
 * sim/linode/sim_linode_private.h - the model of the Linode API: clusters, node pools, and the instances
 * behind them.
 *
 * An LKE node and its instance are one record and one machine. A machine that is only ordered is a node
 * whose instance_id is null, and in no list of instances; one that is being deleted is in no pool, and
 * still in that list. The tiers differ in what is shown, not in what there is.
 */
#ifndef MUSTER_SIM_LINODE_PRIVATE_H
#define MUSTER_SIM_LINODE_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/machines/sim_machine_nodes.h"
#include "sim/provider/sim_provider.h"
#include "sim/provider/sim_provider_past.h"

enum { LINODE_NAME_MAX = 64, LINODE_TAG_MAX = 50, LINODE_TIME_MAX = 24 };

struct linode_cluster {
	uint64_t	 id;
	char		 label[LINODE_NAME_MAX], region[LINODE_NAME_MAX], k8s_version[LINODE_NAME_MAX];
	char		 created[LINODE_TIME_MAX];
	bool		 enterprise;
	json_t		*tags;
};

struct linode_pool {
	uint64_t			 id;
	const struct linode_cluster	*cluster;
	char				 type[LINODE_NAME_MAX], label[LINODE_NAME_MAX];
	char				 k8s_version[LINODE_NAME_MAX], update_strategy[LINODE_NAME_MAX];
	int64_t				 count, least, most;	/* least, most: of its autoscaler */
	json_t				*tags, *labels, *taints, *firewall_id;
};

struct linode_node {
	uint64_t			 machine;	/* its instance id follows from it */
	const struct linode_cluster	*cluster;
	struct linode_pool		*pool;		/* NULL: deleted, or its pool is */
	uint64_t			 pool_id;
	char				 id[LINODE_NAME_MAX];
	char				 label[LINODE_NAME_MAX];	/* of the instance and the Node */
	char				 type[LINODE_NAME_MAX], created[LINODE_TIME_MAX];
	int64_t				 since_ms;	/* simulated time */
	json_t				*tags;		/* of the instance */
	bool				 tagged;	/* Enterprise: those of the pool have been added */
};

/* What tests may set. Times are simulated ones. */
struct linode_settings {
	int64_t	nodes_lag_ms;		/* Enterprise: before `nodes` of a pool shows a node */
	int64_t	tags_lag_ms;		/* Enterprise: before an instance has the tags of its pool */
	int64_t	pool_max;		/* nodes of a pool */
	int64_t	quota;			/* instances of the account */
	int64_t	contains_substring;	/* 1: +contains of tags finds parts of a tag */
	int64_t	filter_lke_cluster_id;	/* 1: instances can be filtered by lke_cluster_id */
};

struct linode {
	uint32_t			  magic;
#define LINODE_MAGIC	0x4c494e4fu
	struct simulator		 *sim;
	bool				  join;
	struct sim_machine_nodes	 *nodes_of_cluster;
	struct sim_machines		 *machines;
	struct sim_provider_past	 *past;		/* {"pools": {CLUSTER: [...]}, "instances": [...]} */
	struct linode_settings		  settings;
	struct linode_cluster		**clusters;
	struct linode_pool		**pools;
	struct linode_node		**nodes;	/* in the order of their machines */
	size_t				  nclusters, npools, nnodes;
	uint64_t			  last_cluster, last_pool;
};

/* ---- sim_linode_model.c ---- */
struct linode_cluster *linode_add_cluster(struct linode *l, const char *label, const char *region,
    bool enterprise);
struct linode_pool *linode_add_pool(struct linode *l, const struct linode_cluster *c, const char *type);
/* Nodes come, or go: which of them is the server's choice, the oldest first. */
void linode_set_count(struct linode *l, struct linode_pool *p, int64_t count);
void linode_delete_pool(struct linode *l, struct linode_pool *p);
void linode_delete_node(struct linode *l, struct linode_node *n);	/* count is the caller's */
void linode_recycle_node(struct linode *l, struct linode_node *n);
struct linode_cluster *linode_find_cluster(const struct linode *l, const char *id);
struct linode_pool *linode_find_pool(const struct linode *l, const struct linode_cluster *c, const char *id);
struct linode_node *linode_find_node(const struct linode *l, const struct linode_cluster *c, const char *id);
struct linode_node *linode_find_instance(struct linode *l, const char *id);
uint64_t linode_instance_id(const struct linode_node *n);
/* NULL: it is gone. */
const struct sim_machine *linode_machine(const struct linode *l, const struct linode_node *n);
int64_t linode_count_nodes(const struct linode *l);
/* Tags that are due are added, records of machines that are gone are removed. Before every answer. */
void linode_refresh(struct linode *l);
/* Just before a change. */
void linode_keep_past(struct linode *l);
void linode_free_all(struct linode *l);

/* ---- sim_linode_json.c: objects as the API shows them; new references ---- */
json_t *linode_cluster_json(const struct linode_cluster *c);
json_t *linode_pool_json(const struct linode *l, const struct linode_pool *p);
json_t *linode_node_json(const struct linode *l, const struct linode_node *n);
json_t *linode_instance_json(const struct linode *l, const struct linode_node *n);
json_t *linode_pools_json(const struct linode *l, const struct linode_cluster *c);
json_t *linode_instances_json(const struct linode *l);
const char *linode_now(char buf[LINODE_TIME_MAX]);

/* ---- sim_linode_catalogue.c: borrowed ---- */
const json_t *linode_types(void);
const json_t *linode_regions(void);
const json_t *linode_availability(void);
const json_t *linode_find_type(const char *id);	/* NULL: there is none */

/* ---- sim_linode.c: what answers have in common ---- */
struct sim_provider_answer linode_ok(json_t *body, json_t *effect);	/* both are taken */
struct sim_provider_answer linode_fail(int code, const char *field_or_null, const char *reason);
/* A page of the list (taken), by X-Filter over those fields, page and page_size. */
struct sim_provider_answer linode_list(const struct linode *l, const struct sim_provider_call *c,
    json_t *list, const char *const *fields);
/* A cluster or a pool as the version of the API in the path shows it. Takes it; a new reference. */
json_t *linode_shown(const struct sim_provider_call *c, json_t *object);
/* NULL: the member is absent, null, or a list of tags that may be. Else the answer's reason. */
const char *linode_wrong_tags(const json_t *tags);

/* Handlers, by file. */
sim_provider_handler linode_list_clusters, linode_create_cluster, linode_get_cluster, linode_list_pools,
    linode_create_pool, linode_get_pool, linode_update_pool, linode_remove_pool, linode_recycle_pool,
    linode_get_node, linode_remove_node, linode_renew_node;
sim_provider_handler linode_list_instances, linode_get_instance, linode_update_instance;
sim_provider_handler linode_list_types, linode_get_type, linode_list_regions, linode_get_region,
    linode_list_availability, linode_get_availability;

#endif
