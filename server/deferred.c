/* server/deferred.c - a request that is answered later. */
#include "deferred.h"

#include <event2/http.h>

#include "obj.h"

struct deferred {
	uint32_t		 magic;
#define DEFERRED_MAGIC	0x44454652u
	struct evhttp_request	*req;
	deferred_gone		*gone;
	void			*arg;
};

static void on_closed(struct evhttp_connection *, void *);

struct deferred *
deferred_new(struct evhttp_request *req, deferred_gone *gone, void *arg)
{
	struct deferred *d;

	OBJ_NEW(d, DEFERRED_MAGIC);
	d->req = req;
	d->gone = gone;
	d->arg = arg;
	evhttp_connection_set_closecb(evhttp_request_get_connection(req), on_closed, d);
	return d;
}

struct evhttp_request *
deferred_take(struct deferred **dp)
{
	struct deferred *d;

	OBJ_TAKE(d, dp, DEFERRED_MAGIC);
	struct evhttp_request *const req = d->req;
	evhttp_connection_set_closecb(evhttp_request_get_connection(req), NULL, NULL);
	OBJ_FREE(d);
	return req;
}

/* evhttp takes a request that is not answered off its connection, and leaves it to us. */
static void
on_closed(struct evhttp_connection *connection, void *arg)
{
	struct deferred *d = arg;
	deferred_gone *const gone = d->gone;
	void *const of = d->arg;

	(void)connection;
	if (evhttp_request_get_connection(d->req) == NULL)
		evhttp_request_free(d->req);
	OBJ_FREE(d);
	gone(of);
}
