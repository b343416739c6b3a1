/*
 * tests/unit/test_sim_schema.c - what the server makes of an object it is sent, and what it finds
 * wrong with it. The texts are kube-apiserver 1.35's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_values.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"

#define NODE_IS		"Node in version \"v1\" cannot be handled as a Node: "
#define GADGET_IS	"Gadget in version \"v1\" cannot be handled as a Gadget: "
#define GADGET(spec)	"{'apiVersion':'test.muster.dev/v1','kind':'Gadget','metadata':{'name':'g'}," \
	"'spec':" spec "}"

/* kind NULL: a gadget. want: the member `of` of what is kept, or the refusal (starts with '!'). */
static const struct decoded {
	const char	*name, *kind, *validation, *sent, *of, *want, *warnings;
} decoded[] = {
	{ "unknown fields go", NULL, "", GADGET("{'size':1,'foo':1,'nested':{'zz':1}}"), "spec",
	  "{'size':1,'color':'red','nested':{'a':7}}",
	  "['unknown field \\\"spec.foo\\\"','unknown field \\\"spec.nested.zz\\\"']" },
	{ "silently", NULL, "Ignore", GADGET("{'size':1,'foo':1}"), "spec", "{'size':1,'color':'red','nested':{'a':7}}", "[]" },
	{ "or are refused", NULL, "Strict",
	  "{'apiVersion':'test.muster.dev/v1','kind':'Gadget','metadata':{'name':'g','zork':1},'spec':{"
	  "'size':1,'foo':1}}", "", "!" GADGET_IS
	  "strict decoding error: unknown field \"metadata.zork\", unknown field \"spec.foo\"", "[]" },
	{ "unknown items", NULL, "", GADGET("{'size':1,'rules':[{'id':'a'},{'id':'b','z':1}]}"), "spec.rules",
	  "[{'id':'a','on':true},{'id':'b','on':true}]", "['unknown field \\\"spec.rules[1].z\\\"']" },
	{ "free fields stay", NULL, "Strict", GADGET("{'size':1,'free':{'x':{'y':[{'z':null}]}}}"),
	  "spec.free", "{'x':{'y':[{'z':null}]}}", "[]" },
	{ "nulls that mean nothing go", NULL, "", GADGET("{'size':1,'name':null,'tags':null}"), "spec",
	  "{'size':1,'color':'red','nested':{'a':7}}", "[]" },
	{ "a null has its default", NULL, "", GADGET("{'size':1,'color':null,'nested':null}"), "spec",
	  "{'size':1,'color':'red','nested':{'a':7}}", "[]" },
	{ "a null that may be stays", NULL, "", GADGET("{'size':1,'note':null}"), "spec.note", "null", "[]" },
	{ "a value of the wrong type stays, to be refused later", NULL, "", GADGET("{'size':'x'}"), "spec.size", "'x'", "[]" },
	{ "defaults do not go over values", NULL, "",
	  GADGET("{'size':1,'color':'green','nested':{'a':1}}"), "spec",
	  "{'size':1,'color':'green','nested':{'a':1}}", "[]" },
	{ "metadata is read strictly", NULL, "",
	  "{'apiVersion':'test.muster.dev/v1','kind':'Gadget','metadata':{'labels':{'a':1}}}", "",
	  "!" GADGET_IS "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type "
	  "string", "[]" },
	{ "no kind", NULL, "", "{'apiVersion':'test.muster.dev/v1'}", "",
	  "!the object provided is unrecognized (must be of type Gadget): Object 'Kind' is missing in "
	  "'{\"apiVersion\":\"test.muster.dev/v1\"}' ({\"apiVersion\":\"test.muster.dev ...)", "[]" },
	{ "another version", NULL, "", "{'apiVersion':'test.muster.dev/v9','kind':'Gadget'}", "",
	  "!the API version in the data (test.muster.dev/v9) does not match the expected API version "
	  "(test.muster.dev/v1)", "[]" },
	{ "a built-in kind need not name itself", "Node", "", "{'metadata':{'name':'n'}}", "kind", "'Node'", "[]" },
	{ "zeroes are dropped, as Go drops them", "Node", "",
	  "{'metadata':{'labels':{},'annotations':{'a':''}},'spec':{'unschedulable':false,'podCIDR':'',"
	  "'taints':[]}}", "spec", "{}", "[]" },
	{ "but not where Go keeps them", "Lease", "",
	  "{'spec':{'leaseTransitions':0,'holderIdentity':''}}", "spec",
	  "{'leaseTransitions':0,'holderIdentity':''}", "[]" },
	{ "what Go always prints is there", "Node", "", "{'status':{'conditions':[{'type':'Ready'}]}}",
	  "status.conditions", "[{'type':'Ready','status':'','lastHeartbeatTime':null,"
	  "'lastTransitionTime':null}]", "[]" },
	{ "quantities have one form", "Node", "",
	  "{'status':{'capacity':{'cpu':'4000m','memory':'16384Mi','pods':110}}}", "status.capacity",
	  "{'cpu':'4','memory':'16Gi','pods':'110'}", "[]" },
	{ "times have one form", "Lease", "", "{'spec':{'renewTime':'2026-01-01T00:00:00.123456+02:00'}}",
	  "spec.renewTime", "'2025-12-31T22:00:00.123456Z'", "[]" },
	{ "a time of seconds", "Node", "",
	  "{'status':{'conditions':[{'type':'R','lastHeartbeatTime':'2026-01-01T00:00:00.9Z'}]}}",
	  "status.conditions", "[{'type':'R','status':'','lastHeartbeatTime':'2026-01-01T00:00:00Z',"
	  "'lastTransitionTime':null}]", "[]" },
	{ "a Pod's defaults", "Pod", "",
	  "{'spec':{'containers':[{'name':'c','image':'a/b:v1','ports':[{'containerPort':80}]}]}}",
	  "spec", "{'containers':[{'name':'c','image':'a/b:v1','imagePullPolicy':'IfNotPresent',"
	  "'resources':{},'terminationMessagePath':'/dev/termination-log',"
	  "'terminationMessagePolicy':'File','ports':[{'containerPort':80,'protocol':'TCP'}]}],"
	  "'dnsPolicy':'ClusterFirst','enableServiceLinks':true,'restartPolicy':'Always',"
	  "'schedulerName':'default-scheduler','securityContext':{},'terminationGracePeriodSeconds':30}",
	  "[]" },
	{ "a Secret's texts", "Secret", "", "{'data':{'a':'Yg=='},'stringData':{'c':'d'}}", "data", "{'a':'Yg==','c':'ZA=='}", "[]" },
	{ "a Namespace's label", "Namespace", "", "{'metadata':{'name':'n'}}", "metadata.labels",
	  "{'kubernetes.io/metadata.name':'n'}", "[]" },
	{ "an unknown field of a built-in kind", "Node", "", "{'spec':{'zork':1}}", "spec", "{}", "['unknown field \\\"spec.zork\\\"']" },
	{ "refused", "Node", "Strict", "{'spec':{'zork':1,'taints':[{'key':'a','foo':1}]}}", "",
	  "!" NODE_IS "strict decoding error: unknown field \"spec.zork\", unknown field "
	  "\"spec.taints[0].foo\"", "[]" },
	{ "a text for a boolean", "Node", "", "{'spec':{'unschedulable':'yes'}}", "",
	  "!" NODE_IS "json: cannot unmarshal string into Go struct field NodeSpec.spec.unschedulable of "
	  "type bool", "[]" },
	{ "a number in a list", "Node", "", "{'spec':{'taints':[{'key':1}]}}", "",
	  "!" NODE_IS "json: cannot unmarshal number into Go struct field Taint.spec.taints.key of type "
	  "string", "[]" },
	{ "a number in a map", "Node", "", "{'metadata':{'labels':{'a':1}}}", "",
	  "!" NODE_IS "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of "
	  "type string", "[]" },
	{ "a text for a list", "Node", "", "{'spec':{'taints':'x'}}", "",
	  "!" NODE_IS "json: cannot unmarshal string into Go struct field NodeSpec.spec.taints of type "
	  "[]v1.Taint", "[]" },
	{ "a text for an object", "Node", "", "{'spec':'x'}", "",
	  "!" NODE_IS "json: cannot unmarshal string into Go struct field Node.spec of type v1.NodeSpec",
	  "[]" },
	{ "a number that does not fit", "Lease", "", "{'spec':{'leaseTransitions':3000000000}}", "",
	  "!Lease in version \"v1\" cannot be handled as a Lease: json: cannot unmarshal number "
	  "3000000000 into Go struct field LeaseSpec.spec.leaseTransitions of type int32", "[]" },
	{ "no quantity", "Node", "", "{'status':{'capacity':{'cpu':'x'}}}", "",
	  "!" NODE_IS "quantities must match the regular expression "
	  "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'", "[]" },
	{ "no time", "Node", "", "{'status':{'conditions':[{'lastHeartbeatTime':'x'}]}}", "",
	  "!" NODE_IS "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as "
	  "\"2006\"", "[]" },
	{ "a MicroTime has six decimals", "Lease", "", "{'spec':{'renewTime':'2026-01-01T00:00:00Z'}}", "",
	  "!Lease in version \"v1\" cannot be handled as a Lease: parsing time \"2026-01-01T00:00:00Z\" as "
	  "\"2006-01-02T15:04:05.000000Z07:00\": cannot parse \"Z\" as \".000000\"", "[]" },
	{ "no base64", "Secret", "", "{'data':{'a':'!'}}", "",
	  "!Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data at input byte 0",
	  "[]" },
	{ "another built-in kind", "Node", "", "{'apiVersion':'v1','kind':'Pod'}", "",
	  "!Pod in version \"v1\" cannot be handled as a Node: converting (v1.Pod) to (core.Node): "
	  "unknown conversion", "[]" },
	{ "an unknown kind", "Node", "", "{'apiVersion':'v1','kind':'Foo'}", "",
	  "!Foo in version \"v1\" cannot be handled as a Node: no kind \"Foo\" is registered for version "
	  "\"v1\" in scheme \"pkg/runtime/scheme.go:111\"", "[]" },
	{ "no such version", "Node", "", "{'apiVersion':'v2','kind':'Node'}", "",
	  "!Node in version \"v2\" cannot be handled as a Node: no kind \"Node\" is registered for "
	  "version \"v2\" in scheme \"pkg/runtime/scheme.go:111\"", "[]" },
};

