/*
 * server/deferred.h - a request that is answered later. evhttp has one callback per connection for its end:
 * while a request is deferred, this module has it.
 */
#ifndef MUSTER_SERVER_DEFERRED_H
#define MUSTER_SERVER_DEFERRED_H

struct deferred;
struct evhttp_request;

/*
 * The connection has ended: there is no one to answer. The request and the struct deferred are
 * freed already.
 */
typedef void deferred_gone(void *arg);

struct deferred *deferred_new(struct evhttp_request *req, deferred_gone *gone, void *arg);
/* Frees it and returns the request, which the caller answers now. */
struct evhttp_request *deferred_take(struct deferred **dp);

#endif
