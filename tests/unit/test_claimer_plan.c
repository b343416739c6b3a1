/* tests/unit/test_claimer_plan.c - the plan of the test actor that keeps one VM per Widget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "tests/actors/claimer/plan.h"

#define HELD	.exists = true, .finalizer = true
#define LISTED	HELD, .listed = true
#define GOING	HELD, .deleting = true
#define BOUND	GOING, .bound = true
#define SOUGHT	BOUND, .listed = true

static const struct row {
	const char		*name;
	struct claimer_input	 in;
	enum claimer_verb	 want;
} rows[] = {
	{ "no Widget", { .exists = false }, CLAIMER_NOTHING },
	{ "A2 a new Widget: the finalizer first", { .exists = true }, CLAIMER_HOLD },
	{ "held: the VMs are read", { HELD }, CLAIMER_LIST },
	{ "A10 no VM: the intent before the call", { LISTED }, CLAIMER_INTEND },
	{ "A10 intended: the call", { LISTED, .intent = INTENT_OPEN }, CLAIMER_CREATE },
	{ "A10 intended, the list is old: no call before another", { HELD, .intent = INTENT_OPEN }, CLAIMER_LIST },
	{ "A2 the POST was answered: bound, whatever a list has", { HELD, .intent = INTENT_SENT, .made = true },
	    CLAIMER_BIND },
	{ "A2 its VM is there: bound, not made again", { LISTED, .intent = INTENT_SENT, .found = 1 }, CLAIMER_BIND },
	{ "A2 its VM is there, no intent: bound", { LISTED, .found = 1 }, CLAIMER_BIND },
	{ "A1 bound: nothing, whatever else", { HELD, .bound = true }, CLAIMER_NOTHING },
	{ "A11 bound, and its Node has joined: labelled", { HELD, .bound = true, .node = true }, CLAIMER_LABEL },
	{ "A1 labelled: nothing", { HELD, .bound = true, .node = true, .labelled = true }, CLAIMER_NOTHING },
	{ "deleted: its Node is not labelled any more", { BOUND, .node = true, .drained = true }, CLAIMER_LIST },
	{ "A10 a call that may have been sent: not repeated", { LISTED, .intent = INTENT_SENT }, CLAIMER_WAIT },
	{ "A10 one list without it: still not repeated",
	    { LISTED, .intent = INTENT_SENT, .absence = ABSENCE_WAIT }, CLAIMER_WAIT },
	{ "A10 two lists without it: another intent, then the call",
	    { LISTED, .intent = INTENT_SENT, .absence = ABSENCE_CONFIRMED }, CLAIMER_INTEND },
	{ "A6 a doubtful list: nothing is made because of it", { LISTED, .doubtful = true }, CLAIMER_WAIT },
	{ "A6 a doubtful list: nothing is made again",
	    { LISTED, .intent = INTENT_OPEN, .doubtful = true }, CLAIMER_WAIT },
	{ "A6 a doubtful list that has its VM", { LISTED, .found = 1, .doubtful = true }, CLAIMER_BIND },
	{ "two VMs of one Widget: nothing", { LISTED, .intent = INTENT_SENT, .found = 2 }, CLAIMER_WAIT },
	{ "deleted, somebody else's finalizer", { .exists = true, .deleting = true }, CLAIMER_NOTHING },
	{ "deleted before anything was made", { GOING }, CLAIMER_RELEASE },
	{ "A2 deleted between intent and call: the VMs are read", { GOING, .intent = INTENT_OPEN }, CLAIMER_LIST },
	{ "A2 deleted, its call was never sent", { GOING, .listed = true, .intent = INTENT_OPEN }, CLAIMER_RELEASE },
	{ "A2 deleted, its call may have been sent: not released",
	    { GOING, .listed = true, .intent = INTENT_SENT }, CLAIMER_WAIT },
	{ "A2 deleted, nothing came of its call",
	    { GOING, .listed = true, .intent = INTENT_SENT, .absence = ABSENCE_CONFIRMED }, CLAIMER_RELEASE },
	{ "A2 deleted before it was bound: bound first", { GOING, .intent = INTENT_SENT, .made = true }, CLAIMER_BIND },
	{ "deleted: its Node is drained, whatever the list is", { BOUND, .node = true }, CLAIMER_DRAIN },
	{ "A6 drained: the VMs are read", { BOUND, .node = true, .drained = true }, CLAIMER_LIST },
	{ "A6 drained, and listed", { SOUGHT, .found = 1, .node = true, .drained = true }, CLAIMER_DESTROY },
	{ "A8 deleted just after a takeover: it may have joined", { SOUGHT, .found = 1, .took_over = true },
	    CLAIMER_WAIT },
	{ "A8 deleted just after a takeover, and drained",
	    { SOUGHT, .found = 1, .node = true, .drained = true, .took_over = true }, CLAIMER_DESTROY },
	{ "deleted: it never joined", { SOUGHT, .found = 1 }, CLAIMER_DESTROY },
	{ "A2 a list that lags: deleted by its id", { SOUGHT, .absence = ABSENCE_CONFIRMED }, CLAIMER_DESTROY },
	{ "deleted just now, and still listed", { SOUGHT, .found = 1, .deleted = true, .deleted_now = true },
	    CLAIMER_WAIT },
	{ "deleted some time ago, and still listed: again", { SOUGHT, .found = 1, .deleted = true }, CLAIMER_DESTROY },
	{ "A6 two VMs of one Widget: neither is deleted", { SOUGHT, .found = 2 }, CLAIMER_WAIT },
	{ "A6 its VM belongs to another by now: not deleted", { SOUGHT, .retagged = true }, CLAIMER_WAIT },
	{ "A6 a doubtful list: not released",
	    { SOUGHT, .deleted = true, .doubtful = true, .absence = ABSENCE_CONFIRMED }, CLAIMER_WAIT },
	{ "A6 one list without its VM: not released",
	    { SOUGHT, .deleted = true, .absence = ABSENCE_WAIT }, CLAIMER_WAIT },
	{ "A6 two lists without its VM: released",
	    { SOUGHT, .deleted = true, .absence = ABSENCE_CONFIRMED }, CLAIMER_RELEASE },
};

static void
check(void **arg)
{
	const struct row *const r = *arg;
	const struct claimer_plan p = claimer_plan(&r->in);

	assert_string_equal(claimer_verb_name(p.verb), claimer_verb_name(r->want));
	assert_true(strlen(p.why) > 0);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){
			rows[i].name, check, NULL, NULL, (void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("claimer_plan", tests, NULL, NULL);
}
