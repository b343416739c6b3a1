/* tests/unit/test_provider_intent.c - the record before a call that must not be repeated (A8, A10). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/provider/intent.h"
#include "obj.h"

enum { STARTED_MS = 1000, TERM_MS = 5000 };
static const int64_t WROTE_US = INT64_C(1794880000) * 1000000;

/* An intent is begun in the term TERM_MS; later `stored` is found in the term of `since_ms`. */
static const struct row {
	const char		*name;
	const char		*stored;	/* NULL: our own text */
	int64_t			 since_ms;
	bool			 called, unknown;	/* its call ended at 6000 */
	bool			 ended;			/* its removal was requested */
	enum intent_state	 want;
	int64_t			 settled_ms;
} rows[] = {
	{ "A10 nothing is stored", "", TERM_MS, false, false, false, INTENT_NONE, TERM_MS + FENCE_SETTLE_MS },
	{ "A10 ours: its call may be sent", NULL, TERM_MS, false, false, false, INTENT_OPEN,
	    TERM_MS + FENCE_SETTLE_MS },
	{ "A10 refused, or not sent: it may be sent again", NULL, TERM_MS, true, false, false, INTENT_OPEN,
	    TERM_MS + FENCE_SETTLE_MS },
	{ "A10 no answer: it may have been sent", NULL, TERM_MS, true, true, false, INTENT_SENT,
	    6000 + FENCE_SETTLE_MS },
	{ "A10 of an earlier incarnation", "2026-11-17T03:04:05Z 0123456789abcdef", TERM_MS, false, false,
	    false, INTENT_SENT, TERM_MS + FENCE_SETTLE_MS },
	{ "A10 its removal may still arrive: no call under it", NULL, TERM_MS, false, false, true,
	    INTENT_ENDED, TERM_MS + FENCE_SETTLE_MS },
	{ "A10 removed, and somebody wrote another", "x", TERM_MS, false, false, true, INTENT_SENT,
	    TERM_MS + FENCE_SETTLE_MS },
	{ "A8 removed, another led in between", NULL, 9000, false, false, true, INTENT_SENT,
	    9000 + FENCE_SETTLE_MS },
	{ "A8 ours, another led in between", NULL, 9000, false, false, false, INTENT_SENT, 9000 + FENCE_SETTLE_MS },
	{ "A8 sent, another led since", NULL, 9000, true, true, false, INTENT_SENT, 9000 + FENCE_SETTLE_MS },
	{ "A8 this process started after it leads", "x", 500, false, false, false, INTENT_SENT,
	    STARTED_MS + FENCE_SETTLE_MS },
	{ "A8 a sum that would overflow", "x", INT64_MAX, false, false, false, INTENT_SENT, INT64_MAX },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	const struct fence_lease before = { .known = true, .leading = true, .since_ms = TERM_MS };
	const struct fence_lease now = { .known = true, .leading = true, .since_ms = r->since_ms };
	struct intent i = { .sent = false };

	intent_begin(&i, &before, WROTE_US, 0xabc);
	if (r->called)
		intent_called(&i, r->unknown, 6000);
	if (r->ended)
		intent_end(&i);
	const struct wire_str stored = wire_str_of(r->stored != NULL ? r->stored : i.text);
	assert_int_equal(intent_state(&i, stored, &now), r->want);
	assert_int_equal(intent_settled_ms(&i, &now, STARTED_MS), r->settled_ms);
}

static void
a10_its_text_has_a_time_and_is_unique(void **state)
{
	const struct fence_lease lease = { .since_ms = TERM_MS };
	struct intent a = { .sent = true }, b = { .sent = false };

	(void)state;
	intent_begin(&a, &lease, WROTE_US, 1);
	intent_begin(&b, &lease, WROTE_US, 2);
	assert_string_equal(a.text, "2026-11-17T01:46:40Z 0000000000000001");
	assert_string_not_equal(a.text, b.text);
	assert_false(a.sent);		/* a new intent, of which no call was sent */
	intent_begin(&a, &lease, INT64_MAX, UINT64_MAX);
	assert_true(strlen(a.text) < sizeof(a.text) - 1);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(a10_its_text_has_a_time_and_is_unique);
	return cmocka_run_group_tests_name("intent", tests, NULL, NULL);
}
