/* sim/http/sim_audit.h - who asked for what, and what came of it: the last AUDIT_MAX requests. */
#ifndef MUSTER_SIM_AUDIT_H
#define MUSTER_SIM_AUDIT_H

#include <jansson.h>
#include <stdint.h>

enum { AUDIT_MAX = 20000 };

struct audit;

/* Texts are copied. */
struct audit_row {
	const char	*verb, *group, *resource, *ns, *name, *subresource, *user, *user_agent, *uri;
	int64_t		 at_ms;
};

struct audit *audit_new(void);
void audit_free(struct audit **ap);
/* The number of the row, for what is known later. */
uint64_t audit_begin(struct audit *a, const struct audit_row *row);
/* Of a create: the name stands in the body, or is made up by the server. */
void audit_name(struct audit *a, uint64_t row, const char *name);
/* code 0: the connection was closed without an answer. A row that fell out is not found, which is fine. */
void audit_end(struct audit *a, uint64_t row, int code, uint64_t rv);
/* Rows after number `since`, oldest first. */
json_t *audit_list(const struct audit *a, uint64_t since);
void audit_clear(struct audit *a);

#endif
