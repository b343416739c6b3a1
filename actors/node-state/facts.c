/*
 * actors/node-state/facts.c - a Node as claimers see it: where it is, whether it is ready, how it
 * is labelled. Pure.
 */
#include "facts.h"

#include <string.h>

static struct wire_str second_of(struct wire_rows, const char *);
static bool is(struct wire_str, const char *);

struct body_node_fact
facts_of(const struct body_node *n)
{
	return (struct body_node_fact){
		.provider_id = n->provider_id, .hostname = second_of(n->addresses, "Hostname"),
		.addresses = n->addresses, .ready = is(second_of(n->conditions, "Ready"), "True"),
		.unschedulable = n->unschedulable, .deleted = n->deleted, .labels = n->labels,
		.taints = n->taints,
	};
}

/* The second column of the first record of that type. */
static struct wire_str
second_of(struct wire_rows rows, const char *type)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	while (rows_next(&rows, cells)) {
		if (is(cells[0], type))
			return cells[1];
	}
	return wire_str_of("");
}

static bool
is(struct wire_str s, const char *text)
{
	return s.len == strlen(text) && memcmp(s.p, text, s.len) == 0;
}
