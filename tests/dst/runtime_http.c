/* tests/dst/runtime_http.c - what stands below http.c: requests to a modelled server, and its answers. */
#include "runtime_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_private.h"
#include "obj.h"
#include "provider/client.h"
#include "runtime.h"

#undef curl_easy_getinfo

enum { QUICK_MS = 40, SLOW_MS = 6000, LATEST_MS = 2000, PIECE_MAX = 400 };

uint64_t __real_client_send(struct client *c, const struct client_call *call);
uint64_t __wrap_client_send(struct client *c, const struct client_call *call);

/* The key of the call that is being sent: http.h does not have it. */
static const char *sending = "";

static char *join(const char *const *);
static runtime_fn connected, answered;
static sim_fn arrive;
static struct http_exchange *find(struct http_server *, uint64_t);
static void release(struct http_exchange *);
static void dispose(struct http_exchange *);
static char *signature_of(const struct http_request *);
static void answer_later(struct http_exchange *);
static CURLcode hand_over(struct http_call *, const struct http_exchange *, struct sim *);
static int64_t delay(struct sim *, uint64_t);

void
http_server_free(struct http_server *s)
{
	struct http_exchange *x;

	while ((x = TAILQ_FIRST(&s->exchanges)) != NULL) {
		TAILQ_REMOVE(&s->exchanges, x, next);
		dispose(x);
	}
}

bool
http_server_busy(const struct http_server *s)
{
	const struct http_exchange *x;

	TAILQ_FOREACH(x, &s->exchanges, next) {
		if (x->travels || x->call != NULL)
			return true;
	}
	return false;
}

/* ---- http_easy.c and http_loop.c ---- */

void
http_loop_open(struct http *h)
{
	(void)h;
}

void
http_loop_close(struct http *h)
{
	(void)h;
}

bool
http_prepare(struct http_call *q, const struct http_request *r)
{
	struct runtime_actor *const from = runtime_loop_owner(q->http->base);
	struct http_server *const s = &from->runtime->http;
	struct http_exchange *const x = obj_alloc(sizeof(*x));
	const char *const host = strstr(r->url, "://") + 3;
	const size_t host_len = strcspn(host, "/");

	x->id = ++s->ids;
	x->call = q;
	x->from = from;
	x->incarnation = from->incarnation;
	snprintf(x->method, sizeof(x->method), "%s", r->method);
	x->host = obj_strndup(host, host_len);
	x->path = obj_strdup(host + host_len);
	x->signature = r->sigv4 != NULL ? signature_of(r) : NULL;
	x->body = obj_alloc(r->body_len + 1);
	if (r->body_len > 0)
		memcpy(x->body, r->body, r->body_len);
	x->headers = join(r->headers);
	snprintf(x->about, sizeof(x->about), "%s", sending);
	TAILQ_INSERT_TAIL(&s->exchanges, x, next);
	q->easy = x;
	snprintf(q->method, sizeof(q->method), "%s", r->method);
	q->harmless = x->harmless = r->harmless || strcmp(r->method, "GET") == 0;
	MUST(asprintf(&q->host, "%.*s", (int)host_len, host) != -1);
	MUST(asprintf(&q->where, "%s %.200s", r->method, r->url) != -1);
	return true;
}

static char *
signature_of(const struct http_request *r)
{
	char *const headers = join(r->headers), *all = NULL;

	MUST(asprintf(&all, "%s\n%s\n%s\n%s", r->sigv4->scope, r->sigv4->access_key, r->sigv4->secret_key,
	    headers) != -1);
	free(headers);
	return all;
}

static char *
join(const char *const *headers)
{
	size_t len = 1;

	for (size_t i = 0; headers != NULL && headers[i] != NULL; i++)
		len += strlen(headers[i]) + 1;
	char *const all = obj_alloc(len);
	for (size_t i = 0, at = 0; headers != NULL && headers[i] != NULL; i++)
		at += (size_t)snprintf(all + at, len - at, "%s\n", headers[i]);
	return all;
}

