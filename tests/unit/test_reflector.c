/*
 * tests/unit/test_reflector.c - list and watch as scripts: what the server does, and every step that
 * the reflector asks for in return.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/kube-watcher/reflector.h"
#include "obj.h"
#include "random.h"

enum input {
	END,
	GO,
	PRESENT,
	ABSENT,
	VERSION,
	ACCEPT,
	ITEM,
	PAGE,
	ADDED,
	MODIFIED,
	DELETED,
	BOOKMARK,
	COMPLETE,
	ENDS,
	BREAKS,
	FAILS,
	TOO_LARGE,
	ERROR,
	REFUSED,
	STALE,
};

/*
 * after_ms after the line before, the input is passed in; then the steps up to the next WAIT read
 * `want`. Rests are in seconds: "rest 1-2" waits at least 1 and at most 2 s.
 */
struct line {
	int64_t		 after_ms;
	enum input	 input;
	const char	*rv;		/* or the reason of a failure */
	int		 n;		/* a status; PAGE, COMPLETE: keys missing */
	int		 m;		/* Retry-After in s, -1: none; PAGE, COMPLETE: keys named */
	const char	*want;
};

#define FIRST_LIST								\
	{ 0, GO, "", 0, 0, "discover" },					\
	{ 5, PRESENT, "", 0, 0, "begin watchlist()" },				\
	{ 5, ACCEPT, "", 0, 0, "" },						\
	{ 5, ADDED, "900", 0, 0, "" },						\
	{ 5, COMPLETE, "100", 0, 0, "commit(100) synced" }
#define FIRST_PAGES								\
	{ 0, GO, "", 0, 0, "discover" },					\
	{ 5, PRESENT, "", 0, 0, "begin watchlist()" },				\
	{ 5, FAILS, "", 400, -1, "drop begin list(,500)" }

