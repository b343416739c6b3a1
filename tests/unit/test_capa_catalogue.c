/* tests/unit/test_capa_catalogue.c - the catalogue of a region: FR5.4, FR5.6, F3, F4, F8, F9. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/capa-annotator/catalogue.h"
#include "obj.h"

enum { TTL = 1000, EARLY = 100 };

/*
 * Steps: "time verb arguments". find: type and the answer; next: the time of the next walk, or "now"; begin;
 * add: type and its vCPUs; page: next token or "-", and the answer; drop: the page failed; commit: the types
 * that changed, or "no"; fail: when to try again.
 */
static const struct row {
	const char	*name;
	const char	*steps[16];
} rows[] = {
	{ "nothing is wanted", { "0 next never" } },
	{ "FR5.6 F4 all pages, then the answers change", {
	    "0 find a waiting", "0 next now", "0 begin", "0 next never", "0 add a 2", "0 page t1 more",
	    "0 find a waiting", "1 add b 4", "1 page - last", "1 commit a,b", "1 find a 2",
	    "1 find b 4", "1 next 1001" } },
	{ "FR5.4 F4 24 h: due again ttl after completion", {
	    "0 find a waiting", "0 begin", "0 add a 2", "5 commit a", "1004 next 1005", "1005 next now",
	    "1005 find a 2" } },
	{ "F4 one refresh at a time", {
	    "0 find a waiting", "0 begin", "0 find b waiting", "0 next never" } },
	{ "F4 F3 a refresh fails: the previous catalogue answers", {
	    "0 find a waiting", "0 begin", "0 add a 2", "0 commit a", "1000 begin", "1000 add a 9",
	    "1001 fail 1050", "1001 find a 2", "1001 next 1050", "1050 next now", "1050 begin",
	    "1050 add a 9", "1050 commit a", "1050 find a 9" } },
	{ "F3 a failed refresh never states unknown", {
	    "0 find a waiting", "0 begin", "0 add a 2", "0 commit a", "50 find x unknown", "1000 begin",
	    "1001 fail 1050", "1001 find x failed", "1001 find y failed", "1050 begin", "1050 add a 2",
	    "1050 commit x,y", "1050 find x unknown", "1050 find y unknown" } },
	{ "F3 the first walk fails", {
	    "0 find a waiting", "0 begin", "1 fail 7", "1 find a failed", "1 next 7" } },
	{ "F3 only a fresh catalogue states unknown", {
	    "0 find x waiting", "0 begin", "0 add a 2", "0 commit x,a", "999 find x unknown",
	    "1000 find x waiting" } },
	{ "F9 the walk under way counts: no early one", {
	    "0 find a waiting", "0 begin", "0 find x waiting", "0 add a 2", "0 commit x,a",
	    "0 find x unknown", "500 find x unknown", "500 next 1000" } },
	{ "F9 a type that came later: one early walk", {
	    "0 find a waiting", "0 begin", "0 add a 2", "0 commit a", "500 find x waiting",
	    "500 next now", "500 begin", "500 add a 2", "501 commit x", "501 find x unknown",
	    "900 find x unknown", "900 next 1501" } },
	{ "F9 ... for all types that wait", {
	    "0 find a waiting", "0 begin", "0 add a 2", "0 commit a", "500 find x waiting",
	    "500 find y waiting", "500 begin", "500 add a 2", "501 commit x,y", "501 next 1501" } },
	{ "F9 early walks keep a distance", {
	    "0 find a waiting", "0 begin", "0 add a 2", "10 commit a", "20 find x unknown",
	    "20 next 110", "109 find x unknown", "110 find x waiting", "110 next now" } },
	{ "F8 a type that was unknown is there", {
	    "0 find x waiting", "0 begin", "0 add a 2", "0 commit x,a", "9 find x unknown",
	    "1000 begin", "1000 add a 2", "1000 add x 8", "1000 commit x", "1000 find x 8" } },
	{ "F9 types that change, and types that go", {
	    "0 find a waiting", "0 begin", "0 add a 2", "0 add b 4", "0 add c 6", "0 commit a,b,c",
	    "1000 begin", "1000 add a 2", "1000 add b 8", "1000 commit b,c", "1000 find c unknown" } },
	{ "F9 a type that came and went justifies a walk again", {
	    "0 find x waiting", "0 begin", "0 add a 2", "0 commit x,a", "1000 begin", "1000 add a 2",
	    "1000 add x 2", "1000 commit x", "2000 begin", "2000 add a 2", "2000 commit x",
	    "2100 find x waiting", "2100 next now" } },
	{ "pages overlap: the later one is right", {
	    "0 find a waiting", "0 begin", "0 add a 2", "0 page t1 more", "0 add a 3", "0 page - last",
	    "0 commit a", "0 find a 3" } },
	{ "a repeated NextToken", {
	    "0 find a waiting", "0 begin", "0 page t1 more", "0 page t2 more", "0 page t1 broken",
	    "0 fail 5", "0 find a failed" } },
	{ "F3 F4 what a page had that was not read to its end is not kept", {
	    "0 find a waiting", "0 begin", "0 add a 2", "0 page t1 more", "0 add x 8", "0 add a 9", "0 drop",
	    "0 add b 4", "0 page - last", "0 commit a,b", "0 find x unknown", "0 find a 2" } },
	{ "F3 ... also when nothing else is read", {
	    "0 find a waiting", "0 begin", "0 add x 8", "0 drop", "0 page - last", "0 commit no",
	    "0 find x failed" } },
	{ "no type at all is a failure", {
	    "0 find a waiting", "0 begin", "0 add a 2", "0 commit a", "1000 begin", "1000 page - last",
	    "1000 commit no", "1000 find a 2", "1000 find x failed", "1000 next 1100" } },
	{ "a walk that failed leaves nothing behind", {
	    "0 find a waiting", "0 begin", "0 add b 2", "0 page t1 more", "0 fail 5", "5 begin",
	    "5 page t1 more", "5 add a 2", "5 page - last", "5 commit a", "5 find b unknown" } },
};

