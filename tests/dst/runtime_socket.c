/*
 * tests/dst/runtime_socket.c - socket.h over the simulator's pipes.
 *
 * A DEALER and the ROUTER of its path have a connection while both exist; it takes some time to be
 * made, also again after either end was replaced. What is in flight is lost with it. As with
 * ZMQ_IMMEDIATE and ROUTER_MANDATORY, a DEALER without a connection is not writable, and a ROUTER
 * reports an unknown peer. Not modelled: that ZMQ_FD is edge-triggered.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "envelope.h"
#include "obj.h"
#include "runtime.h"
#include "socket.h"

enum { CONNECT_MAX_MS = 60 };

struct connection {
	TAILQ_ENTRY(connection)	 next;		/* of the ROUTER */
	struct socket		*router, *dealer;
	struct sim_pipe		 up, down;	/* to the ROUTER, to the DEALER */
};

struct socket {
	TAILQ_ENTRY(socket)	 next;
	struct sockets		*all;
	uint64_t		 serial;
	enum socket_kind	 kind;
	char			 path[128], id[64];
	struct runtime_actor	*owner;
	void		       (*wake)(void *);
	void			*arg;
	TAILQ_HEAD(, connection) peers;		/* ROUTER */
	struct connection	*to;		/* DEALER: its own; ROUTER: of the message being sent */
	struct sim_frame	 body;		/* ROUTER: after its routing id was read */
	bool			 has_body;
};

struct sockets {
	struct sim		*sim;
	uint64_t		 serial;
	TAILQ_HEAD(, socket)	 list;
	struct msg_arena	 arena;
};

static void connect_later(struct socket *);
static void connect_now(struct sim *, void *, uint64_t);
static void disconnect(struct connection *);
static struct connection *due_connection(const struct socket *);
static int64_t due_ms(const struct socket *);
static void fill(zmq_msg_t *, const void *, size_t);
static bool send_frame(struct socket *, struct sim_pipe *, const void *, size_t);
static bool is_write(struct sockets *, const void *, size_t);

struct sockets *
sockets_new(struct sim *sim)
{
	struct sockets *all = obj_alloc(sizeof(*all));

	all->sim = sim;
	TAILQ_INIT(&all->list);
	msg_arena_init(&all->arena);
	return all;
}

void
sockets_free(struct sockets **sp)
{
	struct sockets *all = *sp;

	MUST(TAILQ_EMPTY(&all->list));
	msg_arena_free(&all->arena);
	free(all);
	*sp = NULL;
}

bool
sockets_wake(struct sockets *all, const struct runtime_actor *r)
{
	bool woken = false;
	struct socket *s;

	TAILQ_FOREACH(s, &all->list, next) {
		if (s->owner != r || due_ms(s) > all->sim->now_ms)
			continue;
		s->wake(s->arg);
		woken = true;
	}
	return woken;
}

int64_t
sockets_due_ms(const struct sockets *all, const struct runtime_actor *r)
{
	int64_t first_ms = INT64_MAX;
	const struct socket *s;

	TAILQ_FOREACH(s, &all->list, next) {
		const int64_t at_ms = s->owner == r ? due_ms(s) : INT64_MAX;

		first_ms = at_ms < first_ms ? at_ms : first_ms;
	}
	return first_ms;
}

/* ---- socket.h ---- */

struct socket *
socket_new(enum socket_kind kind, const char *path, const char *id, struct event_base *base,
    void (*wake)(void *), void *arg)
{
	struct runtime_actor *const owner = runtime_loop_owner(base);
	struct sockets *const all = owner->runtime->sockets;
	struct socket *s = obj_alloc(sizeof(*s)), *other;

	s->all = all;
	s->serial = ++all->serial;
	s->kind = kind;
	s->owner = owner;
	s->wake = wake;
	s->arg = arg;
	TAILQ_INIT(&s->peers);
	snprintf(s->path, sizeof(s->path), "%s", path);
	snprintf(s->id, sizeof(s->id), "%s", id != NULL ? id : "");
	TAILQ_INSERT_TAIL(&all->list, s, next);
	TAILQ_FOREACH(other, &all->list, next) {
		if (kind == SOCKET_ROUTER && other->kind == SOCKET_DEALER && strcmp(other->path, path) == 0)
			connect_later(other);
	}
	if (kind == SOCKET_DEALER)
		connect_later(s);
	return s;
}

void
socket_free(struct socket **sp)
{
	struct socket *s = *sp;
	struct connection *c;

	if (s == NULL)
		return;
	while ((c = TAILQ_FIRST(&s->peers)) != NULL) {
		TAILQ_REMOVE(&s->peers, c, next);
		disconnect(c);
	}
	if (s->kind == SOCKET_DEALER && s->to != NULL) {
		TAILQ_REMOVE(&s->to->router->peers, s->to, next);
		disconnect(s->to);
	}
	if (s->has_body)
		free(s->body.bytes);
	TAILQ_REMOVE(&s->all->list, s, next);
	free(s);
	*sp = NULL;
}

bool
socket_readable(struct socket *s)
{
	return s->has_body || due_ms(s) <= s->all->sim->now_ms;
}

bool
socket_writable(struct socket *s)
{
	return s->kind != SOCKET_DEALER || (s->to != NULL && s->to->up.len < s->to->up.max);
}

