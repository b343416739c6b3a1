/*
 * actors/runtime/http.c - the states of a request: queued, waiting for its rate limit, in flight, done.
 *
 * http_send and http_cancel only move a request from one list to another; what touches curl or
 * calls a callback is done by the pump, an event of the loop. So both may be called from anywhere,
 * also from inside curl's own callbacks.
 */
#include "http_private.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"
#include "obj.h"
#include "stat.h"

static uint32_t users;		/* of curl's global state */

static void on_pump(evutil_socket_t, short, void *);
static void on_deadline(evutil_socket_t, short, void *);
static void give_up(struct http_call *);
static int64_t serve(struct http *, struct bucket *, int64_t);
static void start(struct http_call *, int64_t);
static void call_done(struct http_call *, enum err, const char *);
static struct http_response answer_of(const struct http_call *, int64_t);
static void count(const struct http_call *, int, int64_t);
static void move(struct http_call *, enum stand);
static struct requests *list_of(struct http_call *);
static struct http_call *find(const struct http *, uint64_t);
static void forget(struct http_call *);
static struct bucket *bucket_of(struct http *, const char *);
static struct timeval timeval_of(int64_t);

struct http *
http_new(struct event_base *base, const struct http_config *config)
{
	struct http *h;

	MUST(config->user_agent != NULL);
	if (users++ == 0)
		MUST(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
	OBJ_NEW(h, HTTP_MAGIC);
	h->base = base;
	h->config = *config;
	h->user_agent = obj_strdup(config->user_agent);
	if (h->config.max_per_host == 0)
		h->config.max_per_host = HTTP_MAX_PER_HOST;
	if (h->config.max_waiting == 0)
		h->config.max_waiting = HTTP_MAX_WAITING;
	TAILQ_INIT(&h->all);
	TAILQ_INIT(&h->buckets);
	TAILQ_INIT(&h->running);
	TAILQ_INIT(&h->failed);
	TAILQ_INIT(&h->cancelled);
	h->pump = evtimer_new(base, on_pump, h);
	MUST(h->pump != NULL);
	http_loop_open(h);
	return h;
}

void
http_free(struct http **hp)
{
	struct http *h;

	if (*hp == NULL)
		return;
	OBJ_TAKE(h, hp, HTTP_MAGIC);
	MUST(h->calling == 0);
	while (!TAILQ_EMPTY(&h->all))
		forget(TAILQ_FIRST(&h->all));
	while (!TAILQ_EMPTY(&h->buckets)) {
		struct bucket *const b = TAILQ_FIRST(&h->buckets);

		TAILQ_REMOVE(&h->buckets, b, link);
		free(b);
	}
	http_loop_close(h);
	event_free(h->pump);
	free(h->user_agent);
	OBJ_FREE(h);
	if (--users == 0)
		curl_global_cleanup();
}

uint64_t
http_send(struct http *h, const struct http_request *r)
{
	struct http_call *const q = obj_alloc(sizeof(*q));

	OBJ_CHECK(h, HTTP_MAGIC);
	q->http = h;
	q->fd = CURL_SOCKET_BAD;
	q->may_begin = r->may_begin;
	q->on_start = r->on_start;
	q->on_data = r->on_data;
	q->done = r->done;
	q->arg = r->arg;
	q->asked_ms = clock_mono_ms();
	q->timeout_ms = r->timeout_ms != 0 ? r->timeout_ms : HTTP_TIMEOUT_MS;
	q->id = ++h->ids;
	TAILQ_INSERT_TAIL(&h->all, q, in_all);
	if (http_prepare(q, r)) {
		q->bucket = bucket_of(h, r->bucket != NULL ? r->bucket : q->host);
		q->stand = WAITING;
		q->bucket->nwaiting++;
	} else {
		q->stand = FAILED;
		h->nfailed++;
	}
	TAILQ_INSERT_TAIL(list_of(q), q, link);
	if (q->timeout_ms > 0) {
		const struct timeval tv = timeval_of(q->timeout_ms);

		q->deadline = evtimer_new(h->base, on_deadline, q);
		MUST(q->deadline != NULL && evtimer_add(q->deadline, &tv) == 0);
	}
	event_active(h->pump, EV_TIMEOUT, 0);
	return q->id;
}

void
http_cancel(struct http *h, uint64_t id)
{
	OBJ_CHECK(h, HTTP_MAGIC);
	struct http_call *const q = find(h, id);

	if (q == NULL)
		return;
	if (q->stand != RUNNING) {
		forget(q);
		return;
	}
	/* We may be inside curl, even in this very transfer: the pump takes it away. */
	give_up(q);
	q->id = 0;
	if (q->deadline != NULL)
		event_del(q->deadline);
	move(q, CANCELLED);
	event_active(h->pump, EV_TIMEOUT, 0);
}

bool
http_left(const struct http *h, uint64_t id)
{
	OBJ_CHECK(h, HTTP_MAGIC);
	const struct http_call *const q = find(h, id);

	return q != NULL && q->sent;
}

void
http_limit(struct http *h, const char *bucket, double per_second, double burst)
{
	OBJ_CHECK(h, HTTP_MAGIC);
	rate_change(&bucket_of(h, bucket)->rate, per_second, burst, clock_mono_ms());
	event_active(h->pump, EV_TIMEOUT, 0);
}

void
http_pause(struct http *h, const char *bucket, int64_t until_ms)
{
	OBJ_CHECK(h, HTTP_MAGIC);
	rate_penalise(&bucket_of(h, bucket)->rate, until_ms);
}

const char *
http_header(const struct http_response *r, const char *name)
{
	struct curl_header *found;

	if (curl_easy_header(r->transfer, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK)
		return NULL;
	return found->value;
}

struct http_stats
http_stats(const struct http *h)
{
	struct http_stats s = { .running = h->nrunning };
	const struct bucket *b;

	OBJ_CHECK(h, HTTP_MAGIC);
	TAILQ_FOREACH(b, &h->buckets, link)
		s.waiting += b->nwaiting;
	return s;
}

void
http_ended(struct http_call *q, CURLcode code)
{
	const char *const error = q->curl_error[0] != '\0' ? q->curl_error : curl_easy_strerror(code);

	if (q->stand == CANCELLED)
		return;			/* the pump comes for it */
	/* curl takes a connection that closes among the headers for an answer without body. */
	if (q->verdict == E_OK && code == CURLE_OK && !q->headers_ended)
		call_done(q, E_NETWORK, "the connection was closed in the headers");
	else if (q->verdict == E_OK && code != CURLE_OK)
		call_done(q, http_err_of_curl(code, q->headers_ended), error);
	else
		call_done(q, q->verdict, q->cause);
}

/*
 * The timer of the deadline does not replace the comparison: after a stop or a suspend curl's sockets may be
 * served before it.
 */
bool
http_may_begin(struct http_call *q)
{
	if (q->timeout_ms > 0 && clock_mono_ms() - q->asked_ms >= q->timeout_ms)
		snprintf(q->cause, sizeof(q->cause), "not sent within %lld ms", (long long)q->timeout_ms);
	else if (q->may_begin != NULL && !q->may_begin(q->arg))
		snprintf(q->cause, sizeof(q->cause), "not sent: its caller withdrew it");
	else
		return true;
	q->verdict = E_TIMEOUT;
	return false;
}

static void
on_pump(evutil_socket_t fd, short events, void *arg)
{
	struct http *const h = arg;
	const int64_t now_ms = clock_mono_ms();
	int64_t wait_ms = INT64_MAX;
	struct bucket *b;

	(void)fd, (void)events;
	while (!TAILQ_EMPTY(&h->cancelled))
		forget(TAILQ_FIRST(&h->cancelled));
	TAILQ_FOREACH(b, &h->buckets, link) {
		const int64_t ms = serve(h, b, now_ms);

		wait_ms = ms < wait_ms ? ms : wait_ms;
	}
	if (wait_ms < INT64_MAX) {
		const struct timeval tv = timeval_of(wait_ms);

		MUST(evtimer_add(h->pump, &tv) == 0);
	}
	/* As many as there are now: a callback may send the next request that fails. */
	for (uint32_t n = h->nfailed; n > 0 && h->nfailed > 0; n--) {
		struct http_call *const q = TAILQ_FIRST(&h->failed);

		call_done(q, q->verdict, q->cause);
	}
}

static void
on_deadline(evutil_socket_t fd, short events, void *arg)
{
	struct http_call *const q = arg;
	char cause[128];

	(void)fd, (void)events;
	if (q->stand == WAITING)
		snprintf(cause, sizeof(cause), "still waiting for its turn after %lld ms",
		    (long long)q->timeout_ms);
	else
		snprintf(cause, sizeof(cause), "no answer within %lld ms", (long long)q->timeout_ms);
	give_up(q);
	call_done(q, E_TIMEOUT, cause);
}

/*
 * What the kernel still holds of a mutation is discarded with its connection. Otherwise it would be sent
 * again and again for a minute, and could have its effect long after the lease under which it began.
 */
static void
give_up(struct http_call *q)
{
	static const struct linger discard = { .l_onoff = 1, .l_linger = 0 };

	if (q->sent && !q->harmless && q->fd != CURL_SOCKET_BAD)
		setsockopt(q->fd, SOL_SOCKET, SO_LINGER, &discard, sizeof(discard));
}

/* Starts what may start. Returns ms until the next may; INT64_MAX when none waits. */
static int64_t
serve(struct http *h, struct bucket *b, int64_t now_ms)
{
	int64_t wait_ms = 0;

	while (b->nwaiting > 0) {
		struct http_call *const q = TAILQ_FIRST(&b->waiting);

		if (!http_may_begin(q)) {
			move(q, FAILED);
			continue;
		}
		wait_ms = rate_take(&b->rate, now_ms);
		if (wait_ms > 0)
			break;
		start(q, now_ms);
	}
	/* The newest are sent away: they can come back, and those before them have waited. */
	while (b->nwaiting > h->config.max_waiting) {
		struct http_call *const q = TAILQ_LAST(&b->waiting, requests);

		q->verdict = E_LIMITED;
		snprintf(q->cause, sizeof(q->cause), "%u requests are waiting already",
		    h->config.max_waiting);
		move(q, FAILED);
	}
	return b->nwaiting > 0 ? wait_ms : INT64_MAX;
}

static void
start(struct http_call *q, int64_t now_ms)
{
	q->started_ms = now_ms;
	move(q, RUNNING);
	MUST(curl_multi_add_handle(q->http->multi, q->easy) == CURLM_OK);
}

/* The end of every request that was not cancelled. */
static void
call_done(struct http_call *q, enum err err, const char *cause)
{
	struct http *const h = q->http;
	const int64_t now_ms = clock_mono_ms();
	struct http_response r = answer_of(q, now_ms);
	char error[512];

	r.whole = err == E_OK;
	if (r.whole) {
		r.err = http_err_of_status(r.status);
		snprintf(error, sizeof(error), "%s: status %d", q->where, r.status);
		r.retry_after_ms = http_retry_after_ms(http_header(&r, "Retry-After"),
		    http_header(&r, "Date"), clock_wall_ms());
		if (q->answer != NULL) {
			r.body = q->answer;
			r.body_len = q->answer_len;
		}
	} else {
		r.err = q->sent && !q->harmless ? E_UNKNOWN : err;
		snprintf(error, sizeof(error), "%s: %s", q->where, cause);
	}
	if (r.err != E_OK)
		r.error = error;
	if ((r.status == 429 || r.status == 503) && r.retry_after_ms > 0 && !q->http->config.caller_paces)
		rate_penalise(&q->bucket->rate, now_ms + r.retry_after_ms);
	if (q->stand == RUNNING)
		count(q, r.status, now_ms - q->started_ms);

	q->id = 0;
	h->calling++;
	q->done(&r, q->arg);
	h->calling--;
	forget(q);
}

/* The response as far as it came, whatever the result. */
static struct http_response
answer_of(const struct http_call *q, int64_t now_ms)
{
	long status = 0;
	const char *type = NULL;

	curl_easy_getinfo(q->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(q->easy, CURLINFO_CONTENT_TYPE, &type);
	return (struct http_response){
		.status = (int)status,
		.body = "",
		.content_type = type != NULL ? type : "",
		.error = "",
		.host = q->host,
		.duration_ms = now_ms - q->asked_ms,
		.answered_ms = q->answered_ms,
		.waited_ms = (q->started_ms != 0 ? q->started_ms : now_ms) - q->asked_ms,
		.sent = q->sent,
		.transfer = q->easy,
	};
}

static void
count(const struct http_call *q, int status, int64_t took_ms)
{
	char code[16], labels[512] = "", timed[512] = "";

	if (status != 0)
		snprintf(code, sizeof(code), "%d", status);
	else
		snprintf(code, sizeof(code), "<error>");	/* client-go's label for "no answer" */
	if (stat_label(labels, sizeof(labels), "code", code)
	    && stat_label(labels, sizeof(labels), "method", q->method)
	    && stat_label(labels, sizeof(labels), "host", q->host))
		stat_add(stat_get(STAT_HTTP_REQUESTS, labels), 1);
	if (stat_label(timed, sizeof(timed), "verb", q->method)
	    && stat_label(timed, sizeof(timed), "host", q->host))
		stat_observe(stat_get(STAT_HTTP_DURATION, timed), (double)took_ms / 1000);
}

static struct requests *
list_of(struct http_call *q)
{
	switch (q->stand) {
	case WAITING:
		return &q->bucket->waiting;
	case RUNNING:
		return &q->http->running;
	case FAILED:
		return &q->http->failed;
	default:
		return &q->http->cancelled;
	}
}

static void
move(struct http_call *q, enum stand to)
{
	TAILQ_REMOVE(list_of(q), q, link);
	q->bucket->nwaiting -= q->stand == WAITING;
	q->http->nrunning += (to == RUNNING) - (q->stand == RUNNING);
	q->http->nfailed += to == FAILED;
	q->stand = to;
	TAILQ_INSERT_TAIL(list_of(q), q, link);
}

static struct http_call *
find(const struct http *h, uint64_t id)
{
	struct http_call *q;

	TAILQ_FOREACH(q, &h->all, in_all) {
		if (id != 0 && q->id == id)
			return q;
	}
	return NULL;
}

static void
forget(struct http_call *q)
{
	struct http *const h = q->http;

	TAILQ_REMOVE(list_of(q), q, link);
	TAILQ_REMOVE(&h->all, q, in_all);
	if (q->stand == WAITING)
		q->bucket->nwaiting--;
	h->nrunning -= q->stand == RUNNING;
	h->nfailed -= q->stand == FAILED;
	if (q->stand == RUNNING || q->stand == CANCELLED)
		MUST(curl_multi_remove_handle(h->multi, q->easy) == CURLM_OK);
	http_dispose(q);
}

/* Buckets stay: there are as many as the configuration names hosts. */
static struct bucket *
bucket_of(struct http *h, const char *name)
{
	struct bucket *b;

	TAILQ_FOREACH(b, &h->buckets, link) {
		if (strcmp(b->name, name) == 0)
			return b;
	}
	b = obj_alloc(sizeof(*b) + strlen(name) + 1);
	memcpy(b->name, name, strlen(name));
	b->rate = rate_new(0, 1, 0);
	TAILQ_INIT(&b->waiting);
	TAILQ_INSERT_TAIL(&h->buckets, b, link);
	return b;
}

static struct timeval
timeval_of(int64_t ms)
{
	return (struct timeval){ .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
}
