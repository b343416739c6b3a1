/*
 * actors/provider/client.c - provider calls over http.h: buckets, fence, token, metrics.
 *
 * Never: a token or the body of an answer in a log line or an error.
 */
#include "client.h"

#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "actor.h"
#include "clock.h"
#include "hop_log.h"
#include "kube/kubeconfig_bytes.h"
#include "kube/time.h"
#include "limit.h"
#include "log.h"
#include "meter.h"
#include "obj.h"
#include "reply.h"
#include "token.h"

/* CONNECTIONS: 1600 calls a minute of half a second each are 14 at a time. */
enum { HEADERS_MAX = 16, BUCKETS_MAX = 16, CONNECTIONS = 16 };

struct client_bucket {
	const char	*name;
	struct limit	 limit;
	uint32_t	 in_flight;
};

struct provider_call {
	TAILQ_ENTRY(provider_call)	 next;
	struct client			*client;
	const struct client_class	*class;
	struct client_bucket		*bucket;
	uint64_t			 id;	/* of http_send */
	char				 method[16];
	char				*key;
	uint64_t			 trace;
	uint64_t			 token_serial;
	bool				 intent_open;
	enum fence_reason		 fence;	/* what was found when it was about to be sent */
	bool			       (*on_data)(const void *, size_t, void *);
	void				*data_arg;
	void			       (*done)(const struct client_answer *, void *);
	void				*arg;
};

struct client {
	uint32_t		 magic;
#define CLIENT_MAGIC	0x434c4945u
	struct client_config	 config;	/* texts are ours */
	struct http		*http;
	struct token		*token;
	struct client_bucket	 buckets[BUCKETS_MAX];
	size_t			 nbuckets;
	TAILQ_HEAD(, provider_call) calls;
	uint32_t		 in_flight;
	char			 logged_error[TOKEN_ERROR_MAX];	/* the last one that was logged; "": none */
};

static void copy_texts(struct client *);
static void open_buckets(struct client *);
static struct client_bucket *bucket_of(struct client *, const struct client_class *);
static void put_headers(const struct client_call *, const char *, const char **);
static bool may_begin(void *);
static bool on_data(const void *, size_t, void *);
static struct fence_verdict fence(const struct client *, const struct client_class *, bool, int64_t);
static int64_t timeout_of(const struct client_class *);
static void on_done(const struct http_response *, void *);
static void follow_limits(struct provider_call *, const struct http_response *, int64_t);
static void add_hop(const struct provider_call *, int, enum call_outcome);
static void log_token_error(struct client *, const char *);
static void drop(struct provider_call *);

struct client *
client_new(const struct client_config *config, char *err, size_t size)
{
	struct client *c;

	MUST((config->lease != NULL || config->read_lease != NULL) && config->nclasses > 0);
	OBJ_NEW(c, CLIENT_MAGIC);
	TAILQ_INIT(&c->calls);
	c->config = *config;
	copy_texts(c);
	if (config->token_file != NULL) {
		c->token = token_open(config->token_file, clock_mono_ms(), err, size);
		if (c->token == NULL) {
			client_free(&c);
			return NULL;
		}
	}
	c->http = http_new(config->base,
	    &(struct http_config){ .user_agent = config->user_agent, .max_per_host = CONNECTIONS,
	    .caller_paces = true });
	open_buckets(c);
	return c;
}

void
client_free(struct client **cp)
{
	struct provider_call *next;
	struct client *c;

	if (*cp == NULL)
		return;
	OBJ_TAKE(c, cp, CLIENT_MAGIC);
	http_free(&c->http);
	for (struct provider_call *q = TAILQ_FIRST(&c->calls); q != NULL; q = next) {
		next = TAILQ_NEXT(q, next);
		drop(q);
	}
	token_free(&c->token);
	free((char *)(uintptr_t)c->config.provider);
	free((char *)(uintptr_t)c->config.url);
	free((char *)(uintptr_t)c->config.token_header);
	free((char *)(uintptr_t)c->config.ca_file);
	OBJ_FREE(c);
}

