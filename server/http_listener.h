/*
 * server/http_listener.h - one HTTP listener, plain or TLS: evhttp with limits.
 *
 * It limits what clients can take of time, memory and descriptors: the size of a head and of a
 * body, the bytes of all of them together, connections, their life (connections.h). All methods
 * reach the handler, which answers 405 itself. Each request gets exactly one answer:
 * http_listener_reply, now or later (deferred.h); or evhttp's own functions, for streams, where
 * there are no limits of connections.
 */
#ifndef MUSTER_SERVER_HTTP_LISTENER_H
#define MUSTER_SERVER_HTTP_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "connections.h"
#include "tls_server.h"

struct event_base;
struct evhttp_request;
struct http_listener;

typedef void http_listener_handler(struct evhttp_request *req, void *arg);
/* New files of the certificate are in force, or are refused for that cause and the old ones are. */
typedef void http_listener_certificate(void *arg, enum tls_reload what, const char *why);

struct http_listener_spec {
	http_listener_handler		*handler;
	http_listener_certificate	*certificate;	/* may be NULL */
	void				*arg;		/* of both */
	struct tls_server		*tls;		/* NULL: plain. It is not taken */
	size_t				 header_max, body_max;
	int				 idle_s;	/* without a byte; 0: no limit */
	bool				 keep_alive;	/* several requests on one connection */
	struct connection_limits	 connections;	/* max 0: none of them, and no limit of their life */
};

/* Takes the listening socket (listen.h). */
struct http_listener *http_listener_new(
    struct event_base *base, int fd, const struct http_listener_spec *spec);
/* Ends the connections, too. */
void http_listener_free(struct http_listener **lp);

struct http_answer {
	int		 code;
	const char	*type;		/* Content-Type */
	const char	*allow;		/* of a 405; NULL: no such header */
	const char	*body;
	size_t		 len;
	/*
	 * When not NULL, the body is not copied: it is called once, when it is sent or its
	 * connection has ended.
	 */
	void		(*release)(void *arg);
	void		*release_arg;
	bool		 head_only;
};
void http_listener_reply(struct http_listener *l, struct evhttp_request *req, const struct http_answer *a);

/* "/": there is none. */
const char *http_listener_path(const struct evhttp_request *req);
/* The body in one piece; "" without one. */
const char *http_listener_body(struct evhttp_request *req, size_t *len);

unsigned http_listener_open(const struct http_listener *l);
struct connection_counts http_listener_counts(const struct http_listener *l);

#endif
