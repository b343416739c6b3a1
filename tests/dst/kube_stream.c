/*
 * tests/dst/kube_stream.c - watches: initial events, live events, bookmarks; and every way in which
 * a stream can end, stop sending or repeat events.
 */
#include <string.h>

#include "kube_wire.h"
#include "obj.h"

enum { BOOKMARK_MS = 60000, TCP_TIMEOUT_MS = 60000 };

static sim_fn stream_opens, stream_initial_end, stream_delivers, stream_ends, stream_breaks, stream_fails,
    stream_bookmark, stream_stray, catch_up;
static bool rejected(struct kube_call *);
static void open_stream(struct kube_call *);
static bool is_live(const struct kube_call *);
static bool deliver(struct kube_call *, uint64_t);
static void break_off(struct kube_call *);

/* ---- On the server ---- */

void
stream_arrives(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;

	(void)sim, (void)n;
	if (c->over || wire_server_fault(c) || rejected(c))
		return;
	open_stream(c);
}

static bool
rejected(struct kube_call *c)
{
	static const int rejections[] = { 400, 405, 422 };
	struct kube_world *w = c->instance->world;
	const struct kube_server *s = &w->server;

	if (c->restores != s->restores) {
		wire_reject(c, 500, "InternalError", false);
	} else if (c->initial && s->watchlist == WATCHLIST_REJECTED) {
		wire_reject(c, rejections[sim_random(w->sim, NITEMS(rejections))], "Invalid", false);
	} else if (c->initial && s->watchlist == WATCHLIST_FORBIDDEN) {
		wire_reject(c, 403, "Forbidden", false);
	} else if (c->from > 0 && c->from < s->compacted
	    && (!c->initial || s->watchlist == WATCHLIST_IGNORED)) {
		c->failure = (struct reflector_failure){
			.status = 410, .reason = "Expired", .retry_after_ms = -1,
			.in_stream = sim_chance(w->sim, 500),
		};
		wire_at_client(c, w->sim->now_ms + wire_lag(w), stream_fails, 0);
	} else if (c->from > s->rv
	    || (c->from > s->seen[c->replica] && (c->initial || sim_chance(w->sim, 300)))) {
		wire_reject(c, 504, "Timeout", true);
	} else {
		return false;
	}
	return true;
}

static void
open_stream(struct kube_call *c)
{
	struct kube_world *w = c->instance->world;
	struct kube_server *s = &w->server;
	const bool listed = c->initial && s->watchlist != WATCHLIST_IGNORED;
	const int64_t now_ms = w->sim->now_ms;

	if (c->from == 0 && listed && s->seen[c->replica] < s->rv)
		s->seen[c->replica] = s->rv;	/* most recent: the replica waits until it has it */
	c->snapshot = listed || c->from == 0 ? s->seen[c->replica] : c->from;
	c->cursor = c->snapshot;
	c->initial_sent = !c->initial;
	if (listed)
		wire_empty_list(c);
	c->half_open = sim_chance(w->sim, w->faults.half_open);
	SIM_TRACE(w->sim, "server: %s for %s at %d, replica %u%s%s", c->initial ? "watch-list" : "watch",
	    c->instance->name, (int)c->snapshot, c->replica, c->falsely_empty ? ", falsely empty" : "",
	    c->half_open ? ", will be half open" : "");
	wire_at_client(c, now_ms + wire_lag(w), stream_opens, 0);
	c->ends_ms = now_ms + c->timeout_ms;
	if (sim_chance(w->sim, w->faults.cut))
		c->ends_ms = now_ms + (int64_t)sim_random(w->sim, sim_chance(w->sim, 500) ? 1500 : 60000);
	if (!c->half_open)
		wire_at_client(c, c->ends_ms + wire_lag(w), stream_ends, 0);
	else if (sim_chance(w->sim, 700))
		wire_at_client(c, now_ms + TCP_TIMEOUT_MS + (int64_t)sim_random(w->sim, 30000),
		    stream_breaks, 0);
	sim_at(w->sim, now_ms + BOOKMARK_MS, stream_bookmark, c, 0);
}

