/*
 * actors/metrics/serve.h - one HTTP listener: GET and HEAD, small requests, few connections, no
 * waiting.
 *
 * Never trusts a client with time or memory: 8 KiB of header, no body, one request per connection,
 * limits of conns.h.
 */
#ifndef MUSTER_METRICS_SERVE_H
#define MUSTER_METRICS_SERVE_H

#include <stddef.h>

#include "route.h"

struct serve;
struct event_base;

/* Answers path and query; the body may not fit: then it is asked again with more room. */
typedef void serve_answer(void *arg, const char *path, const char *query, struct answer *a);

/* Takes the listening socket. */
struct serve *serve_new(struct event_base *base, int fd, serve_answer *answer, void *arg);
void serve_free(struct serve **sp);

/*
 * A listening socket for ":port", "host:port" or "[IPv6]:port"; -1 with the cause in why. *config:
 * waiting will not help (the address is taken, is not ours, or is not allowed).
 */
int serve_listen(const char *address, const char **why, bool *config);
/* The address it really has, "127.0.0.1:40001" or "[::]:8080". */
void serve_bound(int fd, char *buf, size_t size);

#endif
