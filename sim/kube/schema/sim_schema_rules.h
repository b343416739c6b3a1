/*
 * sim/kube/schema/sim_schema_rules.h - the keywords of a schema that limit a value; one place in an
 * object that is judged.
 */
#ifndef MUSTER_SIM_SCHEMA_RULES_H
#define MUSTER_SIM_SCHEMA_RULES_H

#include <jansson.h>
#include <stddef.h>

/* The current place in the object. Messages leave out the first `skip` characters of the path. */
struct sim_schema_at {
	json_t		*errors;
	const char	*path;
	size_t		 skip;
	const json_t	*schema;
	const json_t	*value;
};

/* By every keyword that the schema has. */
void sim_schema_rules(const struct sim_schema_at *at);

/* The whole of it, what is below included (sim_schema_check.c); what equals `old` is let through. */
void sim_schema_check_at(const struct sim_schema_at *at, const json_t *old);

#endif
