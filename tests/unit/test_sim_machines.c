/* tests/unit/test_sim_machines.c - the life of simulated machines, and of their Nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/sim_json.h"
#include "sim/kube/store/sim_store.h"
#include "sim/machines/sim_machine_nodes.h"
#include "sim_rig.h"

/* So far apart that a fifth more or less of each changes no answer below. */
static const int64_t lasts[MACHINE_STATES] = {
	[MACHINE_ORDERED] = 1000, [MACHINE_BOOTING] = 10000, [MACHINE_RUNNING] = 100000,
	[MACHINE_JOINED] = 1000000, [MACHINE_DELETING] = 1000,
};
enum { NEVER = -1 };

static const struct row {
	const char		*name;
	enum sim_machine_state	 last;
	int64_t			 delete_at_ms, kill_at_ms, at_ms;	/* NEVER */
	enum sim_machine_state	 state;
	bool			 has_address;
} rows[] = {
	{ "ordered", 0, NEVER, NEVER, 500, MACHINE_ORDERED, false },
	{ "booting", 0, NEVER, NEVER, 2000, MACHINE_BOOTING, false },
	{ "running", 0, NEVER, NEVER, 20000, MACHINE_RUNNING, true },
	{ "joined", 0, NEVER, NEVER, 200000, MACHINE_JOINED, true },
	{ "ready, for good", 0, NEVER, NEVER, 90000000, MACHINE_READY, true },
	{ "never boots", MACHINE_BOOTING, NEVER, NEVER, 90000000, MACHINE_BOOTING, false },
	{ "never joins", MACHINE_RUNNING, NEVER, NEVER, 90000000, MACHINE_RUNNING, true },
	{ "deleted before it boots", 0, 500, NEVER, 600, MACHINE_DELETING, false },
	{ "and gone", 0, 500, NEVER, 2000, MACHINE_GONE, false },
	{ "deleted when ready", 0, 2000000, NEVER, 2002000, MACHINE_GONE, false },
	{ "one that never joins is deleted, too", MACHINE_RUNNING, 200000, NEVER, 202000, MACHINE_GONE, false },
	{ "dead, and still listed", 0, NEVER, 2000000, 90000000, MACHINE_DEAD, true },
	{ "dead before it joined", 0, NEVER, 20000, 90000000, MACHINE_DEAD, true },
	{ "dead, then deleted", 0, 3000000, 2000000, 3002000, MACHINE_GONE, false },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct sim_machines_settings settings = { .seed = 7 };
	int64_t now_ms = 0;

	memcpy(settings.lasts_ms, lasts, sizeof(lasts));
	struct sim_machines *all = sim_machines_new(&settings);
	const uint64_t id = sim_machines_order(all, &(struct sim_machine_order){ .name = "vm",
	    .provider_id = "", .last = r->last })->id;
	if (r->kill_at_ms != NEVER) {
		sim_machines_advance(all, r->kill_at_ms);
		now_ms = r->kill_at_ms;
		assert_true(sim_machines_kill(all, id));
	}
	if (r->delete_at_ms != NEVER) {
		sim_machines_advance(all, r->delete_at_ms - now_ms);
		now_ms = r->delete_at_ms;
		assert_true(sim_machines_delete(all, id));
		assert_false(sim_machines_delete(all, id));
		assert_false(sim_machines_kill(all, id));
	}
	sim_machines_advance(all, r->at_ms - now_ms);
	const struct sim_machine *const m = sim_machines_find(all, id);
	assert_string_equal(sim_machine_state_name(m != NULL ? m->state : MACHINE_GONE),
	    sim_machine_state_name(r->state));
	assert_int_equal(m != NULL && m->public_ip[0] != '\0', r->has_address);
	assert_int_equal(sim_machines_count(all), r->state != MACHINE_GONE);
	sim_machines_free(&all);
}

/* One that is slow stays ordered; when its states began can be read. */
static void
is_slow_when_ordered_so(void **state)
{
	struct sim_machines_settings settings = { .seed = 7 };

	(void)state;
	memcpy(settings.lasts_ms, lasts, sizeof(lasts));
	struct sim_machines *all = sim_machines_new(&settings);
	sim_machines_advance(all, 100);
	const struct sim_machine *const m = sim_machines_order(all, &(struct sim_machine_order){ .name = "vm",
	    .provider_id = "", .delay_ms = 50000 });
	sim_machines_advance(all, 40000);
	assert_int_equal(m->state, MACHINE_ORDERED);
	sim_machines_advance(all, 15000);
	assert_int_equal(m->state, MACHINE_BOOTING);
	assert_int_equal(m->since_ms[MACHINE_ORDERED], 100);
	assert_in_range(m->since_ms[MACHINE_BOOTING], 50800, 51400);
	sim_machines_free(&all);
}

struct story {
	char	text[512];
};

static void
note_change(void *arg, const struct sim_machine *m)
{
	struct story *const s = arg;
	const size_t len = strlen(s->text);

	snprintf(s->text + len, sizeof(s->text) - len, "%s %s, ", m->name,
	    sim_machine_state_name(m->state));
}