static const struct row {
	const char	*name;
	struct line	 lines[16];
} rows[] = {
	{ "watch-list first; its stream goes on, and the next watch begins where it ended", {
		FIRST_LIST,
		{ 5, MODIFIED, "101", 0, 0, "" },
		{ 5, DELETED, "102", 0, 0, "" },
		{ 300000, ENDS, "", 0, 0, "watch(102)" } } },
	{ "initial events do not move the version: they come in no order", {
		{ 0, GO, "", 0, 0, "discover" },
		{ 0, PRESENT, "", 0, 0, "begin watchlist()" },
		{ 5, ADDED, "900", 0, 0, "" },
		{ 5, BREAKS, "", 0, 0, "drop rest 0.8-1.6" },
		{ 1600, GO, "", 0, 0, "begin watchlist()" } } },
	{ "bookmarks move the version, never back", {
		FIRST_LIST,
		{ 5, BOOKMARK, "140", 0, 0, "" }, { 5, BOOKMARK, "120", 0, 0, "" },
		{ 2000, BREAKS, "", 0, 0, "watch(140)" } } },
	{ "watch-list rejected: pages of 500, later ones with the token alone", {
		FIRST_PAGES,
		{ 5, ITEM, "", 0, 0, "" },
		{ 5, PAGE, "100 token", 0, 0, "list(token)" },
		{ 5, PAGE, "999", 0, 5, "commit(100) synced watch(100)" } } },
	{ "watch-list forbidden, list and watch allowed: not supported, and remembered", {
		{ 0, GO, "", 0, 0, "discover" },
		{ 5, PRESENT, "", 0, 0, "begin watchlist()" },
		{ 5, FAILS, "Forbidden", 403, -1, "drop begin list(,500)" },
		{ 5, PAGE, "100", 0, 0, "commit(100) synced watch(100)" },
		{ 5, ACCEPT, "", 0, 0, "" },
		{ 5, ERROR, "Expired", 410, -1, "stop begin list(100)" } } },
	{ "everything forbidden: every 30 to 60 s, watch-list again", {
		{ 0, GO, "", 0, 0, "discover" },
		{ 5, PRESENT, "", 0, 0, "begin watchlist()" },
		{ 5, FAILS, "Forbidden", 403, -1, "drop begin list(,500)" },
		{ 5, FAILS, "Forbidden", 403, -1, "drop forbidden rest 30-60" },
		{ 60000, GO, "", 0, 0, "begin watchlist() forbidden" },
		{ 5, COMPLETE, "100", 0, 0, "commit(100) synced" } } },
	{ "watch forbidden after a good list: the store is kept", {
		FIRST_LIST,
		{ 400000, ENDS, "", 0, 0, "watch(100)" },
		{ 5, FAILS, "Forbidden", 403, -1, "forbidden rest 30-60" },
		{ 60000, GO, "", 0, 0, "watch(100) forbidden" },
		{ 5, ACCEPT, "", 0, 0, "" } } },
	{ "parameters ignored: a plain bookmark comes first", {
		{ 0, GO, "", 0, 0, "discover" },
		{ 5, PRESENT, "", 0, 0, "begin watchlist()" },
		{ 5, ADDED, "90", 0, 0, "" },
		{ 5, BOOKMARK, "100", 0, 0, "stop drop begin list(,500)" } } },
	{ "parameters ignored: the stream lasts as agreed, and no bookmark came", {
		{ 0, GO, "", 0, 0, "discover" },
		{ 0, PRESENT, "", 0, 0, "begin watchlist()" },
		{ 10000, GO, "", 0, 0, "alarm(stalled)" },
		{ 20000, GO, "", 0, 0, "" },
		{ -1, ENDS, "", 0, 0, "drop begin list(,500)" } } },
	{ "an old etcd: ERROR 500 InternalError in the stream", {
		{ 0, GO, "", 0, 0, "discover" },
		{ 5, PRESENT, "", 0, 0, "begin watchlist()" },
		{ 5, ERROR, "InternalError", 500, -1, "stop drop begin list(,500)" } } },
	{ "three broken watch-lists: a plain list for this once", {
		{ 0, GO, "", 0, 0, "discover" },
		{ 0, PRESENT, "", 0, 0, "begin watchlist()" },
		{ 0, BREAKS, "", 0, 0, "drop rest 0.8-1.6" },
		{ 1600, GO, "", 0, 0, "begin watchlist()" },
		{ 0, FAILS, "", 500, -1, "drop rest 1.6-3.2" },
		{ 3200, GO, "", 0, 0, "begin watchlist()" },
		{ 0, BREAKS, "", 0, 0, "drop rest 3.2-6.4" },
		{ 6400, GO, "", 0, 0, "begin list(,500)" },
		{ 0, PAGE, "100", 0, 0, "commit(100) synced watch(100)" },
		{ 0, ERROR, "Expired", 410, -1, "stop rest 6.4-12.8" },
		{ 12800, GO, "", 0, 0, "begin watchlist(100)" } } },
	{ "the token expires on page 2: all of it in one piece, from the start", {
		FIRST_PAGES,
		{ 5, PAGE, "100 token", 0, 0, "list(token)" },
		{ 5, FAILS, "Expired", 410, -1, "drop rest 0.8-1.6" },
		{ 1600, GO, "", 0, 0, "begin list(,0)" },
		{ 5, PAGE, "105", 0, 0, "commit(105) synced watch(105)" } } },
	{ "page 2 breaks: the same page again; page 1 breaks: another list", {
		FIRST_PAGES,
		{ 5, BREAKS, "", 0, 0, "" },		/* not a watch: ignored */
		{ 5, FAILS, "", 503, -1, "drop rest 0.8-1.6" },
		{ 1600, GO, "", 0, 0, "begin list(,500)" },
		{ 5, PAGE, "100 token", 0, 0, "list(token)" },
		{ 5, FAILS, "", 503, -1, "rest 1.6-3.2" },
		{ 3200, GO, "", 0, 0, "list(token)" },
		{ 5, PAGE, "100", 0, 0, "commit(100) synced watch(100)" } } },
	{ "a list of no version is none", {
		FIRST_PAGES,
		{ 5, PAGE, "", 0, 0, "drop rest 0.8-1.6" } } },
	{ "a list that stalls for a minute is cut off", {
		FIRST_PAGES,
		{ 50000, ITEM, "", 0, 0, "" },
		{ 50000, GO, "", 0, 0, "" },
		{ 10000, GO, "", 0, 0, "stop drop rest 0.8-1.6" } } },
	{ "410 on connect: one relist, not older than what we have; in a loop with backoff", {
		FIRST_LIST,
		{ 300000, ENDS, "", 0, 0, "watch(100)" },
		{ 5, FAILS, "Expired", 410, -1, "begin watchlist(100)" },
		{ 5, COMPLETE, "200", 0, 3, "commit(200) synced" },
		{ 5, ERROR, "Gone", 410, -1, "stop rest 1.6-3.2" },
		{ 3200, GO, "", 0, 0, "begin watchlist(200)" } } },
	{ "the server lags behind us: most recent then", {
		FIRST_LIST,
		{ 5, ERROR, "Expired", 410, -1, "stop begin watchlist(100)" },
		{ 5, TOO_LARGE, "Timeout", 504, 1, "drop rest 1.6-3.2" },
		{ 3200, GO, "", 0, 0, "begin watchlist()" } } },
	{ "429: waits as long as Retry-After states, the same watch, no relist", {
		FIRST_LIST,
		{ 300000, ENDS, "", 0, 0, "watch(100)" },
		{ 0, FAILS, "", 429, 5, "rest 5-5" },
		{ 5000, GO, "", 0, 0, "watch(100)" },
		{ 0, FAILS, "", 429, 99999, "rest 60-60" },
		{ 60000, GO, "", 0, 0, "watch(100)" },
		{ 0, FAILS, "", 429, 0, "rest 3.2-6.4" },
		{ 6400, GO, "", 0, 0, "watch(100)" },
		{ 0, ERROR, "TooManyRequests", 429, -1, "stop rest 6.4-12.8" },
		{ 12800, GO, "", 0, 0, "watch(100)" } } },
	{ "connection refused: the same watch, as often as it takes", {
		FIRST_LIST,
		{ 2000, BREAKS, "", 0, 0, "watch(100)" },
		{ 0, REFUSED, "", 0, -1, "rest 0.8-1.6" }, { 1600, GO, "", 0, 0, "watch(100)" },
		{ 0, REFUSED, "", 0, -1, "rest 1.6-3.2" }, { 3200, GO, "", 0, 0, "watch(100)" },
		{ 0, REFUSED, "", 0, -1, "rest 3.2-6.4" }, { 6400, GO, "", 0, 0, "watch(100)" },
		{ 0, REFUSED, "", 0, -1, "rest 6.4-12.8" }, { 12800, GO, "", 0, 0, "watch(100)" } } },
	{ "a watch that stood for 10 s: what was wrong before it is over; to wait for one is not to stand", {
		FIRST_LIST, { 2000, BREAKS, "", 0, 0, "watch(100)" },
		{ 10000, FAILS, "", 504, -1, "rest 0.8-1.6" }, { 1600, GO, "", 0, 0, "watch(100)" },
		{ 0, ACCEPT, "", 0, 0, "" },
		{ 9999, BREAKS, "", 0, 0, "rest 1.6-3.2" }, { 3200, GO, "", 0, 0, "watch(100)" },
		{ 0, ACCEPT, "", 0, 0, "" }, { 10000, BREAKS, "", 0, 0, "rest 0.8-1.6" } } },
	{ "a very short watch is a failure; the third in a row leads to a list", {
		FIRST_LIST,
		{ 300000, ENDS, "", 0, 0, "watch(100)" },
		{ 999, ENDS, "", 0, 0, "rest 0.8-1.6" }, { 1600, GO, "", 0, 0, "watch(100)" },
		{ 999, ENDS, "", 0, 0, "rest 1.6-3.2" }, { 3200, GO, "", 0, 0, "watch(100)" },
		{ 999, ENDS, "", 0, 0, "rest 3.2-6.4" }, { 6400, GO, "", 0, 0, "begin watchlist(100)" } } },
	{ "a short watch that brought something is none", {
		FIRST_LIST,
		{ 300000, ENDS, "", 0, 0, "watch(100)" },
		{ 5, MODIFIED, "101", 0, 0, "" },
		{ 5, ENDS, "", 0, 0, "watch(101)" },
		{ 5, MODIFIED, "102", 0, 0, "" },
		{ 5, BREAKS, "", 0, 0, "watch(102)" } } },
	{ "fault 11, silence: an alarm after 3 minutes, the end at our own deadline", {
		FIRST_LIST,
		{ 100000, BOOKMARK, "150", 0, 0, "" },
		{ 179000, GO, "", 0, 0, "" },
		{ 1000, GO, "", 0, 0, "alarm(silent)" },
		{ 10, GO, "", 0, 0, "" },
		{ 330000, GO, "", 0, 0, "stop watch(150)" } } },
	{ "a list that shrank by more than half is read again, and then accepted", {
		FIRST_LIST,
		{ 5, ERROR, "Expired", 410, -1, "stop begin watchlist(100)" },
		{ 5, COMPLETE, "200", 6, 5, "stop drop rest 1-1" },
		{ 1000, GO, "", 0, 0, "begin! list(,500)" },
		{ 5, PAGE, "201", 6, 5, "commit(201) synced watch(201)" } } },
	{ "half of it is no reason", {
		FIRST_LIST,
		{ 5, ERROR, "Expired", 410, -1, "stop begin watchlist(100)" },
		{ 5, COMPLETE, "200", 5, 5, "commit(200) synced" } } },
	{ "a list older than the store is read again, and then accepted", {
		FIRST_LIST,
		{ 5, ERROR, "Expired", 410, -1, "stop begin watchlist(100)" },
		{ 5, COMPLETE, "99", 0, 5, "stop drop rest 1-1" },
		{ 1000, GO, "", 0, 0, "begin! list(,500)" },
		{ 5, PAGE, "99", 0, 5, "commit(99) synced watch(99)" } } },
	{ "an old event again: skipped, and a list follows", {
		FIRST_LIST,
		{ 5, MODIFIED, "105", 0, 0, "" },
		{ 5, MODIFIED, "105", 0, 0, "" },
		{ 5, ADDED, "103", 0, 0, "stop begin watchlist(105)" } } },
	{ "absent: discovered every 30 to 60 s, and at once when discovery finds it", {
		{ 0, GO, "", 0, 0, "discover" },
		{ 5, ABSENT, "", 0, 0, "absent rest 30-60" },
		{ 60000, GO, "", 0, 0, "discover absent" },
		{ 5, ABSENT, "", 0, 0, "absent rest 30-60" },
		{ 10, PRESENT, "", 0, 0, "begin watchlist()" } } },
	{ "404 on the collection: discovery is asked, and may find that it is back", {
		FIRST_LIST,
		{ 300000, ENDS, "", 0, 0, "watch(100)" },
		{ 5, FAILS, "NotFound", 404, -1, "absent rest 0.8-1.6" },
		{ 1600, GO, "", 0, 0, "discover absent" },
		{ 5, PRESENT, "", 0, 0, "begin watchlist()" },
		{ 5, FAILS, "NotFound", 404, -1, "drop absent rest 1.6-3.2" } } },
	{ "discovery that does not answer is asked again; a watch outranks it", {
		{ 0, GO, "", 0, 0, "discover" },
		{ 30000, GO, "", 0, 0, "discover" },
		{ 0, PRESENT, "", 0, 0, "begin watchlist()" },
		{ 5, COMPLETE, "100", 0, 0, "commit(100) synced" },
		{ 5, ABSENT, "", 0, 0, "" } } },
	{ "another version: everything anew", {
		FIRST_LIST,
		{ 5, VERSION, "", 0, 0, "stop begin watchlist()" },
		{ 5, VERSION, "", 0, 0, "stop drop begin watchlist()" } } },
	{ "a full list from time to time, when a stream ended anyway", {
		FIRST_LIST,
		{ 500000, ENDS, "", 0, 0, "watch(100)" },
		{ 500000, ENDS, "", 0, 0, "begin watchlist()" } } },
	{ "what an older request brings is ignored", {
		FIRST_LIST,
		{ 2000, BREAKS, "", 0, 0, "watch(100)" },
		{ 5, STALE, "500", 0, 0, "" },
		{ 2000, BREAKS, "", 0, 0, "rest 0.8-1.6" },
		{ 1600, GO, "", 0, 0, "watch(100)" } } },
	{ "failures are forgotten after two minutes", {
		FIRST_LIST,
		{ 2000, BREAKS, "", 0, 0, "watch(100)" },
		{ 0, REFUSED, "", 0, -1, "rest 0.8-1.6" }, { 1600, GO, "", 0, 0, "watch(100)" },
		{ 0, REFUSED, "", 0, -1, "rest 1.6-3.2" }, { 3200, GO, "", 0, 0, "watch(100)" },
		{ 120000, REFUSED, "", 0, -1, "rest 0.8-1.6" } } },
};

