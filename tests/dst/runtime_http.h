/*
 * tests/dst/runtime_http.h - http.h in the simulation: requests of simulated actors to a modelled server,
 * in virtual time.
 *
 * http.c and http_answer.c are the product's: buckets, deadlines, may_begin, what an answer means. Here is
 * what stands below them (http_easy.c, http_loop.c and libcurl): a request connects, is asked once more
 * whether it may begin, leaves, arrives, takes effect and is answered. A request that has left takes effect
 * even if its sender is killed.
 *
 *	serve	called when the request arrives; it changes the model and fills in the answer
 */
#ifndef MUSTER_DST_RUNTIME_HTTP_H
#define MUSTER_DST_RUNTIME_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct http_call;
struct runtime;
struct runtime_actor;

/* In a thousand requests. */
struct http_faults {
	uint32_t	refused;	/* no connection: it never leaves */
	uint32_t	rejected;	/* 503 before it has an effect */
	uint32_t	limited;	/* 429 with Retry-After */
	uint32_t	cut;		/* it has an effect, and half of the answer comes */
	uint32_t	failed;		/* it has an effect, and is answered with 502 */
	uint32_t	lost;		/* it has an effect, and no answer comes */
	uint32_t	broken;		/* the connection breaks in the middle of its answer */
	uint32_t	late;		/* it arrives after its sender has given it up, late_ms at most */
	uint32_t	slow;
	int64_t		late_ms;
};

/* A request and its answer. */
struct http_exchange {
	TAILQ_ENTRY(http_exchange) next;
	uint64_t		 id;
	struct http_call	*call;		/* NULL: its sender does not wait for it any more */
	struct runtime_actor	*from;
	uint64_t		 incarnation;
	char			 method[16], *host, *path;
	char			*body;		/* NUL-terminated */
	char			*signature;	/* scope, both keys, headers: a line each; or NULL */
	char			*headers;	/* "Name: value\n" each; without a bearer token */
	char			 about[128];	/* the key that its sender names (client.h); "": none */
	bool			 harmless;	/* it changes nothing: a GET, or a class of such calls */
	bool			 travels;	/* it has left, and neither arrived nor was answered */
	bool			 lost;
	bool			 spoiled;	/* its answer is cut, or an error */
	bool			 breaks;	/* the connection breaks in the middle of its answer */
	int64_t			 ended_ms;	/* for its sender: answered, or given up */
	/* The answer. */
	int			 status;
	char			*answer;	/* NULL: none */
	char			 retry_after[16], date[32];	/* "": no such header */
	uint64_t		 note;		/* of the world */
};

struct http_server {
	void	(*serve)(struct runtime *r, struct http_exchange *x);
	/* It is about to leave: the moment at which its sender is checked. */
	void	(*leaves)(struct runtime *r, const struct http_exchange *x);
	/* Its answer is about to be handed to its sender; NULL: nobody is interested. */
	void	(*delivered)(struct runtime *r, const struct http_exchange *x);
	struct http_faults	 faults;
	uint64_t		 ids;
	TAILQ_HEAD(, http_exchange) exchanges;
};

void http_server_free(struct http_server *s);
/* A request has left and was neither answered nor given up by the network. */
bool http_server_busy(const struct http_server *s);

#endif
