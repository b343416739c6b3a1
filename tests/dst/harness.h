/*
 * tests/dst/harness.h - what the worlds of actors with a provider share: the actor and node-state,
 * whole, in trees with a modelled kube-watcher, and what happens to them.
 *
 *	harness.c		trees, ends and restarts; when a history is settled; crash sweeps
 *	harness_acts.c		what happens in every such world, and the end of all faults
 *	harness_requests.c	what the actor requests of kube-watcher, and what must hold then
 *	harness_machines.c	Nodes and Pods of machines; lists of the provider that lose entries
 *
 * A world adds a model of its provider, its objects, and what must hold (struct harness_spec). The
 * first member of its struct is its struct harness; w->runtime->world is that struct.
 *
 * Of every world the harness checks
 * - A8: an instance that does not lead, or whose Lease ends before the call could, sends no call that
 *   changes something and requests no write; no write takes effect while the Lease is another tree's.
 * - One write of an object is in flight, and nothing is written again that was written (A11).
 * - A1: after the last fault `difference` becomes NULL, and then there is neither a write nor such a
 *   call, also when the clocks move.
 */
#ifndef MUSTER_DST_HARNESS_H
#define MUSTER_DST_HARNESS_H

#include "cluster.h"
#include "dst.h"

enum {
	HARNESS_ASKED_MAX = REQUESTS_PER_SENDER,
	HARNESS_SEEN = 3,
	/* Together less than FENCE_SETTLE_MS: what was sent before shows in every list after it. */
	HARNESS_LATE_MS = 24 * 1000, HARNESS_LAG_MS = 5 * 1000,
	/* How old a view of the cluster can be when a decision from it takes effect at the provider. */
	HARNESS_VIEW_MS = 60 * 1000,
};

/* A request that is not answered. */
struct harness_asked {
	bool	used, mutation;
	char	object[2 * CLUSTER_NAME_MAX];
};

/* The lists that a process got last: what it compares the next one with. */
struct harness_seen {
	uint64_t	incarnation;
	uint32_t	counts[HARNESS_SEEN], n;
	uint64_t	shrunk;		/* number of the loss that it got, and no whole list since; 0: none */
};

struct harness_tree {
	struct runtime_actor	*watcher, *nodes, *actor;	/* nodes NULL: it does not run */
	/* Of the actor's present life. */
	struct harness_asked	 asked[HARNESS_ASKED_MAX];
	uint64_t		 own_rv[CLUSTER_OBJECTS_MAX];	/* of its last write, answered; 0: none */
	struct harness_seen	 seen;
};

struct harness;
typedef void harness_act_fn(struct harness *h);

struct harness_act {
	uint32_t	 weight;
	harness_act_fn	*fn;
};

struct harness_spec {
	enum role		  role;
	runtime_main		 *program;
	enum kind		  kind;		/* its objects, for `explain` after a violation */
	const char		 *shared;	/* resources whose objects several keys write; NULL: none */
	bool			  no_nodes;	/* node-state does not run */
	bool			  harmless;	/* no call of the provider changes anything */
	const struct harness_act *acts;		/* besides those of harness_acts.c */
	size_t			  nacts;
	/* A request of the actor has arrived at the provider. */
	void			(*serve)(struct harness *h, struct http_exchange *x);
	/* One is about to leave; NULL: the harness checks enough. Of harmless ones it checks nothing. */
	void			(*leaves)(struct harness *h, const struct http_exchange *x);
	/* The actor requests something of kube-watcher; it took effect (before: the object, or NULL). */
	void			(*requested)(struct harness *h, struct runtime_actor *ra,
				    const struct write_request *r);
	void			(*executed)(struct harness *h, const struct flight *f, const json_t *before);
	/* A process is about to get a change from a mirror. */
	void			(*changed)(struct harness *h, struct runtime_actor *ra,
				    const struct change *c);
	/* What is missing; NULL: every object is as it should be, and nothing else is at the provider. */
	const char		*(*difference)(struct harness *h);
	/* A list of the provider could lack, or still have, something. */
	bool			(*lists_lag)(const struct harness *h);
	/* The sweep: the next step of its workload, when the one before has settled; false: it is done. */
	bool			(*sweep_step)(struct harness *h, unsigned step);
	uint32_t		  sweep_least, sweep_effects;	/* effects of the whole workload */
};

