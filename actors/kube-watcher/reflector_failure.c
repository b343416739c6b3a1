/* actors/kube-watcher/reflector_failure.c - what a failure means: a table of requests and reasons. Pure. */
#include <string.h>

#include "obj.h"
#include "random.h"
#include "reflector_private.h"

typedef void react_fn(struct reflector *, int64_t, int64_t);
static react_fn retry, retry_watch, retry_stream, relist, list_fresh, list_whole, kind_forbidden,
    kind_absent,
    watchlist_unsupported, try_plain_list;

static react_fn *reaction(const struct reflector *, enum reflector_reason);
static bool is_first_failure(const struct reflector *, int64_t);

static const struct {
	int			status;
	enum reflector_reason	reason;
} statuses[] = {
	{ 400, BECAUSE_REJECTED }, { 403, BECAUSE_FORBIDDEN }, { 404, BECAUSE_ABSENT },
	{ 405, BECAUSE_REJECTED }, { 410, BECAUSE_EXPIRED }, { 422, BECAUSE_REJECTED },
	{ 429, BECAUSE_LIMITED },
};

/* An empty cell: the same request again, after the backoff. */
static react_fn *const reactions[OPEN_MAX][BECAUSE_MAX] = {
	[OPEN_WATCHLIST] = {
		[BECAUSE_BROKEN] = retry_stream, [BECAUSE_SERVER] = retry_stream,
		[BECAUSE_DEADLINE] = retry_stream,
		[BECAUSE_REJECTED] = watchlist_unsupported, [BECAUSE_UNSUPPORTED] = watchlist_unsupported,
		[BECAUSE_EXPIRED] = list_fresh, [BECAUSE_TOO_LARGE] = list_fresh,
		[BECAUSE_FORBIDDEN] = try_plain_list, [BECAUSE_ABSENT] = kind_absent,
	},
	[OPEN_LIST] = {
		[BECAUSE_EXPIRED] = list_fresh, [BECAUSE_TOO_LARGE] = list_fresh,
		[BECAUSE_FORBIDDEN] = kind_forbidden, [BECAUSE_ABSENT] = kind_absent,
	},
	[OPEN_WATCH] = {
		[BECAUSE_BROKEN] = retry_watch, [BECAUSE_SERVER] = retry_watch,
		[BECAUSE_SHORT] = retry_watch, [BECAUSE_REJECTED] = retry_watch,
		[BECAUSE_TOO_LARGE] = retry_watch, [BECAUSE_EXPIRED] = relist,
		[BECAUSE_DISORDER] = relist, [BECAUSE_FORBIDDEN] = kind_forbidden,
		[BECAUSE_ABSENT] = kind_absent,
	},
};
/* For a later page: the server rejects its continue token. */
static react_fn *const page_reactions[BECAUSE_MAX] = {
	[BECAUSE_EXPIRED] = list_whole, [BECAUSE_REJECTED] = list_whole,
};

enum reflector_reason
reflector_classify(const struct reflector *r, const struct reflector_failure *f)
{
	if (f->status == 0)
		return f->refused ? BECAUSE_REFUSED : BECAUSE_BROKEN;
	if (f->too_large)
		return BECAUSE_TOO_LARGE;
	if (strcmp(f->reason, "Expired") == 0 || strcmp(f->reason, "Gone") == 0)
		return BECAUSE_EXPIRED;
	/* Seen: apiserver 1.35 on etcd 3.4, "storage feature RequestWatchProgress is disabled". */
	if (f->in_stream && r->initial && strcmp(f->reason, "InternalError") == 0)
		return BECAUSE_UNSUPPORTED;
	for (size_t i = 0; i < NITEMS(statuses); i++) {
		if (statuses[i].status == f->status)
			return statuses[i].reason;
	}
	return BECAUSE_SERVER;
}

void
reflector_react(struct reflector *r, enum reflector_reason why, bool stop, int64_t retry_after_ms,
    int64_t now_ms)
{
	react_fn *const react = reaction(r, why);

	reflector_forget_past(r, now_ms);
	reflector_close(r, stop);
	r->why = why;
	react(r, retry_after_ms, now_ms);
}

void
reflector_close(struct reflector *r, bool stop)
{
	r->open = OPEN_NOTHING;
	r->stop_due = stop;
	r->initial = false;
}

void
reflector_forget_past(struct reflector *r, int64_t now_ms)
{
	if (r->open == OPEN_WATCH && r->accepted && now_ms - r->asked_ms >= REFLECTOR_STOOD_MS)
		r->failures = 0;
}

void
reflector_list_anew(struct reflector *r)
{
	r->drop_due |= r->replacing;
	r->replacing = false;
}

