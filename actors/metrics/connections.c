/*
 * actors/metrics/connections.c - the connections of evhttp, counted.
 *
 * evhttp has no callback for the end of a connection that never sent a request. But it calls us for
 * the connection's bufferevent: we keep a reference of our own, and bufferevent_free removes the
 * callbacks, which shows that evhttp has freed its own. (It sets them when connections_open has
 * returned, so there is no sweep in between.) BEV_OPT_CLOSE_ON_FREE leaves closing the descriptor to
 * the last reference, ours: while an event is pending on it, the number must not be used again.
 */
#include "connections.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include "obj.h"

static bool ended(struct bufferevent *);

struct bufferevent *
connections_open(struct connections *c, struct event_base *base, int64_t now_ms)
{
	MUST(c->n < CONNECTIONS_MAX);
	struct bufferevent *bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);

	MUST(bev != NULL);
	bufferevent_incref(bev);
	c->held[c->n] = bev;
	c->opened_ms[c->n] = now_ms;
	c->n++;
	return bev;
}

bool
connections_sweep(struct connections *c, int64_t now_ms)
{
	const int64_t life_ms = c->n < CONNECTIONS_MAX ? CONNECTION_MAX_MS : CONNECTION_MAX_FULL_MS;

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
	return c->n < CONNECTIONS_MAX;
}

void
connections_close(struct connections *c)
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
