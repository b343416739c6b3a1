/*
 * tests/dst/dst.h - the simulator: whole histories of several processes in one process, in
 * virtual time, from one seed.
 *
 * A *world* sets up nodes and pipes between them and checks what must hold; the simulator runs its
 * histories. Everything random comes from sim_random, everything timed from sim->now_ms: the same
 * seed is the same history, step by step. A history:
 *
 *	faults	 nodes take turns, the network loses, repeats and reorders frames, nodes crash
 *	settle	 no more faults; within settle_ms the world must be settled
 *	hold	 it must stay settled for hold_ms
 *
 * world->check runs after every step of all three. The first sim_fail ends the history; it is then
 * run again with the trace on, so a history without a violation does not pay for the trace.
 */
#ifndef MUSTER_DST_H
#define MUSTER_DST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"

struct sim;
typedef void sim_fn(struct sim *sim, void *arg, uint64_t n);

/* A process: it runs one turn of its loop when it is woken, unless it is down or stopped. */
struct sim_node {
	const char	*name;
	sim_fn		*turn;
	void		*arg;
	uint64_t	 n;
	bool		 up;
	uint32_t	 life;		/* counts crashes: events of an earlier life are dropped */
	int64_t		 stopped_ms;	/* SIGSTOP until then */
	int64_t		 wake_ms;	/* the next turn; INT64_MAX: none */
};

/* What the network does to one frame in a thousand. */
struct sim_faults {
	uint32_t	drop, repeat, swap, late, echo, cut_short, stall, refuse;
	int64_t		latency_ms;	/* at most */
};

struct sim {
	int64_t			 now_ms;
	uint64_t		 random;
	uint64_t		 steps;
	struct sim_faults	 faults;
	unsigned		 broken;	/* 1 + index of world->breaks, 0: nothing */
	bool			 faults_over;
	struct sim_late		*late;		/* delayed frames */
	struct sim_event	*heap;
	uint32_t		 heap_len, heap_cap;
	char			 violation[512];	/* empty: none */
	bool			 tracing, verbose;
	struct sim_trace_ring	*trace;
};

struct world_break {
	const char	*name;		/* for --break */
	const char	*what;		/* what happens without the rule */
};

struct world {
	const char		 *name;
	const struct world_break *breaks;	/* each must be detected; ends with a NULL name */
	uint64_t		  weight;	/* > 0: a history costs as much as so many of other worlds */
	uint64_t		  points;	/* > 0: exhaustive, exactly the seeds 0 to points - 1 */
	uint64_t		  seeds;	/* > 0: without --seed, the seeds 0 to seeds - 1 at most */
	int64_t			  settle_ms, hold_ms;
	void			*(*setup)(struct sim *sim);
	bool			(*has_actions)(void *w);	/* some are still to come */
	void			(*check)(struct sim *sim, void *w);
	void			(*stop_faults)(struct sim *sim, void *w);
	const char		*(*unsettled)(struct sim *sim, void *w);	/* why; NULL: settled */
	void			(*teardown)(void *w);
};

extern const struct world *const worlds[];	/* NULL-terminated; worlds.c */

/* One history. False: sim->violation is the reason; the caller frees the sim either way. */
bool sim_history(struct sim *sim, const struct world *world, uint64_t seed, unsigned broken);
void sim_free(struct sim *sim);

/* Records a violation; only the first one counts. */
void sim_fail(struct sim *sim, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds one line about this step to the trace. SIM_TRACE does nothing while tracing is off. */
void sim_trace(struct sim *sim, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define SIM_TRACE(sim, ...)	((sim)->tracing ? sim_trace(sim, __VA_ARGS__) : (void)0)
void sim_print_trace(const struct sim *sim);

static inline uint64_t
sim_random(struct sim *sim, uint64_t below)
{
	return random_below(&sim->random, below);
}

static inline bool
sim_chance(struct sim *sim, uint32_t per_mille)
{
	return per_mille > 0 && sim_random(sim, 1000) < per_mille;
}

/* ---- Time: what happens at the same moment happens in a random order ---- */

void sim_at(struct sim *sim, int64_t at_ms, sim_fn *fn, void *arg, uint64_t n);
/* An event inside a node: dropped when the node crashes, deferred while it is stopped. */
void sim_node_at(struct sim *sim, struct sim_node *node, int64_t at_ms, sim_fn *fn, void *arg, uint64_t n);
void sim_wake(struct sim *sim, struct sim_node *node, int64_t at_ms);

void sim_node_start(struct sim *sim, struct sim_node *node);
void sim_node_crash(struct sim *sim, struct sim_node *node);
void sim_node_stop(struct sim *sim, struct sim_node *node, int64_t for_ms);
void sim_node_continue(struct sim *sim, struct sim_node *node);

/* ---- Network: pipes that keep the order, as a ZeroMQ connection does, except for faults ---- */

struct sim_frame {
	uint8_t		*bytes;
	uint32_t	 len;
	uint32_t	 weight;	/* the sender's note: how many items, of which session */
	uint64_t	 tag;
	int64_t		 at_ms;
};

struct sim_pipe {
	struct sim_node	 *to;
	struct sim_frame *frames;	/* ring, in order of arrival */
	uint32_t	  cap, head, len, max;
	int64_t		  last_ms;
	uint32_t	  echo_left;	/* frames of the present run still to be repeated */
	int64_t		  echo_after_ms, echo_ms;
	uint32_t	  life;		/* of the connection: late frames of an older one are dropped */
	bool		  open;
	bool		  repeated;	/* more may be in flight than was sent */
};

enum sim_sent { SIM_SENT, SIM_FULL, SIM_UNREACHABLE };

void sim_late_free(struct sim *sim);
void sim_late_drop(struct sim *sim, const struct sim_pipe *p);	/* before a pipe is freed in a history */
void sim_pipe_init(struct sim_pipe *p, struct sim_node *to, uint32_t max);
void sim_pipe_free(struct sim_pipe *p);
void sim_pipe_open(struct sim_pipe *p);
void sim_pipe_cut(struct sim_pipe *p);		/* what is in flight is lost */
enum sim_sent sim_pipe_send(struct sim *sim, struct sim_pipe *p, const void *bytes, size_t len, uint64_t tag,
    uint32_t weight);
/* Returns the next frame that has arrived, for the caller to free; false: none has. */
bool sim_pipe_read(struct sim *sim, struct sim_pipe *p, struct sim_frame *out);
int64_t sim_pipe_due_ms(const struct sim_pipe *p);	/* when the next frame arrives; INT64_MAX: none */
/* The weight of what is in flight with that tag; 0 once the network has repeated something. */
uint64_t sim_pipe_weight(const struct sim_pipe *p, uint64_t tag);

#endif
