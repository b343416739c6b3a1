/*
 * tests/unit/test_project.c - one object, two encodings, one projection: what comes out, what is
 * refused, and that both readers agree. The protobuf is made by an encoder of the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube/project.h"
#include "msg.h"
#include "tests/unit/kubebytes.h"

#define BOTH		(ROLE_BIT(TEST_KUBE_1) | ROLE_BIT(TEST_KUBE_2))
#define META		"'metadata':{'name':'a','uid':'u','resourceVersion':'7'}"
#define MENDED		"\xef\xbf\xbd"
#define OBJECT(rest)	"{" META "," rest "}"
#define META_WITH(rest)	"{'metadata':{'name':'a','uid':'u','resourceVersion':'7'," rest "}}"

/*
 * Exactly as long as it is, so that the sanitizer sees a byte too many; NULL-padded when padding is
 * asked for.
 */
static bool
run(struct projection *p, enum project_form form, const void *bytes, size_t len, size_t padding,
    struct projected *out)
{
	uint8_t *copy = obj_alloc(len + padding + 1);

	memcpy(copy, bytes, len);
	uint8_t *exact = obj_memdup(copy, len + padding);
	const bool ok = project(p, form, exact, len, padding, out);
	free(exact);
	free(copy);
	return ok;
}

/* The bodies as JSON, one line per role; also proves that they are what msg_unpack_value takes. */
static void
show(enum kind k, const struct projected *out, char *buf, size_t size)
{
	struct msg_arena arena;
	union msg_body body;
	size_t len = 0;

	buf[0] = '\0';
	msg_arena_init(&arena);
	for (size_t i = 0; i < out->nvalues; i++) {
		const enum msg m = (enum msg)kind_table[k].message;

		assert_true(msg_unpack_value(m, out->values[i].bytes, out->values[i].len, &arena, &body));
		len += msg_print(m, &body, true, buf + len, size - len);
		len += (size_t)snprintf(buf + len, size - len, "\n");
	}
	msg_arena_free(&arena);
}

/* ---- What comes out, the same from both forms ---- */

