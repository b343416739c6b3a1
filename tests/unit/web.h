/*
 * tests/unit/web.h - a web server that does exactly what a row of a table states, on the loop of the
 * test itself.
 *
 * Each complete request is answered with `reply` as it stands; then the connection is kept, closed,
 * or left hanging.
 */
#ifndef MUSTER_TEST_WEB_H
#define MUSTER_TEST_WEB_H

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "http.h"
#include "obj.h"
#include "stat.h"

enum after { KEEP, CLOSE };

struct web {
	struct event_base	*base;
	struct evconnlistener	*listener;
	struct bufferevent	*conns[2000];
	int			 nconns;
	const char		*reply;		/* NULL: silence */
	size_t			 reply_len;	/* 0: strlen */
	enum after		 after;
	int			 port, accepts, requests;
	char			 last[8192];	/* the last request */
	char			 paths[4096];	/* of all, in order */
};

/* What `done` was called with. */
struct answer {
	int	 calls;
	enum err err;
	int	 status;
	int64_t	 retry_after_ms, answered_ms;
	bool	 sent;
	size_t	 body_len;
	char	 body[4096], error[1024], type[128], host[128];
};

static inline void
web_on_read(struct bufferevent *bev, void *arg)
{
	struct web *const w = arg;
	struct evbuffer *const in = bufferevent_get_input(bev);

	for (;;) {
		const struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
		size_t body = 0;

		if (end.pos == -1)
			return;
		const size_t head = (size_t)end.pos + 4;
		char *const text = (char *)evbuffer_pullup(in, -1);
		const char *const length = memmem(text, head, "Content-Length: ", 16);
		/* The buffer ends without a NUL; the digits end at the line's end, which is in it. */
		for (const char *p = length; p != NULL && p[16] >= '0' && p[16] <= '9'; p++)
			body = body * 10 + (size_t)(p[16] - '0');
		if (evbuffer_get_length(in) < head + body)
			return;
		const size_t n = head + body < sizeof(w->last) - 1 ? head + body : sizeof(w->last) - 1;
		memcpy(w->last, text, n);
		w->last[n] = '\0';
		evbuffer_drain(in, head + body);
		w->requests++;
		const char *const path = strchr(w->last, ' ') + 1;
		snprintf(w->paths + strlen(w->paths), sizeof(w->paths) - strlen(w->paths), "%.*s ",
		    (int)strcspn(path, " "), path);
		if (w->reply != NULL)
			bufferevent_write(bev, w->reply, w->reply_len != 0 ? w->reply_len : strlen(w->reply));
		if (w->after == CLOSE)
			shutdown(bufferevent_getfd(bev),
			    evbuffer_get_length(bufferevent_get_output(bev)) == 0 ? SHUT_RDWR
										  : SHUT_RD);
	}
}

static inline void
web_on_flushed(struct bufferevent *bev, void *arg)
{
	const struct web *const w = arg;

	if (w->after == CLOSE && w->requests > 0)
		shutdown(bufferevent_getfd(bev), SHUT_RDWR);
}

static inline void
web_on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa, int len, void *arg)
{
	struct web *const w = arg;
	struct bufferevent *const bev = bufferevent_socket_new(w->base, fd, BEV_OPT_CLOSE_ON_FREE);

	(void)l, (void)sa, (void)len;
	MUST(w->nconns < (int)NITEMS(w->conns));
	w->conns[w->nconns++] = bev;
	w->accepts++;
	bufferevent_setcb(bev, web_on_read, web_on_flushed, NULL, w);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
}

static inline void
web_open(struct web *w, struct event_base *base)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sin);

	*w = (struct web){ .base = base, .reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" };
	w->listener = evconnlistener_new_bind(base, web_on_accept, w, LEV_OPT_CLOSE_ON_FREE, 128,
	    (struct sockaddr *)&sin, sizeof(sin));
	MUST(w->listener != NULL);
	MUST(getsockname(evconnlistener_get_fd(w->listener), (struct sockaddr *)&sin, &len) == 0);
	w->port = ntohs(sin.sin_port);
}

static inline void
web_close(struct web *w)
{
	for (int i = 0; i < w->nconns; i++)
		bufferevent_free(w->conns[i]);
	w->nconns = 0;
	if (w->listener != NULL)
		evconnlistener_free(w->listener);
	w->listener = NULL;
}

/* Runs the loop until *count reaches want; false after 30 s, which is never waited for when all is well. */
static inline bool
web_until(struct event_base *base, const int *count, int want)
{
	const int64_t deadline_ms = clock_mono_ms() + 30000;
	const struct timeval tick = { .tv_usec = 20000 };

	while (*count < want && clock_mono_ms() < deadline_ms) {
		event_base_loopexit(base, &tick);
		event_base_loop(base, EVLOOP_ONCE);
	}
	return *count >= want;
}

static inline void
web_record(const struct http_response *r, void *arg)
{
	struct answer *const a = arg;

	a->calls++;
	a->err = r->err;
	a->status = r->status;
	a->retry_after_ms = r->retry_after_ms;
	a->answered_ms = r->answered_ms;
	a->sent = r->sent;
	a->body_len = r->body_len;
	MUST(strlen(r->body) <= r->body_len);
	snprintf(a->body, sizeof(a->body), "%s", r->body);
	snprintf(a->error, sizeof(a->error), "%s", r->error);
	snprintf(a->type, sizeof(a->type), "%s", r->content_type);
	snprintf(a->host, sizeof(a->host), "%s", r->host);
}

/* ---- A loop, a client and a server: what most tests begin with. ---- */

struct world {
	struct event_base	*base;
	struct http		*http;
	struct web		 web;
	char			 url[128];
};

static inline int
world_open(void **state)
{
	static struct world w;

	w.base = event_base_new();
	web_open(&w.web, w.base);
	w.http = http_new(w.base, &(struct http_config){ .user_agent = "muster-test/1" });
	snprintf(w.url, sizeof(w.url), "http://127.0.0.1:%d/path?token=s3cr3t", w.web.port);
	*state = &w;
	return 0;
}

static inline int
world_close(void **state)
{
	struct world *const w = *state;

	http_free(&w->http);
	web_close(&w->web);
	event_base_free(w->base);
	stat_reset();
	return 0;
}

static inline void
world_ask(struct world *w, struct http_request r, struct answer *a)
{
	*a = (struct answer){ 0 };
	r.method = r.method != NULL ? r.method : "GET";
	r.url = r.url != NULL ? r.url : w->url;
	r.done = web_record;
	r.arg = a;
	http_send(w->http, &r);
}

/* These tests ignore the proxies that the machine's environment names. */
static inline void
world_without_proxies(void)
{
	static const char *const names[] = { "http_proxy", "https_proxy", "HTTPS_PROXY",
		"all_proxy", "ALL_PROXY" };

	for (size_t i = 0; i < NITEMS(names); i++)
		unsetenv(names[i]);
}

#endif
