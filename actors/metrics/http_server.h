/*
 * actors/metrics/http_server.h - one HTTP listener: GET and HEAD, small requests, few connections, no
 * waiting.
 *
 * Limits what a client can take of time and memory: 8 KiB of header, no body, one request per connection,
 * limits of connections.h.
 */
#ifndef MUSTER_METRICS_HTTP_SERVER_H
#define MUSTER_METRICS_HTTP_SERVER_H

#include <stddef.h>

#include "route.h"

struct http_server;
struct event_base;

/* Answers path and query. When the body does not fit, it is called again with more room. */
typedef void http_server_answer(void *arg, const char *path, const char *query, struct answer *a);

/* Takes the listening socket. */
struct http_server *http_server_new(struct event_base *base, int fd, http_server_answer *answer, void *arg);
void http_server_free(struct http_server **sp);

/*
 * A listening socket for ":port", "host:port" or "[IPv6]:port"; -1 with the cause in why. *config:
 * waiting will not help (the address is taken, is not ours, or is not allowed).
 */
int http_server_listen(const char *address, const char **why, bool *config);
/* The address it really has, "127.0.0.1:40001" or "[::]:8080". */
void http_server_address(int fd, char *buf, size_t size);

#endif
