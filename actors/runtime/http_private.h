/* actors/runtime/http_private.h - what the files of the HTTP client share. No other file includes it. */
#ifndef MUSTER_HTTP_PRIVATE_H
#define MUSTER_HTTP_PRIVATE_H

#include <curl/curl.h>
#include <event2/event.h>
#include <sys/queue.h>

#include "http.h"
#include "rate.h"

/* Where a request stands; it is in exactly the list of that name. */
enum stand {
	WAITING,	/* for its turn, in its bucket */
	RUNNING,	/* curl has it */
	FAILED,		/* cannot be sent; `done` is to be called from the loop */
	CANCELLED,	/* curl still has it; no callback will come */
};

struct http_call {
	TAILQ_ENTRY(http_call)	 link, in_all;
	struct http		*http;
	struct bucket		*bucket;
	enum stand		 stand;
	uint64_t		 id;
	CURL			*easy;
	curl_socket_t		 fd;			/* that curl watches for it */
	struct curl_slist	*headers, *connect_to;	/* curl keeps pointers into both */
	char			*body;			/* ours to send */
	size_t			 body_len;
	char			*answer;		/* theirs, if collected */
	size_t			 answer_len, answer_cap;
	size_t			 max_body, max_headers, header_bytes;
	char			 method[16];
	char			*host;			/* host[:port] */
	char			*where;			/* "GET https://host/path", no secrets */
	char			 cause[128];		/* text of the verdict */
	char			 curl_error[CURL_ERROR_SIZE];
	struct event		*deadline;
	int64_t			 asked_ms, started_ms, answered_ms;
	int64_t			 timeout_ms;
	enum err		 verdict;		/* why it cannot go on; else E_OK */
	bool			 harmless;		/* may be sent again: changes nothing */
	bool			 secret;		/* answer is wiped */
	bool			 sent;
	bool			 headers_ended;
	bool			(*may_begin)(void *);
	void			(*on_start)(int, const char *, void *);
	bool			(*on_data)(const void *, size_t, void *);
	void			(*done)(const struct http_response *, void *);
	void			*arg;
};
TAILQ_HEAD(requests, http_call);

struct bucket {
	TAILQ_ENTRY(bucket)	 link;
	struct rate		 rate;
	struct requests		 waiting;
	uint32_t		 nwaiting;
	char			 name[];
};

struct http {
	uint32_t		 magic;
#define HTTP_MAGIC	0x48545450u
	struct event_base	*base;
	CURLM			*multi;
	struct event		*curl_timer;
	struct event		*pump;		/* something to do, now or when a bucket opens */
	TAILQ_HEAD(, watched_socket)	 sockets;
	TAILQ_HEAD(, bucket)	 buckets;
	struct requests		 running, failed, cancelled;
	uint32_t		 nrunning, nfailed;
	struct requests		 all;		/* whatever list they are in; few enough to search */
	uint64_t		 ids;
	uint32_t		 calling;	/* inside a caller's `done` */
	struct http_config	 config;
	char			*user_agent;
};

/* http.c: curl is done with q. */
void http_ended(struct http_call *q, CURLcode code);
/* http.c: false when it is too late for q, or may_begin refuses it; the verdict is set then. */
bool http_may_begin(struct http_call *q);

/* http_loop.c: curl's sockets and timer on the event loop. */
void http_loop_open(struct http *h);
void http_loop_close(struct http *h);

/* http_easy.c: fills q from r; false when it cannot be sent (the reason is in q->verdict and q->cause). */
bool http_prepare(struct http_call *q, const struct http_request *r);
void http_dispose(struct http_call *q);

/* http_answer.c: pure. */
enum err http_err_of_status(int status);
enum err http_err_of_curl(CURLcode code, bool headers_ended);
/* What a Retry-After means; `date` is the answer's own Date (or NULL), so that our clock does not matter. */
int64_t http_retry_after_ms(const char *value, const char *date, int64_t wall_ms);

#endif
