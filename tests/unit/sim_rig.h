/*
 * tests/unit/sim_rig.h - a whole simulator inside the test: its two listeners and the test's client
 * share one loop.
 *
 * The client is a bare socket, so that a test sees where the bytes of an answer end and how.
 */
#ifndef MUSTER_TEST_SIM_RIG_H
#define MUSTER_TEST_SIM_RIG_H

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "obj.h"
#include "sim/sim_options.h"
#include "sim/http/sim_server.h"
#include "sim/sim.h"

struct rig {
	struct event_base	*base;
	struct event		*tick;		/* so that a turn of the loop ends */
	struct sim_options	 options;
	struct simulator	 sim;
};

enum rig_end { RIG_OPEN, RIG_COMPLETE, RIG_FIN, RIG_RESET };

struct rig_answer {
	int		 code;
	enum rig_end	 end;
	char		*head, *body;	/* the body without its chunks; NUL-terminated */
	size_t		 len;
};

/* One connection. */
struct rig_client {
	struct bufferevent	*bev;
	struct evbuffer		*in;
	size_t			 searched;	/* bytes in which the awaited text was not found */
	bool			 fin, reset;
};

static inline void
rig_on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
}

static inline void
rig_on_event(struct bufferevent *bev, short what, void *arg)
{
	struct rig_client *const c = arg;

	(void)bev;
	if (what & BEV_EVENT_EOF)
		c->fin = true;
	else if (what & BEV_EVENT_ERROR)
		c->reset = true;
}

static inline void
rig_on_read(struct bufferevent *bev, void *arg)
{
	struct rig_client *const c = arg;

	evbuffer_add_buffer(c->in, bufferevent_get_input(bev));
}

static inline void
rig_open(struct rig *r, long nodes)
{
	char why[256] = "";

	*r = (struct rig){ .base = event_base_new(),
		.options = { .kube = "127.0.0.1:0",
		    .control = "127.0.0.1:0",
		    .nodes = nodes, .speed = 1, .seed = 7 } };
	r->tick = event_new(r->base, -1, EV_PERSIST, rig_on_tick, NULL);
	event_add(r->tick, &(struct timeval){ .tv_usec = 20000 });
	if (!sim_open(&r->sim, r->base, &r->options, why, sizeof(why)))
		obj_panic(why, __FILE__, __LINE__, __func__);
}

static inline void
rig_close(struct rig *r)
{
	sim_close(&r->sim);
	event_free(r->tick);
	event_base_free(r->base);
}

static inline void
rig_connect(struct rig *r, struct rig_client *c, const char *url)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)strtol(strrchr(url, ':') + 1, NULL, 10)) };

	*c = (struct rig_client){ .bev = bufferevent_socket_new(r->base, -1, BEV_OPT_CLOSE_ON_FREE),
		.in = evbuffer_new() };
	bufferevent_setcb(c->bev, rig_on_read, NULL, rig_on_event, c);
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	MUST(bufferevent_socket_connect(c->bev, (struct sockaddr *)&sin, sizeof(sin)) == 0);
}

static inline void
rig_disconnect(struct rig_client *c)
{
	bufferevent_free(c->bev);
	evbuffer_free(c->in);
}

/* Chunks become one text. False: the last chunk has not come. */
static inline bool
rig_dechunk(const char *p, const char *end, char *out, size_t *len)
{
	for (*len = 0; p < end;) {
		char *after;
		const unsigned long n = strtoul(p, &after, 16);

		if (after == p || after + 2 > end)
			return false;
		p = after + 2;
		if (n == 0)
			return true;
		const size_t have = (size_t)(end - p) < n ? (size_t)(end - p) : n;
		memcpy(out + *len, p, have);
		*len += have;
		p += n + 2;
	}
	return false;
}

/* Parses what has been received so far. The caller frees it. */
static inline struct rig_answer
rig_parse(const struct rig_client *c)
{
	const size_t n = evbuffer_get_length(c->in);
	struct rig_answer a = { .end = c->reset ? RIG_RESET : c->fin ? RIG_FIN : RIG_OPEN };
	char *const raw = obj_alloc(n + 1);

	evbuffer_copyout(c->in, raw, n);
	a.body = obj_alloc(n + 1);
	char *const blank = strstr(raw, "\r\n\r\n");
	if (blank != NULL) {
		const char *const body = blank + 4;
		bool whole;

		*blank = '\0';
		a.code = (int)strtol(raw + 9, NULL, 10);
		if (strstr(raw, "Transfer-Encoding: chunked") != NULL) {
			whole = rig_dechunk(body, raw + n, a.body, &a.len);
		} else {
			const char *const length = strstr(raw, "Content-Length: ");
			a.len = (size_t)(raw + n - body);
			memcpy(a.body, body, a.len);
			whole = length != NULL && a.len >= strtoul(length + 16, NULL, 10);
		}
		if (whole)
			a.end = RIG_COMPLETE;
	}
	a.head = raw;
	return a;
}

