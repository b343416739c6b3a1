/* tests/unit/test_hop_log.c - the ring of hops: what it keeps, what it finds, its texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "hop_log.h"

static const struct hop *found[HOP_LOG_HOPS];

static void
add(struct hop_log *r, int64_t at_us, uint64_t trace, const char *key, bool spare)
{
	const struct hop h = { .at_us = at_us, .trace = trace, .key = hop_log_key(key, strlen(key)) };

	hop_log_add(r, &h, spare);
}

static size_t
find(const struct hop_log *r, const char *key)
{
	const uint32_t hash = hop_log_key(key, strlen(key));

	return hop_log_find(r, &hash, 1, found);
}

static void
nothing_is_kept_before_the_first_hop(void **state)
{
	struct hop_log *r = hop_log_new();

	(void)state;
	assert_int_equal(hop_log_count(r), 0);
	assert_int_equal(hop_log_since_us(r), 0);
	assert_int_equal(find(r, "nodes/a"), 0);
	hop_log_free(&r);
	assert_null(r);
	hop_log_free(&r);
}

static void
the_hops_of_a_key_and_of_its_traces_are_found_in_order(void **state)
{
	struct hop_log *r = hop_log_new();

	(void)state;
	add(r, 1, 7, "machineconfigs/x", false);	/* the cause */
	add(r, 2, 7, "nodes/a", false);
	add(r, 3, 8, "nodes/b", false);			/* of another object */
	add(r, 4, 0, "nodes/a", false);			/* without a trace */
	add(r, 5, 0, "nodes/b", false);			/* no trace is none in common */
	add(r, 6, 9, "nodes/a", false);
	assert_int_equal(find(r, "nodes/a"), 4);
	const int64_t want[] = { 1, 2, 4, 6 };
	for (size_t i = 0; i < NITEMS(want); i++)
		assert_int_equal(found[i]->at_us, want[i]);
	hop_log_free(&r);
}

static void
the_oldest_hops_are_overwritten(void **state)
{
	struct hop_log *r = hop_log_new();

	(void)state;
	for (int64_t i = 1; i <= HOP_LOG_HOPS + 10; i++)
		add(r, i, 1, "nodes/a", false);
	assert_int_equal(hop_log_count(r), HOP_LOG_HOPS);
	assert_int_equal(hop_log_since_us(r), 11);
	assert_int_equal(find(r, "nodes/a"), HOP_LOG_HOPS);
	for (size_t i = 0; i < HOP_LOG_HOPS; i++)
		assert_int_equal(found[i]->at_us, (int64_t)i + 11);
	hop_log_free(&r);
}

static void
a_snapshot_pushes_out_no_change(void **state)
{
	struct hop_log *r = hop_log_new();

	(void)state;
	add(r, 1, 1, "nodes/a", false);
	for (int64_t i = 2; i <= 3 * HOP_LOG_HOPS; i++)
		add(r, i, (uint64_t)i, "nodes/b", true);
	assert_int_equal(hop_log_count(r), HOP_LOG_HOPS);
	assert_int_equal(hop_log_since_us(r), 1);
	assert_int_equal(find(r, "nodes/a"), 1);
	add(r, 9999999, 1, "nodes/a", false);		/* a change still comes in */
	assert_int_equal(hop_log_since_us(r), 2);
	hop_log_free(&r);
}

static void
only_the_newest_traces_are_followed(void **state)
{
	struct hop_log *r = hop_log_new();
	const uint64_t traces = HOP_LOG_TRACES + 20;

	(void)state;
	for (uint64_t i = 1; i <= traces; i++) {
		add(r, (int64_t)(2 * i), i, "nodes/a", false);
		add(r, (int64_t)(2 * i + 1), i, "machineconfigpools/p", false);
	}
	assert_int_equal(find(r, "nodes/a"), 2 * HOP_LOG_TRACES);
	assert_int_equal(found[0]->trace, 21);
	hop_log_free(&r);
}

static const struct row {
	const char	*name, *words, *rv, *want;
} rows[] = {
	{ "words", "Draining (was Pending)", "", "Draining (was Pending)" },
	{ "words and a version", "ok 200", "4713", "ok 200 rv 4713" },
	{ "a version alone", "", "4711", "rv 4711" },
	{ "nothing", "", "", "" },
	{ "as long as it may be", "012345678901234567890123", "", "012345678901234567890123" },
	{ "longer", "012345678901234567890123456", "1", "012345678901234567890123" },
	{ "a version that does not fit", "conflict 409", "1234567890", "conflict 409 rv 12345678" },
	{ "not printable", "a\n\x1b\xc3\xa9", "", "a????" },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct hop h;

	memset(&h, 'x', sizeof(h));
	hop_set_text(&h, r->words, wire_str_of(r->rv));
	assert_int_equal(strnlen(h.text, HOP_TEXT), strlen(r->want));
	assert_memory_equal(h.text, r->want, strlen(r->want));
}

static void
every_hop_has_a_name(void **state)
{
	(void)state;
	for (unsigned i = 0; i < HOP_MAX; i++)
		assert_string_not_equal(hop_name((enum hop_what)i), "?");
	assert_string_equal(hop_name(HOP_MAX), "?");
}

int
main(void)
{
	const struct CMUnitTest fixed[] = {
		cmocka_unit_test(nothing_is_kept_before_the_first_hop),
		cmocka_unit_test(the_hops_of_a_key_and_of_its_traces_are_found_in_order),
		cmocka_unit_test(the_oldest_hops_are_overwritten),
		cmocka_unit_test(a_snapshot_pushes_out_no_change),
		cmocka_unit_test(only_the_newest_traces_are_followed),
		cmocka_unit_test(every_hop_has_a_name),
	};
	struct CMUnitTest tests[NITEMS(fixed) + NITEMS(rows)];

	memcpy(tests, fixed, sizeof(fixed));
	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[NITEMS(fixed) + i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("hop_log", tests, NULL, NULL);
}
