/* sim/http/sim_request.c - a request's parameters, and the ways to answer it. */
#include "sim_request.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "obj.h"
#include "server/deferred.h"
#include "sim/base/sim_buf.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim_audit.h"
#include "sim_server.h"

#define REQUEST_MAGIC	0x43414c4cu

struct bandwidth {
	size_t				 bytes;
	struct ev_token_bucket_cfg	*cfg;
};

static void read_params(struct sim_request *);
static const char *method_name(enum evhttp_cmd_type);
static void hold(struct sim_request *, int, const char *, struct evbuffer *);
static void let_go(struct sim_request *);
static void add_headers(struct sim_request *, const char *);
static struct ev_token_bucket_cfg *rate_of(size_t);
static void on_later(evutil_socket_t, short, void *);
static void on_gone(void *);

struct sim_request *
sim_request_new(struct simulator *s, struct evhttp_request *req)
{
	const struct evhttp_uri *const uri = evhttp_request_get_evhttp_uri(req);
	struct sim_request *c;

	OBJ_NEW(c, REQUEST_MAGIC);
	c->sim = s;
	c->http = req;
	c->method = evhttp_request_get_command(req);
	c->path = uri != NULL && evhttp_uri_get_path(uri) != NULL ? evhttp_uri_get_path(uri) : "/";
	c->query = uri != NULL && evhttp_uri_get_query(uri) != NULL ? evhttp_uri_get_query(uri) : "";
	c->verb_name = method_name(c->method);
	c->user_agent = sim_request_header(c, "User-Agent");
	TAILQ_INIT(&c->params);
	read_params(c);
	return c;
}

void
sim_request_close(struct sim_request **cp)
{
	struct sim_request *c;

	if (*cp == NULL)
		return;
	OBJ_TAKE(c, cp, REQUEST_MAGIC);
	evhttp_clear_headers(&c->params);
	if (c->delay != NULL)
		event_free(c->delay);
	if (c->held != NULL)
		evbuffer_free(c->held);
	OBJ_FREE(c);
}

const char *
sim_request_param(const struct sim_request *c, const char *name)
{
	return evhttp_find_header(&c->params, name);
}

const char *
sim_request_text(const struct sim_request *c, const char *name)
{
	const char *const value = sim_request_param(c, name);

	return value != NULL ? value : "";
}