struct run {
	struct reflector	r;
	struct reflector_server	server;
	int64_t			now;
	uint32_t		open;		/* id of the request under way */
	char			steps[400];
};

static void __attribute__((format(printf, 2, 3)))
append(struct run *s, const char *fmt, ...)
{
	const size_t len = strlen(s->steps);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->steps + len, sizeof(s->steps) - len, fmt, ap);
	va_end(ap);
}

static void
append_request(struct run *s, const struct reflector_step *step)
{
	const struct reflector_ask *a = &step->ask;
	const char *rv = a->rv == NULL ? "" : a->rv;

	s->open = a->id;
	if (step->verb == REFLECT_LIST) {
		assert_true(!a->watch && !a->initial_events && !a->bookmarks && a->timeout_s == 0);
		/* With a version there is a match and no limit; with a token nothing but the limit. */
		assert_true((rv[0] != '\0') == (a->match != NULL) && (rv[0] == '\0' || a->limit == 0));
		if (a->cont != NULL)
			append(s, "list(%s)", a->cont);
		else if (rv[0] != '\0')
			append(s, "list(%s)", rv);
		else
			append(s, "list(,%u)", a->limit);
		assert_true(a->cont == NULL || rv[0] == '\0');
		return;
	}
	assert_true(a->watch && a->bookmarks && a->limit == 0 && a->cont == NULL);
	assert_in_range(a->timeout_s, REFLECTOR_WATCH_MIN_S, REFLECTOR_WATCH_MAX_S);
	assert_int_equal(a->initial_events, step->verb == REFLECT_WATCHLIST);
	assert_int_equal(a->match != NULL, step->verb == REFLECT_WATCHLIST);
	assert_true(step->verb == REFLECT_WATCHLIST || rv[0] != '\0');	/* never a plain watch from nowhere */
	append(s, "%s(%s)", step->verb == REFLECT_WATCHLIST ? "watchlist" : "watch", rv);
}