static const struct wire_str region = { .p = "eu-west-1", .len = 9 };

static void
note_change(void *arg, struct wire_str type)
{
	char *const list = arg;
	const size_t len = strlen(list);

	snprintf(list + len, 256 - len, "%s%.*s", len > 0 ? "," : "", (int)type.len, type.p);
}

static void
check_find(struct catalogue *c, int64_t at_ms, const char *type, const char *want)
{
	static const char *const names[] = {
		[CATALOGUE_UNKNOWN] = "unknown", [CATALOGUE_WAITING] = "waiting",
		[CATALOGUE_FAILED] = "failed",
	};
	struct instance_type t;
	char vcpus[16];
	const enum catalogue_answer answer = catalogue_find(c, region, wire_str_of(type), at_ms, &t);

	if (answer == CATALOGUE_KNOWN)
		snprintf(vcpus, sizeof(vcpus), "%u", t.vcpus);
	assert_string_equal(answer == CATALOGUE_KNOWN ? vcpus : names[answer], want);
}

static void
check_next(const struct catalogue *c, int64_t at_ms, const char *want)
{
	struct wire_str found;
	int64_t due_ms;
	char text[32];

	if (catalogue_next(c, at_ms, &found, &due_ms)) {
		assert_string_equal("now", want);
		assert_int_equal(wire_str_compare(found, region), 0);
		return;
	}
	snprintf(text, sizeof(text), "%lld", (long long)due_ms);
	assert_string_equal(due_ms == INT64_MAX ? "never" : text, want);
}

