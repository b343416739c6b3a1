/*
 * actors/kube-watcher/reflector.c - list and watch as a state machine. Pure.
 *
 * Every input only notes what is due; reflector_next alone decides, in one order: finish what is over
 * (stop, drop, commit), then check the open request, then wait for the backoff, then send the next one.
 */
#include <string.h>

#include "kube/rv.h"
#include "obj.h"
#include "random.h"
#include "reflector_private.h"

static void overdue(struct reflector *, int64_t);
static struct reflector_step check_open_request(struct reflector *, int64_t);
static struct reflector_step ask(struct reflector *, int64_t);
static struct reflector_step ask_list(struct reflector *, int64_t);
static struct reflector_step ask_watch(struct reflector *, int64_t);
static struct reflector_step opened(
    struct reflector *, enum reflector_verb, enum reflector_open, int64_t);
static uint32_t draw_timeout_s(struct reflector *, int64_t);
static void list_done(struct reflector *, const struct list_diff *, int64_t);
static void confirm_list(struct reflector *, enum reflector_reason, int64_t);
static void watch_again(struct reflector *, enum reflector_reason, int64_t);
static bool is_open(const struct reflector *, uint32_t, enum reflector_open);
static bool is_stream(const struct reflector *, uint32_t);
static void note_received(struct reflector *, int64_t);
static void advance(struct reflector *, const char *);
static bool keep_text(char *, size_t, const char *);
static enum rv_order order(const char *, const char *);

static const struct {
	const char *name, *text;
} reasons[BECAUSE_MAX] = {
#define REASON_ROW(ID, name_, text_) [BECAUSE_##ID] = { .name = (name_), .text = (text_) },
	REFLECTOR_REASONS(REASON_ROW)
};

const char *
reflector_reason_name(enum reflector_reason r)
{
	return (unsigned)r < BECAUSE_MAX ? reasons[r].name : "?";
}

const char *
reflector_reason_text(enum reflector_reason r)
{
	return (unsigned)r < BECAUSE_MAX ? reasons[r].text : "?";
}

enum kind_state
reflector_state(const struct reflector *r)
{
	return r->state;
}

void
reflector_init(struct reflector *r, const struct reflector_config *c, struct reflector_server *server,
    uint64_t seed)
{
	MUST(c->page > 0);
	*r = (struct reflector){
		.config = *c, .server = server, .random = seed, .want = WANT_DISCOVERY, .fresh = true,
		.state = KIND_STATE_LISTING, .why = BECAUSE_START,
	};
}

/* ---- Input ---- */

void
reflector_discovered(struct reflector *r, bool present, int64_t now_ms)
{
	/* An open request is more current than discovery: a missing kind answers 404. */
	if (r->open > OPEN_DISCOVERY || (present && r->want != WANT_DISCOVERY))
		return;
	r->open = OPEN_NOTHING;
	if (present) {
		r->want = WANT_LIST;
		r->fresh = true;
		if (r->state == KIND_STATE_ABSENT) {
			r->state = r->synced ? KIND_STATE_SYNCED : KIND_STATE_LISTING;
			r->why = BECAUSE_PRESENT;
			r->rest_ms = now_ms;
		}
		return;
	}
	reflector_list_anew(r);
	r->want = WANT_DISCOVERY;
	r->state = KIND_STATE_ABSENT;
	r->why = BECAUSE_ABSENT;
	reflector_rest_long(r, now_ms);
}

void
reflector_restart(struct reflector *r, int64_t now_ms)
{
	if (r->open > OPEN_DISCOVERY)
		reflector_close(r, true);
	r->open = OPEN_NOTHING;
	reflector_list_anew(r);
	r->want = WANT_LIST;
	r->fresh = true;
	r->why = BECAUSE_VERSION;
	r->rest_ms = now_ms;
}

void
reflector_accepted(struct reflector *r, uint32_t id, int64_t now_ms)
{
	if (r->open <= OPEN_DISCOVERY || id != r->id)
		return;
	note_received(r, now_ms);
	r->accepted = true;
	if (r->open != OPEN_WATCH)
		return;
	/* List and watch are allowed, so the 403 was about the parameters. */
	if (r->watchlist_forbidden)
		r->server->no_watchlist = true;
	r->watchlist_forbidden = false;
	r->state = KIND_STATE_SYNCED;
}

