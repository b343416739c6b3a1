/*
 * server/connections.h - how many connections there are, for how long, and what they hold in memory.
 *
 * evhttp (libevent 2.1) has no limit of its own and its timeout is per read, so that a client
 * sending a byte now and then stays for hours. Descriptors must not run out: libzmq aborts the
 * process when accept on an ipc socket finds none. Its limit of a body is per request, so that many
 * connections at once could take any amount of memory: here is one for all of them.
 */
#ifndef MUSTER_SERVER_CONNECTIONS_H
#define MUSTER_SERVER_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bufferevent;
struct connections;

struct connection_limits {
	unsigned	max;
	int64_t		life_ms;	/* from accept to the last byte; and again from each request on */
	int64_t		life_full_ms;	/* ... while there is no room for another */
	size_t		received_max;	/* bytes of all, not answered yet; 0: no limit */
};

/*
 * Called when a connection has made the sum too large, and is to be ended by a sweep, which must
 * come soon.
 */
typedef void connections_sweep_now(void *arg);

struct connections *connections_new(
    const struct connection_limits *limits, connections_sweep_now *now, void *arg);
/* After evhttp_free. */
void connections_free(struct connections **cp);

/* Counts a new one, whose buffer this is. There must be room. */
void connections_add(struct connections *c, struct bufferevent *bev, int64_t now_ms);
bool connections_full(const struct connections *c);
unsigned connections_count(const struct connections *c);
/* A request has come on it: its life begins again. */
void connections_request(struct connections *c, struct bufferevent *bev, int64_t now_ms);
/* ... and is answered: what it has sent is no longer held. */
void connections_answered(struct connections *c, struct bufferevent *bev);
/* Forgets those that evhttp has ended, ends those that are too old or too large. True: there is room. */
bool connections_sweep(struct connections *c, int64_t now_ms);

struct connection_counts {
	uint64_t	accepted, expired, too_large;
};
struct connection_counts connections_counts(const struct connections *c);

#endif