static void
step(struct catalogue *c, const char *text)
{
	static const char *const pages[] = {
		[CATALOGUE_MORE] = "more", [CATALOGUE_LAST] = "last", [CATALOGUE_BROKEN] = "broken",
	};
	char verb[16] = "", a[32] = "", b[32] = "", changed[256] = "";
	long long at_ms;

	MUST(sscanf(text, "%lld %15s %31s %31s", &at_ms, verb, a, b) >= 2);
	if (strcmp(verb, "find") == 0) {
		check_find(c, at_ms, a, b);
	} else if (strcmp(verb, "next") == 0) {
		check_next(c, at_ms, a);
	} else if (strcmp(verb, "begin") == 0) {
		catalogue_begin(c, region);
	} else if (strcmp(verb, "add") == 0) {
		const struct instance_type t = { .vcpus = (uint32_t)atoi(b), .memory_mib = 1 };

		assert_true(catalogue_add(c, region, wire_str_of(a), &t));
	} else if (strcmp(verb, "drop") == 0) {
		catalogue_page_failed(c, region);
	} else if (strcmp(verb, "page") == 0) {
		const enum catalogue_page p = catalogue_page(c, region, wire_str_of(a[0] == '-' ? "" : a));

		assert_string_equal(pages[p], b);
	} else if (strcmp(verb, "commit") == 0) {
		const bool done = catalogue_commit(c, region, at_ms, note_change, changed);

		assert_string_equal(done ? changed : "no", a);
	} else {
		assert_string_equal(verb, "fail");
		catalogue_fail(c, region, atoi(a), "throttled");
	}
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct catalogue *c = catalogue_new(&(struct catalogue_times){ TTL, EARLY });

	for (size_t i = 0; i < NITEMS(r->steps) && r->steps[i] != NULL; i++) {
		print_message("%s\n", r->steps[i]);
		step(c, r->steps[i]);
	}
	catalogue_free(&c);
	assert_null(c);
}

static void
f4_a_thousand_types_cost_less_than_200_kib(void **state)
{
	static const struct catalogue_times times = { CATALOGUE_TTL_MS, CATALOGUE_EARLY_MS };
	struct catalogue *c = catalogue_new(&times);
	struct instance_type t = { .vcpus = 1, .memory_mib = 1 };
	char name[64], changed[256];

	(void)state;
	catalogue_find(c, region, wire_str_of("m5.large"), 0, &t);
	const size_t empty = catalogue_bytes(c);
	for (int walk = 0; walk < 2; walk++) {
		catalogue_begin(c, region);
		for (int i = 0; i < 1000; i++) {
			snprintf(name, sizeof(name), "m%d-flex.%dxlarge", i, i * 2);
			assert_true(catalogue_add(c, region, wire_str_of(name), &t));
		}
		/* with the walk under way, too */
		assert_in_range(catalogue_bytes(c) - empty, 1000, 200 * 1024);
		changed[0] = '\0';
		assert_true(catalogue_commit(c, region, 0, note_change, changed));
	}
	catalogue_free(&c);
}

