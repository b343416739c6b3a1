/* tests/unit/test_sim_provider_parts.c - paths, pages, limits and earlier states of a provider API. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/provider/sim_provider_parts.h"
#include "sim/provider/sim_provider_past.h"

enum { KEPT = 5 };

static const struct path_row {
	const char	*name, *pattern, *path;
	bool		 fits;
	const char	*args[PROVIDER_ARGS_MAX];
} paths[] = {
	{ "a path without arguments", "/v4/regions", "/v4/regions", true, { NULL } },
	{ "an argument", "/vms/{id}", "/vms/41", true, { "41" } },
	{ "two, one in the middle", "/c/{c}/pools/{p}", "/c/7/pools/9", true, { "7", "9" } },
	{ "an argument is decoded", "/vms/{id}", "/vms/a%2Fb%20c", true, { "a/b c" } },
	{ "an encoded NUL names nothing", "/vms/{id}", "/vms/a%00b", false, { NULL } },
	{ "an argument is not empty", "/vms/{id}", "/vms/", false, { NULL } },
	{ "a longer path", "/vms/{id}", "/vms/41/disks", false, { NULL } },
	{ "a shorter path", "/vms/{id}", "/vms", false, { NULL } },
	{ "another word", "/vms/{id}", "/vmss/41", false, { NULL } },
	{ "the beginning of a word", "/vms", "/vm", false, { NULL } },
	{ "one of two words", "/{v4|v4beta}/vms", "/v4/vms", true, { "v4" } },
	{ "the other one", "/{v4|v4beta}/vms", "/v4beta/vms", true, { "v4beta" } },
	{ "neither of them", "/{v4|v4beta}/vms", "/v4b/vms", false, { NULL } },
	{ "nor both", "/{v4|v4beta}/vms", "/v4%7Cv4beta/vms", false, { NULL } },
	{ "a slash at the end", "/vms", "/vms/", false, { NULL } },
};

static const struct page_row {
	const char	*name;
	bool		 by_offset;
	size_t		 results;
	const char	*at, *size;
	bool		 valid;
	size_t		 first, n, page, pages;
} pages[] = {
	{ "the first page", false, 250, NULL, NULL, true, 0, 100, 1, 3 },
	{ "the last page is short", false, 250, "3", NULL, true, 200, 50, 3, 3 },
	{ "a full last page", false, 200, "2", NULL, true, 100, 100, 2, 2 },
	{ "behind the last page", false, 250, "4", NULL, true, 250, 0, 4, 3 },
	{ "far behind it", false, 250, "18446744073709551615", NULL, true, 250, 0, SIZE_MAX, 3 },
	{ "an empty list has one page", false, 0, NULL, NULL, true, 0, 0, 1, 1 },
	{ "another size", false, 250, "2", "25", true, 25, 25, 2, 10 },
	{ "page 0", false, 250, "0", NULL, false, 0, 0, 0, 0 },
	{ "no number", false, 250, "2x", NULL, false, 0, 0, 0, 0 },
	{ "a negative number", false, 250, "-1", NULL, false, 0, 0, 0, 0 },
	{ "a number too long", false, 250, "99999999999999999999", NULL, false, 0, 0, 0, 0 },
	{ "a size too small", false, 250, NULL, "24", false, 0, 0, 0, 0 },
	{ "a size too large", false, 250, NULL, "501", false, 0, 0, 0, 0 },
	{ "by offset, from the start", true, 250, NULL, NULL, true, 0, 100, 0, 0 },
	{ "by offset", true, 250, "200", "60", true, 200, 50, 0, 0 },
	{ "behind the end", true, 250, "300", NULL, true, 250, 0, 0, 0 },
	{ "an empty offset", true, 250, "", NULL, false, 0, 0, 0, 0 },
};

static void
check_path(void **state)
{
	const struct path_row *const r = *state;
	struct sim_provider_args args;

	assert_int_equal(sim_provider_path_fits(r->pattern, r->path, &args), r->fits);
	for (size_t i = 0; r->fits && i < PROVIDER_ARGS_MAX; i++) {
		if (r->args[i] == NULL)
			assert_null(args.of[i]);
		else
			assert_string_equal(args.of[i], r->args[i]);
	}
}

static void
check_page(void **state)
{
	static const struct sim_provider_page_sizes sizes = { .usual = 100, .least = 25, .most = 500 };
	const struct page_row *const r = *state;
	struct sim_provider_page p = { 0 };

	assert_int_equal((r->by_offset ? sim_provider_page_by_offset : sim_provider_page_by_number)(&p,
	    r->results, r->at, r->size, &sizes), r->valid);
	if (!r->valid)
		return;
	assert_int_equal(p.first, r->first);
	assert_int_equal(p.n, r->n);
	assert_int_equal(p.page, r->page);
	assert_int_equal(p.pages, r->pages);
}

static void
slices_a_list(void **state)
{
	json_auto_t *list = json_pack("[i, i, i, i]", 1, 2, 3, 4), *want = json_pack("[i, i]", 2, 3);
	json_auto_t *have = sim_provider_slice(list, &(struct sim_provider_page){ .first = 1, .n = 2 });

	(void)state;
	assert_true(json_equal(have, want));
}

static void
limits_each_token_and_class(void **state)
{
	static const struct sim_provider_class create = { "create", 2, 15000, NULL },
	    list = { "list", 1, 60000, NULL }, free_of = { "read", 0, 0, NULL };
	static const struct {
		const struct sim_provider_class	*class;
		const char			*token;
		int64_t				 now_ms;
		bool				 refused;
		int64_t				 remaining, reset_ms;
	} calls[] = {
		{ &create,  "a", 1000,  false, 1, 15000 },
		{ &create,  "a", 2000,  false, 0, 14000 },
		{ &create,  "a", 3000,  true,  0, 13000 },
		{ &create,  "b", 3000,  false, 1, 15000 },
		{ &list,    "a", 3000,  false, 0, 60000 },
		{ &list,    "a", 4000,  true,  0, 59000 },
		{ &free_of, "a", 4000,  false, 0, 0 },
		{ &create,  "a", 15999, true,  0, 1 },
		{ &create,  "a", 16000, false, 1, 15000 },
		{ &create,  "a", 90000, false, 1, 15000 },
	};
	struct sim_provider_limits *l = sim_provider_limits_new();

	(void)state;
	for (size_t i = 0; i < NITEMS(calls); i++) {
		const struct sim_provider_quota q = sim_provider_limits_take(l, calls[i].class,
		    calls[i].token, calls[i].now_ms);

		assert_int_equal(q.limit, calls[i].class->limit);
		assert_int_equal(q.refused, calls[i].refused);
		assert_int_equal(q.remaining, calls[i].remaining);
		assert_int_equal(q.reset_ms, calls[i].reset_ms);
	}
	sim_provider_limits_free(&l);
}

static void
a_limit_that_was_set_is_the_limit(void **state)
{
	static const struct sim_provider_class create = { "create", 0, 0, NULL },
					       list = { "list", 1, 60000, NULL };
	struct sim_provider_limits *l = sim_provider_limits_new();

	(void)state;
	assert_int_equal(sim_provider_limits_take(l, &create, "a", 0).limit, 0);
	sim_provider_limits_set(l, "create", 1, 1000);
	sim_provider_limits_set(l, "list", 0, 1000);
	assert_false(sim_provider_limits_take(l, &create, "a", 0).refused);
	const struct sim_provider_quota q = sim_provider_limits_take(l, &create, "a", 999);
	assert_true(q.refused);
	assert_int_equal(q.limit, 1);
	assert_int_equal(q.reset_ms, 1);
	assert_int_equal(sim_provider_limits_take(l, &list, "a", 0).limit, 0);
	sim_provider_limits_set(l, "create", 3, 2000);
	assert_int_equal(sim_provider_limits_take(l, &create, "a", 999).remaining, 1);
	sim_provider_limits_set(l, "create", 1, 2000);
	assert_int_equal(sim_provider_limits_take(l, &create, "a", 999).remaining, 0);
	sim_provider_limits_free(&l);
}

static void
classes_of_a_bucket_share_its_limit(void **state)
{
	static const struct sim_provider_class pools = { "pools", 2, 1000, "lists" },
					       instances = { "instances", 2, 1000, "lists" };
	struct sim_provider_limits *l = sim_provider_limits_new();

	(void)state;
	assert_int_equal(sim_provider_limits_take(l, &pools, "a", 0).remaining, 1);
	assert_int_equal(sim_provider_limits_take(l, &instances, "a", 0).remaining, 0);
	assert_true(sim_provider_limits_take(l, &pools, "a", 0).refused);
	sim_provider_limits_set(l, "lists", 9, 1000);
	assert_int_equal(sim_provider_limits_take(l, &instances, "a", 0).remaining, 6);
	sim_provider_limits_free(&l);
}

static void
keeps_the_last_states(void **state)
{
	struct sim_provider_past *p = sim_provider_past_new(KEPT);

	(void)state;
	assert_null(sim_provider_past_at(p, 1));
	sim_provider_past_keep(p, json_integer(0));
	sim_provider_past_keep(p, json_integer(1));
	assert_null(sim_provider_past_at(p, 0));
	assert_int_equal(json_integer_value(sim_provider_past_at(p, 1)), 1);
	assert_int_equal(json_integer_value(sim_provider_past_at(p, 2)), 0);
	assert_int_equal(json_integer_value(sim_provider_past_at(p, 9)), 0);
	for (int i = 2; i < 3 * KEPT; i++)
		sim_provider_past_keep(p, json_integer(i));
	assert_int_equal(json_integer_value(sim_provider_past_at(p, 1)), 3 * KEPT - 1);
	assert_int_equal(json_integer_value(sim_provider_past_at(p, 1000)), 2 * KEPT);
	sim_provider_past_free(&p);
}

static void
sets_numbers_within_their_limits(void **state)
{
	struct {
		int64_t	first, second;
	} s = { .first = 7, .second = 8 };
	static const struct sim_provider_setting all[] = { { "first", 0, 0, 10 },
		{ "second", sizeof(int64_t), -5, 5 } };
	json_auto_t *three = json_integer(3), *minus = json_integer(-1), *text = json_string("3");

	(void)state;
	assert_true(sim_provider_set_number(all, NITEMS(all), &s, "second", minus));
	assert_true(sim_provider_set_number(all, NITEMS(all), &s, "first", three));
	assert_false(sim_provider_set_number(all, NITEMS(all), &s, "first", minus));
	assert_false(sim_provider_set_number(all, NITEMS(all), &s, "first", text));
	assert_false(sim_provider_set_number(all, NITEMS(all), &s, "third", three));
	assert_int_equal(s.first, 3);
	assert_int_equal(s.second, -1);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(paths) + NITEMS(pages) + 6];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(paths); i++)
		tests[n++] = (struct CMUnitTest){ paths[i].name, check_path, NULL, NULL,
			(void *)(uintptr_t)&paths[i] };
	for (size_t i = 0; i < NITEMS(pages); i++)
		tests[n++] = (struct CMUnitTest){ pages[i].name, check_page, NULL, NULL,
			(void *)(uintptr_t)&pages[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(slices_a_list);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(limits_each_token_and_class);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_limit_that_was_set_is_the_limit);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(classes_of_a_bucket_share_its_limit);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(keeps_the_last_states);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(sets_numbers_within_their_limits);
	return cmocka_run_group_tests_name("sim_provider_parts", tests, NULL, NULL);
}
