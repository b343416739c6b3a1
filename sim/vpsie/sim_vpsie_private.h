/*
 * sim/vpsie/sim_vpsie_private.h - the model of the VPSie API: clusters, node groups, and the VMs behind them.
 *
 * A worker of a cluster and its VM are one record and one machine; a plain VM has no cluster. A machine that
 * is only ordered is in no list; one that is being deleted is in the VM list, with is_deleted, and in no
 * cluster. Nothing of a worker names the group that it was ordered for, as in the real API.
 */
#ifndef MUSTER_SIM_VPSIE_PRIVATE_H
#define MUSTER_SIM_VPSIE_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/machines/sim_machine_nodes.h"
#include "sim/provider/sim_provider.h"
#include "sim/provider/sim_provider_past.h"

enum { VPSIE_NAME_MAX = 128, VPSIE_UUID_MAX = 40, VPSIE_TIME_MAX = 32, VPSIE_TOKENS_MAX = 64 };

/* A size of machines, as POST /k8s/offers lists them. */
struct vpsie_size {
	int64_t		 id, cpu, ram, ssd, traffic;
	const char	*name;
};

struct vpsie_cluster {
	char	 identifier[VPSIE_UUID_MAX], name[VPSIE_NAME_MAX], datacenter[VPSIE_UUID_MAX];
	char	 master[VPSIE_UUID_MAX];	/* of its one machine of the control plane */
	int64_t	 number, created_us;
};

struct vpsie_group {
	int64_t				 id, created_us, since_ms;
	char				 identifier[VPSIE_UUID_MAX], name[VPSIE_NAME_MAX];
	const struct vpsie_cluster	*cluster;
	const struct vpsie_size		*size;
};

/* How one worker comes: the settings, or what a test has ordered for it (`next`). */
struct vpsie_manner {
	char	hostname[VPSIE_NAME_MAX];	/* "": one of the provider's own */
	int64_t	delay_ms;			/* ordered for so much longer */
	int64_t	ip_lag_ms;			/* after it runs: no list has its addresses */
	int64_t	ip_settle_ms;			/* after that: they have another one first */
	bool	never;				/* it is ordered for ever */
	bool	hide_vm;			/* the VM list never has it */
	bool	hide_identifier;		/* its cluster's node list shows no identifier */
};

struct vpsie_worker {
	uint64_t			 machine;	/* ids of the VM and of the node follow from it */
	const struct vpsie_cluster	*cluster;	/* NULL: a plain VM */
	int64_t				 group;		/* 0: none */
	const struct vpsie_size		*size;
	char				 identifier[VPSIE_UUID_MAX], hostname[VPSIE_NAME_MAX];
	int64_t				 ordered_us;	/* wall clock */
	struct vpsie_manner		 manner;
};

/* What tests may set. Times are simulated ones, except those of tokens. */
struct vpsie_settings {
	int64_t	worker_delay_ms, ip_lag_ms, ip_settle_ms;	/* of each worker: struct vpsie_manner */
	int64_t	hide_vm_every, hide_identifier_every;	/* each so many-th worker; 0: none, 1: all */
	int64_t	nodes_count_lag_ms;	/* before `nodes_count` of its group counts a worker */
	int64_t	groups_lag_ms;		/* before a new group is listed */
	int64_t	vm_status;		/* 1: VMs have a `status` */
	int64_t	nodes_form;		/* enum vpsie_nodes_form */
	int64_t	bare_vm;		/* 1: GET of a VM by number has no envelope */
	int64_t	page_max;		/* entries of a page, whatever `limit` is */
	int64_t	ignore_offset, hide_total;
	int64_t	nodes_max;		/* so many workers of a cluster are listed; 0: all */
	int64_t	errors_with_200;	/* 1: what is refused is HTTP 200 with "error": true */
	int64_t	quota;			/* VMs of the account */
	int64_t	answer_object;		/* 1: add-worker answers with the worker, not with true */
	int64_t	token_life_s;
	int64_t	clock_offset_s;		/* the provider's clock is so much ahead */
	int64_t	strict;			/* enum vpsie_strict */
};
enum vpsie_nodes_form { NODES_MERGED, NODES_OF_SDK, NODES_OF_AUTOSCALER, NODES_FORMS };
/* Whose prefixes and header are accepted: everybody's, the autoscaler's (/v2, Bearer), the SDK's. */
enum vpsie_strict { STRICT_NONE, STRICT_AUTOSCALER, STRICT_SDK, STRICT_MAX };

struct vpsie_token {
	char	token[VPSIE_UUID_MAX], client[VPSIE_NAME_MAX];
	int64_t	until_us;
};

