/*
 * actors/runtime/http.h - outgoing HTTP on the actor's loop: libcurl's multi interface, no thread
 * of ours.
 *
 *	http_limit(h, "api.linode.com", 5, 10);
 *	http_send(h, &(struct http_request){ .method = "GET", .url = url, .bearer = token, .bearer_len = n,
 *	    .done = on_answer, .arg = claim });
 *
 * Rules: every request has a deadline that also runs while it waits its turn. Everything in the
 * request is copied. Callbacks come from the loop, never from inside http_send. Nothing is ever
 * sent twice: a request that may have reached the server and got no answer is E_UNKNOWN unless
 * asking again is harmless (GET, HEAD). Redirects are answers, not followed. A secret is never in
 * an error text: no header, no query, no user name. A request whose deadline has passed, or whose caller
 * withdraws its consent (may_begin), is not sent: this is decided when its first byte is about to leave.
 */
#ifndef MUSTER_HTTP_H
#define MUSTER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct event_base;
struct http;
struct http_response;

enum {
	HTTP_TIMEOUT_MS         = 30 * 1000,
	HTTP_CONNECT_TIMEOUT_MS = 10 * 1000,
	HTTP_MAX_BODY           = 16 * 1024 * 1024,
	HTTP_MAX_HEADERS        = 64 * 1024,
	HTTP_MAX_WAITING        = 1000,		/* in one bucket */
	HTTP_MAX_PER_HOST       = 8,
	HTTP_RETRY_AFTER_MAX_MS = 3600 * 1000,
	HTTP_NO_DEADLINE        = -1,		/* only for streams whose caller watches them */
};

/* Zero means the default above. */
struct http_config {
	const char	*user_agent;		/* distinctive: administrators search audit logs for it */
	uint32_t	 max_per_host;		/* connections, one for each stream; the rest waits */
	uint32_t	 max_waiting;
	/*
	 * Retry-After is only reported: the caller decides what waits for it. Otherwise a 429 or 503
	 * with a time closes its bucket until then, for all requests.
	 */
	bool		 caller_paces;
};

/*
 * Bytes are PEM. Without ca or ca_file the system's store is read, at the first https request and
 * not before.
 */
struct http_tls {
	const void	*ca, *cert, *key;
	size_t		 ca_len, cert_len, key_len;
	const char	*ca_file;
	const char	*server_name;		/* for SNI and verification instead of the URL's host */
	bool		 insecure;		/* verifies nothing; the caller logs it */
};

/*
 * AWS Signature Version 4. The headers that the caller gives are signed: X-Amz-Date among them, and
 * X-Amz-Security-Token of a session. The URL has no query.
 */
struct http_sigv4 {
	const char	*scope;			/* "aws:amz:<region>:<service>" */
	const char	*access_key, *secret_key;
};

struct http_request {
	const char		 *method;	/* upper case */
	const char		 *url;		/* http or https, without user name */
	const char *const	 *headers;	/* "Name: value", up to NULL; may be NULL */
	const void		 *body;
	size_t			  body_len;
	const char		 *bearer;	/* token of Authorization: Bearer; our copies are wiped */
	size_t			  bearer_len;
	const char		 *basic;	/* base64 of user:password: Authorization: Basic; the same */
	const struct http_sigv4	 *sigv4;
	/* A kept connection serves only requests with the same of it: what was rotated connects anew. */
	const struct http_tls	 *tls;
	const char		 *proxy;	/* NULL: from the environment; "": none */
	const char		 *bucket;	/* rate limit to count under; NULL: the URL's host[:port] */
	int64_t			  timeout_ms, connect_timeout_ms;
	size_t			  max_body, max_headers;
	bool			  harmless;	/* changes nothing at the server, as a GET */
	bool			  secret;	/* the body of the answer is wiped after `done` */
	bool			  gzip;		/* never on a watch: the encoder may hold events back */
	/*
	 * False: it is not sent. Called when its turn has come, and again when it is connected and about to
	 * be sent: a process that was stopped in between finds out here. NULL: it may.
	 */
	bool			(*may_begin)(void *arg);
	/* The head of the answer is there, the body to come. The final answer only, of any status. */
	void			(*on_start)(int status, const char *content_type, void *arg);
	/*
	 * The body of a 2xx as it comes, instead of being collected (then max_body does not count).
	 * False ends it.
	 */
	bool			(*on_data)(const void *data, size_t len, void *arg);
	void			(*done)(const struct http_response *r, void *arg);
	void			 *arg;
};

/* Valid during `done`. */
struct http_response {
	enum err	 err;			/* of the way, or of the status of a whole answer */
	int		 status;		/* 0: none came */
	bool		 whole;			/* a whole answer came: err is that of its status */
	const char	*body;			/* NUL-terminated; "" if not whole, or streamed */
	size_t		 body_len;
	const char	*content_type;		/* or "" */
	int64_t		 retry_after_ms;	/* 0: none. At most an hour, whatever the server sent */
	const char	*error;			/* "GET https://host/path: cause"; "" when err is E_OK */
	const char	*host;			/* host[:port] */
	int64_t		 duration_ms;		/* since http_send */
	int64_t		 answered_ms;		/* when its headers came, of clock_mono_ms; 0: they did not */
	int64_t		 waited_ms;		/* of it, for its turn */
	bool		 sent;			/* the server may have received it */
	void		*transfer;
};

struct http *http_new(struct event_base *base, const struct http_config *config);
/* Ends what is in flight without a callback. Not from a callback. */
void http_free(struct http **hp);
/* Never 0. A request that cannot be sent (bad URL, full queue) is reported through `done` like any other. */
uint64_t http_send(struct http *h, const struct http_request *r);
/* A byte of it may have reached the server. */
bool http_left(const struct http *h, uint64_t id);
/* No callback will come for it any more. An id that has ended is fine. */
void http_cancel(struct http *h, uint64_t id);
/*
 * The rate limit of a bucket, whose name is the host[:port] of its URLs or `bucket` of the request.
 * 0 per second: no limit.
 */
void http_limit(struct http *h, const char *bucket, double per_second, double burst);
/* Nothing of the bucket starts before that time of clock_mono_ms; never earlier than by a call before. */
void http_pause(struct http *h, const char *bucket, int64_t until_ms);
/* A header of the answer, or NULL. Valid during `done`. */
const char *http_header(const struct http_response *r, const char *name);

struct http_stats {
	uint32_t	waiting, running;
};
struct http_stats http_stats(const struct http *h);

#endif
