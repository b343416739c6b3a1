/* tests/unit/test_reconcile_conditions.c - conditions keep their lastTransitionTime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/reconcile/bodies.h"
#include "obj.h"

#define NOW	"2026-11-17T03:04:05Z"
#define OLD	"2026-01-02T03:00:00Z"
#define CAUSE	"2026-11-17T02:00:00Z"

/* One desired condition Ready, and the stored one; its stored type is Ready unless named otherwise. */
static const struct row {
	const char	*name;
	const char	*status, *cause;
	const char	*stored_type, *stored_status, *stored_time;	/* NULL: none is stored */
	const char	*want;
} rows[] = {
	{ "A1 the status stays: so does the time", "True", "", "Ready", "True", OLD, OLD },
	{ "A1 the status stays: a cause does not count", "True", CAUSE, "Ready", "True", OLD, OLD },
	{ "the status changed: now", "False", "", "Ready", "True", OLD, NOW },
	{ "the status changed with a cause: its time", "False", CAUSE, "Ready", "True", OLD, CAUSE },
	{ "none stored: now", "True", "", NULL, NULL, NULL, NOW },
	{ "none stored, with a cause", "True", CAUSE, NULL, NULL, NULL, CAUSE },
	{ "a cause that is no time: now", "True", "yesterday", NULL, NULL, NULL, NOW },
	{ "another type is stored: now", "True", "", "Available", "True", OLD, NOW },
	{ "a stored time that is none: now", "True", "", "Ready", "True", "soon", NOW },
	{ "a stored time that is missing: now", "True", "", "Ready", "True", "", NOW },
	{ "a stored time that Go takes for none: now", "True", "", "Ready", "True", "0001-01-01T00:00:00Z", NOW },
	{ "a stored time in another form stays as it is", "True", "", "Ready", "True",
	    "2026-01-02T05:00:00+02:00", "2026-01-02T05:00:00+02:00" },
};

static struct wire_str
text(const char *s)
{
	return wire_str_of(s != NULL ? s : "");
}

static void
check(void **arg)
{
	const struct row *const r = *arg;
	struct status_condition desired = {
		.type = text("Ready"), .status = text(r->status), .time = text(r->cause) };
	const struct status_condition stored = {
		.type = text(r->stored_type), .status = text(r->stored_status),
		.time = text(r->stored_time) };

	conditions_set_times(&desired, 1, &stored, r->stored_type != NULL, text(NOW));
	assert_int_equal(desired.time.len, strlen(r->want));
	assert_memory_equal(desired.time.p, r->want, desired.time.len);
}

/* What was written reads the same, and every part of it counts. */
static void
A1_equal_only_if_every_part_is(void **arg)
{
	const struct status_condition a = { .type = text("Ready"), .status = text("True"),
		.reason = text("Up"), .message = text("m"), .time = text(OLD) };
	struct status_condition b[5] = { a, a, a, a, a };

	(void)arg;
	b[0].type = b[1].status = b[2].reason = b[3].message = b[4].time = text("x");
	assert_true(conditions_equal(&a, 1, &a, 1));
	assert_true(conditions_equal(NULL, 0, NULL, 0));
	assert_false(conditions_equal(&a, 1, NULL, 0));
	for (size_t i = 0; i < NITEMS(b); i++)
		assert_false(conditions_equal(&a, 1, &b[i], 1));
}

static void
A5_an_event_has_a_note_that_fits(void **arg)
{
	static char note[4096], body[EVENT_BODY_MAX];

	(void)arg;
	memset(note, 1, sizeof(note) - 1);	/* the worst: six bytes each in JSON */
	assert_true(event_body(body, "Warning", "Refused", "Update", text(note)) > 1024 * 6);
	assert_true(event_body(body, "Normal", "Made", "Create", text("é")) > 0);
	assert_string_equal(body,
	    "{\"type\":\"Normal\",\"reason\":\"Made\",\"action\":\"Create\",\"note\":\"é\"}");
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2] = {
		cmocka_unit_test(A1_equal_only_if_every_part_is),
		cmocka_unit_test(A5_an_event_has_a_note_that_fits),
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i + 2] = (struct CMUnitTest){
			rows[i].name, check, NULL, NULL, (void *)(uintptr_t)&rows[i] };
	return _cmocka_run_group_tests("status_conditions", tests, NITEMS(tests), NULL, NULL);
}
