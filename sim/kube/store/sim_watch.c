/* sim/kube/store/sim_watch.c - the life of one watch. */
#include "sim_watch.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "obj.h"
#include "random.h"
#include "sim/http/sim_accept.h"
#include "sim/kube/verbs/sim_verbs.h"
#include "sim/sim_options.h"
#include "sim_watch_private.h"

enum {
	HANDED_OVER_BYTES = 512 * 1024,	/* to the connection, at a time */
	SLOW_MS = 2000,
	BOOKMARK_MS = 60 * 1000,
	LAST_BOOKMARK_MS = 2000,	/* before the end */
	TIMEOUT_S = 1800,		/* at least, where the client names none */
};

/* How it begins. */
struct watch_start {
	uint64_t	 rv;		/* the changes after this one */
	bool		 initial;	/* and the present before them */
	bool		 marks_end;
	const char	*refusal;	/* sent as an ERROR in the stream; NULL: none */
	int		 refusal_code;
	const char	*refusal_reason;
	char		 text[128];
};

static bool read_start(struct watch_start *, struct sim_request *);
static bool without_watchlist(struct watch_start *, struct sim_request *, const struct sim_fault *);
static int64_t timeout_ms(struct sim_request *);
static void begin(struct sim_watch *, const struct watch_start *, struct sim_request *);
static void send_initial(struct sim_watch *);
static void send_change(struct sim_watch *);
static int64_t next_bookmark(const struct sim_watch *, int64_t);
static void schedule(struct sim_watch *);
static void on_timer(evutil_socket_t, short, void *);
static void on_drained(void *);
static void on_closed(void *);
static void destroy(struct sim_watch *);

void
sim_watch_serve(struct sim_request *c)
{
	struct watch_start start = { .rv = 0 };
	struct sim_view view;
	struct sim_selection selection;

	if (!sim_view_read(&view, c) || !sim_list_options_valid(c, true) || !read_start(&start, c)
	    || !sim_selection_read(&selection, c))
		return;
	struct sim_watch *w;
	OBJ_NEW(w, WATCH_MAGIC);
	w->view = view;
	w->selection = selection;
	begin(w, &start, c);
}

bool
sim_watch_pump(struct sim_watch *w)
{
	OBJ_CHECK(w, WATCH_MAGIC);
	struct evbuffer *const out = sim_stream_buffer(w->stream);
	const size_t pending = sim_stream_pending(w->stream);

	w->caught_up = false;
	while (!sim_stream_mute(w->stream) && !w->failing && !w->caught_up
	    && pending + evbuffer_get_length(out) < HANDED_OVER_BYTES) {
		if (w->initial != NULL)
			send_initial(w);
		else
			send_change(w);
	}
	sim_stream_flush(w->stream);
	if (w->failing) {
		sim_watch_finish(w, ENDING_CLEAN);
		return false;
	}
	return true;
}

bool
sim_watch_is_slow(struct sim_watch *w, int64_t now)
{
	const int64_t taken = sim_stream_taken(w->stream);

	if (w->caught_up || taken > w->taken) {
		w->taken = taken;
		w->taken_ms = now;
	}
	return now - w->taken_ms >= SLOW_MS
	    && sim_stream_pending(w->stream) + (w->storage->written - w->sent) > WATCH_PENDING_MAX;
}

void
sim_watch_finish(struct sim_watch *w, enum sim_ending how)
{
	sim_stream_end(&w->stream, how);
	destroy(w);
}

struct sim_fault_subject
sim_watch_subject(const struct sim_watch *w, const char *event, const char *name, char *qualified,
    size_t size)
{
	return (struct sim_fault_subject){
		.verb = "watch", .resource = w->view.resource->plural,
		.qualified = sim_resource_qualified(w->view.resource, qualified, size), .name = name,
		.user_agent = sim_stream_request(w->stream)->user_agent, .event = event,
	};
}

