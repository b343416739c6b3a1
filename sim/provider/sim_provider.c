/* sim/provider/sim_provider.c - a call from its first byte to its line in the audit log. */
#include "sim_provider.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "clock.h"
#include "keytab.h"
#include "kube/time.h"
#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim/faults/sim_faults.h"
#include "sim/http/sim_server.h"

struct provider_call;
typedef void call_fn(struct provider_call *c);

struct provider_call {
	TAILQ_ENTRY(provider_call)		 next;
	struct sim_provider			*provider;
	struct evhttp_request			*http;		/* NULL: the connection has ended */
	const struct sim_provider_route		*route;		/* NULL: there is none */
	struct sim_provider_call		 call;
	struct sim_fault_plan			 plan;
	struct sim_provider_quota		 quota;
	struct sim_provider_answer		 answer;
	char					*path, *text;
	bool					 malformed;	/* the body */
	int64_t					 at_ms, wall_us, effect_at_ms;
	struct event				*timer;
	call_fn					*then;		/* when it rings */
	int					 code;		/* of what was begun to be sent */
};

struct sim_provider {
	uint32_t			 magic;
#define PROVIDER_MAGIC	0x50524f56u
	const struct sim_provider_spec	*spec;
	struct sim_provider_deps	 deps;
	const struct sim_provider_rules	*rules;
	struct keytab			*tokens;	/* each with its id */
	struct sim_provider_limits	*limits;
	TAILQ_HEAD(, provider_call)	 open;
};

static const struct sim_provider_rules no_rules = { .type = NULL };

static struct provider_call *open_call(struct sim_provider *, struct evhttp_request *);
static const char *method_name(enum evhttp_cmd_type);
static void read_headers(struct provider_call *);
static void read_body(struct provider_call *);
static int find_route(struct provider_call *);
static bool identify(struct provider_call *), is_token(struct provider_call *, const char *);
static void plan(struct provider_call *);
static void fail(struct provider_call *, int, const char *);
static void set_error(struct provider_call *, int, const char *, const char *);
static call_fn perform, send_answer, close_when_sent;
static void answer_fault(struct provider_call *, const struct sim_fault *);
static const char *type_of(const struct provider_call *);
static void reply(struct provider_call *, int, const char *, struct evbuffer *);
static void add_headers(struct provider_call *, const char *);
static void add_number(struct provider_call *, const char *, int64_t);
static void begin_cut(struct provider_call *, int, struct evbuffer *);
static void delay(struct provider_call *, int64_t, call_fn *);
static void drop(struct provider_call *, bool);
static void finish(struct provider_call *, int);
static void write_audit(const struct provider_call *, int);
static void release(struct provider_call *);
static void on_timer(evutil_socket_t, short, void *);
static void on_gone(struct evhttp_connection *, void *);

struct sim_provider *
sim_provider_new(const struct sim_provider_spec *spec, const struct sim_provider_deps *deps)
{
	struct sim_provider *p;

	OBJ_NEW(p, PROVIDER_MAGIC);
	p->spec = spec;
	p->deps = *deps;
	p->rules = deps->rules != NULL ? deps->rules : &no_rules;
	p->tokens = keytab_new(sizeof(((struct sim_provider_call *)NULL)->token));
	p->limits = sim_provider_limits_new();
	TAILQ_INIT(&p->open);
	return p;
}

void
sim_provider_free(struct sim_provider **pp)
{
	struct sim_provider *p;

	if (*pp == NULL)
		return;
	OBJ_TAKE(p, pp, PROVIDER_MAGIC);
	while (!TAILQ_EMPTY(&p->open)) {
		MUST(TAILQ_FIRST(&p->open)->http == NULL);	/* the server went first */
		release(TAILQ_FIRST(&p->open));
	}
	keytab_free(&p->tokens);
	sim_provider_limits_free(&p->limits);
	OBJ_FREE(p);
}

void
sim_provider_add_token(struct sim_provider *p, const char *token, const char *id)
{
	const uint32_t at = keytab_add(p->tokens, token, strlen(token), NULL);

	snprintf(keytab_value(p->tokens, at), sizeof(((struct sim_provider_call *)NULL)->token), "%s", id);
}