struct vpsie {
	uint32_t			  magic;
#define VPSIE_MAGIC	0x56505349u
	struct simulator		 *sim;
	bool				  join;
	struct sim_machine_nodes	 *nodes_of_cluster;
	struct sim_machines		 *machines;
	struct sim_provider_past	 *past;		/* {"vms": [], "clusters": {}, "groups": {}} */
	struct vpsie_settings		  settings;
	struct vpsie_cluster		**clusters;
	struct vpsie_group		**groups;
	struct vpsie_worker		**workers;	/* in the order of their machines */
	size_t				  nclusters, ngroups, nworkers;
	int64_t				  last_group;
	json_t				 *next;		/* how the next workers come, in order */
	json_t				 *clients;	/* {clientId: clientSecret} */
	struct vpsie_token		  tokens[VPSIE_TOKENS_MAX];	/* a ring of those given out */
	size_t				  ntokens;	/* so far */
};

/* ---- sim_vpsie_model.c ---- */
struct vpsie_cluster *vpsie_add_cluster(struct vpsie *v, const char *name, const char *datacenter);
struct vpsie_group *vpsie_add_group(struct vpsie *v, const struct vpsie_cluster *c, const char *name,
    const struct vpsie_size *size);
void vpsie_delete_group(struct vpsie *v, struct vpsie_group *g);
/* A worker of that group, or without one; without a cluster a plain VM. */
struct vpsie_worker *vpsie_add_worker(struct vpsie *v, const struct vpsie_cluster *c,
    const struct vpsie_group *g, const char *hostname);
void vpsie_delete_worker(struct vpsie *v, struct vpsie_worker *w);
struct vpsie_cluster *vpsie_find_cluster(const struct vpsie *v, const char *identifier);
struct vpsie_group *vpsie_find_group(const struct vpsie *v, const struct vpsie_cluster *c, int64_t id);
/* By the number of the VM (a text), or the identifier. NULL: there is none, or it is only ordered. */
struct vpsie_worker *vpsie_find_vm(const struct vpsie *v, const char *id);
const struct vpsie_size *vpsie_find_size(int64_t id);
const struct vpsie_size *vpsie_sizes(size_t *n);
int64_t vpsie_vm_id(const struct vpsie_worker *w);
/* NULL: it is gone. */
const struct sim_machine *vpsie_machine(const struct vpsie *v, const struct vpsie_worker *w);
/* Made, and not deleted: a list may have it. */
bool vpsie_exists(const struct vpsie *v, const struct vpsie_worker *w);
int64_t vpsie_count_workers(const struct vpsie *v);
/* Records of machines that are gone are removed. Before every answer. */
void vpsie_refresh(struct vpsie *v);
/* Just before a change. */
void vpsie_keep_past(struct vpsie *v);
void vpsie_free_all(struct vpsie *v);
/* Orders how the next workers come. False: it is no list of such objects. */
bool vpsie_order_next(struct vpsie *v, const json_t *list);

/* ---- sim_vpsie_json.c: objects as the API shows them; new references ---- */
json_t *vpsie_vm_json(const struct vpsie *v, const struct vpsie_worker *w);
json_t *vpsie_vms_json(const struct vpsie *v);
json_t *vpsie_group_json(const struct vpsie *v, const struct vpsie_group *g);
json_t *vpsie_groups_json(const struct vpsie *v, const struct vpsie_cluster *c);
json_t *vpsie_cluster_json(const struct vpsie *v, const struct vpsie_cluster *c, bool with_nodes);
/* Everything there is, whatever lags or is hidden: for tests. */
json_t *vpsie_state_json(const struct vpsie *v);
const char *vpsie_status(const struct sim_machine *m);

/* ---- sim_vpsie.c: what answers have in common ---- */
struct sim_provider_answer vpsie_ok(json_t *data, json_t *effect);	/* both are taken */
struct sim_provider_answer vpsie_fail(const struct vpsie *v, int code, const char *message);
/* A page of the list (taken), by offset and limit, with its total. */
struct sim_provider_answer vpsie_list(const struct vpsie *v, const struct sim_provider_call *c, json_t *list);

/* ---- sim_vpsie_auth.c ---- */
bool vpsie_add_client(struct vpsie *v, const json_t *client);	/* {"id", "secret"}; false: it is none */
void vpsie_expire_tokens(struct vpsie *v);
bool vpsie_issued(void *model, const char *token, char *id, size_t size);
int vpsie_refuse(void *model, const struct sim_provider_call *c);

/* Handlers, by file. */
sim_provider_handler vpsie_exchange_token;
sim_provider_handler vpsie_list_vms, vpsie_get_vm, vpsie_create_vm, vpsie_delete_vm,
    vpsie_delete_vm_by_body, vpsie_vm_status, vpsie_list_pending;
sim_provider_handler vpsie_list_clusters, vpsie_get_cluster, vpsie_create_cluster, vpsie_list_groups,
    vpsie_create_group, vpsie_remove_group, vpsie_add_slave, vpsie_remove_slave, vpsie_reduce,
    vpsie_list_offers, vpsie_list_datacenters;

#endif