bool
socket_recv(struct socket *s, zmq_msg_t *msg, bool *more)
{
	struct sim_frame frame;

	if (s->has_body) {
		s->has_body = *more = false;
		fill(msg, s->body.bytes, s->body.len);
		free(s->body.bytes);
		return true;
	}
	struct connection *const c = due_connection(s);
	if (c == NULL || !sim_pipe_read(s->all->sim, s->kind == SOCKET_ROUTER ? &c->up : &c->down, &frame))
		return false;
	*more = s->kind == SOCKET_ROUTER;
	if (*more) {
		s->has_body = true;
		s->body = frame;
		fill(msg, c->dealer->id, strlen(c->dealer->id));
		return true;
	}
	fill(msg, frame.bytes, frame.len);
	free(frame.bytes);
	return true;
}

bool
socket_send(struct socket *s, const void *p, size_t len, bool more)
{
	struct connection *c;

	if (s->owner->killed)
		return true;
	if (s->kind != SOCKET_ROUTER) {
		if (!socket_writable(s)) {
			errno = EAGAIN;
			return false;
		}
		if (!send_frame(s, &s->to->up, p, len))
			return false;
		if (is_write(s->all, p, len))
			runtime_effect(s->owner, EFFECT_SENT);
		return true;
	}
	if (!more)
		return send_frame(s, &s->to->down, p, len);
	TAILQ_FOREACH(c, &s->peers, next) {
		if (strlen(c->dealer->id) == len && memcmp(c->dealer->id, p, len) == 0)
			break;
	}
	if (c == NULL || c->down.len >= c->down.max) {
		errno = c == NULL ? EHOSTUNREACH : EAGAIN;
		return false;
	}
	s->to = c;
	return true;
}

bool
socket_give(struct socket *s, void *p, size_t len, zmq_free_fn *done, void *hint)
{
	const bool sent = socket_send(s, p, len, false);

	done(p, hint);
	return sent;
}

/* ---- Connections ---- */

static void
connect_later(struct socket *dealer)
{
	struct sim *const sim = dealer->all->sim;

	sim_at(sim, sim->now_ms + (int64_t)sim_random(sim, CONNECT_MAX_MS), connect_now, dealer->all,
	    dealer->serial);
}

static void
connect_now(struct sim *sim, void *arg, uint64_t serial)
{
	struct sockets *const all = arg;
	struct socket *dealer = NULL, *router = NULL, *s;

	(void)sim;
	TAILQ_FOREACH(s, &all->list, next) {
		if (s->serial == serial)
			dealer = s;
	}
	if (dealer == NULL || dealer->to != NULL)
		return;
	TAILQ_FOREACH(s, &all->list, next) {
		if (s->kind == SOCKET_ROUTER && strcmp(s->path, dealer->path) == 0)
			router = s;
	}
	if (router == NULL)
		return;
	struct connection *const c = obj_alloc(sizeof(*c));
	c->router = router;
	c->dealer = dealer;
	sim_pipe_init(&c->up, &router->owner->node, RUNTIME_FRAMES_MAX);
	sim_pipe_init(&c->down, &dealer->owner->node, RUNTIME_FRAMES_MAX);
	sim_pipe_open(&c->up);
	sim_pipe_open(&c->down);
	TAILQ_INSERT_TAIL(&router->peers, c, next);
	dealer->to = c;
	dealer->wake(dealer->arg);	/* it is writable now */
}

/* It is out of the ROUTER's list already. */
static void
disconnect(struct connection *c)
{
	if (c->router->to == c)
		c->router->to = NULL;
	c->dealer->to = NULL;
	sim_late_drop(c->router->all->sim, &c->up);
	sim_late_drop(c->router->all->sim, &c->down);
	sim_pipe_free(&c->up);
	sim_pipe_free(&c->down);
	free(c);
}

static struct connection *
due_connection(const struct socket *s)
{
	const int64_t now_ms = s->all->sim->now_ms;
	struct connection *first = NULL, *c;

	if (s->kind == SOCKET_DEALER)
		return s->to != NULL && sim_pipe_due_ms(&s->to->down) <= now_ms ? s->to : NULL;
	TAILQ_FOREACH(c, &s->peers, next) {
		if (sim_pipe_due_ms(&c->up) <= now_ms
		    && (first == NULL || sim_pipe_due_ms(&c->up) < sim_pipe_due_ms(&first->up)))
			first = c;
	}
	return first;
}

static int64_t
due_ms(const struct socket *s)
{
	int64_t first_ms = INT64_MAX;
	const struct connection *c;

	if (s->kind == SOCKET_DEALER)
		return s->to != NULL ? sim_pipe_due_ms(&s->to->down) : INT64_MAX;
	TAILQ_FOREACH(c, &s->peers, next) {
		const int64_t at_ms = sim_pipe_due_ms(&c->up);

		first_ms = at_ms < first_ms ? at_ms : first_ms;
	}
	return first_ms;
}

/* ---- Frames ---- */

static void
fill(zmq_msg_t *msg, const void *bytes, size_t len)
{
	zmq_msg_close(msg);
	MUST(zmq_msg_init_size(msg, len) == 0);
	if (len > 0)
		memcpy(zmq_msg_data(msg), bytes, len);
}

static bool
send_frame(struct socket *s, struct sim_pipe *pipe, const void *bytes, size_t len)
{
	const enum sim_sent sent = sim_pipe_send(s->all->sim, pipe, bytes, len, 0, 0);

	errno = sent == SIM_FULL ? EAGAIN : EHOSTUNREACH;
	return sent == SIM_SENT;
}

static bool
is_write(struct sockets *all, const void *bytes, size_t len)
{
	struct frame f;

	msg_arena_reset(&all->arena);
	return frame_open(&f, bytes, len, &all->arena) == NULL && f.env.type == MSG_WRITE;
}
