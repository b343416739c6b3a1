/*
 * actors/metrics/port.h - one port of the actor: GET and HEAD, small requests, few connections, no waiting;
 * plain, or with TLS.
 */
#ifndef MUSTER_METRICS_PORT_H
#define MUSTER_METRICS_PORT_H

#include "route.h"

struct port;
struct event_base;
struct tls_server;

/* Answers path and query. When the body does not fit, it is called again with more room. */
typedef void port_answer(void *arg, const char *path, const char *query, struct answer *a);

/* Takes the listening socket. tls: NULL, or the certificate, which is not taken; its changes are logged. */
struct port *port_new(
    struct event_base *base, int fd, struct tls_server *tls, port_answer *answer, void *arg);
void port_free(struct port **pp);

#endif
