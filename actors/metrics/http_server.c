/* actors/metrics/http_server.c - one HTTP port: evhttp with limits. */
#include "http_server.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <string.h>

#include "body.h"
#include "clock.h"
#include "connections.h"
#include "obj.h"

enum {
	HEADER_MAX	= 8 * 1024,
	BODY_FIRST	= 4 * 1024,
	IDLE_S		= 5,
	SWEEP_MS	= 100,
};

struct http_server {
	uint32_t		 magic;
#define HTTP_SERVER_MAGIC	0x53455256u
	struct event_base	*base;
	struct evhttp		*http;
	struct evconnlistener	*listener;
	struct event		*sweep;
	struct connections		 connections;
	http_server_answer		*answer;
	void			*arg;
	char			*buf;		/* of the largest answer so far, shared bodies apart */
	size_t			 size;
};

static struct bufferevent *on_connection(struct event_base *, void *);
static void on_request(struct evhttp_request *, void *);
static void on_sweep(evutil_socket_t, short, void *);
static void compose(struct http_server *, const char *, const char *, struct answer *);
static void reply(struct evhttp_request *, const struct answer *, bool);
static void on_body_sent(const void *, size_t, void *);
static void header(struct evhttp_request *, const char *, const char *);

struct http_server *
http_server_new(struct event_base *base, int fd, http_server_answer *answer, void *arg)
{
	struct http_server *s;

	OBJ_NEW(s, HTTP_SERVER_MAGIC);
	s->base = base;
	s->answer = answer;
	s->arg = arg;
	s->size = BODY_FIRST;
	s->buf = obj_alloc(s->size);
	s->http = evhttp_new(base);
	s->sweep = evtimer_new(base, on_sweep, s);
	s->listener = evconnlistener_new(base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE, 0, fd);
	MUST(s->http != NULL && s->sweep != NULL && s->listener != NULL);
	evhttp_set_max_headers_size(s->http, HEADER_MAX);
	evhttp_set_max_body_size(s->http, 0);
	evhttp_set_timeout(s->http, IDLE_S);
	/* All methods of evhttp, so that we answer them, with 405. */
	evhttp_set_allowed_methods(s->http, UINT16_MAX);
	evhttp_set_bevcb(s->http, on_connection, s);
	evhttp_set_gencb(s->http, on_request, s);
	MUST(evhttp_bind_listener(s->http, s->listener) != NULL);
	return s;
}

void
http_server_free(struct http_server **sp)
{
	struct http_server *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, HTTP_SERVER_MAGIC);
	evhttp_free(s->http);		/* the listener too */
	connections_close(&s->connections);
	event_free(s->sweep);
	free(s->buf);
	OBJ_FREE(s);
}

/* evhttp has accepted a connection. While there is no room for another, the next ones wait in the kernel. */
static struct bufferevent *
on_connection(struct event_base *base, void *arg)
{
	struct http_server *s = arg;
	const int64_t now_ms = clock_mono_ms();

	OBJ_CHECK(s, HTTP_SERVER_MAGIC);
	connections_sweep(&s->connections, now_ms);
	struct bufferevent *bev = connections_open(&s->connections, base, now_ms);
	if (s->connections.n == CONNECTIONS_MAX)
		evconnlistener_disable(s->listener);
	evtimer_add(s->sweep, &(struct timeval){ .tv_usec = SWEEP_MS * 1000 });
	return bev;
}

static void
on_sweep(evutil_socket_t fd, short what, void *arg)
{
	struct http_server *s = arg;

	(void)fd;
	(void)what;
	OBJ_CHECK(s, HTTP_SERVER_MAGIC);
	if (connections_sweep(&s->connections, clock_mono_ms()))
		evconnlistener_enable(s->listener);
	if (s->connections.n > 0)
		evtimer_add(s->sweep, &(struct timeval){ .tv_usec = SWEEP_MS * 1000 });
}

static void
on_request(struct evhttp_request *req, void *arg)
{
	struct http_server *s = arg;
	struct answer a = { .code = 405, .type = "text/plain; charset=utf-8" };

	OBJ_CHECK(s, HTTP_SERVER_MAGIC);
	const enum evhttp_cmd_type method = evhttp_request_get_command(req);
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
	const char *path = uri != NULL ? evhttp_uri_get_path(uri) : NULL;
	const char *query = uri != NULL ? evhttp_uri_get_query(uri) : NULL;

	if (method != EVHTTP_REQ_GET && method != EVHTTP_REQ_HEAD) {
		header(req, "Allow", "GET, HEAD");
		a.body = (struct text){ .buf = s->buf, .size = s->size };
		text_puts(&a.body, "only GET and HEAD are served\n");
	} else {
		compose(s, path == NULL || path[0] == '\0' ? "/" : path, query, &a);
	}
	reply(req, &a, method == EVHTTP_REQ_HEAD);
}

static void
compose(struct http_server *s, const char *path, const char *query, struct answer *a)
{
	for (;;) {
		a->body = (struct text){ .buf = s->buf, .size = s->size };
		s->answer(s->arg, path, query, a);
		if (a->body.len < s->size)
			return;
		s->size = a->body.len * 2;
		free(s->buf);
		s->buf = obj_alloc(s->size);
	}
}

static void
reply(struct evhttp_request *req, const struct answer *a, bool head_only)
{
	struct evbuffer *out = evhttp_request_get_output_buffer(req);
	const size_t len = a->shared != NULL ? a->shared->len : a->body.len;
	char length[24];

	snprintf(length, sizeof(length), "%zu", len);
	header(req, "Content-Type", a->type);
	header(req, "Content-Length", length);
	header(req, "Cache-Control", "no-store");
	header(req, "Connection", "close");
	header(req, "X-Content-Type-Options", "nosniff");
	header(req, "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
	if (!head_only && a->shared != NULL)
		MUST(evbuffer_add_reference(out, a->shared->text, len, on_body_sent, a->shared) == 0);
	else if (!head_only)
		MUST(evbuffer_add(out, a->body.buf, len) == 0);
	else if (a->shared != NULL)
		body_release(a->shared);
	evhttp_send_reply(req, a->code, NULL, NULL);
}

/* Sent, or its connection has ended. */
static void
on_body_sent(const void *text, size_t len, void *arg)
{
	(void)text;
	(void)len;
	body_release(arg);
}

static void
header(struct evhttp_request *req, const char *name, const char *value)
{
	MUST(evhttp_add_header(evhttp_request_get_output_headers(req), name, value) == 0);
}
