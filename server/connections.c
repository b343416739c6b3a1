/*
 * server/connections.c - the connections of evhttp, counted.
 *
 * evhttp has no callback for the end of a connection that never sent a request. But it calls us for
 * the connection's bufferevent: we keep a reference of our own, and bufferevent_free removes the
 * callbacks, which shows that evhttp has freed its own. (It sets them when the buffer has been handed
 * over, so there is no sweep in between.) BEV_OPT_CLOSE_ON_FREE leaves closing the descriptor to
 * the last reference, ours: while an event is pending on it, the number must not be used again.
 */
#include "connections.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#include "obj.h"

struct connection {
	struct connections	*owner;
	struct bufferevent	*bev;
	int64_t			 since_ms;
	size_t			 received;	/* bytes, since its last answer */
	bool			 too_large;
};

struct connections {
	uint32_t			 magic;
#define CONNECTIONS_MAGIC	0x434f4e4eu
	struct connection_limits	 limits;
	connections_sweep_now		*now;
	void				*arg;
	struct connection		**held;		/* limits.max of them */
	unsigned			 n;
	size_t				 received;	/* by all */
	struct connection_counts	 counts;
};

static void on_received(struct evbuffer *, const struct evbuffer_cb_info *, void *);
static bool ended(const struct connection *);
static void end(const struct connection *);
static void forget(struct connections *, unsigned);
static struct connection *find(const struct connections *, const struct bufferevent *);

struct connections *
connections_new(const struct connection_limits *limits, connections_sweep_now *now, void *arg)
{
	struct connections *c;

	OBJ_NEW(c, CONNECTIONS_MAGIC);
	c->limits = *limits;
	c->now = now;
	c->arg = arg;
	c->held = obj_alloc(limits->max * sizeof(*c->held));
	return c;
}

void
connections_free(struct connections **cp)
{
	struct connections *c;

	if (*cp == NULL)
		return;
	OBJ_TAKE(c, cp, CONNECTIONS_MAGIC);
	while (c->n > 0)
		forget(c, c->n - 1);
	free(c->held);
	OBJ_FREE(c);
}

void
connections_add(struct connections *c, struct bufferevent *bev, int64_t now_ms)
{
	OBJ_CHECK(c, CONNECTIONS_MAGIC);
	MUST(c->n < c->limits.max);
	struct connection *const one = obj_alloc(sizeof(*one));

	*one = (struct connection){ .owner = c, .bev = bev, .since_ms = now_ms };
	bufferevent_incref(bev);
	if (c->limits.received_max > 0)
		MUST(evbuffer_add_cb(bufferevent_get_input(bev), on_received, one) != NULL);
	c->held[c->n++] = one;
	c->counts.accepted++;
}

bool
connections_full(const struct connections *c)
{
	return c->n == c->limits.max;
}

unsigned
connections_count(const struct connections *c)
{
	return c->n;
}

void
connections_request(struct connections *c, struct bufferevent *bev, int64_t now_ms)
{
	struct connection *const one = find(c, bev);

	if (one != NULL)
		one->since_ms = now_ms;
}

void
connections_answered(struct connections *c, struct bufferevent *bev)
{
	struct connection *const one = find(c, bev);

	if (one == NULL)
		return;
	c->received -= one->received;
	one->received = 0;
}

bool
connections_sweep(struct connections *c, int64_t now_ms)
{
	OBJ_CHECK(c, CONNECTIONS_MAGIC);
	const int64_t life_ms = connections_full(c) ? c->limits.life_full_ms : c->limits.life_ms;

	for (unsigned i = 0; i < c->n;) {
		struct connection *const one = c->held[i];
		const bool expired = now_ms - one->since_ms >= life_ms;

		if (!ended(one) && (expired || one->too_large)) {
			c->counts.expired += !one->too_large;
			end(one);
		}
		if (ended(one))
			forget(c, i);
		else
			i++;
	}
	return !connections_full(c);
}

struct connection_counts
connections_counts(const struct connections *c)
{
	return c->counts;
}

/* The one whose bytes make the sum too large ends: the others are served. */
static void
on_received(struct evbuffer *in, const struct evbuffer_cb_info *info, void *arg)
{
	struct connection *const one = arg;
	struct connections *const c = one->owner;

	(void)in;
	if (one->too_large)
		return;
	one->received += info->n_added;
	c->received += info->n_added;
	if (c->received <= c->limits.received_max)
		return;
	/* What it has sent no longer counts: several may be read before the sweep. */
	c->received -= one->received;
	one->received = 0;
	one->too_large = true;
	c->counts.too_large++;
	bufferevent_disable(one->bev, EV_READ);
	c->now(c->arg);
}

static bool
ended(const struct connection *one)
{
	bufferevent_event_cb on_event;

	bufferevent_getcb(one->bev, NULL, NULL, &on_event, NULL);
	return on_event == NULL;
}

/* evhttp ends a connection that it takes for one that timed out. */
static void
end(const struct connection *one)
{
	bufferevent_trigger_event(one->bev, BEV_EVENT_READING | BEV_EVENT_TIMEOUT, 0);
}

static void
forget(struct connections *c, unsigned i)
{
	struct connection *const one = c->held[i];

	if (c->limits.received_max > 0)
		evbuffer_remove_cb(bufferevent_get_input(one->bev), on_received, one);
	c->received -= one->received;
	bufferevent_decref(one->bev);
	free(one);
	c->held[i] = c->held[--c->n];
}

static struct connection *
find(const struct connections *c, const struct bufferevent *bev)
{
	for (unsigned i = 0; i < c->n; i++) {
		if (c->held[i]->bev == bev)
			return c->held[i];
	}
	return NULL;
}