void
sim_provider_remove_token(struct sim_provider *p, const char *token)
{
	const uint32_t at = keytab_find(p->tokens, token, strlen(token));

	if (at != KEYTAB_NONE)
		keytab_remove(p->tokens, at);
}

bool
sim_provider_set_limit(struct sim_provider *p, const char *class, int64_t limit, int64_t window_ms)
{
	for (const struct sim_provider_route *r = p->spec->routes; r->pattern != NULL; r++) {
		const char *const bucket = r->class->bucket != NULL ? r->class->bucket : r->class->name;

		if (strcmp(r->class->name, class) != 0 && strcmp(bucket, class) != 0)
			continue;
		sim_provider_limits_set(p->limits, bucket, limit, window_ms);
		return true;
	}
	return false;
}

const char *
sim_provider_header(const struct sim_provider_call *c, const char *name)
{
	return evhttp_find_header(&c->headers, name);
}

const char *
sim_provider_query(const struct sim_provider_call *c, const char *name)
{
	return evhttp_find_header(&c->query, name);
}

void
sim_provider_serve(struct evhttp_request *req, void *arg)
{
	struct provider_call *const c = open_call(arg, req);
	struct sim_provider *const p = c->provider;
	const int no_route = find_route(c);

	if (no_route != 0) {
		fail(c, no_route, no_route == 404 ? "Not found" : no_route == 405 ? "Method Not Allowed"
		    : "No such action");
		return;
	}
	plan(c);
	const int refused = !identify(c) || c->plan.of[FAULT_UNAUTHORIZED] != NULL ? 401
	    : p->spec->refuse != NULL ? p->spec->refuse(p->deps.model, &c->call) : 0;
	if (refused != 0) {
		fail(c, refused, refused == 401 ? "Invalid Token" : "Not found");
		return;
	}
	if (p->rules->admit != NULL && !p->rules->admit(p->deps.model, &c->call, &c->answer)) {
		send_answer(c);
		return;
	}
	c->quota = sim_provider_limits_take(p->limits, c->route->class, c->call.token, c->at_ms);
	const struct sim_fault *const wait = c->plan.of[FAULT_LATENCY] != NULL ? c->plan.of[FAULT_LATENCY]
	    : c->plan.of[FAULT_LATE_EFFECT];
	if (c->quota.refused)
		fail(c, 429, "Too many requests");
	else if (wait != NULL)
		delay(c, wait->amount, perform);
	else
		perform(c);
}

static struct provider_call *
open_call(struct sim_provider *p, struct evhttp_request *req)
{
	const struct evhttp_uri *const uri = evhttp_request_get_evhttp_uri(req);
	const char *const path = uri != NULL ? evhttp_uri_get_path(uri) : NULL;
	const char *const query = uri != NULL ? evhttp_uri_get_query(uri) : NULL;
	struct provider_call *const c = obj_alloc(sizeof(*c));

	OBJ_CHECK(p, PROVIDER_MAGIC);
	c->provider = p;
	c->http = req;
	c->at_ms = clock_mono_ms();
	c->wall_us = clock_wall_us();
	c->path = obj_strdup(path != NULL ? path : "/");
	c->call.path = c->path;
	c->call.method = method_name(evhttp_request_get_command(req));
	TAILQ_INIT(&c->call.query);
	if (query != NULL)
		evhttp_parse_query_str(query, &c->call.query);
	read_headers(c);
	read_body(c);
	TAILQ_INSERT_TAIL(&p->open, c, next);
	evhttp_connection_set_closecb(evhttp_request_get_connection(req), on_gone, c);
	return c;
}

static const char *
method_name(enum evhttp_cmd_type method)
{
	return method == EVHTTP_REQ_GET ? "GET" : method == EVHTTP_REQ_POST ? "POST"
	    : method == EVHTTP_REQ_PUT ? "PUT" : method == EVHTTP_REQ_PATCH ? "PATCH"
	    : method == EVHTTP_REQ_DELETE ? "DELETE" : "OTHER";
}

