/* tests/unit/test_sim_table.c - the cells of `kubectl get`. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "obj.h"
#include "sim/kube/printers/sim_table.h"

#define NOW_US	(INT64_C(1767225600) * 1000000)		/* 2026-01-01T00:00:00Z */
#define META	"'metadata':{'name':'x','creationTimestamp':'2025-12-31T23:00:00Z'}"
#define RUNS	"'state':{'running':{}},'ready':true"

static const struct row {
	const char	*name, *plural, *object, *cells;	/* the first cells */
} rows[] = {
	{ "a ready node", "nodes",
	    "{" META ",'status':{'conditions':[{'type':'Ready','status':'True'}],"
	    "'nodeInfo':{'kubeletVersion':'v1'}}}",
	    "['x','Ready','<none>','60m','v1','<none>'" },
	{ "a node that is not, and closed", "nodes",
	    "{" META ",'spec':{'unschedulable':true},'status':{'conditions':"
	    "[{'type':'Ready','status':'Unknown'}]}}",
	    "['x','NotReady,SchedulingDisabled'" },
	{ "a node without a status", "nodes", "{" META "}", "['x','Unknown','<none>','60m',''" },
	{ "roles in order", "nodes",
	    "{'metadata':{'name':'x','labels':{'node-role.kubernetes.io/worker':'',"
	    "'kubernetes.io/role':'edge','node-role.kubernetes.io/':'','node-role.kubernetes.io/a':''}}}",
	    "['x','Unknown','a,edge,worker','<unknown>'" },
	{ "addresses", "nodes",
	    "{" META ",'status':{'addresses':[{'type':'ExternalIP','address':'1.2.3.4'},"
	    "{'type':'InternalIP','address':'10.0.0.1'}]}}",
	    "['x','Unknown','<none>','60m','','10.0.0.1','1.2.3.4'" },
	{ "a pod that waits", "pods",
	    "{" META ",'spec':{'containers':[{}]},'status':{'phase':'Pending'}}",
	    "['x','0/1','Pending','0','60m','<none>'" },
	{ "a pod that runs", "pods",
	    "{" META ",'spec':{'containers':[{},{}],'nodeName':'n'},'status':{'phase':'Running',"
	    "'containerStatuses':[{" RUNS
	    "},{'state':{'waiting':{'reason':'CrashLoopBackOff'}},'restartCount':3,"
	    "'lastState':{'terminated':{'finishedAt':'2025-12-31T23:58:00Z'}}}]}}",
	    "['x','1/2','CrashLoopBackOff','3 (2m ago)','60m','<none>','n'" },
	{ "a pod that goes", "pods",
	    "{'metadata':{'name':'x','deletionTimestamp':'2026-01-01T00:00:00Z'},"
	    "'spec':{'containers':[{}]},'status':{'phase':'Running','containerStatuses':[{" RUNS "}]}}",
	    "['x','1/1','Terminating'" },
	{ "a pod that is done", "pods",
	    "{" META ",'spec':{'containers':[{}]},'status':{'phase':'Succeeded',"
	    "'containerStatuses':[{'state':{'terminated':{'reason':'Completed','exitCode':0}}}]}}",
	    "['x','0/1','Completed'" },
	{ "a pod that died of a signal", "pods",
	    "{" META ",'spec':{'containers':[{}]},'status':{'phase':'Failed',"
	    "'containerStatuses':[{'state':{'terminated':{'signal':9,'exitCode':137}}}]}}",
	    "['x','0/1','Signal:9'" },
	{ "a pod whose first init container works", "pods",
	    "{" META ",'spec':{'containers':[{}],'initContainers':"
	    "[{'name':'i'},{'name':'j'}]},'status':{'phase':'Pending','initContainerStatuses':[{'nam"
	    "e':'i','state':"
	    "{'running':{}}}]}}",
	    "['x','0/1','Init:0/2'" },
	{ "a pod with a sidecar", "pods",
	    "{" META ",'spec':{'containers':[{}],'initContainers':[{'name':'s',"
	    "'restartPolicy':'Always'}]},'status':{'phase':'Running','initContainerStatuses':[{'name"
	    "':'s','started':true,"
	    "'ready':true,'state':{'running':{}}}],'containerStatuses':[{" RUNS "}]}}",
	    "['x','2/2','Running'" },
	{ "an event", "events",
	    "{'metadata':{'name':'e'},'type':'Warning','reason':'Bad','involvedObject':{'kind':'Node',"
	    "'name':'n'},'message':' it broke \\n','source':{'component':'c','host':'h'},'count':4,'"
	    "lastTimestamp':"
	    "'2025-12-31T23:59:00Z','firstTimestamp':'2025-12-31T23:50:00Z'}",
	    "['60s','Warning','Bad','node/n','','c, h','it broke','10m',4,'e'" },
	{ "a series", "events",
	    "{'metadata':{'name':'e'},'involvedObject':{'kind':'Node'},'eventTime':"
	    "'2025-12-31T23:50:00.000000Z','series':{'count':9,'lastObservedTime':'2025-12-31T23:59:"
	    "58.000000Z'}}",
	    "['2s','','','node','','','','10m',9" },
	{ "a lease", "leases", "{" META ",'spec':{'holderIdentity':'me'}}", "['x','me','60m']" },
	{ "a secret", "secrets", "{" META ",'type':'Opaque','data':{'a':'','b':''}}",
	    "['x','Opaque',2,'60m']" },
	{ "a config map", "configmaps", "{" META ",'data':{'a':''},'binaryData':{'b':''}}",
	    "['x',2,'60m']" },
	{ "a namespace", "namespaces", "{" META ",'status':{'phase':'Active'}}",
	    "['x','Active','60m']" },
	{ "a budget", "poddisruptionbudgets",
	    "{" META ",'spec':{'minAvailable':'50%'},'status':{'disruptionsAllowed':1}}",
	    "['x','50%','N/A',1,'60m']" },
	{ "a definition", "customresourcedefinitions", "{" META "}", "['x','2025-12-31T23:00:00Z']" },
	{ "a service account", "serviceaccounts", "{" META "}", "['x','60m']" },
};

