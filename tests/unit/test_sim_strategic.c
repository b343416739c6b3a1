/*
 * tests/unit/test_sim_strategic.c - strategic merge patches of built-in kinds; the answers are
 * kube-apiserver's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_values.h"
#include "sim/kube/schema/sim_schema.h"
#include "sim/kube/patch/sim_strategic.h"

#define CONDITIONS(list)	"{'status':{'conditions':[" list "]}}"
#define A			"{'type':'A','status':'1'}"
#define B			"{'type':'B','status':'1'}"
#define C			"{'type':'C','status':'1'}"

static const struct row {
	const char	*name, *kind, *target, *patch, *want;	/* want starts with '!': it is refused so */
} rows[] = {
	{ "an object is merged", "Node", "{'spec':{'podCIDR':'a','unschedulable':true}}",
	  "{'spec':{'podCIDR':'b'}}", "{'spec':{'podCIDR':'b','unschedulable':true}}" },
	{ "null removes", "Node", "{'spec':{'unschedulable':true}}", "{'spec':{'unschedulable':null}}", "{'spec':{}}" },
	{ "a map is merged", "Node", "{'metadata':{'labels':{'a':'1','b':'2'}}}",
	  "{'metadata':{'labels':{'a':null,'c':'3'}}}", "{'metadata':{'labels':{'b':'2','c':'3'}}}" },
	{ "an atomic list is replaced", "Node", "{'spec':{'taints':[{'key':'a','effect':'x'}]}}",
	  "{'spec':{'taints':[{'key':'b','effect':'y'}]}}",
	  "{'spec':{'taints':[{'key':'b','effect':'y'}]}}" },
	{ "a keyed list is merged by its key", "Node", CONDITIONS(A "," B),
	  CONDITIONS("{'type':'B','status':'2'}"), CONDITIONS(A ",{'type':'B','status':'2'}") },
	{ "what is new comes first", "Node", CONDITIONS(A), CONDITIONS(B), CONDITIONS(B "," A) },
	{ "in the patch's order", "Node", CONDITIONS(A "," B),
	  CONDITIONS("{'type':'B','x':1},{'type':'A','x':1}"),
	  CONDITIONS("{'type':'B','status':'1','x':1},{'type':'A','status':'1','x':1}") },
	{ "others keep their place", "Node", CONDITIONS(A "," B "," C), CONDITIONS("{'type':'C','x':1}"),
	  CONDITIONS(A "," B ",{'type':'C','status':'1','x':1}") },
	{ "one is deleted", "Node", CONDITIONS(A "," B), CONDITIONS("{'type':'A','$patch':'delete'}"), CONDITIONS(B) },
	{ "all are replaced", "Node", CONDITIONS(A "," B), CONDITIONS(C ",{'$patch':'replace'}"), CONDITIONS(C) },
	{ "an order is set", "Node", CONDITIONS(A "," B),
	  "{'status':{'$setElementOrder/conditions':[{'type':'B'},{'type':'A'}]}}", CONDITIONS(B "," A) },
	{ "an order with a change", "Node", CONDITIONS(A "," B),
	  "{'status':{'$setElementOrder/conditions':[{'type':'B'},{'type':'A'}],'conditions':[{"
	  "'type':'A','status':'2'}]}}", CONDITIONS(B ",{'type':'A','status':'2'}") },
	{ "an order of a list that is new", "Node", "{'status':{}}",
	  "{'status':{'$setElementOrder/conditions':[{'type':'B'},{'type':'A'}],'conditions':[" A "," B "]}}",
	  CONDITIONS(B "," A) },
	{ "an order of nothing", "Node", "{'status':{}}",
	  "{'status':{'$setElementOrder/conditions':[{'type':'B'}]}}", "{'status':{}}" },
	{ "values are added once", "Node", "{'metadata':{'finalizers':['a','b']}}",
	  "{'metadata':{'finalizers':['c','b']}}", "{'metadata':{'finalizers':['c','a','b']}}" },
	{ "values are taken out", "Node", "{'metadata':{'finalizers':['a','b']}}",
	  "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}}", "{'metadata':{'finalizers':['b']}}" },
	{ "values are taken out and put in order", "Node", "{'metadata':{'finalizers':['a','b','c']}}",
	  "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a'],'$setElementOrder/finalizers':['c',"
	  "'b']}}", "{'metadata':{'finalizers':['c','b']}}" },
	{ "an object is replaced", "Node", "{'spec':{'podCIDR':'a','providerID':'p'}}",
	  "{'spec':{'$patch':'replace','podCIDR':'b'}}", "{'spec':{'podCIDR':'b'}}" },
	{ "an object is emptied", "Node", "{'spec':{'podCIDR':'a'}}", "{'spec':{'$patch':'delete'}}", "{'spec':{}}" },
	{ "keys are retained", "Pod", "{'spec':{'volumes':[{'name':'v','emptyDir':{},'x':1}]}}",
	  "{'spec':{'volumes':[{'$retainKeys':['name','hostPath'],'name':'v','hostPath':{'path':'/'}}]}}",
	  "{'spec':{'volumes':[{'name':'v','hostPath':{'path':'/'}}]}}" },
	{ "deep inside", "Pod", "{'spec':{'containers':[{'name':'c','env':[{'name':'A','value':'1'},{"
	  "'name':'B','value':'2'}]}]}}",
	  "{'spec':{'containers':[{'name':'c','env':[{'name':'B','value':'3'}]}]}}",
	  "{'spec':{'containers':[{'name':'c','env':[{'name':'A','value':'1'},{'name':'B',"
	  "'value':'3'}]}]}}" },
	{ "directives of what is new are left out", "Pod", "{'spec':{}}",
	  "{'spec':{'volumes':[{'$retainKeys':['name'],'name':'v','x':null},{'name':'w',"
	  "'$patch':'delete'}]}}", "{'spec':{'volumes':[{'name':'v'}]}}" },
	{ "no merge key", "Node", CONDITIONS(A), CONDITIONS("{'status':'2'}"),
	  "!500 map: map[status:2] does not contain declared merge key: type" },
	{ "no such directive", "Node", "{'status':{}}", "{'status':{'$patch':'foo'}}",
	  "!500 unknown patch type: foo in map: map[$patch:foo]" },
	{ "keys to retain that are no list", "Node", "{'status':{}}", "{'status':{'$retainKeys':'foo'}}",
	  "!400 invalid patch format of retainKeys" },
	{ "an order that is no list", "Node", "{'status':{}}", "{'status':{'$setElementOrder/conditions':1}}",
	  "!400 invalid patch format of setElementOrder list" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	json_t *target = J(r->target), *patch = J(r->patch), *status = NULL;
	json_t *have = sim_strategic_merge(sim_schema_of(builtin("", r->kind)), target, patch, &status);

	if (r->want[0] == '!') {
		char text[256];

		assert_null(have);
		snprintf(text, sizeof(text), "!%lld %s", json_integer_value(json_object_get(status, "code")),
		    json_string_value(json_object_get(status, "message")));
		assert_string_equal(text, r->want);
		json_decref(status);
	} else {
		assert_null(status);
		assert_json(have, r->want);
	}
	assert_json(target, r->target);
	assert_json(patch, r->patch);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
		    (void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests_name("sim strategic", tests, NULL, NULL);
}
