/* tests/unit/test_sim_openshift_pool.c - to which pool a node belongs, and the status of a pool. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/openshift/openshift_pool.h"

enum { POOLS = 4 };
static const char *const pools[POOLS] = { "gpu", "infra", "master", "worker" };
enum { GPU = 1, INFRA = 2, MASTER = 4, WORKER = 8 };

/* The pool of a node, as the machine-config operator chooses it (B2, docs/node-state.md). */
static const struct row {
	const char	*name;
	unsigned	 matches;
	const char	*owner;		/* NULL: nobody */
} rows[] = {
	{ "none matches", 0, NULL },
	{ "a worker", WORKER, "worker" },
	{ "a master", MASTER, "master" },
	{ "master before worker", MASTER | WORKER, "master" },
	{ "a custom pool before worker", INFRA | WORKER, "infra" },
	{ "a custom pool alone", GPU, "gpu" },
	{ "master before a custom pool", MASTER | INFRA, "master" },
	{ "two custom pools: nobody", GPU | INFRA, NULL },
	{ "two custom pools and worker: nobody", GPU | INFRA | WORKER, NULL },
	{ "two custom pools and master: nobody", GPU | INFRA | MASTER, NULL },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	bool matches[POOLS];

	for (size_t i = 0; i < POOLS; i++)
		matches[i] = (r->matches & 1u << i) != 0;
	const int owner = openshift_pool_owner(pools, matches, POOLS);
	if (r->owner == NULL)
		assert_int_equal(owner, POOL_NONE);
	else
		assert_string_equal(pools[owner], r->owner);
}

static const char *
condition(const json_t *pool, const char *type, const char *key)
{
	size_t i;
	json_t *c;

	json_array_foreach(sim_json_at(pool, "status.conditions"), i, c) {
		if (strcmp(sim_json_text(c, "type"), type) == 0)
			return sim_json_text(c, key);
	}
	return "absent";
}

/* The pool of one node with these configs, counted and written down. */
static void
settle(json_t *pool, const struct openshift_node_facts *f, bool paused, const char *now)
{
	struct openshift_pool p;

	json_object_set_new(json_object_get(pool, "spec"), "paused", json_boolean(paused));
	openshift_pool_read(&p, pool);
	openshift_pool_count_begin(&p);
	openshift_pool_count(&p, "n1", f);
	openshift_pool_count_end(&p);
	openshift_pool_set_status(pool, &p, now);
	openshift_pool_free(&p);
}

static void
the_status_follows_the_nodes(void **state)
{
	static char a[] = "rendered-a", b[] = "rendered-b", fine[] = "", bad[] = "two\nlines";
#define NODE(cur, des, text, ...)						\
	{ .current = cur, .desired = des, .reason = text, .joined = true, .ready = true, __VA_ARGS__ }
	const struct openshift_node_facts done = NODE(a, a, fine, .done = true);
	const struct openshift_node_facts working = NODE(a, b, fine, .done = false);
	const struct openshift_node_facts failing = NODE(a, b, bad, .failing = true);
	const struct openshift_node_facts updated = NODE(b, b, fine, .done = true);
	json_t *const one = json_integer(1);
	json_t *const pool = openshift_pool_new("worker", openshift_pool_role_selector("worker"), one, a);

	(void)state;
	settle(pool, &done, false, "t1");
	assert_string_equal(condition(pool, "Updated", "status"), "True");
	assert_string_equal(condition(pool, "Updating", "status"), "False");
	assert_string_equal(sim_json_text_at(pool, "status.configuration.name"), a);

	openshift_pool_set_target(pool, b, NULL);
	settle(pool, &working, false, "t2");
	assert_string_equal(condition(pool, "Updated", "status"), "False");
	assert_string_equal(condition(pool, "Updating", "status"), "True");
	assert_string_equal(condition(pool, "Updating", "lastTransitionTime"), "t2");
	assert_string_equal(condition(pool, "Degraded", "lastTransitionTime"), "t1");
	assert_string_equal(sim_json_text_at(pool, "status.configuration.name"), a);
	assert_int_equal(sim_json_int_at(pool, "status.unavailableMachineCount", -1), 1);

	settle(pool, &failing, false, "t3");
	assert_string_equal(condition(pool, "Degraded", "status"), "True");
	assert_non_null(strstr(condition(pool, "NodeDegraded", "message"), "n1"));
	assert_int_equal(sim_json_int_at(pool, "status.degradedMachineCount", -1), 1);
	assert_int_equal(sim_json_int_at(pool, "status.unavailableMachineCount", -1), 0);

	settle(pool, &working, true, "t4");
	assert_string_equal(condition(pool, "Updating", "status"), "False");
	assert_non_null(strstr(condition(pool, "Updating", "message"), "paused"));

	settle(pool, &updated, false, "t5");
	assert_string_equal(condition(pool, "Updated", "status"), "True");
	assert_string_equal(condition(pool, "Updated", "lastTransitionTime"), "t5");
	assert_string_equal(sim_json_text_at(pool, "status.configuration.name"), b);
	assert_int_equal(sim_json_int_at(pool, "status.updatedMachineCount", -1), 1);
	json_decref(pool);
	json_decref(one);
}

static void
max_unavailable_is_a_number_or_percent(void **state)
{
	static const struct {
		const char	*json;
		int64_t		 n;
		bool		 percent;
	} values[] = {
		{ "3", 3, false },
		{ "\"25%\"", 25, true },
		{ "null", 1, false },
		{ "\"2\"", 2, false },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(values); i++) {
		json_t *const max = json_loads(values[i].json, JSON_DECODE_ANY, NULL);
		json_t *const pool = openshift_pool_new("x", openshift_pool_role_selector("x"), max, "c");
		struct openshift_pool p;

		openshift_pool_read(&p, pool);
		assert_int_equal(p.max_unavailable, values[i].n);
		assert_int_equal(p.percent, values[i].percent);
		openshift_pool_free(&p);
		json_decref(pool);
		json_decref(max);
	}
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2] = {
		cmocka_unit_test(the_status_follows_the_nodes),
		cmocka_unit_test(max_unavailable_is_a_number_or_percent),
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i + 2] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("rollout_pool", tests, NULL, NULL);
}
