/*
 * tests/unit/test_node_fleet.c - B1, B3, B4: the keys that a change enqueues, and whether a state
 * has changed.
 *
 * A small cluster of three workers, an infra node and a master; each case changes one object and
 * names the keys that must be evaluated, and the results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/node-state/fleet.h"
#include "obj.h"
#include "tests/unit/words.h"

#define ROLE	"node-role.kubernetes.io/"
#define OLD	"rendered-worker-1"
#define NEW	"rendered-worker-2"

enum { NODES_MAX = 5 };

struct world {
	struct fleet	*fleet;
	struct {
		const char	*key, *labels, *mco;
	} nodes[NODES_MAX];
	char		 enqueued[512];
};

/* Calls fn with the node of that key; false: there is none. */
static bool
with_node(struct world *w, const char *key, fleet_node_fn *fn, void *arg)
{
	for (size_t i = 0; i < NODES_MAX; i++) {
		struct words labels, mco;

		if (w->nodes[i].key == NULL || strcmp(w->nodes[i].key, key) != 0)
			continue;
		words_init(&labels, w->nodes[i].labels);
		words_init(&mco, w->nodes[i].mco);
		const struct body_node n = { .labels = labels.map, .mco = mco.map };
		fn(wire_str_of(key), &n, arg);
		words_free(&labels);
		words_free(&mco);
		return true;
	}
	return false;
}

static void
each_node(void *arg, fleet_node_fn *fn, void *fn_arg)
{
	struct world *w = arg;

	for (size_t i = 0; i < NODES_MAX; i++) {
		if (w->nodes[i].key != NULL)
			with_node(w, w->nodes[i].key, fn, fn_arg);
	}
}

/* Each key once, in the order of the first enqueue. */
static void
enqueue(void *arg, struct wire_str key, uint64_t trace)
{
	struct world *w = arg;
	char name[300];

	(void)trace;
	snprintf(name, sizeof(name), "%.*s ", (int)key.len, key.p);
	if (strstr(w->enqueued, name) == NULL)
		strncat(w->enqueued, name, sizeof(w->enqueued) - strlen(w->enqueued) - 1);
}

struct evaluation {
	struct world		*world;
	enum fleet_result	 found;
	struct fleet_state	*out;
};

static void
evaluate_found(struct wire_str key, const struct body_node *n, void *arg)
{
	struct evaluation *l = arg;

	l->found = fleet_evaluate(l->world->fleet, key, n, 7, 1000, l->out);
}

static enum fleet_result
evaluate(struct world *w, const char *key, struct fleet_state *out)
{
	struct evaluation l = { .world = w, .out = out };

	if (!with_node(w, key, evaluate_found, &l))
		l.found = fleet_evaluate(w->fleet, wire_str_of(key), NULL, 7, 1000, out);
	return l.found;
}

static void
update_pool(struct world *w, const char *name, const char *role, bool paused)
{
	char key[300], selector[200];

	snprintf(key, sizeof(key), "machineconfigpools/%s", name);
	snprintf(selector, sizeof(selector), "{\"matchLabels\":{\"" ROLE "%s\":\"\"}}", role);
	const union msg_body b = { .machine_config_pool = {
		.selector = wire_str_of(selector), .paused = paused } };
	fleet_update(w->fleet, MSG_MACHINE_CONFIG_POOL, wire_str_of(key), &b, 1);
}

static void
update_config(struct world *w, const char *name, const char *version)
{
	char key[300], annotation[100];
	struct words words;

	snprintf(key, sizeof(key), "machineconfigs/%s", name);
	snprintf(annotation, sizeof(annotation), "release-image-version=%s", version);
	words_init(&words, annotation);
	const union msg_body b = { .machine_config = { .annotations = words.map } };
	fleet_update(w->fleet, MSG_MACHINE_CONFIG, wire_str_of(key), version[0] != '\0' ? &b : NULL, 1);
	words_free(&words);
}

static void
update_version(struct world *w, const char *version)
{
	msgpack_sbuffer bytes;
	union msg_body b = { 0 };

	msgpack_sbuffer_init(&bytes);
	const struct wire_str cells[] = { wire_str_of("Partial"), wire_str_of(version) };
	rows_put(&bytes, &b.cluster_version.history, cells, 2);
	fleet_update(w->fleet, MSG_CLUSTER_VERSION, wire_str_of("clusterversions/version"), &b, 1);
	msgpack_sbuffer_destroy(&bytes);
}

