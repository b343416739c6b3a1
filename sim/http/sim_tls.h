/*
 * sim/http/sim_tls.h - the server's certificate, read again when its file changes, and who the client's
 * certificate names.
 */
#ifndef MUSTER_SIM_TLS_H
#define MUSTER_SIM_TLS_H

#include <stdbool.h>
#include <stddef.h>

struct sim_tls;
struct bufferevent;
struct event_base;

/* client_ca may be NULL. NULL with a text in err. */
struct sim_tls *sim_tls_new(const char *cert, const char *key, const char *client_ca, char *err, size_t size);
void sim_tls_free(struct sim_tls **tp);
/* For a connection that is about to be accepted. */
struct bufferevent *sim_tls_accept(struct sim_tls *t, struct event_base *base);
/* The common name of a client certificate that our CA signed; false: there is none. */
bool sim_tls_client(struct bufferevent *bev, char *name, size_t size);

#endif
