/* server/http_listener.c - one HTTP listener: evhttp with limits. */
#include "http_listener.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <stdio.h>

#include "clock.h"
#include "obj.h"

enum { SWEEP_MS = 100, CAUSE_MAX = 512 };

struct http_listener {
	uint32_t			 magic;
#define HTTP_LISTENER_MAGIC	0x48545450u
	struct http_listener_spec	 spec;
	struct evhttp			*http;
	struct evconnlistener		*socket;
	struct connections		*connections;	/* NULL: not counted */
	struct event			*sweep;
};

struct shared_body {
	void	(*release)(void *);
	void	*arg;
};

static struct bufferevent *on_connection(struct event_base *, void *);
static void on_request(struct evhttp_request *, void *);
static void on_sweep(evutil_socket_t, short, void *);
static void sweep_now(void *);
static void sweep_later(struct http_listener *);
static void reload(struct http_listener *);
static struct bufferevent *buffer_of(struct evhttp_request *);
static void add_body(struct evbuffer *, const struct http_answer *);
static void on_sent(const void *, size_t, void *);
static void header(struct evhttp_request *, const char *, const char *);

struct http_listener *
http_listener_new(struct event_base *base, int fd, const struct http_listener_spec *spec)
{
	struct http_listener *l;

	OBJ_NEW(l, HTTP_LISTENER_MAGIC);
	l->spec = *spec;
	l->http = evhttp_new(base);
	l->socket = evconnlistener_new(base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE, 0, fd);
	l->sweep = evtimer_new(base, on_sweep, l);
	MUST(l->http != NULL && l->socket != NULL && l->sweep != NULL);
	if (spec->connections.max > 0)
		l->connections = connections_new(&spec->connections, sweep_now, l);
	evhttp_set_max_headers_size(l->http, (ev_ssize_t)spec->header_max);
	evhttp_set_max_body_size(l->http, (ev_ssize_t)spec->body_max);
	if (spec->idle_s > 0)
		evhttp_set_timeout(l->http, spec->idle_s);
	evhttp_set_allowed_methods(l->http, UINT16_MAX);
	/* Without either there is nothing to do for a connection: evhttp makes its own buffer. */
	if (l->connections != NULL || spec->tls != NULL)
		evhttp_set_bevcb(l->http, on_connection, l);
	evhttp_set_gencb(l->http, on_request, l);
	MUST(evhttp_bind_listener(l->http, l->socket) != NULL);
	return l;
}

void
http_listener_free(struct http_listener **lp)
{
	struct http_listener *l;

	if (*lp == NULL)
		return;
	OBJ_TAKE(l, lp, HTTP_LISTENER_MAGIC);
	evhttp_free(l->http);		/* the socket too */
	connections_free(&l->connections);
	event_free(l->sweep);
	OBJ_FREE(l);
}

void
http_listener_reply(struct http_listener *l, struct evhttp_request *req, const struct http_answer *a)
{
	struct evbuffer *const in = evhttp_request_get_input_buffer(req);
	char length[24];

	OBJ_CHECK(l, HTTP_LISTENER_MAGIC);
	/* A client that does not read its answer holds no body of its request. */
	evbuffer_drain(in, evbuffer_get_length(in));
	if (l->connections != NULL)
		connections_answered(l->connections, buffer_of(req));
	snprintf(length, sizeof(length), "%zu", a->len);
	header(req, "Content-Type", a->type);
	header(req, "Content-Length", length);
	header(req, "Cache-Control", "no-store");
	header(req, "X-Content-Type-Options", "nosniff");
	header(req, "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'");
	if (!l->spec.keep_alive)
		header(req, "Connection", "close");
	if (a->allow != NULL)
		header(req, "Allow", a->allow);
	if (!a->head_only)
		add_body(evhttp_request_get_output_buffer(req), a);
	else if (a->release != NULL)
		a->release(a->release_arg);
	evhttp_send_reply(req, a->code, NULL, NULL);
}

