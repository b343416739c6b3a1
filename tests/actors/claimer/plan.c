/* tests/actors/claimer/plan.c - decides about one Widget. Pure. */
#include "plan.h"

#include "obj.h"

enum fact {
	EXISTS	    = 1 << 0,
	DELETING    = 1 << 1,
	FINALIZER   = 1 << 2,
	INTENT	    = 1 << 3,
	OPEN	    = 1 << 4,	/* the intent is ours, and its call was not sent */
	BOUND	    = 1 << 5,
	MADE	    = 1 << 6,
	LISTED	    = 1 << 7,
	FOUND	    = 1 << 8,
	SEVERAL	    = 1 << 9,
	RETAGGED    = 1 << 10,
	DOUBTFUL    = 1 << 11,
	GONE	    = 1 << 12,
	DELETED	    = 1 << 13,
	DELETED_NOW = 1 << 14,
	NODE	    = 1 << 15,
	DRAINED	    = 1 << 16,
	LABELLED    = 1 << 17,
	TOOK_OVER   = 1 << 18,
};

static unsigned facts_of(const struct claimer_input *);

/* The first rule whose facts are all true, and all false, decides. */
static const struct {
	unsigned	  all_true, all_false;
	enum claimer_verb verb;
	const char	 *why, *event;
} rules[] = {
	{ 0,                       EXISTS,         CLAIMER_NOTHING, "there is no such Widget", NULL },
	{ DELETING,                FINALIZER,      CLAIMER_NOTHING, "it is being deleted, and has no VM", NULL },
	{ 0,                       FINALIZER,      CLAIMER_HOLD,    "the finalizer comes before the VM", NULL },
	{ BOUND | NODE,            DELETING | LABELLED, CLAIMER_LABEL, "its Node does not name it", NULL },
	{ BOUND,                   DELETING,       CLAIMER_NOTHING, "it has its VM", NULL },
	{ MADE,                    BOUND,          CLAIMER_BIND,    "its VM was made", NULL },
	{ DELETING,                INTENT | BOUND, CLAIMER_RELEASE, "no VM was ever made for it", NULL },
	{ DELETING | BOUND | NODE, DRAINED,        CLAIMER_DRAIN,   "its Node is drained before the VM goes", NULL },
	{ DELETING | BOUND | TOOK_OVER, NODE,      CLAIMER_WAIT,
	    "this instance has just taken over: its Node may not be read yet", NULL },
	/* The provider decides from here on. */
	{ 0,                       LISTED,         CLAIMER_LIST,    "the VMs have to be read", NULL },
	{ SEVERAL,                 0,              CLAIMER_WAIT,    "two VMs have its tag: nothing is done",
	    "DuplicateVM" },
	{ RETAGGED,                0,              CLAIMER_WAIT,    "its VM has another tag: nothing is done",
	    "ForeignVM" },
	{ FOUND,                   BOUND,          CLAIMER_BIND,    "its VM is there", NULL },
	{ DOUBTFUL,                FOUND,          CLAIMER_WAIT,    "the list of VMs is doubtful", NULL },
	/* It is wanted, and no list has its VM. */
	{ 0,                       DELETING | INTENT, CLAIMER_INTEND, "the intent comes before the call", NULL },
	{ OPEN,                    DELETING,       CLAIMER_CREATE,  "it has no VM", NULL },
	{ GONE,                    DELETING,       CLAIMER_INTEND,  "no VM came of the last call", NULL },
	{ 0,                       DELETING,       CLAIMER_WAIT,    "its VM may still appear", NULL },
	/* It is deleted. */
	{ OPEN,                    FOUND,          CLAIMER_RELEASE, "no VM was ever made for it", NULL },
	{ FOUND | DELETED_NOW,     0,              CLAIMER_WAIT,    "its VM is deleted, and still listed", NULL },
	{ FOUND,                   0,              CLAIMER_DESTROY, "its Widget was deleted", NULL },
	{ BOUND,                   DELETED,        CLAIMER_DESTROY, "its Widget was deleted; a list may lag", NULL },
	{ GONE,                    0,              CLAIMER_RELEASE, "its VM is gone", NULL },
	{ 0,                       0,              CLAIMER_WAIT,    "one list without its VM proves nothing", NULL },
};

static const char *const verb_names[CLAIMER_VERB_MAX] = {
#define CLAIMER_NAME(ID, name) [CLAIMER_##ID] = (name),
	CLAIMER_VERBS(CLAIMER_NAME)
#undef CLAIMER_NAME
};

struct claimer_plan
claimer_plan(const struct claimer_input *in)
{
	const unsigned facts = facts_of(in);
	size_t i = 0;

	while ((facts & rules[i].all_true) != rules[i].all_true || (facts & rules[i].all_false) != 0)
		i++;
	return (struct claimer_plan){ .verb = rules[i].verb, .why = rules[i].why, .event = rules[i].event };
}

const char *
claimer_verb_name(enum claimer_verb v)
{
	return (unsigned)v < CLAIMER_VERB_MAX ? verb_names[v] : "?";
}

static unsigned
facts_of(const struct claimer_input *in)
{
	const struct {
		bool		holds;
		enum fact	fact;
	} all[] = {
		{ in->exists, EXISTS }, { in->deleting, DELETING }, { in->finalizer, FINALIZER },
		{ in->intent != INTENT_NONE, INTENT }, { in->intent == INTENT_OPEN, OPEN },
		{ in->bound, BOUND }, { in->made, MADE }, { in->listed, LISTED }, { in->found > 0, FOUND },
		{ in->found > 1, SEVERAL }, { in->retagged, RETAGGED }, { in->doubtful, DOUBTFUL },
		{ in->absence == ABSENCE_CONFIRMED, GONE }, { in->deleted, DELETED },
		{ in->deleted_now, DELETED_NOW }, { in->node, NODE }, { in->drained, DRAINED },
		{ in->labelled, LABELLED }, { in->took_over, TOOK_OVER },
	};
	unsigned facts = 0;

	for (size_t i = 0; i < NITEMS(all); i++)
		facts |= all[i].holds ? all[i].fact : 0;
	return facts;
}