void
reflector_back_off(struct reflector *r, int64_t retry_after_ms, int64_t now_ms)
{
	if (is_first_failure(r, now_ms))
		r->failures = 0;
	int64_t delay_ms = REFLECTOR_BACKOFF_MS;
	for (uint32_t i = 0; i < r->failures && delay_ms < REFLECTOR_BACKOFF_CAP_MS; i++)
		delay_ms *= 2;
	if (delay_ms > REFLECTOR_BACKOFF_CAP_MS)
		delay_ms = REFLECTOR_BACKOFF_CAP_MS;
	delay_ms += (int64_t)random_below(&r->random, (uint64_t)delay_ms);
	if (retry_after_ms > REFLECTOR_RETRY_MAX_MS)
		retry_after_ms = REFLECTOR_RETRY_MAX_MS;
	if (delay_ms < retry_after_ms)
		delay_ms = retry_after_ms;
	r->failures++;
	r->failed_ms = now_ms;
	r->rest_ms = now_ms + delay_ms;
}

void
reflector_rest_long(struct reflector *r, int64_t now_ms)
{
	r->rest_ms = now_ms + REFLECTOR_SLOW_MS + (int64_t)random_below(&r->random, REFLECTOR_SLOW_MS);
}

static react_fn *
reaction(const struct reflector *r, enum reflector_reason why)
{
	if (r->open == OPEN_LIST && r->cont[0] != '\0' && page_reactions[why] != NULL)
		return page_reactions[why];
	return reactions[r->open][why] != NULL ? reactions[r->open][why] : retry;
}

/* ---- The reactions ---- */

/* The same request again. A later page is of the same snapshot; the first page begins another one. */
static void
retry(struct reflector *r, int64_t retry_after_ms, int64_t now_ms)
{
	if (r->want == WANT_LIST && r->cont[0] == '\0')
		reflector_list_anew(r);
	reflector_back_off(r, retry_after_ms, now_ms);
}

/* A watch that keeps failing for an unknown reason: a list may succeed. */
static void
retry_watch(struct reflector *r, int64_t retry_after_ms, int64_t now_ms)
{
	if (++r->broken >= REFLECTOR_TRIES) {
		r->broken = 0;
		r->want = WANT_LIST;
	}
	reflector_back_off(r, retry_after_ms, now_ms);
}

/* The same for a watch-list: a plain LIST, once. */
static void
retry_stream(struct reflector *r, int64_t retry_after_ms, int64_t now_ms)
{
	reflector_list_anew(r);
	if (++r->broken >= REFLECTOR_TRIES) {
		r->broken = 0;
		r->plain = true;
	}
	reflector_back_off(r, retry_after_ms, now_ms);
}

/* At once the first time, then with backoff: the server may expire every version. */
static void
relist(struct reflector *r, int64_t retry_after_ms, int64_t now_ms)
{
	const bool at_once = retry_after_ms < 0 && is_first_failure(r, now_ms);

	r->want = WANT_LIST;
	reflector_back_off(r, retry_after_ms, now_ms);
	if (at_once)
		r->rest_ms = now_ms;
}

/* "NotOlderThan" is not possible: the most recent state then, whatever it is. */
static void
list_fresh(struct reflector *r, int64_t retry_after_ms, int64_t now_ms)
{
	reflector_list_anew(r);
	r->fresh = true;
	reflector_back_off(r, retry_after_ms, now_ms);
}

static void
list_whole(struct reflector *r, int64_t retry_after_ms, int64_t now_ms)
{
	reflector_list_anew(r);
	r->unpaged = true;
	reflector_back_off(r, retry_after_ms, now_ms);
}

static void
kind_forbidden(struct reflector *r, int64_t retry_after_ms, int64_t now_ms)
{
	(void)retry_after_ms;
	reflector_list_anew(r);
	r->plain = r->watchlist_forbidden = false;
	r->state = KIND_STATE_FORBIDDEN;
	reflector_rest_long(r, now_ms);
}

/* Discovery finds out whether the kind is gone or has moved to another version. */
static void
kind_absent(struct reflector *r, int64_t retry_after_ms, int64_t now_ms)
{
	reflector_list_anew(r);
	r->want = WANT_DISCOVERY;
	r->state = KIND_STATE_ABSENT;
	reflector_back_off(r, retry_after_ms, now_ms);
}

static void
watchlist_unsupported(struct reflector *r, int64_t retry_after_ms, int64_t now_ms)
{
	(void)retry_after_ms;
	reflector_list_anew(r);
	r->why = BECAUSE_UNSUPPORTED;
	r->server->no_watchlist = true;
	r->rest_ms = now_ms;
}

/* Is it RBAC, or the parameters? A plain LIST shows it. */
static void
try_plain_list(struct reflector *r, int64_t retry_after_ms, int64_t now_ms)
{
	(void)retry_after_ms;
	reflector_list_anew(r);
	r->plain = r->watchlist_forbidden = true;
	r->rest_ms = now_ms;
}

static bool
is_first_failure(const struct reflector *r, int64_t now_ms)
{
	return r->failures == 0 || now_ms - r->failed_ms >= REFLECTOR_RESET_MS;
}
