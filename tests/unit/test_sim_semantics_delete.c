/*
 * tests/unit/test_sim_semantics_delete.c - what a delete does, and what it answers: as kube-
 * apiserver 1.35 does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_values.h"
#include "sim/base/sim_json.h"

#define META		"'name':'x','namespace':'default','uid':'u','resourceVersion':'7'"
#define PLAIN		"{'metadata':{" META "}}"
#define HELD		"{'metadata':{" META ",'generation':3,'finalizers':['a.b/c']}}"
#define MARKED		"{'metadata':{" META ",'generation':4,'finalizers':['a.b/c']," \
	"'deletionTimestamp':'" NOW "','deletionGracePeriodSeconds':0}}"
#define POD(more, meta)	"{'metadata':{" META meta "},'spec':{'nodeName':'n'," \
	"'terminationGracePeriodSeconds':30},'status':{" more "}}"
#define GRACE(at, s)	",'deletionTimestamp':'" at "','deletionGracePeriodSeconds':" s
#define NAMESPACE(meta, phase)	"{'apiVersion':'v1','kind':'Namespace','metadata':{" META meta "}," \
	"'spec':{'finalizers':['kubernetes']},'status':{'phase':'" phase "'}}"

/* want: the object that is kept (DELETION_MARKED) or the refusal. */
static const struct row {
	const char		*name, *kind, *subresource, *old, *options;
	enum sim_deletion	 how;
	const char		*want;
} rows[] = {
	{ "at once", NULL, "", PLAIN, NULL, DELETION_GONE, NULL },
	{ "the right uid", NULL, "", PLAIN, "{'preconditions':{'uid':'u','resourceVersion':'7'}}", DELETION_GONE, NULL },
	{ "another uid", NULL, "", PLAIN, "{'preconditions':{'uid':'v'}}", DELETION_REFUSED,
	  "409 Operation cannot be fulfilled on Gadget.test.muster.dev \"x\": the UID in the "
	  "precondition (v) does not match the UID in record (u). The object might have been deleted and "
	  "then recreated" },
	{ "another version", NULL, "", PLAIN, "{'preconditions':{'resourceVersion':'6'}}", DELETION_REFUSED,
	  "409 Operation cannot be fulfilled on Gadget.test.muster.dev \"x\": the ResourceVersion in the "
	  "precondition (6) does not match the ResourceVersion in record (7). The object might have been "
	  "modified" },
	{ "no such policy", NULL, "", PLAIN, "{'propagationPolicy':'Foo'}", DELETION_REFUSED,
	  "422 DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Foo\": "
	  "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"" },
	{ "two policies", NULL, "", PLAIN, "{'propagationPolicy':'Orphan','orphanDependents':true}",
	  DELETION_REFUSED, "422 DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid "
	  "value: \"Orphan\": orphanDependents and deletionPropagation cannot be both set" },
	{ "every policy is Background", NULL, "", PLAIN, "{'propagationPolicy':'Foreground'}", DELETION_GONE, NULL },
	{ "a finalizer holds it", NULL, "", HELD, NULL, DELETION_MARKED, MARKED },
	{ "still", NULL, "", MARKED, NULL, DELETION_MARKED, MARKED },
	{ "a grace period is for Pods", NULL, "", HELD, "{'gracePeriodSeconds':30}", DELETION_MARKED, MARKED },
	{ "a Pod that runs has time", "Pod", "", POD("", ""), NULL, DELETION_MARKED, POD("", GRACE("2026-11-17T03:00:30Z", "30")) },
	{ "the time it is given", "Pod", "", POD("", ""), "{'gracePeriodSeconds':5}", DELETION_MARKED,
	  POD("", GRACE("2026-11-17T03:00:05Z", "5")) },
	{ "none is none", "Pod", "", POD("", ""), "{'gracePeriodSeconds':0}", DELETION_GONE, NULL },
	{ "asked again", "Pod", "", POD("", GRACE("2026-11-17T03:00:20Z", "30")), NULL, DELETION_MARKED,
	  POD("", GRACE("2026-11-17T03:00:20Z", "30")) },
	{ "longer is ignored", "Pod", "", POD("", GRACE("2026-11-17T03:00:20Z", "30")),
	  "{'gracePeriodSeconds':60}", DELETION_MARKED, POD("", GRACE("2026-11-17T03:00:20Z", "30")) },
	{ "shorter is", "Pod", "", POD("", GRACE("2026-11-17T03:00:20Z", "30")),
	  "{'gracePeriodSeconds':15}", DELETION_MARKED, POD("", GRACE("2026-11-17T03:00:05Z", "15")) },
	{ "never into the past", "Pod", "", POD("", GRACE("2026-11-17T03:00:20Z", "30")),
	  "{'gracePeriodSeconds':5}", DELETION_MARKED, POD("", GRACE(NOW, "5")) },
	{ "a Pod that has ended goes at once", "Pod", "", POD("'phase':'Succeeded'", ""), NULL, DELETION_GONE, NULL },
	{ "a Pod without a node too", "Pod", "", "{'metadata':{" META
	  "},'spec':{'terminationGracePeriodSeconds':30}}", NULL, DELETION_GONE, NULL },
	{ "a Namespace ends slowly", "Namespace", "", NAMESPACE("", "Active"), NULL, DELETION_MARKED,
	  NAMESPACE(",'deletionTimestamp':'" NOW "'", "Terminating") },
	{ "a Namespace's own words", "Namespace", "", NAMESPACE("", "Active"),
	  "{'preconditions':{'uid':'v'}}", DELETION_REFUSED,
	  "409 Operation cannot be fulfilled on namespaces \"x\": Precondition failed: UID in "
	  "precondition: v, UID in object meta: u" },
	{ "a wrong dry run", NULL, "", PLAIN, "{'dryRun':['Some']}", DELETION_REFUSED,
	  "422 DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: supported "
	  "values: \"All\"" },
	{ "an eviction", "Pod", "eviction", POD("", ""),
	  "{'metadata':{'name':'x','namespace':'default'}}", DELETION_MARKED,
	  POD("", GRACE("2026-11-17T03:00:30Z", "30")) },
	{ "an eviction with options", "Pod", "eviction", POD("", ""),
	  "{'metadata':{'name':'x'},'deleteOptions':{'gracePeriodSeconds':0}}", DELETION_GONE, NULL },
	{ "of another Pod", "Pod", "eviction", POD("", ""), "{'metadata':{'name':'y'}}", DELETION_REFUSED,
	  "400 name in URL does not match name in Eviction object" },
	{ "of another namespace", "Pod", "eviction", POD("", ""),
	  "{'metadata':{'name':'x','namespace':'y'}}", DELETION_REFUSED,
	  "400 the namespace of the provided object does not match the namespace sent on the request" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct sim_write_params a = params_of(r->kind == NULL ? gadgets() : builtin("", r->kind), "x");
	json_t *old = J(r->old), *options = J(r->options), *marked = NULL, *status = NULL;

	a.namespace = "default";
	a.subresource = r->subresource;
	if (*r->subresource != '\0')
		status = sim_semantics_eviction_refusal(&a, options);
	if (status == NULL)
		assert_int_equal(sim_semantics_delete(&a, old, options, &marked, &status), r->how);
	if (r->how == DELETION_REFUSED) {
		char text[512];

		snprintf(text, sizeof(text), "%lld %s",
		    json_integer_value(json_object_get(status, "code")), sim_json_text(status, "message"));
		assert_string_equal(text, r->want);
		json_decref(status);
	} else {
		assert_null(status);
		assert_json(marked, r->want);
	}
	assert_json(old, r->old);
	json_decref(options);
}

static const struct {
	const char	*object;
	bool		 want;
} finished[] = {
	{ PLAIN, false },
	{ HELD, false },
	{ MARKED, false },
	{ "{'metadata':{'deletionTimestamp':'" NOW "'}}", true },
	{ "{'metadata':{'deletionTimestamp':'" NOW "','finalizers':[],'deletionGracePeriodSeconds':0}}", true },
	{ "{'metadata':{'deletionTimestamp':'" NOW "','deletionGracePeriodSeconds':30}}", false },
	{ NAMESPACE(",'deletionTimestamp':'" NOW "'", "Terminating"), false },
};

static void
the_last_finalizer_ends_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < NITEMS(finished); i++) {
		json_t *object = J(finished[i].object);

		if (sim_semantics_finished(object) != finished[i].want)
			fail_msg("%s", finished[i].object);
		json_decref(object);
	}
}

