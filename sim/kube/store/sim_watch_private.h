/* sim/kube/store/sim_watch_private.h - one watch, for the files that make it up. */
#ifndef MUSTER_SIM_WATCH_PRIVATE_H
#define MUSTER_SIM_WATCH_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "sim/http/sim_stream.h"
#include "sim/kube/printers/sim_view.h"
#include "sim_selection.h"
#include "sim_store.h"
#include "sim_watch.h"

struct sim_watch {
	uint32_t		 magic;
#define WATCH_MAGIC	0x57415443u
	TAILQ_ENTRY(sim_watch)	 next;
	struct sim_watches	*all;
	struct simulator	*sim;
	struct sim_stream	*stream;
	struct sim_view		 view;
	struct sim_selection	 selection;
	struct sim_storage	*storage;
	uint64_t		 cursor;	/* every change up to this one has been handled */
	struct sim_snapshot	*initial;	/* the present, while it is being sent */
	size_t			 at;
	bool			 marks_end;	/* of the initial events, by a bookmark */
	bool			 bookmarks;
	bool			 caught_up;
	size_t			 sent;		/* of storage->written: the rest is still to be sent */
	int64_t			 taken, taken_ms;	/* bytes taken when it last took some */
	bool			 members;	/* every event is a gzip member of its own */
	bool			 failing;	/* an ERROR event was its last event */
	struct evbuffer		*held;		/* an event that lets the next one pass first */
	int64_t			 bookmark_ms, deadline_ms;
	struct event		*timer;
};

TAILQ_HEAD(watch_list, sim_watch);

/* Event lines, with the faults that work on them. An ERROR sets `failing`. */
void sim_watch_event_change(struct sim_watch *w, const struct sim_change *c);
void sim_watch_event_initial(struct sim_watch *w, const struct sim_blob *b);
void sim_watch_event_bookmark(struct sim_watch *w, uint64_t rv, bool end);
void sim_watch_event_error(struct sim_watch *w, int code, const char *reason, const char *message);
/* A fault's own error, or its malformed bytes. */
void sim_watch_event_fault(struct sim_watch *w, const struct sim_fault *f);

/* Sends what there is as far as the client reads. False: the watch has ended and is freed. */
bool sim_watch_pump(struct sim_watch *w);
void sim_watch_finish(struct sim_watch *w, enum sim_ending how);
/* Far behind, and nothing read by the client for a while? To be called several times in that while. */
bool sim_watch_is_slow(struct sim_watch *w, int64_t now);
/* event and name "": the watch itself. */
struct sim_fault_subject sim_watch_subject(
    const struct sim_watch *w, const char *event, const char *name, char *qualified, size_t size);

void sim_watches_add(struct sim_watches *all, struct sim_watch *w);
void sim_watches_remove(struct sim_watches *all, struct sim_watch *w);

#endif
