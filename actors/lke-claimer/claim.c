/* actors/lke-claimer/claim.c - decides about one NodeClaim. Pure. */
#include "claim.h"

#include "obj.h"

/* What a rule can require to be true or false. */
#define FACTS(F)									\
	F(EXISTS) F(OURS) F(FOREIGN) F(DELETING) F(FINALIZER) F(LAUNCHED) F(REGISTERED)	\
	F(INITIALIZED) F(LABELLED) F(DEADLINE_DUE) F(NODEPOOL) F(CLASS) F(CLASS_READY)	\
	F(CATALOGUE) F(RESOLVED) F(NO_CAPACITY) F(PROVIDER_FAILED) F(VIOLATION)		\
	F(ASSIGNED) F(RESERVED) F(TAGGED) F(TAG_IN_FLIGHT) F(TAG_LOST) F(MACHINE)	\
	F(MACHINE_GONE) F(NODE) F(NODES) F(NODE_READY) F(NODE_DELETING)			\
	F(NODE_REGISTERED) F(NODE_INITIALIZED) F(NODE_FINALIZER) F(INITIALIZABLE)	\
	F(DRAINED) F(TOOK_OVER) F(LAUNCH_TIMEOUT) F(REGISTRATION_TIMEOUT)		\
	F(CREATE_DEADLINE)

enum fact_number {
#define FACT_NUMBER(ID) N_##ID,
	FACTS(FACT_NUMBER)
	FACT_MAX
};
_Static_assert(FACT_MAX <= 64, "facts are a 64-bit mask");
#define IS(ID)	(UINT64_C(1) << N_##ID)
#define NO_TYPES	"the instance types of the region have not been read"
#define LATE		"no machine within the create-deadline: work goes on"
#define GOING_NODE	(IS(DELETING) | IS(REGISTERED) | IS(NODE))

static uint64_t facts_of(const struct lke_claim_input *);