static void
evaluate_first(struct wire_str key, const struct body_node *n, void *arg)
{
	struct world *w = arg;
	struct fleet_state out;

	fleet_evaluate(w->fleet, key, n, 7, 1000, &out);
}

static void
evaluate_first_pool(void *arg, struct wire_str key)
{
	struct world *w = arg;
	struct fleet_state out;

	fleet_evaluate(w->fleet, key, NULL, 7, 1000, &out);
}

static int
set_up(void **state)
{
	static struct world w;
	static const char done[] = "currentConfig=" OLD " desiredConfig=" OLD " state=Done";

	w = (struct world){ .nodes = {
		{ "nodes/w1", ROLE "worker=", done },
		{ "nodes/w2", ROLE "worker=", done },
		{ "nodes/w3", ROLE "worker=", "currentConfig=" OLD " desiredConfig=" NEW " state=Working" },
		{ "nodes/i1", ROLE "infra= " ROLE "worker=", done },
		{ "nodes/m1", ROLE "master=", "currentConfig=rendered-master-1 desiredConfig=rendered-master-1" },
	} };
	w.fleet = fleet_new((struct fleet_hooks){ .enqueue = enqueue, .each_node = each_node, .arg = &w });
	update_pool(&w, "master", "master", false);
	update_pool(&w, "worker", "worker", false);
	update_pool(&w, "infra", "infra", false);
	update_config(&w, OLD, "4.20.1");
	update_config(&w, NEW, "4.20.2");
	update_config(&w, "rendered-master-1", "4.20.1");
	update_version(&w, "4.20.2");
	assert_string_equal(w.enqueued, "");	/* B2: nothing before everything is there */
	fleet_open(w.fleet);
	each_node(&w, evaluate_first, &w);
	fleet_each_pool(w.fleet, evaluate_first_pool, &w);
	w.enqueued[0] = '\0';
	*state = &w;
	return 0;
}

static int
tear_down(void **state)
{
	struct world *w = *state;

	fleet_free(&w->fleet);
	return 0;
}

static void
expect(struct world *w, const char *enqueued)
{
	assert_string_equal(w->enqueued, enqueued);
	w->enqueued[0] = '\0';
}

static void
expect_phase(struct world *w, const char *key, enum fleet_result found, const char *now, const char *before)
{
	struct fleet_state s;

	assert_int_equal(evaluate(w, key, &s), found);
	assert_string_equal(s.now, now);
	assert_string_equal(s.before, before);
}

static void
b1_a_state_has_its_inputs_and_its_evaluation(void **state)
{
	struct world *w = *state;
	struct fleet_state s;

	w->nodes[2].mco = "currentConfig=" OLD " desiredConfig=" NEW " state=Rebooting";
	assert_int_equal(evaluate(w, "nodes/w3", &s), EVAL_CHANGED);
	const struct body_node_state *n = &s.body.node_state;
	assert_memory_equal(n->pool.p, "worker", 6);
	assert_memory_equal(n->scope.p, "WorkerPool", 10);
	assert_memory_equal(n->version.p, "4.20.1", 6);
	assert_memory_equal(n->target.p, "4.20.2", 6);
	assert_int_equal(n->conditions.count, 3);
	assert_int_equal(n->evaluations, 2);
	assert_int_equal(n->evaluated_us, 1000);
	assert_int_equal(fleet_managed(w->fleet), 5);
}

/* The packed form is appended to after it was hashed: it must be what packing the whole body gives. */
static void
a_changed_state_is_packed_whole(void **state)
{
	static const char *const keys[] = { "nodes/w3", "machineconfigpools/worker" };
	struct world *w = *state;
	struct fleet_state s;
	struct msg_arena arena;
	union msg_body body;
	msgpack_sbuffer again;

	msg_arena_init(&arena);
	msgpack_sbuffer_init(&again);
	w->nodes[2].mco = "currentConfig=" OLD " desiredConfig=" NEW " state=Done";
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(evaluate(w, keys[i], &s), EVAL_CHANGED);
		assert_true(msg_unpack_value(s.type, s.packed.p, s.packed.len, &arena, &body));
		const struct wire_str reason = i == 0 ? body.node_state.reason : body.pool_state.reason;
		const char *const cause = i == 0 ? "first evaluation" : "one of its nodes changed";
		assert_int_equal(reason.len, strlen(cause));
		assert_memory_equal(reason.p, cause, reason.len);
		assert_int_equal(i == 0 ? body.node_state.evaluated_us : body.pool_state.evaluated_us, 1000);
		assert_true(i != 0 || body.node_state.evaluations == 2);
		msgpack_sbuffer_clear(&again);
		msg_pack(&again, s.type, &body);
		assert_int_equal(again.size, s.packed.len);
		assert_memory_equal(again.data, s.packed.p, s.packed.len);
	}
	msgpack_sbuffer_destroy(&again);
	msg_arena_free(&arena);
}

