/* tests/unit/test_event_policy.c - Events: one, a series, a storm; and names and notes that fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/kube-watcher/event_policy.h"
#include "obj.h"

enum input { END, NOTE, GO, OK, AGAIN, MISSING, REFUSED };

/*
 * after_ms after the line before: an Event (object, content), the answer to the last request, or
 * nothing. want: the result of event_policy_observe, then the step of event_policy_next: "create",
 * "patch 3" (the count), or "wait" and for how many seconds.
 */
struct line {
	int64_t		 after_ms;
	enum input	 input;
	uint64_t	 object, content;
	const char	*want;
};

enum { MINUTE = 60 * 1000 };

static const struct row {
	const char	*name;
	struct line	 lines[16];
	uint64_t	 dropped;
} rows[] = {
	{ "one Event: created, forgotten after 6 minutes", {
		{ 0, NOTE, 1, 1, "new, create" },
		{ 100, OK, 0, 0, "wait 359.9" },
		{ 6 * MINUTE, GO, 0, 0, "wait for ever" },
		{ 0, NOTE, 1, 1, "new, create" } }, 0 },
	{ "again within 6 minutes: a series, sent at once, then with the heartbeat", {
		{ 0, NOTE, 1, 1, "new, create" }, { 0, OK, 0, 0, "wait 360" },
		{ 5 * MINUTE, NOTE, 1, 1, "counted, patch 2" }, { 0, OK, 0, 0, "wait 360" },
		{ 5 * MINUTE, NOTE, 1, 1, "counted, wait 360" },
		{ 5 * MINUTE, NOTE, 1, 1, "counted, wait 360" },
		{ 5 * MINUTE, NOTE, 1, 1, "counted, wait 360" },
		{ 5 * MINUTE, NOTE, 1, 1, "counted, wait 360" },
		{ 5 * MINUTE, NOTE, 1, 1, "counted, wait 300" },
		{ 5 * MINUTE, GO, 0, 0, "patch 7" }, { 0, OK, 0, 0, "wait 60" } }, 0 },
	{ "the end of a series is sent", {
		{ 0, NOTE, 1, 1, "new, create" }, { 0, OK, 0, 0, "wait 360" },
		{ 0, NOTE, 1, 1, "counted, patch 2" }, { 0, OK, 0, 0, "wait 360" },
		{ 0, NOTE, 1, 1, "counted, wait 360" }, { 0, NOTE, 1, 1, "counted, wait 360" },
		{ 6 * MINUTE, GO, 0, 0, "patch 4" }, { 0, OK, 0, 0, "wait for ever" },
		{ 0, NOTE, 1, 1, "new, create" } }, 0 },
	{ "another text, another object: another Event", {
		{ 0, NOTE, 1, 1, "new, create" }, { 0, OK, 0, 0, "wait 360" },
		{ 0, NOTE, 1, 2, "new, create" }, { 0, OK, 0, 0, "wait 360" },
		{ 0, NOTE, 2, 1, "new, create" } }, 0 },
	{ "repeated before it was created: the series follows the creation", {
		{ 0, NOTE, 1, 1, "new, create" },
		{ 10, NOTE, 1, 1, "counted, wait for ever" },
		{ 10, NOTE, 1, 1, "counted, wait for ever" },
		{ 10, OK, 0, 0, "patch 3" },
		{ 10, NOTE, 1, 1, "counted, wait for ever" },
		{ 10, OK, 0, 0, "wait 359.99" } }, 0 },
	{ "network faults: the same again after about ten seconds", {
		{ 0, NOTE, 1, 1, "new, create" },
		{ 0, AGAIN, 0, 0, "wait 8-12" }, { 12000, GO, 0, 0, "create" },
		{ 0, AGAIN, 0, 0, "wait 8-12" }, { 12000, GO, 0, 0, "create" },
		{ 0, OK, 0, 0, "wait 336" } }, 0 },
	{ "what the cluster refuses is dropped at once", {
		{ 0, NOTE, 1, 1, "new, create" }, { 0, REFUSED, 0, 0, "wait for ever" } }, 1 },
	{ "it has expired on the server: the next one begins anew", {
		{ 0, NOTE, 1, 1, "new, create" }, { 0, OK, 0, 0, "wait 360" },
		{ 0, NOTE, 1, 1, "counted, patch 2" }, { 0, MISSING, 0, 0, "wait for ever" },
		{ 0, NOTE, 1, 1, "new, create" } }, 0 },
	{ "a patch is tried again, with what has come since", {
		{ 0, NOTE, 1, 1, "new, create" }, { 0, OK, 0, 0, "wait 360" },
		{ 0, NOTE, 1, 1, "counted, patch 2" }, { 0, AGAIN, 0, 0, "wait 8-12" },
		{ 0, NOTE, 1, 1, "counted, wait 8-12" },
		{ 12000, GO, 0, 0, "patch 3" }, { 0, OK, 0, 0, "wait 348" } }, 0 },
};