enum reflector_take
reflector_item(struct reflector *r, uint32_t id, int64_t now_ms)
{
	if (!is_open(r, id, OPEN_LIST))
		return TAKE_SKIP;
	note_received(r, now_ms);
	r->deadline_ms = now_ms + REFLECTOR_LIST_MS;
	return TAKE_LISTED;
}

void
reflector_page(struct reflector *r, uint32_t id, const char *rv, const char *cont,
    const struct list_diff *p, int64_t now_ms)
{
	if (!is_open(r, id, OPEN_LIST))
		return;
	note_received(r, now_ms);
	reflector_close(r, false);
	r->broken = 0;
	/* The version of the first page is the version of the list. */
	if (r->cont[0] == '\0' && (rv[0] == '\0' || !keep_text(r->list_rv, sizeof(r->list_rv), rv))) {
		reflector_list_anew(r);
		r->why = BECAUSE_SERVER;
		reflector_back_off(r, -1, now_ms);
		return;
	}
	if (cont[0] != '\0') {
		r->why = BECAUSE_PAGE;
		if (!keep_text(r->cont, sizeof(r->cont), cont)) {
			reflector_list_anew(r);
			r->unpaged = true;
		}
		return;
	}
	list_done(r, p, now_ms);
}

enum reflector_take
reflector_event(struct reflector *r, uint32_t id, enum watch_type type, const char *rv, int64_t now_ms)
{
	if (!is_stream(r, id) || type > WATCH_DELETED)
		return TAKE_SKIP;
	note_received(r, now_ms);
	if (r->initial)		/* DELETED counts before the end of the list, too */
		return type == WATCH_DELETED ? TAKE_LIVE : TAKE_LISTED;
	const enum rv_order o = order(rv, r->rv);
	if (o == RV_OLDER)
		reflector_react(r, BECAUSE_DISORDER, true, -1, now_ms);
	if (o == RV_OLDER || o == RV_SAME)
		return TAKE_SKIP;
	advance(r, rv);
	return TAKE_LIVE;
}

void
reflector_bookmark(struct reflector *r, uint32_t id, const char *rv, bool initial_end,
    const struct list_diff *p, int64_t now_ms)
{
	if (!is_stream(r, id))
		return;
	note_received(r, now_ms);
	if (!r->initial) {
		advance(r, rv);
		return;
	}
	/* The first bookmark of a watch-list ends its initial events: another one means a plain watch. */
	if (!initial_end || rv[0] == '\0' || !keep_text(r->list_rv, sizeof(r->list_rv), rv)) {
		reflector_react(r, BECAUSE_UNSUPPORTED, true, -1, now_ms);
		return;
	}
	r->broken = 0;
	list_done(r, p, now_ms);
}

void
reflector_ended(struct reflector *r, uint32_t id, bool clean, int64_t now_ms)
{
	if (!is_stream(r, id))
		return;
	const bool quick = now_ms - r->asked_ms < REFLECTOR_SHORT_MS;
	const bool to_its_end = now_ms >= r->deadline_ms - REFLECTOR_GRACE_MS - REFLECTOR_SHORT_MS;
	if (r->initial) {
		/* It ended at its timeout, and no bookmark came: the parameters were ignored. */
		reflector_react(r, clean && to_its_end ? BECAUSE_UNSUPPORTED : BECAUSE_BROKEN,
		    false, -1, now_ms);
	} else if (!r->moved && (quick || !clean)) {
		reflector_react(r, clean ? BECAUSE_SHORT : BECAUSE_BROKEN, false, -1, now_ms);
	} else {
		reflector_forget_past(r, now_ms);
		reflector_close(r, false);
		watch_again(r, clean ? BECAUSE_ENDED : BECAUSE_BROKEN, now_ms);
	}
}

void
reflector_failed(struct reflector *r, uint32_t id, const struct reflector_failure *f, int64_t now_ms)
{
	if (r->open <= OPEN_DISCOVERY || id != r->id)
		return;
	reflector_react(r, reflector_classify(r, f), f->in_stream, f->retry_after_ms, now_ms);
}

/* ---- Decisions ---- */

