/*
 * actors/metrics/conns.c - a book of evhttp's connections.
 *
 * evhttp does not tell when a connection that never sent a request ends. But it asks us for the
 * connection's bufferevent: we keep a reference of our own, and bufferevent_free takes the
 * callbacks away, which shows that evhttp has let go. (It sets them when conns_open has returned,
 * so there is no sweep in between.) BEV_OPT_CLOSE_ON_FREE leaves closing the descriptor to the last
 * reference, ours: with an event still pending on it, the number must not be given to somebody else
 * before.
 */
#include "conns.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include "obj.h"

static bool ended(struct bufferevent *);

struct bufferevent *
conns_open(struct conns *c, struct event_base *base, int64_t now_ms)
{
	MUST(c->n < CONNS_MAX);
	struct bufferevent *bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);

	MUST(bev != NULL);
	bufferevent_incref(bev);
	c->held[c->n] = bev;
	c->opened_ms[c->n] = now_ms;
	c->n++;
	return bev;
}

bool
conns_sweep(struct conns *c, int64_t now_ms)
{
	const int64_t life_ms = c->n < CONNS_MAX ? CONNS_LIFE_MS : CONNS_CROWDED_MS;

	for (unsigned i = 0; i < c->n;) {
		if (!ended(c->held[i]) && now_ms - c->opened_ms[i] >= life_ms)
			bufferevent_trigger_event(c->held[i], BEV_EVENT_READING | BEV_EVENT_TIMEOUT, 0);
		if (!ended(c->held[i])) {
			i++;
			continue;
		}
		bufferevent_decref(c->held[i]);
		c->n--;
		c->held[i] = c->held[c->n];
		c->opened_ms[i] = c->opened_ms[c->n];
	}
	return c->n < CONNS_MAX;
}

void
conns_close(struct conns *c)
{
	for (unsigned i = 0; i < c->n; i++)
		bufferevent_decref(c->held[i]);
	c->n = 0;
}

static bool
ended(struct bufferevent *bev)
{
	bufferevent_event_cb on_event;

	bufferevent_getcb(bev, NULL, NULL, &on_event, NULL);
	return on_event == NULL;
}
