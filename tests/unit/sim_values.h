/*
 * tests/unit/sim_values.h - JSON in C tables, and the resources that the tests of the simulator's
 * semantics use.
 */
#ifndef MUSTER_TESTS_SIM_VALUES_H
#define MUSTER_TESTS_SIM_VALUES_H

#include <jansson.h>
#include <string.h>

#include "obj.h"
#include "sim/kube/semantics/sim_semantics.h"

#define NOW	"2026-11-17T03:00:00Z"
#define LATER	"2026-11-17T04:00:00Z"

/* A table is easier to read with ' for ". NULL is NULL; text that is no JSON fails the test. */
static inline json_t *
J(const char *text)
{
	json_error_t error;

	if (text == NULL)
		return NULL;

	char *quoted = obj_strdup(text);

	for (char *p = quoted; *p != '\0'; p++)
		*p = *p == '\'' ? '"' : *p;
	json_t *value = json_loads(quoted, JSON_DECODE_ANY, &error);

	if (value == NULL)
		fail_msg("%s: %s", error.text, quoted);
	free(quoted);
	return value;
}

/* Takes have. want NULL: have must be NULL too. */
static inline void
assert_json(json_t *have, const char *want)
{
	json_t *wanted = J(want);

	if (have == NULL || wanted == NULL ? have != wanted : !json_equal(have, wanted)) {
		char *shown = have == NULL ? NULL : json_dumps(have, JSON_ENCODE_ANY | JSON_SORT_KEYS);
		char *other = wanted == NULL ? NULL : json_dumps(wanted, JSON_ENCODE_ANY | JSON_SORT_KEYS);

		fail_msg("\nhave %s\nwant %s", shown == NULL ? "(nothing)" : shown, other == NULL
		    ? "(nothing)" : other);
	}
	json_decref(have);
	json_decref(wanted);
}

static inline const struct sim_resource *
builtin(const char *group, const char *kind)
{
	for (size_t i = 0; i < sim_resource_nbuiltin; i++)
		if (strcmp(sim_resource_builtin[i].kind, kind) == 0 && strcmp(sim_resource_builtin[i].group,
		    group) == 0)
			return &sim_resource_builtin[i];
	fail_msg("no built-in %s", kind);
	return NULL;
}

/* A CRD's resource, with most of what a schema can contain. */
static inline const struct sim_resource *
gadgets(void)
{
	static struct sim_resource r = {
		.group = "test.muster.dev", .version = "v1", .plural = "gadgets", .singular = "gadget",
		    .kind = "Gadget",
		.list_kind = "GadgetList", .verbs = VERBS_ALL, .namespaced = true, .served = true,
		    .stored = true,
		.has_status = true, .counts_generation = true,
	};

	if (r.schema == NULL)
		r.schema = J("{'type':'object','properties':{"
		    "'spec':{'type':'object','required':['size'],'properties':{"
		    "'size':{'type':'integer','minimum':1,'maximum':100},"
		    "'color':{'type':'string','enum':['red','green'],'default':'red'},"
		    "'name':{'type':'string','pattern':'^[a-z\\\\d]+$','maxLength':8,'minLength':2},"
		    "'port':{'x-kubernetes-int-or-string':true},"
		    "'note':{'type':'string','nullable':true},"
		    "'tags':{'type':'array','items':{'type':'string'},'x-kubernetes-list-type':'set'},"
		    "'plain':{'type':'array','items':{'type':'string'},'maxItems':3,'minItems':1},"
		    "'rules':{'type':'array','x-kubernetes-list-type':'map',"
		    "'x-kubernetes-list-map-keys':['id'],'items':{'type':'object','required':['id'],"
		    "'properties':{'id':{'type':'string'},'on':{'type':'boolean','default':true},"
		    "'weight':{'type':'number','exclusiveMinimum':true,'minimum':0}}}},'free':{"
		    "'type':'object','x-kubernetes-preserve-unknown-fields':true},'labels':{"
		    "'type':'object','additionalProperties':{'type':'string'},'maxProperties':3},'when':{"
		    "'type':'string','format':'date-time'},'one':{'type':'object','properties':{'a':{"
		    "'type':'integer'},'b':{'type':'integer'}},'oneOf':[{'required':['a']},{"
		    "'required':['b']}]},'whole':{'type':'object','x-kubernetes-map-type':'atomic',"
		    "'properties':{'a':{'type':'integer'},'b':{'type':'integer'}}},"
		    "'nested':{'type':'object','default':{},'properties':{'a':{'type':'integer','default':7},"
		    "'b':{'type':'integer','multipleOf':5}}}}},"
		    "'status':{'type':'object','properties':{'phase':{'type':'string'},'n':{"
		    "'type':'integer'}}}}}");
	return &r;
}

static inline struct sim_write_params
params_of(const struct sim_resource *r, const char *name)
{
	return (struct sim_write_params){
		.resource = r, .namespace = r->namespaced ? "default" : "", .name = name, .subresource = "",
		.field_manager = "", .user_agent = "tester/1.0", .field_validation = "", .now = NOW,
		    .new_uid = "uid-1",
		.suffix = "abcde",
	};
}

#endif
