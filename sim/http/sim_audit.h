/* sim/http/sim_audit.h - the last AUDIT_MAX requests: who sent what, and the answer. */
#ifndef MUSTER_SIM_AUDIT_H
#define MUSTER_SIM_AUDIT_H

#include <jansson.h>
#include <stdint.h>

enum { AUDIT_MAX = 20000 };

struct sim_audit;

/* Texts are copied. */
struct sim_audit_row {
	const char	*verb, *group, *resource, *ns, *name, *subresource, *user, *user_agent, *uri;
	int64_t		 at_ms;
};

struct sim_audit *sim_audit_new(void);
void sim_audit_free(struct sim_audit **ap);
/* The number of the row, for what is known later. */
uint64_t sim_audit_begin(struct sim_audit *a, const struct sim_audit_row *row);
/* Of a create: the name stands in the body, or is made up by the server. */
void sim_audit_name(struct sim_audit *a, uint64_t row, const char *name);
/* code 0: the connection was closed without an answer. A row that fell out is not found, which is fine. */
void sim_audit_end(struct sim_audit *a, uint64_t row, int code, uint64_t rv);
/* Rows after number `since`, oldest first. */
json_t *sim_audit_list(const struct sim_audit *a, uint64_t since);
void sim_audit_clear(struct sim_audit *a);

#endif