uint64_t
__wrap_client_send(struct client *c, const struct client_call *call)
{
	sending = call->key != NULL ? call->key : "";
	const uint64_t id = __real_client_send(c, call);
	sending = "";
	return id;
}

void
http_dispose(struct http_call *q)
{
	struct http_exchange *const x = q->easy;

	x->call = NULL;
	x->ended_ms = x->from->runtime->sim->now_ms;
	release(x);
	if (q->deadline != NULL)
		event_free(q->deadline);
	free(q->answer);
	free(q->host);
	free(q->where);
	free(q);
}

/* ---- libcurl, as far as http.c calls it ---- */

CURLcode
curl_global_init(long flags)
{
	(void)flags;
	return CURLE_OK;
}

void
curl_global_cleanup(void)
{
}

CURLMcode
curl_multi_add_handle(CURLM *multi_handle, CURL *curl_handle)
{
	struct http_exchange *const x = curl_handle;
	struct sim *const sim = x->from->runtime->sim;

	(void)multi_handle;
	runtime_effect(x->from, EFFECT_REQUESTED);
	runtime_at(x->from, sim->now_ms + delay(sim, QUICK_MS), connected, x->id);
	return CURLM_OK;
}

CURLMcode
curl_multi_remove_handle(CURLM *multi_handle, CURL *curl_handle)
{
	(void)multi_handle, (void)curl_handle;
	return CURLM_OK;
}

CURLcode
curl_easy_getinfo(CURL *curl, CURLINFO info, ...)
{
	const struct http_exchange *const x = curl;
	va_list ap;

	va_start(ap, info);
	if (info == CURLINFO_RESPONSE_CODE)
		*va_arg(ap, long *) = x->status;
	else
		*va_arg(ap, const char **) = "application/json";
	va_end(ap);
	return CURLE_OK;
}

CURLHcode
curl_easy_header(CURL *easy, const char *name, size_t index, unsigned int origin, int request,
    struct curl_header **out)
{
	static struct curl_header header;
	struct http_exchange *const x = easy;

	(void)index, (void)origin, (void)request;
	char *const value = strcmp(name, "Retry-After") == 0 ? x->retry_after
	    : strcmp(name, "Date") == 0 ? x->date : NULL;
	if (value == NULL || value[0] == '\0')
		return CURLHE_MISSING;
	header = (struct curl_header){ .value = value };
	*out = &header;
	return CURLHE_OK;
}

const char *
curl_easy_strerror(CURLcode code)
{
	return code == CURLE_COULDNT_CONNECT ? "no connection" : "aborted";
}

/* ---- The way there and back ---- */

static void
connected(struct actor *a, void *self, uint64_t id)
{
	struct runtime_actor *const from = runtime_actor_of(a);
	struct runtime *const r = from->runtime;
	struct http_exchange *const x = find(&r->http, id);
	const struct http_faults *const f = &r->http.faults;

	(void)self;
	if (x == NULL || x->call == NULL || x->call->stand != RUNNING)
		return;		/* cancelled, or its deadline has passed */
	if (sim_chance(r->sim, f->refused)) {
		http_ended(x->call, CURLE_COULDNT_CONNECT);
		return;
	}
	if (!http_may_begin(x->call)) {
		http_ended(x->call, CURLE_ABORTED_BY_CALLBACK);
		return;
	}
	r->http.leaves(r, x);
	x->call->sent = true;
	x->travels = true;
	x->lost = sim_chance(r->sim, f->lost);
	x->spoiled = sim_chance(r->sim, f->cut + f->failed);
	x->breaks = sim_chance(r->sim, f->broken);
	const uint64_t max_ms = sim_chance(r->sim, f->late) ? (uint64_t)f->late_ms
	    : sim_chance(r->sim, f->slow) ? SLOW_MS : QUICK_MS;
	/* Often as late as may be. */
	const bool latest = max_ms > LATEST_MS && sim_chance(r->sim, 500);
	const int64_t min_ms = latest ? (int64_t)max_ms - LATEST_MS : 0;
	SIM_TRACE(r->sim, "%s sends %s %s", from->name, x->method, x->path);
	sim_at(r->sim, r->sim->now_ms + min_ms + delay(r->sim, max_ms - (uint64_t)min_ms), arrive, r, id);
	runtime_effect(from, EFFECT_SENT);
}