bool
sim_request_flag(const struct sim_request *c, const char *name)
{
	const char *const value = sim_request_param(c, name);

	return value != NULL && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

const char *
sim_request_header(const struct sim_request *c, const char *name)
{
	const char *const value = evhttp_find_header(evhttp_request_get_input_headers(c->http), name);

	return value != NULL ? value : "";
}

const char *
sim_request_body(const struct sim_request *c, size_t *len)
{
	struct evbuffer *const in = evhttp_request_get_input_buffer(c->http);

	*len = evbuffer_get_length(in);
	return *len > 0 ? (const char *)evbuffer_pullup(in, -1) : "";
}

void
sim_request_add_header(struct sim_request *c, const char *name, const char *value)
{
	evhttp_add_header(evhttp_request_get_output_headers(c->http), name, value);
}

void
sim_request_throttle(struct sim_request *c, size_t bytes_per_second)
{
	struct evhttp_connection *const connection = evhttp_request_get_connection(c->http);

	if (connection != NULL)
		bufferevent_set_rate_limit(
		    evhttp_connection_get_bufferevent(connection), rate_of(bytes_per_second));
}

void
sim_request_delay(struct sim_request *c, int64_t ms, sim_request_handler *fn)
{
	c->then = fn;
	c->delay = evtimer_new(c->sim->base, on_later, c);
	MUST(c->delay != NULL);
	const struct timeval wait = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
	evtimer_add(c->delay, &wait);
	c->deferred = deferred_new(c->http, on_gone, c);
}

void
sim_request_reply(struct sim_request *c, int code, const char *type, struct evbuffer *out)
{
	if (c->plan.of[FAULT_LOST] != NULL && code < 300) {
		evbuffer_free(out);
		sim_request_drop(c);
		return;
	}
	if (c->plan.of[FAULT_LATE_ANSWER] != NULL) {
		hold(c, code, type, out);
		return;
	}
	sim_audit_end(c->sim->audit, c->audit_row, code, c->rv);
	add_headers(c, type);
	evhttp_send_reply(c->http, code, sim_server_phrase(code), out);
	evbuffer_free(out);
	sim_request_close(&c);
}

void
sim_request_reply_json(struct sim_request *c, int code, json_t *body)
{
	sim_request_reply_json_as(c, code, "application/json", body);
}

void
sim_request_reply_json_as(struct sim_request *c, int code, const char *type, json_t *body)
{
	struct evbuffer *const out = evbuffer_new();

	sim_buf_json_into(out, body);
	evbuffer_add(out, "\n", 1);
	json_decref(body);
	sim_request_reply(c, code, type, out);
}

void
sim_request_reply_status(struct sim_request *c, json_t *status)
{
	const int code = (int)json_integer_value(json_object_get(status, "code"));
	const json_t *const retry = json_object_get(json_object_get(status, "details"), "retryAfterSeconds");
	char seconds[24];

	if (json_is_integer(retry) && (code == 429 || code >= 500)) {
		snprintf(seconds, sizeof(seconds), "%" JSON_INTEGER_FORMAT, json_integer_value(retry));
		sim_request_add_header(c, "Retry-After", seconds);
	}
	sim_request_reply_json(c, code != 0 ? code : 200, status);
}

void
sim_request_fail(struct sim_request *c, int code, const char *reason, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sim_request_reply_status(c, sim_semantics_failure(code, reason, "%s", text));
}

void
sim_request_reply_text(struct sim_request *c, int code, const char *text)
{
	struct evbuffer *const out = evbuffer_new();

	evbuffer_add(out, text, strlen(text));
	sim_request_reply(c, code, "text/plain; charset=utf-8", out);
}

void
sim_request_drop(struct sim_request *c)
{
	struct evhttp_connection *const connection = evhttp_request_get_connection(c->http);

	sim_audit_end(c->sim->audit, c->audit_row, 0, c->rv);
	if (connection != NULL)
		evhttp_connection_free(connection);	/* the request too */
	else
		evhttp_request_free(c->http);
	sim_request_close(&c);
}

void
sim_request_start_answer(struct sim_request *c, int code, const char *type)
{
	sim_audit_end(c->sim->audit, c->audit_row, code, c->rv);
	add_headers(c, type);
	evhttp_send_reply_start(c->http, code, sim_server_phrase(code));
}

/* The deed is done; its answer takes its time. */
static void
hold(struct sim_request *c, int code, const char *type, struct evbuffer *out)
{
	const int64_t ms = c->plan.of[FAULT_LATE_ANSWER]->amount;

	c->plan.of[FAULT_LATE_ANSWER] = NULL;
	c->held = out;
	c->held_code = code;
	snprintf(c->held_type, sizeof(c->held_type), "%s", type);
	sim_request_delay(c, ms, let_go);
}

static void
let_go(struct sim_request *c)
{
	struct evbuffer *const out = c->held;
	char type[sizeof(c->held_type)];

	memcpy(type, c->held_type, sizeof(type));
	c->held = NULL;
	sim_request_reply(c, c->held_code, type, out);
}

static void
add_headers(struct sim_request *c, const char *type)
{
	const struct sim_fault *const huge = c->plan.of[FAULT_HUGE_HEADERS];
	char uid[SIM_UID_MAX];

	sim_request_add_header(c, "Audit-Id", sim_uid(c->sim, uid));
	sim_request_add_header(c, "Cache-Control", "no-cache, private");
	sim_request_add_header(c, "Content-Type", type);
	if (huge != NULL) {
		char *const filler = obj_alloc((size_t)huge->amount + 1);

		memset(filler, 'x', (size_t)huge->amount);
		sim_request_add_header(c, "X-Filler", filler);
		free(filler);
	}
	if (c->plan.of[FAULT_DATE_OFFSET] != NULL)
		sim_server_add_date(evhttp_request_get_output_headers(c->http),
		    c->plan.of[FAULT_DATE_OFFSET]->amount);
	if (c->plan.of[FAULT_THROTTLE] != NULL)
		sim_request_throttle(c, (size_t)c->plan.of[FAULT_THROTTLE]->amount);
}

/* a=b&c=d, percent and plus decoded; a name alone has the value "". */
static void
read_params(struct sim_request *c)
{
	char *const copy = obj_strdup(c->query);
	char *rest = copy;

	for (char *pair; (pair = strsep(&rest, "&")) != NULL;) {
		const char *const name = strsep(&pair, "=");
		char *const key = evhttp_uridecode(name, 1, NULL);
		char *const value = evhttp_uridecode(pair != NULL ? pair : "", 1, NULL);

		MUST(key != NULL && value != NULL);
		/* evhttp_add_header refuses line breaks; no parameter of ours has any. */
		if (key[0] != '\0')
			evhttp_add_header(&c->params, key, value);
		free(key);
		free(value);
	}
	free(copy);
}

static const char *
method_name(enum evhttp_cmd_type method)
{
	static const struct {
		enum evhttp_cmd_type	 method;
		const char		*name;
	} names[] = {
		{ EVHTTP_REQ_GET, "get" }, { EVHTTP_REQ_POST, "post" }, { EVHTTP_REQ_PUT, "put" },
		{ EVHTTP_REQ_PATCH, "patch" }, { EVHTTP_REQ_DELETE, "delete" }, { EVHTTP_REQ_HEAD, "head" },
	};

	for (size_t i = 0; i < NITEMS(names); i++) {
		if (names[i].method == method)
			return names[i].name;
	}
	return "other";
}

/* libevent keeps a pointer to it for the life of the connection: they are kept for good, one per rate. */
static struct ev_token_bucket_cfg *
rate_of(size_t bytes_per_second)
{
	static struct bandwidth *rates;
	static size_t n;

	for (size_t i = 0; i < n; i++) {
		if (rates[i].bytes == bytes_per_second)
			return rates[i].cfg;
	}
	struct ev_token_bucket_cfg *const cfg = ev_token_bucket_cfg_new(EV_RATE_LIMIT_MAX, EV_RATE_LIMIT_MAX,
	    bytes_per_second, bytes_per_second, NULL);
	MUST(cfg != NULL);
	rates = obj_realloc(rates, (n + 1) * sizeof(*rates));
	rates[n++] = (struct bandwidth){ bytes_per_second, cfg };
	return cfg;
}

static void
on_later(evutil_socket_t fd, short what, void *arg)
{
	struct sim_request *const c = arg;

	(void)fd;
	(void)what;
	event_free(c->delay);
	c->delay = NULL;
	deferred_take(&c->deferred);
	c->then(c);
}

/* The connection ended during the delay: there is no one to answer. */
static void
on_gone(void *arg)
{
	struct sim_request *c = arg;

	sim_audit_end(c->sim->audit, c->audit_row, 0, 0);
	sim_request_close(&c);
}