/* The first rule whose facts are all true, or all false, decides; the last one covers the rest. */
static const struct rule {
	uint64_t		 all_true, all_false;
	enum lke_claim_verb	 verb;
	const char		*event, *reason, *why;
} rules[] = {
	{ 0, IS(EXISTS), CLAIM_NOTHING, NULL, NULL, "there is no such NodeClaim" },
	{ 0, IS(OURS), CLAIM_NOTHING, NULL, NULL, "its class belongs to another provider" },
	{ IS(FOREIGN), 0, CLAIM_LEAVE, "LaunchedElsewhere", NULL, "another program launches it: it is left alone" },

	/* It goes. */
	{ IS(DELETING), IS(FINALIZER), CLAIM_NOTHING, NULL, NULL, "it is being deleted, and holds no machine" },
	{ IS(DELETING) | IS(TAG_IN_FLIGHT), 0, CLAIM_WAIT, NULL, NULL, "its tag is being written" },
	{ IS(DELETING) | IS(DEADLINE_DUE), 0, CLAIM_SET_DEADLINE, NULL, NULL, "it has a terminationGracePeriod" },
	{ GOING_NODE, IS(NODE_DELETING), CLAIM_DELETE_NODE, NULL, NULL,
	    "its Node goes with it" },
	{ GOING_NODE | IS(NODE_FINALIZER), IS(DRAINED) | IS(NODE_READY) | IS(MACHINE),
	    CLAIM_RELEASE_NODE, NULL,
	    NULL, "the machine is gone: nothing can be drained" },
	{ GOING_NODE, IS(DRAINED) | IS(NODE_READY) | IS(MACHINE), CLAIM_WAIT, NULL, NULL,
	    "its Node has finalizers of others" },
	{ GOING_NODE, IS(DRAINED), CLAIM_DRAIN, NULL, NULL, "its Node is drained first" },
	{ IS(DELETING) | IS(NODE) | IS(MACHINE), IS(REGISTERED) | IS(DRAINED), CLAIM_DRAIN, NULL, NULL,
	    "its Node has joined, and may run Pods: it is drained first" },
	{ IS(DELETING) | IS(MACHINE) | IS(TOOK_OVER), IS(NODE), CLAIM_WAIT, NULL, NULL,
	    "this instance has just taken over: its Node may not be read yet" },
	{ IS(DELETING) | IS(MACHINE), 0, CLAIM_REMOVE, NULL, NULL, "the plan of its pool removes the machine" },
	{ GOING_NODE | IS(NODE_FINALIZER), 0, CLAIM_RELEASE_NODE, NULL, NULL,
	    "the machine is gone" },
	{ GOING_NODE, 0, CLAIM_WAIT, NULL, NULL, "its Node has finalizers of others" },
	{ IS(DELETING), 0, CLAIM_RELEASE, NULL, NULL, "nothing of it is left" },

	/* It cannot stay. */
	{ IS(REGISTERED) | IS(NODE) | IS(NODE_DELETING), 0, CLAIM_DELETE, "NodeDeleted", NULL, "its Node is being deleted" },
	{ IS(LAUNCHED) | IS(REGISTERED) | IS(MACHINE_GONE), IS(NODE_READY), CLAIM_DELETE, "MachineGone", NULL,
	    "its machine is gone, and its Node is missing or not Ready" },
	{ IS(LAUNCH_TIMEOUT), IS(LAUNCHED), CLAIM_DELETE, "LaunchTimeout", NULL, "it was not launched within the launch-timeout" },
	{ IS(NO_CAPACITY), IS(LAUNCHED) | IS(RESERVED) | IS(TAGGED), CLAIM_DELETE,
	    "InsufficientCapacityError", NULL,
	    "no instance type that fits has capacity" },
	{ IS(LAUNCHED) | IS(REGISTRATION_TIMEOUT), IS(REGISTERED) | IS(NODE_REGISTERED),
	    CLAIM_DELETE, "RegistrationTimeout", NULL,
	    "its Node did not join within the registration-timeout" },

	/* Launch. */
	{ 0, IS(LAUNCHED) | IS(FINALIZER), CLAIM_FINALIZE, NULL, NULL, "the finalizer comes before the machine" },
	{ IS(VIOLATION), IS(LAUNCHED), CLAIM_WAIT, "InvariantViolation", "InvariantViolation",
	    "its pool or its tags contradict each other" },
	{ IS(TAGGED) | IS(LABELLED), IS(LAUNCHED), CLAIM_LAUNCH, NULL, NULL, "its machine has its tag" },
	{ IS(TAGGED) | IS(PROVIDER_FAILED), IS(LAUNCHED) | IS(CATALOGUE), CLAIM_WAIT, NULL,
	    "InstanceTypeResolutionFailed", NO_TYPES },
	{ IS(TAGGED), IS(LAUNCHED) | IS(CATALOGUE), CLAIM_WAIT, NULL, NULL, NO_TYPES },
	{ IS(TAGGED), IS(LAUNCHED), CLAIM_RESERVE, NULL, NULL, "the labels come before the status" },
	{ 0, IS(LAUNCHED) | IS(NODEPOOL), CLAIM_WAIT, "NodePoolNotFound", "NodePoolNotFound",
	    "its NodePool does not exist: create it, or delete the NodeClaim" },
	{ 0, IS(LAUNCHED) | IS(CLASS), CLAIM_WAIT, "NodeClassNotFound", "NodeClassNotFound",
	    "its LinodeNodeClass does not exist: create it, or delete the NodeClaim" },
	{ 0, IS(LAUNCHED) | IS(CLASS_READY), CLAIM_WAIT, "NodeClassNotReady",
	    "NodeClassReadinessUnknown", "its LinodeNodeClass is not Ready: its conditions have "
	    "the reason" },
	{ IS(PROVIDER_FAILED), IS(LAUNCHED) | IS(CATALOGUE), CLAIM_WAIT, NULL,
	    "InstanceTypeResolutionFailed", NO_TYPES },
	{ 0, IS(LAUNCHED) | IS(CATALOGUE), CLAIM_WAIT, NULL, NULL, NO_TYPES },
	{ 0, IS(LAUNCHED) | IS(RESOLVED) | IS(RESERVED), CLAIM_WAIT,
	    "InstanceTypeResolutionFailed", "InstanceTypeResolutionFailed", "no instance type fits"
	    },
	{ IS(TAG_IN_FLIGHT), IS(LAUNCHED), CLAIM_WAIT, NULL, NULL, "its tag is being written" },
	{ IS(ASSIGNED) | IS(RESERVED) | IS(LABELLED), IS(LAUNCHED), CLAIM_TAG, NULL, NULL,
	    "a machine is reserved for it" },
	{ IS(ASSIGNED), IS(LAUNCHED), CLAIM_RESERVE, NULL, NULL, "a machine is assigned to it" },
	{ IS(CREATE_DEADLINE), IS(LAUNCHED), CLAIM_WAIT, NULL, NULL, LATE },
	{ 0, IS(LAUNCHED), CLAIM_WAIT, NULL, NULL, "its machine is on its way" },

	/* Life. */
	{ IS(TAG_LOST), IS(TAG_IN_FLIGHT), CLAIM_TAG, NULL, NULL, "somebody removed the tag of its machine" },
	{ IS(NODES), IS(REGISTERED), CLAIM_WAIT, "MultipleNodesFound", NULL, "two Nodes have its providerID" },
	{ 0, IS(REGISTERED) | IS(NODE), CLAIM_WAIT, NULL, NULL, "its Node has not joined" },
	{ 0, IS(REGISTERED) | IS(NODE_REGISTERED), CLAIM_REGISTER, NULL, NULL, "its Node has joined" },
	{ 0, IS(INITIALIZED) | IS(NODE), CLAIM_WAIT, NULL, NULL, "its Node is missing" },
	{ 0, IS(INITIALIZED) | IS(INITIALIZABLE), CLAIM_WAIT, NULL, NULL, "its Node is not initialized yet" },
	{ 0, IS(INITIALIZED) | IS(NODE_INITIALIZED), CLAIM_INITIALIZE, NULL, NULL, "the label comes before the condition" },
	{ 0, 0, CLAIM_NOTHING, NULL, NULL, "it has its machine and its Node" },
};