static void
answers(void **state)
{
	struct sim_write_params a = params_of(gadgets(), "x"), n = params_of(builtin("", "Node"), "x"),
	    p = params_of(builtin("", "Pod"), "x");
	json_t *object = J(PLAIN), *held = J(MARKED);

	(void)state;
	assert_json(sim_semantics_deleted(&a, object, DELETION_GONE),
	    "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Success','details':{'name':'x',"
	    "'group':'test.muster.dev','kind':'gadgets','uid':'u'}}");
	assert_json(sim_semantics_deleted(&n, object, DELETION_GONE),
	    "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Success','details':{'name':'x',"
	    "'kind':'nodes','uid':'u'}}");
	assert_json(sim_semantics_deleted(&a, held, DELETION_MARKED), MARKED);
	assert_json(sim_semantics_deleted(&p, object, DELETION_GONE),
	    "{'metadata':{" META GRACE(NOW, "0") "}}");
	p.subresource = "eviction";
	assert_json(sim_semantics_deleted(&p, object, DELETION_GONE),
	    "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Success','code':201}");
	json_decref(object);
	json_decref(held);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
		    (void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(the_last_finalizer_ends_it);
	tests[NITEMS(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(answers);
	return cmocka_run_group_tests_name("sim semantics delete", tests, NULL, NULL);
}
