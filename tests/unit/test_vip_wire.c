/*
 * tests/unit/test_vip_wire.c - hook requests and answers, bodies of writes: V1, V2, V6, V7, V8, V9,
 * V11, V13.
 */
#include <jansson.h>
#include <openssl/evp.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "actors/vip-claimer/wire.h"
#include "vip_words.h"

#define API	"'apiVersion':'hooks.runtime.cluster.x-k8s.io/v1alpha1'"
#define PATHS	"/hooks.runtime.cluster.x-k8s.io/v1alpha1/"
#define META	"'metadata':{'name':'c1','namespace':'team-a','uid':'u1',"	\
	"'creationTimestamp':'2026-01-01T00:00:00Z'}"
#define CREATE(cluster)	"{" API ",'kind':'BeforeClusterCreateRequest','settings':{'region':'lab'},"	\
	"'cluster':{" cluster "}}"
#define V1BETA1	"'apiVersion':'cluster.x-k8s.io/v1beta1','kind':'Cluster',"
#define V1BETA2	"'apiVersion':'cluster.x-k8s.io/v1beta2','kind':'Cluster',"
#define HOLDER(kind, name, path) "'holderReference':{'kind':'" kind "','namespace':'team-a',"	\
	"'name':'" name "','fieldPath':'" path "'}"
#define INFRA	HOLDER("Cluster", "c1", "spec.infrastructureRef")
#define BUILTIN	"'variables':[{'name':'a','value':1},{'name':'builtin',"	\
	"'value':{'cluster':{'name':'c1','namespace':'team-a'}}}]"
#define PATCHES(members) "{" API ",'kind':'GeneratePatchesRequest'," members "}"
#define TEMPLATE(spec) "'object':{'kind':'ProxmoxClusterTemplate'" spec "}"
#define ADDRESS	"claim address=10.2.0.20"
#define FULL	",'spec':{'template':{'spec':{}}}"

