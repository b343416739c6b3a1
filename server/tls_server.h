/*
 * server/tls_server.h - the certificate of a server, read again when its files change; and who the
 * certificate of a client names. TLS 1.2 and newer.
 */
#ifndef MUSTER_SERVER_TLS_SERVER_H
#define MUSTER_SERVER_TLS_SERVER_H

#include <stdbool.h>
#include <stddef.h>

struct tls_server;
struct bufferevent;
struct event_base;

/* What to do with a client that has no certificate of the CA. Without a CA none is asked for. */
enum tls_clients {
	TLS_CLIENTS_ADMITTED,	/* it gets its connection, and an answer in HTTP as the apiserver's 401 */
	TLS_CLIENTS_REFUSED,	/* the handshake fails */
};

struct tls_server_files {
	const char		*cert, *key;	/* the texts are copied */
	const char		*client_ca;	/* NULL or "": none */
	enum tls_clients	 clients;
};

/* NULL with a text in err. */
struct tls_server *tls_server_new(const struct tls_server_files *files, char *err, size_t size);
void tls_server_free(struct tls_server **tp);

/*
 * Reads the files again if one of them has changed. Files that do not fit together, such as a new certificate
 * whose key is still the old one, leave what is in force; the cause is in err, once for each change.
 */
enum tls_reload { TLS_UNCHANGED, TLS_RELOADED, TLS_REFUSED };
enum tls_reload tls_server_reload(struct tls_server *t, char *err, size_t size);

/* For a connection that is about to be accepted. The files were checked with tls_server_reload before. */
struct bufferevent *tls_server_accept(struct tls_server *t, struct event_base *base);
/* The common name of a client certificate that our CA signed; false: there is none. */
bool tls_server_client(struct bufferevent *bev, char *name, size_t size);

#endif
