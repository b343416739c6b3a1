/*
 * tests/unit/test_store.c - which version wins: lists, the watch and answers to own writes report
 * the same objects, in any order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/kube-watcher/store.h"
#include "obj.h"

enum action {
	END, SEEN, BAD, BAD_ANSWER, UNREADABLE, DELETED, ANSWER, REMOVED, BEGIN,
	ACCEPT_ROLLBACK, COMMIT, DROP, DIFF, HAS, TOMBS, TIME,
};

/*
 * rv: of an ANSWER also how far the watch has come, "12@10". want: for reports the change (+ added, ~
 * updated, = replaced, - gone, "" ignored); COMMIT: the keys that went, in order of the alphabet;
 * DIFF: "seen missing older newer" at version rv; HAS: the version of the key;
 * BAD, BAD_ANSWER: SEEN and ANSWER of an object that cannot be projected (! skipped); UNREADABLE: how
 * many there are; TIME: store_restore_epoch.
 */
struct line {
	enum action	 action;
	const char	*key, *uid, *rv;
	const char	*want;
};

#define A1	"a", "11111111-0000-4000-8000-000000000001"
#define A2	"a", "22222222-0000-4000-8000-000000000002"
#define B1	"b", "33333333-0000-4000-8000-000000000003"
#define C1	"c", "no UUID at all"