/* want: "namespace/name class-namespace/class host:port uid@depth ... #uid", or the error; #: of PATCHES. */
static const struct row {
	const char	*name;
	enum vip_hook	 hook;
	const char	*body, *want;
} rows[] = {
	{ "V13 discovery", VIP_HOOK_DISCOVERY, "{" API ",'kind':'DiscoveryRequest'}", "/ / :0" },
	{ "V13 discovery without anything", VIP_HOOK_DISCOVERY, " {} ", "/ / :0" },
	{ "V9 V13 a Cluster of v1beta2", VIP_HOOK_CREATE,
	    CREATE(V1BETA2 META ",'spec':{'topology':{'classRef':{'name':'rke2'},"
	    "'version':'v1.33.0'}}"), "team-a/c1 /rke2 :0" },
	{ "V5 V9 ... with a class of another namespace", VIP_HOOK_CREATE,
	    CREATE(V1BETA2 META ",'spec':{'topology':{'classRef':{'name':'rke2',"
	    "'namespace':'classes'}}}"), "team-a/c1 classes/rke2 :0" },
	{ "V9 V13 a Cluster of v1beta1", VIP_HOOK_CREATE,
	    CREATE(V1BETA1 META ",'spec':{'controlPlaneEndpoint':{'host':'','port':0},"
	    "'topology':{'class':'rke2','version':'v1.33.0'}}"),
	    "team-a/c1 /rke2 :0" },
	{ "V5 V9 ... with classNamespace", VIP_HOOK_CREATE,
	    CREATE(V1BETA1 META ",'spec':{'topology':{'class':'rke2',"
	    "'classNamespace':'classes'}}"), "team-a/c1 classes/rke2 :0" },
	{ "V13 without apiVersion and kind: the form decides", VIP_HOOK_CREATE,
	    CREATE(META ",'spec':{'topology':{'class':'rke2'}}"), "team-a/c1 /rke2 :0" },
	{ "V13 ... of v1beta2", VIP_HOOK_CREATE, CREATE(META ","
	    "'spec':{'topology':{'classRef':{'name':'rke2'}}}"), "team-a/c1 /rke2 :0" },
	{ "V2 an endpoint", VIP_HOOK_CREATE,
	    CREATE(V1BETA2 META ",'spec':{'controlPlaneEndpoint':{'host':'10.2.0.20','port':6443},"
	    "'topology':{'classRef':{'name':'rke2'}}}"),
	    "team-a/c1 /rke2 10.2.0.20:6443" },
	{ "V2 no topology", VIP_HOOK_CREATE, CREATE(V1BETA2 META ","
	    "'spec':{'topology':null}"), "team-a/c1 / :0" },
	{ "V2 no spec", VIP_HOOK_CREATE, CREATE(V1BETA2 META), "team-a/c1 / :0" },
	{ "key order and unknown members do not matter", VIP_HOOK_CREATE,
	    "{'x':[1,{'cluster':5}],'cluster':{'status':{},"
	    "'spec':{'topology':{'variables':[{'name':'n','value':{'class':'z'}}],"
	    "'class':'rke2'}}," META "}}", "team-a/c1 /rke2 :0" },

	{ "V9 no JSON", VIP_HOOK_CREATE, "hello", "not a JSON value, at byte 0" },
	{ "V9 nothing", VIP_HOOK_DISCOVERY, "", "the JSON ends too early, at byte 0" },
	{ "V9 cut", VIP_HOOK_CREATE, "{'cluster':{'metadata':", "the JSON ends too early, at byte 23" },
	{ "V9 a list", VIP_HOOK_CREATE, "[]", "not a JSON object" },
	{ "V9 another hook's request", VIP_HOOK_CREATE, "{" API ",'kind':'GeneratePatchesRequest'}",
	    "kind: the request of another hook" },
	{ "V9 another version of hooks",
	    VIP_HOOK_CREATE, "{'apiVersion':'hooks.runtime.cluster.x-k8s.io/v1'}",
	    "apiVersion: not hooks.runtime.cluster.x-k8s.io/v1alpha1" },
	{ "V9 a Cluster of an unknown version",
	    VIP_HOOK_CREATE, CREATE("'apiVersion':'cluster.x-k8s.io/v1gamma1'," META),
	    "cluster.apiVersion: neither cluster.x-k8s.io/v1beta1 nor v1beta2" },
	{ "V9 no Cluster", VIP_HOOK_CREATE, "{}", "cluster: missing" },
	{ "V9 not a Cluster", VIP_HOOK_CREATE, CREATE("'kind':'Machine',"
	    META), "cluster.kind: not Cluster" },
	{ "V9 a Cluster that is a text", VIP_HOOK_CREATE, "{'cluster':'c1'}",
	    "cluster: not an object" },
	{ "V9 no name",
	    VIP_HOOK_CREATE, CREATE("'metadata':{'namespace':'team-a'}"), "cluster.metadata.name: missing" },
	{ "V9 an empty namespace", VIP_HOOK_CREATE, CREATE("'metadata':{'name':'c1',"
	    "'namespace':''}"), "cluster.metadata.namespace: empty" },
	{ "V9 a name with a slash", VIP_HOOK_CREATE, CREATE("'metadata':{'name':'c/1',"
	    "'namespace':'n'}"),
	    "cluster.metadata.name: not the name of an object" },
	{ "V9 a name with an escape", VIP_HOOK_CREATE, CREATE("'metadata':{'name':'c\\u0031',"
	    "'namespace':'n'}"),
	    "cluster.metadata.name: has an escape" },
	{ "V9 a number as name", VIP_HOOK_CREATE, CREATE("'metadata':{'name':1,"
	    "'namespace':'n'}"), "cluster.metadata.name: not a text" },
	{ "V9 a port that is none", VIP_HOOK_CREATE, CREATE(META ","
	    "'spec':{'controlPlaneEndpoint':{'port':65536}}"),
	    "cluster.spec.controlPlaneEndpoint.port: not the number of a port" },
	{ "V9 a negative port", VIP_HOOK_CREATE, CREATE(META ","
	    "'spec':{'controlPlaneEndpoint':{'port':-1}}"),
	    "cluster.spec.controlPlaneEndpoint.port: not the number of a port" },
	{ "V9 a class that is an object", VIP_HOOK_CREATE, CREATE(META ","
	    "'spec':{'topology':{'class':{}}}"),
	    "cluster.spec.topology.class: not a text" },
	{ "V9 a time that is none", VIP_HOOK_CREATE, CREATE("'metadata':{'name':'c1',"
	    "'namespace':'n','creationTimestamp':'x'}"),
	    "cluster.metadata.creationTimestamp: not a time" },

	{ "V7 a template", VIP_HOOK_PATCHES, PATCHES(BUILTIN ",'items':[{'uid':'u-1'," INFRA ","
	    TEMPLATE(FULL) "}]"),
	    "team-a/c1 / :0 u-1@3" },
	{ "V7 from Cluster API 1.8 on with the uid of the Cluster", VIP_HOOK_PATCHES,
	    PATCHES("'variables':[{'name':'builtin','value':{'cluster':{'name':'c1',"
	    "'namespace':'team-a','uid':'u1'}}}],'items':[]"), "team-a/c1 / :0 #u1" },
	{ "V9 a uid that is a number", VIP_HOOK_PATCHES,
	    PATCHES("'variables':[{'name':'builtin','value':{'cluster':{'name':'c1',"
	    "'namespace':'team-a','uid':1}}}],'items':[]"),
	    "variables.builtin.cluster.uid: not a text" },
	{ "V7 without builtin: the holder names the Cluster",
	    VIP_HOOK_PATCHES, PATCHES("'items':[{'uid':'u-1'," INFRA "," TEMPLATE(FULL) "}]"),
	    "team-a/c1 / :0 u-1@3" },
	{ "V7 other templates are not ours", VIP_HOOK_PATCHES, PATCHES(BUILTIN ",'items':["
	    "{'uid':'u-0'," HOLDER("Cluster", "c1", "spec.controlPlaneRef") ","
	    "'object':{'kind':'RKE2ControlPlaneTemplate'}},"
	    "{'uid':'u-1'," INFRA "," TEMPLATE(FULL) "},"
	    "{'uid':'u-2'," HOLDER("MachineDeployment", "md",
	    "spec.template.spec.infrastructureRef") ",'object':{'kind':'ProxmoxMachineTemplate'}}]"),
	    "team-a/c1 / :0 u-1@3" },
	{ "V7 no items", VIP_HOOK_PATCHES, PATCHES(BUILTIN ",'items':null"), "team-a/c1 / :0" },
	{ "V7 a template without spec", VIP_HOOK_PATCHES, PATCHES(BUILTIN ",'items':[{'uid':'u',"
	    INFRA "," TEMPLATE("") "}]"), "team-a/c1 / :0 u@0" },
	{ "V7 ... without spec.template", VIP_HOOK_PATCHES, PATCHES(BUILTIN ",'items':[{'uid':'u',"
	    INFRA "," TEMPLATE(",'spec':{}") "}]"),
	    "team-a/c1 / :0 u@1" },
	{ "V7 ... without spec.template.spec", VIP_HOOK_PATCHES,
	    PATCHES(BUILTIN ",'items':[{'uid':'u'," INFRA "," TEMPLATE(","
	    "'spec':{'template':{}}") "}]"), "team-a/c1 / :0 u@2" },
	{ "V9 nobody names the Cluster",
	    VIP_HOOK_PATCHES, PATCHES("'items':[]"), "items: neither they nor variable builtin name "
	    "the Cluster" },
	{ "V9 two Clusters", VIP_HOOK_PATCHES,
	    PATCHES(BUILTIN ",'items':[{'uid':'u'," HOLDER("Cluster", "c2",
	    "spec.infrastructureRef") "," TEMPLATE(FULL) "}]"),
	    "items.holderReference.name: not the Cluster that variable builtin names" },
	{ "V9 a template without uid", VIP_HOOK_PATCHES, PATCHES(BUILTIN ",'items':[{" INFRA ","
	    TEMPLATE(FULL) "}]"), "items.uid: missing" },
	{ "V9 an item that is a number", VIP_HOOK_PATCHES, PATCHES(BUILTIN ","
	    "'items':[7]"), "items: one is not an object" },
	{ "V9 a variable that is a number",
	    VIP_HOOK_PATCHES, PATCHES("'variables':[7]"), "variables: one is not an object" },
	{ "V9 items that are none", VIP_HOOK_PATCHES, PATCHES(BUILTIN ","
	    "'items':{}"), "items: not a list" },
	{ "V9 an item without holder", VIP_HOOK_PATCHES, PATCHES(BUILTIN ","
	    "'items':[{'uid':'u'}]"), "items.holderReference: missing" },
};

