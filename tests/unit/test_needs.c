/* tests/unit/test_needs.c - which actors run: the closure over who needs whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "supervisor/needs.h"

#define A	ROLE_BIT(KUBE_WATCHER)
#define B	ROLE_BIT(NODE_STATE)
#define C	ROLE_BIT(INSIGHT)
#define D	ROLE_BIT(METRICS)

/* C needs B, B needs A; A and D need each other. */
static const struct need table[] = {
	{ ROLE_INSIGHT, ROLE_NODE_STATE, "state" },
	{ ROLE_NODE_STATE, ROLE_KUBE_WATCHER, "objects" },
	{ ROLE_KUBE_WATCHER, ROLE_METRICS, "figures" },
	{ ROLE_METRICS, ROLE_KUBE_WATCHER, "a circle" },
};

static const struct row {
	const char	*name;
	size_t		 rows;		/* of the table */
	uint64_t	 wanted, forbidden;
	bool		 ok;
	uint64_t	 enabled;
	enum role	 who, needs;	/* of the conflict */
} rows[] = {
	{ "nothing", 4, 0, 0, true, 0, 0, 0 },
	{ "without needs", 2, D, 0, true, D, 0, 0 },
	{ "one step", 2, B, 0, true, A | B, 0, 0 },
	{ "two steps", 2, C, 0, true, A | B | C, 0, 0 },
	{ "a circle", 4, C, 0, true, A | B | C | D, 0, 0 },
	{ "what is needed was asked for too", 2, A | C, 0, true, A | B | C, 0, 0 },
	{ "switched off and not needed", 2, D, A, true, D, 0, 0 },
	{ "switched off but needed", 2, B, A, false, 0, ROLE_NODE_STATE, ROLE_KUBE_WATCHER },
	{ "switched off two steps away", 2, C, A, false, 0, ROLE_NODE_STATE, ROLE_KUBE_WATCHER },
	{ "switched off at the first step", 2, C, B, false, 0, ROLE_INSIGHT, ROLE_NODE_STATE },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct need first[NITEMS(table) + 1];
	struct needs_answer a;

	memcpy(first, table, r->rows * sizeof(first[0]));
	first[r->rows].who = ROLE_NONE;
	assert_int_equal(needs_resolve(first, r->wanted, r->forbidden, &a), r->ok);
	if (!r->ok) {
		assert_int_equal(a.conflict.who, r->who);
		assert_int_equal(a.conflict.needs, r->needs);
		assert_non_null(a.conflict.why);
		return;
	}
	assert_true(a.enabled == r->enabled);
	for (unsigned i = 0; i < ROLE_MAX; i++) {
		const bool brought = (a.enabled & ~r->wanted) >> i & 1;

		assert_int_equal(a.because[i].who != ROLE_NONE, brought);
		if (brought)
			assert_true((a.enabled >> a.because[i].who & 1) != 0 && a.because[i].needs == i);
	}
}

/*
 * The real tables: one row per role, every need has a child, a lower stage and a later stop than
 * who needs it.
 */
static void
the_tables_agree(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		assert_int_equal(child_find(child_table[i].role), i);
		assert_non_null(child_table[i].program);
		assert_true(child_table[i].stage > 0 && child_table[i].ready_ms > 0
		    && child_table[i].stop_ms > 0);
		assert_true(child_table[i].data_mib > 0);
		const uint64_t needs = needs_of(child_table[i].role);

		for (unsigned r = 0; r < ROLE_MAX; r++) {
			if ((needs >> r & 1) == 0)
				continue;
			const enum child_id id = child_find((enum role)r);

			assert_int_not_equal(id, CHILD_MAX);
			assert_true(child_table[id].stage < child_table[i].stage);
			assert_true(child_table[id].stop_stage > child_table[i].stop_stage);
		}
	}
	assert_int_equal(child_find(ROLE_NONE), CHILD_MAX);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(the_tables_agree);
	return cmocka_run_group_tests_name("needs", tests, NULL, NULL);
}