static void
everything_has_a_limit(void **state)
{
	struct catalogue *c = catalogue_new(&(struct catalogue_times){ TTL, EARLY });
	struct instance_type t = { .vcpus = 1, .memory_mib = 1 };
	char name[128], changed[256] = "";

	(void)state;
	assert_int_equal(catalogue_find(c, region, wire_str_of("a"), 0, &t), CATALOGUE_WAITING);
	catalogue_begin(c, region);
	for (int i = 0; i < CATALOGUE_TYPES_MAX; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		assert_true(catalogue_add(c, region, wire_str_of(name), &t));
	}
	assert_false(catalogue_add(c, region, wire_str_of("one.more"), &t));
	assert_false(catalogue_add(c, region, wire_str_of(""), &t));
	for (int i = 0; i < CATALOGUE_PAGES_MAX - 1; i++) {
		snprintf(name, sizeof(name), "token%d", i);
		assert_int_equal(catalogue_page(c, region, wire_str_of(name)), CATALOGUE_MORE);
	}
	assert_int_equal(catalogue_page(c, region, wire_str_of("another")), CATALOGUE_BROKEN);
	assert_true(catalogue_commit(c, region, 0, note_change, changed));

	/* names of types that nobody has: no early walk for those beyond the limit */
	for (int i = 0; i < CATALOGUE_MISSING_MAX + 9; i++) {
		snprintf(name, sizeof(name), "x%d", i);
		assert_int_equal(catalogue_find(c, region, wire_str_of(name), EARLY, &t),
		    i < CATALOGUE_MISSING_MAX - 1 ? CATALOGUE_WAITING : CATALOGUE_UNKNOWN);
	}
	memset(name, 'y', sizeof(name));
	const struct wire_str too_long = { .p = name, .len = CATALOGUE_NAME_MAX + 1 };
	assert_int_equal(catalogue_find(c, region, too_long, EARLY, &t), CATALOGUE_UNKNOWN);

	for (int i = 1; i < CATALOGUE_REGIONS_MAX; i++) {
		snprintf(name, sizeof(name), "r-%d", i);
		assert_int_equal(catalogue_find(c, wire_str_of(name), wire_str_of("a"), 0, &t),
		    CATALOGUE_WAITING);
	}
	assert_int_equal(catalogue_find(c, wire_str_of("r-0"), wire_str_of("a"), 0, &t), CATALOGUE_FAILED);
	catalogue_drop(c, region);
	assert_int_equal(catalogue_find(c, wire_str_of("r-0"), wire_str_of("a"), 0, &t), CATALOGUE_WAITING);
	catalogue_free(&c);
}

static void
f4_regions_are_apart(void **state)
{
	const struct wire_str other = wire_str_of("us-east-1");
	struct catalogue *c = catalogue_new(&(struct catalogue_times){ TTL, EARLY });
	struct instance_type t = { .vcpus = 1, .memory_mib = 1 };
	struct catalogue_state s;
	struct wire_str due;
	int64_t at_ms;
	char changed[256] = "";

	(void)state;
	assert_false(catalogue_state(c, region, &s));
	catalogue_find(c, region, wire_str_of("a"), 0, &t);
	catalogue_find(c, other, wire_str_of("a"), 0, &t);
	catalogue_begin(c, region);
	assert_true(catalogue_state(c, region, &s));
	assert_true(s.walking && s.completed_ms == -1 && s.types == 0);
	assert_true(catalogue_next(c, 0, &due, &at_ms));
	assert_int_equal(wire_str_compare(due, other), 0);
	assert_true(catalogue_add(c, region, wire_str_of("a"), &t));
	assert_true(catalogue_commit(c, region, 3, note_change, changed));
	assert_int_equal(catalogue_find(c, region, wire_str_of("a"), 3, &t), CATALOGUE_KNOWN);
	assert_int_equal(catalogue_find(c, other, wire_str_of("a"), 3, &t), CATALOGUE_WAITING);
	catalogue_fail(c, other, 9, "AccessDenied");
	assert_true(catalogue_state(c, other, &s));
	assert_string_equal(s.error, "AccessDenied");
	assert_int_equal(s.due_ms, 9);
	assert_true(catalogue_state(c, region, &s));
	assert_true(s.types == 1 && s.completed_ms == 3 && s.error[0] == '\0' && s.due_ms == 3 + TTL);
	/* a region that nobody names any more is not read again */
	catalogue_drop(c, region);
	catalogue_drop(c, other);
	assert_false(catalogue_next(c, TTL * 9, &due, &at_ms));
	catalogue_free(&c);
}

int
main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(f4_a_thousand_types_cost_less_than_200_kib),
		cmocka_unit_test(everything_has_a_limit),
		cmocka_unit_test(f4_regions_are_apart),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];

	memcpy(tests, others, sizeof(others));
	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[NITEMS(others) + i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("catalogue", tests, NULL, NULL);
}