static const struct row {
	const char	*name;
	struct line	 lines[16];
} rows[] = {
	{ "only what is newer is a change", {
		{ SEEN, A1, "10", "+" }, { SEEN, A1, "10", "" }, { SEEN, A1, "9", "" }, { SEEN, A1, "11", "~" },
		{ HAS, A1, "", "11" } } },
	{ "numbers, not texts", { { SEEN, A1, "9", "+" }, { SEEN, A1, "10", "~" }, { SEEN, A1, "9", "" } } },
	{ "numbers of any length", {
		{ SEEN, A1, "99999999999999999999", "+" }, { SEEN, A1, "99999999999999999998", "" },
		{ SEEN, A1, "100000000000000000000", "~" }, { HAS, A1, "", "100000000000000000000" },
		{ SEEN, A1, "5", "" } } },
	{ "what has no order counts as newer, unless it is the same", {
		{ SEEN, A1, "opaque", "+" }, { SEEN, A1, "opaque", "" }, { SEEN, A1, "other", "~" },
		{ SEEN, A1, "7", "~" }, { HAS, A1, "", "7" } } },
	{ "another uid is another object; the old one's late reports are ignored", {
		{ SEEN, A1, "10", "+" }, { SEEN, A2, "20", "=" }, { SEEN, A1, "15", "" },
		{ DELETED, A1, "19", "" }, { HAS, A2, "", "20" }, { DELETED, A2, "25", "-" } } },
	{ "uids need not be UUIDs", {
		{ SEEN, C1, "10", "+" }, { SEEN, "c", "no UUID at al", "11", "=" }, { DELETED, C1, "12", "" } } },
	{ "upper case is another uid", {
		{ SEEN, "a", "aaaaaaaa-0000-4000-8000-00000000000a", "1", "+" },
		{ DELETED, "a", "AAAAAAAA-0000-4000-8000-00000000000A", "2", "" } } },
	{ "the end of an unknown object is no change", { { DELETED, A1, "10", "" } } },
	{ "what a complete list does not name is gone", {
		{ SEEN, A1, "10", "+" }, { SEEN, B1, "11", "+" }, { SEEN, C1, "12", "+" },
		{ BEGIN, "", "", "", "" }, { SEEN, B1, "11", "" }, { DIFF, "", "", "20", "1 2 0 0" },
		{ COMMIT, "", "", "20", "ac" }, { HAS, A1, "", NULL }, { HAS, B1, "", "11" } } },
	{ "a list that broke off takes nothing away, and its marks do not count for the next", {
		{ SEEN, A1, "10", "+" }, { SEEN, B1, "11", "+" },
		{ BEGIN, "", "", "", "" }, { SEEN, A1, "10", "" }, { DROP, "", "", "", "" },
		{ BEGIN, "", "", "", "" }, { SEEN, B1, "11", "" }, { COMMIT, "", "", "20", "a" } } },
	{ "what is listed is taken over at once", {
		{ BEGIN, "", "", "", "" }, { SEEN, A1, "10", "+" }, { DROP, "", "", "", "" },
		{ HAS, A1, "", "10" }, { BEGIN, "", "", "", "" }, { COMMIT, "", "", "20", "a" } } },
	{ "an own write is merged at once, and the watch brings nothing new", {
		{ SEEN, A1, "10", "+" }, { ANSWER, A1, "12@10", "~" }, { SEEN, A1, "11", "" }, { SEEN, A1, "12", "" },
		{ SEEN, A1, "13", "~" } } },
	{ "an own create is there before the watch reports it", {
		{ ANSWER, A1, "12@10", "+" }, { SEEN, A1, "12", "" }, { ANSWER, A1, "11@12", "" } } },
	{ "an answer that the watch has overtaken: perhaps it has ended since", {
		{ SEEN, A1, "10", "+" }, { DELETED, A1, "15", "-" }, { ANSWER, A1, "12@15", "" },
		{ ANSWER, A1, "15@15", "" }, { HAS, A1, "", NULL } } },
	{ "an answer about another one that the watch has overtaken", {
		{ SEEN, A2, "20", "+" }, { ANSWER, A1, "21@25", "" }, { ANSWER, A1, "26@25", "=" } } },
	{ "of what is there an answer may be newer than the watch was", {
		{ SEEN, A1, "10", "+" }, { ANSWER, A1, "12@15", "~" } } },
	{ "an own write newer than the list outlives it", {
		{ ANSWER, A1, "30@10", "+" }, { SEEN, B1, "11", "+" },
		{ BEGIN, "", "", "", "" }, { SEEN, B1, "11", "" }, { DIFF, "", "", "20", "1 0 0 1" },
		{ COMMIT, "", "", "20", "" }, { HAS, A1, "", "30" },
		{ BEGIN, "", "", "", "" }, { COMMIT, "", "", "30", "ab" } } },
	{ "an own write during the list: gone only if the list is newer", {
		{ BEGIN, "", "", "", "" }, { ANSWER, A1, "30@10", "+" }, { ANSWER, B1, "15@10", "+" },
		{ COMMIT, "", "", "20", "b" } } },
	{ "a list that accepts a rollback takes older versions, and what was ahead of it", {
		{ SEEN, A1, "50", "+" }, { ANSWER, B1, "60@50", "+" }, { SEEN, C1, "40", "+" },
		{ ACCEPT_ROLLBACK, "", "", "", "" }, { SEEN, A1, "45", "~" }, { COMMIT, "", "", "46", "bc" },
		{ HAS, A1, "", "45" } } },
	{ "but no older version than an own write since", {
		{ SEEN, A1, "50", "+" }, { ACCEPT_ROLLBACK, "", "", "", "" }, { ANSWER, A1, "55@50", "~" },
		{ SEEN, A1, "50", "" }, { COMMIT, "", "", "52", "" }, { HAS, A1, "", "55" } } },
	{ "a list that should have our version and does not", {
		{ SEEN, A1, "50", "+" }, { BEGIN, "", "", "", "" }, { SEEN, A1, "40", "" },
		{ DIFF, "", "", "60", "1 0 1 0" }, { DIFF, "", "", "50", "1 0 1 0" },
		{ DIFF, "", "", "45", "1 0 0 1" } } },
	{ "what we deleted stays deleted until the watch has caught up", {
		{ SEEN, A1, "10", "+" }, { REMOVED, A1, "", "-" }, { TOMBS, "", "", "", "1" },
		{ SEEN, A1, "12", "" }, { ANSWER, A1, "13@10", "" }, { DELETED, A1, "14", "" },
		{ TOMBS, "", "", "", "0" }, { SEEN, A2, "20", "+" } } },
	{ "a namesake may follow at once", {
		{ SEEN, A1, "10", "+" }, { REMOVED, A1, "", "-" }, { SEEN, A2, "20", "+" }, { SEEN, A1, "12", "" } } },
	{ "the watch was faster than the answer to our delete", {
		{ SEEN, A1, "10", "+" }, { DELETED, A1, "14", "-" }, { REMOVED, A1, "", "" }, { TOMBS, "", "", "", "0" } } },
	{ "our delete of what is another one by now", {
		{ SEEN, A2, "20", "+" }, { REMOVED, A1, "", "" }, { HAS, A2, "", "20" } } },
	{ "a list from before our delete, then one from after it", {
		{ SEEN, A1, "10", "+" }, { REMOVED, A1, "", "-" },
		{ BEGIN, "", "", "", "" }, { SEEN, A1, "10", "" }, { DIFF, "", "", "11", "0 0 1 0" },
		{ COMMIT, "", "", "11", "" }, { TOMBS, "", "", "", "1" },
		{ BEGIN, "", "", "", "" }, { COMMIT, "", "", "20", "" }, { TOMBS, "", "", "", "0" } } },
	{ "a list from before it was made does not confirm our delete", {
		{ SEEN, B1, "20", "+" }, { ANSWER, A1, "35@30", "+" }, { REMOVED, A1, "", "-" },
		{ BEGIN, "", "", "", "" }, { SEEN, B1, "20", "" }, { COMMIT, "", "", "34", "" },
		{ TOMBS, "", "", "", "1" }, { SEEN, A1, "35", "" },
		{ BEGIN, "", "", "", "" }, { SEEN, B1, "20", "" }, { COMMIT, "", "", "35", "" },
		{ TOMBS, "", "", "", "0" } } },
	{ "but one that accepts a rollback does: numbers start over", {
		{ ANSWER, A1, "35@30", "+" }, { REMOVED, A1, "", "-" }, { ACCEPT_ROLLBACK, "", "", "", "" },
		{ COMMIT, "", "", "34", "" }, { TOMBS, "", "", "", "0" } } },
	{ "our delete during a list that still names it", {
		{ SEEN, A1, "10", "+" }, { BEGIN, "", "", "", "" }, { REMOVED, A1, "", "-" }, { SEEN, A1, "10", "" },
		{ DIFF, "", "", "11", "0 0 0 0" }, { COMMIT, "", "", "11", "" }, { TOMBS, "", "", "", "1" } } },
	{ "a list that accepts a rollback may bring it back: the cluster was restored", {
		{ SEEN, A1, "10", "+" }, { REMOVED, A1, "", "-" }, { ACCEPT_ROLLBACK, "", "", "", "" }, { SEEN, A1, "8", "+" },
		{ COMMIT, "", "", "9", "" }, { HAS, A1, "", "8" } } },
	{ "ended among the initial events: an answer from before does not bring it back", {
		{ BEGIN, "", "", "", "" }, { SEEN, A1, "10", "+" }, { DELETED, A1, "15", "-" },
		{ ANSWER, A1, "12@5", "" }, { COMMIT, "", "", "16", "" }, { TOMBS, "", "", "", "0" } } },
	{ "during a rollback: an answer beats what is from before it, whatever its number", {
		{ SEEN, A1, "826", "+" }, { SEEN, B1, "827", "+" }, { ACCEPT_ROLLBACK, "", "", "", "" },
		{ ANSWER, A1, "821@828", "~" }, { SEEN, A1, "812", "" }, { ANSWER, "b", "another b", "822@828", "=" },
		{ COMMIT, "", "", "816", "" }, { HAS, A1, "", "821" }, { HAS, B1, "", "822" } } },
	{ "during a rollback: how far the watch had come means nothing", {
		{ ACCEPT_ROLLBACK, "", "", "", "" }, { ANSWER, A1, "821@828", "+" }, { COMMIT, "", "", "816", "" },
		{ HAS, A1, "", "821" } } },
	{ "during a rollback: what was deleted before it may be there again", {
		{ SEEN, A1, "10", "+" }, { REMOVED, A1, "", "-" }, { ACCEPT_ROLLBACK, "", "", "", "" },
		{ ANSWER, A1, "9@10", "+" }, { COMMIT, "", "", "8", "" }, { HAS, A1, "", "9" } } },
	{ "during a rollback: but not what was deleted since", {
		{ SEEN, A1, "10", "+" }, { ACCEPT_ROLLBACK, "", "", "", "" }, { REMOVED, A1, "", "-" },
		{ ANSWER, A1, "9@10", "" }, { COMMIT, "", "", "8", "" }, { HAS, A1, "", NULL } } },
	{ "during a rollback: an answer against the list", {
		{ SEEN, A1, "826", "+" }, { ACCEPT_ROLLBACK, "", "", "", "" }, { SEEN, A1, "815", "~" },
		{ ANSWER, A1, "812@828", "" }, { ANSWER, A1, "816@828", "~" }, { ANSWER, A1, "814@828", "" },
		{ COMMIT, "", "", "815", "" }, { HAS, A1, "", "816" } } },
	/* Issue 10.9: an object that cannot be projected is there, without a value. */
	{ "an unreadable object is there, and has no value", {
		{ BEGIN, "", "", "", "" }, { BAD, A1, "10", "!" }, { SEEN, B1, "11", "+" },
		{ COMMIT, "", "", "20", "" }, { UNREADABLE, "", "", "", "1" }, { HAS, A1, "", "10" },
		{ BAD, A1, "21", "" }, { HAS, A1, "", "21" }, { DELETED, A1, "22", "" },
		{ UNREADABLE, "", "", "", "0" }, { HAS, A1, "", NULL } } },
	{ "its last readable version is retracted, a later one is added", {
		{ SEEN, A1, "10", "+" }, { BAD, A1, "11", "-" }, { BAD, A1, "11", "" }, { SEEN, A1, "10", "" },
		{ UNREADABLE, "", "", "", "1" }, { SEEN, A1, "12", "+" }, { UNREADABLE, "", "", "", "0" },
		{ DELETED, A1, "13", "-" } } },
	{ "the same version may be readable in another form", {
		{ BAD, A1, "10", "!" }, { SEEN, A1, "10", "+" }, { BAD, A1, "10", "-" } } },
	{ "unreadable objects that a list does not name are gone", {
		{ BAD, A1, "10", "!" }, { BAD, B1, "11", "!" }, { SEEN, C1, "12", "+" },
		{ BEGIN, "", "", "", "" }, { BAD, A1, "10", "" }, { DIFF, "", "", "20", "1 2 0 0" },
		{ COMMIT, "", "", "20", "c" }, { UNREADABLE, "", "", "", "1" } } },
	{ "another object of its name", {
		{ SEEN, A1, "10", "+" }, { BAD, A2, "20", "-" }, { SEEN, A1, "15", "" }, { DELETED, A1, "19", "" },
		{ HAS, A2, "", "20" }, { UNREADABLE, "", "", "", "1" }, { REMOVED, A2, "", "" },
		{ UNREADABLE, "", "", "", "0" } } },
	{ "the answer to a write that made it unreadable", {
		{ SEEN, A1, "10", "+" }, { BAD_ANSWER, A1, "12@10", "-" }, { SEEN, A1, "11", "" },
		{ BAD, A1, "12", "" }, { ANSWER, A1, "13@12", "+" }, { BAD_ANSWER, B1, "14@12", "!" } } },
	{ "another epoch begins with each list that accepts a rollback", {
		{ TIME, "", "", "", "0" }, { BEGIN, "", "", "", "" }, { COMMIT, "", "", "5", "" },
		{ TIME, "", "", "", "0" }, { ACCEPT_ROLLBACK, "", "", "", "" }, { TIME, "", "", "", "1" },
		{ DROP, "", "", "", "" }, { TIME, "", "", "", "1" }, { ACCEPT_ROLLBACK, "", "", "", "" },
		{ TIME, "", "", "", "2" }, { COMMIT, "", "", "6", "" }, { TIME, "", "", "", "2" } } },
};

