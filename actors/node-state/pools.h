/*
 * actors/node-state/pools.h - the MachineConfigPools: paused, layered, and the nodes that they
 * select.
 *
 * A selector is compiled when the pool is put, never when a node is evaluated. A missing, an empty
 * ({}) and an invalid selector match no node, as in MCO (a label selector of Kubernetes would match
 * all with {}). Pools are few: a walk over all of them is cheap. Its order is undefined and must
 * not affect any result.
 */
#ifndef MUSTER_NODE_POOLS_H
#define MUSTER_NODE_POOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "choose.h"
#include "msg.h"

/* What a put changed, as bits, and which nodes that affects. */
enum pool_change {
	POOL_ADDED	= 1,		/* together with the three others */
	POOL_SELECTOR	= 2,		/* nodes that matched before, and those that match now */
	POOL_PAUSED	= 4,		/* its nodes: a flip alone changes Paused and Pending */
	POOL_LAYERING	= 8,		/* its nodes: which desiredImage fits */
};

/*
 * More than this many pools on one node are not named in explain. The choice is the same: at least
 * all but two of them are custom pools.
 */
enum { POOLS_MATCH_MAX = 16 };

struct pools;
struct selector;

/* It stays where it is until it is removed, whatever else is put. For readers. */
struct pool {
	char		*name;
	bool		 paused;
	/* With label layering-enabled newestImageEquivalentConfig; "": not layered. */
	char		*image;
	char		*selector;		/* the JSON, unchanged, for explain */
	char		 error[256];		/* of the selector; "" when it is valid */
	struct selector	*now, *before;		/* compiled; NULL: matches nothing */
};

struct pools *pools_new(void);
void pools_free(struct pools **pp);

/*
 * Returns bits of enum pool_change. The body is copied; the previous selector is kept for
 * pool_matched until the next put.
 */
unsigned pools_put(struct pools *p, struct wire_str name, const struct body_machine_config_pool *body);
/* False: there was none. Frees the struct pool: call pool_matches before. */
bool pools_remove(struct pools *p, struct wire_str name);
const struct pool *pools_find(const struct pools *p, struct wire_str name);	/* or NULL */
uint32_t pools_count(const struct pools *p);
/* Starts with *cursor = 0; NULL at the end. Between two calls nothing may be put or removed. */
const struct pool *pools_next(const struct pools *p, uint32_t *cursor);

bool pool_matches(const struct pool *o, struct wire_map labels);
bool pool_matched(const struct pool *o, struct wire_map labels);	/* before the last put */

/*
 * The owner by the MCO rule, or NULL. *choice has the rule that decided (its index is not used here); why,
 * unless it is NULL, gets it as a sentence (choose_why).
 */
const struct pool *pools_owner(
    const struct pools *p, struct wire_map labels, struct choice *choice, char *why, size_t size);

#endif