struct reflector_step
reflector_next(struct reflector *r, int64_t now_ms)
{
	if (r->open != OPEN_NOTHING && now_ms >= r->deadline_ms)
		overdue(r, now_ms);
	if (r->stop_due) {
		r->stop_due = false;
		return (struct reflector_step){ .verb = REFLECT_STOP, .reason = r->why, .id = r->id };
	}
	if (r->drop_due) {
		r->drop_due = false;
		return (struct reflector_step){ .verb = REFLECT_DROP, .reason = r->why };
	}
	if (r->commit_due) {
		r->commit_due = false;
		return (struct reflector_step){
			.verb = REFLECT_COMMIT, .reason = BECAUSE_COMPLETE, .rv = r->list_rv };
	}
	if (r->synced_due) {
		r->synced_due = false;
		return (struct reflector_step){
			.verb = REFLECT_SYNCED, .reason = BECAUSE_COMPLETE, .rv = r->list_rv };
	}
	if (r->open != OPEN_NOTHING)
		return check_open_request(r, now_ms);
	if (now_ms < r->rest_ms)
		return (struct reflector_step){ .verb = REFLECT_WAIT, .reason = r->why, .at_ms = r->rest_ms };
	return ask(r, now_ms);
}

/* A request is open: an alarm, once for each time that nothing comes. */
static struct reflector_step
check_open_request(struct reflector *r, int64_t now_ms)
{
	const int64_t limit_ms = r->initial ? REFLECTOR_INITIAL_MS : REFLECTOR_SILENT_MS;
	const int64_t alarm_ms = r->received_ms + limit_ms;

	if (r->open < OPEN_WATCHLIST || r->alarmed || alarm_ms > r->deadline_ms)
		return (struct reflector_step){ .verb = REFLECT_WAIT, .at_ms = r->deadline_ms };
	if (now_ms < alarm_ms)
		return (struct reflector_step){ .verb = REFLECT_WAIT, .at_ms = alarm_ms };
	r->alarmed = true;
	return (struct reflector_step){
		.verb = REFLECT_ALARM, .reason = r->initial ? BECAUSE_STALLED : BECAUSE_SILENT };
}

static struct reflector_step
ask(struct reflector *r, int64_t now_ms)
{
	if (r->want == WANT_DISCOVERY) {
		r->open = OPEN_DISCOVERY;
		r->deadline_ms = now_ms + REFLECTOR_SLOW_MS;
		return (struct reflector_step){ .verb = REFLECT_DISCOVER, .reason = r->why };
	}
	if (r->want == WANT_WATCH)
		return ask_watch(r, now_ms);
	if (!r->replacing) {
		r->replacing = true;
		r->cont[0] = '\0';
		return (struct reflector_step){
			.verb = REFLECT_BEGIN, .reason = r->why, .accept_rollback = r->confirm };
	}
	return ask_list(r, now_ms);
}

static struct reflector_step
ask_list(struct reflector *r, int64_t now_ms)
{
	const bool most_recent = r->fresh || r->confirm || r->rv[0] == '\0';

	if (r->config.watchlist && !r->server->no_watchlist && !r->plain && !r->confirm) {
		struct reflector_step s = opened(r, REFLECT_WATCHLIST, OPEN_WATCHLIST, now_ms);

		r->initial = true;
		s.ask = (struct reflector_ask){
			.id = r->id, .watch = true, .initial_events = true, .bookmarks = true,
			.rv = most_recent ? "" : r->rv, .match = "NotOlderThan",
			.timeout_s = draw_timeout_s(r, now_ms),
		};
		return s;
	}
	struct reflector_step s = opened(r, REFLECT_LIST, OPEN_LIST, now_ms);
	r->deadline_ms = now_ms + REFLECTOR_LIST_MS;
	if (r->cont[0] != '\0')
		s.ask = (struct reflector_ask){ .cont = r->cont, .limit = r->config.page };
	else if (most_recent)
		s.ask = (struct reflector_ask){ .limit = r->unpaged ? 0 : r->config.page };
	else	/* no limit: the watch cache answers; with a limit the match would be "exact" */
		s.ask = (struct reflector_ask){ .rv = r->rv, .match = "NotOlderThan" };
	s.ask.id = r->id;
	return s;
}

static struct reflector_step
ask_watch(struct reflector *r, int64_t now_ms)
{
	struct reflector_step s = opened(r, REFLECT_WATCH, OPEN_WATCH, now_ms);

	r->initial = false;
	s.ask = (struct reflector_ask){
		.id = r->id, .watch = true, .bookmarks = true, .rv = r->rv,
		.timeout_s = draw_timeout_s(r, now_ms),
	};
	return s;
}

static struct reflector_step
opened(struct reflector *r, enum reflector_verb verb, enum reflector_open what, int64_t now_ms)
{
	r->open = what;
	r->id++;
	r->accepted = r->moved = r->alarmed = false;
	r->asked_ms = r->received_ms = now_ms;
	return (struct reflector_step){ .verb = verb, .reason = r->why };
}