/* Texts here have ' for ". A copy, which the caller frees. */
static char *
quoted(const char *text)
{
	char *const copy = obj_strdup(text);

	for (char *p = copy; *p != '\0'; p++)
		*p = (char)(*p == '\'' ? '"' : *p);
	return copy;
}

static void
assert_text(const char *got, const char *want)
{
	char *const text = quoted(want);

	assert_string_equal(got, text);
	free(text);
}

static void
check_row(void **state)
{
	static struct vip_request q;
	const struct row *const r = *state;
	const size_t len = strlen(r->body);
	char *const body = quoted(r->body);
	char got[512];
	size_t n;

	/* On the heap and without a NUL: valgrind sees a read behind the end. */
	void *const exact = obj_memdup(body, len);
	free(body);
	if (vip_request_read(r->hook, exact, len, &q)) {
		const struct vip_cluster *const c = &q.cluster;

		n = (size_t)snprintf(got, sizeof(got), "%.*s/%.*s %.*s/%.*s %.*s:%d",
		    (int)c->namespace.len, c->namespace.p,
		    (int)c->name.len, c->name.p, (int)c->class_namespace.len, c->class_namespace.p,
		    (int)c->class_name.len, c->class_name.p, (int)c->host.len, c->host.p, (int)c->port);
		for (unsigned i = 0; i < q.ntemplates; i++)
			n += (size_t)snprintf(got + n, sizeof(got) - n, " %.*s@%u",
		    (int)q.templates[i].uid.len,
			    q.templates[i].uid.p, q.templates[i].depth);
		if (r->hook == VIP_HOOK_PATCHES && c->uid.len > 0)
			snprintf(got + n, sizeof(got) - n, " #%.*s", (int)c->uid.len, c->uid.p);
		assert_string_equal(q.err, "");
	} else {
		snprintf(got, sizeof(got), "%s", q.err);
	}
	free(exact);
	assert_string_equal(got, r->want);
}