struct run {
	struct event_policy	r;
	uint32_t	slot;
	int64_t		now;
	char		out[64];
};

static void
append(struct run *s, const char *text)
{
	const size_t len = strlen(s->out);

	snprintf(s->out + len, sizeof(s->out) - len, "%s", text);
}

static void
feed(struct run *s, const struct line *l)
{
	static const char *const verbs[] = {
		[EVENT_CREATE] = "new, ", [EVENT_COUNTED] = "counted, ",
		[EVENT_DROPPED] = "dropped, ", [EVENT_WAIT] = "?", [EVENT_PATCH] = "?",
	};
	static const enum event_result results[] = {
		[OK] = EVENT_OK, [AGAIN] = EVENT_AGAIN, [MISSING] = EVENT_MISSING,
		[REFUSED] = EVENT_REFUSED,
	};

	s->out[0] = '\0';
	if (l->input == NOTE) {
		const struct event_hash e = { .object = l->object, .content = l->content };

		append(s, verbs[event_policy_observe(&s->r, &e, s->now, s->now * 1000).verb]);
	} else if (l->input != GO) {
		event_policy_answered(&s->r, s->slot, results[l->input], s->now);
	}
}

/* "wait 8-12": the wait is between so many seconds. */
static void
append_step(struct run *s, const char *want)
{
	const struct event_step step = event_policy_next(&s->r, s->now);
	const char *range = strstr(want, "wait ");
	char text[32];
	double least, most;

	if (step.verb == EVENT_WAIT && step.at_ms == INT64_MAX) {
		append(s, "wait for ever");
	} else if (step.verb == EVENT_WAIT && range != NULL
	    && sscanf(range, "wait %lf-%lf", &least, &most) == 2) {
		assert_in_range(step.at_ms - s->now, (uint64_t)(least * 1000), (uint64_t)(most * 1000));
		append(s, range);
	} else if (step.verb == EVENT_WAIT) {
		snprintf(text, sizeof(text), "wait %g", (double)(step.at_ms - s->now) / 1000);
		append(s, text);
	} else {
		s->slot = step.slot;
		snprintf(text, sizeof(text), "patch %d", (int)step.count);
		append(s, step.verb == EVENT_CREATE ? "create" : text);
		/* The server refuses a series of one. */
		assert_true(step.verb == EVENT_CREATE || step.count >= 2);
	}
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	static struct run s;

	s = (struct run){ .now = 5000000 };
	event_policy_init(&s.r, 3);
	for (const struct line *l = r->lines; l->input != END; l++) {
		s.now += l->after_ms;
		feed(&s, l);
		append_step(&s, l->want);
		assert_string_equal(s.out, l->want);
	}
	assert_int_equal(s.r.dropped, r->dropped);
}

static void
twelve_tries(void **state)
{
	static struct event_policy r;
	const struct event_hash e = { .object = 1, .content = 1 };
	int64_t now = 0;
	int tries = 0;

	(void)state;
	event_policy_init(&r, 3);
	event_policy_observe(&r, &e, now, 0);
	const uint64_t unique = r.slots[0].unique;
	for (struct event_step s = event_policy_next(&r, now); r.count > 0; s = event_policy_next(&r, now)) {
		if (s.verb == EVENT_WAIT) {
			now = s.at_ms;
			continue;
		}
		assert_int_equal(s.unique, unique);	/* so the server can detect a duplicate */
		tries++;
		event_policy_answered(&r, s.slot, EVENT_AGAIN, now);
	}
	assert_int_equal(tries, EVENT_TRIES);
	assert_int_equal(r.dropped, 1);
}

