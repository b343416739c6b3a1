/* supervisor/request.h - one line from the control socket, as an order. */
#ifndef MUSTER_REQUEST_H
#define MUSTER_REQUEST_H

#include <stddef.h>

#include "log.h"
#include "roles.h"

enum {
	REQUEST_MAX = 512,	/* bytes of a request, newline included */
	OBJECT_MAX  = 384,	/* <resource>/<namespace>/<name>, as long as Kubernetes allows */
};

enum request_verb {
	REQ_STATUS,
	REQ_LEVEL,
	REQ_RELOAD,
	REQ_RESTART,
	REQ_EXPLAIN,
	REQ_TRACE,
	REQ_STOP,
	REQ_MAX
};

struct request {
	enum request_verb	verb;
	enum role		role;	/* level, restart; ROLE_ANY: `all`; ROLE_NONE: `musterd` itself */
	enum log_level		level;
	char			object[OBJECT_MAX + 1];	/* explain, trace: "nodes/worker-1" */
};

/* NULL, or what is wrong with the line (without its newline), for the person who typed it. */
const char *request_parse(const char *line, size_t len, struct request *out);

#endif
