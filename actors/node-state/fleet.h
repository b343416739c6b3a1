/*
 * actors/node-state/fleet.h - the state of node-state: pools, versions, target version, and the
 * last state of each node and pool.
 *
 * fleet_update takes an object and calls `enqueue` for every key whose state may depend on it, and
 * for no other; fleet_evaluate evaluates one of these keys and returns whether its state has
 * changed. Before fleet_open nothing is enqueued or evaluated: pools and versions must be complete
 * before the first evaluation, else nodes would be unmanaged or pending for a moment. No bus, no
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
struct json;

/* Why a key was evaluated: field `reason` of NODE_STATE and POOL_STATE. */
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
	/* Evaluate this key. A key may be enqueued more than once, and after its object was deleted. */
	void	(*enqueue)(void *arg, struct wire_str key, uint64_t trace);
	/* Calls fn for every Node: the fleet holds none. */
	void	(*each_node)(void *arg, fleet_node_fn *fn, void *fn_arg);
	void	 *arg;
};

enum fleet_result {
	EVAL_UNCHANGED,
	EVAL_CHANGED,	/* out->body and out->packed are the new state */
	EVAL_GONE,	/* the key had a state and has none any more */
};

/* Views, valid until the next call of anything here. */
struct fleet_state {
	enum msg	 type;		/* MSG_NODE_STATE, MSG_POOL_STATE */
	union msg_body	 body;
	struct wire_bin	 packed;	/* EVAL_CHANGED: the body, ready for actor_publish_packed */
	const char	*now, *before;	/* phase or assessment; before: "" when it had none */
	bool		 several;	/* two custom pools select this node: an error, so no pool owns it */
};

struct fleet *fleet_new(struct fleet_hooks hooks);
void fleet_free(struct fleet **fp);

/* An object as it is now; value NULL: deleted. Types other than the four kinds that are read are ignored. */
void fleet_update(struct fleet *f, enum msg type, struct wire_str key, const union msg_body *value,
    uint64_t trace);
/*
 * All inputs are complete: the caller evaluates each node once, then each pool (fleet_each_pool),
 * and from then on the keys that are enqueued.
 */
void fleet_open(struct fleet *f);
bool fleet_is_open(const struct fleet *f);

/*
 * Evaluates one key of an open fleet. node: the Node of that key, NULL when there is none; ignored
 * for the key of a pool. A node whose share of its pool's totals changed enqueues the pool.
 */
enum fleet_result fleet_evaluate(struct fleet *f, struct wire_str key, const struct body_node *node,
    uint64_t trace, int64_t now_us, struct fleet_state *out);

void fleet_each_pool(struct fleet *f, void (*fn)(void *arg, struct wire_str key), void *arg);

/* For status, metrics and explain. */
uint32_t fleet_managed(const struct fleet *f);		/* nodes that have a state */
uint32_t fleet_evaluations(const struct fleet *f, struct wire_str key);
/* All inputs of the assessment; owner NULL: no pool owns the node. */
void fleet_inputs(const struct fleet *f, const struct body_node *node, const struct pool *owner,
    struct assess_in *in);
const struct pools *fleet_pools(const struct fleet *f);
struct wire_str fleet_target(const struct fleet *f);

/* The name "a" of key "nodes/a" for resource "nodes"; empty when the key is of another resource. */
struct wire_str fleet_name(struct wire_str key, const char *resource);

/*
 * explain.c: `muster explain node/x` and `pool/x`: the members that include/actor.h lays down.
 * node: NULL when there is no such Node.
 */
void explain_node(const struct fleet *f, struct wire_str key, const struct body_node *node, bool openshift,
    struct json *out);
void explain_pool(const struct fleet *f, struct wire_str name, struct json *out);

#endif
