/*
 * actors/metrics/connections.h - how many connections there are, and for how long.
 *
 * evhttp (libevent 2.1) has no limit of its own and its timeout is per read, so that a client
 * sending a byte now and then stays for hours. Descriptors must not run out: libzmq aborts the
 * process when accept on an ipc socket finds none.
 */
#ifndef MUSTER_METRICS_CONNECTIONS_H
#define MUSTER_METRICS_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct bufferevent;
struct event_base;

enum {
	CONNECTIONS_MAX	 = 32,
	CONNECTION_MAX_MS	 = 10000,	/* from accept to the last byte, ... */
	CONNECTION_MAX_FULL_MS = 1000,	/* ... and when full: idlers must not keep the kubelet out */
};

struct connections {
	struct bufferevent	*held[CONNECTIONS_MAX];
	int64_t			 opened_ms[CONNECTIONS_MAX];
	unsigned		 n;
};

/* The buffer for a new connection, counted. There must be room. */
struct bufferevent *connections_open(struct connections *c, struct event_base *base, int64_t now_ms);
/* Forgets those that evhttp has ended, ends those that are too old. True: there is room. */
bool connections_sweep(struct connections *c, int64_t now_ms);
/* After evhttp_free. */
void connections_close(struct connections *c);

#endif