/* Takes every step up to the next WAIT; returns how long that is. */
static int64_t
take_steps(struct run *s)
{
	s->steps[0] = '\0';
	for (int n = 0;; n++) {
		const struct reflector_step step = reflector_next(&s->r, s->now);

		assert_true(n < 10);
		if (step.verb == REFLECT_WAIT) {
			const enum kind_state state = reflector_state(&s->r);

			assert_true(step.at_ms > s->now);
			if (state == KIND_STATE_FORBIDDEN || state == KIND_STATE_ABSENT)
				append(s, "%s%s", s->steps[0] == '\0' ? "" : " ", kind_state_name(state));
			return step.at_ms - s->now;
		}
		append(s, "%s", s->steps[0] == '\0' ? "" : " ");
		switch (step.verb) {
		case REFLECT_DISCOVER: append(s, "discover"); break;
		case REFLECT_BEGIN: append(s, step.accept_rollback ? "begin!" : "begin"); break;
		case REFLECT_STOP: append(s, "stop"); assert_int_equal(step.id, s->open); break;
		case REFLECT_COMMIT: append(s, "commit(%s)", step.rv); break;
		case REFLECT_DROP: append(s, "drop"); break;
		case REFLECT_SYNCED: append(s, "synced"); break;
		case REFLECT_ALARM: append(s, "alarm(%s)", reflector_reason_name(step.reason)); break;
		default: append_request(s, &step); break;
		}
	}
}