static const struct row {
	const char	*name;
	enum kind	 kind;
	const char	*version;
	uint64_t	 readers;
	const char	*object;	/* JSON; the protobuf is made of it */
	const char	*wanted;	/* one line per role */
} rows[] = {
	{ "a node with everything", KIND_NODE, "v1", ROLE_BIT(TEST_KUBE_1),
	  "{'kind':'Node','apiVersion':'v1','metadata':{'name':'w-1','uid':'u-1','resourceVersion':'42',"
	  "'creationTimestamp':'2026-11-17T03:04:05Z','deletionTimestamp':'2026-11-17T03:04:06Z',"
	  "'labels':{'b':'2','a':'1','c/d.e':''},"
	  "'annotations':{'x':'\\u003ctext\\u003e \\'\\u00e9\\ud83d\\ude00\\' \\n'},"
	  "'finalizers':['f/one','f/two'],"
	  "'managedFields':[{'manager':'kubelet','fieldsV1':{'f:x':{}}}]},"
	  "'spec':{'podCIDR':'10.0.0.0/24','providerID':'linode://1','unschedulable':true,"
	  "'taints':[{'key':'k','effect':'NoSchedule','timeAdded':'2026-01-01T00:00:00Z'},"
	  "{'key':'l','value':'v'}]},'status':{'capacity':{'cpu':'4'},"
	  "'conditions':[{'type':'Ready','status':'True','reason':'KubeletReady','message':'is posting',"
	  "'lastHeartbeatTime':'2026-11-17T03:04:05Z','lastTransitionTime':'2026-11-17T03:00:00Z'}],"
	  "'addresses':[{'type':'InternalIP','address':'10.1.2.3'},{'type':'Hostname','address':'w-1'}],"
	  "'images':[{'names':['a@sha256:1','a:1'],'sizeBytes':12345}]}}",
	  "'labels':{'a':'1','b':'2','c/d.e':''},"
	  "'annotations':{'x':'<text> \\'\xc3\xa9\xf0\x9f\x98\x80\\' \\n'},'mco':{},"
	  "'vpsie':{},'vpsie_labels':{},'deleted':'2026-11-17T03:04:06Z','finalizers':['f/one','f/two'],"
	  "'provider_id':'linode://1','unschedulable':true,"
	  "'taints':[['k','','NoSchedule'],['l','v','']],"
	  "'conditions':[['Ready','True','KubeletReady','2026-11-17T03:00:00Z']],"
	  "'addresses':[['InternalIP','10.1.2.3'],['Hostname','w-1']],'echo':{}\n" },
	{ "a node with nothing", KIND_NODE, "v1", ROLE_BIT(TEST_KUBE_1), "{" META "}",
	  "'labels':{},'annotations':{},'mco':{},'vpsie':{},"
	  "'vpsie_labels':{},'deleted':'','finalizers':[],'provider_id':'',"
	  "'unschedulable':false,'taints':[],'conditions':[],'addresses':[],'echo':{}\n" },
	{ "missing, null and empty are the same", KIND_NODE, "v1", ROLE_BIT(TEST_KUBE_1),
	  "{'metadata':{'name':'a','uid':'u','resourceVersion':'7','labels':null,"
	  "'deletionTimestamp':null,'finalizers':[]},"
	  "'spec':null,'status':{'conditions':null,'addresses':[{'type':null}]}}",
	  "'labels':{},'annotations':{},'mco':{},'vpsie':{},"
	  "'vpsie_labels':{},'deleted':'','finalizers':[],'provider_id':'',"
	  "'unschedulable':false,'taints':[],'conditions':[],'addresses':[['','']],'echo':{}\n" },
	/* The text of null has no bytes at all, not even an address (issue 10.17). */
	{ "null in a map and in a list is an empty text", KIND_NODE, "v1", ROLE_BIT(TEST_KUBE_1),
	  META_WITH("'labels':{'b':null,'a':'1'},'annotations':{'x':null},'finalizers':[null,'f']"),
	  "'labels':{'a':'1','b':''},'annotations':{'x':''},'mco':{},'vpsie':{},"
	  "'vpsie_labels':{},'deleted':'',"
	  "'finalizers':['','f'],"
	  "'provider_id':'','unschedulable':false,'taints':[],'conditions':[],'addresses':[],'echo':{}\n" },
	{ "of a map only what was selects, without its prefix; empty is not absent", KIND_NODE, "v1",
	  ROLE_BIT(NODE_STATE) | ROLE_BIT(TEST_KUBE_2),
	  META_WITH("'annotations':{'machineconfiguration.openshift.io/state':'Done','a':'b',"
		    "'machineconfiguration.openshift.io/desiredConfig':'',"
		    "'machineconfiguration.openshift.io/stat':'1',"
		    "'machineconfiguration.openshift.io/state2':'2',"
		    "'machineconfiguration.openshift.io/':'3','state':'4'}"),
	  "'labels':{},'annotations':{},'mco':{'desiredConfig':'','state':'Done'},'vpsie':{},"
	  "'vpsie_labels':{},'deleted':'',"
	  "'finalizers':[],'provider_id':'','unschedulable':false,'taints':[],"
	  "'conditions':[],'addresses':[],'echo':{}\n"
	  "'labels':{},'annotations':{'a':'b','machineconfiguration.openshift.io/':'3',"
	  "'machineconfiguration.openshift.io/desiredConfig':'',"
	  "'machineconfiguration.openshift.io/stat':'1','machineconfiguration.openshift.io/state':'Done',"
	  "'machineconfiguration.openshift.io/state2':'2','state':'4'},'mco':{},'vpsie':{},"
	  "'vpsie_labels':{},'deleted':'',"
	  "'finalizers':[],'provider_id':'','unschedulable':false,'taints':[],"
	  "'conditions':[],'addresses':[],'echo':{}\n" },
	{ "each role gets what it reads", KIND_POD, "v1", BOTH,
	  OBJECT("'spec':{'nodeName':'w-1','priority':-5},'status':{'phase':'Running'}"),
	  "'labels':{},'owners':[],'node':'w-1','priority':-5,'phase':'Running'\n"
	  "'labels':{},'owners':[],'node':'','priority':0,'phase':''\n" },
	{ "one role alone", KIND_POD, "v1", ROLE_BIT(TEST_KUBE_2),
	  META_WITH("'labels':{'app':'x'},'ownerReferences':[{'kind':7}]"),
	  "'labels':{'app':'x'},'owners':[],'node':'','priority':0,'phase':''\n" },
	{ "a role that reads nothing of it does not count", KIND_NAMESPACE, "v1", BOTH | ROLE_BIT(NODE_STATE),
	  META_WITH("'labels':{'app':'x'},'deletionTimestamp':'1969-12-31T23:59:59Z'"),
	  "'labels':{'app':'x'},'deleted':'1969-12-31T23:59:59Z'\n" },
	{ "owners: a bool as a column; false is empty", KIND_POD, "v1", ROLE_BIT(TEST_KUBE_1),
	  META_WITH("'ownerReferences':["
		    "{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'r','uid':'x','controller':true},"
		    "{'kind':'Node','name':'n','uid':'y','controller':false},{'kind':'Node'}]"),
	  "'labels':{},'owners':[['ReplicaSet','r','x','true'],['Node','n','y',''],['Node','','','']],"
	  "'node':'','priority':0,'phase':''\n" },
	{ "keys in the order of their bytes", KIND_NAMESPACE, "v1", ROLE_BIT(TEST_KUBE_1),
	  META_WITH("'labels':{'b':'1','aa':'2','a':'3','B':'4','\\u00e9':'5','a.':'6'}"),
	  "'labels':{'B':'4','a':'3','a.':'6','aa':'2','b':'1','\xc3\xa9':'5'},'deleted':''\n" },
	{ "a NUL is sanitized", KIND_NAMESPACE, "v1", ROLE_BIT(TEST_KUBE_1),
	  META_WITH("'labels':{'a':'x\\u0000y','b':'abc\\u0000defghijklm','c':'\\u0000'}"),
	  "'labels':{'a':'x" MENDED "y','b':'abc" MENDED "defghijklm','c':'" MENDED "'},'deleted':''\n" },
	{ "a CRD at one version", KIND_WIDGET, "v1", ROLE_BIT(TEST_KUBE_1),
	  "{'kind':'Widget','metadata':{'name':'a','namespace':'n','uid':'u','resourceVersion':'7',"
	  "'generation':3},"
	  "'spec':{ 'size' : 9007199254740993, 'color':'red', 'deep': {'list' : [1, 2.50, 'a b'] } },"
	  "'status':{'conditions':[{'type':'Ready','status':'True'}]}}",
	  "'labels':{},'finalizers':[],'generation':3,'size':9007199254740993,'color':'red',"
	  "'spec':'{\\'size\\':9007199254740993,\\'color\\':\\'red\\',\\'deep\\':"
	  "{\\'list\\':[1,2.50,\\'a b\\']}}',"
	  "'conditions':[['Ready','True','']],'deleted':'','claim':{}\n" },
	{ "the same field elsewhere at another version", KIND_WIDGET, "v1beta1", ROLE_BIT(TEST_KUBE_1),
	  OBJECT("'spec':{'color':'red','colour':'blue'}"),
	  "'labels':{},'finalizers':[],'generation':0,'size':0,'color':'blue',"
	  "'spec':'{\\'color\\':\\'red\\',\\'colour\\':\\'blue\\'}','conditions':[],"
	  "'deleted':'','claim':{}\n" },
	{ "a subtree that is not there", KIND_WIDGET, "v1", ROLE_BIT(TEST_KUBE_1), OBJECT("'spec':null"),
	  "'labels':{},'finalizers':[],'generation':0,'size':0,'color':'','spec':'','conditions':[],"
	  "'deleted':'','claim':{}\n" },
	{ "a live kind: an item of a list, without its kind", KIND_NODE_POD, "v1", ROLE_BIT(TEST_KUBE_2),
	  "{'metadata':{'name':'p','namespace':'n','uid':'u','resourceVersion':'7','annotations':"
	  "{'a':'b','karpenter.sh/do-not-disrupt':'true','karpenter.sh/other':'x',"
	  "'kubernetes.io/config.mirror':'h','kubernetes.io/config.hash':'h'},'ownerReferences':"
	  "[{'kind':'DaemonSet','name':'d','controller':true},{'kind':'Node'}],"
	  "'deletionTimestamp':'2026-11-17T03:04:06Z','deletionGracePeriodSeconds':30},"
	  "'spec':{'priorityClassName':'system-node-critical','terminationGracePeriodSeconds':60,"
	  "'tolerations':[{'key':'k','operator':'Exists','effect':'NoExecute','tolerationSeconds':300}],"
	  "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'data'}},{'name':'e','ephemeral':"
	  "{'volumeClaimTemplate':{'spec':{'volumeMode':'Block'}}}},{'name':'t','projected':{}}]},"
	  "'status':{'phase':'Running'}}",
	  "'ns':'n','name':'p','mirror':{'config.mirror':'h'},'karpenter':{'do-not-disrupt':'true'},"
	  "'owners':[['DaemonSet','true'],['Node','']],'deleted':'2026-11-17T03:04:06Z','delete_s':30,"
	  "'priority':'system-node-critical','tolerations':[['k','Exists','','NoExecute']],'grace_s':60,"
	  "'phase':'Running','volumes':[['v','data',''],['e','','Block'],['t','','']]\n" },
	{ "a PersistentVolumeClaim", KIND_VOLUME_CLAIM, "v1", ROLE_BIT(TEST_KUBE_2),
	  OBJECT("'spec':{'volumeName':'pv-1','storageClassName':'x'}"), "'volume':'pv-1'\n" },
	{ "a VolumeAttachment", KIND_VOLUME_ATTACHMENT, "v1", ROLE_BIT(TEST_KUBE_2),
	  OBJECT("'kind':'VolumeAttachment','spec':{'attacher':'x','nodeName':'w-1',"
		 "'source':{'persistentVolumeName':'pv-1'}},'status':{'attached':true}"),
	  "'node':'w-1','volume':'pv-1','attached':true\n" },
};

