/*
 * tests/unit/test_sim_semantics.c - create, update, patch: what the server sets and what it
 * refuses, with the texts of kube-apiserver 1.35 (tests/real/test_sim_semantics.py asks it the same).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_values.h"
#include "sim/base/sim_json.h"

#define HEAD		"'apiVersion':'test.muster.dev/v1','kind':'Gadget'"
#define GADGET(meta, spec)	"{" HEAD ",'metadata':{" meta "},'spec':" spec "}"
#define OLD_META	"'name':'g','namespace':'default','uid':'u','resourceVersion':'7','generation':3," \
	"'creationTimestamp':'" NOW "'"
#define OLD		GADGET(OLD_META, "{'size':3,'color':'red','nested':{'a':7}}")
#define OLD_WITH(more)	GADGET(OLD_META "," more, "{'size':3,'color':'red','nested':{'a':7}}")
#define IS_INVALID	"Gadget.test.muster.dev \"g\" is invalid: "
#define SUBDOMAIN	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric " \
	"characters, '-' or '.', and must start and end with an alphanumeric character (e.g. " \
	"'example.com', regex used for validation is " \
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define KEY_NAME	"must consist of alphanumeric characters, '-', '_' or '.', and must start and " \
	"end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used " \
	"for validation is " \
	"'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

enum verb { POST, PUT, MERGE, JSON, PUT_STATUS, MERGE_STATUS };

/* kind NULL: a gadget "g". want: the member `of` of the result, or "!CODE REASON: MESSAGE". */
static const struct row {
	const char	*name, *group, *kind;
	enum verb	 verb;
	const char	*old, *body, *of, *want;
} rows[] = {
	{ "a new object has what the server gives it", "", NULL, POST, NULL,
	  GADGET("'name':'g','uid':'mine','generation':9,'creationTimestamp':'2020-01-01T00:00:00Z',"
	  "'deletionTimestamp':'2020-01-01T00:00:00Z','selfLink':'x'", "{'size':1}"), "metadata",
	  "{'name':'g','namespace':'default','uid':'uid-1','generation':1,'creationTimestamp':'" NOW
	  "','managedFields':[{'apiVersion':'test.muster.dev/v1','fieldsType':'FieldsV1','fieldsV1':{"
	  "'f:spec':{'.':{},'f:color':{},'f:nested':{'.':{},'f:a':{}},'f:size':{}}},'manager':'tester',"
	  "'operation':'Update','time':'" NOW "'}]}" },
	{ "a name is made", "", NULL, POST, NULL, GADGET("'generateName':'w-'", "{'size':1}"), "metadata.name", "'w-abcde'" },
	{ "a status is not taken", "", NULL, POST, NULL,
	  "{" HEAD ",'metadata':{'name':'g'},'spec':{'size':1},'status':{'phase':'x'}}", "status", NULL },
	{ "but a Node's is", "", "Node", POST, NULL,
	  "{'metadata':{'name':'g'},'status':{'phase':'Running'}}", "status.phase", "'Running'" },
	{ "a new Node is not ready", "", "Node", POST, NULL, "{'metadata':{'name':'g'}}", "spec.taints",
	  "[{'key':'node.kubernetes.io/not-ready','effect':'NoSchedule'}]" },
	{ "a new Pod waits", "", "Pod", POST, NULL,
	  "{'metadata':{'name':'g'},'spec':{'containers':[{'name':'c','image':'i','resources':{'limits':{"
	  "'cpu':'1','memory':'1'}}}]},'status':{'phase':'Running'}}", "status",
	  "{'phase':'Pending','qosClass':'Guaranteed'}" },
	{ "a new Namespace is active", "", "Namespace", POST, NULL, "{'metadata':{'name':'g'}}", "spec", "{'finalizers':['kubernetes']}" },
	{ "what owns nothing is not tracked", "", "Node", POST, NULL, "{'metadata':{'name':'g'}}", "metadata.managedFields", NULL },
	{ "no name", "", NULL, POST, NULL, GADGET("", "{'size':1}"), "",
	  "!422 Invalid: Gadget.test.muster.dev \"\" is invalid: metadata.name: Required value: name or "
	  "generateName is required" },
	{ "a malformed name", "", NULL, POST, NULL, GADGET("'name':'G_1'", "{'size':1}"), "",
	  "!422 Invalid: Gadget.test.muster.dev \"G_1\" is invalid: metadata.name: Invalid value: "
	  "\"G_1\": " SUBDOMAIN },
	{ "a name with dots", "", "Namespace", POST, NULL, "{'metadata':{'name':'a.b'}}", "",
	  "!422 Invalid: Namespace \"a.b\" is invalid: metadata.name: Invalid value: \"a.b\": must not "
	  "contain dots" },
	{ "a malformed label", "", NULL, POST, NULL, GADGET("'name':'g','labels':{'a b':'1'}",
	  "{'size':1}"), "", "!422 Invalid: " IS_INVALID
	  "metadata.labels: Invalid value: \"a b\": name part " KEY_NAME },
	{ "a malformed annotation", "", NULL, POST, NULL, GADGET("'name':'g','annotations':{'A/B/c':'1'}",
	  "{'size':1}"), "", "!422 Invalid: " IS_INVALID
	  "metadata.annotations: Invalid value: \"A/B/c\": a valid label key " KEY_NAME
	  " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')" },
	{ "an annotation in capitals", "", NULL, POST, NULL,
	  GADGET("'name':'g','annotations':{'A.B/C':'1'}", "{'size':1}"), "metadata.annotations",
	  "{'A.B/C':'1'}" },
	{ "two controllers", "", NULL, POST, NULL, GADGET("'name':'g','ownerReferences':["
	  "{'apiVersion':'v1','kind':'A','name':'a','uid':'1','controller':true},"
	  "{'apiVersion':'v1','kind':'B','name':'b','uid':'2','controller':true}]", "{'size':1}"), "",
	  "!422 Invalid: " IS_INVALID "metadata.ownerReferences: Invalid value: "
	  "[{\"apiVersion\":\"v1\",\"kind\":\"A\",\"name\":\"a\",\"uid\":\"1\",\"controller\":true},"
	  "{\"apiVersion\":\"v1\",\"kind\":\"B\",\"name\":\"b\",\"uid\":\"2\",\"controller\":true}]: "
	  "Only one reference can have Controller set to true. Found \"true\" in references for A/a "
	  "and B/b" },
	{ "another namespace", "", NULL, POST, NULL, GADGET("'name':'g','namespace':'other'",
	  "{'size':1}"), "", "!400 BadRequest: the namespace of the provided object does not match the "
	  "namespace sent on the request" },
	{ "a version at birth", "", NULL, POST, NULL, GADGET("'name':'g','resourceVersion':'1'",
	  "{'size':1}"), "", "!500 : resourceVersion should not be set on objects to be created" },
	{ "another kind", "", NULL, POST, NULL,
	  "{'apiVersion':'test.muster.dev/v1','kind':'Foo','metadata':{'name':'g'}}", "",
	  "!422 Invalid: Foo.test.muster.dev \"g\" is invalid: kind: Invalid value: \"Foo\": must be "
	  "Gadget" },
	{ "no version", "", NULL, PUT, OLD, GADGET("'name':'g'", "{'size':4}"), "",
	  "!422 Invalid: gadgets.test.muster.dev \"g\" is invalid: metadata.resourceVersion: Invalid "
	  "value: 0: must be specified for an update" },
	{ "a Node needs none", "", "Node", PUT,
	  "{'apiVersion':'v1','kind':'Node','metadata':{'name':'g','uid':'u','resourceVersion':'7',"
	  "'creationTimestamp':'" NOW "'}}", "{'metadata':{'name':'g'},'spec':{'unschedulable':true}}",
	  "spec", "{'unschedulable':true}" },
	{ "an old version", "", NULL, PUT, OLD, GADGET("'name':'g','resourceVersion':'6'", "{'size':4}"), "",
	  "!409 Conflict: Operation cannot be fulfilled on gadgets.test.muster.dev \"g\": the object has "
	  "been modified; please apply your changes to the latest version and try again" },
	{ "another uid", "", NULL, PUT, OLD, GADGET("'name':'g','resourceVersion':'7','uid':'x'",
	  "{'size':4}"), "", "!409 Conflict: Operation cannot be fulfilled on gadgets.test.muster.dev "
	  "\"g\": StorageError: invalid object, Code: 4, Key: "
	  "/registry/test.muster.dev/gadgets/default/g, ResourceVersion: 0, AdditionalErrorMsg: "
	  "Precondition failed: UID in precondition: x, UID in object meta: u" },
	{ "another name than the URL's", "", NULL, PUT, OLD, GADGET("'name':'z','resourceVersion':'7'",
	  "{'size':4}"), "", "!400 BadRequest: the name of the object (z) does not match the name on the "
	  "URL (g)" },
	{ "no name in the object", "", NULL, PUT, OLD, GADGET("'resourceVersion':'7'", "{'size':4}"), "",
	  "!400 BadRequest: the name of the object (g based on URL) was undeterminable: name must be "
	  "provided" },
	{ "nothing there", "", NULL, PUT, NULL, GADGET("'name':'g'", "{'size':4}"), "",
	  "!404 NotFound: gadgets.test.muster.dev \"g\" not found" },
	{ "a Lease is made by a PUT", "coordination.k8s.io", "Lease", PUT, NULL,
	  "{'metadata':{'name':'g','resourceVersion':'5'}}", "metadata.uid", "'uid-1'" },
	{ "the spec counts", "", NULL, MERGE, OLD, "{'spec':{'size':4}}", "metadata.generation", "4" },
	{ "labels do not", "", NULL, MERGE, OLD, "{'metadata':{'labels':{'a':'b'}}}", "metadata.generation", "3" },
	{ "nobody sets it", "", NULL, MERGE, OLD, "{'metadata':{'generation':50}}", "metadata.generation", "3" },
	{ "nor the birthday", "", NULL, MERGE, OLD, "{'metadata':{'creationTimestamp':null}}",
	  "metadata.creationTimestamp", "'" NOW "'" },
	{ "a status by the main door is left alone", "", NULL, MERGE, OLD, "{'status':{'phase':'x'}}", "status", NULL },
	{ "a spec by the status door too", "", NULL, MERGE_STATUS, OLD, "{'spec':{'size':9},'status':{'phase':'x'}}", "spec.size", "3" },
	{ "labels too", "", NULL, MERGE_STATUS, OLD,
	  "{'metadata':{'labels':{'a':'b'}},'status':{'phase':'x'}}", "metadata.labels", NULL },
	{ "but not a Node's", "", "Node", MERGE_STATUS,
	  "{'apiVersion':'v1','kind':'Node','metadata':{'name':'g','uid':'u','resourceVersion':'7',"
	  "'creationTimestamp':'" NOW "'}}", "{'metadata':{'labels':{'a':'b'}}}", "metadata.labels",
	  "{'a':'b'}" },
	{ "a status does not count", "", NULL, MERGE_STATUS, OLD, "{'status':{'phase':'x'}}", "metadata.generation", "3" },
	{ "a status without its status", "", NULL, PUT_STATUS, OLD,
	  GADGET("'name':'g','resourceVersion':'7'", "{'size':9}"), "spec.size", "3" },
	{ "a uid cannot change", "", NULL, MERGE, OLD, "{'metadata':{'uid':'x'}}", "",
	  "!422 Invalid: " IS_INVALID "metadata.uid: Invalid value: \"x\": field is immutable" },
	{ "nor can a deletion begin so", "", NULL, MERGE, OLD,
	  "{'metadata':{'deletionTimestamp':'2020-01-01T00:00:00Z'}}", "", "!422 Invalid: " IS_INVALID
	  "metadata.deletionTimestamp: Invalid value: \"2020-01-01T00:00:00Z\": field is immutable" },
	{ "nor end", "", NULL, MERGE, OLD_WITH("'deletionTimestamp':'" NOW "','finalizers':['a.b/c']"),
	  "{'metadata':{'deletionTimestamp':null}}", "metadata.deletionTimestamp", "'" NOW "'" },
	{ "no new finalizer then", "", NULL, MERGE,
	  OLD_WITH("'deletionTimestamp':'" NOW "','finalizers':['a.b/c']"),
	  "{'metadata':{'finalizers':['z.b/c','a.b/c','d.e/f']}}", "", "!422 Invalid: " IS_INVALID
	  "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
	  "deleted, found new finalizers []string{\"d.e/f\", \"z.b/c\"}" },
	{ "one less is fine", "", NULL, MERGE,
	  OLD_WITH("'deletionTimestamp':'" NOW "','finalizers':['a.b/c','d.e/f']"),
	  "{'metadata':{'finalizers':['d.e/f']}}", "metadata.finalizers", "['d.e/f']" },
	{ "a patch with a version", "", NULL, MERGE, OLD, "{'metadata':{'resourceVersion':'6'}}", "",
	  "!409 Conflict: Operation cannot be fulfilled on gadgets.test.muster.dev \"g\": the object has "
	  "been modified; please apply your changes to the latest version and try again" },
	{ "a patch of nothing", "", NULL, MERGE, NULL, "{}", "", "!404 NotFound: gadgets.test.muster.dev \"g\" not found" },
	{ "a list as merge patch", "", NULL, MERGE, OLD, "[]", "",
	  "!400 BadRequest: error decoding patch: json: cannot unmarshal array into Go value of type "
	  "map[string]interface {}" },
	{ "an object as JSON patch", "", NULL, JSON, OLD, "{}", "",
	  "!400 BadRequest: error decoding patch: json: cannot unmarshal object into Go value of type "
	  "[]handlers.jsonPatchOp" },
	{ "a JSON patch", "", NULL, JSON, OLD,
	  "[{'op':'test','path':'/spec/size','value':3},{'op':'replace','path':'/spec/size','value':4}]",
	  "spec.size", "4" },
	{ "a test that fails", "", NULL, JSON, OLD, "[{'op':'test','path':'/spec/size','value':1}]", "",
	  "!422 Invalid: the server rejected our request due to an error in our request" },
	{ "a required field goes", "", NULL, MERGE, OLD, "{'spec':{'size':null}}", "",
	  "!422 Invalid: " IS_INVALID "spec.size: Required value" },
	{ "a providerID is set once", "", "Node", MERGE,
	  "{'apiVersion':'v1','kind':'Node','metadata':{'name':'g','uid':'u','resourceVersion':'7',"
	  "'creationTimestamp':'" NOW "'},'spec':{'providerID':'a'}}", "{'spec':{'providerID':'b'}}", "",
	  "!422 Invalid: Node \"g\" is invalid: spec.providerID: Forbidden: node updates may not change "
	  "providerID except from \"\" to valid" },
	{ "an effect that no taint has", "", "Node", POST, NULL,
	  "{'metadata':{'name':'g'},'spec':{'taints':[{'key':'a','effect':'x'}]}}", "",
	  "!422 Invalid: Node \"g\" is invalid: metadata.taints[0].effect: Unsupported value: \"x\": "
	  "supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"" },
	{ "a Pod without containers", "", "Pod", POST, NULL, "{'metadata':{'name':'g'},'spec':{}}", "",
	  "!422 Invalid: Pod \"g\" is invalid: spec.containers: Required value" },
	{ "a Lease's numbers", "coordination.k8s.io", "Lease", POST, NULL,
	  "{'metadata':{'name':'g'},'spec':{'leaseDurationSeconds':0}}", "",
	  "!422 Invalid: Lease.coordination.k8s.io \"g\" is invalid: spec.leaseDurationSeconds: Invalid "
	  "value: 0: must be greater than 0" },
	{ "an Event needs its time and type", "events.k8s.io", "Event", POST, NULL,
	  "{'metadata':{'name':'g'}}", "",
	  "!422 Invalid: Event \"g\" is invalid: [eventTime: Required value, type: Invalid value: \"\": "
	  "has invalid value: ]" },
	{ "an Event with a time needs more", "events.k8s.io", "Event", POST, NULL,
	  "{'metadata':{'name':'g'},'eventTime':'2026-01-01T00:00:00.000000Z','type':'Normal',"
	  "'reportingController':'a.b/c'}", "",
	  "!422 Invalid: Event \"g\" is invalid: [reportingInstance: Required value, action: Required "
	  "value, reason: Required value]" },
	{ "a short series", "events.k8s.io", "Event", MERGE,
	  "{'apiVersion':'events.k8s.io/v1','kind':'Event','metadata':{'name':'g','namespace':'default',"
	  "'uid':'u','resourceVersion':'7','creationTimestamp':'" NOW "'}}", "{'series':{'count':1}}", "",
	  "!422 Invalid: Event \"g\" is invalid: [series.count: Invalid value: \"\": should be at least "
	  "2, series.lastObservedTime: Required value]" },
};

static json_t *
run(const struct row *r, const json_t *old, json_t **status)
{
	struct sim_write_params a = params_of(r->kind == NULL ? gadgets() : builtin(r->group, r->kind), "g");
	json_t *body = J(r->body), *object;
	char *bytes = json_dumps(body, 0);

	a.now = LATER;
	if (r->verb == POST)
		a.now = NOW;
	a.subresource = r->verb == PUT_STATUS || r->verb == MERGE_STATUS ? "status" : "";
	if (r->verb == POST)
		object = sim_semantics_create(&a, body, status);
	else if (r->verb == PUT || r->verb == PUT_STATUS)
		object = sim_semantics_update(&a, old, body, status);
	else
		object = sim_semantics_patch(&a, old, r->verb == JSON ? PATCH_JSON : PATCH_MERGE, bytes,
		    strlen(bytes), status);
	free(bytes);
	json_decref(body);
	return object;
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	json_t *old = J(r->old), *status = NULL;
	json_t *object = run(r, old, &status);

	if (r->want != NULL && r->want[0] == '!') {
		char *text;

		assert_null(object);
		MUST(asprintf(&text, "!%lld %s: %s", json_integer_value(json_object_get(status, "code")),
		    sim_json_text(status, "reason"), sim_json_text(status, "message")) > 0);
		assert_string_equal(text, r->want);
		free(text);
	} else {
		if (object == NULL)
			fail_msg("%s", sim_json_text(status, "message"));
		assert_null(status);
		assert_json(json_incref(sim_json_at(object, r->of)), r->want);
	}
	if (old != NULL)
		assert_json(old, r->old);
	json_decref(object);
	json_decref(status);
}

/* A Status is what people and programs read: all of it. */
static void
a_refusal_is_a_status(void **state)
{
	static const struct row r = { .verb = POST,
	    .body = GADGET("'name':'g'", "{'size':0,'color':'blue'}") };
	json_t *status = NULL;

	(void)state;
	assert_null(run(&r, NULL, &status));
	assert_json(status, "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure',"
	    "'message':'Gadget.test.muster.dev \\\"g\\\" is invalid: [spec.size: Invalid value: 0: "
	    "spec.size in body should be greater than or equal to 1, spec.color: Unsupported value: "
	    "\\\"blue\\\": supported values: \\\"red\\\", \\\"green\\\"]','reason':'Invalid','details':{"
	    "'name':'g','group':'test.muster.dev','kind':'Gadget','causes':[{"
	    "'reason':'FieldValueInvalid','message':'Invalid value: 0: spec.size in body should be "
	    "greater than or equal to 1','field':'spec.size'},{'reason':'FieldValueNotSupported',"
	    "'message':'Unsupported value: \\\"blue\\\": supported values: \\\"red\\\", \\\"green\\\"',"
	    "'field':'spec.color'}]},'code':422}");
}

static void
finalizers_without_a_domain_are_warned_of(void **state)
{
	struct sim_write_params a = params_of(gadgets(), "g");
	json_t *body = J(GADGET("'name':'g','finalizers':['foo','a.b/c','foo.bar']", "{'size':1}")),
	    *status = NULL;

	(void)state;
	a.warnings = json_array();
	json_decref(sim_semantics_create(&a, body, &status));
	assert_json(a.warnings, "['metadata.finalizers: \\\"foo\\\": prefer a domain-qualified finalizer "
	    "name to avoid accidental conflicts with other finalizer writers','metadata.finalizers: "
	    "\\\"foo.bar\\\": prefer a domain-qualified finalizer name including a path (/) to avoid "
	    "accidental conflicts with other finalizer writers']");
	json_decref(body);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
		    (void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(a_refusal_is_a_status);
	tests[NITEMS(rows) + 1] =
	    (struct CMUnitTest)cmocka_unit_test(finalizers_without_a_domain_are_warned_of);
	return cmocka_run_group_tests_name("sim semantics", tests, NULL, NULL);
}
