/*
 * tests/unit/test_node_choose.c - B2: which pool owns a node. Every row is tried in every order of
 * its names: the answer of a rule that walks a map must not depend on the map.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "actors/node-state/choose.h"
#include "obj.h"

enum { NAMES_MAX = 4 };

static const struct row {
	const char		*name;
	const char		*pools[NAMES_MAX + 1];
	bool			 windows;
	const char		*want;		/* NULL: none */
	enum choose_rule	 rule;
	const char		*why;
} rows[] = {
	{ "B2 1: Windows has no pool", { "worker" }, true, NULL, CHOOSE_WINDOWS,
	  "a Windows node: MCO does not manage it" },
	{ "B2 1: Windows comes before two customs", { "infra", "gpu" }, true, NULL, CHOOSE_WINDOWS,
	  "a Windows node: MCO does not manage it" },
	{ "B2 3: two customs, none", { "infra", "gpu" }, false, NULL, CHOOSE_SEVERAL,
	  "pools gpu and infra both match: MCO does not manage such a node" },
	{ "B2 3: three customs are all named", { "infra", "gpu", "edge" }, false, NULL, CHOOSE_SEVERAL,
	  "pools edge, gpu and infra all match: MCO does not manage such a node" },
	{ "B2 3: two customs and worker, none", { "infra", "gpu", "worker" }, false, NULL, CHOOSE_SEVERAL,
	  "pools gpu and infra both match: MCO does not manage such a node" },
	{ "B2 3: two customs and master, none", { "infra", "gpu", "master" }, false, NULL, CHOOSE_SEVERAL,
	  "pools gpu and infra both match: MCO does not manage such a node" },
	{ "B2 4: master over a custom", { "infra", "master" }, false, "master", CHOOSE_MASTER_OVER_CUSTOM,
	  "pool master matches: it comes before a custom pool" },
	{ "B2 4: master over a custom and worker", { "infra", "master", "worker" }, false, "master",
	  CHOOSE_MASTER_OVER_CUSTOM, "pool master matches: it comes before a custom pool" },
	{ "B2 4: a custom over worker", { "worker", "infra" }, false, "infra", CHOOSE_CUSTOM,
	  "custom pool infra matches" },
	{ "B2 4: a custom alone", { "infra" }, false, "infra", CHOOSE_CUSTOM, "custom pool infra matches" },
	{ "B2 5: master over worker", { "worker", "master" }, false, "master", CHOOSE_MASTER,
	  "pool master matches" },
	{ "B2 5: master alone", { "master" }, false, "master", CHOOSE_MASTER, "pool master matches" },
	{ "B2 5: worker alone", { "worker" }, false, "worker", CHOOSE_WORKER, "only pool worker matches" },
	{ "B2 5: nothing matches", { NULL }, false, NULL, CHOOSE_NOTHING, "no pool's selector matches" },
	{ "B2: names are compared whole", { "master2", "worker" }, false, "master2", CHOOSE_CUSTOM,
	  "custom pool master2 matches" },
	{ "B2: and by case", { "Master" }, false, "Master", CHOOSE_CUSTOM, "custom pool Master matches" },
};

static void
check(const struct row *r, const char *const *names, size_t count)
{
	const struct choice c = choose_pool(names, count, r->windows);
	char why[CHOOSE_WHY_MAX];

	assert_int_equal(c.rule, r->rule);
	if (r->want == NULL)
		assert_int_equal(c.index, -1);
	else
		assert_string_equal(names[c.index], r->want);
	assert_int_equal(choose_why(c, names, count, why, sizeof(why)), strlen(r->why));
	assert_string_equal(why, r->why);
}

/* Every order of names[from ..]. */
static void
permute(const struct row *r, const char **names, size_t count, size_t from)
{
	if (from == count)
		check(r, names, count);
	for (size_t i = from; i < count; i++) {
		const char *const first = names[from];

		names[from] = names[i];
		names[i] = first;
		permute(r, names, count, from + 1);
		names[i] = names[from];
		names[from] = first;
	}
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	const char *names[NAMES_MAX + 1];
	size_t count = 0;

	while (r->pools[count] != NULL)
		count++;
	memcpy(names, r->pools, sizeof(names));
	permute(r, names, count, 0);
}

static void
a_small_buffer_cuts_the_text(void **state)
{
	const char *const names[] = { "infra", "gpu" };
	const struct choice c = choose_pool(names, 2, false);
	char why[12];

	(void)state;
	for (size_t size = 1; size <= sizeof(why); size++) {
		memset(why, 'x', sizeof(why));
		assert_int_equal(choose_why(c, names, 2, why, size), size - 1);
		assert_int_equal(strlen(why), size - 1);
		assert_memory_equal(why, "pools gpu and", size - 1);
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(a_small_buffer_cuts_the_text);
	return cmocka_run_group_tests_name("node_choose", tests, NULL, NULL);
}