static void
check_row(void **state)
{
	const struct row *r = *state;
	struct projection *p = projection_new(r->kind, r->version, r->readers);
	struct projected out;
	const char *object = json_text(r->object), *wanted = json_text(r->wanted);
	char json[4096], proto[4096];

	/* with padding, without, and again: buffers are used once more */
	for (int i = 0; i < 3; i++) {
		const bool ok = run(p, PROJECT_JSON, object, strlen(object),
		    i == 1 ? 0 : PROJECT_PADDING, &out);

		assert_string_equal(out.error, "");
		assert_true(ok);
		show(r->kind, &out, json, sizeof(json));
		assert_string_equal(json, wanted);
	}
	if (kind_table[r->kind].form == FORM_PROTO && strstr(r->object, "'kind':7") == NULL) {
		struct bytes b = kube_object(kind_table[r->kind].kind, r->object);

		for (int wrapped = 0; wrapped <= 1; wrapped++) {
			if (wrapped)
				b = kube_wrap("v1", kind_table[r->kind].kind, &b);
			assert_true(run(p, PROJECT_PROTO, b.p, b.len, 0, &out));
			show(r->kind, &out, proto, sizeof(proto));
			assert_string_equal(proto, json);
		}
		bytes_free(&b);
	}
	projection_free(&p);
	assert_null(p);
}

