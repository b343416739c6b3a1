/*
 * tests/dst/dst.h - the simulation kit: whole histories of several processes in one, in virtual
 * time, from one seed.
 *
 * A *world* sets up nodes and pipes between them and says what must hold; the kit runs its
 * histories. Everything random comes from sim_random, everything timed from sim->now_ms: the same
 * seed is the same history, step by step. A history:
 *
 *	storm	 nodes take turns, the network loses, repeats and mixes up frames, nodes crash
 *	calm	 no more faults; within settle_ms the world must be settled
 *	hold	 and it must stay so for hold_ms
 *
 * world->check runs after every step of all three. The first sim_fail ends the history; it is then
 * run again with the trace on, so a history that goes well pays nothing for it.
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
	uint32_t	 life;		/* what was scheduled for an earlier life never happens */
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
	bool			 calm;
	struct sim_late		*late;		/* frames on a long way round */
	struct sim_event	*heap;
	uint32_t		 heap_len, heap_cap;
	char			 violation[512];	/* empty: none */
	bool			 tracing, verbose;
	struct sim_trace	*trace;
};

struct world_break {
	const char	*name;		/* for --break */
	const char	*what;		/* the rule that does not hold then */
};

struct world {
	const char		 *name;
	const struct world_break *breaks;	/* each must be noticed; ends with a NULL name */
	int64_t			  settle_ms, hold_ms;
	void			*(*setup)(struct sim *sim);
	bool			(*storming)(void *w);
	void			(*check)(struct sim *sim, void *w);
	void			(*calm)(struct sim *sim, void *w);
	const char		*(*unsettled)(struct sim *sim, void *w);	/* why; NULL: settled */
	void			(*teardown)(void *w);
};

extern const struct world *const worlds[];	/* NULL-terminated; worlds.c */

/* One history. False: sim->violation tells; the caller frees the sim either way. */
bool sim_history(struct sim *sim, const struct world *world, uint64_t seed, unsigned broken);
void sim_free(struct sim *sim);

/* The first complaint counts. */
void sim_fail(struct sim *sim, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* One line about this step, when somebody will read it. */
void sim_say(struct sim *sim, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define SIM_SAY(sim, ...)	((sim)->tracing ? sim_say(sim, __VA_ARGS__) : (void)0)
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
/* Something inside a node: lost with it, put off while it is stopped. */
void sim_node_at(struct sim *sim, struct sim_node *node, int64_t at_ms, sim_fn *fn, void *arg, uint64_t n);
void sim_wake(struct sim *sim, struct sim_node *node, int64_t at_ms);

void sim_node_start(struct sim *sim, struct sim_node *node);
void sim_node_crash(struct sim *sim, struct sim_node *node);
void sim_node_stop(struct sim *sim, struct sim_node *node, int64_t for_ms);
void sim_node_go(struct sim *sim, struct sim_node *node);

/* ---- Network: ordered pipes, as a ZeroMQ connection is, until the faults come ---- */

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
	uint32_t	  echo_left;	/* frames of the present run that will come again */
	int64_t		  echo_after_ms, echo_ms;
	uint32_t	  life;		/* of the connection: late frames of an older one vanish */
	bool		  open;
	bool		  repeated;	/* more may be under way than was sent */
};

enum sim_sent { SIM_SENT, SIM_FULL, SIM_UNREACHABLE };

void sim_late_free(struct sim *sim);
void sim_pipe_init(struct sim_pipe *p, struct sim_node *to, uint32_t max);
void sim_pipe_free(struct sim_pipe *p);
void sim_pipe_open(struct sim_pipe *p);
void sim_pipe_cut(struct sim_pipe *p);		/* what is under way is lost */
enum sim_sent sim_pipe_send(struct sim *sim, struct sim_pipe *p, const void *bytes, size_t len, uint64_t tag,
    uint32_t weight);
/* The next frame that has arrived, for the caller to free; false: none by now. */
bool sim_pipe_read(struct sim *sim, struct sim_pipe *p, struct sim_frame *out);
int64_t sim_pipe_due_ms(const struct sim_pipe *p);	/* of the next frame; INT64_MAX: none */
/* Of what is under way with that tag; 0 once the network has repeated something. */
uint64_t sim_pipe_weight(const struct sim_pipe *p, uint64_t tag);

#endif