const char *
http_listener_path(const struct evhttp_request *req)
{
	const struct evhttp_uri *const uri = evhttp_request_get_evhttp_uri(req);
	const char *const path = uri != NULL ? evhttp_uri_get_path(uri) : NULL;

	return path == NULL || path[0] == '\0' ? "/" : path;
}

const char *
http_listener_body(struct evhttp_request *req, size_t *len)
{
	struct evbuffer *const in = evhttp_request_get_input_buffer(req);

	*len = evbuffer_get_length(in);
	return *len > 0 ? (const char *)evbuffer_pullup(in, -1) : "";
}

unsigned
http_listener_open(const struct http_listener *l)
{
	return l->connections != NULL ? connections_count(l->connections) : 0;
}

struct connection_counts
http_listener_counts(const struct http_listener *l)
{
	return l->connections != NULL ? connections_counts(l->connections) : (struct connection_counts){ 0 };
}

/* evhttp has accepted a connection. While there is no room for another, the next ones wait in the kernel. */
static struct bufferevent *
on_connection(struct event_base *base, void *arg)
{
	struct http_listener *const l = arg;
	struct bufferevent *bev;

	OBJ_CHECK(l, HTTP_LISTENER_MAGIC);
	if (l->spec.tls != NULL) {
		reload(l);
		bev = tls_server_accept(l->spec.tls, base);
	} else {
		bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
		MUST(bev != NULL);
	}
	if (l->connections == NULL)
		return bev;
	const int64_t now_ms = clock_mono_ms();
	connections_sweep(l->connections, now_ms);
	connections_add(l->connections, bev, now_ms);
	if (connections_full(l->connections))
		evconnlistener_disable(l->socket);
	sweep_later(l);
	return bev;
}

static void
on_request(struct evhttp_request *req, void *arg)
{
	struct http_listener *const l = arg;

	OBJ_CHECK(l, HTTP_LISTENER_MAGIC);
	if (l->connections != NULL && l->spec.keep_alive)
		connections_request(l->connections, buffer_of(req), clock_mono_ms());
	l->spec.handler(req, l->spec.arg);
}

static void
on_sweep(evutil_socket_t fd, short what, void *arg)
{
	struct http_listener *const l = arg;

	(void)fd;
	(void)what;
	OBJ_CHECK(l, HTTP_LISTENER_MAGIC);
	if (connections_sweep(l->connections, clock_mono_ms()))
		evconnlistener_enable(l->socket);
	if (connections_count(l->connections) > 0)
		sweep_later(l);
}

/* From inside a callback of a connection, which must not end there. */
static void
sweep_now(void *arg)
{
	struct http_listener *const l = arg;

	event_active(l->sweep, EV_TIMEOUT, 0);
}

static void
sweep_later(struct http_listener *l)
{
	evtimer_add(l->sweep, &(struct timeval){ .tv_usec = SWEEP_MS * 1000 });
}

static void
reload(struct http_listener *l)
{
	char cause[CAUSE_MAX] = "";
	const enum tls_reload what = tls_server_reload(l->spec.tls, cause, sizeof(cause));

	if (what != TLS_UNCHANGED && l->spec.certificate != NULL)
		l->spec.certificate(l->spec.arg, what, cause);
}

static struct bufferevent *
buffer_of(struct evhttp_request *req)
{
	return evhttp_connection_get_bufferevent(evhttp_request_get_connection(req));
}

static void
add_body(struct evbuffer *out, const struct http_answer *a)
{
	if (a->release == NULL) {
		MUST(evbuffer_add(out, a->body, a->len) == 0);
		return;
	}
	struct shared_body *const shared = obj_alloc(sizeof(*shared));
	*shared = (struct shared_body){ .release = a->release, .arg = a->release_arg };
	MUST(evbuffer_add_reference(out, a->body, a->len, on_sent, shared) == 0);
}

static void
on_sent(const void *body, size_t len, void *arg)
{
	struct shared_body *const shared = arg;

	(void)body;
	(void)len;
	shared->release(shared->arg);
	free(shared);
}

static void
header(struct evhttp_request *req, const char *name, const char *value)
{
	MUST(evhttp_add_header(evhttp_request_get_output_headers(req), name, value) == 0);
}