/* ---- What is refused, and with which error ---- */

static const struct refusal {
	const char	*name;
	enum kind	 kind;
	const char	*object, *wanted;
} refusals[] = {
	{ "nothing", KIND_NODE, "", "the object: " },
	{ "not JSON", KIND_NODE, "hello", "the object: " },
	{ "a list", KIND_NODE, "[1]", "the object: not a JSON object" },
	{ "cut short", KIND_NODE, "{'metadata':{'name':'a'", "the object: " },
	{ "something behind", KIND_NODE, "{" META "} {}", "the object: something follows its end" },
	{ "another kind", KIND_NODE, OBJECT("'kind':'Status'"), "kind[Status]: not a Node" },
	{ "no name", KIND_NODE, "{'metadata':{'uid':'u','resourceVersion':'7'}}", "metadata.name: missing" },
	{ "no uid", KIND_NODE, "{'metadata':{'name':'a','resourceVersion':'7'}}", "metadata.uid: missing" },
	{ "no version", KIND_NODE, "{'metadata':{'name':'a','uid':'u'}}", "metadata.resourceVersion: missing" },
	{ "a name with a slash", KIND_NODE, "{'metadata':{'name':'a/b','uid':'u','resourceVersion':'7'}}",
	  "metadata.name: not a name" },
	{ "metadata that is none", KIND_NODE, "{'metadata':5}", "metadata: not an object" },
	{ "a label that is no text", KIND_NODE, META_WITH("'labels':{'a':'b','c':5}"), "metadata.labels[c]: not a string" },
	{ "labels that are no map", KIND_NODE, META_WITH("'labels':[]"), "metadata.labels: not an object" },
	{ "a finalizer that is no text", KIND_NODE, META_WITH("'finalizers':['a',true]"), "metadata.finalizers[1]: not a string" },
	{ "a flag that is none", KIND_NODE, OBJECT("'spec':{'unschedulable':'true'}"), "spec.unschedulable: neither true nor false" },
	{ "a column that is no text", KIND_NODE, OBJECT("'spec':{'taints':[{},{},{'key':5}]}"), "spec.taints[2].key: not a string" },
	{ "a row that is none", KIND_NODE, OBJECT("'spec':{'taints':[{'key':'a'},[]]}"), "spec.taints[1]: not an object" },
	{ "rows that are none", KIND_NODE, OBJECT("'spec':{'taints':{}}"), "spec.taints: not a list" },
	{ "a fraction", KIND_WIDGET, OBJECT("'spec':{'size':1.5}"), "spec.size: " },
	{ "a number above 64 bits", KIND_WIDGET, OBJECT("'spec':{'size':9223372036854775808}"), "spec.size: " },
	{ "1e999", KIND_WIDGET, OBJECT("'spec':{'size':1e999}"), "spec: " },
	{ "half an escape", KIND_NODE, META_WITH("'labels':{'a':'\\ud800'}"), "metadata.labels[a]: " },
	{ "a subtree that is not JSON", KIND_WIDGET, OBJECT("'spec':{'a':tru}"), "spec: " },
	{ "a control character", KIND_NODE, META_WITH("'labels':{'a':'\x01'}"), "the object: " },
	{ "a missing comma", KIND_NODE, META_WITH("'labels':{'a':'b' 'c':'d'}"), "metadata.labels: " },
};

