/* tests/unit/test_lke_claim.c - the life of a NodeClaim: C2a, C6 to C8, C10, C16, C18, C19. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/lke-claimer/claim.h"
#include "actors/lke-claimer/status.h"
#include "obj.h"

/*
 * Words: what differs from a NodeClaim of ours with its finalizer, whose type is resolved, and that has no
 * machine yet. "x" is true, "-x" is false, "x=1" a number.
 */
#define TAGGED		"assigned=7 reserved=7 labelled tagged "
#define LAUNCHED	"reserved=7 labelled tagged launched "
#define JOINED		LAUNCHED "nodes=1 node_ready "
#define ALIVE		JOINED "registered node_registered node_finalizer initialized node_initialized "
#define GOING		ALIVE "deleting node_deleting "

static const struct row {
	const char		*name, *words;
	enum lke_claim_verb	 verb;
	const char		*event, *launched;	/* reasons, "": none, or True */
} rows[] = {
	{ "no such claim", "-exists", CLAIM_NOTHING, "", NULL },
	{ "C2a of another class: not touched", "-ours -finalizer", CLAIM_NOTHING, "", NULL },
	{ "C2a ... not even when it is deleted", "-ours deleting launch_timeout", CLAIM_NOTHING, "", NULL },
	{ "C16 another program launches it", "foreign -finalizer", CLAIM_LEAVE, "LaunchedElsewhere", NULL },
	{ "C16 ... also when it goes", "foreign deleting", CLAIM_LEAVE, "LaunchedElsewhere", NULL },

	/* C10: launch */
	{ "C10 the finalizer first", "-finalizer assigned=7", CLAIM_FINALIZE, "", NULL },
	{ "C10 labels and reservation in one write", "assigned=7", CLAIM_RESERVE, "", "AwaitingReconciliation" },
	{ "C10 the reservation is there, the labels are not", "assigned=7 reserved=7", CLAIM_RESERVE, "", NULL },
	{ "C1 another machine is assigned: the record comes first", "assigned=8 reserved=7 labelled", CLAIM_RESERVE, "", NULL },
	{ "C1 the tag after the record", "assigned=7 reserved=7 labelled", CLAIM_TAG, "", "AwaitingReconciliation" },
	{ "C1 one PUT at a time", "assigned=7 reserved=7 labelled tag_in_flight", CLAIM_WAIT, "", "AwaitingReconciliation" },
	{ "C1 reserved, and its machine is not in the list", "reserved=7 labelled", CLAIM_WAIT, "", "AwaitingReconciliation" },
	{ "C10 one status write", TAGGED, CLAIM_LAUNCH, "", "" },
	{ "C10 A2 killed before the labels: they come before the status", "tagged", CLAIM_RESERVE, "", NULL },
	{ "C10 a machine that it has is launched, whatever became of type and class",
	    TAGGED "-nodepool -class_found resolved=2", CLAIM_LAUNCH, "", NULL },
	{ "C6 its machine is on its way", "", CLAIM_WAIT, "", "AwaitingReconciliation" },
	{ "C6 the create-deadline", "create_deadline", CLAIM_WAIT, "", "NodePoolProvisioning" },
	{ "C6 ... a machine is assigned", "create_deadline assigned=7", CLAIM_RESERVE, "", "NodePoolProvisioning" },
	{ "C6 ... its tag is being written", "create_deadline assigned=7 reserved=7 tag_in_flight",
	    CLAIM_WAIT, "",
	    "NodePoolProvisioning" },
	{ "C6 ... what is missing is more than late", "create_deadline -nodepool", CLAIM_WAIT, "NodePoolNotFound", "NodePoolNotFound" },
	{ "C6 the launch-timeout", "launch_timeout", CLAIM_DELETE, "LaunchTimeout", NULL },
	{ "C6 ... also of what cannot be", "launch_timeout resolved=2", CLAIM_DELETE, "LaunchTimeout", NULL },
	{ "C6 ... of an unknown class", "launch_timeout -class_found", CLAIM_DELETE, "LaunchTimeout", NULL },
	{ "C6 C7 ... of a violation", "launch_timeout violation", CLAIM_DELETE, "LaunchTimeout", NULL },
	{ "C6 ... not of a launched one", LAUNCHED "launch_timeout", CLAIM_WAIT, "", "" },
	{ "C7 a violation", "violation assigned=7", CLAIM_WAIT, "InvariantViolation", "InvariantViolation" },
	{ "C19 its NodePool does not exist", "-nodepool", CLAIM_WAIT, "NodePoolNotFound", "NodePoolNotFound" },
	{ "its class does not exist", "-class_found -class_ready", CLAIM_WAIT, "NodeClassNotFound", "NodeClassNotFound" },
	{ "its class is not Ready", "-class_ready", CLAIM_WAIT, "NodeClassNotReady", "NodeClassReadinessUnknown" },
	{ "C6 the catalogue is being read", "-catalogue resolved=2", CLAIM_WAIT, "", "AwaitingReconciliation" },
	{ "A4 the catalogue cannot be read", "-catalogue provider_failed resolved=2", CLAIM_WAIT, "", "InstanceTypeResolutionFailed" },
	{ "A4 C11 no type fits", "resolved=2", CLAIM_WAIT, "InstanceTypeResolutionFailed", "InstanceTypeResolutionFailed" },
	{ "C11 no type has capacity", "resolved=6", CLAIM_DELETE, "InsufficientCapacityError", NULL },
	{ "C11 ... but a machine is reserved", "resolved=6 assigned=7 reserved=7 labelled", CLAIM_TAG, "", NULL },

	/* C10: registration, initialization */
	{ "C10 its Node has not joined", LAUNCHED, CLAIM_WAIT, "", "" },
	{ "C10 the registration-timeout", LAUNCHED "registration_timeout", CLAIM_DELETE, "RegistrationTimeout", NULL },
	{ "C10 registered just then", JOINED "node_registered registration_timeout", CLAIM_INITIALIZE, "", NULL },
	{ "C10 registration, once", JOINED, CLAIM_REGISTER, "", NULL },
	{ "C10 never again", JOINED "registered -node_registered uninitialized=2", CLAIM_WAIT, "", NULL },
	{ "C10 its Node went before it was initialized", LAUNCHED "registered", CLAIM_WAIT, "", NULL },
	{ "C10 two Nodes", JOINED "nodes=2", CLAIM_WAIT, "MultipleNodesFound", NULL },
	{ "C10 the Node is not Ready", JOINED "node_registered uninitialized=1", CLAIM_WAIT, "", NULL },
	{ "C10 the label before the condition", JOINED "registered node_registered", CLAIM_INITIALIZE, "", NULL },
	{ "A1 it lives: nothing", ALIVE, CLAIM_NOTHING, "", "" },
	{ "A1 a Node that is not Ready for a while", ALIVE "-node_ready", CLAIM_NOTHING, "", NULL },
	{ "C15 somebody removed its tag", ALIVE "tag_lost", CLAIM_TAG, "", NULL },
	{ "C15 ... and it is being written", ALIVE "tag_lost tag_in_flight", CLAIM_NOTHING, "", NULL },
	{ "C18 its machine is gone, its Node not Ready", ALIVE "machine_gone -node_ready", CLAIM_DELETE, "MachineGone", NULL },
	{ "C18 its machine is gone, its Node too", ALIVE "machine_gone nodes=0", CLAIM_DELETE, "MachineGone", NULL },
	{ "C18 its Node is Ready: the lists are wrong", ALIVE "machine_gone", CLAIM_NOTHING, "", NULL },
	{ "C18 not before it is registered", LAUNCHED "machine_gone", CLAIM_WAIT, "", NULL },
	{ "C8 its Node is deleted by anybody", ALIVE "node_deleting", CLAIM_DELETE, "NodeDeleted", NULL },

	/* C8: deletion */
	{ "C8 without our finalizer", "deleting -finalizer", CLAIM_NOTHING, "", NULL },
	{ "C19 before it has a machine: at once", "deleting", CLAIM_RELEASE, "", NULL },
	{ "C8 C1 its tag is being written", "deleting reserved=7 tag_in_flight", CLAIM_WAIT, "", NULL },
	{ "C8 before its Node: the machine alone", LAUNCHED "deleting", CLAIM_REMOVE, "", NULL },
	{ "C8 a machine that is only reserved", "deleting reserved=7", CLAIM_REMOVE, "", NULL },
	{ "C8 not registered: its Node may run Pods, and stays", JOINED "deleting", CLAIM_DRAIN, "", NULL },
	{ "C8 ... then the machine", JOINED "deleting drained volumes_detached", CLAIM_REMOVE, "", NULL },
	{ "C8 the deadline of a terminationGracePeriod", GOING "grace_period", CLAIM_SET_DEADLINE, "", NULL },
	{ "C8 ... once", GOING "grace_period deadline", CLAIM_DRAIN, "", NULL },
	{ "C8 its Node is deleted with it", ALIVE "deleting", CLAIM_DELETE_NODE, "", NULL },
	{ "C8 then drained", GOING, CLAIM_DRAIN, "", NULL },
	{ "C8 then the volumes", GOING "drained", CLAIM_DRAIN, "", NULL },
	{ "C8 a limit ended the drain: the machine", GOING "drain_over", CLAIM_REMOVE, "", NULL },
	{ "A8 C8 just taken over: its Node may come later", LAUNCHED "deleting took_over", CLAIM_WAIT, "", NULL },
	{ "A8 C8 ... one that is only reserved, too", "deleting reserved=7 took_over", CLAIM_WAIT, "", NULL },
	{ "A8 C8 ... its Node is known", GOING "took_over drained volumes_detached", CLAIM_REMOVE, "", NULL },
	{ "A8 C19 ... it has no machine", "deleting took_over", CLAIM_RELEASE, "", NULL },
	{ "C8 then the machine", GOING "drained volumes_detached", CLAIM_REMOVE, "", NULL },
	{ "C8 then the Node's finalizer", GOING "drained volumes_detached machine_gone", CLAIM_RELEASE_NODE, "", NULL },
	{ "C8 finalizers of others", GOING "drained volumes_detached machine_gone -node_finalizer", CLAIM_WAIT, "", NULL },
	{ "C8 then the claim's", GOING "drained volumes_detached machine_gone nodes=0", CLAIM_RELEASE, "", NULL },
	{ "C8 the machine is gone and the Node not Ready: no drain", GOING "machine_gone -node_ready", CLAIM_RELEASE_NODE, "", NULL },
	{ "C8 ... and it has finalizers of others", GOING "machine_gone -node_ready -node_finalizer", CLAIM_WAIT, "", NULL },
	{ "C8 the machine seems gone, and the Node is Ready: drain", GOING "machine_gone", CLAIM_DRAIN, "", NULL },
	{ "C7 C8 a violation: the plan of the pool waits", GOING "violation drained volumes_detached", CLAIM_REMOVE, "", NULL },
};