static void
feed(struct run *s, const struct line *l)
{
	const struct list_diff p = { .missing = (uint32_t)l->n, .seen = (uint32_t)l->m };
	struct reflector_failure f = {
		.status = l->n, .reason = l->rv, .in_stream = l->input == ERROR,
		.too_large = l->input == TOO_LARGE,
		.refused = l->input == REFUSED, .retry_after_ms = l->m < 0 ? -1 : l->m * INT64_C(1000),
	};
	char rv[32];
	const char *space = strchr(l->rv, ' ');

	switch (l->input) {
	case PRESENT: reflector_discovered(&s->r, true, s->now); break;
	case ABSENT: reflector_discovered(&s->r, false, s->now); break;
	case VERSION: reflector_restart(&s->r, s->now); break;
	case ACCEPT: reflector_accepted(&s->r, s->open, s->now); break;
	case ITEM: assert_int_equal(reflector_item(&s->r, s->open, s->now), TAKE_LISTED); break;
	case PAGE:
		snprintf(rv, sizeof(rv), "%.*s",
		    space == NULL ? (int)strlen(l->rv) : (int)(space - l->rv), l->rv);
		reflector_page(&s->r, s->open, rv, space == NULL ? "" : space + 1, &p, s->now);
		break;
	case ADDED: reflector_event(&s->r, s->open, WATCH_ADDED, l->rv, s->now); break;
	case MODIFIED: reflector_event(&s->r, s->open, WATCH_MODIFIED, l->rv, s->now); break;
	case DELETED: reflector_event(&s->r, s->open, WATCH_DELETED, l->rv, s->now); break;
	case BOOKMARK: reflector_bookmark(&s->r, s->open, l->rv, false, &p, s->now); break;
	case COMPLETE: reflector_bookmark(&s->r, s->open, l->rv, true, &p, s->now); break;
	case ENDS: reflector_ended(&s->r, s->open, true, s->now); break;
	case BREAKS: reflector_ended(&s->r, s->open, false, s->now); break;
	case STALE:
		assert_int_equal(
		    reflector_event(&s->r, s->open - 1, WATCH_ADDED, l->rv, s->now), TAKE_SKIP);
		reflector_bookmark(&s->r, s->open - 1, l->rv, true, &p, s->now);
		reflector_ended(&s->r, s->open - 1, true, s->now);
		reflector_failed(&s->r, s->open - 1, &f, s->now);
		break;
	case FAILS:
	case TOO_LARGE:
	case ERROR:
	case REFUSED: reflector_failed(&s->r, s->open, &f, s->now); break;
	default: break;
	}
}