static const char *const verb_names[CLAIM_VERB_MAX] = {
#define LKE_CLAIM_VERB_ROW(ID, name) [CLAIM_##ID] = (name),
	LKE_CLAIM_VERBS(LKE_CLAIM_VERB_ROW)
#undef LKE_CLAIM_VERB_ROW
};

void
lke_claim_plan(const struct lke_claim_input *in, struct lke_claim_plan *out)
{
	const uint64_t facts = facts_of(in);
	size_t i = 0;

	while ((facts & rules[i].all_true) != rules[i].all_true || (facts & rules[i].all_false) != 0) {
		i++;
		MUST(i < NITEMS(rules));
	}
	*out = (struct lke_claim_plan){ .verb = rules[i].verb, .why = rules[i].why, .event = rules[i].event,
		.reason = rules[i].reason };
	if ((rules[i].all_true & IS(VIOLATION)) != 0)
		out->why = in->violation;
	/* C6: one status, whatever the next step is. */
	if (out->reason == NULL && in->create_deadline && !in->launched && !in->deleting) {
		out->reason = "NodePoolProvisioning";
		out->message = LATE;
	}
}

const char *
lke_claim_verb_name(enum lke_claim_verb v)
{
	return (unsigned)v < CLAIM_VERB_MAX ? verb_names[v] : "?";
}

static uint64_t
facts_of(const struct lke_claim_input *in)
{
	const bool machine = (in->launched || in->tagged || in->reserved != 0) && !in->machine_gone;
	const struct {
		bool		holds;
		uint64_t	fact;
	} all[] = {
		{ in->exists, IS(EXISTS) },
		{ in->ours, IS(OURS) },
		{ in->foreign, IS(FOREIGN) },
		{ in->deleting, IS(DELETING) },
		{ in->finalizer, IS(FINALIZER) },
		{ in->launched, IS(LAUNCHED) },
		{ in->registered, IS(REGISTERED) },
		{ in->initialized, IS(INITIALIZED) },
		{ in->labelled, IS(LABELLED) },
		{ in->grace_period && !in->deadline, IS(DEADLINE_DUE) },
		{ in->nodepool, IS(NODEPOOL) },
		{ in->class_found, IS(CLASS) },
		{ in->class_ready, IS(CLASS_READY) },
		{ in->catalogue, IS(CATALOGUE) },
		{ in->catalogue && in->resolved == LKE_RESOLVED, IS(RESOLVED) },
		{ in->catalogue && in->resolved == LKE_NO_CAPACITY, IS(NO_CAPACITY) },
		{ in->provider_failed, IS(PROVIDER_FAILED) },
		{ in->violation != NULL, IS(VIOLATION) },
		{ in->assigned != 0, IS(ASSIGNED) },
		{ in->reserved != 0 && (in->assigned == 0 || in->assigned == in->reserved), IS(RESERVED) },
		{ in->tagged, IS(TAGGED) },
		{ in->tag_in_flight, IS(TAG_IN_FLIGHT) },
		{ in->tag_lost, IS(TAG_LOST) },
		{ machine, IS(MACHINE) },
		{ in->machine_gone, IS(MACHINE_GONE) },
		{ in->nodes > 0, IS(NODE) },
		{ in->nodes > 1, IS(NODES) },
		{ in->nodes > 0 && in->node_ready, IS(NODE_READY) },
		{ in->node_deleting, IS(NODE_DELETING) },
		{ in->node_registered, IS(NODE_REGISTERED) },
		{ in->node_initialized, IS(NODE_INITIALIZED) },
		{ in->node_finalizer, IS(NODE_FINALIZER) },
		{ in->uninitialized == LKE_INITIALIZED, IS(INITIALIZABLE) },
		{ (in->drained && in->volumes_detached) || in->drain_over, IS(DRAINED) },
		{ in->took_over, IS(TOOK_OVER) },
		{ in->launch_timeout, IS(LAUNCH_TIMEOUT) },
		{ in->registration_timeout, IS(REGISTRATION_TIMEOUT) },
		{ in->create_deadline, IS(CREATE_DEADLINE) },
	};
	uint64_t facts = 0;

	_Static_assert(NITEMS(all) == FACT_MAX, "every fact has a row");
	for (size_t i = 0; i < NITEMS(all); i++)
		facts |= all[i].holds ? all[i].fact : 0;
	return facts;
}