static void
read_words(struct lke_claim_input *in, const char *words)
{
	const struct {
		const char	*word;
		bool		*flag;
	} flags[] = {
#define FLAG(name) { #name, &in->name }
		FLAG(exists), FLAG(ours), FLAG(foreign), FLAG(deleting), FLAG(finalizer), FLAG(launched),
		FLAG(registered), FLAG(initialized), FLAG(labelled), FLAG(grace_period), FLAG(deadline),
		FLAG(nodepool), FLAG(class_found), FLAG(class_ready), FLAG(catalogue),
		FLAG(provider_failed), FLAG(tagged),
		FLAG(tag_in_flight), FLAG(tag_lost), FLAG(machine_gone), FLAG(node_ready),
		FLAG(node_deleting), FLAG(node_registered), FLAG(node_initialized), FLAG(node_finalizer),
		FLAG(drained), FLAG(volumes_detached), FLAG(drain_over), FLAG(took_over), FLAG(grace_elapsed),
		 FLAG(launch_timeout), FLAG(registration_timeout),
		FLAG(create_deadline),
#undef FLAG
	};
	char text[256], *save;

	*in = (struct lke_claim_input){ .exists = true, .ours = true, .finalizer = true, .nodepool = true,
		.class_found = true, .class_ready = true, .catalogue = true };
	snprintf(text, sizeof(text), "%s", words);
	for (char *s = strtok_r(text, " ", &save); s != NULL; s = strtok_r(NULL, " ", &save)) {
		const char *const value = strchr(s, '=') == NULL ? "" : strchr(s, '=') + 1;
		size_t i = 0;

		while (i < NITEMS(flags) && strcmp(s + (s[0] == '-'), flags[i].word) != 0)
			i++;
		if (i < NITEMS(flags))
			*flags[i].flag = s[0] != '-';
		else if (strcmp(s, "violation") == 0)
			in->violation = "two pools";
		else if (strncmp(s, "assigned=", 9) == 0)
			in->assigned = atoi(value);
		else if (strncmp(s, "reserved=", 9) == 0)
			in->reserved = atoi(value);
		else if (strncmp(s, "nodes=", 6) == 0)
			in->nodes = (unsigned)atoi(value);
		else if (strncmp(s, "resolved=", 9) == 0)
			in->resolved = (enum lke_resolved)atoi(value);
		else if (strncmp(s, "uninitialized=", 14) == 0)
			in->uninitialized = (enum lke_uninitialized)atoi(value);
		else
			fail_msg("unknown word %s", s);
	}
}

