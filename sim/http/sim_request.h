/*
 * sim/http/sim_request.h - one request to the Kubernetes API, from its first byte to its answer.
 *
 * Every path ends in exactly one of the call_reply functions, call_drop, or stream_open (which
 * takes the call): they free it, write the audit's last words, and do what the call's faults ask
 * for.
 */
#ifndef MUSTER_SIM_REQUEST_H
#define MUSTER_SIM_REQUEST_H

#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim_auth.h"
#include "sim/faults/sim_faults.h"
#include "sim/kube/discovery/sim_resource.h"
#include "sim/kube/sim_route.h"
#include "sim/sim.h"

struct evbuffer;
struct event;

struct call {
	uint32_t		 magic;
	struct sim		*sim;
	struct evhttp_request	*http;
	enum evhttp_cmd_type	 method;
	const char		*path, *query;	/* as they came; "" where there is none */
	struct evkeyvalq	 params;
	struct route		 route;
	const struct resource	*resource;	/* NULL: not about a resource */
	enum verb_bit		 verb;
	const char		*verb_name;	/* as the audit says it; of other paths the method */
	const char		*user_agent;
	char			 user[AUTH_USER_MAX];
	struct fault_plan	 plan;
	uint64_t		 audit_row;
	uint64_t		 rv;		/* for the audit: of what was written or listed */
	struct event		*delay;
	struct evbuffer		*held;		/* an answer that waits, with its head */
	int			 held_code;
	char			 held_type[128];
};

typedef void call_handler(struct call *c);

struct call *call_new(struct sim *s, struct evhttp_request *req);

/* A query parameter; NULL: not given. */
const char *call_param(const struct call *c, const char *name);
/* True for "true" and "1", as Go reads it. */
bool call_flag(const struct call *c, const char *name);
const char *call_header(const struct call *c, const char *name);
/* The body, in one piece. */
const char *call_body(const struct call *c, size_t *len);
/* For headers beside those that every answer has. */
void call_add_header(struct call *c, const char *name, const char *value);

/* From now on its connection sends no more than that. */
void call_throttle(struct call *c, size_t bytes_per_second);
/* ms later, fn gets the call. */
void call_later(struct call *c, int64_t ms, call_handler *fn);

/* Takes what is in out. */
void call_reply(struct call *c, int code, const char *type, struct evbuffer *out);
void call_reply_json(struct call *c, int code, json_t *body);	/* takes body */
void call_reply_json_as(struct call *c, int code, const char *type, json_t *body);
/* A Status: its code is the answer's. Takes it. */
void call_reply_status(struct call *c, json_t *status);
void call_fail(struct call *c, int code, const char *reason, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void call_reply_text(struct call *c, int code, const char *text);
/* No answer: the connection is closed. */
void call_drop(struct call *c);

/* For stream_open: the head of the answer is written, what follows is the stream's. */
void call_start_answer(struct call *c, int code, const char *type);
void call_close(struct call **cp);

#endif