void
wire_server_changed(struct kube_world *w)
{
	for (uint64_t i = 0; i < KUBE_REPLICAS; i++) {
		const uint64_t late_ms = sim_chance(w->sim, w->faults.lag) ? 10000 : 10;

		sim_at(w->sim, w->sim->now_ms + (int64_t)sim_random(w->sim, late_ms), catch_up, w,
		    w->server.rv << 8 | i);
	}
}

static void
catch_up(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_world *w = arg;
	const uint64_t rv = n >> 8 < w->server.rv ? n >> 8 : w->server.rv;
	uint64_t *seen = &w->server.seen[n & 0xff];

	if (rv > *seen)
		*seen = rv;
	for (int i = 0; i < KUBE_INSTANCES; i++) {
		struct kube_call *c = w->instances[i].reading;

		if (c != NULL && is_live(c) && c->replica == (n & 0xff) && c->promised < *seen) {
			c->promised = *seen;
			wire_at_client(c, sim->now_ms + wire_lag(w), stream_delivers, *seen);
		}
	}
}

/* Sends a bookmark about once a minute, until the stream ends. */
static void
stream_bookmark(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;
	struct kube_world *w = c->instance->world;

	(void)n;
	if (c->over || c->restores != w->server.restores)
		return;
	if (is_live(c) && c->initial_sent)
		wire_at_client(c, sim->now_ms + wire_lag(w), stream_delivers, w->server.seen[c->replica]);
	sim_at(sim, sim->now_ms + BOOKMARK_MS, stream_bookmark, c, 0);
}

static bool
is_live(const struct kube_call *c)
{
	return c->kind == CALL_WATCH && !c->over && !c->half_open && c->ends_ms > 0
	    && c->restores == c->instance->world->server.restores;
}

/* ---- At the client ---- */

static void
stream_opens(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;
	struct kube_instance *in = c->instance;
	struct kube_world *w = in->world;

	(void)n;
	if (c->over)
		return;
	if (c->restores != w->server.restores) {
		break_off(c);
		return;
	}
	reflector_accepted(&in->reflector, c->id, sim->now_ms);
	if (c->initial && w->server.watchlist == WATCHLIST_ERROR) {
		c->failure = (struct reflector_failure){
			.status = 500, .reason = "InternalError", .in_stream = true, .retry_after_ms = -1 };
		stream_fails(sim, c, 0);
		return;
	}
	const struct kube_state state = server_at(&w->server, c->snapshot);
	const bool listed = c->initial && !c->falsely_empty
	    && (c->from == 0 || w->server.watchlist == WATCHLIST_GOOD);
	for (uint32_t i = 0; listed && i < w->server.keys; i++) {
		/* The order is not by version: by key, beginning at any of them. */
		const uint32_t key = (uint32_t)((i + c->snapshot) % w->server.keys);
		const struct kube_event e = { .key = key, .type = WATCH_ADDED, .object = state.objects[key] };

		if (e.object.uid == 0)
			continue;
		if (sim_chance(sim, w->faults.cut / 4)) {
			break_off(c);
			return;
		}
		watcher_event(in, c->id, &e);
		if (kube_broken(w, BREAK_KUBE_INITIAL_END))
			watcher_bookmark(in, c->id, c->snapshot, true);
	}
	if (c->initial)
		wire_at_client(c, sim->now_ms + wire_lag(w), stream_initial_end, 0);
	else
		stream_delivers(sim, c, w->server.seen[c->replica]);
	watcher_drive(in);
}

/* Changes since the snapshot may come before the end of the initial events. */
static void
stream_initial_end(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;
	struct kube_world *w = c->instance->world;

	(void)sim, (void)n;
	if (c->over || c->half_open)
		return;
	c->initial_sent = true;
	const bool more = w->server.seen[c->replica] > c->cursor && !c->falsely_empty;
	const uint64_t rv = more ? w->server.seen[c->replica] : c->cursor;
	if (c->restores != w->server.restores || !deliver(c, rv))
		return;
	watcher_bookmark(c->instance, c->id, rv, w->server.watchlist == WATCHLIST_GOOD);
	watcher_drive(c->instance);
}

