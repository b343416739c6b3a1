/*
 * tests/unit/test_sim_patch.c - merge patch and JSON patch: the examples of the RFCs, and where the
 * apiserver's library leaves them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_values.h"
#include "sim/kube/patch/sim_patch.h"

static const struct row {
	const char	*name;
	json_t		*(*patch)(const json_t *target, const json_t *patch);
	const char	*target, *change, *want;	/* want NULL: it does not apply */
} rows[] = {
	{ "merge: a member is replaced", sim_patch_merge, "{'a':'b'}", "{'a':'c'}", "{'a':'c'}" },
	{ "merge: a member is added", sim_patch_merge, "{'a':'b'}", "{'b':'c'}", "{'a':'b','b':'c'}" },
	{ "merge: null removes", sim_patch_merge, "{'a':'b','b':'c'}", "{'a':null}", "{'b':'c'}" },
	{ "merge: null removes nothing that is not there", sim_patch_merge, "{'a':'b'}", "{'c':null}", "{'a':'b'}" },
	{ "merge: a list is replaced", sim_patch_merge, "{'a':['b']}", "{'a':['c','d']}", "{'a':['c','d']}" },
	{ "merge: a text becomes a list", sim_patch_merge, "{'a':'b'}", "{'a':['c']}", "{'a':['c']}" },
	{ "merge: below", sim_patch_merge, "{'a':{'b':'c','d':1}}", "{'a':{'b':'e','d':null}}", "{'a':{'b':'e'}}" },
	{ "merge: a list becomes an object", sim_patch_merge, "{'a':['b']}", "{'a':{'c':1}}", "{'a':{'c':1}}" },
	{ "merge: nulls of what is new are dropped", sim_patch_merge, "{}", "{'a':{'b':{'c':null,'d':1}}}", "{'a':{'b':{'d':1}}}" },
	{ "merge: nulls over a text are dropped", sim_patch_merge, "{'a':'x'}", "{'a':{'c':null}}", "{'a':{}}" },
	{ "merge: nulls in a new list's objects are dropped", sim_patch_merge, "{}", "{'a':[{'b':null,'c':1}]}", "{'a':[{'c':1}]}" },
	{ "merge: nulls in a list stay", sim_patch_merge, "{'a':[1]}", "{'a':[null,1]}", "{'a':[null,1]}" },
	{ "merge: a list over an object stays as it is", sim_patch_merge, "{'a':{'x':1}}", "{'a':[{'b':null}]}", "{'a':[{'b':null}]}" },
	{ "merge: null in the target is replaced", sim_patch_merge, "{'a':null}", "{'a':{'b':1}}", "{'a':{'b':1}}" },
	{ "merge: nothing", sim_patch_merge, "{'a':{'b':[1]}}", "{}", "{'a':{'b':[1]}}" },
	{ "merge: no object as target", sim_patch_merge, "['a']", "{'b':1}", "{'b':1}" },
	{ "add a member", sim_patch_operations, "{'a':1}", "[{'op':'add','path':'/b','value':2}]", "{'a':1,'b':2}" },
	{ "add replaces", sim_patch_operations, "{'a':1}", "[{'op':'add','path':'/a','value':2}]", "{'a':2}" },
	{ "add below what is missing", sim_patch_operations, "{}", "[{'op':'add','path':'/a/b','value':2}]", NULL },
	{ "add below a text", sim_patch_operations, "{'a':'x'}", "[{'op':'add','path':'/a/b','value':2}]", NULL },
	{ "add to the end", sim_patch_operations, "{'a':[1]}", "[{'op':'add','path':'/a/-','value':2}]", "{'a':[1,2]}" },
	{ "add in front", sim_patch_operations, "{'a':[1]}", "[{'op':'add','path':'/a/0','value':2}]", "{'a':[2,1]}" },
	{ "add right behind", sim_patch_operations, "{'a':[1]}", "[{'op':'add','path':'/a/1','value':2}]", "{'a':[1,2]}" },
	{ "add past the end", sim_patch_operations, "{'a':[1]}", "[{'op':'add','path':'/a/2','value':2}]", NULL },
	{ "add from the end", sim_patch_operations, "{'a':[1,3]}", "[{'op':'add','path':'/a/-2','value':2}]", "{'a':[1,2,3]}" },
	{ "add at no index", sim_patch_operations, "{'a':[1]}", "[{'op':'add','path':'/a/x','value':2}]", NULL },
	{ "remove", sim_patch_operations, "{'a':1,'b':2}", "[{'op':'remove','path':'/a'}]", "{'b':2}" },
	{ "remove what is missing", sim_patch_operations, "{'a':1}", "[{'op':'remove','path':'/b'}]", NULL },
	{ "remove an item", sim_patch_operations, "{'a':[1,2,3]}", "[{'op':'remove','path':'/a/1'}]", "{'a':[1,3]}" },
	{ "remove from the end", sim_patch_operations, "{'a':[1,2,3]}", "[{'op':'remove','path':'/a/-1'}]", "{'a':[1,2]}" },
	{ "replace", sim_patch_operations, "{'a':1}", "[{'op':'replace','path':'/a','value':{'b':2}}]", "{'a':{'b':2}}" },
	{ "replace what is missing adds", sim_patch_operations, "{}", "[{'op':'replace','path':'/a','value':1}]", "{'a':1}" },
	{ "replace an item", sim_patch_operations, "{'a':[1,2]}", "[{'op':'replace','path':'/a/0','value':3}]", "{'a':[3,2]}" },
	{ "replace no item", sim_patch_operations, "{'a':[1]}", "[{'op':'replace','path':'/a/1','value':3}]", NULL },
	{ "replace everything", sim_patch_operations, "{'a':1}", "[{'op':'replace','path':'','value':{'b':2}}]", "{'b':2}" },
	{ "replace everything by a text", sim_patch_operations, "{'a':1}", "[{'op':'replace','path':'','value':'x'}]", NULL },
	{ "move", sim_patch_operations, "{'a':{'b':1},'c':{}}", "[{'op':'move','from':'/a/b','path':'/c/d'}]", "{'a':{},'c':{'d':1}}" },
	{ "move an item", sim_patch_operations, "{'a':[1,2,3]}", "[{'op':'move','from':'/a/2','path':'/a/0'}]", "{'a':[3,1,2]}" },
	{ "move what is missing", sim_patch_operations, "{}", "[{'op':'move','from':'/a','path':'/b'}]", NULL },
	{ "copy", sim_patch_operations, "{'a':{'b':1}}", "[{'op':'copy','from':'/a','path':'/c'}]", "{'a':{'b':1},'c':{'b':1}}" },
	{ "a copy is its own", sim_patch_operations, "{'a':{'b':1}}",
	  "[{'op':'copy','from':'/a','path':'/c'},{'op':'replace','path':'/a/b','value':2}]",
	  "{'a':{'b':2},'c':{'b':1}}" },
	{ "test", sim_patch_operations, "{'a':{'b':[1,2]}}", "[{'op':'test','path':'/a','value':{'b':[1,2]}}]", "{'a':{'b':[1,2]}}" },
	{ "test fails", sim_patch_operations, "{'a':1}", "[{'op':'test','path':'/a','value':2}]", NULL },
	{ "a number is no text", sim_patch_operations, "{'a':1}", "[{'op':'test','path':'/a','value':'1'}]", NULL },
	{ "missing is null", sim_patch_operations, "{}", "[{'op':'test','path':'/a','value':null}]", "{}" },
	{ "null is missing", sim_patch_operations, "{'a':null}", "[{'op':'test','path':'/a'}]", "{'a':null}" },
	{ "missing is no text", sim_patch_operations, "{}", "[{'op':'test','path':'/a','value':'x'}]", NULL },
	{ "escaped names", sim_patch_operations, "{'a/b':1,'c~d':2}",
	  "[{'op':'replace','path':'/a~1b','value':3},{'op':'remove','path':'/c~0d'}]", "{'a/b':3}" },
	{ "an empty name", sim_patch_operations, "{}", "[{'op':'add','path':'/','value':1}]", "{'':1}" },
	{ "no path", sim_patch_operations, "{}", "[{'op':'add','value':1}]", NULL },
	{ "a path without a slash", sim_patch_operations, "{}", "[{'op':'add','path':'a','value':1}]", NULL },
	{ "no operation", sim_patch_operations, "{}", "[{'path':'/a','value':1}]", NULL },
	{ "an unknown operation", sim_patch_operations, "{}", "[{'op':'zap','path':'/a','value':1}]", NULL },
	{ "all or nothing", sim_patch_operations, "{'a':1}",
	  "[{'op':'remove','path':'/a'},{'op':'test','path':'/b','value':1}]", NULL },
	{ "one after the other", sim_patch_operations, "{'a':1}",
	  "[{'op':'add','path':'/b','value':{}},{'op':'add','path':'/b/c','value':[]},{'op':'add',"
	  "'path':'/b/c/-','value':1}]", "{'a':1,'b':{'c':[1]}}" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	json_t *target = J(r->target), *change = J(r->change);

	assert_json(r->patch(target, change), r->want);
	/* Neither argument was changed. */
	assert_json(target, r->target);
	assert_json(change, r->change);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
		    (void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("sim patch", tests, NULL, NULL);
}
