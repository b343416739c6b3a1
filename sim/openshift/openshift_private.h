/* sim/openshift/openshift_private.h - what the engine (openshift.c), the fleet (openshift_fleet.c) and the orders share. */
#ifndef MUSTER_OPENSHIFT_PRIVATE_H
#define MUSTER_OPENSHIFT_PRIVATE_H

#include "sim/kube/store/sim_store.h"
#include "openshift.h"
#include "openshift_pool.h"

struct fleet_node {
	char			*name, *uid;
	uint64_t		 rv;		/* what the facts are of */
	struct node_facts	 facts;
	int			 pool;		/* index; POOL_NONE */
	enum rollout_step	 step;
	double			 left_ms;	/* of the step */
	bool			 may_start;
};

struct rollout {
	uint32_t		 magic;
#define ROLLOUT_MAGIC	0x524f4c4cu
	struct sim		*sim;
	struct event		*timer;
	bool			 on, manual;
	char			*version;
	uint64_t		 serial;	/* of rendered configs */
	struct storage		*node_store, *pool_store, *config_store, *version_store;
	struct fleet_node	*nodes;		/* by name */
	size_t			 nnodes;
	struct rollout_pool	*pools;		/* by name */
	size_t			 npools;
	size_t			 seen_nodes, seen_pools;	/* storage.written when they were read */
	size_t			 told_nodes, told_pools;	/* ... when the statuses were written */
	char			*last;		/* the node that moved last, where only some may */
};

/* openshift_fleet.c: the arrays as the store is now; pools counted; who may start. */
void fleet_refresh(struct rollout *r);
void fleet_count(struct rollout *r);
void fleet_free(struct rollout *r);

/* openshift.c */
void rollout_start(struct rollout *r);
/* One round: each node moves at most once. Arrays, or NULL: what moved, and who did not and why. */
size_t rollout_round(struct rollout *r, double elapsed_ms, size_t most, json_t *moved, json_t *waiting);
/* The statuses of pools and version follow the nodes. */
void rollout_settle(struct rollout *r);
/* A new object of the world: with uid, time and generation. Takes it. */
void rollout_put_new(struct rollout *r, struct storage *st, json_t *object);
/* An object changed (spec: with its generation). Takes it. */
void rollout_put(struct rollout *r, struct storage *st, json_t *object, bool spec);
/* Of the store; NULL: none. A new reference. */
json_t *rollout_get(const struct storage *st, const char *name);

/* openshift_install.c: a pool with its configs (selector taken), the roles of the Nodes, more Nodes. */
void rollout_make_pool(struct rollout *r, const char *name, json_t *selector, json_t *max_unavailable);
/* So many of each role: first the Nodes that are there, then new ones; who is left over is a worker. */
size_t rollout_give_roles(struct rollout *r, const size_t wanted[ROLES]);
size_t rollout_make_nodes(struct rollout *r, enum rollout_role role, size_t n);

#endif