static char *
quoted(const char *text)
{
	char *const out = obj_strdup(text);

	for (char *p = out; *p != '\0'; p++)
		*p = *p == '\'' ? '"' : *p;
	return out;
}

static const struct sim_resource *
builtin(const char *plural)
{
	for (size_t i = 0; i < sim_resource_nbuiltin; i++) {
		if (strcmp(sim_resource_builtin[i].plural, plural) == 0)
			return &sim_resource_builtin[i];
	}
	return NULL;
}

static void
check_row(void **state)
{
	const struct row *r = *state;
	char *const text = quoted(r->object), *const want = quoted(r->cells);
	json_t *const object = json_loads(text, 0, NULL);

	assert_non_null(object);
	json_t *const cells = sim_table_cells(builtin(r->plural), object, NOW_US);
	json_t *const columns = sim_table_columns(builtin(r->plural));
	char *const got = json_dumps(cells, JSON_COMPACT);
	assert_true(strlen(got) >= strlen(want));
	got[strlen(want)] = '\0';
	assert_string_equal(got, want);
	assert_int_equal(json_array_size(cells), json_array_size(columns));
	free(got);
	json_decref(columns);
	json_decref(cells);
	json_decref(object);
	free(text);
	free(want);
}

/* Columns of a CRD: by path and type; what does not fit its type is nothing. */
static void
custom_columns(void **state)
{
	char *const spec = quoted(
	    "[{'name':'S','type':'string','jsonPath':'.s'},{'name':'N','type':'integer','jsonPath':'.n'},"
	    "{'name':'B','type':'boolean','jsonPath':'.b'},{'name':'D','type':'date','jsonPath':'.d'"
	    "},{'name':'L',"
	    "'type':'string','jsonPath':'.l'},{'name':'W','type':'integer','jsonPath':'.s','priority':1}]");
	char *const text =
	    quoted("{" META ",'s':'hi','n':2.9,'b':true,'d':'2025-12-31T23:59:50Z','l':[1,{'a':2}]}");
	const struct sim_resource r = { .group = "g", .version = "v1", .plural = "things", .kind = "Thing",
		.columns = json_loads(spec, 0, NULL) };
	const struct sim_resource plain = { .group = "g", .version = "v1", .plural = "things",
	    .kind = "Thing" };
	json_t *const object = json_loads(text, 0, NULL);
	json_t *const cells = sim_table_cells(&r, object, NOW_US),
		      *const few = sim_table_cells(&plain, object, NOW_US);
	char *const got = json_dumps(cells, JSON_COMPACT), *const got_few = json_dumps(few, JSON_COMPACT);

	(void)state;
	assert_string_equal(got, "[\"x\",\"hi\",2,true,\"10s\",\"[1,{\\\"a\\\":2}]\",null]");
	assert_string_equal(got_few, "[\"x\",\"60m\"]");
	free(got);
	free(got_few);
	json_decref(cells);
	json_decref(few);
	json_decref(object);
	json_decref(r.columns);
	free(spec);
	free(text);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + 1];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	tests[NITEMS(rows)] = (struct CMUnitTest)cmocka_unit_test(custom_columns);
	return cmocka_run_group_tests_name("sim_table", tests, NULL, NULL);
}
