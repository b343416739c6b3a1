/* actors/node-state/fleet_private.h - the inside of a fleet, for fleet.c (what comes in) and fleet_look.c. */
#ifndef MUSTER_NODE_FLEET_PRIVATE_H
#define MUSTER_NODE_FLEET_PRIVATE_H

#include "conditions.h"
#include "fleet.h"
#include "inputs.h"
#include "keytab.h"
#include "obj.h"
#include "tally.h"

#define FLEET_MAGIC	0x666c6574u	/* "flet" */
#define NODES		"nodes"
#define POOLS		"machineconfigpools"

struct node {
	uint64_t		hash;			/* of the state last given; 0: none */
	uint64_t		current, desired;	/* of the names of its configs; 0: none */
	uint32_t		evaluations;
	uint32_t		owner;			/* in tab of pools; KEYTAB_NONE: nobody */
	struct tally_node	counted;		/* as what, in its owner's tally */
	uint8_t			cause;			/* enum fleet_cause, until it was looked at */
};

/* What a pool's nodes add up to. It outlives the pool until the last node has left. */
struct pool_sum {
	struct pool_tally	tally;
	uint64_t		hash;
	const char		*assessment;		/* of the state last given */
	uint8_t			cause;
};

struct fleet {
	unsigned		 magic;
	struct fleet_hooks	 hooks;
	bool			 open;
	struct pools		*pools;
	struct versions		*versions;
	char			*target;
	struct keytab		*nodes, *sums;		/* by key; by name of the pool */
	struct node		*node;			/* by id */
	struct pool_sum		*sum;
	uint32_t		 node_room, sum_room, managed;
	/* Of the last look: its answer has views into them. */
	struct conditions	 texts;
	msgpack_sbuffer		 rows, summaries, packed;
};

/* The pool's key is to be looked at, and why. Nothing before fleet_open. */
void fleet_touch_pool(struct fleet *f, struct wire_str name, enum fleet_cause cause, uint64_t trace);
/* The sum of that pool, made when absent. */
uint32_t fleet_sum_id(struct fleet *f, struct wire_str name);
struct wire_str fleet_key(const struct keytab *k, uint32_t id);
uint64_t fleet_name_hash(struct wire_str name);	/* 0: of no name */

#endif