/* "... rest 0.8-1.6": the steps are those before it, and the wait is in that range. */
static void
expect(const struct run *s, const char *want, int64_t wait_ms)
{
	const char *rest = strstr(want, "rest ");
	double least, most;

	if (rest == NULL) {
		assert_string_equal(s->steps, want);
		return;
	}
	assert_int_equal(sscanf(rest, "rest %lf-%lf", &least, &most), 2);
	assert_true(strncmp(s->steps, want, rest > want ? (size_t)(rest - want - 1) : 0) == 0);
	assert_int_equal(strlen(s->steps), rest > want ? rest - want - 1 : 0);
	assert_true((double)wait_ms >= least * 1000 && (double)wait_ms <= most * 1000);
}

static void
start(struct run *s, uint64_t seed)
{
	static const struct reflector_config config = {
		.watchlist = true, .page = REFLECTOR_PAGE, .relist_ms = 900 * 1000,
	};

	*s = (struct run){ .now = 1000000 };
	reflector_init(&s->r, &config, &s->server, seed);
}

static void
check_row(void **state)
{
	const struct row *r = *state;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct run s;

		start(&s, seed);
		for (const struct line *l = r->lines; l->input != END; l++) {
			/* -1: when the open stream has lasted as long as it was meant to */
			s.now = l->after_ms >= 0 ? s.now + l->after_ms : s.r.deadline_ms - REFLECTOR_GRACE_MS;
			feed(&s, l);
			expect(&s, l->want, take_steps(&s));
		}
	}
}

