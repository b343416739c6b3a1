/*
 * actors/lke-claimer/snapshot.h - pools and instances of one cluster, as complete lists have them
 * (contract C3, C12). One snapshot serves every waiting NodeClaim. No clock, no I/O.
 *
 *	snapshot_new, the answers of all pages (answers.h), snapshot_end
 *
 * Rules
 * - Pages of one list must agree on the number of entries, have that many, and none of ours twice: a machine
 *   that comes or goes between two pages moves the others, and one could be missed.
 * - Instances of other clusters are dropped while they are read: of LKE clusters by lke_cluster_id, in
 *   Enterprise also by the tag lke<cluster>.
 * - The answers to POST and PUT of a pool and to PUT of an instance replace the entry: nothing is read again
 *   to learn what an answer already has.
 */
#ifndef MUSTER_LKE_SNAPSHOT_H
#define MUSTER_LKE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types.h"
#include "wire.h"

enum { LKE_PAGES_MAX = 200, LKE_NAME_SIZE = 65 };

struct lke_tag_set {
	struct wire_str	*tags;		/* one block with their bytes */
	uint32_t	 n;
};

struct lke_node {
	char		id[LKE_NODE_SIZE];
	int64_t		instance_id;	/* 0: not yet (null) */
	bool		ready;
};

struct lke_pool {
	int64_t			 id, count;
	char			 type[LKE_TYPE_ID_SIZE];
	struct lke_tag_set	 tags;
	struct lke_node		*nodes;
	uint32_t		 nnodes;
};

struct lke_instance {
	int64_t			id, created_us;
	char			label[LKE_NAME_SIZE], type[LKE_TYPE_ID_SIZE];
	bool			leaving;	/* its status is deleting */
	int64_t			pool_id;	/* of the tag nodepool=<id>; 0: it has none */
	struct lke_tag_set	tags;
};

/* Where one list in pages is. */
struct lke_walk {
	int64_t		next, pages, results;	/* next: the page to ask for; 0: all are read */
	uint64_t	seen;			/* entries of the pages */
};

struct lke_snapshot {
	uint32_t		 magic;
	enum lke_tier		 tier;
	int64_t			 cluster_id;
	struct lke_walk		 pool_walk, instance_walk;
	struct lke_pool		*pools;
	struct lke_instance	*instances;
	size_t			 npools, ninstances;	/* by ascending id after snapshot_end */
	size_t			 pool_room, instance_room;
	uint64_t		 ours;		/* entries of the pages that are of this cluster */
};

struct lke_snapshot *snapshot_new(enum lke_tier tier, int64_t cluster_id);
void snapshot_free(struct lke_snapshot **sp);
/* Takes what the arguments point to. An entry of that id is replaced. */
void snapshot_put_pool(struct lke_snapshot *s, struct lke_pool *p);
void snapshot_put_instance(struct lke_snapshot *s, struct lke_instance *i);
/* A DELETE was answered. */
void snapshot_drop_pool(struct lke_snapshot *s, int64_t id);
void snapshot_drop_node(struct lke_snapshot *s, int64_t pool_id, const char *node_id);
struct lke_pool *snapshot_pool(const struct lke_snapshot *s, int64_t id);		/* or NULL */
struct lke_instance *snapshot_instance(const struct lke_snapshot *s, int64_t id);	/* or NULL */

/* False: the page does not belong to the pages before it; the list has to be read again from the first. */
bool walk_page(struct lke_walk *w, int64_t page, int64_t pages, int64_t results, size_t entries);
/* All pages of both lists are read. NULL, or why the snapshot must not be used. */
const char *snapshot_end(struct lke_snapshot *s);

/* The tags of the texts, copied into one block. */
struct lke_tag_set tag_set_new(const struct wire_str *tags, uint32_t n);
void lke_pool_free(struct lke_pool *p);
void lke_instance_free(struct lke_instance *i);

#endif
