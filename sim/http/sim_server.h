/* sim/http/sim_server.h - one HTTP listener, plain or TLS. */
#ifndef MUSTER_SIM_SERVER_H
#define MUSTER_SIM_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct evhttp_connection;
struct evhttp_request;
struct evkeyvalq;
struct sim_server;
struct tls_server;

typedef void sim_server_handler(struct evhttp_request *req, void *arg);

/* address is "HOST:PORT". NULL with a text in err. tls may be NULL; it is not taken. */
struct sim_server *sim_server_new(struct event_base *base, const char *address, struct tls_server *tls,
    sim_server_handler *handler, void *arg, char *err, size_t size);
void sim_server_free(struct sim_server **sp);
/* "http://127.0.0.1:40001". */
const char *sim_server_url(const struct sim_server *s);
/*
 * Stops listening and breaks every connection; and listens again on the same address. False: it
 * cannot (errno).
 */
void sim_server_stop(struct sim_server *s);
bool sim_server_resume(struct sim_server *s);

/* Ends one connection and its request, in the middle of an answer if there is one; reset: with an RST. */
void sim_server_break(struct evhttp_connection *connection, bool reset);
/* The clock of a server that is so many seconds ahead; without this evhttp writes the right time. */
void sim_server_add_date(struct evkeyvalq *headers, int64_t ahead_s);
/* The text of the codes for which evhttp has other words than Go; NULL: evhttp's. */
const char *sim_server_phrase(int code);

#endif