static void
check_refusal(void **state)
{
	const struct refusal *r = *state;
	struct projection *p = projection_new(r->kind, "v1", UINT64_MAX);
	const char *object = json_text(r->object);
	struct projected out;

	assert_false(run(p, PROJECT_JSON, object, strlen(object), 0, &out));
	if (strncmp(out.error, r->wanted, strlen(r->wanted)) != 0)
		fail_msg("got: %s\nwanted: %s", out.error, r->wanted);
	assert_true(strlen(out.error) > 4);
	assert_int_equal(out.nvalues, 0);
	projection_free(&p);
}

/* ---- Protobuf that is not what it should be ---- */

static struct bytes
identity(void)
{
	return kube_object("ObjectMeta", "{'name':'a','uid':'u','resourceVersion':'7'}");
}

static void
assert_refused_pb(enum kind k, struct bytes *object, const char *wanted)
{
	struct projection *p = projection_new(k, "v1", UINT64_MAX);
	struct projected out;

	assert_false(run(p, PROJECT_PROTO, object->p, object->len, 0, &out));
	assert_string_equal(out.error, wanted);
	bytes_free(object);
	projection_free(&p);
}

static void
pb_refusals(void **state)
{
	struct bytes b = { 0 }, m = identity(), taint = { 0 }, time = { 0 }, spec = { 0 };

	(void)state;
	bytes_message(&b, 1, &m);
	bytes_int(&b, 2, 5);
	assert_refused_pb(KIND_NODE, &b, "spec: not of the wire type that belongs here");

	m = identity();
	bytes_add(&m, "\x5a\x7f", 2);		/* labels, of 127 bytes that are not there */
	bytes_message(&b, 1, &m);
	assert_refused_pb(KIND_NODE, &b, "metadata: declares more bytes than it has");

	m = identity();
	bytes_message(&b, 1, &m);
	bytes_text(&taint, 1, "k");
	bytes_message(&spec, 5, &taint);
	bytes_int(&taint, 2, 1);
	bytes_message(&spec, 5, &taint);
	bytes_message(&b, 2, &spec);
	assert_refused_pb(KIND_NODE, &b, "spec.taints[1].value: not of the wire type that belongs here");

	m = identity();
	bytes_int(&time, 1, INT64_MAX);
	bytes_message(&m, 9, &time);
	bytes_message(&b, 1, &m);
	assert_refused_pb(
	    KIND_NODE, &b, "metadata.deletionTimestamp: a time before the year 1 or after 9999");

	m = kube_object("Status", "{'message':'m'}");
	b = kube_wrap("v1", "Status", &m);
	assert_refused_pb(KIND_NODE, &b, "kind[Status]: not a Node");

	b = kube_object("Node", "{" META "}");
	assert_refused_pb(KIND_WIDGET, &b, "the object: protobuf, of a kind that has none");
}

