/*
 * sim/openshift/openshift_private.h - what the engine (openshift.c), the fleet (openshift_fleet.c)
 * and the commands share.
 */
#ifndef MUSTER_OPENSHIFT_PRIVATE_H
#define MUSTER_OPENSHIFT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "openshift.h"
#include "openshift_pool.h"
#include "sim/kube/store/sim_store.h"
#include "sim/sim.h"

struct openshift_fleet_node {
	char				*name, *uid;
	uint64_t			 rv;		/* what the facts are of */
	struct openshift_node_facts	 facts;
	int				 pool;		/* index; POOL_NONE */
	enum openshift_step		 step;
	double				 left_ms;	/* of the step */
	bool				 may_start;
};

struct openshift {
	uint32_t			 magic;
#define OPENSHIFT_MAGIC	0x524f4c4cu
	struct simulator		*sim;
	struct event			*timer;
	bool				 on, manual;
	char				*version;
	uint64_t			 serial;	/* of rendered configs */
	struct sim_storage		*node_store, *pool_store, *config_store, *version_store;
	struct openshift_fleet_node	*nodes;		/* by name */
	size_t				 nnodes;
	struct openshift_pool		*pools;		/* by name */
	size_t				 npools;
	/* storage.written when the arrays were read, and when the statuses were written */
	size_t				 read_nodes, read_pools, reported_nodes, reported_pools;
	char				*last;		/* the node that moved last, where only some may */
};

/* openshift_fleet.c: the arrays as the store is now; pools counted; who may start. */
void openshift_fleet_refresh(struct openshift *r);
void openshift_fleet_count(struct openshift *r);
void openshift_fleet_free(struct openshift *r);

/* openshift.c */
void openshift_start(struct openshift *r);
/* One round: each node moves at most once. Arrays, or NULL: what moved, and who did not and why. */
size_t openshift_round(struct openshift *r, double elapsed_ms, size_t most, json_t *moved, json_t *waiting);
/* The statuses of pools and version follow the nodes. */
void openshift_update_status(struct openshift *r);
/* A new object, with uid, time and generation. Takes it. */
void openshift_create(struct openshift *r, struct sim_storage *st, json_t *object);
/* An object changed (spec: with its generation). Takes it. */
void openshift_put(struct openshift *r, struct sim_storage *st, json_t *object, bool spec);
/* Of the store; NULL: none. A new reference. */
json_t *openshift_get(const struct sim_storage *st, const char *name);

/* openshift_install.c: a pool with its configs (selector taken), the roles of the Nodes, more Nodes. */
void openshift_make_pool(struct openshift *r, const char *name, json_t *selector, json_t *max_unavailable);
/* So many of each role: first the Nodes that are there, then new ones; who is left over is a worker. */
size_t openshift_give_roles(struct openshift *r, const size_t wanted[ROLES]);
size_t openshift_make_nodes(struct openshift *r, enum openshift_role role, size_t n);

/* Those that are not served yet are, when it returns. False with a text in err. */
bool openshift_crds_install(struct simulator *s, char *err, size_t size);

#endif