static void
v9_limits(void **state)
{
	static struct vip_request q;
	char *const body = obj_alloc((size_t)VIP_REQUEST_MAX + 1);
	size_t n = 0;

	(void)state;
	memset(body, ' ', (size_t)VIP_REQUEST_MAX + 1);
	memcpy(body, "{}", 2);
	assert_true(vip_request_read(VIP_HOOK_DISCOVERY, body, VIP_REQUEST_MAX, &q));
	assert_false(vip_request_read(VIP_HOOK_DISCOVERY, body, (size_t)VIP_REQUEST_MAX + 1, &q));
	assert_string_equal(q.err, "the body is larger than 20 MiB, at byte 0");
	memset(body, '[', VIP_REQUEST_MAX);
	assert_false(vip_request_read(VIP_HOOK_CREATE, body, VIP_REQUEST_MAX, &q));
	assert_string_equal(q.err, "more than 64 brackets deep, at byte 65");
	n += (size_t)sprintf(body, "{" BUILTIN ",'items':[");
	for (int i = 0; i <= VIP_ITEMS_MAX; i++)
		n += (size_t)sprintf(body + n, "%s{'uid':'u'," INFRA "," TEMPLATE(FULL) "}",
		    i > 0 ? "," : "");
	n += (size_t)sprintf(body + n, "]}");
	char *const items = quoted(body);
	assert_false(vip_request_read(VIP_HOOK_PATCHES, items, n, &q));
	free(items);
	assert_string_equal(q.err, "items.object: too many infrastructure cluster templates");
	free(body);
}

/* V1, V9: paths are in lower case, with the handler's bare name. */
static void
v1_paths(void **state)
{
	static const struct {
		const char	*path;
		enum vip_hook	 want;
	} paths[] = {
		{ PATHS "discovery", VIP_HOOK_DISCOVERY },
		{ PATHS "beforeclustercreate/vip-allocator-before-create", VIP_HOOK_CREATE },
		{ PATHS "generatepatches/vip-allocator-generate-patches", VIP_HOOK_PATCHES },
		{ PATHS "discovery/", VIP_HOOK_MAX }, { PATHS "discovery/x",
		    VIP_HOOK_MAX }, { PATHS "discover", VIP_HOOK_MAX },
		{ PATHS "beforeclustercreate", VIP_HOOK_MAX }, { PATHS "beforeclustercreate/",
		    VIP_HOOK_MAX },
		{ PATHS "beforeclustercreate/vip-allocator-generate-patches", VIP_HOOK_MAX },
		{ PATHS "beforeclustercreate/vip-allocator-before-create/", VIP_HOOK_MAX },
		{ PATHS "generatepatches/other-generate-patches", VIP_HOOK_MAX },
		{ PATHS "BeforeClusterCreate/vip-allocator-before-create", VIP_HOOK_MAX },
		{ "/hooks.runtime.cluster.x-k8s.io/v1beta1/discovery", VIP_HOOK_MAX }, { "/",
		    VIP_HOOK_MAX }, { "", VIP_HOOK_MAX },
	};

	(void)state;
	for (size_t i = 0; i < NITEMS(paths); i++)
		assert_int_equal(vip_wire_route(paths[i].path, "vip-allocator"), paths[i].want);
}

