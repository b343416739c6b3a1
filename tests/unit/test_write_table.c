/*
 * tests/unit/test_write_table.c - what becomes of a write: each row is a script of steps, and what must
 * be true after each of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "write_table.h"

#define L1	LINK_KUBE_TEST_1
#define L2	LINK_KUBE_TEST_2

enum act { DO_END, DO_ADD, DO_DUE, DO_SENT, DO_ANSWERED, DO_UNASKED, DO_LOST, DO_ENDED, DO_AT };

struct step {
	enum act	 act;
	uint64_t	 id;		/* of the write; 0: none */
	enum link	 link;
	int64_t		 ms;		/* deadline, or now */
	enum outcome	 how;
};

/* Every deadline is at 100. */
#define ADD(n, l)	{ .act = DO_ADD, .id = (n), .link = (l), .ms = 100 }
#define DUE(n, now)	{ .act = DO_DUE, .id = (n), .link = L1, .ms = (now) }
#define SENT(n)		{ .act = DO_SENT, .id = (n) }
#define ANSWERED(n)	{ .act = DO_ANSWERED, .id = (n) }
#define UNASKED(n)	{ .act = DO_UNASKED, .id = (n) }
#define LOST(l)		{ .act = DO_LOST, .link = (l) }
#define ENDED(n, now, o) { .act = DO_ENDED, .id = (n), .ms = (now), .how = OUTCOME_##o }
#define QUIET(now)	{ .act = DO_ENDED, .ms = (now), .how = OUTCOME_MAX }
#define AT(when)	{ .act = DO_AT, .ms = (when) }

static const struct script {
	const char	*name;
	struct step	 steps[12];
} scripts[] = {
	{ "asked, sent, answered", {
		ADD(1, L1), DUE(1, 0), SENT(1), DUE(0, 0),
		ANSWERED(1), AT(INT64_MAX), QUIET(INT64_MAX) } },
	{ "in the order they were asked", {
		ADD(1, L1), ADD(2, L1), ADD(3, L1), SENT(1),
		ANSWERED(1), ADD(4, L1), DUE(2, 0), SENT(2),
		DUE(3, 0) } },
	{ "never sent: expired at its deadline, not before", {
		ADD(1, L1), AT(100), QUIET(99),
		DUE(1, 99), DUE(0, 100),
		ENDED(1, 100, EXPIRED), QUIET(INT64_MAX) } },
	{ "sent, no answer: unknown a second after its deadline", {
		ADD(1, L1), SENT(1), AT(1100), QUIET(1099),
		ENDED(1, 1100, UNKNOWN), UNASKED(1) } },
	{ "session lost: unknown at once", {
		ADD(1, L1), SENT(1), LOST(L1), AT(INT64_MIN),
		UNASKED(1), ENDED(1, 0, UNKNOWN), ADD(2, L1) } },
	{ "what was not sent goes with the next session", {
		ADD(1, L1), ADD(2, L1), SENT(1), LOST(L1),
		ENDED(1, 5, UNKNOWN), QUIET(5), DUE(2, 5) } },
	{ "the session of another link does not affect it", {
		ADD(1, L1), SENT(1), LOST(L2), QUIET(5), ANSWERED(1) } },
	{ "no answer to what was not sent", { ADD(1, L1), UNASKED(1), UNASKED(2) } },
	{ "one answer", { ADD(1, L1), SENT(1), ANSWERED(1), UNASKED(1) } },
};

static void
run_step(struct write_table *t, const struct step *s)
{
	enum outcome how = OUTCOME_MAX;

	switch (s->act) {
	case DO_ADD:
		assert_true(write_table_add(t, s->id, s->link, s->ms));
		break;
	case DO_DUE:
		assert_int_equal(write_table_due(t, s->link, s->ms), s->id);
		break;
	case DO_SENT:
		write_table_sent(t, s->id);
		break;
	case DO_ANSWERED:
	case DO_UNASKED:
		assert_int_equal(write_table_answered(t, s->id), s->act == DO_ANSWERED);
		break;
	case DO_LOST:
		write_table_lost(t, s->link);
		break;
	case DO_ENDED:
		assert_int_equal(write_table_ended(t, s->ms, &how), s->id);
		assert_int_equal(how, s->how);
		break;
	case DO_AT:
		assert_true(write_table_at(t) == s->ms);
		break;
	case DO_END:
		break;
	}
}

static void
check_script(void **state)
{
	const struct script *script = *state;
	struct write_table t = { 0 };

	for (const struct step *s = script->steps; s->act != DO_END; s++)
		run_step(&t, s);
}

static void
no_more_than_there_is_room_for(void **state)
{
	struct write_table t = { 0 };
	enum outcome how;

	(void)state;
	for (uint64_t id = 1; id <= REQUESTS_PER_SENDER; id++)
		assert_true(write_table_add(&t, id, L1, 100));
	assert_false(write_table_add(&t, REQUESTS_PER_SENDER + 1, L1, 100));
	write_table_sent(&t, 7);
	assert_true(write_table_answered(&t, 7));
	assert_true(write_table_add(&t, REQUESTS_PER_SENDER + 2, L1, 100));
	assert_false(write_table_add(&t, REQUESTS_PER_SENDER + 3, L1, 100));
	for (unsigned n = 0; n < REQUESTS_PER_SENDER; n++) {
		assert_true(write_table_ended(&t, 100, &how) != 0);
		assert_int_equal(how, OUTCOME_EXPIRED);
	}
	assert_int_equal(write_table_ended(&t, 100, &how), 0);
}

int
main(void)
{
	static const struct CMUnitTest whole[] = { cmocka_unit_test(no_more_than_there_is_room_for) };
	struct CMUnitTest tests[NITEMS(scripts)];

	for (size_t i = 0; i < NITEMS(scripts); i++)
		tests[i] = (struct CMUnitTest){ scripts[i].name, check_script, NULL, NULL,
			(void *)(uintptr_t)&scripts[i] };
	const int failed = cmocka_run_group_tests_name("write_table", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("write_table, full", whole, NULL, NULL);
}