static const char *const change_signs[] = {
	[STORE_IGNORE] = "", [STORE_ADDED] = "+", [STORE_UPDATED] = "~", [STORE_REPLACED] = "=",
	[STORE_GONE] = "-", [STORE_SKIPPED] = "!",
};

/* Collects one-letter keys in order. */
static void
on_gone(const char *key, size_t len, void *arg)
{
	char *gone = arg;
	size_t at = strlen(gone);

	assert_int_equal(len, 1);
	for (; at > 0 && gone[at - 1] > key[0]; at--)
		gone[at] = gone[at - 1];
	gone[at] = key[0];
}

static void
check_line(struct store *s, const struct line *l)
{
	const char *at = strchr(l->rv, '@');
	char rv[32], text[64] = "";

	snprintf(rv, sizeof(rv), "%.*s", at == NULL ? (int)strlen(l->rv) : (int)(at - l->rv), l->rv);
	const struct object_version w = { .key = l->key, .key_len = strlen(l->key), .uid = l->uid, .rv = rv,
		.unreadable = l->action == BAD || l->action == BAD_ANSWER };

	switch (l->action) {
	case BAD:
	case SEEN: assert_string_equal(change_signs[store_seen(s, &w)], l->want); break;
	case DELETED: assert_string_equal(change_signs[store_deleted(s, &w)], l->want); break;
	case BAD_ANSWER:
	case ANSWER: assert_string_equal(change_signs[store_answered(s, &w, at + 1)], l->want); break;
	case REMOVED: assert_string_equal(change_signs[store_removed(s, &w)], l->want); break;
	case BEGIN: store_begin(s, false); break;
	case ACCEPT_ROLLBACK: store_begin(s, true); break;
	case DROP: store_drop(s); break;
	case COMMIT:
		store_commit(s, l->rv, on_gone, text);
		assert_string_equal(text, l->want);
		break;
	case DIFF: {
		const struct list_diff d = store_list_diff(s, l->rv);

		snprintf(text, sizeof(text), "%u %u %u %u", d.seen, d.missing, d.older, d.newer);
		assert_string_equal(text, l->want);
		break;
	}
	case HAS:
		assert_int_equal(store_rv(s, w.key, w.key_len, text, sizeof(text)), l->want != NULL);
		assert_string_equal(text, l->want == NULL ? "" : l->want);
		break;
	case UNREADABLE:
		snprintf(text, sizeof(text), "%u", store_unreadable(s));
		assert_string_equal(text, l->want);
		break;
	case TOMBS:
		snprintf(text, sizeof(text), "%u", store_tombstones(s));
		assert_string_equal(text, l->want);
		break;
	case TIME:
		snprintf(text, sizeof(text), "%u", store_restore_epoch(s));
		assert_string_equal(text, l->want);
		break;
	case END: break;
	}
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct store *s = store_new();

	for (const struct line *l = r->lines; l->action != END; l++)
		check_line(s, l);
	store_free(&s);
	assert_null(s);
	store_free(&s);
}