static void
v1_discovery(void **state)
{
	static char buf[VIP_ANSWER_MAX];

	(void)state;
	const size_t len = vip_answer_discovery(buf, "vip-allocator");
	assert_int_equal(len, strlen(buf));
	assert_text(buf, "{" API ",'kind':'DiscoveryResponse','status':'Success','message':'',"
	    "'handlers':["
	    "{'name':'vip-allocator-before-create','requestHook':{" API ","
	    "'hook':'BeforeClusterCreate'},"
	    "'timeoutSeconds':10,'failurePolicy':'Fail'},"
	    "{'name':'vip-allocator-generate-patches','requestHook':{" API ",'hook':'GeneratePatches'},"
	    "'timeoutSeconds':10,'failurePolicy':'Fail'}]}");
}

static void
v2_answers_of_the_gate(void **state)
{
	static char buf[VIP_ANSWER_MAX];
	static struct vip_gate g = { .pass = true, .message = "the endpoint is set" };

	(void)state;
	vip_answer_gate(buf, &g);
	assert_text(buf, "{" API ",'kind':'BeforeClusterCreateResponse','status':'Success',"
	    "'message':'',"
	    "'retryAfterSeconds':0}");
	g = (struct vip_gate){ .retry_s = 5, .message = "pool\tcp" };
	vip_answer_gate(buf, &g);
	assert_text(buf, "{" API ",'kind':'BeforeClusterCreateResponse','status':'Success',"
	    "'message':'pool\\tcp','retryAfterSeconds':5}");
}

/* The patch document of item i, decoded. */
static void
patch_of(const char *answer, size_t i, char *buf)
{
	json_t *const root = json_loads(answer, 0, NULL);
	const json_t *const item = json_array_get(json_object_get(root, "items"), i);

	assert_string_equal(json_string_value(json_object_get(item, "patchType")), "JSONPatch");
	const char *const text = json_string_value(json_object_get(item, "patch"));
	const int n = EVP_DecodeBlock((unsigned char *)buf, (const unsigned char *)text, (int)strlen(text));
	assert_true(n > 0);
	buf[n - (strstr(text, "==") != NULL ? 2 : strchr(text, '=') != NULL ? 1 : 0)] = '\0';
	json_decref(root);
}

static void
v7_patches(void **state)
{
	static const char *const want[] = {
		"[{'op':'add','path':'/spec',"
		    "'value':{'template':{'spec':{'controlPlaneEndpoint':{'host':'192.0.2.10',"
		    "'port':6443}}}}}]",
		"[{'op':'add','path':'/spec/template',"
		    "'value':{'spec':{'controlPlaneEndpoint':{'host':'192.0.2.10','port':6443}}}}]",
		"[{'op':'add','path':'/spec/template/spec',"
		    "'value':{'controlPlaneEndpoint':{'host':'192.0.2.10','port':6443}}}]",
		"[{'op':'add','path':'/spec/template/spec/controlPlaneEndpoint',"
		    "'value':{'host':'192.0.2.10','port':6443}}]",
	};
	static char buf[VIP_ANSWER_MAX], patch[VIP_ANSWER_MAX];
	static struct vip_patch_plan p = { .result = VIP_PATCHES_GIVE, .port = 6443, .message = "m" };
	static struct vip_request r = { .ntemplates = 4 };

	(void)state;
	p.host = wire_str_of("192.0.2.10");
	for (unsigned i = 0; i < 4; i++)
		r.templates[i] = (struct vip_template){ .uid = wire_str_of("u"), .depth = i };
	vip_answer_patches(buf, &p, &r);
	for (unsigned i = 0; i < 4; i++) {
		patch_of(buf, i, patch);
		assert_text(patch, want[i]);
	}
	assert_non_null(strstr(buf,
	    "W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvdGVtcGxhdGUvc3BlYy9jb250cm9sUGxhbmVFbmRwb2ludCIs"
	    "InZhbHVlIjp7Imhvc3QiOiIxOTIuMC4yLjEwIiwicG9ydCI6NjQ0M319XQ==\""));
	for (size_t len = 1; len < 20; len++) {		/* every remainder of base64 */
		char host[20];

		memset(host, '7', len);
		p.host = (struct wire_str){ .p = host, .len = (uint32_t)len };
		vip_answer_patches(buf, &p, &r);
		patch_of(buf, 3, patch);
		assert_int_equal(strlen(patch), strlen(want[3]) - strlen("192.0.2.10") + len);
	}
	p.result = VIP_PATCHES_NONE;
	vip_answer_patches(buf, &p, &r);
	assert_text(buf, "{" API ",'kind':'GeneratePatchesResponse','status':'Success',"
	    "'message':'','items':[]}");
	p.result = VIP_PATCHES_FAIL;
	vip_answer_patches(buf, &p, &r);
	assert_text(buf, "{" API ",'kind':'GeneratePatchesResponse','status':'Failure',"
	    "'message':'m','items':[]}");
}