struct harness {
	struct cluster		 cluster;	/* first: watcher_model.c */
	const struct harness_spec *spec;
	struct sim		*sim;
	struct runtime		*runtime;
	struct harness_tree	 trees[RUNTIME_TREES];
	unsigned		 ntrees;
	unsigned		 acts_left;
	int64_t			 gap_ms;
	uint32_t		 ends_at_order;	/* in a thousand orders: the process ends at one */
	/* Writes, and calls that change something. */
	const char		*wrong;		/* what the last comparison with the desired state found */
	int64_t			 wrong_ms;
	uint64_t		 mutations, settled_mutations;
	int64_t			 mutated_ms;	/* the last one left, or took effect, then */
	int64_t			 faultless_ms;	/* no fault since then */
	bool			 settled;
	bool			 steady_clock;	/* that of the API server, until everything is settled */
	/* Lists that lose entries. */
	uint64_t		 losses;
	int64_t			 shrunk_until_ms;
	/* The sweep. */
	bool			 sweep;
	unsigned		 sweep_step;
	uint32_t		 effects[EFFECT_MAX];	/* of the lives before this one */
};

/* ---- harness.c ---- */

/* settings: of the actor. Every process has been started. */
void harness_open(struct harness *h, struct sim *sim, const struct harness_spec *spec, unsigned ntrees,
    const char *settings);
void harness_close(struct harness *h);
/* The usual rates of faults; acts begin. */
void harness_begin(struct harness *h);
/* The seed is the point at which the actor is killed; everything else is the same in every history. */
void harness_open_sweep(struct harness *h, struct sim *sim, const struct harness_spec *spec,
    const char *settings);
bool harness_has_actions(void *world);
const char *harness_unsettled(struct sim *sim, void *world);
void harness_stop_faults(struct sim *sim, void *world);
void harness_sweep_stop_faults(struct sim *sim, void *world);
void harness_start(struct harness *h, struct runtime_actor *ra);
/* Of metadata: "" if it has none. */
const char *harness_meta(const struct cluster_object *o, const char *name);
const char *harness_annotation(const struct cluster_object *o, const char *name);
bool harness_is_deleting(const struct cluster_object *o);
/* NULL: no object of that kind and uid exists. */
struct cluster_object *harness_find_uid(struct harness *h, enum kind k, const char *uid);

/* ---- harness_requests.c ---- */

uint32_t harness_requested(struct runtime_actor *ra, enum link l, const struct write_request *r);
void harness_answered(struct runtime_actor *ra, uint32_t slot, const struct write_result *r);
void harness_executed(struct cluster *c, const struct flight *f, const json_t *before);
void harness_leaves(struct runtime *r, const struct http_exchange *x);

/* ---- harness_acts.c ---- */

sim_fn harness_act;

/* ---- harness_machines.c ---- */

/* The Node of a machine, with some Pods. Taints and the rest of its JSON are the world's. */
struct cluster_object *harness_join(struct harness *h, const char *node, const char *provider_id);
/* The Node is deleted, and its Pods are gone; finalizers of the Node keep it. */
void harness_leave(struct harness *h, const char *node);
bool harness_has_pods(struct harness *h, const char *node);
/* How many entries this list may have; UINT32_MAX: all. Fewer while lists lose entries. */
uint32_t harness_list_limit(struct harness *h, const struct http_exchange *x);
/* A list with that many entries was answered, with that limit. */
void harness_listed(struct harness *h, const struct http_exchange *x, uint32_t limit, uint32_t entries);
/* A machine was deleted: the next list may lack it. */
void harness_list_lost_one(struct harness *h);
/* For a while lists lack more than half of what the one before had. */
void harness_shrink_lists(struct harness *h);
/* The request came after its sender gave it up, and that one lives on. */
bool harness_given_up(const struct http_exchange *x);
/* Until a list shows a change. */
int64_t harness_lag(struct sim *sim);

#endif
