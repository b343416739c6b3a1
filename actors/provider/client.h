/*
 * actors/provider/client.h - calls of one provider's API, by class.
 *
 *	static const struct client_class classes[] = {
 *		[POOLS]    = { "pools", .bucket = "general", .per_second = 10, .burst = 20 },
 *		[NEW_POOL] = { "new-pool", .per_second = 1, .burst = 5, .mutating = true },
 *	};
 *	client_send(c, &(struct client_call){ .class = POOLS, .method = "GET",
 *	    .path = "/lke/clusters/7/pools", .key = "widgets/a", .trace = trace, .done = on_pools });
 *
 * Rules
 * - A call waits for its turn in its bucket, then connects, then is sent. A mutation is sent only if
 *   fence_check agrees at that moment (contract A8): neither the wait nor a stop of this process lets it go
 *   out late. Nobody else has to check; asking client_fence first saves the wait.
 * - Nothing is sent twice. After a 401 the token file is read again, and token_changed invites the caller
 *   to send the call anew.
 * - Buckets follow the provider's own limits (limit.h).
 * - `done` comes from the loop, once. Each call is counted (meter.h) and has a hop in `muster trace`.
 */
#ifndef MUSTER_CLIENT_H
#define MUSTER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call_outcome.h"
#include "fence.h"
#include "http.h"

struct actor;
struct client;
struct event_base;

struct client_class {
	const char	*name;		/* label `class` */
	const char	*bucket;	/* classes of one name share a limit; NULL: `name` */
	double		 per_second, burst;	/* of the bucket's first class; 0: not limited here */
	int64_t		 timeout_ms;	/* 0: HTTP_TIMEOUT_MS, of a mutation FENCE_MUTATION_MS */
	bool		 mutating;
	bool		 idempotent;	/* a mutation that has the effect of one when it is sent twice */
	bool		 harmless;	/* a POST that changes nothing */
	bool		 secret;	/* its answers hold secrets: they are wiped after `done` */
};

/* Texts are copied; classes and lease must outlive the client. */
struct client_config {
	struct event_base		*base;
	struct actor			*actor;		/* for hops; NULL: none */
	const char			*provider;	/* "linode" */
	const char			*url;		/* "https://api.linode.com/v4", no slash at its end */
	const char			*user_agent;
	const char			*token_file;	/* NULL: the calls carry their own credential */
	const char			*token_header;	/* name of a header; NULL: Authorization: Bearer */
	const char			*ca_file;	/* NULL: the system's authorities */
	const struct client_class	*classes;
	size_t				 nclasses;
	const struct fence_lease	*lease;		/* kept current by the actor; or NULL: */
	const struct fence_lease	*(*read_lease)(void *arg);	/* ... read at each check */
	void				*read_lease_arg;
	int64_t				 started_ms;	/* when this process started */
};

/* Valid during `done`. */
struct client_answer {
	enum call_outcome		 outcome;
	int				 status;	/* 0: none came */
	const char			*body;		/* "" unless the answer is whole */
	size_t				 body_len;
	const char			*error;		/* "": DONE */
	enum fence_reason		 fence;		/* NOT_SENT: the reason, or FENCE_OPEN */
	bool				 token_changed;	/* 401: another token is in use by now */
	int64_t				 retry_after_ms;	/* as the provider asked; 0: it did not */
	const struct http_response	*http;		/* for http_header */
};

struct client_call {
	unsigned		 class;		/* index of classes */
	const char		*method, *path;	/* the path begins with a slash; it may have a query */
	const char *const	*headers;	/* more of them, up to NULL; may be NULL */
	const void		*body;		/* JSON unless a header has another Content-Type */
	size_t			 body_len;
	const struct http_sigv4	*sigv4;
	bool			 intent_open;	/* fence.h */
	/* The body of a 2xx as it comes, instead of being collected; false ends the call. NULL: collected. */
	bool		       (*on_data)(const void *data, size_t len, void *data_arg);
	void			*data_arg;
	const char		*key;		/* the object that it is for, and the trace of its change */
	uint64_t		 trace;
	void		       (*done)(const struct client_answer *a, void *arg);
	void			*arg;
};

/* NULL with a text in err: the token file has no token. */
struct client *client_new(const struct client_config *config, char *err, size_t size);
/* Ends what is in flight without a callback. Not from a callback. */
void client_free(struct client **cp);
uint64_t client_send(struct client *c, const struct client_call *call);
/* No callback will come for it any more; the provider may have received it. */
void client_cancel(struct client *c, uint64_t id);
/* What would hold back a call of that class now. It counts nothing. */
struct fence_verdict client_fence(const struct client *c, unsigned class, bool intent_open);
/* Calls that are not answered. */
uint32_t client_in_flight(const struct client *c);

#endif