/* Whatever a Cluster or a request may hold fits. */
static void
v9_the_longest_answer_fits(void **state)
{
	static char buf[VIP_ANSWER_MAX], host[1024], uid[VIP_UID_MAX];
	static struct vip_patch_plan p = { .result = VIP_PATCHES_GIVE, .port = 65535 };
	static struct vip_request r = { .ntemplates = VIP_ITEMS_MAX };
	static struct vip_gate g = { .retry_s = 5 };

	(void)state;
	for (size_t i = 0; i < sizeof(host); i += 2)
		memcpy(host + i, "\xc2\x9b", 2);	/* becomes six bytes */
	memset(uid, '\\', sizeof(uid));
	p.host = (struct wire_str){ .p = host, .len = sizeof(host) };
	for (unsigned i = 0; i < VIP_ITEMS_MAX; i++)
		r.templates[i].uid = (struct wire_str){ .p = uid, .len = sizeof(uid) };
	assert_in_range(vip_answer_patches(buf, &p, &r), 1, sizeof(buf) - 1);
	memset(g.message, '\x01', sizeof(g.message) - 1);
	assert_in_range(vip_answer_gate(buf, &g), 1, sizeof(buf) - 1);
}

/* ---- Bodies ---- */

static const struct body_row {
	const char	*name, *input, *pools;
	char		 body;		/* c: the claim, a: its adoption, p: the Cluster's patch */
	const char	*want;
} bodies[] = {
	{ "V2 V6 the claim has label, owner and pool", "", NULL, 'c',
	    "{'apiVersion':'ipam.cluster.x-k8s.io/v1beta2','kind':'IPAddressClaim',"
	    "'metadata':{'name':'vip-cp-c1','namespace':'team-a',"
	    "'labels':{'cluster.x-k8s.io/cluster-name':'c1'},"
	    "'ownerReferences':[{'apiVersion':'cluster.x-k8s.io/v1beta2','kind':'Cluster',"
	    "'name':'c1','uid':'u1','controller':true,'blockOwnerDeletion':true}]},"
	    "'spec':{'poolRef':{'apiGroup':'ipam.cluster.x-k8s.io','kind':'GlobalInClusterIPPool',"
	    "'name':'cp'}}}" },
	{ "V5 V8 a reserved one in a pool of the namespace: no label yet", "paused reserve",
	    "np class=rke2 role=control-plane ns=team-a", 'c',
	    "{'apiVersion':'ipam.cluster.x-k8s.io/v1beta2','kind':'IPAddressClaim',"
	    "'metadata':{'name':'vip-cp-c1','namespace':'team-a',"
	    "'ownerReferences':[{'apiVersion':'cluster.x-k8s.io/v1beta2','kind':'Cluster',"
	    "'name':'c1','uid':'u1','controller':true,'blockOwnerDeletion':true}]},"
	    "'spec':{'poolRef':{'apiGroup':'ipam.cluster.x-k8s.io','kind':'InClusterIPPool',"
	    "'name':'np'}}}" },
	{ "V6 adoption", "claim claim.owners=0", NULL, 'a',
	    "{'metadata':{'resourceVersion':'77','labels':{'cluster.x-k8s.io/cluster-name':'c1'},"
	    "'ownerReferences':[{"
	    "'apiVersion':'cluster.x-k8s.io/v1beta2','kind':'Cluster','name':'c1','uid':'u1',"
	    "'controller':true,'blockOwnerDeletion':true}]}}" },
	{ "V8 the label of a reserved one: its owners stay", "claim claim.label=", NULL, 'a',
	    "{'metadata':{'resourceVersion':'77','labels':{'cluster.x-k8s.io/cluster-name':'c1'}}}" },
	{ "V2 the endpoint, with the default port", ADDRESS, NULL, 'p',
	    "{'metadata':{'resourceVersion':'5'},"
	    "'spec':{'controlPlaneEndpoint':{'host':'10.2.0.20','port':6443}}}" },
	{ "V2 TestPatchClusterEndpointPreservesExistingPort", ADDRESS " port=8443", NULL, 'p',
	    "{'metadata':{'resourceVersion':'5'},"
	    "'spec':{'controlPlaneEndpoint':{'host':'10.2.0.20','port':8443}}}" },
	{ "V7 V11 the variable, when there is none", ADDRESS " declares", NULL, 'p',
	    "{'metadata':{'resourceVersion':'5'},"
	    "'spec':{'controlPlaneEndpoint':{'host':'10.2.0.20','port':6443},"
	    "'topology':{'variables':[{'name':'clusterVip','value':'10.2.0.20'}]}}}" },
	{ "V7 V11 others keep their place and bytes", ADDRESS " declares "
	    "vars=[{'value':{'x':[1,2.50]},'name':'a'},{'name':'clusterVip',"
	    "'definitionFrom':'inline','value':{'old':1}},{'name':'b','value':'\\u003c'}]",
	    NULL, 'p',
	    "{'metadata':{'resourceVersion':'5'},"
	    "'spec':{'controlPlaneEndpoint':{'host':'10.2.0.20','port':6443},"
	    "'topology':{'variables':[{'value':{'x':[1,2.50]},'name':'a'},{'name':'clusterVip',"
	    "'value':'10.2.0.20',"
	    "'definitionFrom':'inline'},{'name':'b','value':'\\u003c'}]}}}" },
	{ "V8 ingress: annotation and label", "role=ingress ingress " ADDRESS, NULL, 'p',
	    "{'metadata':{'resourceVersion':'5',"
	    "'annotations':{'vip.capi.gorizond.io/ingress-vip':'10.2.0.20'},"
	    "'labels':{'vip.capi.gorizond.io/ingress-vip':'10.2.0.20'}}}" },
	{ "V8 ingress with IPv6: the annotation alone",
	    "role=ingress ingress claim address=fd00::1", NULL, 'p',
	    "{'metadata':{'resourceVersion':'5',"
	    "'annotations':{'vip.capi.gorizond.io/ingress-vip':'fd00::1'}}}" },
};

