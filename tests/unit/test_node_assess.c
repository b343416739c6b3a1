/*
 * tests/unit/test_node_assess.c - B2: updated, updating, degraded, draining, the seven rules and the test of
 * availability, line by line of assess.h; each row comes as a Node from the bus would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "actors/node-state/assess.h"
#include "obj.h"

#define OLD	"rendered-worker-old"	/* 4.20.2 */
#define NEW	"rendered-worker-new"	/* 4.20.3, the target */
#define TWIN	"rendered-worker-twin"	/* 4.20.3 too: another architecture */
#define NONE	"rendered-worker-none"	/* a config without a version */

/* NULL: the annotation is absent. AT: the three that every node has, and what else. */
#define AT(c, d, s, ...)	{ .current = c, .desired = d, .state = s, __VA_ARGS__ }
#define DRAIN(wanted, applied)	.want_drain = wanted, .have_drain = applied
struct node {
	const char	*current, *desired, *state, *want_drain, *have_drain, *image, *want_image, *reason;
};

enum { U = 1, G = 2, D = 4, R = 8 };	/* updated, updating, degraded, draining */

static const struct row {
	const char		*name;
	struct node		 node;
	bool			 paused;
	const char		*target;	/* NULL: 4.20.3 */
	unsigned		 is;		/* U, G, D, R */
	enum assess_rule	 rule;
	enum assess_phase	 phase;
} rows[] = {
	/* updated */
	{ "B2 updated: current is the target", AT(NEW, NEW, "Done"), false, NULL, U, RULE_UPDATED, PHASE_COMPLETED },
	{ "B2 updated: desiredConfig absent", AT(NEW, NULL, "Done"), false, NULL, U, RULE_UPDATED, PHASE_COMPLETED },
	{ "B2 not updated: desiredConfig present but empty", AT(NEW, "", "Done"), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
	{ "B2 not updated: same version, another config", AT(NEW, TWIN, "Working"), false, NULL, G, RULE_UPDATING, PHASE_UPDATING },
	{ "B2 not updated: current has no known version", AT(NONE, NONE, "Done"), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
	{ "B2 not updated: no annotations at all", AT(NULL, NULL, NULL), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
	{ "B2 not updated: no target", AT(NEW, NEW, "Done"), false, "", 0, RULE_PENDING, PHASE_PENDING },
	{ "B2 no target and no version are not equal", AT(NONE, NONE, "Done"), false, "", 0, RULE_PENDING, PHASE_PENDING },
	/* updating */
	{ "B2 updating: desired is the target", AT(OLD, NEW, "Working"), false, NULL, G, RULE_UPDATING, PHASE_UPDATING },
	{ "B2 not updating: current unknown", AT(NONE, NEW, "Working"), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
	{ "B2 not updating: desired unknown", AT(OLD, NONE, "Working"), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
	{ "B2 not updating: desired is not the target", AT(OLD, OLD, "Working"), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
	{ "B2 not updating: desired absent", AT(OLD, NULL, "Working"), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
	{ "B2 not updating: the target is another one", AT(OLD, NEW, "Working"), false, "4.21.0", 0, RULE_PENDING, PHASE_PENDING },
	/* rule 1 */
	{ "B2 1 draining (a): drain requested, not applied", AT(OLD, NEW, "Working", DRAIN("drain-n",
	  "uncordon-o")), false, NULL, G | R, RULE_DRAINING, PHASE_DRAINING },
	{ "B2 1 draining (a): rebooting does not hide it", AT(OLD, NEW, "Rebooting",
	  DRAIN("drain-n", "uncordon-o")), false, NULL, G | R, RULE_DRAINING, PHASE_DRAINING },
	{ "B2 1 draining (a): a verb without a dash", AT(OLD, NEW, "Working", DRAIN("drain",
	  "uncordon-o")), false, NULL, G | R, RULE_DRAINING, PHASE_DRAINING },
	{ "B2 1 draining (a): the verb is the whole word", AT(OLD, NEW, "Working",
	  DRAIN("drained-n", "uncordon-o")), false, NULL, G, RULE_UPDATING, PHASE_UPDATING },
	{ "B2 1 draining (a): uncordon is not drain", AT(OLD, NEW, "Working", DRAIN("uncordon-n",
	  "drain-n")), false, NULL, G, RULE_UPDATING, PHASE_UPDATING },
	{ "B2 1 draining (a): caught up", AT(OLD, NEW, "Working", DRAIN("drain-n", "drain-n")),
	  false, NULL, G, RULE_UPDATING, PHASE_UPDATING },
	{ "B2 1 draining (a): desiredDrain empty", AT(OLD, NEW, "Working", DRAIN("",
	  "uncordon-o")), false, NULL, G, RULE_UPDATING, PHASE_UPDATING },
	{ "B2 1 draining (a): lastAppliedDrain absent", AT(OLD, NEW, "Working", DRAIN("drain-n",
	  NULL)), false, NULL, G, RULE_UPDATING, PHASE_UPDATING },
	{ "B2 1 draining (b): still Done, caught up", AT(OLD, NEW, "Done", DRAIN("uncordon-o",
	  "uncordon-o")), false, NULL, G | R, RULE_DRAINING, PHASE_DRAINING },
	{ "B2 1 draining (b): still Done, uncordon requested", AT(OLD, NEW, "Done",
	  DRAIN("uncordon-n", "drain-n")), false, NULL, G | R, RULE_DRAINING, PHASE_DRAINING },
	{ "B2 1 draining only while updating", AT(OLD, OLD, "Working", DRAIN("drain-n",
	  "uncordon-o")), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
	{ "B2 1 an updated node is not draining", AT(NEW, NEW, "Done", DRAIN("drain-n",
	  "uncordon-o")), false, NULL, U, RULE_UPDATED, PHASE_COMPLETED },
	/* rules 2 to 4 */
	{ "B2 2 rebooting", AT(OLD, NEW, "Rebooting"), false, NULL, G, RULE_REBOOTING, PHASE_REBOOTING },
	{ "B2 2 rebooting after the drain", AT(OLD, NEW, "Rebooting", DRAIN("drain-n",
	  "drain-n")), false, NULL, G, RULE_REBOOTING, PHASE_REBOOTING },
	{ "B2 3 Done without drain annotations", AT(OLD, NEW, "Done"), false, NULL, G, RULE_DONE, PHASE_COMPLETED },
	{ "B2 3 Done with one empty drain annotation", AT(OLD, NEW, "Done", DRAIN("drain-n", "")),
	  false, NULL, G, RULE_DONE, PHASE_COMPLETED },
	{ "B2 4 Working", AT(OLD, NEW, "Working", DRAIN("drain-n", "drain-n")), false, NULL, G, RULE_UPDATING, PHASE_UPDATING },
	{ "B2 4 Degraded", AT(OLD, NEW, "Degraded"), false, NULL, G | D, RULE_UPDATING, PHASE_UPDATING },
	{ "B2 4 empty state", AT(OLD, NEW, ""), false, NULL, G, RULE_UPDATING, PHASE_UPDATING },
	{ "B2 4 no state", AT(OLD, NEW, NULL), false, NULL, G, RULE_UPDATING, PHASE_UPDATING },
	{ "B2 4 states are case-sensitive", AT(OLD, NEW, "rebooting"), false, NULL, G, RULE_UPDATING, PHASE_UPDATING },
	{ "B2 4 paused does not stop what runs", AT(OLD, NEW, "Working"), true, NULL, G, RULE_UPDATING, PHASE_UPDATING },
	/* rules 5 to 7 */
	{ "B2 5 updated comes before paused", AT(NEW, NEW, "Done"), true, NULL, U, RULE_UPDATED, PHASE_COMPLETED },
	{ "B2 6 paused", AT(OLD, OLD, "Done"), true, NULL, 0, RULE_PAUSED, PHASE_PAUSED },
	{ "B2 6 paused, version unknown", AT(NONE, NONE, "Done"), true, NULL, 0, RULE_PAUSED, PHASE_PAUSED },
	{ "B2 7 pending", AT(OLD, OLD, "Done"), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
	/* degraded */
	{ "B2 degraded: Degraded", AT(OLD, OLD, "Degraded"), false, NULL, D, RULE_PENDING, PHASE_PENDING },
	{ "B2 degraded: Unreconcilable", AT(OLD, OLD, "Unreconcilable"), false, NULL, D, RULE_PENDING, PHASE_PENDING },
	{ "B2 degraded: though updated", AT(NEW, NEW, "Degraded"), false, NULL, U | D, RULE_UPDATED, PHASE_COMPLETED },
	{ "B2 not degraded: desiredConfig absent", AT(OLD, NULL, "Degraded"), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
	{ "B2 not degraded: desiredConfig empty", AT(OLD, "", "Degraded"), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
	{ "B2 not degraded: case-sensitive", AT(OLD, OLD, "degraded"), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
	{ "B2 not degraded: a reason alone", AT(OLD, OLD, "Done", .reason = "x"), false, NULL, 0, RULE_PENDING, PHASE_PENDING },
};

#define T1	"2026-01-02T03:04:05Z"
#define T2	"2026-01-02T03:04:06Z"
#define T1_EAST	"2026-01-02T05:04:05+02:00"

#define DONE	AT(NEW, NEW, "Done")
#define OK	{ "True", T1 }, { "False", T1 }, { "False", T1 }
#define NO	{ NULL, NULL }
#define BIT(C)	(1U << CAUSE_##C)

/* Availability: of nodes that are not updating, unless the row has it. */
static const struct available {
	const char	*name;
	struct node	 node;
	struct {
		const char	*status, *since;	/* status NULL: no such condition */
	} ready, disk, network;
	bool		 unschedulable;
	const char	*pool_image;
	unsigned	 causes;
	bool		 available;
	const char	*since;
} availables[] = {
	{ "B2 available", DONE, OK, false, "", 0, true, "" },
	{ "B2 a condition that is missing is no cause", DONE, NO, NO, NO, false, "", 0, true, "" },
	{ "B2 not ready: False", DONE, { "False", T1 }, NO, NO, false, "", BIT(NOT_READY), false, T1 },
	{ "B2 not ready: Unknown", DONE, { "Unknown", T1 }, NO, NO, false, "", BIT(NOT_READY), false, T1 },
	{ "B2 disk pressure: True", DONE, { "True", T1 }, { "True", T2 }, NO, false, "", BIT(DISK_PRESSURE), false, T2 },
	{ "B2 disk pressure: Unknown", DONE, { "True", T1 }, { "Unknown", T2 }, NO, false, "", BIT(DISK_PRESSURE), false, T2 },
	{ "B2 network unavailable: True", DONE, { "True", T1 }, { "False", T1 }, { "True", T2 }, false, "", BIT(NO_NETWORK), false, T2 },
	{ "B2 network unavailable: an empty status", DONE, { "True", T1 }, { "False", T1 }, { "",
	  T2 }, false, "", BIT(NO_NETWORK), false, T2 },
	{ "B2 unschedulable has no time", DONE, OK, true, "", BIT(UNSCHEDULABLE), false, "" },
	{ "B2 the earliest of two causes", DONE, { "False", T2 }, { "True", T1 }, NO, false, "",
	  BIT(NOT_READY) | BIT(DISK_PRESSURE), false, T1 },
	{ "B2 the earliest is of the causes alone", DONE, { "True", T1 }, { "True", T2 }, {
	  "False", T1 }, true, "", BIT(DISK_PRESSURE) | BIT(UNSCHEDULABLE), false, T2 },
	{ "B2 times are compared, not texts", DONE, { "False", T2 }, { "True", T1_EAST }, NO,
	  false, "", BIT(NOT_READY) | BIT(DISK_PRESSURE), false, T1_EAST },
	{ "B2 a time that is none", DONE, { "False", "soon" }, { "True", T2 }, NO, false, "",
	  BIT(NOT_READY) | BIT(DISK_PRESSURE), false, T2 },
	{ "B2 no time at all", DONE, { "False", "" }, NO, NO, false, "", BIT(NOT_READY), false, "" },
	{ "B2 all four", DONE, { "False", T2 }, { "True", T2 }, { "True", T1 }, true, "",
	  BIT(NOT_READY) | BIT(DISK_PRESSURE) | BIT(NO_NETWORK) | BIT(UNSCHEDULABLE), false, T1 },
	/* the daemon */
	{ "B2 the daemon works", AT(NEW, NEW, "Working"), OK, false, "", BIT(DAEMON), false, "" },
	{ "B2 the daemon has no state", AT(NEW, NEW, NULL), OK, false, "", BIT(DAEMON), false, "" },
	{ "B2 configs differ", AT(OLD, NONE, "Done"), OK, false, "", BIT(DAEMON), false, "" },
	{ "B2 both configs empty", AT("", "", "Done"), OK, false, "", BIT(DAEMON), false, "" },
	{ "B2 no annotations", AT(NULL, NULL, NULL), OK, false, "", BIT(DAEMON), false, "" },
	{ "B2 Degraded counts as available", AT(OLD, NONE, "Degraded"), OK, false, "", 0, true, "" },
	{ "B2 Unreconcilable counts as available", AT(OLD, NONE, "Unreconcilable"), OK, false, "", 0, true, "" },
	{ "B2 Degraded, but not ready", AT(OLD, NONE, "Degraded"), { "False", T1 }, NO, NO, false, "", BIT(NOT_READY), false, T1 },
	{ "B2 the daemon stands alone", AT(NEW, NEW, "Working"), { "False", T1 }, NO, NO, false, "", BIT(NOT_READY), false, T1 },
	/* images */
	{ "B2 images equal", AT(NEW, NEW, "Done", .image = "os:1", .want_image = "os:1"), OK, false, "os:1", 0, true, "" },
	{ "B2 images differ", AT(NEW, NEW, "Done", .image = "os:1", .want_image = "os:2"), OK, false, "os:2", BIT(DAEMON), false, "" },
	{ "B2 current image missing", AT(NEW, NEW, "Done", .want_image = "os:1"), OK, false, "os:1", BIT(DAEMON), false, "" },
	{ "B2 desired image missing", AT(NEW, NEW, "Done", .image = "os:1"), OK, false, "", BIT(DAEMON), false, "" },
	{ "B2 both present and empty are not done", AT(NEW, NEW, "Done", .image = "", .want_image
	  = ""), OK, false, "", BIT(DAEMON), false, "" },
	/* the gate */
	{ "B2 gate: a desired image on a normal pool", AT(NEW, NEW, "Working", .want_image = "os:1"), { "False", T1 },
	  NO, NO, true, "", 0, true, "" },
	{ "B2 gate: an empty one is none", AT(NEW, NEW, "Done", .want_image = ""), { "False", T1
	  }, NO, NO, false, "", BIT(NOT_READY), false, T1 },
	{ "B2 gate: the layered pool's image", AT(NEW, NEW, "Done", .image = "os:1", .want_image =
	  "os:1"), { "False", T1 }, NO, NO, false, "os:1", BIT(NOT_READY), false, T1 },
	{ "B2 gate: another image than the pool's", AT(NEW, NEW, "Done", .image = "os:1",
	  .want_image = "os:1"), { "False", T1 }, NO, NO, false, "os:2", 0, true, "" },
	{ "B2 gate: no image on a layered pool", DONE, { "False", T1 }, NO, NO, false, "os:2", 0, true, "" },
	/* while updating */
	{ "B2 updating hides it", AT(OLD, NEW, "Working"), { "False", T1 }, NO, NO, true, "",
	  BIT(NOT_READY) | BIT(UNSCHEDULABLE), true, T1 },
	{ "B2 also by rule 3", AT(OLD, NEW, "Done"), OK, true, "", BIT(UNSCHEDULABLE), true, "" },
};

/* A Node as it comes over the bus. */
struct rig {
	msgpack_sbuffer		annotations, conditions;
	struct body_node	node;
	struct assess_in	in;
};

static struct wire_str
version_of(const char *config)
{
	static const struct {
		const char	*config, *version;
	} known[] = { { OLD, "4.20.2" }, { NEW, "4.20.3" }, { TWIN, "4.20.3" } };

	for (size_t i = 0; config != NULL && i < NITEMS(known); i++) {
		if (strcmp(config, known[i].config) == 0)
			return wire_str_of(known[i].version);
	}
	return (struct wire_str){ .p = "" };
}

static void
rig_init(struct rig *r, const struct node *n)
{
	const struct {
		const char	*key, *value;
	} annotations[] = {
		{ "currentConfig", n->current }, { "currentImage", n->image }, { "desiredConfig", n->desired },
		{ "desiredDrain", n->want_drain }, { "desiredImage", n->want_image }, { "lastAppliedDrain", n->have_drain },
		{ "reason", n->reason }, { "state", n->state },
	};

	*r = (struct rig){ 0 };
	msgpack_sbuffer_init(&r->annotations);
	msgpack_sbuffer_init(&r->conditions);
	for (size_t i = 0; i < NITEMS(annotations); i++) {
		if (annotations[i].value != NULL)
			map_put(&r->annotations, &r->node.mco, wire_str_of(annotations[i].key),
			    wire_str_of(annotations[i].value));
	}
}

static void
rig_condition(struct rig *r, const char *type, const char *status, const char *since)
{
	if (status != NULL)
		rows_put(&r->conditions, &r->node.conditions,
		    (const struct wire_str[]){
			wire_str_of(type), wire_str_of(status), wire_str_of("why"), wire_str_of(since) },
		    4);
}

static struct assess
rig_assess(struct rig *r, const struct node *n, bool paused, const char *pool_image, const char *target)
{
	inputs_from_node(&r->node, &r->in);
	r->in.paused = paused;
	r->in.pool_image = wire_str_of(pool_image);
	r->in.target = wire_str_of(target);
	r->in.current_version = version_of(n->current);
	r->in.desired_version = version_of(n->desired);
	return assess_node(&r->in);
}

static void
rig_free(struct rig *r)
{
	msgpack_sbuffer_destroy(&r->annotations);
	msgpack_sbuffer_destroy(&r->conditions);
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct rig rig;

	rig_init(&rig, &r->node);
	rig_condition(&rig, "MemoryPressure", "Unknown", T1);
	const struct assess a = rig_assess(&rig, &r->node, r->paused, "",
	    r->target == NULL ? "4.20.3" : r->target);

	assert_int_equal(a.updated, (r->is & U) != 0);
	assert_int_equal(a.updating, (r->is & G) != 0);
	assert_int_equal(a.degraded, (r->is & D) != 0);
	assert_int_equal(a.draining, (r->is & R) != 0);
	assert_int_equal(a.rule, r->rule);
	assert_int_equal(a.phase, r->phase);
	assert_int_equal(assess_rule_text(a.rule)[0] - '0', a.rule);
	rig_free(&rig);
}

static void
check_available(void **state)
{
	const struct available *r = *state;
	struct rig rig;

	rig_init(&rig, &r->node);
	rig_condition(&rig, "NetworkUnavailable", r->network.status, r->network.since);
	rig_condition(&rig, "DiskPressure", r->disk.status, r->disk.since);
	rig_condition(&rig, "PIDPressure", "True", T1);
	rig_condition(&rig, "Ready", r->ready.status, r->ready.since);
	rig.node.unschedulable = r->unschedulable;
	const struct assess a = rig_assess(&rig, &r->node, false, r->pool_image, "4.20.3");

	assert_int_equal(a.causes, r->causes);
	assert_int_equal(a.unavailable, r->causes != 0);
	assert_int_equal(a.available, r->available);
	assert_int_equal(wire_str_compare(a.since, wire_str_of(r->since)), 0);
	rig_free(&rig);
}

static void
outdated_is_by_version_B2(void **state)
{
	static const struct {
		const char	*current, *target;
		bool		 want;
	} cases[] = {
		{ NEW, "4.20.3", false }, { TWIN, "4.20.3", false }, { OLD, "4.20.3", true },
		{ NONE, "4.20.3", true }, { NONE, "", true }, { NEW, "", true },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(cases); i++) {
		const struct node n = AT(cases[i].current, OLD, "Working");
		struct rig rig;

		rig_init(&rig, &n);
		assert_int_equal(rig_assess(&rig, &n, false, "", cases[i].target).outdated, cases[i].want);
		rig_free(&rig);
	}
}

/* Absent and empty stay apart on the way from the bus, and nothing of the node before stays behind. */
static void
inputs_keep_absent_and_empty_apart(void **state)
{
	const struct node full =
	    AT("c", "d", "s", DRAIN("w", "h"), .image = "i", .want_image = "x", .reason = "r");
	const struct node half = AT("", NULL, "Done");
	struct rig rig;

	(void)state;
	rig_init(&rig, &full);
	inputs_from_node(&rig.node, &rig.in);
	for (int i = 0; i < MCO_MAX; i++)
		assert_int_equal(rig.in.mco[i].len, 1);
	rig_free(&rig);
	rig_init(&rig, &half);
	inputs_from_node(&rig.node, &rig.in);
	for (int i = 0; i < MCO_MAX; i++)
		assert_int_equal(rig.in.mco[i].p != NULL, i == MCO_CURRENT_CONFIG || i == MCO_STATE);
	assert_int_equal(rig.in.mco[MCO_CURRENT_CONFIG].len, 0);
	assert_int_equal(rig.in.mco[MCO_STATE].len, 4);
	rig_free(&rig);
}

int
main(void)
{
	static struct CMUnitTest tests[NITEMS(rows) + NITEMS(availables) + 2];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(availables); i++)
		tests[n++] = (struct CMUnitTest){ availables[i].name, check_available, NULL, NULL,
			(void *)(uintptr_t)&availables[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(outdated_is_by_version_B2);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(inputs_keep_absent_and_empty_apart);
	return cmocka_run_group_tests_name("node_assess", tests, NULL, NULL);
}