static const struct lke_condition *
find(const struct lke_status *s, const char *type)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (wire_str_is(s->conditions[i].type, type))
			return &s->conditions[i];
	}
	return NULL;
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct lke_claim_input in;
	struct lke_claim_plan p;
	struct lke_status s;

	read_words(&in, r->words);
	lke_claim_plan(&in, &p);
	if (p.verb != r->verb)
		print_message("%s\n", p.why);
	assert_string_equal(lke_claim_verb_name(p.verb), lke_claim_verb_name(r->verb));
	assert_string_equal(p.event == NULL ? "" : p.event, r->event);
	lke_status(&(struct lke_status_input){ .claim = &in, .plan = &p, .generation = 3,
	    .now = wire_str_of("2026-05-01T10:00:00Z") }, &s);
	const struct lke_condition *const c = find(&s, "Launched");
	assert_non_null(c);
	/* C6: never False. */
	assert_false(wire_str_is(c->status, "False"));
	if (r->launched != NULL) {
		assert_true(wire_str_is(c->status, r->launched[0] == '\0' ? "True" : "Unknown"));
		assert_true(wire_str_is(c->reason, r->launched[0] == '\0' ? "Launched" : r->launched));
	}
}

static void
c6_a_wait_has_its_reason(void **state)
{
	struct lke_claim_input in;
	struct lke_claim_plan p;

	(void)state;
	read_words(&in, "");
	lke_claim_plan(&in, &p);
	assert_string_equal(p.why, "its machine is on its way");
	/* C6: after the create-deadline one message, whatever is done: another would be another write. */
	static const char *const steps[] = { "create_deadline", "create_deadline assigned=7",
		"create_deadline assigned=7 reserved=7 labelled",
		"create_deadline assigned=7 reserved=7 labelled tag_in_flight" };
	for (size_t i = 0; i < NITEMS(steps); i++) {
		struct lke_status s;

		read_words(&in, steps[i]);
		lke_claim_plan(&in, &p);
		lke_status(&(struct lke_status_input){ .claim = &in, .plan = &p, .generation = 3,
		    .now = wire_str_of("2026-05-01T10:00:00Z") }, &s);
		assert_true(wire_str_is(find(&s, "Launched")->message,
		    "no machine within the create-deadline: work goes on"));
	}
	/* C7: the violation that the plan of the key found. */
	read_words(&in, "violation");
	lke_claim_plan(&in, &p);
	assert_string_equal(p.why, "two pools");
}

