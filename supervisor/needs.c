/* supervisor/needs.c - the child table and the closure over who needs whom. Pure. */
#include "needs.h"

#include <stddef.h>

#include "obj.h"

const struct child_row child_table[CHILD_MAX] = {
#define CHILD_ROW(ID, ...) [CHILD_##ID] = { .role = ROLE_##ID, __VA_ARGS__ },
	CHILDREN(CHILD_ROW)
};

/* The last row ends the table, which is otherwise empty without test actors. */
const struct need needs_table[] = {
#define NEED_ROW(WHO, NEEDED, text) { .who = ROLE_##WHO, .needs = ROLE_##NEEDED, .why = (text) },
	NEEDS(NEED_ROW)
	{ .who = ROLE_NONE, .needs = ROLE_NONE },
};

static uint64_t bit(enum role);

enum child_id
child_find(enum role r)
{
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		if (child_table[i].role == r)
			return (enum child_id)i;
	}
	return CHILD_MAX;
}

uint64_t
needs_of(enum role r)
{
	uint64_t mask = 0;

	for (const struct need *n = needs_table; n->who != ROLE_NONE; n++) {
		if (n->who == r)
			mask |= bit(n->needs);
	}
	return mask;
}

bool
needs_resolve(const struct need *table, uint64_t wanted, uint64_t forbidden, struct needs_answer *out)
{
	*out = (struct needs_answer){ .enabled = wanted };
	for (unsigned r = 0; r < ROLE_MAX; r++)
		out->because[r].who = ROLE_NONE;

	/* Each pass adds at least one role or is the last; a cycle of needs is closed like any other. */
	for (bool grew = true; grew;) {
		grew = false;
		for (size_t i = 0; table[i].who != ROLE_NONE; i++) {
			if ((out->enabled & bit(table[i].who)) == 0)
				continue;
			if ((forbidden & bit(table[i].needs)) != 0) {
				out->conflict = table[i];
				return false;
			}
			if ((out->enabled & bit(table[i].needs)) == 0) {
				out->enabled |= bit(table[i].needs);
				out->because[table[i].needs] = table[i];
				grew = true;
			}
		}
	}
	return true;
}

static uint64_t
bit(enum role r)
{
	return UINT64_C(1) << r;
}