/* Returns true if it becomes an Event of its own. */
static bool
is_new(struct event_policy *r, uint64_t object, uint64_t content, int64_t now_ms)
{
	const struct event_hash e = { .object = object, .content = content };

	return event_policy_observe(r, &e, now_ms, 0).verb == EVENT_CREATE;
}

/* One object may cause 25 Events at once, then one in 5 minutes; other objects are not affected. */
static void
storms_are_cut(void **state)
{
	static struct event_policy r;
	unsigned created = 0;

	(void)state;
	event_policy_init(&r, 3);
	for (uint64_t i = 0; i < 100; i++)
		created += is_new(&r, 1, i, 0);
	assert_int_equal(created, EVENT_BURST);
	assert_int_equal(r.dropped, 100 - EVENT_BURST);
	assert_true(is_new(&r, 2, 1, 0));
	for (int64_t now = MINUTE; now <= 30 * MINUTE; now += MINUTE)
		created += is_new(&r, 1, 1000 + (uint64_t)now, now);
	assert_int_equal(created, EVENT_BURST + 6);
	/* A pause fills the bucket, and no further. */
	for (uint64_t i = 0; i < 100; i++)
		created += is_new(&r, 1, 90000000 + i, 600 * MINUTE);
	assert_int_equal(created, 2 * EVENT_BURST + 6);
}

/* More than there is room for: the oldest finished ones are replaced; those under way are not. */
static void
room_is_bounded(void **state)
{
	static struct event_policy r;

	(void)state;
	event_policy_init(&r, 3);
	for (uint64_t i = 0; i < EVENT_SLOTS_MAX; i++)
		assert_true(is_new(&r, i, 1, 0));
	assert_false(is_new(&r, 99999, 1, 0));
	const struct event_step s = event_policy_next(&r, 0);
	event_policy_answered(&r, s.slot, EVENT_OK, 0);
	assert_true(is_new(&r, 99999, 1, 1));
	assert_int_equal(r.slots[s.slot].object, 99999);
	for (uint64_t i = 0; i < 5000; i++)	/* nor do the buckets grow */
		is_new(&r, 1000000 + i, 1, 2);
	assert_int_equal(r.count, EVENT_SLOTS_MAX);
}

static void
notes_are_cut_between_characters(void **state)
{
	char note[2000];

	(void)state;
	memset(note, 'x', sizeof(note));
	assert_int_equal(event_note_length(note, 10), 10);
	assert_int_equal(event_note_length(note, 1024), 1024);
	assert_int_equal(event_note_length(note, 1025), 1024);
	memcpy(note + 1022, "\xe2\x82\xac", 3);			/* a euro sign across the edge */
	assert_int_equal(event_note_length(note, 2000), 1022);
	memcpy(note + 1021, "\xe2\x82\xac", 3);			/* ... just inside */
	assert_int_equal(event_note_length(note, 2000), 1024);
	assert_int_equal(event_note_length("ab\xff" "cd", 5), 2);
	assert_int_equal(event_note_length("", 0), 0);
}

static void
names_fit(void **state)
{
	char out[EVENT_NAME_MAX + 1], long_name[300];

	(void)state;
	assert_int_equal(event_name("node-1", 0x17f00000000000abu, out), 23);
	assert_string_equal(out, "node-1.17f00000000000ab");
	memset(long_name, 'n', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(event_name(long_name, 1, out), EVENT_NAME_MAX);
	memcpy(long_name + 234, "-.", 2);	/* where it is cut */
	assert_int_equal(event_name(long_name, 1, out), 234 + 17);
	assert_string_equal(out + 232, "nn.0000000000000001");
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 5];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(twelve_tries);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(storms_are_cut);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(room_is_bounded);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(notes_are_cut_between_characters);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(names_fit);
	return cmocka_run_group_tests_name("event_policy", tests, NULL, NULL);
}
