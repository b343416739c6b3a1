/*
 * sim/provider/sim_provider.h - one provider API over HTTP: what all of them need, once.
 *
 * A provider is a table of routes and a model behind them. Here its calls are matched, identified
 * by token, limited by class, hit by faults (docs/simulator.md) and written to the audit log; the
 * model only answers. A handler runs exactly once for each call that has an effect, at the moment
 * that the audit log names, whatever happens to the connection.
 */
#ifndef MUSTER_SIM_PROVIDER_H
#define MUSTER_SIM_PROVIDER_H

#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim_provider_parts.h"

struct event_base;
struct sim_fault_table;
struct sim_provider;

/* One call, as its handler sees it. */
struct sim_provider_call {
	const char			*method, *path;
	struct sim_provider_args	 args;		/* of the route's pattern */
	struct evkeyvalq		 query, headers;
	json_t				*body;		/* NULL: none */
	const char			*text;		/* its bytes, and a NUL */
	size_t				 text_len;
	char				 token[64];	/* its id; "": the route needs none */
	int64_t				 behind;	/* a fault: a list is so many changes old; 0: none */
};
/* A query parameter, and a header; NULL: not given. */
const char *sim_provider_query(const struct sim_provider_call *c, const char *name);
const char *sim_provider_header(const struct sim_provider_call *c, const char *name);

struct sim_provider_answer {
	int	 code;
	json_t	*body;		/* taken; NULL: an empty answer */
	json_t	*effect;	/* what changed, a text for the audit log; taken; NULL: nothing did */
	json_t	*detail;	/* what was read, likewise; NULL: the path shows it */
	int64_t	 ahead_s;	/* the server's clock, in its Date */
};
typedef struct sim_provider_answer sim_provider_handler(void *model, const struct sim_provider_call *c);

struct sim_provider_route {
	enum evhttp_cmd_type			 method;
	const char				*pattern;	/* of path and form: sim_provider_parts.h */
	const struct sim_provider_class		*class;
	sim_provider_handler			*answer;
	bool					 open;		/* it needs no token */
};

/* Where a token may stand. */
struct sim_provider_auth {
	const char	*header, *before;	/* "Authorization", "Bearer " */
};

struct sim_provider_spec {
	const char				*name;		/* "linode": of faults and the audit log */
	const struct sim_provider_route		*routes;	/* end: pattern NULL */
	const struct sim_provider_auth		*auth;		/* end: header NULL */
	json_t					*(*error)(int code, const char *why);	/* the body */
	/* A token that the API itself has given out: true with its id. NULL: it gives out none. */
	bool					(*issued)(void *model, const char *token, char *id,
						    size_t size);
	/* Refuses a call that has a route and a token: the code, or 0: it goes on. NULL: never. */
	int					(*refuse)(void *model, const struct sim_provider_call *c);
};

/* What an API does in another way than most; NULL, false: it does not. */
struct sim_provider_rules {
	const char	*type;		/* Content-Type of bodies that are texts: sent as they are */
	const char	*token_field;	/* of a form: a token may stand there, too */
	bool		 quiet_limits;	/* no header shows a limit, not even Retry-After */
	/* In place of the spec's error: the code may become another one. reason: of a fault; "": none. */
	struct sim_provider_answer (*fail)(void *model, const struct sim_provider_call *c, int code,
	    const char *why, const char *reason);
	/* Identifies the calls of routes that need no token: sets c->token. False: the answer refuses it. */
	bool (*admit)(void *model, struct sim_provider_call *c, struct sim_provider_answer *refused);
};

/*
 * The calls of all providers, a JSON object a line: n, time, at_ms (when it came), api, class,
 * method, path, token (its id), effect and effect_at_ms (null and 0: none), code (0: no answer was sent);
 * detail where there is one.
 */
struct sim_provider_audit {
	FILE		*out;		/* NULL: nothing is written */
	uint64_t	 n;
};

/* All of it is the caller's and outlives the provider; so is the server that calls sim_provider_serve. */
struct sim_provider_deps {
	struct event_base		*base;
	struct sim_fault_table		*faults;
	struct sim_provider_audit	*audit;
	void				*model;
	const struct sim_provider_rules	*rules;		/* NULL: none */
};

struct sim_provider *sim_provider_new(const struct sim_provider_spec *spec,
    const struct sim_provider_deps *deps);
/* After its server: effects that are still to come are dropped. */
void sim_provider_free(struct sim_provider **pp);
/* From now on this token is known by that id; and from now on it is not. */
void sim_provider_add_token(struct sim_provider *p, const char *token, const char *id);
void sim_provider_remove_token(struct sim_provider *p, const char *token);
/* Another limit for the calls of that class or bucket. False: no route has it. */
bool sim_provider_set_limit(struct sim_provider *p, const char *class, int64_t limit, int64_t window_ms);
/* A sim_server_handler; arg is the struct sim_provider. */
void sim_provider_serve(struct evhttp_request *req, void *arg);

#endif