/* Unknown{4: contentType}: the raw bytes are then something else. */
static void
pb_of_another_content(void **state)
{
	struct bytes b = { 0 };

	(void)state;
	bytes_add(&b, "k8s\0", 4);
	bytes_text(&b, 2, "{}");
	bytes_text(&b, 4, "application/json");
	assert_refused_pb(KIND_NODE, &b,
	    "the object: inside the protobuf wrapping is something else than protobuf");
}

/* Text that is not UTF-8 becomes what Go's JSON would show for it; no field is lost for it. */
static void
text_is_sanitized_alike(void **state)
{
	const char *json = json_text(META_WITH("'annotations':{'a':'x\xff\xc3','b':'\xc3\xa9'},"
	    "'labels':{'\xed\xa0\x80':''}"));
	struct projection *p = projection_new(KIND_NODE, "v1", ROLE_BIT(TEST_KUBE_1));
	struct projected out;
	struct bytes b = { 0 }, m = identity(), e = { 0 };
	char text[1024], again[1024];

	(void)state;
	assert_true(run(p, PROJECT_JSON, json, strlen(json), PROJECT_PADDING, &out));
	show(KIND_NODE, &out, text, sizeof(text));
	assert_non_null(strstr(text, json_text("'labels':{'" MENDED MENDED MENDED "':''},"
	    "'annotations':{'a':'x" MENDED MENDED "','b':'\xc3\xa9'}")));

	bytes_text(&e, 1, "a");
	bytes_text(&e, 2, "x\xff\xc3");
	bytes_message(&m, 12, &e);
	bytes_text(&e, 1, "b");
	bytes_text(&e, 2, "\xc3\xa9");
	bytes_message(&m, 12, &e);
	bytes_text(&e, 1, "\xed\xa0\x80");
	bytes_message(&m, 11, &e);
	bytes_message(&b, 1, &m);
	assert_true(run(p, PROJECT_PROTO, b.p, b.len, 0, &out));
	show(KIND_NODE, &out, again, sizeof(again));
	assert_string_equal(again, text);
	bytes_free(&b);
	projection_free(&p);
}

/* Of two members, two keys, two fields the first counts. */
static void
first_one_wins(void **state)
{
	const char *json = json_text("{'metadata':{'name':'a','name':'b','uid':'u','resourceVersion':'7',"
	    "'labels':{'x':'1','w':'0','x':'2'},'labels':{'y':'3'}},'metadata':{'uid':'other'}}");
	struct projection *p = projection_new(KIND_NAMESPACE, "v1", ROLE_BIT(TEST_KUBE_1));
	struct projected out;
	struct bytes b = { 0 }, m = identity(), e = { 0 };
	char text[1024];

	(void)state;
	assert_true(run(p, PROJECT_JSON, json, strlen(json), PROJECT_PADDING, &out));
	show(KIND_NAMESPACE, &out, text, sizeof(text));
	assert_string_equal(text, json_text("'labels':{'w':'0','x':'1'},'deleted':''\n"));
	assert_string_equal(out.name, "a");
	assert_string_equal(out.uid, "u");

	bytes_text(&m, 1, "b");
	for (const char *value = "123"; *value != '\0'; value++) {
		bytes_text(&e, 1, *value == '2' ? "w" : "x");
		bytes_field(&e, 2, value, 1);
		bytes_message(&m, 11, &e);
	}
	bytes_message(&b, 1, &m);
	assert_true(run(p, PROJECT_PROTO, b.p, b.len, 0, &out));
	show(KIND_NAMESPACE, &out, text, sizeof(text));
	assert_string_equal(text, json_text("'labels':{'w':'2','x':'1'},'deleted':''\n"));
	assert_string_equal(out.name, "a");
	bytes_free(&b);
	projection_free(&p);
}

