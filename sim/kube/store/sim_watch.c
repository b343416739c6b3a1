/* sim/kube/store/sim_watch.c - the life of one watch. */
#include "sim_watch.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/http/sim_accept.h"
#include "clock.h"
#include "sim/kube/verbs/sim_list.h"
#include "sim/kube/verbs/sim_list_options.h"
#include "obj.h"
#include "sim/sim_options.h"
#include "random.h"
#include "sim_watch_private.h"

enum {
	HANDED_OVER_BYTES = 512 * 1024,	/* to the connection, at a time */
	SLOW_MS = 2000,
	BOOKMARK_MS = 60 * 1000,
	LAST_BOOKMARK_MS = 2000,	/* before the end */
	TIMEOUT_S = 1800,		/* at least, where the client names none */
};

/* How it begins. */
struct start {
	uint64_t	 rv;		/* the changes after this one */
	bool		 initial;	/* and the present before them */
	bool		 tells_end;
	const char	*refusal;	/* told as an ERROR in the stream; NULL: none */
	int		 refusal_code;
	const char	*refusal_reason;
	char		 text[128];
};

static bool read_start(struct start *, struct call *);
static bool without_watchlist(struct start *, struct call *, const struct fault *);
static int64_t timeout_ms(struct call *);
static void begin(struct watch *, const struct start *, struct call *);
static void tell_initial(struct watch *);
static void tell_change(struct watch *);
static int64_t next_bookmark(const struct watch *, int64_t);
static void schedule(struct watch *);
static void on_timer(evutil_socket_t, short, void *);
static void on_drained(void *);
static void on_closed(void *);
static void destroy(struct watch *);

void
watch_serve(struct call *c)
{
	struct start start = { .rv = 0 };
	struct view view;
	struct selection selection;

	if (!view_read(&view, c) || !list_options_valid(c, true) || !read_start(&start, c)
	    || !selection_read(&selection, c))
		return;
	struct watch *w;
	OBJ_NEW(w, WATCH_MAGIC);
	w->view = view;
	w->selection = selection;
	begin(w, &start, c);
}

bool
watch_pump(struct watch *w)
{
	OBJ_CHECK(w, WATCH_MAGIC);
	struct evbuffer *const out = stream_buffer(w->stream);
	const size_t pending = stream_pending(w->stream);

	w->caught_up = false;
	while (!stream_mute(w->stream) && !w->failing && !w->caught_up
	    && pending + evbuffer_get_length(out) < HANDED_OVER_BYTES) {
		if (w->initial != NULL)
			tell_initial(w);
		else
			tell_change(w);
	}
	stream_flush(w->stream);
	if (w->failing) {
		watch_finish(w, ENDING_CLEAN);
		return false;
	}
	return true;
}

bool
watch_is_slow(struct watch *w, int64_t now)
{
	const int64_t taken = stream_taken(w->stream);

	if (w->caught_up || taken > w->taken) {
		w->taken = taken;
		w->taken_ms = now;
	}
	return now - w->taken_ms >= SLOW_MS
	    && stream_pending(w->stream) + (w->storage->written - w->told) > WATCH_PENDING_MAX;
}

void
watch_finish(struct watch *w, enum ending how)
{
	stream_end(&w->stream, how);
	destroy(w);
}

struct fault_subject
watch_subject(const struct watch *w, const char *event, const char *name, char *qualified, size_t size)
{
	return (struct fault_subject){
		.verb = "watch", .resource = w->view.resource->plural,
		.qualified = resource_qualified(w->view.resource, qualified, size), .name = name,
		.user_agent = stream_call(w->stream)->user_agent, .event = event,
	};
}

static void
tell_initial(struct watch *w)
{
	if (w->at < w->initial->n) {
		event_initial(w, w->initial->objects[w->at++]);
		return;
	}
	snapshot_free(&w->initial);
	if (w->tells_end)
		event_bookmark(w, w->cursor, true);
}

static void
tell_change(struct watch *w)
{
	const struct change *const change = history_get(depot_history(w->sim->depot), w->cursor + 1);

	if (w->cursor >= depot_rv(w->sim->depot)) {
		w->caught_up = true;
	} else if (change == NULL) {
		event_error(w, 410, "Expired", "too old resource version: the history was compacted");
	} else {
		w->cursor++;
		if (change->storage != w->storage)
			return;
		w->told += change_bytes(change);
		event_change(w, change);
	}
}

/* False: the call is answered. */
static bool
read_start(struct start *start, struct call *c)
{
	const char *const rv = call_param(c, "resourceVersion"),
			  *const initial = call_param(c, "sendInitialEvents");
	const struct fault *const old_server = c->plan.of[FAULT_NO_WATCHLIST];
	const struct depot *const store = c->sim->depot;
	const uint64_t forgotten = depot_history(store)->forgotten;

	if (!list_read_rv(c, rv, false, &start->rv))
		return false;
	start->initial = initial != NULL ? call_flag(c, "sendInitialEvents") : start->rv == 0;
	start->tells_end = start->initial && call_flag(c, "allowWatchBookmarks");
	if (old_server != NULL && initial != NULL && !without_watchlist(start, c, old_server))
		return false;
	/* An initial state "not older than" a future one cannot be had. */
	if ((start->initial || c->plan.of[FAULT_RV_TOO_LARGE] != NULL) && list_too_large(c, start->rv))
		return false;
	if (start->initial || start->rv == 0) {
		start->rv = depot_rv(store);
	} else if (start->rv < forgotten) {
		snprintf(start->text, sizeof(start->text),
		    "too old resource version: %" PRIu64 " (%" PRIu64 ")", start->rv, forgotten);
		start->refusal = start->text;
		start->refusal_code = 410;
		start->refusal_reason = "Expired";
	}
	return true;
}