/* ---- Conditions ---- */

/* want: "type=status/reason ...", all of them. */
static const struct status_row {
	const char	*name, *words, *want;
} status_rows[] = {
	{ "C10 at first", "", "Launched=Unknown/AwaitingReconciliation "
	    "Registered=Unknown/AwaitingReconciliation "
	    "Initialized=Unknown/AwaitingReconciliation Ready=Unknown/ReconcilingDependents" },
	{ "C6 C10 one write launches it", TAGGED, "Launched=True/Launched Registered=Unknown/NodeNotFound "
	    "Initialized=Unknown/NodeNotFound Ready=Unknown/ReconcilingDependents" },
	{ "C10 launched", LAUNCHED, "Launched=True/Launched Registered=Unknown/NodeNotFound "
	    "Initialized=Unknown/NodeNotFound Ready=Unknown/ReconcilingDependents" },
	{ "C10 two Nodes", LAUNCHED "nodes=2", "Launched=True/Launched Registered=False/MultipleNodesFound "
	    "Initialized=Unknown/NodeNotFound Ready=False/UnhealthyDependents" },
	{ "C10 registered by its label", JOINED "node_registered uninitialized=1",
	    "Launched=True/Launched Registered=True/Registered Initialized=Unknown/NodeNotReady "
	    "Ready=Unknown/ReconcilingDependents" },
	{ "C10 start-up taints", JOINED "node_registered uninitialized=2",
	    "Launched=True/Launched Registered=True/Registered Initialized=Unknown/StartupTaintsExist "
	    "Ready=Unknown/ReconcilingDependents" },
	{ "C10 other taints", JOINED "registered uninitialized=3",
	    "Launched=True/Launched Registered=True/Registered Initialized=Unknown/KnownEphemeralTaintsExist "
	    "Ready=Unknown/ReconcilingDependents" },
	{ "C10 a resource", JOINED "registered uninitialized=4",
	    "Launched=True/Launched Registered=True/Registered Initialized=Unknown/ResourceNotRegistered "
	    "Ready=Unknown/ReconcilingDependents" },
	{ "C10 ready", ALIVE, "Launched=True/Launched Registered=True/Registered Initialized=True/Initialized Ready=True/Ready" },
	{ "C8 draining", GOING, "Launched=True/Launched Registered=True/Registered "
	    "Initialized=True/Initialized "
	    "Ready=True/Ready Drained=Unknown/Draining" },
	{ "C8 volumes", GOING "drained", "Launched=True/Launched Registered=True/Registered "
	    "Initialized=True/Initialized Ready=True/Ready Drained=True/Drained "
	    "VolumesDetached=Unknown/AwaitingVolumeDetachment" },
	{ "C8 the machine goes", GOING "drained volumes_detached",
	    "Launched=True/Launched Registered=True/Registered "
	    "Initialized=True/Initialized Ready=True/Ready Drained=True/Drained "
	    "VolumesDetached=True/VolumesDetached InstanceTerminating=True/InstanceTerminating" },
	{ "C8 the deadline passed with Pods", GOING "drain_over grace_elapsed",
	    "Launched=True/Launched Registered=True/Registered Initialized=True/Initialized Ready=True/Ready "
	    "Drained=False/TerminationGracePeriodElapsed VolumesDetached=False/TerminationGracePeriodElapsed "
	    "InstanceTerminating=True/InstanceTerminating" },
	{ "C8 ... with volumes", GOING "drained drain_over grace_elapsed",
	    "Launched=True/Launched Registered=True/Registered Initialized=True/Initialized Ready=True/Ready "
	    "Drained=True/Drained VolumesDetached=False/TerminationGracePeriodElapsed "
	    "InstanceTerminating=True/InstanceTerminating" },
	{ "C8 ... after it was drained", GOING "drained volumes_detached grace_elapsed",
	    "Launched=True/Launched Registered=True/Registered Initialized=True/Initialized Ready=True/Ready "
	    "Drained=True/Drained VolumesDetached=True/VolumesDetached "
	    "InstanceTerminating=True/InstanceTerminating" },
	{ "C8 the drain-timeout", GOING "drain_over",
	    "Launched=True/Launched Registered=True/Registered Initialized=True/Initialized Ready=True/Ready "
	    "Drained=False/DrainTimeout VolumesDetached=False/DrainTimeout "
	    "InstanceTerminating=True/InstanceTerminating" },
};

