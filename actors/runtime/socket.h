/*
 * actors/runtime/socket.h - a ZeroMQ socket on a libevent loop, with the options that lose nothing
 * silently.
 *
 * The trap: ZMQ_FD is edge-triggered and only signals that something changed. After every callback
 * and every send ZMQ_EVENTS must be read until it is empty, or the loop sleeps on a full socket. So
 * nothing is read in the event's callback: it wakes the owner's pump.
 */
#ifndef MUSTER_SOCKET_H
#define MUSTER_SOCKET_H

#include <czmq.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>

struct socket;

enum socket_kind { SOCKET_ROUTER, SOCKET_DEALER, SOCKET_XPUB };

/*
 * ROUTER and XPUB bind `path`, DEALER connects to it as `id`. `wake` is called on the loop when
 * there may be something to do; it must drain. NULL with errno when the bind failed.
 */
struct socket *socket_new(enum socket_kind kind, const char *path, const char *id, struct event_base *base,
    void (*wake)(void *), void *arg);
void socket_free(struct socket **sp);

bool socket_readable(struct socket *s);
bool socket_writable(struct socket *s);
/*
 * A part into msg (initialised by the caller); false when there is none now. *more: another part of
 * it follows.
 */
bool socket_recv(struct socket *s, zmq_msg_t *msg, bool *more);
/* One part; false with errno EAGAIN (full, or no connection) or EHOSTUNREACH (ROUTER: that peer is gone). */
bool socket_send(struct socket *s, const void *p, size_t len, bool more);
/*
 * The last part, from memory that the socket takes, also when it returns false: done(p, hint) is called,
 * on any thread, when no peer needs it any more.
 */
bool socket_give(struct socket *s, void *p, size_t len, zmq_free_fn *done, void *hint);

#endif