/* In one step or in many: the same changes in the same order. */
static void
keeps_the_order_of_moments(void **state)
{
	struct story stories[2] = { { "" }, { "" } };

	(void)state;
	for (int many = 0; many <= 1; many++) {
		struct sim_machines_settings settings = { .seed = 7, .changed = note_change,
			.arg = &stories[many] };

		memcpy(settings.lasts_ms, lasts, sizeof(lasts));
		struct sim_machines *all = sim_machines_new(&settings);
		sim_machines_order(all, &(struct sim_machine_order){ .name = "a", .provider_id = "" });
		sim_machines_order(all, &(struct sim_machine_order){ .name = "b", .provider_id = "" });
		for (int i = 0; i < (many ? 2000 : 1); i++)
			sim_machines_advance(all, many ? 100 : 200000);
		assert_true(sim_machines_delete(all, 1));
		sim_machines_advance(all, 2000);
		assert_null(sim_machines_find(all, 1));
		assert_int_equal(sim_machines_nth(all, 0)->id, 2);
		assert_null(sim_machines_nth(all, 1));
		sim_machines_free(&all);
	}
	assert_string_equal(stories[0].text, stories[1].text);
	assert_non_null(strstr(stories[0].text, "a deleting, a gone, "));
}

static json_t *
node_of(struct rig *r, const char *name)
{
	const struct sim_storage *const st = sim_store_storage(r->sim.store, "", "nodes");
	const struct sim_blob *const b = sim_storage_get(st, name);

	return b != NULL ? sim_blob_parse(b, st->form) : NULL;
}

static const char *
ready_status(const json_t *node)
{
	const json_t *const conditions = sim_json_at(node, "status.conditions");

	return sim_json_text(sim_json_find(conditions, "type", "Ready"), "status");
}

static void
machines_become_nodes(void **state)
{
	struct rig r;
	json_auto_t *labels = json_pack("{s:s}", "pool", "blue");
	json_auto_t *taints = json_pack("[{s:s, s:s}]", "key", "fresh", "effect", "NoSchedule");

	(void)state;
	rig_open(&r, 0);
	struct sim_machine_nodes *nodes = sim_machine_nodes_new(&r.sim, lasts);
	struct sim_machines *const all = sim_machine_nodes_machines(nodes);
	const uint64_t id = sim_machines_order(all, &(struct sim_machine_order){ .name = "vm-1",
	    .provider_id = "desk://1", .labels = labels, .taints = taints })->id;
	sim_machines_advance(all, 20000);
	assert_null(node_of(&r, "vm-1"));

	sim_machines_advance(all, 180000);
	json_auto_t *joined = node_of(&r, "vm-1");
	assert_string_equal(ready_status(joined), "False");
	assert_string_equal(sim_json_text_at(joined, "spec.providerID"), "desk://1");
	assert_string_equal(sim_json_text_at(joined, "metadata.labels.pool"), "blue");
	assert_non_null(sim_json_find(sim_json_at(joined, "spec.taints"), "key", "fresh"));
	assert_non_null(sim_json_find(sim_json_at(joined, "spec.taints"), "key",
	    "node.kubernetes.io/not-ready"));
	assert_string_equal(sim_json_text(sim_json_find(sim_json_at(joined, "status.addresses"), "type",
	    "InternalIP"), "address"), sim_machines_find(all, id)->private_ip);

	sim_machines_advance(all, 2000000);
	json_auto_t *ready = node_of(&r, "vm-1");
	assert_string_equal(ready_status(ready), "True");
	assert_null(sim_json_find(sim_json_at(ready, "spec.taints"), "key", "node.kubernetes.io/not-ready"));

	assert_true(sim_machines_kill(all, id));
	json_auto_t *dead = node_of(&r, "vm-1");
	assert_string_equal(ready_status(dead), "Unknown");
	assert_true(sim_machines_delete(all, id));
	sim_machines_advance(all, 2000);
	assert_null(node_of(&r, "vm-1"));
	sim_machine_nodes_free(&nodes);
	rig_close(&r);
}

/* By the clock of the simulator, without a call to advance. */
static void
time_passes(void **state)
{
	static const int64_t quick[MACHINE_STATES] = {
		[MACHINE_ORDERED] = 5, [MACHINE_BOOTING] = 5, [MACHINE_RUNNING] = 5, [MACHINE_JOINED] = 5,
	};
	struct rig r;

	(void)state;
	rig_open(&r, 0);
	struct sim_machine_nodes *nodes = sim_machine_nodes_new(&r.sim, quick);
	struct sim_machines *const all = sim_machine_nodes_machines(nodes);
	sim_machines_order(all, &(struct sim_machine_order){ .name = "vm-1", .provider_id = "" });
	while (sim_machines_nth(all, 0)->state != MACHINE_READY)
		event_base_loop(r.base, EVLOOP_ONCE);
	json_auto_t *node = node_of(&r, "vm-1");
	assert_null(sim_json_at(node, "spec.providerID"));
	sim_machine_nodes_free(&nodes);
	rig_close(&r);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 4];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(is_slow_when_ordered_so);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(keeps_the_order_of_moments);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(machines_become_nodes);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(time_passes);
	return cmocka_run_group_tests_name("sim_machines", tests, NULL, NULL);
}