/* At random, so that the watches of a fleet do not end together. Sets our own deadline too. */
static uint32_t
draw_timeout_s(struct reflector *r, int64_t now_ms)
{
	const uint32_t s = REFLECTOR_WATCH_MIN_S
	    + (uint32_t)random_below(&r->random, REFLECTOR_WATCH_MAX_S - REFLECTOR_WATCH_MIN_S + 1);

	r->deadline_ms = now_ms + (int64_t)s * 1000 + REFLECTOR_GRACE_MS;
	return s;
}

/* ---- Ends of requests ---- */

/* The server did not end the request at its timeout: the connection may be half open. */
static void
overdue(struct reflector *r, int64_t now_ms)
{
	if (r->open == OPEN_DISCOVERY) {
		r->open = OPEN_NOTHING;
	} else if (r->open == OPEN_WATCH) {
		reflector_close(r, true);
		watch_again(r, BECAUSE_DEADLINE, now_ms);
	} else {
		reflector_react(r, BECAUSE_DEADLINE, true, -1, now_ms);
	}
}

/* The list is complete and a stream goes on, unless the list has to be confirmed by another one. */
static void
list_done(struct reflector *r, const struct list_diff *p, int64_t now_ms)
{
	const bool back = p->older > 0 || (r->fresh && p->newer > 0)
	    || (r->rv[0] != '\0' && order(r->list_rv, r->rv) == RV_OLDER);

	if (!r->confirm && back) {
		confirm_list(r, BECAUSE_BACK, now_ms);
		return;
	}
	if (!r->confirm && p->missing > p->seen) {
		confirm_list(r, BECAUSE_SHRUNK, now_ms);
		return;
	}
	memcpy(r->rv, r->list_rv, sizeof(r->rv));
	r->commit_due = r->synced_due = r->synced = r->moved = true;
	r->state = KIND_STATE_SYNCED;
	r->replacing = r->fresh = r->confirm = r->unpaged = r->plain = r->initial = false;
	r->listed_ms = now_ms;
	r->want = WANT_WATCH;
	r->why = BECAUSE_FOLLOW;
	if (r->open == OPEN_WATCHLIST)
		r->open = OPEN_WATCH;
}

static void
confirm_list(struct reflector *r, enum reflector_reason why, int64_t now_ms)
{
	if (r->open != OPEN_NOTHING)
		reflector_close(r, true);
	reflector_list_anew(r);
	r->confirm = true;
	r->why = why;
	r->rest_ms = now_ms + REFLECTOR_CONFIRM_MS;
}

/* The stream ended and the store is complete: watch on, or list once per relist_ms. */
static void
watch_again(struct reflector *r, enum reflector_reason why, int64_t now_ms)
{
	r->want = WANT_WATCH;
	r->why = why;
	if (r->config.relist_ms > 0 && now_ms - r->listed_ms >= r->config.relist_ms) {
		r->want = WANT_LIST;
		r->fresh = true;
		r->why = BECAUSE_RESYNC;
	}
}

/* ---- Helpers ---- */

static bool
is_open(const struct reflector *r, uint32_t id, enum reflector_open what)
{
	return r->open == what && r->id == id;
}

static bool
is_stream(const struct reflector *r, uint32_t id)
{
	return is_open(r, id, OPEN_WATCHLIST) || is_open(r, id, OPEN_WATCH);
}

static void
note_received(struct reflector *r, int64_t now_ms)
{
	r->received_ms = now_ms;
	if (!r->initial)	/* during initial events one warning is enough */
		r->alarmed = false;
}

/* Never back; what cannot be compared counts as newer (kube/rv.h). */
static void
advance(struct reflector *r, const char *rv)
{
	const enum rv_order o = order(rv, r->rv);

	if (rv[0] == '\0' || (o != RV_NEWER && o != RV_UNKNOWN))
		return;
	if (keep_text(r->rv, sizeof(r->rv), rv)) {
		r->moved = true;
		r->broken = 0;
	}
}

/* False: too long, nothing is kept. */
static bool
keep_text(char *to, size_t size, const char *text)
{
	const size_t len = strlen(text);

	if (len >= size)
		return false;
	memcpy(to, text, len + 1);
	return true;
}

static enum rv_order
order(const char *a, const char *b)
{
	return rv_compare(a, strlen(a), b, strlen(b));
}
