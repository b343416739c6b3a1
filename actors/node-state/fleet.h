/*
 * actors/node-state/fleet.h - all that node-state knows: the pools, the versions, the target, and
 * what it said last of each node and pool.
 *
 * Objects come in by fleet_take, which says by `touch` what must be looked at again, and no more
 * than that (B3); fleet_look evaluates one of these keys and tells whether the answer is another one
 * than last time. Until fleet_open nothing is touched or looked at: pools and versions must be complete
 * before the first evaluation (B2), else nodes look unmanaged or pending for a moment. No bus, no
 * clock, no log: the simulation runs the same code.
 *
 * Keys are those of the bus, in and out: "nodes/<name>", "machineconfigpools/<name>".
 */
#ifndef MUSTER_NODE_FLEET_H
#define MUSTER_NODE_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assess.h"
#include "msg.h"
#include "pools.h"
#include "versions.h"

struct fleet;

/* Why something was looked at: field `reason` of NODE_STATE and POOL_STATE. */
#define FLEET_CAUSES(C)								\
	C(FIRST,   "first evaluation")						\
	C(NODE,    "its Node changed")						\
	C(POOL,    "a MachineConfigPool changed")				\
	C(CONFIG,  "a MachineConfig changed")					\
	C(VERSION, "the ClusterVersion changed")				\
	C(MEMBER,  "one of its nodes changed")

enum fleet_cause {
#define FLEET_CAUSE_ENUM(ID, text) FLEET_##ID,
	FLEET_CAUSES(FLEET_CAUSE_ENUM)
#undef FLEET_CAUSE_ENUM
	FLEET_CAUSE_MAX
};

typedef void fleet_node_fn(struct wire_str key, const struct body_node *n, void *arg);

struct fleet_hooks {
	/* Look at this key again. It may come more than once, also for a key that is already gone. */
	void	(*touch)(void *arg, struct wire_str key, uint64_t trace);
	/* Every Node there is: fleet keeps none. */
	void	(*each_node)(void *arg, fleet_node_fn *fn, void *fn_arg);
	void	 *arg;
};

enum fleet_look {
	LOOK_SAME,	/* nobody needs to hear of it */
	LOOK_CHANGED,	/* out->body is the new state */
	LOOK_GONE,	/* it had a state, and has none any more */
};

/* Views, valid until the next call of anything here. */
struct fleet_state {
	enum msg	 type;		/* MSG_NODE_STATE, MSG_POOL_STATE */
	union msg_body	 body;
	const char	*now, *before;	/* phase or assessment; before: "" when it had none */
	bool		 several;	/* two custom pools want this node: an error, so nobody owns it */
};

struct fleet *fleet_new(struct fleet_hooks hooks);
void fleet_free(struct fleet **fp);

/* An object as it is now; value NULL: gone. Other types than the four that count here do nothing. */
void fleet_take(struct fleet *f, enum msg type, struct wire_str key, const union msg_body *value,
    uint64_t trace);
/*
 * Everything is there: the caller looks at each node once, then at each pool (fleet_each_pool), and
 * from here on at what is touched.
 */
void fleet_open(struct fleet *f);
bool fleet_is_open(const struct fleet *f);

/*
 * Evaluates one key, of an open fleet. node: the Node of that key, NULL when there is none; of a pool's
 * key it does not count. A node that counts for another thing than before touches its pools.
 */
enum fleet_look fleet_look(struct fleet *f, struct wire_str key, const struct body_node *node,
    uint64_t trace, int64_t now_us, struct fleet_state *out);

void fleet_each_pool(struct fleet *f, void (*fn)(void *arg, struct wire_str key), void *arg);

/* For status, metrics and explain. */
uint32_t fleet_managed(const struct fleet *f);		/* nodes that have a state */
uint32_t fleet_evaluations(const struct fleet *f, struct wire_str key);
/* All that the assessment reads; owner NULL: nobody's. */
void fleet_inputs(const struct fleet *f, const struct body_node *node, const struct pool *owner,
    struct assess_in *in);
const struct pools *fleet_pools(const struct fleet *f);
const struct versions *fleet_versions(const struct fleet *f);
struct wire_str fleet_target(const struct fleet *f);
size_t fleet_bytes(const struct fleet *f);

/* "nodes/a" is of "nodes": its name "a"; an empty one: of another resource. */
struct wire_str fleet_name(struct wire_str key, const char *resource);

#endif
