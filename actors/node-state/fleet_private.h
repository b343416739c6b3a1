/* actors/node-state/fleet_private.h - the members of a fleet, for fleet.c (updates) and fleet_evaluate.c. */
#ifndef MUSTER_NODE_FLEET_PRIVATE_H
#define MUSTER_NODE_FLEET_PRIVATE_H

#include "conditions.h"
#include "fleet.h"
#include "keytab.h"
#include "obj.h"
#include "pool_tally.h"

#define FLEET_MAGIC	0x666c6574u	/* "flet" */
#define NODES		"nodes"
#define POOLS		"machineconfigpools"

struct fleet_node {
	uint64_t		hash;			/* of the last state; 0: none */
	uint64_t		current, desired;	/* of the names of its configs; 0: none */
	uint32_t		evaluations;
	uint32_t		owner;			/* id in `sums`; KEYTAB_NONE: no pool */
	struct tally_node	counted;		/* its share of its owner's tally */
	uint8_t			cause;			/* enum fleet_cause of the next evaluation */
};

/* The totals of a pool's nodes. They outlive the pool until its last node has left. */
struct pool_sum {
	struct pool_tally	tally;
	uint64_t		hash;
	const char		*assessment;		/* of the last state */
	uint8_t			cause;
};

struct fleet {
	unsigned		 magic;
	struct fleet_hooks	 hooks;
	bool			 open;
	struct pools		*pools;
	struct versions		*versions;
	char			*target;
	struct keytab		*nodes;			/* struct fleet_node, by key */
	struct keytab		*sums;			/* struct pool_sum, by name of the pool */
	uint32_t		 managed;
	/* Of the last evaluation: its result has views into them. */
	struct conditions	 texts;
	msgpack_sbuffer		 rows, summaries, packed;
};

/* Enqueues the key of a pool, with the cause. Does nothing before fleet_open. */
void fleet_enqueue_pool(struct fleet *f, struct wire_str name, enum fleet_cause cause, uint64_t trace);
/* The totals of that pool, created when absent. */
uint32_t fleet_sum_id(struct fleet *f, struct wire_str name);
static inline struct fleet_node *
fleet_node(const struct fleet *f, uint32_t id)
{
	return keytab_value(f->nodes, id);
}

static inline struct pool_sum *
fleet_sum(const struct fleet *f, uint32_t id)
{
	return keytab_value(f->sums, id);
}

struct wire_str fleet_key(const struct keytab *k, uint32_t id);
uint64_t fleet_name_hash(struct wire_str name);	/* 0 for an empty name */

#endif