/* Copies: a late effect may come when the request is gone. */
static void
read_headers(struct provider_call *c)
{
	const struct evkeyval *header;

	TAILQ_INIT(&c->call.headers);
	TAILQ_FOREACH(header, evhttp_request_get_input_headers(c->http), next)
		evhttp_add_header(&c->call.headers, header->key, header->value);
}

/* JSON, or a form as an object of texts. */
static void
read_body(struct provider_call *c)
{
	struct evbuffer *const in = evhttp_request_get_input_buffer(c->http);
	const char *const type = evhttp_find_header(&c->call.headers, "Content-Type");

	c->call.text_len = evbuffer_get_length(in);
	evbuffer_add(in, "", 1);
	const char *const text = c->text = obj_memdup(evbuffer_pullup(in, -1), c->call.text_len + 1);
	c->call.text = text;
	if (c->call.text_len == 0)
		return;
	c->call.body = type != NULL && strncasecmp(type, "application/x-www-form-urlencoded", 33) == 0
	    ? sim_provider_read_form(text) : json_loads(text, JSON_DECODE_ANY, NULL);
	c->malformed = c->call.body == NULL;
}

/* 0, or the code: there is no such path, or only for other methods or forms. */
static int
find_route(struct provider_call *c)
{
	int code = 404;

	for (const struct sim_provider_route *r = c->provider->spec->routes; r->pattern != NULL; r++) {
		if (!sim_provider_path_fits(r->pattern, c->path, &c->call.args))
			continue;
		code = code == 400 ? code : 405;
		if (r->method != evhttp_request_get_command(c->http))
			continue;
		code = 400;
		if (!sim_provider_form_fits(r->pattern, c->call.body))
			continue;
		c->route = r;
		return 0;
	}
	return code;
}

static bool
identify(struct provider_call *c)
{
	const char *const field = c->provider->rules->token_field;

	for (const struct sim_provider_auth *a = c->provider->spec->auth; a->header != NULL; a++) {
		const char *const value = sim_provider_header(&c->call, a->header);
		const size_t skip = strlen(a->before);

		if (value != NULL && strncasecmp(value, a->before, skip) == 0 && is_token(c, value + skip))
			return true;
	}
	return (field != NULL && is_token(c, sim_json_text(c->call.body, field))) || c->route->open;
}

static bool
is_token(struct provider_call *c, const char *text)
{
	const struct sim_provider *const p = c->provider;
	const uint32_t at = keytab_find(p->tokens, text, strlen(text));

	if (at != KEYTAB_NONE)
		memcpy(c->call.token, keytab_value(p->tokens, at), sizeof(c->call.token));
	return at != KEYTAB_NONE || (p->spec->issued != NULL
	    && p->spec->issued(p->deps.model, text, c->call.token, sizeof(c->call.token)));
}

static void
plan(struct provider_call *c)
{
	const char *const agent = evhttp_find_header(evhttp_request_get_input_headers(c->http), "User-Agent");

	c->plan = sim_faults_plan(c->provider->deps.faults, &(struct sim_fault_subject){
	    .verb = c->call.method, .resource = "", .qualified = "", .name = "",
	    .user_agent = agent != NULL ? agent : "", .event = "", .api = c->provider->spec->name,
	    .class = c->route->class->name,
	});
}

static void
fail(struct provider_call *c, int code, const char *why)
{
	set_error(c, code, why, "");
	send_answer(c);
}

static void
set_error(struct provider_call *c, int code, const char *why, const char *reason)
{
	const struct sim_provider *const p = c->provider;

	c->answer = p->rules->fail != NULL ? p->rules->fail(p->deps.model, &c->call, code, why, reason)
	    : (struct sim_provider_answer){ .code = code, .body = p->spec->error(code, why) };
}