static void
send_initial(struct sim_watch *w)
{
	if (w->at < w->initial->n) {
		sim_watch_event_initial(w, w->initial->objects[w->at++]);
		return;
	}
	sim_snapshot_free(&w->initial);
	if (w->marks_end)
		sim_watch_event_bookmark(w, w->cursor, true);
}

static void
send_change(struct sim_watch *w)
{
	const struct sim_change *const change = sim_history_get(&w->sim->store->history,
	    w->cursor + 1);

	if (w->cursor >= w->sim->store->rv) {
		w->caught_up = true;
	} else if (change == NULL) {
		sim_watch_event_error(w, 410, "Expired",
		    "too old resource version: the history was compacted");
	} else {
		w->cursor++;
		if (change->storage != w->storage)
			return;
		w->sent += sim_change_bytes(change);
		sim_watch_event_change(w, change);
	}
}

/* False: the request is answered. */
static bool
read_start(struct watch_start *start, struct sim_request *c)
{
	const char *const rv = sim_request_param(c, "resourceVersion"),
			  *const initial = sim_request_param(c, "sendInitialEvents");
	const struct sim_fault *const old_server = c->plan.of[FAULT_NO_WATCHLIST];
	struct sim_store *const store = c->sim->store;
	sim_history_expire(&store->history, clock_mono_ms());
	const uint64_t forgotten = store->history.forgotten, since = c->resource->storage->since;
	const uint64_t oldest = since > forgotten ? since : forgotten;

	if (!sim_list_read_rv(c, rv, false, &start->rv))
		return false;
	start->initial = initial != NULL ? sim_request_flag(c, "sendInitialEvents") : start->rv == 0;
	start->marks_end = start->initial && sim_request_flag(c, "allowWatchBookmarks");
	if (old_server != NULL && initial != NULL && !without_watchlist(start, c, old_server))
		return false;
	/* An initial state "not older than" a future one cannot be had. */
	if ((start->initial || c->plan.of[FAULT_RV_TOO_LARGE] != NULL) && sim_list_too_large(c, start->rv))
		return false;
	if (start->initial || start->rv == 0) {
		start->rv = store->rv;
	} else if (start->rv < oldest) {
		snprintf(start->text, sizeof(start->text),
		    "too old resource version: %" PRIu64 " (%" PRIu64 ")", start->rv, oldest);
		start->refusal = start->text;
		start->refusal_code = 410;
		start->refusal_reason = "Expired";
	}
	return true;
}

/* The answers of servers without watch-lists. */
static bool
without_watchlist(struct watch_start *start, struct sim_request *c, const struct sim_fault *f)
{
	if (strcmp(f->mode, "400") == 0) {
		sim_request_fail(c, 400, "BadRequest",
		    "sendInitialEvents is forbidden for watch unless the WatchList feature gate "
		    "is enabled");
		return false;
	}
	if (strcmp(f->mode, "422") == 0) {
		sim_request_fail(c, 422, "Invalid",
		    "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: "
		    "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled");
		return false;
	}
	start->marks_end = false;
	if (strcmp(f->mode, "error_event") == 0) {
		start->refusal =
		    "a watch stream was requested by the client but the required storage feature "
		    "RequestWatchProgress is disabled";
		start->refusal_code = 500;
		start->refusal_reason = "InternalError";
	}
	return true;
}

static int64_t
timeout_ms(struct sim_request *c)
{
	const char *const asked = sim_request_param(c, "timeoutSeconds");
	const long seconds = asked != NULL ? strtol(asked, NULL, 10) : 0;

	if (seconds > 0)
		return seconds * 1000;
	return (TIMEOUT_S + (int64_t)random_below(&c->sim->seed, TIMEOUT_S)) * 1000;
}

