/* sim/kube/store/sim_watch_private.h - one watch, for the files that make it up. */
#ifndef MUSTER_SIM_WATCH_PRIVATE_H
#define MUSTER_SIM_WATCH_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "sim_selection.h"
#include "sim_store.h"
#include "sim/http/sim_stream.h"
#include "sim/kube/printers/sim_view.h"
#include "sim_watch.h"

struct watch {
	uint32_t		 magic;
#define WATCH_MAGIC	0x57415443u
	TAILQ_ENTRY(watch)	 next;
	struct watches		*all;
	struct sim		*sim;
	struct stream		*stream;
	struct view		 view;
	struct selection	 selection;
	struct storage		*storage;
	uint64_t		 cursor;	/* every change up to this one has been looked at */
	struct snapshot		*initial;	/* the present, while it is being told */
	size_t			 at;
	bool			 tells_end;	/* of the initial events, by a bookmark */
	bool			 bookmarks;
	bool			 caught_up;
	size_t			 told;		/* of storage->written: the rest is still to be told */
	int64_t			 taken, taken_ms;	/* bytes taken when it last took some */
	bool			 members;	/* every event is a gzip member of its own */
	bool			 failing;	/* an ERROR event was its last word */
	struct evbuffer		*held;		/* an event that lets the next one pass first */
	int64_t			 bookmark_ms, deadline_ms;
	struct event		*timer;
};

TAILQ_HEAD(watch_list, watch);

/* Event lines, with the faults that work on them. An ERROR sets `failing`. */
void event_change(struct watch *w, const struct change *c);
void event_initial(struct watch *w, const struct blob *b);
void event_bookmark(struct watch *w, uint64_t rv, bool end);
void event_error(struct watch *w, int code, const char *reason, const char *message);
/* A fault's own error, or its malformed bytes. */
void event_fault(struct watch *w, const struct fault *f);

/* Tells what there is to tell and the client takes. False: the watch has ended and is free. */
bool watch_pump(struct watch *w);
void watch_finish(struct watch *w, enum ending how);
/* Far behind, and nothing taken for a while? To be asked several times in that while. */
bool watch_is_slow(struct watch *w, int64_t now);
/* event and name "": the watch itself. */
struct fault_subject watch_subject(
    const struct watch *w, const char *event, const char *name, char *qualified, size_t size);

void watches_add(struct watches *all, struct watch *w);
void watches_remove(struct watches *all, struct watch *w);

#endif