static void
b3_a_node_enqueues_itself_alone(void **state)
{
	struct world *w = *state;

	fleet_update(w->fleet, MSG_NODE, wire_str_of("nodes/w1"), NULL, 1);
	expect(w, "nodes/w1 ");
}

static void
b3_an_unchanged_state_is_unchanged(void **state)
{
	struct world *w = *state;

	expect_phase(w, "nodes/w1", EVAL_UNCHANGED, "Pending", "Pending");
	expect_phase(w, "machineconfigpools/worker", EVAL_UNCHANGED, "Progressing", "Progressing");
	update_pool(w, "worker", "worker", false);
	update_config(w, OLD, "4.20.1");
	update_version(w, "4.20.2");
	expect(w, "");
}

/* Defect: a pause did not change the selector, so no node was evaluated until it changed itself. */
static void
b3_a_pause_enqueues_the_pools_nodes(void **state)
{
	struct world *w = *state;

	update_pool(w, "worker", "worker", true);
	expect(w, "nodes/w1 nodes/w2 nodes/w3 machineconfigpools/worker ");
	expect_phase(w, "nodes/w1", EVAL_CHANGED, "Paused", "Pending");
	expect_phase(w, "nodes/w3", EVAL_UNCHANGED, "Updating", "Updating");
	expect_phase(w, "machineconfigpools/worker", EVAL_CHANGED, "Excluded", "Progressing");
}

static void
b3_a_changed_selector_enqueues_old_and_new_nodes(void **state)
{
	struct world *w = *state;

	update_pool(w, "infra", "master", false);
	expect(w, "nodes/i1 nodes/m1 machineconfigpools/infra ");
	/* i1 is a worker still; m1 is master's whatever other pool selects it */
	expect_phase(w, "nodes/i1", EVAL_CHANGED, "Pending", "Pending");
	expect_phase(w, "nodes/m1", EVAL_UNCHANGED, "Pending", "Pending");
	expect(w, "machineconfigpools/infra machineconfigpools/worker ");
}

static void
b3_a_deleted_pool_enqueues_the_nodes_that_it_selected(void **state)
{
	struct world *w = *state;
	struct fleet_state s;

	fleet_update(w->fleet, MSG_MACHINE_CONFIG_POOL, wire_str_of("machineconfigpools/master"), NULL, 1);
	expect(w, "nodes/m1 machineconfigpools/master ");
	assert_int_equal(evaluate(w, "nodes/m1", &s), EVAL_GONE);
	assert_int_equal(evaluate(w, "machineconfigpools/master", &s), EVAL_GONE);
	assert_int_equal(evaluate(w, "machineconfigpools/master", &s), EVAL_UNCHANGED);
	assert_int_equal(evaluate(w, "nodes/m1", &s), EVAL_UNCHANGED);
	assert_int_equal(fleet_managed(w->fleet), 4);
}

/* A second custom pool selects the same node: no pool owns it until the second one is deleted. */
static void
b3_two_custom_pools_own_no_node(void **state)
{
	struct world *w = *state;
	struct fleet_state s;

	update_pool(w, "gpu", "infra", false);
	expect(w, "nodes/i1 machineconfigpools/gpu ");
	assert_int_equal(evaluate(w, "nodes/i1", &s), EVAL_GONE);
	assert_true(s.several);
	w->enqueued[0] = '\0';
	fleet_update(w->fleet, MSG_MACHINE_CONFIG_POOL, wire_str_of("machineconfigpools/gpu"), NULL, 1);
	expect(w, "nodes/i1 machineconfigpools/gpu ");
	expect_phase(w, "nodes/i1", EVAL_CHANGED, "Pending", "");
}

static void
b3_a_config_enqueues_the_nodes_that_use_it(void **state)
{
	struct world *w = *state;

	update_config(w, NEW, "4.20.3");
	expect(w, "nodes/w3 ");
	expect_phase(w, "nodes/w3", EVAL_CHANGED, "Pending", "Updating");
	update_config(w, "rendered-master-1", "");
	expect(w, "machineconfigpools/worker nodes/m1 ");
	update_config(w, "rendered-gpu-1", "4.20.2");
	expect(w, "");
}