/* The one place where the model acts. */
static void
perform(struct provider_call *c)
{
	if (c->plan.of[FAULT_DROP_CONNECTION] != NULL) {
		drop(c, false);
		return;
	}
	if (c->plan.of[FAULT_STATUS] != NULL) {
		answer_fault(c, c->plan.of[FAULT_STATUS]);
		return;
	}
	if (c->malformed) {
		fail(c, 400, "The body is not JSON");
		return;
	}
	c->call.behind = c->plan.of[FAULT_STALE] != NULL ? c->plan.of[FAULT_STALE]->behind : 0;
	c->answer = c->route->answer(c->provider->deps.model, &c->call);
	if (c->answer.effect != NULL)
		c->effect_at_ms = clock_mono_ms();
	if (c->plan.of[FAULT_LOST] != NULL && c->answer.code < 300)
		drop(c, false);
	else if (c->plan.of[FAULT_LATE_ANSWER] != NULL && c->http != NULL)
		delay(c, c->plan.of[FAULT_LATE_ANSWER]->amount, send_answer);
	else
		send_answer(c);
}

static void
answer_fault(struct provider_call *c, const struct sim_fault *f)
{
	const char *const text = f->text != NULL ? f->text : "injected fault";
	struct evbuffer *const out = evbuffer_new();

	if (f->retry_after[0] != '\0' && c->http != NULL)
		evhttp_add_header(evhttp_request_get_output_headers(c->http), "Retry-After", f->retry_after);
	if (strcmp(f->mode, "status") == 0) {
		evbuffer_free(out);
		set_error(c, f->code, text, f->reason);
		send_answer(c);
		return;
	}
	if (strcmp(f->mode, "html") == 0)
		evbuffer_add_printf(out, "<html><body><h1>%d</h1></body></html>\r\n", f->code);
	else if (strcmp(f->mode, "text") == 0)
		evbuffer_add(out, text, strlen(text));
	reply(c, f->code, strcmp(f->mode, "html") == 0 ? "text/html" : type_of(c), out);
}

static const char *
type_of(const struct provider_call *c)
{
	return c->provider->rules->type != NULL ? c->provider->rules->type : "application/json";
}

static void
send_answer(struct provider_call *c)
{
	const json_t *const body = c->answer.body;
	struct evbuffer *const out = evbuffer_new();

	if (c->provider->rules->type != NULL && json_is_string(body))
		evbuffer_add(out, json_string_value(body), json_string_length(body));
	else if (body != NULL)
		sim_buf_json_into(out, body);
	reply(c, c->answer.code, type_of(c), out);
}

/* Takes out. */
static void
reply(struct provider_call *c, int code, const char *type, struct evbuffer *out)
{
	const struct sim_fault *const cut = c->plan.of[FAULT_CUT];

	if (c->http == NULL) {
		evbuffer_free(out);
		finish(c, 0);
		return;
	}
	add_headers(c, type);
	if (cut != NULL && (size_t)cut->amount < evbuffer_get_length(out)) {
		struct evbuffer *const kept = evbuffer_new();

		evbuffer_remove_buffer(out, kept, (size_t)cut->amount);
		evbuffer_drain(out, evbuffer_get_length(out));
		evbuffer_add_buffer(out, kept);
		evbuffer_free(kept);
	}
	if (cut != NULL && strcmp(cut->mode, "clean") != 0) {
		begin_cut(c, code, out);
	} else {
		evhttp_connection_set_closecb(evhttp_request_get_connection(c->http), NULL, NULL);
		evhttp_send_reply(c->http, code, sim_server_phrase(code), out);
		finish(c, code);
	}
	evbuffer_free(out);
}

static void
add_headers(struct provider_call *c, const char *type)
{
	struct evkeyvalq *const headers = evhttp_request_get_output_headers(c->http);
	const struct sim_fault *const ahead = c->plan.of[FAULT_DATE_OFFSET];
	const int64_t ahead_s = ahead != NULL ? ahead->amount : c->answer.ahead_s;

	evhttp_add_header(headers, "Content-Type", type);
	if (ahead_s != 0)
		sim_server_add_date(headers, ahead_s);
	if (c->quota.limit == 0 || c->provider->rules->quiet_limits)
		return;
	add_number(c, "X-RateLimit-Limit", c->quota.limit);
	add_number(c, "X-RateLimit-Remaining", c->quota.remaining);
	/* By the server's clock, whatever that shows. */
	add_number(c, "X-RateLimit-Reset", (clock_wall_ms() + c->quota.reset_ms + 999) / 1000 + ahead_s);
	if (c->quota.refused)
		add_number(c, "Retry-After", (c->quota.reset_ms + 999) / 1000);
}

