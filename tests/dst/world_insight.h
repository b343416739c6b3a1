/*
 * tests/dst/world_insight.h - the world `insight`: the whole program of insight, once or twice, each with
 * a modelled kube-watcher and a modelled node-state, on one modelled API server.
 *
 *	world_insight.c		setup, checks, when it is settled
 *	insight_expected.c		what node-state evaluates; its modelled program; what must be stored
 *	insight_acts.c		what happens: changes, other clients, faults
 */
#ifndef MUSTER_DST_WORLD_INSIGHT_H
#define MUSTER_DST_WORLD_INSIGHT_H

#include "cluster.h"

enum { EXPECTED_NODES = 6, EXPECTED_POOLS = 2, EXPECTED_MAX = EXPECTED_NODES + EXPECTED_POOLS };

/* What node-state evaluates about one object. Its texts follow from the serial. */
struct expected {
	bool		desired;	/* it exists, and a pool owns it */
	uint32_t	serial;
};

/* A write of an insight process that has no outcome yet. */
struct asked {
	bool		used, mutation;
	bool		changed;	/* its object has, since it was requested */
	uint32_t	place;		/* of the expected state; EXPECTED_MAX: another object */
};

struct insight_process {
	struct runtime_actor	*watcher, *nodes, *insight;
	int64_t			 published_ms[EXPECTED_MAX];	/* by node-state, without a break; 0: not */
	struct asked		 asked[WRITES_PER_SENDER + 1];
	bool			 refused[EXPECTED_MAX];	/* by the server, and no change has come since */
};

enum history_mode { MODE_MIXED, MODE_CALM, MODE_SWEEP };

struct insight_world {
	struct cluster		 cluster;	/* first: watcher_model.c */
	struct sim		*sim;
	struct runtime		*runtime;
	struct insight_process	 trees[RUNTIME_TREES];
	unsigned		 ntrees;
	enum history_mode	 mode;
	struct expected		 expected[EXPECTED_MAX];
	uint64_t		 expected_changes;
	bool			 refusing;	/* the server refuses what insight writes */
	unsigned		 acts_left;
	int64_t			 act_gap_ms;
	/* MODE_SWEEP: each process of insight is killed at that effect, sweeps_left times. */
	enum runtime_effect	 sweep_effect;
	uint32_t		 sweep_at, sweeps_left;
	uint64_t		 mutations;	/* requested by insight */
	/* unsettled */
	bool			 final_made, final_settled;
	uint64_t		 final_mutations;	/* when each of the last changes took what it needs */
	uint64_t		 checked_rv, checked_expected;
	const char		*checked;
	int64_t			 checked_ms;	/* when something had changed last */
};

enum { FINAL_CHANGES = 3 };

extern const struct world insight_world;

/* insight_expected.c */
int nodes_model_main(int argc, char **argv);
void expected_name(uint32_t place, char name[CLUSTER_NAME_MAX]);
enum kind expected_kind(uint32_t place);
/* The expected state that an insight is about; EXPECTED_MAX: none. */
uint32_t expected_place(enum kind k, const char *name);
void expected_change(struct insight_world *w, uint32_t place, bool desired);
/* How what is stored differs from what must be; NULL: it does not. */
const char *expected_difference(struct insight_world *w, uint32_t place);

/* insight_acts.c */
void insight_act(struct sim *sim, void *arg, uint64_t n);
void insight_start(struct insight_world *w, struct runtime_actor *ra);
void insight_stop_faults(struct sim *sim, void *arg);

#endif