static size_t write_body(const struct body_row *r, const struct vip_input *in,
    const struct vip_view *v, char *buf, size_t size)
{
	return r->body == 'c' ? vip_body_claim(buf, size, "ipam.cluster.x-k8s.io/v1beta2",
	    "cluster.x-k8s.io/v1beta2", in, v)
	    : r->body == 'a'  ? vip_body_adopt(buf, size, "cluster.x-k8s.io/v1beta2", in)
			      : vip_body_cluster(buf, size, in);
}

static void
check_body(void **state)
{
	static struct vip_words w;
	static struct vip_view v;
	static char buf[4096];
	const struct body_row *const r = *state;

	char *const input = quoted(r->input);
	vip_words_read(&w, input, r->pools);
	free(input);
	vip_view(&w.in, &v);
	assert_int_equal(write_body(r, &w.in, &v, buf, sizeof(buf)), strlen(r->want));
	assert_text(buf, r->want);
	json_t *const root = json_loads(buf, 0, NULL);
	assert_non_null(root);
	json_decref(root);
	for (size_t size = 1; size <= strlen(r->want); size++)
		assert_int_equal(write_body(r, &w.in, &v, buf, size), 0);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(bodies) + 6];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(bodies); i++)
		tests[n++] = (struct CMUnitTest){ bodies[i].name, check_body, NULL, NULL,
			(void *)(uintptr_t)&bodies[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(v9_limits);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(v1_paths);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(v1_discovery);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(v2_answers_of_the_gate);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(v7_patches);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(v9_the_longest_answer_fits);
	MUST(n == NITEMS(tests));
	return cmocka_run_group_tests_name("vip_wire", tests, NULL, NULL);
}
