/*
 * tests/unit/test_sim_fieldset.c - sets of fields: what the operations make, and that fieldsV1
 * goes in and out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_values.h"
#include "sim/kube/patch/sim_fieldset.h"

static const struct row {
	const char	*name;
	json_t		*(*make)(const json_t *a, const json_t *b);
	const char	*a, *b, *want;		/* all as fieldsV1; want NULL: the empty set */
} rows[] = {
	{ "both", sim_fieldset_union, "{'f:a':{}}", "{'f:b':{}}", "{'f:a':{},'f:b':{}}" },
	{ "both, one below the other", sim_fieldset_union, "{'f:a':{}}", "{'f:a':{'f:b':{}}}", "{'f:a':{'.':{},'f:b':{}}}" },
	{ "both, one empty", sim_fieldset_union, "{'f:a':{'f:b':{}}}", "{}", "{'f:a':{'f:b':{}}}" },
	{ "in common", sim_fieldset_intersection, "{'f:a':{},'f:b':{}}", "{'f:b':{},'f:c':{}}", "{'f:b':{}}" },
	{ "in common, below", sim_fieldset_intersection, "{'f:a':{'.':{},'f:b':{},'f:c':{}}}", "{'f:a':{'f:c':{}}}", "{'f:a':{'f:c':{}}}" },
	{ "a node is not its children", sim_fieldset_intersection, "{'f:a':{}}", "{'f:a':{'f:b':{}}}", NULL },
	{ "without", sim_fieldset_difference, "{'f:a':{},'f:b':{}}", "{'f:b':{}}", "{'f:a':{}}" },
	{ "without the node, with its children", sim_fieldset_difference, "{'f:a':{'.':{},'f:b':{}}}", "{'f:a':{}}", "{'f:a':{'f:b':{}}}" },
	{ "without the children, with the node", sim_fieldset_difference, "{'f:a':{'.':{},'f:b':{}}}", "{'f:a':{'f:b':{}}}", "{'f:a':{}}" },
	{ "without everything", sim_fieldset_difference, "{'f:a':{'f:b':{}}}", "{'f:a':{'f:b':{}}}", NULL },
	{ "without all below", sim_fieldset_without, "{'f:a':{'.':{},'f:b':{}},'f:c':{}}", "{'f:a':{}}", "{'f:c':{}}" },
	{ "without some below", sim_fieldset_without, "{'f:a':{'f:b':{'f:c':{}},'f:d':{}}}", "{'f:a':{'f:b':{}}}", "{'f:a':{'f:d':{}}}" },
	{ "items", sim_fieldset_union, "{'f:l':{'k:{\\'id\\':1}':{'.':{},'f:id':{}}}}", "{'f:l':{'v:1':{}}}",
	  "{'f:l':{'k:{\\'id\\':1}':{'.':{},'f:id':{}},'v:1':{}}}" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	json_t *a = J(r->a), *b = J(r->b), *left = sim_fieldset_read(a), *right = sim_fieldset_read(b);
	json_t *have = r->make(left, right);

	if (r->want == NULL)
		assert_true(sim_fieldset_is_empty(have));
	else
		assert_json(sim_fieldset_write(have), r->want);
	/* What is read and written is what it was. */
	assert_json(sim_fieldset_write(left), r->a);
	assert_json(sim_fieldset_write(right), r->b);
	json_decref(have);
	json_decref(left);
	json_decref(right);
	json_decref(a);
	json_decref(b);
}

static void
nonsense_is_not_read(void **state)
{
	static const char *const texts[] = { "[]", "{'x':{}}", "{'f:a':1}", "{'f:a':{'b':{}}}" };

	(void)state;
	for (size_t i = 0; i < NITEMS(texts); i++) {
		json_t *fields = J(texts[i]);

		assert_null(sim_fieldset_read(fields));
		json_decref(fields);
	}
}

static void
paths_are_in_words_and_order(void **state)
{
	json_t *fields = J("{'f:spec':{'f:rules':{'k:{\\\"id\\\":\\\"a\\\",\\\"n\\\":2}':{'.':{},"
	    "'f:on':{}}},'f:size':{},'f:tags':{'v:\\\"x\\\"':{}}}}");
	json_t *set = sim_fieldset_read(fields);

	(void)state;
	assert_json(sim_fieldset_paths(set), "['.spec.size','.spec.rules[id=\\\"a\\\",n=2]',"
	    "'.spec.rules[id=\\\"a\\\",n=2].on','.spec.tags[=\\\"x\\\"]']");
	json_decref(set);
	json_decref(fields);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
		    (void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(nonsense_is_not_read);
	tests[NITEMS(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(paths_are_in_words_and_order);
	return cmocka_run_group_tests_name("sim apply set", tests, NULL, NULL);
}
