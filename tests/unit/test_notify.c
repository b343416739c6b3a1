/* tests/unit/test_notify.c - records from actors: what is taken, and what is refused whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "supervisor/notify.h"

#define LONG_TEXT	"01234567890123456789012345678901234567890123456789"

static const struct row {
	const char	*name, *record;
	size_t		 len;		/* 0: strlen */
	bool		 want;
	struct note	 note;
} rows[] = {
	{ "bound", "bound", 0, true, { .kind = NOTE_BOUND, .role = ROLE_NONE } },
	{ "synced", "synced", 0, true, { .kind = NOTE_SYNCED, .role = ROLE_NONE } },
	{ "unsynced", "unsynced", 0, true, { .kind = NOTE_UNSYNCED, .role = ROLE_NONE } },
	{ "beat", "beat 42", 0, true, { .kind = NOTE_BEAT, .number = 42, .role = ROLE_NONE } },
	{ "beat of the largest mailbox", "beat 9223372036854775807", 0, true,
	    { .kind = NOTE_BEAT, .number = INT64_MAX, .role = ROLE_NONE } },
	{ "extend", "extend 600000", 0, true, { .kind = NOTE_EXTEND, .number = 600000, .role = ROLE_NONE } },
	{ "report", "report metrics 3 sent a beat in a snapshot", 0, true,
	    { .kind = NOTE_REPORT, .number = 3, .role = ROLE_METRICS, .text = "sent a beat in a snapshot" } },
	{ "report of nobody", "report - 0 bad token", 0, true,
	    { .kind = NOTE_REPORT, .role = ROLE_NONE, .text = "bad token" } },
	{ "status", "status waits for the provider", 0, true,
	    { .kind = NOTE_STATUS, .role = ROLE_NONE, .text = "waits for the provider" } },
	{ "empty status", "status ", 0, true, { .kind = NOTE_STATUS, .role = ROLE_NONE } },
	{ "status without a word", "status", 0, true, { .kind = NOTE_STATUS, .role = ROLE_NONE } },
	{ "status is made printable", "status a\n\x1b[31m\xff\0z", 13, true,
	    { .kind = NOTE_STATUS, .role = ROLE_NONE, .text = "a??[31" } },
	{ "status is cut", "status " LONG_TEXT LONG_TEXT LONG_TEXT LONG_TEXT "tail", 0, true,
	    { .kind = NOTE_STATUS, .role = ROLE_NONE, .text = LONG_TEXT LONG_TEXT LONG_TEXT LONG_TEXT } },

	{ "answer", "answer 7 {\"a\": 1}", 0, true,
	    { .kind = NOTE_ANSWER, .number = 7, .role = ROLE_NONE, .body = "{\"a\": 1}", .body_len = 8 } },
	{ "answer of any bytes", "answer 7 \0\xff ", 12, true,
	    { .kind = NOTE_ANSWER, .number = 7, .role = ROLE_NONE, .body = "\0\xff ", .body_len = 3 } },

	{ "answer without a body", "answer 7", 0, false, { 0 } },
	{ "answer with an empty body", "answer 7 ", 0, false, { 0 } },
	{ "answer without a number", "answer x {}", 0, false, { 0 } },
	{ "nothing", "", 0, false, { 0 } },
	{ "a space", " ", 0, false, { 0 } },
	{ "unknown", "hello", 0, false, { 0 } },
	{ "other case", "BOUND", 0, false, { 0 } },
	{ "more behind bound", "bound now", 0, false, { 0 } },
	{ "a longer word", "bounded", 0, false, { 0 } },
	{ "a shorter word", "boun", 0, false, { 0 } },
	{ "a NUL behind bound", "bound\0", 6, false, { 0 } },
	{ "beat without a number", "beat", 0, false, { 0 } },
	{ "beat with an empty number", "beat ", 0, false, { 0 } },
	{ "beat with a sign", "beat -1", 0, false, { 0 } },
	{ "beat with a letter", "beat 1x", 0, false, { 0 } },
	{ "beat with two numbers", "beat 1 2", 0, false, { 0 } },
	{ "beat with a space behind", "beat 1 ", 0, true, { .kind = NOTE_BEAT, .number = 1, .role = ROLE_NONE } },
	{ "beat above the largest", "beat 9223372036854775808", 0, false, { 0 } },
	{ "beat that overflows", "beat 99999999999999999999999", 0, false, { 0 } },
	{ "extend above the limit", "extend 600001", 0, false, { 0 } },
	{ "report without a reason", "report metrics 3", 0, false, { 0 } },
	{ "report with an empty reason", "report metrics 3 ", 0, false, { 0 } },
	{ "report of an unknown role", "report nobody 3 x", 0, false, { 0 } },
	{ "report without an incarnation", "report metrics x", 0, false, { 0 } },
	{ "two spaces", "report  metrics 3 x", 0, false, { 0 } },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	const size_t len = r->len != 0 ? r->len : strlen(r->record);
	/* On the heap, exactly as long: a read past the end is seen by the sanitizer. */
	char *const record = obj_memdup(r->record, len);
	struct note n;

	assert_int_equal(notify_parse(record, len, &n), r->want);
	free(record);
	if (!r->want)
		return;
	assert_int_equal(n.kind, r->note.kind);
	assert_true(n.number == r->note.number);
	assert_int_equal(n.role, r->note.role);
	assert_string_equal(n.text, r->note.text);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}
