/* actors/provider/drain_private.h - what drain.c and drain_requests.c share. */
#ifndef MUSTER_DRAIN_PRIVATE_H
#define MUSTER_DRAIN_PRIVATE_H

#include "actor.h"
#include "drain.h"
#include "drain_pods.h"
#include "drain_volumes.h"

enum { DRAIN_RV_MAX = 64 };

/* The Node by a live read. */
struct drain_live {
	bool	known;
	char	rv[DRAIN_RV_MAX + 1];
	bool	has_taints, has_labels, tainted, labelled, cordoned;
};

struct drain {
	uint32_t		 magic;
#define DRAIN_MAGIC	0x44524149u
	struct drain_config	 config;	/* node is ours */
	TAILQ_ENTRY(drain)	 next;		/* of those that wait for their turn */
	enum drain_turn		 waits_for;	/* DRAIN_TURN_MAX: it is not among them */
	struct drain_pods	 pods;
	struct drain_volumes	 volumes;
	bool			 marked;
	char			 view_rv[DRAIN_RV_MAX + 1];	/* of the actor's view, at the last mark */
	bool			 outdated;	/* ... the Node was newer */
	struct drain_live	 live;
	bool			 listed, volumes_listed;
	int64_t			 listed_ms, volumes_listed_ms;
	unsigned		 lists, volumes_lists;	/* in a row that changed nothing */
	int64_t			 again_ms;	/* a limit ended it: it begins anew then; 0: none did */
	int64_t			 pause_ms;	/* a mark or a list failed: the next not before */
	unsigned		 in_flight;	/* requests */
	unsigned		 pods_in_flight;	/* of them about Pods */
	int64_t			 busy_until_ms;	/* the last of them has ended */
	bool			 freed;		/* by its owner; the last request in flight frees it */
	char			 error[DRAIN_ERROR_MAX];	/* the last failure */
	char			 limit[DRAIN_ERROR_MAX];	/* what ended it */
};

/* False: the pool is full. The drain waits in it, and `progress` is called when its turn comes. */
bool drain_pool_take(struct drain *d, enum drain_turn turn);
/* A request in flight has ended; d may be freed already. */
void drain_pool_give(struct drain_pool *p, enum drain_turn turn);
void drain_pool_leave(struct drain *d);

/* The actor's view is the one that conflicted: the Node is read before it is marked (drain_node.c). */
bool drain_node_outdated(const struct drain *d, const struct drain_target *node);
/* False: an actor that reads Nodes itself has the answer in its mirror, so there is nothing to read here. */
bool drain_node_read(const struct drain_policy *p, const struct write_result *r, struct drain_live *out);
void drain_node_use(const struct drain_live *live, struct drain_target *node);

/* Sends what the step is: one of DRAIN_MARK, _LIST, _VOLUMES, _CLAIM, _EVICT, _DELETE. */
void drain_send(struct drain *d, const struct drain_target *node, const struct drain_step *step,
    int64_t now_ms);

#endif