/* What is wrong with {'spec': spec}: "field: message", one to a line. */
static const struct checked {
	const char	*name, *spec, *old, *errors;
} checked[] = {
	{ "nothing", "{'size':1,'name':'a1','port':'80%','tags':['a','b'],'plain':['x'],'when':'2026-01-01T00:00:00Z'}", NULL, "" },
	{ "type", "{'size':'x'}", NULL,
	  "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \"string\"\n" },
	{ "a whole real is an integer", "{'size':2.0}", NULL, "" },
	{ "another is not", "{'size':2.5}", NULL,
	  "spec.size: Invalid value: \"number\": spec.size in body must be of type integer: \"number\"\n" },
	{ "null", "{'size':1,'plain':null}", NULL,
	  "spec.plain: Invalid value: \"null\": spec.plain in body must be of type array: \"null\"\n" },
	{ "neither int nor text", "{'size':1,'port':1.5}", NULL,
	  "spec.port: Invalid value: \"number\": spec.port in body must be of type integer,string: "
	  "\"number\"\n" },
	{ "minimum", "{'size':0}", NULL, "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1\n" },
	{ "maximum", "{'size':101}", NULL, "spec.size: Invalid value: 101: spec.size in body should be less than or equal to 100\n" },
	{ "exclusive minimum", "{'size':1,'rules':[{'id':'a','weight':0}]}", NULL,
	  "spec.rules[0].weight: Invalid value: 0: spec.rules[0].weight in body should be greater than 0\n" },
	{ "multiple", "{'size':1,'nested':{'b':3}}", NULL,
	  "spec.nested.b: Invalid value: 3: spec.nested.b in body should be a multiple of 5\n" },
	{ "enum", "{'size':1,'color':'blue'}", NULL,
	  "spec.color: Unsupported value: \"blue\": supported values: \"red\", \"green\"\n" },
	{ "required", "{}", NULL, "spec.size: Required value\n" },
	{ "required in a list", "{'size':1,'rules':[{}]}", NULL, "spec.rules[0].id: Required value\n" },
	{ "too short", "{'size':1,'name':'A'}", NULL,
	  "spec.name: Invalid value: \"A\": spec.name in body should be at least 2 chars long\n" },
	{ "too long", "{'size':1,'name':'ABCDEFGHI'}", NULL, "spec.name: Too long: may not be more than 8 bytes\n" },
	{ "pattern", "{'size':1,'name':'A1'}", NULL,
	  "spec.name: Invalid value: \"A1\": spec.name in body should match '^[a-z\\d]+$'\n" },
	{ "format", "{'size':1,'when':'yesterday'}", NULL,
	  "spec.when: Invalid value: \"yesterday\": spec.when in body must be of type date-time: "
	  "\"yesterday\"\n" },
	{ "too many items", "{'size':1,'plain':['a','b','c','d']}", NULL, "spec.plain: Too many: 4: must have at most 3 items\n" },
	{ "too few items", "{'size':1,'plain':[]}", NULL,
	  "spec.plain: Invalid value: 0: spec.plain in body should have at least 1 items\n" },
	{ "too many members", "{'size':1,'labels':{'a':'','b':'','c':'','d':''}}", NULL,
	  "spec.labels: Too many: 4: must have at most 3 items\n" },
	{ "a value twice", "{'size':1,'tags':['a','b','a']}", NULL, "spec.tags[2]: Duplicate value: \"a\"\n" },
	{ "a key twice", "{'size':1,'rules':[{'id':'a'},{'id':'a','on':false}]}", NULL,
	  "spec.rules[1]: Duplicate value: {\"id\":\"a\"}\n" },
	{ "one of none", "{'size':1,'one':{}}", NULL,
	  "<nil>: Invalid value: \"\": \"spec.one\" must validate one and only one schema (oneOf). Found "
	  "none valid\nspec.one.a: Required value\n" },
	{ "one of two", "{'size':1,'one':{'a':1,'b':1}}", NULL,
	  "<nil>: Invalid value: \"\": \"spec.one\" must validate one and only one schema (oneOf). Found "
	  "2 valid alternatives\n" },
	{ "several", "{'size':0,'color':'blue'}", NULL,
	  "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1\n"
	  "spec.color: Unsupported value: \"blue\": supported values: \"red\", \"green\"\n" },
	{ "what did not change is let through", "{'size':0,'color':'red'}", "{'size':0,'color':'green'}", "" },
	{ "what changed is not", "{'size':0,'color':'blue'}", "{'size':0,'color':'black'}",
	  "spec.color: Unsupported value: \"blue\": supported values: \"red\", \"green\"\n" },
	{ "an item is known by its key", "{'size':1,'rules':[{'id':'b'},{'id':'a','weight':0}]}",
	  "{'size':1,'rules':[{'id':'a','weight':0}]}", "" },
	{ "an item of a plain list is not", "{'size':1,'plain':['x',1]}", "{'size':1,'plain':[1]}",
	  "spec.plain[1]: Invalid value: \"integer\": spec.plain[1] in body must be of type string: "
	  "\"integer\"\n" },
};

