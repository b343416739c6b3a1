/* tests/unit/test_provider_brake.c - the brake on deletions and the two observations (contract A6, A9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "actors/provider/absence.h"
#include "actors/provider/brake.h"
#include "obj.h"

enum step_kind { END, LIST, TRY, STALE, DELETED };

/*
 * LIST: a list with n entries. TRY: a call is wanted, the brake answers `want`, and if it may, it starts.
 * STALE: the same from a mirror that is not fresh. DELETED: this actor deleted n entries.
 */
struct step {
	enum step_kind	  kind;
	int64_t		  at_ms;
	uint32_t	  n;
	enum brake_reason want;
};

static const struct row {
	const char	*name;
	uint32_t	 most;
	struct step	 steps[12];
} rows[] = {
	{ "A6 nothing before a list", 2, { { TRY, 0, 0, BRAKE_UNREAD } } },
	{ "A6 nothing from a stale mirror", 2, { { LIST, 0, 10, 0 }, { STALE, 0, 0, BRAKE_STALE } } },
	{ "A6 as many as the window allows, then one for each that leaves it", 2,
	  { { LIST, 0, 10, 0 }, { TRY, 0, 0, BRAKE_RELEASED }, { TRY, 400, 0, BRAKE_RELEASED },
	    { TRY, 999, 0, BRAKE_RATE }, { TRY, 1000, 0, BRAKE_RELEASED }, { TRY, 1001, 0, BRAKE_RATE },
	    { TRY, 1400, 0, BRAKE_RELEASED } } },
	{ "A6 half may go", 9, { { LIST, 0, 10, 0 }, { LIST, 1, 5, 0 }, { TRY, 1, 0, BRAKE_RELEASED } } },
	{ "A6 more than half may not", 9,
	  { { LIST, 0, 10, 0 }, { LIST, 1, 4, 0 }, { TRY, 1, 0, BRAKE_SHRUNK } } },
	{ "A6 an empty list may not", 9, { { LIST, 0, 10, 0 }, { LIST, 1, 0, 0 }, { TRY, 1, 0, BRAKE_SHRUNK } } },
	{ "A6 a second list at once confirms nothing", 9,
	  { { LIST, 0, 10, 0 }, { LIST, 1, 4, 0 }, { LIST, 2, 4, 0 }, { TRY, 2, 0, BRAKE_SHRUNK } } },
	{ "A6 a second list later confirms", 9,
	  { { LIST, 0, 10, 0 }, { LIST, 1, 4, 0 }, { LIST, 10001, 4, 0 },
	    { TRY, 10001, 0, BRAKE_RELEASED } } },
	{ "A6 a list that is whole again ends the doubt", 9,
	  { { LIST, 0, 10, 0 }, { LIST, 1, 0, 0 }, { LIST, 2, 10, 0 }, { TRY, 2, 0, BRAKE_RELEASED } } },
	{ "A6 a list that shrinks again starts over", 9,
	  { { LIST, 0, 40, 0 }, { LIST, 1, 19, 0 }, { LIST, 10001, 8, 0 }, { TRY, 10001, 0, BRAKE_SHRUNK },
	    { LIST, 20001, 8, 0 }, { TRY, 20001, 0, BRAKE_RELEASED } } },
	{ "A6 what this actor deleted itself is no loss", 9,
	  { { LIST, 0, 10, 0 }, { DELETED, 1, 6, 0 }, { LIST, 2, 4, 0 }, { TRY, 2, 0, BRAKE_RELEASED } } },
	{ "A6 what is missing beside it is", 9,
	  { { LIST, 0, 20, 0 }, { DELETED, 1, 6, 0 }, { LIST, 2, 6, 0 }, { TRY, 2, 0, BRAKE_SHRUNK } } },
	{ "A6 more deletions than entries", 9,
	  { { LIST, 0, 2, 0 }, { DELETED, 1, 5, 0 }, { LIST, 2, 1, 0 }, { TRY, 2, 0, BRAKE_RELEASED } } },
	{ "A6 small fleets may go whole", 9,
	  { { LIST, 0, 3, 0 }, { LIST, 1, 0, 0 }, { TRY, 1, 0, BRAKE_RELEASED } } },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct brake b;

	brake_init(&b, r->most, 1000);
	for (const struct step *s = r->steps; s->kind != END; s++) {
		if (s->kind == LIST)
			brake_listed(&b, s->n, s->at_ms);
		for (uint32_t i = 0; s->kind == DELETED && i < s->n; i++)
			brake_deleted(&b);
		if (s->kind == LIST || s->kind == DELETED)
			continue;
		const struct brake_verdict v = brake_check(&b, s->kind == TRY, s->at_ms);

		assert_string_equal(brake_text(v.reason), brake_text(s->want));
		if (v.reason == BRAKE_RATE)
			assert_true(v.retry_at_ms > s->at_ms);
		if (v.reason == BRAKE_RELEASED)
			brake_called(&b, s->at_ms);
	}
}

static void
a9_absence_needs_two_observations_apart(void **state)
{
	struct absence a = { 0 };

	(void)state;
	assert_int_equal(absence_due_ms(&a, 500), INT64_MAX);
	assert_int_equal(absence_observe(&a, false, 1, 0, 500, 0), ABSENCE_PRESENT);
	assert_int_equal(absence_observe(&a, true, 2, 50, 500, 100), ABSENCE_WAIT);
	assert_int_equal(absence_due_ms(&a, 500), 600);
	/* the same list again, however late, is one observation */
	assert_int_equal(absence_observe(&a, true, 2, 50, 500, 5000), ABSENCE_WAIT);
	/* another list too early */
	assert_int_equal(absence_observe(&a, true, 3, 599, 500, 600), ABSENCE_WAIT);
	assert_int_equal(absence_observe(&a, true, 4, 600, 500, 650), ABSENCE_CONFIRMED);
	/* a contradiction between them starts over */
	assert_int_equal(absence_observe(&a, false, 5, 680, 500, 700), ABSENCE_PRESENT);
	assert_int_equal(absence_observe(&a, true, 6, 4900, 500, 5000), ABSENCE_WAIT);
	assert_int_equal(absence_observe(&a, true, 7, 5500, 500, 5600), ABSENCE_CONFIRMED);
}

/* dst, world lke, seed 31305: a second list that began too early was evaluated late, and counted. */
static void
c8_lists_are_apart_not_their_evaluations(void **state)
{
	struct absence a = { 0 };

	(void)state;
	assert_int_equal(absence_observe(&a, true, 1, 1000, 5000, 1100), ABSENCE_WAIT);
	/* it began 2 s after the first, and is evaluated 6 s after it */
	assert_int_equal(absence_observe(&a, true, 2, 3000, 5000, 7100), ABSENCE_WAIT);
	/* the first one ended after this began less than 5 s before */
	assert_int_equal(absence_observe(&a, true, 3, 6099, 5000, 7200), ABSENCE_WAIT);
	assert_int_equal(absence_observe(&a, true, 4, 6100, 5000, 7300), ABSENCE_CONFIRMED);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(a9_absence_needs_two_observations_apart);
	tests[NITEMS(rows) + 1] =
	    (struct CMUnitTest)cmocka_unit_test(c8_lists_are_apart_not_their_evaluations);
	return cmocka_run_group_tests_name("brake", tests, NULL, NULL);
}