uint64_t
client_send(struct client *c, const struct client_call *call)
{
	struct provider_call *const q = obj_alloc(sizeof(*q));
	const char *headers[HEADERS_MAX + 1] = { NULL };
	const char *const token_header = c->config.token_header;
	struct token_view token = { .text = NULL };
	char *token_line = NULL, *url = NULL;

	OBJ_CHECK(c, CLIENT_MAGIC);
	MUST(call->class < c->config.nclasses && call->path[0] == '/' && call->done != NULL);
	q->client = c;
	q->class = &c->config.classes[call->class];
	q->bucket = bucket_of(c, q->class);
	q->key = obj_strdup(call->key != NULL ? call->key : "");
	q->trace = call->trace;
	q->intent_open = call->intent_open;
	q->on_data = call->on_data;
	q->data_arg = call->data_arg;
	q->done = call->done;
	q->arg = call->arg;
	snprintf(q->method, sizeof(q->method), "%s", call->method);
	if (c->token != NULL) {
		token = token_now(c->token, clock_mono_ms());
		log_token_error(c, token.error);
	}
	if (c->token != NULL && token_header != NULL)
		MUST(asprintf(&token_line, "%s: %s", token_header, token.text) != -1);
	q->token_serial = token.serial;
	put_headers(call, token_line, headers);
	MUST(asprintf(&url, "%s%s", c->config.url, call->path) != -1);
	const struct http_tls tls = { .ca_file = c->config.ca_file };
	TAILQ_INSERT_TAIL(&c->calls, q, next);
	c->in_flight++;
	q->bucket->in_flight++;
	q->id = http_send(c->http, &(struct http_request){
		.method = call->method, .url = url, .headers = headers,
		.body = call->body, .body_len = call->body_len,
		.bearer = token_header == NULL ? token.text : NULL, .bearer_len = token.len,
		.sigv4 = call->sigv4, .tls = &tls, .bucket = q->bucket->name,
		.timeout_ms = timeout_of(q->class), .max_body = REPLY_BYTES_MAX,
		.harmless = q->class->harmless, .secret = q->class->secret,
		.may_begin = may_begin, .on_data = call->on_data != NULL ? on_data : NULL,
		.done = on_done, .arg = q,
	});
	bytes_wipe_text(&token_line);
	free(url);
	return q->id;
}

void
client_cancel(struct client *c, uint64_t id)
{
	struct provider_call *q;

	OBJ_CHECK(c, CLIENT_MAGIC);
	TAILQ_FOREACH(q, &c->calls, next) {
		if (q->id == id) {
			http_cancel(c->http, id);
			drop(q);
			return;
		}
	}
}

struct fence_verdict
client_fence(const struct client *c, unsigned class, bool intent_open)
{
	OBJ_CHECK(c, CLIENT_MAGIC);
	MUST(class < c->config.nclasses);
	return fence(c, &c->config.classes[class], intent_open, clock_mono_ms());
}

uint32_t
client_in_flight(const struct client *c)
{
	OBJ_CHECK(c, CLIENT_MAGIC);
	return c->in_flight;
}

static void
copy_texts(struct client *c)
{
	struct client_config *const own = &c->config;

	own->provider = obj_strdup(own->provider);
	own->url = obj_strdup(own->url);
	own->token_header = own->token_header != NULL ? obj_strdup(own->token_header) : NULL;
	own->ca_file = own->ca_file != NULL ? obj_strdup(own->ca_file) : NULL;
	own->token_file = NULL;		/* token.c has it */
	own->user_agent = NULL;		/* http.c */
}

static void
open_buckets(struct client *c)
{
	for (size_t i = 0; i < c->config.nclasses; i++) {
		const struct client_class *const class = &c->config.classes[i];

		MUST(!(class->mutating && class->harmless));
		if (bucket_of(c, class) != NULL)
			continue;
		MUST(c->nbuckets < BUCKETS_MAX);
		struct client_bucket *const b = &c->buckets[c->nbuckets++];
		b->name = class->bucket != NULL ? class->bucket : class->name;
		limit_init(&b->limit);
		http_limit(c->http, b->name, class->per_second, class->burst >= 1 ? class->burst : 1);
	}
}

static struct client_bucket *
bucket_of(struct client *c, const struct client_class *class)
{
	const char *const name = class->bucket != NULL ? class->bucket : class->name;

	for (size_t i = 0; i < c->nbuckets; i++) {
		if (strcmp(c->buckets[i].name, name) == 0)
			return &c->buckets[i];
	}
	return NULL;
}

static void
put_headers(const struct client_call *call, const char *token_line, const char **headers)
{
	size_t n = 0;
	bool typed = false;

	headers[n++] = "Accept: application/json";
	if (token_line != NULL)
		headers[n++] = token_line;
	for (const char *const *h = call->headers; h != NULL && *h != NULL; h++) {
		MUST(n < HEADERS_MAX);
		typed = typed || strncasecmp(*h, "Content-Type:", 13) == 0;
		headers[n++] = *h;
	}
	MUST(n < HEADERS_MAX);
	if (call->body_len > 0 && !typed)
		headers[n] = "Content-Type: application/json";
}

static bool
may_begin(void *arg)
{
	struct provider_call *const q = arg;

	q->fence = fence(q->client, q->class, q->intent_open, clock_mono_ms()).reason;
	return q->fence == FENCE_OPEN;
}

