/*
 * tests/actors/kube_serve.c - JSON lines over a unix socket, on the actor's loop. Never in a
 * release build.
 */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "kube.h"
#include "log.h"
#include "obj.h"

enum { LINE_MAX_BYTES = 2 * 1024 * 1024 };

struct conn {
	TAILQ_ENTRY(conn)	 next;
	struct kube_serve	*serve;
	uint64_t		 id;
	struct bufferevent	*bev;
};

struct kube_serve {
	uint32_t		 magic;
#define KUBE_SERVE_MAGIC	0x4b534552u
	struct event_base	*base;
	struct evconnlistener	*listener;
	TAILQ_HEAD(, conn)	 conns;
	uint64_t		 last_id;
	kube_ask_fn		*ask;
	void			*arg;
};

static void on_accept(struct evconnlistener *, evutil_socket_t, struct sockaddr *, int, void *);
static void on_read(struct bufferevent *, void *);
static void on_event(struct bufferevent *, short, void *);
static void on_line(struct conn *, const char *, size_t);
static void drop(struct conn *);

struct kube_serve *
kube_serve_new(struct event_base *base, const char *path, kube_ask_fn *ask, void *arg)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct kube_serve *s;

	if (strlen(path) >= sizeof(sa.sun_path))
		fatalx("the socket's path is too long", KV_S(PATH, path));
	memcpy(sa.sun_path, path, strlen(path) + 1);
	unlink(path);
	OBJ_NEW(s, KUBE_SERVE_MAGIC);
	s->base = base;
	s->ask = ask;
	s->arg = arg;
	TAILQ_INIT(&s->conns);
	s->listener = evconnlistener_new_bind(base, on_accept, s,
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 128, (struct sockaddr *)&sa, sizeof(sa));
	if (s->listener == NULL)
		fatal("cannot listen", KV_S(PATH, path));
	return s;
}

void
kube_serve_free(struct kube_serve **sp)
{
	struct kube_serve *s;
	struct conn *c, *next;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, KUBE_SERVE_MAGIC);
	for (c = TAILQ_FIRST(&s->conns); c != NULL; c = next) {
		next = TAILQ_NEXT(c, next);
		drop(c);
	}
	evconnlistener_free(s->listener);
	OBJ_FREE(s);
}

void
kube_serve_answer(struct kube_serve *s, uint64_t conn, json_t *answer)
{
	struct conn *c;

	OBJ_CHECK(s, KUBE_SERVE_MAGIC);
	TAILQ_FOREACH(c, &s->conns, next) {
		if (c->id == conn)
			break;
	}
	if (c != NULL) {
		char *const text = json_dumps(answer, JSON_COMPACT);

		MUST(text != NULL);
		bufferevent_write(c->bev, text, strlen(text));
		bufferevent_write(c->bev, "\n", 1);
		free(text);
	}
	json_decref(answer);
}

static void
on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa, int len, void *arg)
{
	struct kube_serve *const s = arg;
	struct conn *const c = obj_alloc(sizeof(*c));

	(void)l, (void)sa, (void)len;
	c->serve = s;
	c->id = ++s->last_id;
	c->bev = bufferevent_socket_new(s->base, fd, BEV_OPT_CLOSE_ON_FREE);
	MUST(c->bev != NULL);
	TAILQ_INSERT_TAIL(&s->conns, c, next);
	bufferevent_setcb(c->bev, on_read, NULL, on_event, c);
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
}

static void
on_read(struct bufferevent *bev, void *arg)
{
	struct conn *const c = arg;
	struct evbuffer *const in = bufferevent_get_input(bev);
	char *line;
	size_t len;

	while ((line = evbuffer_readln(in, &len, EVBUFFER_EOL_LF)) != NULL) {
		on_line(c, line, len);
		free(line);
	}
	if (evbuffer_get_length(in) > LINE_MAX_BYTES)
		drop(c);
}

static void
on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev, (void)what;
	drop(arg);
}

static void
on_line(struct conn *c, const char *line, size_t len)
{
	json_error_t e;
	json_t *question = json_loadb(line, len, 0, &e);

	json_t *answer = question == NULL ? json_pack("{s:s}", "error", e.text)
					  : c->serve->ask(question, c->id, c->serve->arg);
	if (answer != NULL)
		kube_serve_answer(c->serve, c->id, answer);
	json_decref(question);
}

static void
drop(struct conn *c)
{
	TAILQ_REMOVE(&c->serve->conns, c, next);
	bufferevent_free(c->bev);
	free(c);
}
