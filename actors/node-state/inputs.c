/* actors/node-state/inputs.c - from the maps and rows of a Node to the views of an assessment. */
#include "inputs.h"

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

void
inputs_from_node(const struct body_node *node, struct assess_in *in)
{
	*in = (struct assess_in){ .unschedulable = node->unschedulable };
	read_annotations(node->mco, in->mco);
	read_conditions(node->conditions, in->conditions);
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
		if (i < MCO_MAX && wire_str_compare(keys[i], key) == 0)
			out[i] = value;
	}
}

/* A type stands once in a Node's conditions; of a second one we take no notice. */
static void
read_conditions(struct wire_rows left, struct assess_condition out[ASSESS_CONDITIONS])
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	MUST(left.count == 0 || left.columns == COLUMNS);
	while (rows_next(&left, cells)) {
		for (size_t i = 0; i < ASSESS_CONDITIONS; i++) {
			if (out[i].status.p == NULL
			    && wire_str_compare(cells[TYPE_COLUMN], wire_str_of(types[i])) == 0)
				out[i] = (struct assess_condition){ cells[STATUS_COLUMN],
					cells[SINCE_COLUMN] };
		}
	}
}