static bool
on_data(const void *data, size_t len, void *arg)
{
	struct provider_call *const q = arg;

	return q->on_data(data, len, q->data_arg);
}

static struct fence_verdict
fence(const struct client *c, const struct client_class *class, bool intent_open, int64_t now_ms)
{
	const struct fence_call call = {
		.mutating = class->mutating, .idempotent = class->idempotent, .intent_open = intent_open,
		.timeout_ms = timeout_of(class),
	};

	const struct fence_lease *const lease = c->config.lease != NULL
	    ? c->config.lease : c->config.read_lease(c->config.read_lease_arg);
	return fence_check(lease, &call, c->config.started_ms, now_ms);
}

static int64_t
timeout_of(const struct client_class *class)
{
	if (class->timeout_ms != 0)
		return class->timeout_ms;
	return class->mutating ? FENCE_MUTATION_MS : HTTP_TIMEOUT_MS;
}

static void
on_done(const struct http_response *r, void *arg)
{
	struct provider_call *const q = arg;
	struct client *const c = q->client;
	const int64_t now_ms = clock_mono_ms();
	const bool fenced = !r->sent && q->fence != FENCE_OPEN;
	const struct client_answer answer = {
		.outcome = call_outcome(&(struct call_end){ .mutating = q->class->mutating, .sent = r->sent,
		    .whole = r->whole, .status = r->status }),
		.status = r->status, .body = r->body, .body_len = r->body_len,
		.error = fenced ? fence_text(q->fence) : r->error,
		.fence = fenced ? q->fence : FENCE_OPEN,
		.token_changed = r->whole && r->status == 401 && c->token != NULL
		    && token_refused(c->token, q->token_serial, now_ms),
		.retry_after_ms = r->retry_after_ms,
		.http = r,
	};

	if (fenced)
		meter_fenced(q->fence);
	else
		meter_call(c->config.provider, q->class->name, r->status,
		    (double)(r->duration_ms - r->waited_ms) / 1000);
	if (r->whole)
		follow_limits(q, r, now_ms);
	add_hop(q, r->status, answer.outcome);
	void (*const done)(const struct client_answer *, void *) = q->done;
	void *const whose = q->arg;
	drop(q);	/* `done` may send or cancel others */
	done(&answer, whose);
}

static void
follow_limits(struct provider_call *q, const struct http_response *r, int64_t now_ms)
{
	struct client *const c = q->client;
	const char *const date = http_header(r, "Date");
	int64_t date_us;

	if (date == NULL || !time_parse_http(date, strlen(date), &date_us))
		date_us = clock_wall_ms() * 1000;
	const struct limit_report report = {
		.status = r->status, .retry_after_ms = r->retry_after_ms,
		.limit = http_header(r, "X-RateLimit-Limit"),
		.remaining = http_header(r, "X-RateLimit-Remaining"),
		.reset = http_header(r, "X-RateLimit-Reset"), .date_ms = date_us / 1000,
	};
	const int64_t until_ms =
	    limit_answered(&q->bucket->limit, &report, q->bucket->in_flight - 1, now_ms);
	if (until_ms > 0)
		http_pause(c->http, q->bucket->name, until_ms);
	const int64_t budget = limit_budget(&q->bucket->limit, now_ms);
	for (size_t i = 0; i < c->config.nclasses && budget != LIMIT_UNKNOWN; i++) {
		if (bucket_of(c, &c->config.classes[i]) == q->bucket)
			meter_budget(c->config.provider, c->config.classes[i].name, budget);
	}
}

static void
add_hop(const struct provider_call *q, int status, enum call_outcome outcome)
{
	char text[HOP_TEXT + 1], code[16];

	if (q->client->config.actor == NULL)
		return;
	snprintf(code, sizeof(code), "%d", status);
	meter_hop(text, sizeof(text), q->client->config.provider, q->method, q->class->name,
	    status != 0 ? code : call_outcome_name(outcome));
	actor_hop(q->client->config.actor, q->key, q->trace, text);
}

static void
log_token_error(struct client *c, const char *text)
{
	if (strcmp(text, c->logged_error) == 0)
		return;
	snprintf(c->logged_error, sizeof(c->logged_error), "%s", text);
	if (text[0] != '\0')
		log_warnx("the provider's token cannot be renewed; the current one stays in use",
		    KV_S(HOST, c->config.url), KV_S(WHY, text), KV_S(HINT, "it is tried again"));
	else
		log_info("the provider's token is renewed again", KV_S(HOST, c->config.url));
}

static void
drop(struct provider_call *q)
{
	TAILQ_REMOVE(&q->client->calls, q, next);
	q->client->in_flight--;
	q->bucket->in_flight--;
	free(q->key);
	free(q);
}