/* Any input in any order: the steps come to an end, one request at a time, each well formed. */
static void
any_input_is_handled(void **state)
{
	static const struct line inputs[] = {
		{ 0, GO, "", 0, 0, "" }, { 0, PRESENT, "", 0, 0, "" }, { 0, ABSENT, "", 0, 0, "" },
		{ 0, ACCEPT, "", 0, 0, "" }, { 0, PAGE, "", 0, 0, "" }, { 0, PAGE, "5 again", 9, 1, "" },
		{ 0, ADDED, "", 0, 0, "" }, { 0, MODIFIED, "x", 0, 0, "" }, { 0, DELETED, "0", 0, 0, "" },
		{ 0, BOOKMARK, "", 0, 0, "" }, { 0, COMPLETE, "", 0, 0, "" }, { 0, COMPLETE, "7", 3, 1, "" },
		{ 0, ENDS, "", 0, 0, "" }, { 0, BREAKS, "", 0, 0, "" }, { 0, STALE, "9", 500, -1, "" },
		{ 0, FAILS, "", 500, -1, "" }, { 0, FAILS, "Expired", 410, -1, "" }, { 0, FAILS, "", 403, -1, "" },
		{ 0, FAILS, "", 404, 0, "" }, { 0, TOO_LARGE, "", 504, 1, "" }, { 0, ERROR, "InternalError", 500, -1, "" },
		{ 0, ERROR, "", -7, -1, "" }, { 0, REFUSED, "", 0, -1, "" }, { 0, FAILS, "", 429, 99999, "" },
	};
	uint64_t seed = 4;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct run s;

		start(&s, (uint64_t)i);
		for (int n = 0; n < 200; n++) {
			s.now += (int64_t)random_below(&seed, 3) * (int64_t)random_below(&seed, 100000);
			feed(&s, &inputs[random_below(&seed, NITEMS(inputs))]);
			take_steps(&s);
		}
	}
}

static void
feed_all(struct run *s, const struct line *lines)
{
	take_steps(s);
	for (const struct line *l = lines; l->input != END; l++) {
		s->now += l->after_ms;
		feed(s, l);
		take_steps(s);
	}
}

static const struct line first_list[] = { FIRST_LIST, { 0, END, "", 0, 0, "" } };

