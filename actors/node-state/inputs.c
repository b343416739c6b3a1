/* actors/node-state/inputs.c - from the maps and rows of a Node to the assessment, and to claimers. */
#include "assess.h"

#include <string.h>

#include "obj.h"

#define KEY(ID, key)	[MCO_##ID] = { .p = key, .len = sizeof(key) - 1 },
static const struct wire_str keys[MCO_MAX] = { ASSESS_MCO(KEY) };

#define TYPE(ID, text, type, status)	[CAUSE_##ID] = type,
static const char *const types[CAUSE_MAX] = { ASSESS_CAUSES(TYPE) };

/* Columns of body_node.conditions (kinds.h). */
enum { TYPE_COLUMN, STATUS_COLUMN, REASON_COLUMN, SINCE_COLUMN, COLUMNS };

static void read_annotations(struct wire_map, struct wire_str[MCO_MAX]);
static void read_conditions(struct wire_rows, struct assess_condition[ASSESS_CONDITIONS]);
static struct wire_str second_column(struct wire_rows, const char *);

void
inputs_from_node(const struct body_node *node, struct assess_in *in)
{
	*in = (struct assess_in){ .unschedulable = node->unschedulable };
	read_annotations(node->mco, in->mco);
	read_conditions(node->conditions, in->conditions);
}

struct body_node_fact
inputs_node_fact(const struct body_node *n)
{
	const struct wire_str ready = second_column(n->conditions, "Ready");

	return (struct body_node_fact){
		.provider_id = n->provider_id, .hostname = second_column(n->addresses, "Hostname"),
		.addresses = n->addresses, .ready = wire_str_is(ready, "True"),
		.unschedulable = n->unschedulable, .deleted = n->deleted, .labels = n->labels,
		.taints = n->taints,
	};
}

/* Both are sorted, so one walk finds all. */
static void
read_annotations(struct wire_map left, struct wire_str out[MCO_MAX])
{
	struct wire_str key, value;
	size_t i = 0;

	while (map_next(&left, &key, &value)) {
		while (i < MCO_MAX && wire_str_compare(keys[i], key) < 0)
			i++;
		if (i < MCO_MAX && wire_str_same(keys[i], key))
			out[i] = value;
	}
}

/* A type occurs once in a Node's conditions; a second one is ignored. */
static void
read_conditions(struct wire_rows left, struct assess_condition out[ASSESS_CONDITIONS])
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	MUST(left.count == 0 || left.columns == COLUMNS);
	while (rows_next(&left, cells)) {
		for (size_t i = 0; i < ASSESS_CONDITIONS; i++) {
			if (out[i].status.p == NULL && wire_str_is(cells[TYPE_COLUMN], types[i]))
				out[i] = (struct assess_condition){ cells[STATUS_COLUMN],
					cells[SINCE_COLUMN] };
		}
	}
}

/* The second column of the first record of that type. */
static struct wire_str
second_column(struct wire_rows rows, const char *type)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	while (rows_next(&rows, cells)) {
		if (wire_str_is(cells[0], type))
			return cells[1];
	}
	return wire_str_of("");
}