static void
arrive(struct sim *sim, void *arg, uint64_t id)
{
	struct runtime *const r = arg;
	struct http_exchange *const x = find(&r->http, id);
	const struct http_faults *const f = &r->http.faults;

	if (sim_chance(sim, f->rejected)) {
		x->status = 503;
	} else if (sim_chance(sim, f->limited)) {
		x->status = 429;
		snprintf(x->retry_after, sizeof(x->retry_after), "2");
	} else {
		r->http.serve(r, x);
		SIM_TRACE(sim, "provider: %s %s of %s: %d", x->method, x->path, x->from->name, x->status);
	}
	x->travels = false;
	if (x->spoiled && sim_random(sim, (uint64_t)f->cut + f->failed + 1) >= f->cut)
		x->status = 502;
	else if (x->spoiled && x->answer != NULL)
		x->answer[strlen(x->answer) / 2] = '\0';
	answer_later(x);
}

/* To the process that sent it, if that one is still there. */
static void
answer_later(struct http_exchange *x)
{
	struct sim *const sim = x->from->runtime->sim;

	if (x->call == NULL)
		release(x);
	else if (!x->lost)
		runtime_at(x->from, sim->now_ms + delay(sim, QUICK_MS), answered, x->id);
}

static void
answered(struct actor *a, void *self, uint64_t id)
{
	struct runtime_actor *const from = runtime_actor_of(a);
	struct http_exchange *const x = find(&from->runtime->http, id);

	(void)self;
	if (x == NULL || x->call == NULL || x->call->stand != RUNNING)
		return;
	struct http_call *const q = x->call;
	if (from->runtime->http.delivered != NULL)
		from->runtime->http.delivered(from->runtime, x);
	const CURLcode code = hand_over(q, x, from->runtime->sim);
	q->headers_ended = true;
	runtime_effect(from, EFFECT_ANSWERED);
	http_ended(q, code);
}

/* As http_easy.c has it: the body of a success goes to on_data, piece by piece, any other is collected. */
static CURLcode
hand_over(struct http_call *q, const struct http_exchange *x, struct sim *sim)
{
	const char *const body = x->answer != NULL ? x->answer : "";
	const size_t whole = strlen(body), len = x->breaks ? whole / 2 : whole;

	if (q->on_data == NULL || x->status < 200 || x->status > 299) {
		q->answer = obj_strndup(body, len);
		q->answer_len = len;
		return x->breaks ? CURLE_PARTIAL_FILE : CURLE_OK;
	}
	for (size_t at = 0, n; at < len; at += n) {
		n = 1 + (size_t)sim_random(sim, PIECE_MAX);
		n = n < len - at ? n : len - at;
		if (!q->on_data(body + at, n, q->arg)) {
			q->verdict = E_MALFORMED;
			snprintf(q->cause, sizeof(q->cause), "the reader refused the data");
			return CURLE_WRITE_ERROR;
		}
	}
	return x->breaks ? CURLE_PARTIAL_FILE : CURLE_OK;
}

static struct http_exchange *
find(struct http_server *s, uint64_t id)
{
	struct http_exchange *x;

	TAILQ_FOREACH(x, &s->exchanges, next) {
		if (x->id == id)
			return x;
	}
	return NULL;
}

/* Frees it when neither its sender nor the network needs it any more. */
static void
release(struct http_exchange *x)
{
	if (x->call != NULL || x->travels)
		return;
	TAILQ_REMOVE(&x->from->runtime->http.exchanges, x, next);
	dispose(x);
}

static void
dispose(struct http_exchange *x)
{
	free(x->host);
	free(x->path);
	free(x->body);
	free(x->signature);
	free(x->headers);
	free(x->answer);
	free(x);
}

static int64_t
delay(struct sim *sim, uint64_t max_ms)
{
	return (int64_t)sim_random(sim, max_ms + 1);
}
