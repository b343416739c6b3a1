/*
 * actors/runtime/actor_private.h - the actor's insides, for actor*.c, crash.c, explain.c, process.c,
 * publish.c and work.c only.
 */
#ifndef MUSTER_ACTOR_PRIVATE_H
#define MUSTER_ACTOR_PRIVATE_H

#include <event2/event.h>

#include "actor.h"
#include "boot.h"
#include "bus.h"
#include "stat.h"

struct actor {
	uint32_t		 magic;
#define ACTOR_MAGIC	0x4143544fu
	const struct actor_spec	*spec;
	void			*self;
	struct boot		 boot;
	struct settings		*settings;
	struct event_base	*base;
	struct tap		*tap;
	struct bus		*bus;
	struct event		*lifeline, *sigterm, *beat, *stats, *tick;
	msgpack_sbuffer		 buffer;	/* a value being packed */
	uint64_t		 random;	/* of trace ids */
	bool			 running;	/* the record `go` has arrived */
	bool			 ending;	/* the loop shall end */
	bool			 stop_asked;	/* spec.ending may be at work */
	bool			 synced;	/* as last reported */
	int			 exit_code;
	int64_t			 started_us;	/* wall clock */
	int64_t			 reported_ms, stats_due_ms;
	unsigned		 stats_turns;
	/* work.c */
	struct workqueue	*queue;
	struct event		*work_now, *work_later;
	struct stat_series	*queue_wait, *work_time;
	struct workqueue_stats	 counted;	/* as last added to the counters */
};

void actor_dispatch(struct actor *a, const struct change *c);
/* To the supervisor, when it has changed. */
void actor_send_synced(struct actor *a);

void work_open(struct actor *a);
void work_close(struct actor *a);
unsigned work_waiting(const struct actor *a);
void work_stats(struct actor *a);

/* A backtrace on stderr when a signal ends the process, and no core: it would hold secrets (crash.c). */
void crash_install(void);
/* From now on this process has the system calls of these sets; others are refused and logged. */
void syscall_refuse(unsigned sets);
unsigned syscall_refused(void);	/* how many were */
void process_stats(void);	/* the process_* metrics of this actor (process.c) */

/* A question about one object (explain.c), answered at once over the lifeline. */
void explain_answer(struct actor *a, const char *record);

/* The series that changed, into the STATS view; to the actor's own row too, if it has one (metrics). */
void stats_publish(struct actor *a);

#endif