/* In a record, too. */
static void
first_column_wins(void **state)
{
	struct projection *p = projection_new(KIND_NODE, "v1", ROLE_BIT(TEST_KUBE_1));
	struct projected out;
	struct bytes b = { 0 }, m = identity(), taint = { 0 }, spec = { 0 };
	char text[1024];

	(void)state;
	bytes_message(&b, 1, &m);
	bytes_text(&taint, 1, "k");
	bytes_text(&taint, 3, "NoSchedule");
	bytes_text(&taint, 1, "other");
	bytes_message(&spec, 5, &taint);
	bytes_message(&b, 2, &spec);
	assert_true(run(p, PROJECT_PROTO, b.p, b.len, 0, &out));
	show(KIND_NODE, &out, text, sizeof(text));
	assert_non_null(strstr(text, json_text("'taints':[['k','','NoSchedule']]")));
	bytes_free(&b);
	projection_free(&p);
}

static void
names_of_the_object(void **state)
{
	const char *json = json_text("{'metadata':{'name':'web-0','namespace':'shop','uid':'1-2',"
	    "'resourceVersion':'99'}}");
	struct projection *p = projection_new(KIND_POD, "v1", 0);
	struct bytes b = kube_object("Pod", json);
	struct projected out;

	(void)state;
	for (enum project_form form = PROJECT_JSON; form <= PROJECT_PROTO; form++) {
		assert_true(form == PROJECT_JSON ? run(p, form, json, strlen(json), 0, &out)
						 : run(p, form, b.p, b.len, 0, &out));
		assert_string_equal(out.name, "web-0");
		assert_string_equal(out.ns, "shop");
		assert_string_equal(out.uid, "1-2");
		assert_string_equal(out.rv, "99");
		assert_int_equal(out.nvalues, 0);
	}
	bytes_free(&b);
	projection_free(&p);
}

static void
metadata_alone(void **state)
{
	static const struct {
		enum kind kind;
		uint64_t  readers;
		bool	  wanted;
	} asks[] = {
		{ KIND_NODE, ROLE_BIT(NODE_STATE), false },
		{ KIND_NAMESPACE, ROLE_BIT(TEST_KUBE_1), true },
		{ KIND_POD, ROLE_BIT(TEST_KUBE_1), false },
		{ KIND_POD, ROLE_BIT(TEST_KUBE_2), true },	/* reads the labels only */
		{ KIND_WIDGET, ROLE_BIT(TEST_KUBE_2), true },
		{ KIND_NODE, 0, true },
	};
	const char *json = json_text("{'kind':'PartialObjectMetadata','apiVersion':'meta.k8s.io/v1',"
	    "'metadata':{'name':'a','uid':'u','resourceVersion':'7','labels':{'a':'b'}}}");
	struct projected out;
	struct bytes b = kube_object("PartialObjectMetadata", json);

	(void)state;
	for (size_t i = 0; i < NITEMS(asks); i++) {
		struct projection *p = projection_new(asks[i].kind, "v1", asks[i].readers);

		assert_int_equal(projection_metadata_only(p), asks[i].wanted);
		assert_true(run(p, PROJECT_JSON, json, strlen(json), 0, &out));
		projection_free(&p);
	}
	struct projection *p = projection_new(KIND_POD, "v1", ROLE_BIT(TEST_KUBE_2));
	char text[512];
	b = kube_wrap("meta.k8s.io/v1", "PartialObjectMetadata", &b);
	assert_true(run(p, PROJECT_PROTO, b.p, b.len, 0, &out));
	show(KIND_POD, &out, text, sizeof(text));
	assert_string_equal(text,
	    json_text("'labels':{'a':'b'},'owners':[],'node':'','priority':0,'phase':''\n"));
	bytes_free(&b);
	projection_free(&p);
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(pb_refusals), cmocka_unit_test(pb_of_another_content),
		cmocka_unit_test(text_is_sanitized_alike), cmocka_unit_test(first_one_wins),
		cmocka_unit_test(first_column_wins),
		cmocka_unit_test(names_of_the_object), cmocka_unit_test(metadata_alone),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(refusals) + NITEMS(others)];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(refusals); i++)
		tests[n++] = (struct CMUnitTest){ refusals[i].name, check_refusal, NULL, NULL,
			(void *)(uintptr_t)&refusals[i] };
	for (size_t i = 0; i < NITEMS(others); i++)
		tests[n++] = others[i];
	return cmocka_run_group_tests_name("project", tests, NULL, NULL);
}