static void
add_number(struct provider_call *c, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	evhttp_add_header(evhttp_request_get_output_headers(c->http), name, text);
}

/* What is left of the answer is sent; then the connection ends in the middle of HTTP. */
static void
begin_cut(struct provider_call *c, int code, struct evbuffer *out)
{
	c->code = code;
	evhttp_send_reply_start(c->http, code, sim_server_phrase(code));
	if (evbuffer_get_length(out) > 0)
		evhttp_send_reply_chunk(c->http, out);
	delay(c, 0, close_when_sent);
}

static void
close_when_sent(struct provider_call *c)
{
	struct bufferevent *const bev =
	    evhttp_connection_get_bufferevent(evhttp_request_get_connection(c->http));

	if (evbuffer_get_length(bufferevent_get_output(bev)) > 0)
		delay(c, 1, close_when_sent);
	else
		drop(c, strcmp(c->plan.of[FAULT_CUT]->mode, "reset") == 0);
}

static void
delay(struct provider_call *c, int64_t ms, call_fn *then)
{
	const struct timeval wait = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	c->then = then;
	if (c->timer == NULL)
		c->timer = evtimer_new(c->provider->deps.base, on_timer, c);
	MUST(c->timer != NULL);
	evtimer_add(c->timer, &wait);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct provider_call *const c = arg;

	(void)fd;
	(void)what;
	c->then(c);
}

/* No answer, or no more of it. */
static void
drop(struct provider_call *c, bool reset)
{
	if (c->http != NULL) {
		struct evhttp_connection *const connection = evhttp_request_get_connection(c->http);

		evhttp_connection_set_closecb(connection, NULL, NULL);
		sim_server_break(connection, reset);
	}
	finish(c, c->code);
}

/* The connection has ended. A late effect comes all the same; everything else is over. */
static void
on_gone(struct evhttp_connection *connection, void *arg)
{
	struct provider_call *const c = arg;

	(void)connection;
	/*
	 * evhttp lets go of a request that is still being answered; one of a server that ends it
	 * frees itself.
	 */
	if (evhttp_request_get_connection(c->http) == NULL)
		evhttp_request_free(c->http);
	c->http = NULL;
	if (c->then != perform || c->plan.of[FAULT_LATE_EFFECT] == NULL)
		finish(c, c->code);
}

static void
finish(struct provider_call *c, int code)
{
	write_audit(c, code);
	release(c);
}

static void
write_audit(const struct provider_call *c, int code)
{
	struct sim_provider_audit *const a = c->provider->deps.audit;
	char time[TIME_TEXT_MAX];

	a->n++;
	if (a->out == NULL)
		return;
	time_format_micro(c->wall_us, time, sizeof(time));
	json_t *const path = json_string(c->path);
	json_auto_t *line = json_pack("{s:I, s:s, s:I, s:s, s:s, s:s, s:o, s:s, s:O?, s:I, s:i}",
	    "n", (json_int_t)a->n, "time", time, "at_ms", (json_int_t)c->at_ms, "api",
	    c->provider->spec->name, "class", c->route != NULL ? c->route->class->name : "", "method",
	    c->call.method, "path", path != NULL ? path : json_string("(not UTF-8)"), "token",
	    c->call.token, "effect", c->answer.effect, "effect_at_ms", (json_int_t)c->effect_at_ms,
	    "code", code);
	if (c->answer.detail != NULL)
		json_object_set(line, "detail", c->answer.detail);
	MUST(line != NULL && json_dumpf(line, a->out, JSON_COMPACT) == 0);
	fputc('\n', a->out);
	fflush(a->out);
}

static void
release(struct provider_call *c)
{
	TAILQ_REMOVE(&c->provider->open, c, next);
	if (c->timer != NULL)
		event_free(c->timer);
	evhttp_clear_headers(&c->call.query);
	evhttp_clear_headers(&c->call.headers);
	json_decref(c->call.body);
	json_decref(c->answer.body);
	json_decref(c->answer.effect);
	json_decref(c->answer.detail);
	free(c->path);
	free(c->text);
	free(c);
}
