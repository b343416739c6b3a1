/*
 * tests/dst/runtime.h - the simulated runtime: whole programs of actors, unchanged, several trees of
 * them in one process and in virtual time.
 *
 * A program's main calls actor_main, which here only hands over its spec. What is below actor.h is the
 * product's: actor_bus.c, bus*.c, write_*.c, link_store.c, mirror.c, work.c, workqueue.c and the codecs.
 * Second implementations have only what stands at the edge of a process:
 *
 *	runtime.c		actor.c: start, turns, end; and what musterd does for a tree
 *	runtime_actor.c		actor.c: what programs call, and what the bus calls
 *	runtime_loop.c		libevent: events and timers, one callback per turn
 *	runtime_socket.c	socket.h: sockets over the simulator's pipes
 *	runtime_clock.c		clock.h, and random_secret from the seed
 *	runtime_http.c		what stands below http.c: libcurl (runtime_http.h)
 *	runtime_files.c		files of credentials
 *
 * A killed process releases its memory through the same functions as one that stops, but from the
 * moment of the kill nothing leaves it: for everybody outside it was ended there.
 */
#ifndef MUSTER_DST_RUNTIME_H
#define MUSTER_DST_RUNTIME_H

#include <sys/queue.h>

#include "actor_private.h"
#include "dst.h"
#include "runtime_http.h"

enum { RUNTIME_TREES = 2, RUNTIME_ACTORS = 8, RUNTIME_FRAMES_MAX = 4608 };

struct runtime_actor;
typedef int runtime_main(int argc, char **argv);

/* When a process is killed: at the n-th of these effects from its start on. */
enum runtime_effect { EFFECT_REQUESTED, EFFECT_SENT, EFFECT_ANSWERED, EFFECT_MAX };

struct runtime_hooks {
	/* Before actor_write does anything; what it returns comes back with the outcome. */
	uint32_t (*requested)(struct runtime_actor *r, enum link l, const struct write_request *w);
	/* Before the actor's `done`. */
	void	 (*answered)(struct runtime_actor *r, uint32_t tag, const struct write_result *w);
	/* Before the program's handlers get it. */
	void	 (*changed)(struct runtime_actor *r, const struct change *c);
	/* A process has ended, by a kill or by itself. */
	void	 (*ended)(struct runtime_actor *r);
};

struct runtime_actor {
	struct actor		 actor;		/* its self is NULL while it is down */
	struct runtime		*runtime;
	struct sim_node		 node;
	char			 name[48], status[256];	/* status: the last of actor_status */
	unsigned		 tree;
	enum role		 role;
	runtime_main		*program;
	const char		*settings;
	uint64_t		 incarnation;
	bool			 inside;	/* one of its callbacks runs */
	bool			 killed;	/* ends when the callback returns; nothing leaves it now */
	TAILQ_HEAD(, call)	 calls;
	uint32_t		 open_writes;
	uint32_t		 effects[EFFECT_MAX];
	enum runtime_effect	 kill_effect;
	uint32_t		 kill_at;	/* 0: never */
};

struct runtime {
	struct sim		*sim;
	struct sockets		*sockets;
	struct http_server	 http;		/* the world fills in what it needs of it */
	struct runtime_hooks	 hooks;
	void			*world;
	struct runtime_actor	*actors[RUNTIME_ACTORS];
	unsigned		 nactors;
	uint64_t		 incarnations;
};

struct runtime *runtime_new(struct sim *sim, const struct runtime_hooks *hooks, void *world);
void runtime_free(struct runtime **rp);

/* Adds a program to a tree; settings are `key=value` lines. It is down until runtime_start. */
struct runtime_actor *runtime_add(
    struct runtime *r, unsigned tree, enum role role, runtime_main *program, const char *settings);
void runtime_start(struct runtime_actor *r);
/* SIGKILL. Inside one of its callbacks: the rest of it has no effect. */
void runtime_kill(struct runtime_actor *r);
/* SIGTERM: as the product stops. */
void runtime_terminate(struct runtime_actor *r);
/* Kills it right after its n-th effect of that sort, n > 0; 0: never. */
void runtime_kill_after(struct runtime_actor *r, enum runtime_effect effect, uint32_t n);

struct runtime_actor *runtime_actor_of(const struct actor *a);
/* The question of `muster explain` to the program; the answer is JSON, "" if it has none. */
const char *runtime_explain(struct runtime_actor *r, const char *resource, const char *name);

/*
 * An event inside the process: not if it has ended meanwhile. fn gets the actor and the program's
 * state.
 */
typedef void runtime_fn(struct actor *a, void *self, uint64_t n);
void runtime_at(struct runtime_actor *r, int64_t at_ms, runtime_fn *fn, uint64_t n);

/* The wall clock at virtual time 0: 2026-01-01. */
#define RUNTIME_EPOCH_MS	INT64_C(1767225600000)
/* The time that clock_wall_ms returns is the virtual one plus this. */
void runtime_set_wall(int64_t offset_ms);

/* What a file has; NULL: it does not exist. NULL instead of a function: no file does. */
typedef const char *runtime_file(void *world, const char *path);
void runtime_set_files(runtime_file *read, void *world);

/* ---- Between the files of the runtime ---- */

struct event_base;
struct socket;

/* runtime_actor.c: what the bus calls. */
struct bus_owner runtime_bus_owner(struct runtime_actor *r);

/* NULL: the machine's clocks again. */
void runtime_clock_use(struct sim *sim);

struct event_base *runtime_loop_new(struct runtime_actor *r);
/* One callback that is due. False: there is none. */
bool runtime_loop_turn(struct event_base *base);
int64_t runtime_loop_due_ms(const struct event_base *base);
struct runtime_actor *runtime_loop_owner(const struct event_base *base);

/* Every socket of all trees, by its path. */
struct sockets;
struct sockets *sockets_new(struct sim *sim);
void sockets_free(struct sockets **sp);
/* Wakes the owners of this process's sockets that have something to read; false: none has. */
bool sockets_wake(struct sockets *all, const struct runtime_actor *r);
int64_t sockets_due_ms(const struct sockets *all, const struct runtime_actor *r);

/* It has had an effect: the process may be killed here. */
void runtime_effect(struct runtime_actor *r, enum runtime_effect effect);

#endif
