/*
 * actors/metrics/conns.h - how many connections there are, and for how long.
 *
 * evhttp (libevent 2.1) has no limit of its own and its timeout is per read, so that a client
 * sending a byte now and then stays for hours. Descriptors must not run out: libzmq aborts the
 * process when accept on an ipc socket finds none.
 */
#ifndef MUSTER_METRICS_CONNS_H
#define MUSTER_METRICS_CONNS_H

#include <stdbool.h>
#include <stdint.h>

struct bufferevent;
struct event_base;

enum {
	CONNS_MAX	 = 32,
	CONNS_LIFE_MS	 = 10000,	/* from accept to the last byte, ... */
	CONNS_CROWDED_MS = 1000,	/* ... and when full: idlers must not keep the kubelet out */
};

struct conns {
	struct bufferevent	*held[CONNS_MAX];
	int64_t			 opened_ms[CONNS_MAX];
	unsigned		 n;
};

/* The buffer for a new connection, counted. There must be room. */
struct bufferevent *conns_open(struct conns *c, struct event_base *base, int64_t now_ms);
/* Forgets those that evhttp has ended, ends those that are too old. True: there is room. */
bool conns_sweep(struct conns *c, int64_t now_ms);
/* After evhttp_free. */
void conns_close(struct conns *c);

#endif