static void
b3_the_cluster_version_enqueues_all(void **state)
{
	struct world *w = *state;

	update_version(w, "4.20.1");
	expect(w, "nodes/w1 nodes/w2 nodes/w3 nodes/i1 nodes/m1 "
	    "machineconfigpools/master machineconfigpools/worker machineconfigpools/infra ");
	expect_phase(w, "nodes/w1", EVAL_CHANGED, "Completed", "Pending");
}

/* Defect: a node that went was dropped without a result. */
static void
b4_a_deleted_node_is_gone(void **state)
{
	struct world *w = *state;
	struct fleet_state s;

	w->nodes[0].key = NULL;
	fleet_update(w->fleet, MSG_NODE, wire_str_of("nodes/w1"), NULL, 1);
	assert_int_equal(evaluate(w, "nodes/w1", &s), EVAL_GONE);
	expect(w, "nodes/w1 machineconfigpools/worker ");
	assert_int_equal(evaluate(w, "nodes/w1", &s), EVAL_UNCHANGED);
	assert_int_equal(fleet_evaluations(w->fleet, wire_str_of("nodes/w1")), 0);
	/* and it may come again under its name */
	w->nodes[0].key = "nodes/w1";
	expect_phase(w, "nodes/w1", EVAL_CHANGED, "Pending", "");
}

static void
b4_a_node_that_leaves_all_pools_is_gone(void **state)
{
	struct world *w = *state;
	struct fleet_state s;

	w->nodes[0].labels = ROLE "edge=";
	assert_int_equal(evaluate(w, "nodes/w1", &s), EVAL_GONE);
	assert_int_equal(evaluate(w, "machineconfigpools/worker", &s), EVAL_CHANGED);
	struct wire_rows rows = s.body.pool_state.summaries;
	struct wire_str cells[ROWS_COLUMNS_MAX];
	assert_true(rows_next(&rows, cells));
	assert_memory_equal(cells[0].p, "Total", 5);
	assert_memory_equal(cells[1].p, "2", 1);
}

/* The texts of a result live until the next evaluation: its message is built, not a view into the Node. */
static void
a_made_message_stays(void **state)
{
	struct world *w = *state;
	struct fleet_state s;

	w->nodes[0].mco = "currentConfig=" OLD " desiredConfig=" OLD " state=Working";
	assert_int_equal(evaluate(w, "nodes/w1", &s), EVAL_CHANGED);
	assert_memory_equal(s.body.node_state.message.p, "Machine Config Daemon is processing the node", 44);
}

/* There was no room for any pool yet; the first one must not be counted in the old room. */
static void
the_first_pool_comes_late(void **state)
{
	struct world *w = *state;
	struct fleet_state s;

	fleet_free(&w->fleet);
	w->fleet = fleet_new((struct fleet_hooks){ .enqueue = enqueue, .each_node = each_node, .arg = w });
	fleet_open(w->fleet);
	each_node(w, evaluate_first, w);
	expect(w, "");
	update_pool(w, "worker", "worker", false);
	expect(w, "nodes/w1 nodes/w2 nodes/w3 nodes/i1 machineconfigpools/worker ");
	assert_int_equal(evaluate(w, "machineconfigpools/worker", &s), EVAL_CHANGED);
}

int
main(void)
{
#define CASE(f)	cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	static const struct CMUnitTest tests[] = {
		CASE(b1_a_state_has_its_inputs_and_its_evaluation), CASE(a_changed_state_is_packed_whole),
		CASE(b3_a_node_enqueues_itself_alone),
		CASE(b3_an_unchanged_state_is_unchanged), CASE(b3_a_pause_enqueues_the_pools_nodes),
		CASE(b3_a_changed_selector_enqueues_old_and_new_nodes),
		CASE(b3_a_deleted_pool_enqueues_the_nodes_that_it_selected),
		CASE(b3_two_custom_pools_own_no_node),
		CASE(b3_a_config_enqueues_the_nodes_that_use_it), CASE(b3_the_cluster_version_enqueues_all),
		CASE(b4_a_deleted_node_is_gone), CASE(b4_a_node_that_leaves_all_pools_is_gone),
		CASE(a_made_message_stays), CASE(the_first_pool_comes_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