/* Which events are listed, live or skipped. */
static void
events_are_sorted(void **state)
{
	struct run s;

	(void)state;
	start(&s, 1);
	feed_all(&s, (const struct line[]){ { 5, PRESENT, "", 0, 0, "" }, { 0, END, "", 0, 0, "" } });
	assert_int_equal(reflector_event(&s.r, s.open, WATCH_ADDED, "90", s.now), TAKE_LISTED);
	assert_int_equal(reflector_event(&s.r, s.open, WATCH_MODIFIED, "80", s.now), TAKE_LISTED);
	assert_int_equal(reflector_event(&s.r, s.open, WATCH_DELETED, "95", s.now), TAKE_LIVE);
	assert_int_equal(reflector_event(&s.r, s.open, WATCH_UNKNOWN, "96", s.now), TAKE_SKIP);
	assert_int_equal(reflector_item(&s.r, s.open, s.now), TAKE_SKIP);
	feed(&s, &(struct line){ 0, COMPLETE, "100", 0, 0, "" });
	take_steps(&s);
	assert_int_equal(reflector_event(&s.r, s.open, WATCH_ADDED, "101", s.now), TAKE_LIVE);
	assert_int_equal(reflector_event(&s.r, s.open, WATCH_ADDED, "101", s.now), TAKE_SKIP);
	assert_int_equal(reflector_event(&s.r, s.open, WATCH_DELETED, "102", s.now), TAKE_LIVE);
	assert_int_equal(reflector_event(&s.r, s.open, WATCH_MODIFIED, "what", s.now), TAKE_LIVE);
}

/* One object that is older than our version of it is enough; what is newer than a relist is our own write. */
static void
one_old_object_is_enough(void **state)
{
	static const struct {
		bool			fresh;
		struct list_diff	diff;
		const char	       *want;
	} cases[] = {
		{ false, { .seen = 9 }, "commit(200) synced" },
		{ false, { .seen = 9, .older = 1 }, "stop drop" },
		{ false, { .seen = 9, .newer = 1 }, "commit(200) synced" },
		{ true, { .seen = 9, .newer = 1 }, "stop drop" },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(cases); i++) {
		struct run s;

		start(&s, 1);
		feed_all(&s, first_list);
		/* Another version asks for the most recent, an expired one for not older than ours. */
		feed(&s, cases[i].fresh ? &(struct line){ 0, VERSION, "", 0, 0, "" }
					: &(struct line){ 0, ERROR, "Expired", 410, -1, "" });
		take_steps(&s);
		reflector_bookmark(&s.r, s.open, "200", true, &cases[i].diff, s.now);
		take_steps(&s);
		assert_string_equal(s.steps, cases[i].want);
	}
}

/* What one kind finds out about the server holds for the others. */
static void
one_finds_out_for_all(void **state)
{
	struct run s, other;

	(void)state;
	start(&s, 1);
	take_steps(&s);
	feed(&s, &(struct line){ 0, PRESENT, "", 0, 0, "" });
	take_steps(&s);
	feed(&s, &(struct line){ 0, FAILS, "", 422, -1, "" });
	assert_true(s.server.no_watchlist);
	start(&other, 2);
	other.r.server = &s.server;
	take_steps(&other);
	feed(&other, &(struct line){ 0, PRESENT, "", 0, 0, "" });
	take_steps(&other);
	assert_string_equal(other.steps, "begin list(,500)");
}

/* The curve of client-go: 0.8 to 1.6 s at first, 30 to 60 s in the end. */
static void
backoff_curve(void **state)
{
	struct run s;
	int64_t base_ms = REFLECTOR_BACKOFF_MS, sum_ms = 0;

	(void)state;
	start(&s, 9);
	take_steps(&s);
	feed(&s, &(struct line){ 0, PRESENT, "", 0, 0, "" });
	take_steps(&s);
	for (int i = 0; i < 40; i++) {
		feed(&s, &(struct line){ 0, REFUSED, "", 0, -1, "" });
		const int64_t wait_ms = take_steps(&s);

		assert_in_range(wait_ms, base_ms, 2 * base_ms);
		base_ms = base_ms * 2 < REFLECTOR_BACKOFF_CAP_MS ? base_ms * 2 : REFLECTOR_BACKOFF_CAP_MS;
		sum_ms += i < 20 ? 0 : wait_ms;
		s.now += wait_ms;
		take_steps(&s);
	}
	assert_in_range(sum_ms / 20, 38000, 52000);	/* and spread over its range */
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 5];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(any_input_is_handled);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(events_are_sorted);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(one_old_object_is_enough);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(one_finds_out_for_all);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(backoff_curve);
	return cmocka_run_group_tests_name("reflector", tests, NULL, NULL);
}