static void
print_status(const struct lke_status *s, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < s->n; i++) {
		const struct lke_condition *const c = &s->conditions[i];

		len += (size_t)snprintf(buf + len, size - len, "%s%.*s=%.*s/%.*s", i > 0 ? " " : "",
		    (int)c->type.len, c->type.p, (int)c->status.len, c->status.p, (int)c->reason.len,
		    c->reason.p);
	}
}

static void
check_status(void **state)
{
	const struct status_row *const r = *state;
	struct lke_claim_input in;
	struct lke_claim_plan p;
	struct lke_status s, again;
	char got[1024];

	read_words(&in, r->words);
	lke_claim_plan(&in, &p);
	lke_status(&(struct lke_status_input){ .claim = &in, .plan = &p, .generation = 3,
	    .now = wire_str_of("2026-05-01T10:00:00Z") }, &s);
	print_status(&s, got, sizeof(got));
	assert_string_equal(got, r->want);
	assert_true(s.differs);
	/* A1: stored, nothing differs, and times stay. */
	lke_status(&(struct lke_status_input){ .claim = &in, .plan = &p, .generation = 3,
	    .now = wire_str_of("2026-05-01T11:00:00Z"), .stored = s.conditions, .nstored = s.n }, &again);
	assert_false(again.differs);
	assert_true(wire_str_is(again.conditions[0].time, "2026-05-01T10:00:00Z"));
	/* Another generation has to be observed. */
	lke_status(&(struct lke_status_input){ .claim = &in, .plan = &p, .generation = 4,
	    .now = wire_str_of("2026-05-01T11:00:00Z"), .stored = s.conditions, .nstored = s.n }, &again);
	assert_true(again.differs);
	assert_int_equal(again.conditions[0].generation, 4);
	assert_true(wire_str_is(again.conditions[0].time, "2026-05-01T10:00:00Z"));
}