static void
begin(struct sim_watch *w, const struct watch_start *start, struct sim_request *c)
{
	const bool ends_at_once = c->plan.of[FAULT_SHORT_WATCH] != NULL;
	const bool gzip = c->plan.of[FAULT_GZIP_MEMBERS] != NULL
	    && sim_accept_gzip(sim_request_header(c, "Accept-Encoding"));

	w->sim = c->sim;
	w->all = c->sim->watches;
	w->storage = c->resource->storage;
	w->cursor = start->rv;
	w->marks_end = start->marks_end;
	w->bookmarks = sim_request_flag(c, "allowWatchBookmarks");
	w->members = gzip;
	w->taken_ms = clock_mono_ms();
	w->deadline_ms = w->taken_ms + timeout_ms(c);
	w->sent = w->storage->written;
	for (uint64_t rv = w->cursor + 1; rv <= w->sim->store->rv; rv++) {
		const struct sim_change *const change = sim_history_get(&w->sim->store->history, rv);

		w->sent -= change != NULL && change->storage == w->storage ? sim_change_bytes(change) : 0;
	}
	c->rv = start->rv;
	if (start->initial)
		w->initial = sim_store_snapshot(w->sim->store, w->storage, w->selection.ns, 0);
	w->timer = evtimer_new(w->sim->base, on_timer, w);
	MUST(w->timer != NULL);
	w->stream = sim_stream_open(&c, "application/json", gzip ? CODING_GZIP_MEMBERS : CODING_NONE,
	    on_drained, on_closed, w);
	sim_watches_add(w->all, w);
	if (ends_at_once) {
		sim_watch_finish(w, ENDING_CLEAN);
		return;
	}
	if (start->refusal != NULL) {
		sim_watch_event_error(w, start->refusal_code, start->refusal_reason, start->refusal);
		sim_snapshot_free(&w->initial);
	}
	w->bookmark_ms = next_bookmark(w, clock_mono_ms());
	schedule(w);
	sim_watch_pump(w);
}

/* Every minute, and shortly before the end. */
static int64_t
next_bookmark(const struct sim_watch *w, int64_t now)
{
	const int64_t every = (int64_t)(BOOKMARK_MS / w->sim->options->speed);
	const int64_t last = w->deadline_ms - LAST_BOOKMARK_MS;
	const int64_t at = now + (every > 0 ? every : 1);

	return now < last && at > last ? last : at;
}

/* The timer rings for the next bookmark or the end. */
static void
schedule(struct sim_watch *w)
{
	const int64_t now = clock_mono_ms();
	const int64_t at = w->bookmarks && w->bookmark_ms < w->deadline_ms ? w->bookmark_ms : w->deadline_ms;
	const int64_t ms = at > now ? at - now : 0;
	const struct timeval wait = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
	evtimer_add(w->timer, &wait);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct sim_watch *const w = arg;
	const int64_t now = clock_mono_ms();

	(void)fd;
	(void)what;
	OBJ_CHECK(w, WATCH_MAGIC);
	if (sim_stream_mute(w->stream))
		return;
	if (now >= w->deadline_ms) {
		sim_watch_finish(w, ENDING_CLEAN);
		return;
	}
	if (w->bookmarks && w->caught_up) {
		sim_watch_event_bookmark(w, w->cursor, false);
		sim_stream_flush(w->stream);
	}
	w->bookmark_ms = next_bookmark(w, now);
	schedule(w);
}

static void
on_drained(void *arg)
{
	struct sim_watch *const w = arg;

	if (!w->caught_up)
		sim_watch_pump(w);
}

static void
on_closed(void *arg)
{
	struct sim_watch *const w = arg;

	w->stream = NULL;
	destroy(w);
}

static void
destroy(struct sim_watch *w)
{
	OBJ_CHECK(w, WATCH_MAGIC);
	sim_watches_remove(w->all, w);
	sim_snapshot_free(&w->initial);
	sim_selection_free(&w->selection);
	event_free(w->timer);
	if (w->held != NULL)
		evbuffer_free(w->held);
	OBJ_FREE(w);
}