static void
count_one(const char *key, size_t len, void *arg)
{
	assert_int_equal(strlen(key), len);
	++*(uint32_t *)arg;
}

/* A node costs less than 150 bytes; old versions are not kept. */
static void
memory_is_small(void **state)
{
	enum { NODES = 15000 };
	struct store *s = store_new();
	uint32_t n = 0;

	(void)state;
	for (int round = 0; round < 3; round++) {
		store_begin(s, false);
		for (int i = 0; i < NODES; i++) {
			char key[64], uid[64], rv[32];

			snprintf(key, sizeof(key), "nodes/ip-10-%d-%d-%d.eu-west-1.internal", round,
			    i / 256, i % 256);
			snprintf(uid, sizeof(uid), "%08x-%04x-4000-8000-000000000000", (unsigned)i,
			    (unsigned)round);
			snprintf(rv, sizeof(rv), "%d", 4000000 + round * NODES + i);
			const struct object_version w = {
				.key = key, .key_len = strlen(key), .uid = uid, .rv = rv
			};
			assert_int_equal(store_seen(s, &w), STORE_ADDED);
		}
		n = 0;
		store_commit(s, "9000000", count_one, &n);
		assert_int_equal(n, round == 0 ? 0 : NODES);
		assert_int_equal(store_count(s), NODES);
	}
	/* Two populations were there at once while the second was listed. */
	assert_true(store_bytes(s) < (size_t)NODES * 2 * 150);
	store_free(&s);
	s = store_new();
	for (int i = 0; i < NODES; i++) {
		char key[64];

		snprintf(key, sizeof(key), "nodes/ip-10-0-%d-%d.eu-west-1.internal", i / 256, i % 256);
		const struct object_version w = { .key = key, .key_len = strlen(key), .uid = "x", .rv = "1" };
		store_seen(s, &w);
	}
	print_message("%zu bytes a node\n", store_bytes(s) / NODES);
	assert_true(store_bytes(s) < (size_t)NODES * 150);
	store_free(&s);
}

/* Deletes that the watch never reports cannot pile up. */
static void
tombstones_are_bounded(void **state)
{
	struct store *s = store_new();

	(void)state;
	for (int i = 0; i < 5000; i++) {
		char key[32], uid[32];

		snprintf(key, sizeof(key), "k%d", i);
		snprintf(uid, sizeof(uid), "u%d", i);
		const struct object_version w = { .key = key, .key_len = strlen(key), .uid = uid, .rv = "1" };
		store_seen(s, &w);
		store_removed(s, &w);
	}
	assert_int_equal(store_count(s), 0);
	assert_true(store_tombstones(s) <= 1024);
	store_free(&s);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(memory_is_small);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(tombstones_are_bounded);
	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
