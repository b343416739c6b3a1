/*
 * tests/unit/test_sim_apply.c - who owns what after a script of writes; managedFields are those of
 * kube-apiserver 1.35 for the same requests (tests/real/test_sim_semantics.py compares).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim_values.h"
#include "sim/base/sim_json.h"

#define HEAD		"{'apiVersion':'test.muster.dev/v1','kind':'Gadget','metadata':{'name':'g'"
#define APPLIED(spec)	HEAD "},'spec':" spec "}"
#define META(meta)	HEAD "," meta "},'spec':{'size':1}}"
#define STATUS(status)	HEAD "},'status':" status "}"

enum how { END, APPLY, FORCE, MERGE, APPLY_STATUS, MERGE_STATUS };

struct write {
	enum how	 how;
	const char	*manager, *body;
};

static const struct row {
	const char	*name;
	struct write	 writes[6];
	const char	*refused;	/* the last write is refused with this text; NULL: it is done */
	const char	*spec;		/* of the object then; NULL: not checked */
	const char	*owners;	/* {"manager operation": fieldsV1}; NULL: not checked */
} rows[] = {
	{ "what is applied is owned, defaults are not",
	  { { APPLY, "a", APPLIED("{'size':3,'rules':[{'id':'x'}],'tags':['t'],'plain':['p'],'free':{"
	  "'q':{'r':1}}}") } }, NULL, "{'size':3,'color':'red','nested':{'a':7},'rules':[{'id':'x',"
	  "'on':true}],'tags':['t'],'plain':['p'],'free':{'q':{'r':1}}}",
	  "{'a Apply':{'f:spec':{'f:free':{'f:q':{'.':{},'f:r':{}}},'f:plain':{},'f:rules':{"
	  "'k:{\\\"id\\\":\\\"x\\\"}':{'.':{},'f:id':{}}},'f:size':{},'f:tags':{'v:\\\"t\\\"':{}}}}}" },
	{ "what another writes is his",
	  { { APPLY, "a", APPLIED("{'size':3,'tags':['t']}") }, { MERGE, "b", "{'spec':{'size':4}}" } },
	  NULL, NULL, "{'a Apply':{'f:spec':{'f:tags':{'v:\\\"t\\\"':{}}}},'b Update':{'f:spec':{"
	  "'f:size':{}}}}" },
	{ "the same value is shared",
	  { { APPLY, "a", APPLIED("{'size':3}") }, { APPLY, "b", APPLIED("{'size':3}") } }, NULL, NULL,
	  "{'a Apply':{'f:spec':{'f:size':{}}},'b Apply':{'f:spec':{'f:size':{}}}}" },
	{ "another value is a conflict",
	  { { APPLY, "a", APPLIED("{'size':3}") }, { APPLY, "b", APPLIED("{'size':4}") } },
	  "Apply failed with 1 conflict: conflict with \"a\": .spec.size", NULL, NULL },
	{ "a conflict with an update names its version",
	  { { APPLY, "a", APPLIED("{'size':3}") }, { MERGE, "b", "{'spec':{'size':4}}" },
	  { APPLY, "a", APPLIED("{'size':3}") } },
	  "Apply failed with 1 conflict: conflict with \"b\" using test.muster.dev/v1: .spec.size", NULL,
	  NULL },
	{ "a conflict with a status writer names his door",
	  { { APPLY, "a", APPLIED("{'size':3}") }, { MERGE_STATUS, "b", "{'status':{'phase':'x'}}" },
	    { APPLY_STATUS, "a", STATUS("{'phase':'y'}") } },
	  "Apply failed with 1 conflict: conflict with \"b\" with subresource \"status\" using "
	  "test.muster.dev/v1: .status.phase", NULL, NULL },
	{ "several conflicts are listed",
	  { { APPLY, "a", APPLIED("{'size':3,'rules':[{'id':'x','on':false}]}") },
	    { APPLY, "b", APPLIED("{'size':4,'rules':[{'id':'x','on':true}]}") } },
	  "Apply failed with 2 conflicts: conflicts with \"a\":\n- .spec.size\n- "
	  ".spec.rules[id=\"x\"].on", NULL, NULL },
	{ "force takes it",
	  { { APPLY, "a", APPLIED("{'size':3,'name':'ab'}") }, { FORCE, "b", APPLIED("{'size':4}") } }, NULL,
	  "{'size':4,'name':'ab','color':'red','nested':{'a':7}}",
	  "{'a Apply':{'f:spec':{'f:name':{}}},'b Apply':{'f:spec':{'f:size':{}}}}" },
	{ "what is no longer applied goes",
	  { { APPLY, "a", APPLIED("{'size':3,'name':'ab','tags':['s','t'],'rules':[{'id':'x'},{"
	  "'id':'y'}]}") },
	    { APPLY, "a", APPLIED("{'size':3,'tags':['t'],'rules':[{'id':'y'}]}") } }, NULL,
	  "{'size':3,'tags':['t'],'rules':[{'id':'y','on':true}],'color':'red','nested':{'a':7}}", NULL },
	{ "but not what another owns",
	  { { APPLY, "a", APPLIED("{'size':3,'rules':[{'id':'x'},{'id':'y'}]}") },
	    { APPLY, "b", APPLIED("{'size':3,'rules':[{'id':'x'}]}") }, { APPLY, "a", APPLIED("{}") } }, NULL,
	  "{'size':3,'rules':[{'id':'x','on':true}],'color':'red','nested':{'a':7}}",
	  "{'a Apply':{'f:spec':{}},'b Apply':{'f:spec':{'f:rules':{'k:{\\\"id\\\":\\\"x\\\"}':{'.':{},"
	  "'f:id':{}}},'f:size':{}}}}" },
	{ "items of the config in its order, others between",
	  { { APPLY, "a", APPLIED("{'size':3,'rules':[{'id':'x'},{'id':'y'},{'id':'z'}]}") },
	    { FORCE, "b", APPLIED("{'size':3,'rules':[{'id':'z'},{'id':'n'},{'id':'x'}]}") } }, NULL,
	  "{'size':3,'rules':[{'id':'y','on':true},{'id':'z','on':true},{'id':'n','on':true},{'id':'x',"
	  "'on':true}],'color':'red','nested':{'a':7}}", NULL },
	{ "an atomic object is one field",
	  { { APPLY, "a", APPLIED("{'size':3,'whole':{'a':1}}") },
	  { APPLY, "b", APPLIED("{'size':3,'whole':{'b':1}}") } },
	  "Apply failed with 1 conflict: conflict with \"a\": .spec.whole", NULL, NULL },
	{ "a plain list is one field",
	  { { APPLY, "a", APPLIED("{'size':3,'plain':['x']}") },
	  { APPLY, "b", APPLIED("{'size':3,'plain':['x','y']}") } },
	  "Apply failed with 1 conflict: conflict with \"a\": .spec.plain", NULL, NULL },
	{ "a set is shared by its values",
	  { { APPLY, "a", APPLIED("{'size':3,'tags':['x']}") },
	  { APPLY, "b", APPLIED("{'size':3,'tags':['y']}") } }, NULL,
	  "{'size':3,'tags':['x','y'],'color':'red','nested':{'a':7}}", NULL },
	{ "labels come and go",
	  { { APPLY, "a", META("'labels':{'x':'1','y':'2'}") },
	  { APPLY, "a", META("'labels':{'y':'2'}") } }, NULL, NULL,
	  "{'a Apply':{'f:metadata':{'f:labels':{'f:y':{}}},'f:spec':{'f:size':{}}}}" },
	{ "a status by the main door is not taken",
	  { { APPLY, "a", "{'apiVersion':'test.muster.dev/v1','kind':'Gadget','metadata':{'name':'g'},"
	  "'spec':{'size':1},"
	      "'status':{'phase':'x'}}" } }, NULL, NULL, "{'a Apply':{'f:spec':{'f:size':{}}}}" },
	{ "an unknown field", { { APPLY, "a", APPLIED("{'size':3,'zork':1}") } },
	  "failed to create typed patch object (/g; test.muster.dev/v1, Kind=Gadget): .spec.zork: field "
	  "not declared in schema", NULL, NULL },
	{ "a text for a number", { { APPLY, "a", APPLIED("{'size':'x'}") } },
	  "failed to create typed patch object (/g; test.muster.dev/v1, Kind=Gadget): .spec.size: "
	  "expected numeric (int or float), got string", NULL, NULL },
	{ "two of one key", { { APPLY, "a", APPLIED("{'size':3,'rules':[{'id':'a'},{'id':'a'}]}") } },
	  "failed to create typed patch object (/g; test.muster.dev/v1, Kind=Gadget): .spec.rules: "
	  "duplicate entries for key [id=\"a\"]", NULL, NULL },
	{ "no key", { { APPLY, "a", APPLIED("{'size':3,'rules':[{'on':true}]}") } },
	  "failed to create typed patch object (/g; test.muster.dev/v1, Kind=Gadget): .spec.rules: "
	  "element 0: associative list with keys has an element that omits all key fields [\"id\"] (and "
	  "doesn't have default values for any key fields)", NULL, NULL },
	{ "managedFields are not to be applied", { { APPLY, "a", META("'managedFields':[]") } },
	  "metadata.managedFields must be nil", NULL, NULL },
	{ "another version",
	  { { APPLY, "a", "{'apiVersion':'test.muster.dev/v2','kind':'Gadget','metadata':{'name':'g'}}" } },
	  "invalid object type: test.muster.dev/v2, Kind=Gadget", NULL, NULL },
	{ "no manager", { { APPLY, "", APPLIED("{'size':3}") } },
	  "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply "
	  "patch", NULL, NULL },
	{ "managedFields can be taken away",
	  { { APPLY, "a", APPLIED("{'size':3}") }, { MERGE, "b", "{'metadata':{'managedFields':[{}]}}" },
	    { MERGE, "c", "{'spec':{'size':4}}" } }, NULL, NULL, "{}" },
	{ "and what is there belongs to those before",
	  { { APPLY, "a", APPLIED("{'size':3}") }, { MERGE, "b", "{'metadata':{'managedFields':[{}]}}" },
	    { APPLY, "c", APPLIED("{'size':3}") } }, NULL, NULL,
	  "{'c Apply':{'f:spec':{'f:size':{}}},'before-first-apply Update':{'f:spec':{'.':{},"
	  "'f:color':{},'f:nested':{'.':{},'f:a':{}},'f:size':{}}}}" },
};