static void
c10_conditions_of_others_are_kept(void **state)
{
	static const struct lke_condition theirs[] = {
		{ { "Drifted", 7 }, { "True", 4 }, { "NodePoolDrifted", 15 }, { "m", 1 },
		    { "2026-05-01T09:00:00Z", 20 }, 2 },
		{ { "Launched", 8 }, { "Unknown", 7 }, { "AwaitingReconciliation", 22 }, { "", 0 },
		    { "2026-05-01T09:00:00Z", 20 }, 1 },
		{ { "Consolidatable", 14 }, { "True", 4 }, { "Consolidatable", 14 }, { "", 0 },
		    { "2026-05-01T09:30:00Z", 20 }, 0 },
	};
	struct lke_condition many[LKE_CONDITIONS_MAX];
	struct lke_claim_input in;
	struct lke_claim_plan p;
	struct lke_status s;
	char got[1024], json[4096];
	struct json j = { .buf = json, .size = sizeof(json) };

	(void)state;
	read_words(&in, ALIVE);
	lke_claim_plan(&in, &p);
	struct lke_status_input i = { .claim = &in, .plan = &p, .generation = 3,
		.now = wire_str_of("2026-05-01T10:00:00Z"), .stored = theirs, .nstored = NITEMS(theirs) };
	lke_status(&i, &s);
	print_status(&s, got, sizeof(got));
	assert_string_equal(got, "Drifted=True/NodePoolDrifted Launched=True/Launched "
	    "Consolidatable=True/Consolidatable Registered=True/Registered Initialized=True/Initialized "
	    "Ready=True/Ready");
	json_open(&j, NULL, '{');
	lke_status_put(&j, &s);
	json_close(&j, '}');
	assert_true(json_end(&j) > 0);
	/* As they were, and without an observedGeneration where there was none. */
	assert_non_null(strstr(json,
	    "{\"type\":\"Drifted\",\"status\":\"True\",\"reason\":\"NodePoolDrifted\","
	    "\"message\":\"m\",\"lastTransitionTime\":\"2026-05-01T09:00:00Z\",\"observedGeneration\":2}"));
	assert_non_null(strstr(json, "\"lastTransitionTime\":\"2026-05-01T09:30:00Z\"}"));
	/* Too many: nothing is written rather than one of theirs lost. */
	for (size_t k = 0; k < NITEMS(many); k++)
		many[k] = theirs[0];
	i.stored = many;
	i.nstored = NITEMS(many);
	lke_status(&i, &s);
	assert_true(s.full && !s.differs);
}

static void
c10_allocatable_is_not_less_than_requests(void **state)
{
	const struct lke_resources r = { { 1930, INT64_C(2223) << 20, 110, 1000, 0 } };
	const struct lke_resources least = { { 2000, 1, 0, 0, 0 } };
	char json[512];
	struct json j = { .buf = json, .size = sizeof(json) };

	(void)state;
	json_open(&j, NULL, '{');
	lke_resources_put(&j, "capacity", &r, NULL);
	lke_resources_put(&j, "allocatable", &r, &least);
	json_close(&j, '}');
	assert_true(json_end(&j) > 0);
	assert_string_equal(json, "{\"capacity\":{\"cpu\":\"1930m\",\"memory\":\"2223Mi\",\"pods\":\"110\","
	    "\"ephemeral-storage\":\"1000\"},\"allocatable\":{\"cpu\":\"2\",\"memory\":\"2223Mi\","
	    "\"pods\":\"110\",\"ephemeral-storage\":\"1000\"}}");
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(status_rows) + 3];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(status_rows); i++)
		tests[n++] = (struct CMUnitTest){ status_rows[i].name, check_status, NULL, NULL,
			(void *)(uintptr_t)&status_rows[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(c6_a_wait_has_its_reason);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(c10_conditions_of_others_are_kept);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(c10_allocatable_is_not_less_than_requests);
	return cmocka_run_group_tests_name("lke_claim", tests, NULL, NULL);
}
