/* actors/runtime/socket.c - ZeroMQ sockets, set up once and the same everywhere. */
#include "socket.h"

#include <errno.h>
#include <stdio.h>

#include "obj.h"
#include "scan.h"
#include "session.h"

enum {
	/* Czmq's default 0 loses what was just sent; -1 can hang a stop for ever. */
	LINGER_MS	 = 1000,
	/* With 0 libzmq 4.3.4 aborts when a reader goes halfway through a record while we close. */
	LINGER_TAP_MS	 = 100,
	/* Above any credit: reaching it is a bug, and counted. */
	HWM_BUS		 = SESSION_WINDOW_MAX + 512,
	HWM_TAP		 = 1000,
	RECONNECT_MS	 = 20,
	RECONNECT_MAX_MS = 500,
	UNKNOWN		 = -1,
};

struct socket {
	uint32_t	 magic;
#define SOCKET_MAGIC	0x534f434bu
	zsock_t		*sock;
	void		*handle;	/* libzmq's own, for the paths that must not allocate */
	struct event	*event;
	void	       (*wake)(void *);
	void		*arg;
	/*
	 * What others do comes with an edge; what we do may take that edge away. So until either,
	 * what was seen last is still so, and an idle socket costs no system call.
	 */
	bool		 dry;		/* there was nothing to read */
	int		 events;	/* ZMQ_EVENTS, or UNKNOWN */
};

static int read_events(struct socket *);
static void on_event(evutil_socket_t, short, void *);

struct socket *
socket_new(enum socket_kind kind, const char *path, const char *id, struct event_base *base,
    void (*wake)(void *), void *arg)
{
	static const int types[] = {
		[SOCKET_ROUTER] = ZMQ_ROUTER, [SOCKET_DEALER] = ZMQ_DEALER, [SOCKET_XPUB] = ZMQ_XPUB,
	};
	const int hwm = kind == SOCKET_XPUB ? HWM_TAP : HWM_BUS;
	struct socket *s;

	OBJ_NEW(s, SOCKET_MAGIC);
	s->wake = wake;
	s->arg = arg;
	s->events = UNKNOWN;
	s->sock = zsock_new(types[kind]);
	MUST(s->sock != NULL);
	s->handle = zsock_resolve(s->sock);
	zsock_set_linger(s->sock, kind == SOCKET_XPUB ? LINGER_TAP_MS : LINGER_MS);
	zsock_set_sndhwm(s->sock, hwm);
	zsock_set_rcvhwm(s->sock, hwm);
	zsock_set_maxmsgsize(s->sock, FRAME_MAX_BYTES);
	switch (kind) {
	/*
	 * An unknown peer is an error, not a silent loss; one that connects anew takes its name over. Trap
	 * (measured): now and then libzmq 4.3.4 never closes the descriptor of the connection that lost its
	 * name. A restarted actor has a new name; an unknown sender that repeats one for long uses up the
	 * descriptors of this actor, which is then restarted.
	 */
	case SOCKET_ROUTER:
		zsock_set_router_mandatory(s->sock, 1);
		zsock_set_router_handover(s->sock, 1);
		break;
	/* The queue dies with the connection: nothing meant for the dead reaches the living. */
	case SOCKET_DEALER:
		zsock_set_immediate(s->sock, 1);
		zsock_set_identity(s->sock, id);
		zsock_set_reconnect_ivl(s->sock, RECONNECT_MS);
		zsock_set_reconnect_ivl_max(s->sock, RECONNECT_MAX_MS);
		break;
	case SOCKET_XPUB:
		break;
	}
	const int rc = kind == SOCKET_DEALER ? zsock_connect(s->sock, "ipc://%s", path)
					     : zsock_bind(s->sock, "ipc://%s", path);
	if (rc == -1) {
		const int saved = errno;

		zsock_destroy(&s->sock);
		OBJ_FREE(s);
		errno = saved;
		return NULL;
	}
	s->event = event_new(
	    base, (evutil_socket_t)zsock_fd(s->sock), EV_READ | EV_PERSIST | EV_ET, on_event, s);
	MUST(s->event != NULL && event_add(s->event, NULL) == 0);
	return s;
}

void
socket_free(struct socket **sp)
{
	struct socket *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, SOCKET_MAGIC);
	event_free(s->event);
	zsock_destroy(&s->sock);
	OBJ_FREE(s);
}

bool
socket_readable(struct socket *s)
{
	return !s->dry && (read_events(s) & ZMQ_POLLIN) != 0;
}

bool
socket_writable(struct socket *s)
{
	return (read_events(s) & ZMQ_POLLOUT) != 0;
}

bool
socket_recv(struct socket *s, zmq_msg_t *msg, bool *more)
{
	if (s->dry)
		return false;
	s->events = UNKNOWN;
	if (zmq_msg_recv(msg, s->handle, ZMQ_DONTWAIT) == -1) {
		MUST(errno == EAGAIN || errno == EINTR);
		s->dry = errno == EAGAIN;
		return false;
	}
	*more = zmq_msg_more(msg) != 0;
	return true;
}

bool
socket_send(struct socket *s, const void *p, size_t len, bool more)
{
	int rc;

	s->events = UNKNOWN;
	s->dry = false;
	do {	/* a signal between two parts must not leave half a message behind */
		rc = zmq_send(s->handle, p, len, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0));
	} while (rc == -1 && errno == EINTR);
	MUST(rc != -1 || errno == EAGAIN || errno == EHOSTUNREACH);
	return rc != -1;
}

bool
socket_give(struct socket *s, void *p, size_t len, zmq_free_fn *done, void *hint)
{
	zmq_msg_t msg;
	int rc;

	MUST(zmq_msg_init_data(&msg, p, len, done, hint) == 0);
	s->events = UNKNOWN;
	s->dry = false;
	do {
		rc = zmq_msg_send(&msg, s->handle, ZMQ_DONTWAIT);
	} while (rc == -1 && errno == EINTR);
	MUST(rc != -1 || errno == EAGAIN || errno == EHOSTUNREACH);
	if (rc == -1)
		zmq_msg_close(&msg);
	return rc != -1;
}

static int
read_events(struct socket *s)
{
	size_t size = sizeof(s->events);

	if (s->events != UNKNOWN)
		return s->events;
	while (zmq_getsockopt(s->handle, ZMQ_EVENTS, &s->events, &size) == -1)
		MUST(errno == EINTR);
	s->dry = (s->events & ZMQ_POLLIN) == 0;
	return s->events;
}

static void
on_event(evutil_socket_t fd, short what, void *arg)
{
	struct socket *s = arg;

	(void)fd, (void)what;
	s->events = UNKNOWN;
	s->dry = false;
	s->wake(s->arg);
}