static json_t *do_write(const struct write *w, const json_t *old, const char *now, json_t **status);
static json_t *owners_of(const json_t *object);

static void
check_row(void **state)
{
	const struct row *r = *state;
	json_t *object = NULL, *status = NULL;

	for (const struct write *w = r->writes; w->how != END; w++) {
		json_t *next = do_write(w, object, NOW, &status);

		if (status != NULL && (r->refused == NULL || w[1].how != END))
			fail_msg("%s", sim_json_text(status, "message"));
		if (next != NULL) {
			json_decref(object);
			object = next;
		}
	}
	if (r->refused != NULL)
		assert_string_equal(sim_json_text(status, "message"), r->refused);
	if (r->spec != NULL)
		assert_json(json_incref(json_object_get(object, "spec")), r->spec);
	if (r->owners != NULL)
		assert_json(owners_of(object), r->owners);
	json_decref(status);
	json_decref(object);
}

/* No write that changes nothing may move a time: the store would make a version of it. */
static void
nothing_changed_is_nothing_changed(void **state)
{
	static const struct write writes[] = {
		{ APPLY, "a", APPLIED("{'size':3,'rules':[{'id':'x'}]}") },
		{ MERGE, "b", "{'spec':{'size':3}}" },
		{ MERGE, "b", "{'spec':{'zork':3}}" },
		{ APPLY, "a", APPLIED("{'size':3,'rules':[{'id':'x'}]}") },
		{ MERGE_STATUS, "b", "{'spec':{'size':9}}" },
	};
	json_t *status = NULL, *object = do_write(&writes[0], NULL, NOW, &status);

	(void)state;
	for (size_t i = 1; i < NITEMS(writes); i++) {
		json_t *again = do_write(&writes[i], object, LATER, &status);

		assert_non_null(again);
		assert_true(json_equal(again, object));
		json_decref(again);
	}
	json_decref(object);
}

