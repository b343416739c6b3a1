/*
 * tests/dst/world_claims.h - the worlds `claims` and `claims-sweep`: test-claimer and node-state, whole, in
 * trees with a modelled kube-watcher, and a modelled provider whose effects are late or not answered and
 * whose lists lag.
 *
 *	world_claims.c		what is set up, what must hold, when it is settled
 *	claims_requests.c	what the actors request of kube-watcher
 *	claims_provider.c	the provider, its VMs, and the Nodes and Pods that come of them
 *	claims_acts.c		what happens
 */
#ifndef MUSTER_DST_WORLD_CLAIMS_H
#define MUSTER_DST_WORLD_CLAIMS_H

#include "cluster.h"
#include "dst.h"

enum {
	CLAIMS_WIDGETS = 8, CLAIMS_VMS_MAX = 96, CLAIMS_ASKED_MAX = REQUESTS_PER_SENDER,
	/* Together less than FENCE_SETTLE_MS: what was sent before shows in every list after it. */
	CLAIMS_LATE_MS = 24 * 1000, CLAIMS_LAG_MS = 5 * 1000,
};

struct claims_vm {
	char	tag[64];
	int64_t	from_ms;	/* in lists from then on */
	bool	deleted;
	int64_t	until_ms;	/* deleted: in lists until then */
	int64_t	joined_ms;	/* its Node joined the cluster; 0: not yet */
	int64_t	blinks_ms;	/* lists lack it once, for BLINK_MS from then on */
};

/* A request that is not answered. */
struct claims_asked {
	bool	used, mutation;
	char	object[2 * CLUSTER_NAME_MAX];
};

enum { CLAIMS_SEEN = 3 };

/* The lists that a process got last: what it compares the next one with. */
struct claims_seen {
	uint64_t	incarnation;
	uint32_t	counts[CLAIMS_SEEN], n;
	uint64_t	shrunk;		/* number of the loss that it got, and no whole list since; 0: none */
};

struct claims_tree {
	struct runtime_actor	*watcher, *nodes, *claimer;
	/* Of the claimer's present life. */
	struct claims_asked	 asked[CLAIMS_ASKED_MAX];
	uint64_t		 own_rv[CLUSTER_OBJECTS_MAX];	/* of its last write, answered; 0: none */
	struct claims_seen	 seen;
};

struct claims {
	struct cluster		 cluster;	/* first: watcher_model.c */
	struct sim		*sim;
	struct runtime		*runtime;
	struct claims_tree	 trees[RUNTIME_TREES];
	unsigned		 ntrees;
	struct claims_vm	 vms[CLAIMS_VMS_MAX];
	uint32_t		 nvms;
	uint64_t		 vm_changes;
	uint64_t		 losses;	/* times that lists lost entries */
	int64_t			 shrunk_until_ms;
	/* In a thousand orders: the process ends when it has sent one; lists lose entries after one. */
	uint32_t		 ends_at_order, shrinks;
	unsigned		 acts_left;
	int64_t			 gap_ms;
	/* Writes and provider mutations. */
	uint64_t		 mutations, settled_mutations;
	int64_t			 mutated_ms;	/* the last one left, or took effect, then */
	int64_t			 faultless_ms;	/* no fault since then */
	bool			 settled;
	uint64_t		 checked;	/* changes at the last check */
	/* The sweep. */
	bool			 sweep;
	enum runtime_effect	 sweep_effect;
	uint32_t		 sweep_at;
	unsigned		 sweep_step;
	uint32_t		 effects;	/* of the lives before this one */
};

extern const struct world claims_world, claims_sweep_world;

/* The entries of the programs (tests/CMakeLists.txt). */
int claimer_main(int argc, char **argv);
int node_state_main(int argc, char **argv);

/* ---- The provider ---- */

void claims_serve(struct runtime *r, struct http_exchange *x);
void claims_leaves(struct runtime *r, const struct http_exchange *x);
uint32_t claims_live_vms(const struct claims *w, const char *tag);
/* For a while its lists lack more than half of what the one before had. */
void claims_shrink_list(struct claims *w);

/* ---- Requests of the actors ---- */

uint32_t claims_requested(struct runtime_actor *ra, enum link l, const struct write_request *r);
void claims_answered(struct runtime_actor *ra, uint32_t slot, const struct write_result *r);
void claims_executed(struct cluster *c, const struct flight *f, const json_t *before);

/* ---- What happens ---- */

sim_fn claims_act;
void claims_stop_faults(struct sim *sim, void *arg);
void claims_start(struct claims *w, struct runtime_actor *ra);
/* The Widget w<n> exists and is not being deleted. */
bool claims_wanted(struct claims *w, uint32_t n);
void claims_create(struct claims *w, uint32_t n);
void claims_delete(struct claims *w, uint32_t n);
/* Of a Widget: "" if it has none. */
const char *claims_annotation(const struct cluster_object *o, const char *name);
const char *claims_meta(const struct cluster_object *o, const char *name);

#endif