static void
check_decoded(void **state)
{
	const struct decoded *r = *state;
	struct sim_write_params a = params_of(r->kind == NULL ? gadgets()
	    : builtin(strcmp(r->kind, "Lease") == 0 ? "coordination.k8s.io" : "", r->kind), "x");
	json_t *sent = J(r->sent), *status = NULL;

	a.field_validation = r->validation;
	a.warnings = json_array();
	json_t *object = sim_schema_decode(&a, sent, NULL, false, &status);

	if (r->want[0] == '!') {
		assert_null(object);
		assert_string_equal(sim_json_text(status, "message"), r->want + 1);
		assert_int_equal(json_integer_value(json_object_get(status, "code")), 400);
	} else {
		if (object == NULL)
			fail_msg("%s", sim_json_text(status, "message"));
		assert_json(json_incref(sim_json_at(object, r->of)), r->want);
	}
	assert_json(a.warnings, r->warnings);
	assert_json(sent, r->sent);
	json_decref(object);
	json_decref(status);
}

static void
check_checked(void **state)
{
	const struct checked *r = *state;
	json_t *object = json_pack("{s:o}", "spec", J(r->spec)), *old = r->old == NULL ? NULL
	    : json_pack("{s:o}", "spec", J(r->old));
	json_t *errors = json_array(), *cause;
	char text[2048] = "";
	size_t i;

	sim_schema_check(errors, gadgets(), object, old, false);
	json_array_foreach(errors, i, cause)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s: %s\n",
		    sim_json_text(cause, "field"), sim_json_text(cause, "message"));
	assert_string_equal(text, r->errors);
	json_decref(errors);
	json_decref(object);
	json_decref(old);
}

/* The words of a flaw begin at the status, the field does not. */
static void
a_status_is_judged_alone(void **state)
{
	json_t *object = J("{'spec':{'size':0},'status':{'phase':3}}"), *errors = json_array();

	(void)state;
	sim_schema_check(errors, gadgets(), object, NULL, true);
	assert_json(errors, "[{'reason':'FieldValueTypeInvalid','message':'Invalid value: "
	    "\\\"integer\\\": phase in body must be of type string: \\\"integer\\\"',"
	    "'field':'status.phase'}]");
	json_decref(object);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(decoded) + NITEMS(checked) + 1];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(decoded); i++)
		tests[n++] = (struct CMUnitTest){ decoded[i].name, check_decoded, NULL, NULL,
		    (void *)(uintptr_t)&decoded[i] };
	for (size_t i = 0; i < NITEMS(checked); i++)
		tests[n++] = (struct CMUnitTest){ checked[i].name, check_checked, NULL, NULL,
		    (void *)(uintptr_t)&checked[i] };
	tests[n] = (struct CMUnitTest)cmocka_unit_test(a_status_is_judged_alone);
	return cmocka_run_group_tests_name("sim schema", tests, NULL, NULL);
}
