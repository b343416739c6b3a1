/* sim/http/sim_server.h - one HTTP listener, plain or TLS. */
#ifndef MUSTER_SIM_SERVER_H
#define MUSTER_SIM_SERVER_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;
struct evhttp_request;
struct server;
struct tls;

typedef void server_handler(struct evhttp_request *req, void *arg);

/* address is "HOST:PORT" in numbers. NULL with a text in err. tls may be NULL; it is not taken. */
struct server *server_new(struct event_base *base, const char *address, struct tls *tls,
    server_handler *handler, void *arg, char *err, size_t size);
void server_free(struct server **sp);
/* "http://127.0.0.1:40001". */
const char *server_url(const struct server *s);
/*
 * Stops listening and breaks every connection; and listens again on the same address. False: it
 * cannot (errno).
 */
void server_stop(struct server *s);
bool server_resume(struct server *s);

#endif