static void
old_updaters_are_put_together(void **state)
{
	json_t *status = NULL, *object = do_write(&(struct write){ APPLY, "a", APPLIED("{'size':3}") },
	    NULL, NOW, &status);

	(void)state;
	for (int i = 0; i < 20; i++) {
		char manager[16], body[64], now[32];

		snprintf(manager, sizeof(manager), "m%d", i);
		snprintf(body, sizeof(body), "{'spec':{'free':{'k%d':1}}}", i);
		snprintf(now, sizeof(now), "2026-11-17T05:00:%02dZ", i);
		json_t *next = do_write(&(struct write){ MERGE, manager, body }, object, now, &status);

		assert_non_null(next);
		json_decref(object);
		object = next;
	}
	json_t *owners = owners_of(object);

	assert_int_equal(json_object_size(owners), 11);		/* ten that update and one that applies */
	assert_non_null(json_object_get(owners, "ancient-changes Update"));
	assert_non_null(json_object_get(owners, "m19 Update"));
	assert_null(json_object_get(owners, "m3 Update"));
	json_decref(owners);
	json_decref(object);
}

static json_t *
do_write(const struct write *w, const json_t *old, const char *now, json_t **status)
{
	struct sim_write_params a = params_of(gadgets(), "g");
	json_t *body = J(w->body);
	char *bytes = json_dumps(body, 0);
	const bool applies = w->how == APPLY || w->how == FORCE || w->how == APPLY_STATUS;

	a.field_manager = w->manager;
	a.force = w->how == FORCE;
	a.subresource = w->how == APPLY_STATUS || w->how == MERGE_STATUS ? "status" : "";
	a.now = now;
	json_t *object = sim_semantics_patch(&a, old, applies ? PATCH_APPLY : PATCH_MERGE, bytes,
	    strlen(bytes), status);

	/* The store's part. */
	if (object != NULL)
		json_object_set_new(json_object_get(object, "metadata"), "resourceVersion", json_string("7"));
	free(bytes);
	json_decref(body);
	return object;
}

static json_t *
owners_of(const json_t *object)
{
	json_t *owners = json_object(), *entry;
	size_t i;

	json_array_foreach(sim_json_at(object, "metadata.managedFields"), i, entry) {
		char who[128];

		snprintf(who, sizeof(who), "%s %s", sim_json_text(entry, "manager"),
		    sim_json_text(entry, "operation"));
		json_object_set(owners, who, json_object_get(entry, "fieldsV1"));
	}
	return owners;
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 2];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
		    (void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(nothing_changed_is_nothing_changed);
	tests[NITEMS(rows) + 1] = (struct CMUnitTest)cmocka_unit_test(old_updaters_are_put_together);
	return cmocka_run_group_tests_name("sim apply", tests, NULL, NULL);
}