/* What servers do that know no watch-lists. */
static bool
without_watchlist(struct start *start, struct call *c, const struct fault *f)
{
	if (strcmp(f->mode, "400") == 0) {
		call_fail(c, 400, "BadRequest",
		    "sendInitialEvents is forbidden for watch unless the WatchList feature gate "
		    "is enabled");
		return false;
	}
	if (strcmp(f->mode, "422") == 0) {
		call_fail(c, 422, "Invalid",
		    "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: "
		    "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled");
		return false;
	}
	start->tells_end = false;
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
timeout_ms(struct call *c)
{
	const char *const asked = call_param(c, "timeoutSeconds");
	const long seconds = asked != NULL ? strtol(asked, NULL, 10) : 0;

	if (seconds > 0)
		return seconds * 1000;
	return (TIMEOUT_S + (int64_t)random_below(&c->sim->seed, TIMEOUT_S)) * 1000;
}

static void
begin(struct watch *w, const struct start *start, struct call *c)
{
	const bool ends_at_once = c->plan.of[FAULT_SHORT_WATCH] != NULL;
	const bool gzip = c->plan.of[FAULT_GZIP_MEMBERS] != NULL
	    && accept_gzip(call_header(c, "Accept-Encoding"));

	w->sim = c->sim;
	w->all = c->sim->watches;
	w->storage = c->resource->storage;
	w->cursor = start->rv;
	w->tells_end = start->tells_end;
	w->bookmarks = call_flag(c, "allowWatchBookmarks");
	w->members = gzip;
	w->taken_ms = clock_mono_ms();
	w->deadline_ms = w->taken_ms + timeout_ms(c);
	w->told = w->storage->written;
	for (uint64_t rv = w->cursor + 1; rv <= depot_rv(w->sim->depot); rv++) {
		const struct change *const change = history_get(depot_history(w->sim->depot), rv);

		w->told -= change != NULL && change->storage == w->storage ? change_bytes(change) : 0;
	}
	c->rv = start->rv;
	if (start->initial)
		w->initial = depot_snapshot(w->sim->depot, w->storage, w->selection.ns, 0);
	w->timer = evtimer_new(w->sim->base, on_timer, w);
	MUST(w->timer != NULL);
	w->stream = stream_open(&c, "application/json", gzip ? CODING_GZIP_MEMBERS : CODING_NONE,
	    on_drained, on_closed, w);
	watches_add(w->all, w);
	if (ends_at_once) {
		watch_finish(w, ENDING_CLEAN);
		return;
	}
	if (start->refusal != NULL) {
		event_error(w, start->refusal_code, start->refusal_reason, start->refusal);
		snapshot_free(&w->initial);
	}
	w->bookmark_ms = next_bookmark(w, clock_mono_ms());
	schedule(w);
	watch_pump(w);
}

/* Every minute, and shortly before the end. */
static int64_t
next_bookmark(const struct watch *w, int64_t now)
{
	const int64_t every = (int64_t)(BOOKMARK_MS / w->sim->options->speed);
	const int64_t last = w->deadline_ms - LAST_BOOKMARK_MS;
	const int64_t at = now + (every > 0 ? every : 1);

	return now < last && at > last ? last : at;
}

/* The timer rings for the next bookmark or the end. */
static void
schedule(struct watch *w)
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
	struct watch *const w = arg;
	const int64_t now = clock_mono_ms();

	(void)fd;
	(void)what;
	OBJ_CHECK(w, WATCH_MAGIC);
	if (stream_mute(w->stream))
		return;
	if (now >= w->deadline_ms) {
		watch_finish(w, ENDING_CLEAN);
		return;
	}
	if (w->bookmarks && w->caught_up) {
		event_bookmark(w, w->cursor, false);
		stream_flush(w->stream);
	}
	w->bookmark_ms = next_bookmark(w, now);
	schedule(w);
}

static void
on_drained(void *arg)
{
	struct watch *const w = arg;

	if (!w->caught_up)
		watch_pump(w);
}

static void
on_closed(void *arg)
{
	struct watch *const w = arg;

	w->stream = NULL;
	destroy(w);
}

static void
destroy(struct watch *w)
{
	OBJ_CHECK(w, WATCH_MAGIC);
	watches_remove(w->all, w);
	snapshot_free(&w->initial);
	selection_free(&w->selection);
	event_free(w->timer);
	if (w->held != NULL)
		evbuffer_free(w->held);
	OBJ_FREE(w);
}