static void
stream_delivers(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;
	struct kube_world *w = c->instance->world;

	if (c->over || c->half_open || !c->initial_sent)
		return;
	if (c->restores != w->server.restores) {
		break_off(c);
		return;
	}
	if (kube_broken(w, BREAK_KUBE_BOOKMARK) && n > c->cursor && sim_chance(sim, 300)) {
		watcher_bookmark(c->instance, c->id, n, false);
		break_off(c);
		return;
	}
	if (!deliver(c, n))
		return;
	if (sim_chance(sim, 300))
		watcher_bookmark(c->instance, c->id, c->cursor, false);
	watcher_drive(c->instance);
}

/* Delivers the events up to rv. False: the stream broke between two of them. */
static bool
deliver(struct kube_call *c, uint64_t rv)
{
	struct kube_world *w = c->instance->world;
	const struct kube_server *s = &w->server;

	for (uint32_t i = server_after(s, c->cursor); i < s->nlog && s->log[i].rv <= rv; i++) {
		if (sim_chance(w->sim, w->faults.cut / 4)) {
			break_off(c);
			return false;
		}
		c->cursor = s->log[i].rv;
		const bool initial = c->instance->reflector.initial;
		if (!initial && sim_chance(w->sim, w->faults.lossy)) {
			SIM_TRACE(w->sim, "the event of %d is lost for %s", (int)c->cursor,
			    c->instance->name);
			continue;
		}
		watcher_event(c->instance, c->id, &s->log[i]);
		/* Repeats an old event; not among the initial events, which have no order anyway. */
		if (!initial && sim_chance(w->sim, w->faults.duplicate))
			watcher_event(c->instance, c->id, &s->log[sim_random(w->sim, i + 1)]);
	}
	if (rv > c->cursor)
		c->cursor = rv;
	return true;
}

static void
stream_ends(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;

	(void)n;
	if (c->over)
		return;
	c->over = true;
	SIM_TRACE(sim, "%s: stream %u ends", c->instance->name, c->id);
	reflector_ended(&c->instance->reflector, c->id, true, sim->now_ms);
	watcher_drive(c->instance);
}

static void
stream_breaks(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;

	(void)sim, (void)n;
	if (!c->over)
		break_off(c);
}

/* Breaks the stream. Sometimes a frame of it arrives later. */
static void
break_off(struct kube_call *c)
{
	struct kube_world *w = c->instance->world;

	c->over = true;
	SIM_TRACE(w->sim, "%s: stream %u breaks", c->instance->name, c->id);
	if (sim_chance(w->sim, w->faults.stray))
		wire_at_client(c, w->sim->now_ms + (int64_t)sim_random(w->sim, 4000), stream_stray, 0);
	reflector_ended(&c->instance->reflector, c->id, false, w->sim->now_ms);
	watcher_drive(c->instance);
}

static void
stream_stray(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;
	struct kube_instance *in = c->instance;
	struct kube_world *w = in->world;
	const uint32_t id = kube_broken(w, BREAK_KUBE_LATE) ? in->reflector.id : c->id;

	(void)sim, (void)n;
	if (c->restores != w->server.restores)
		return;
	SIM_TRACE(w->sim, "%s receives a late bookmark of stream %u", in->name, c->id);
	watcher_bookmark(in, id, w->server.rv, c->initial);
	watcher_drive(in);
}

static void
stream_fails(struct sim *sim, void *arg, uint64_t n)
{
	struct kube_call *c = arg;

	(void)n;
	if (c->over)
		return;
	c->over = true;
	SIM_TRACE(sim, "%s: stream %u fails: %d %s", c->instance->name, c->id, c->failure.status,
	    c->failure.reason);
	if (c->failure.in_stream)
		reflector_accepted(&c->instance->reflector, c->id, sim->now_ms);
	reflector_failed(&c->instance->reflector, c->id, &c->failure, sim->now_ms);
	watcher_drive(c->instance);
}
