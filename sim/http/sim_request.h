/*
 * sim/http/sim_request.h - one request to the Kubernetes API, from its first byte to its answer.
 *
 * Every path ends in exactly one of the sim_request_reply functions, sim_request_drop, or
 * sim_stream_open (which takes the request): they free it, write the audit's last words, and do what
 * the request's faults require.
 */
#ifndef MUSTER_SIM_REQUEST_H
#define MUSTER_SIM_REQUEST_H

#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/faults/sim_faults.h"
#include "sim/kube/discovery/sim_resource.h"
#include "sim/kube/sim_route.h"
#include "sim/sim.h"
#include "sim_auth.h"

struct deferred;
struct evbuffer;
struct event;

struct sim_request;
typedef void sim_request_handler(struct sim_request *c);

struct sim_request {
	uint32_t			 magic;
	struct simulator		*sim;
	struct evhttp_request		*http;
	enum evhttp_cmd_type		 method;
	const char			*path, *query;	/* as they came; "" where there is none */
	struct evkeyvalq		 params;
	struct sim_route		 route;
	const struct sim_resource	*resource;	/* NULL: not about a resource */
	enum sim_verb			 verb;
	const char			*verb_name;	/* as in the audit; of other paths the method */
	const char			*user_agent;
	char				 user[AUTH_USER_MAX];
	struct sim_fault_plan		 plan;
	uint64_t			 audit_row;
	uint64_t			 rv;		/* for the audit: of what was written or listed */
	struct event			*delay;
	struct deferred			*deferred;	/* during the delay */
	sim_request_handler		*then;		/* after it */
	struct evbuffer			*held;		/* an answer that waits, with its head */
	int				 held_code;
	char				 held_type[128];
};

struct sim_request *sim_request_new(struct simulator *s, struct evhttp_request *req);

/* A query parameter; not given: NULL, or "". */
const char *sim_request_param(const struct sim_request *c, const char *name);
const char *sim_request_text(const struct sim_request *c, const char *name);
/* True for "true" and "1", as Go reads it. */
bool sim_request_flag(const struct sim_request *c, const char *name);
const char *sim_request_header(const struct sim_request *c, const char *name);
/* The body, in one piece. */
const char *sim_request_body(const struct sim_request *c, size_t *len);
/* For headers beside those that every answer has. */
void sim_request_add_header(struct sim_request *c, const char *name, const char *value);

/* From now on its connection sends no more than that. */
void sim_request_throttle(struct sim_request *c, size_t bytes_per_second);
/* ms later, fn gets the request. */
void sim_request_delay(struct sim_request *c, int64_t ms, sim_request_handler *fn);

/* Takes out. */
void sim_request_reply(struct sim_request *c, int code, const char *type, struct evbuffer *out);
void sim_request_reply_json(struct sim_request *c, int code, json_t *body);	/* takes body */
void sim_request_reply_json_as(struct sim_request *c, int code, const char *type, json_t *body);
/* A Status: its code is the answer's. Takes it. */
void sim_request_reply_status(struct sim_request *c, json_t *status);
void sim_request_fail(struct sim_request *c, int code, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void sim_request_reply_text(struct sim_request *c, int code, const char *text);
/* No answer: the connection is closed. */
void sim_request_drop(struct sim_request *c);

/* For sim_stream_open: the head of the answer is written, what follows is the stream's. */
void sim_request_start_answer(struct sim_request *c, int code, const char *type);
void sim_request_close(struct sim_request **cp);

#endif