static inline void
rig_free(struct rig_answer *a)
{
	free(a->head);
	free(a->body);
	*a = (struct rig_answer){ 0 };
}

/* True if parsing is worth its cost: a long answer is not copied after every read. */
static inline bool
rig_worth_parsing(struct rig_client *c, const char *until)
{
	enum { SMALL = 64 * 1024, TAIL = 5 };
	const size_t n = evbuffer_get_length(c->in);
	struct evbuffer_ptr at;
	char tail[TAIL] = "";

	if (n < SMALL || c->fin || c->reset)
		return true;
	if (until != NULL) {
		evbuffer_ptr_set(c->in, &at, c->searched, EVBUFFER_PTR_SET);
		if (evbuffer_search(c->in, until, strlen(until), &at).pos != -1)
			return true;
		c->searched = n - strlen(until);
	}
	evbuffer_ptr_set(c->in, &at, n - TAIL, EVBUFFER_PTR_SET);
	evbuffer_copyout_from(c->in, &at, tail, TAIL);
	return memcmp(tail, "0\r\n\r\n", TAIL) == 0;
}

/*
 * Runs the loop until the answer ends somehow, or `until` is in its body (NULL: that is not asked
 * for). What is there then; after 60 s what there is.
 */
static inline struct rig_answer
rig_wait(struct rig *r, struct rig_client *c, const char *until)
{
	const int64_t deadline_ms = clock_mono_ms() + 60000;

	for (c->searched = 0;;) {
		if (rig_worth_parsing(c, until) || clock_mono_ms() >= deadline_ms) {
			struct rig_answer a = rig_parse(c);

			if (a.end != RIG_OPEN || (until != NULL && strstr(a.body, until) != NULL)
			    || clock_mono_ms() >= deadline_ms)
				return a;
			rig_free(&a);
		}
		event_base_loop(r->base, EVLOOP_ONCE);
	}
}

/* Until the answer has begun. */
static inline struct rig_answer
rig_wait_head(struct rig *r, struct rig_client *c)
{
	struct rig_answer a = rig_parse(c);

	while (a.code == 0 && a.end == RIG_OPEN) {
		rig_free(&a);
		event_base_loop(r->base, EVLOOP_ONCE);
		a = rig_parse(c);
	}
	return a;
}

static inline void
rig_send(struct rig_client *c, const char *method, const char *path, const char *headers, const char *body)
{
	evbuffer_add_printf(bufferevent_get_output(c->bev),
	    "%s %s HTTP/1.1\r\nHost: sim\r\nUser-Agent: rig/1\r\nContent-Length: %zu\r\n%s\r\n%s",
	    method, path, strlen(body), headers, body);
}

/* One request on a connection of its own. */
static inline struct rig_answer
rig_ask(struct rig *r, const char *method, const char *path, const char *headers, const char *body,
    const char *until)
{
	struct rig_client c;

	rig_connect(r, &c, sim_server_url(r->sim.kube));
	rig_send(&c, method, path, headers, body);
	struct rig_answer a = rig_wait(r, &c, until);
	rig_disconnect(&c);
	return a;
}

static inline struct rig_answer
rig_get(struct rig *r, const char *path)
{
	return rig_ask(r, "GET", path, "", "", NULL);
}

static inline struct rig_answer
rig_order(struct rig *r, const char *method, const char *path, const char *body)
{
	struct rig_client c;

	rig_connect(r, &c, sim_server_url(r->sim.control));
	rig_send(&c, method, path, "", body);
	struct rig_answer a = rig_wait(r, &c, NULL);
	rig_disconnect(&c);
	return a;
}

static inline void
rig_must_order(struct rig *r, const char *method, const char *path, const char *body)
{
	struct rig_answer a = rig_order(r, method, path, body);

	if (a.code != 200)
		obj_panic(a.body, __FILE__, __LINE__, __func__);
	rig_free(&a);
}

/* strstr in a loop would be quadratic under a sanitizer, which reads the whole text each time. */
static inline size_t
rig_count(const char *text, const char *word)
{
	const size_t len = strlen(word);
	size_t n = 0;

	for (const char *p = text; *p != '\0'; p++)
		n += *p == word[0] && strncmp(p, word, len) == 0;
	return n;
}

#endif
