/*
 * tests/unit/test_vip_plan.c - the reconciler's plan for a Cluster: V2, V3, V4, V5, V6, V8, V12; edge cases
 * (E1 to E6) and unit tests of the original document, by their names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vip_words.h"

#define C50	"cccccccccccccccccccccccccccccccccccccccccccccccccc"
#define ADDRESS	"claim address=10.2.0.20"

static const struct row {
	const char	*name, *input, *pools;		/* pools NULL: cp with free addresses */
	enum vip_verb	 want;
	enum vip_event	 event;
	const char	*message;
} rows[] = {
	/* V2: the way of a new Cluster */
	{ "V2 no claim yet", "", NULL, VIP_CREATE_CLAIM, 0, "an address is needed: IPAddressClaim team-a/vip-cp-c1 of pool cp" },
	{ "V2 V4 TestClusterReconciler_Reconcile_RequeuesWhenClaimPending", "claim", NULL, VIP_WAIT, 0,
	    "waiting for an address: IPAddressClaim team-a/vip-cp-c1 of pool cp" },
	{ "V2 TestResolveIPAddressPendingWithoutIPAddressResource", "claim claim.ref=vip-cp-c1", NULL, VIP_WAIT, 0, NULL },
	{ "V2 TestClusterReconciler_Reconcile_AssignsIPAddress_DirectMode", ADDRESS, NULL,
	    VIP_PATCH_CLUSTER, VIP_ALLOCATED,
	    "the address is allocated: 10.2.0.20" },
	{ "V2 TestClusterReconciler_Reconcile_AssignsIPAddress_LegacyMode: an IPAddress of another "
	    "name", ADDRESS " claim.ref=other", NULL, VIP_PATCH_CLUSTER, VIP_ALLOCATED, NULL },
	{ "V2 IPv6", "claim address=2001:db8::10", NULL, VIP_PATCH_CLUSTER, VIP_ALLOCATED, NULL },
	{ "V2 a port alone is no endpoint", ADDRESS " port=8443", NULL, VIP_PATCH_CLUSTER, VIP_ALLOCATED, NULL },
	{ "V2 E1 the claim already exists: it is found, not made again", "claim", NULL, VIP_WAIT, 0, NULL },
	{ "V2 no topology class", "class=", NULL, VIP_NOTHING, 0, "the Cluster has no topology class" },
	{ "V2 no topology class, whatever is left", "class= " ADDRESS, NULL, VIP_NOTHING, 0, NULL },
	{ "V2 the Cluster is gone", "absent", NULL, VIP_NOTHING, 0, NULL },
	{ "A1 nothing before the first lists are complete", "unsynced", NULL, VIP_WAIT, 0, NULL },
	{ "a name that leaves no room for the claim's", "name=" C50 C50 C50 C50 C50, NULL, VIP_WARN, VIP_WAITING, NULL },

	/* V6: what is set stays */
	{ "V6 E5 TestClusterReconciler_Reconcile_SkipsWhenVIPAlreadySet", "host=10.2.0.100", NULL, VIP_NOTHING, 0, "the address is set" },
	{ "V6 E5 a manual endpoint beside a claim", "host=10.2.0.100 " ADDRESS, NULL, VIP_NOTHING, 0, NULL },
	{ "V6 ... also where the class declares the variable", "host=10.2.0.100 declares " ADDRESS, NULL, VIP_NOTHING, 0, NULL },
	{ "A1 our address is set: not a single write", "host=10.2.0.20 " ADDRESS, NULL, VIP_NOTHING, 0, NULL },
	{ "A1 ... with the variable", "host=10.2.0.20 declares "
	    "vars=[{\"name\":\"clusterVip\",\"value\":\"10.2.0.20\"}] " ADDRESS, NULL,
	    VIP_NOTHING, 0, NULL },
	{ "V7 the variable is declared later", "host=10.2.0.20 declares " ADDRESS, NULL, VIP_PATCH_CLUSTER, 0,
	    "the address is set, but not everywhere: 10.2.0.20" },
	{ "V7 the variable's default is not the address",
	    "host=10.2.0.20 declares vars=[{\"name\":\"clusterVip\",\"value\":\"\"}] " ADDRESS,
	    NULL, VIP_PATCH_CLUSTER, 0, NULL },
	{ "V7 a variable that the class does not declare is not set", "host=10.2.0.20 " ADDRESS, NULL, VIP_NOTHING, 0, NULL },
	{ "V6 the claim of a set endpoint goes", "host=10.2.0.20 claim.deleting " ADDRESS " claim.deleting", NULL, VIP_NOTHING, 0, NULL },
	{ "V6 existing Clusters: no claim is made for a set endpoint", "host=10.2.0.20", NULL, VIP_NOTHING, 0, NULL },

	/* V6: whose claim it is */
	{ "V6 a claim without owner is adopted", "claim claim.owners=0", NULL, VIP_ADOPT_CLAIM, 0,
	    "the claim has no owner: IPAddressClaim team-a/vip-cp-c1" },
	{ "V6 ... before its address is used", "claim claim.owners=0 address=10.2.0.20", NULL, VIP_ADOPT_CLAIM, 0, NULL },
	{ "V6 ... also beside a set endpoint", "host=10.2.0.20 claim claim.owners=0", NULL, VIP_ADOPT_CLAIM, 0, NULL },
	{ "V6 ... also while the Cluster is deleted, else it would stay", "deleting claim claim.owners=0", NULL, VIP_ADOPT_CLAIM, 0, NULL },
	{ "V6 ... but not one that goes itself", "deleting claim claim.owners=0 claim.deleting", NULL, VIP_NOTHING, 0, NULL },
	{ "A2 the claim of a deleted Cluster of the same name", "claim claim.owner=u0", NULL, VIP_WARN,
	    VIP_WAITING,
	    "the claim belongs to another owner and is not used: IPAddressClaim team-a/vip-cp-c1" },
	{ "A2 ... its address is not used", ADDRESS " claim.owner=u0", NULL, VIP_WARN, VIP_WAITING, NULL },
	{ "A2 ... and when it goes, a new one follows", ADDRESS " claim.owner=u0 claim.deleting", NULL,
	    VIP_WAIT, 0,
	    "the claim is being deleted, a new one follows: IPAddressClaim team-a/vip-cp-c1" },
	{ "V6 ... beside a set endpoint it is left alone", "host=10.2.0.9 claim claim.owner=u0", NULL, VIP_NOTHING, 0, NULL },
	{ "V6 deletion of the Cluster: the garbage collector deletes the claim", "deleting " ADDRESS, NULL, VIP_NOTHING, 0, NULL },
	{ "V6 a deleted Cluster gets no claim", "deleting", NULL, VIP_NOTHING, 0, NULL },
	{ "an IPAddress of another claim is not used", ADDRESS " address.claim=vip-cp-c2", NULL,
	    VIP_WARN, VIP_WAITING,
	    "the IPAddress belongs to another claim and is not used: IPAddressClaim team-a/vip-cp-c1" },
	{ "an IPAddress without an address", "claim address=", NULL, VIP_WARN, VIP_WAITING, NULL },
	{ "an IPAddress that is a name", "claim address=vip.example.com", NULL, VIP_WARN, VIP_WAITING, NULL },
	{ "an IPAddress out of range", "claim address=10.2.0.256", NULL, VIP_WARN, VIP_WAITING, NULL },

	/* V3: the wait budget */
	{ "V3 within the budget", "claim claim.ms=54999", NULL, VIP_WAIT, 0, NULL },
	{ "V3 E2 the IPAM provider is slow", "claim claim.ms=55000", NULL, VIP_WARN, VIP_WAITING,
	    "the pool has free addresses, but the IPAM provider gives none: IPAddressClaim "
	    "team-a/vip-cp-c1 of pool cp" },
	{ "V3 E3 the pool is exhausted", "claim claim.ms=55000", VIP_EMPTY, VIP_WARN, VIP_WAITING,
	    "the pool is exhausted, add addresses or free some: pool cp" },
	{ "V3 a pool without figures is not called exhausted", "claim claim.ms=55000",
	    "cp class=rke2 role=control-plane", VIP_WARN,
	    VIP_WAITING, "the pool has free addresses, but the IPAM provider gives none: "
	    "IPAddressClaim team-a/vip-cp-c1 of pool cp" },
	{ "V3 the claim's pool is what counts, not the best one", "claim claim.ms=55000 claim.pool=old",
	    "cp class=rke2 role=control-plane free=3;old class=x role=y free=0", VIP_WARN, VIP_WAITING,
	    "the pool is exhausted, add addresses or free some: pool old" },
	{ "V3 the claim's pool is gone", "claim claim.ms=55000 claim.pool=old", NULL, VIP_WARN, VIP_WAITING,
	    "the pool of the claim does not exist: IPAddressClaim team-a/vip-cp-c1 of pool old" },
	{ "V3 it goes on by itself once an address is there", ADDRESS " claim.ms=99000", VIP_EMPTY,
	    VIP_PATCH_CLUSTER, VIP_ALLOCATED, NULL },
	{ "V3 the provider's reason, at once", "claim notready=PoolExhausted", NULL, VIP_WARN, VIP_WAITING,
	    "the IPAM provider reports that the claim is not ready: IPAddressClaim team-a/vip-cp-c1 "
	    "of pool cp has reason PoolExhausted" },
	{ "V3 an address counts more than a condition", ADDRESS " notready=PoolNotReady", NULL, VIP_PATCH_CLUSTER, VIP_ALLOCATED, NULL },

	/* V5: pools */
	{ "V5 V12 E4 TestEnsureClaimErrorsWhenPoolMissing", "", "", VIP_WARN, VIP_NO_POOL,
	    "no pool for the ClusterClass: label a pool with vip.capi.gorizond.io/cluster-class=rke2 and "
	    "vip.capi.gorizond.io/role=control-plane" },
	{ "V5 TestFindPoolMatchesClusterClassAndRole: another class", "",
	    "cp class=k3s role=control-plane free=5", VIP_WARN, VIP_NO_POOL, NULL },
	{ "V5 TestFindPoolMatchesClusterClassAndRole: another role", "", "cp class=rke2 role=ingress free=5", VIP_WARN, VIP_NO_POOL, NULL },
	{ "V5 a claim goes on without its pool's labels", "claim", "", VIP_WAIT, 0, NULL },
	{ "V5 all exhausted: the claim waits in the first", "", VIP_EMPTY, VIP_CREATE_CLAIM, 0, NULL },
	{ "V5 TestGetClusterClass_NamespaceScoped: the class has to exist for the variable",
	    ADDRESS " noclass", NULL, VIP_WAIT, 0,
	    "the ClusterClass does not exist: ClusterClass team-a/rke2" },
	{ "V5 TestGetClusterClass_ClusterScoped: a class of another namespace",
	    ADDRESS " noclass class.ns=classes", NULL, VIP_WAIT, 0,
	    "the ClusterClass does not exist: ClusterClass classes/rke2" },

	/* V8: paused, pre-allocation, ingress */
	{ "V8 paused: nothing", "paused", NULL, VIP_WAIT, 0, "the Cluster is paused" },
	{ "V8 paused: not even adoption", "paused claim claim.owners=0", NULL, VIP_WAIT, 0, NULL },
	{ "V8 paused with pre-allocate: a claim", "paused reserve", NULL, VIP_CREATE_CLAIM, 0, NULL },
	{ "V8 ... whose label is not missed while it is paused", "paused reserve claim claim.label=", NULL, VIP_WAIT, 0, NULL },
	{ "V8 ... its address is kept", "paused reserve claim claim.label= address=10.2.0.20", NULL,
	    VIP_WAIT, 0,
	    "the address is reserved while the Cluster is paused: 10.2.0.20" },
	{ "V8 no longer paused: the claim gets its label",
	    "reserve claim claim.label= address=10.2.0.20", NULL, VIP_ADOPT_CLAIM, 0,
	    "the claim does not name its Cluster: IPAddressClaim team-a/vip-cp-c1" },
	{ "V8 ... and the Cluster its endpoint", "reserve " ADDRESS, NULL, VIP_PATCH_CLUSTER, VIP_ALLOCATED, NULL },
	{ "V8 ingress is opt-in", "role=ingress", "in class=rke2 role=ingress free=5", VIP_NOTHING, 0,
	    "an address for ingress is not enabled" },
	{ "V8 ingress: a claim", "role=ingress ingress", "in class=rke2 role=ingress free=5",
	    VIP_CREATE_CLAIM, 0,
	    "an address is needed: IPAddressClaim team-a/vip-ingress-c1 of pool in" },
	{ "V8 ingress without a pool", "role=ingress ingress", NULL, VIP_WARN, VIP_NO_POOL, NULL },
	{ "V8 ingress: the address", "role=ingress ingress " ADDRESS, NULL, VIP_PATCH_CLUSTER, VIP_ALLOCATED, NULL },
	{ "V8 ingress: set", "role=ingress ingress ingress.vip=10.2.0.20 ingress.label=10.2.0.20 " ADDRESS, NULL, VIP_NOTHING, 0, NULL },
	{ "V8 ingress: the label is missing", "role=ingress ingress ingress.vip=10.2.0.20 " ADDRESS, NULL, VIP_PATCH_CLUSTER, 0, NULL },
	{ "V8 ingress: IPv6 is no label", "role=ingress ingress ingress.vip=fd00::1 claim address=fd00::1", NULL, VIP_NOTHING, 0, NULL },
	{ "V8 ingress: a manual value stays", "role=ingress ingress ingress.vip=10.9.9.9 " ADDRESS, NULL, VIP_NOTHING, 0, NULL },
};

static const struct choice {
	const char	*name, *pools, *want;
} choices[] = {
	{ "V5 none", "", "" },
	{ "V5 by labels", "a class=k3s role=control-plane;b class=rke2 role=control-plane", "b" },
	{ "V5 by the annotation's list", "a class=true classes=k3s,rke2 role=control-plane", "a" },
	{ "V5 ... of which one is only a part", "a class=true classes=rke2x,xrke2, role=control-plane", "" },
	{ "V5 roles in a list", "a class=rke2 role=true roles=ingress,control-plane", "a" },
	{ "V5 by name among equals", "b class=rke2 role=control-plane;a class=rke2 role=control-plane", "a" },
	{ "V5 the smallest priority first", "a class=rke2 role=control-plane priority=20;b class=rke2 role=control-plane priority=3", "b" },
	{ "V5 without priority last", "a class=rke2 role=control-plane;b class=rke2 role=control-plane priority=900", "b" },
	{ "V5 a priority that is no number is none", "a class=rke2 role=control-plane priority=-1;b "
	    "class=rke2 role=control-plane priority=7", "b" },
	{ "V5 a priority that is too large is none", "a class=rke2 role=control-plane "
	    "priority=99999999999999999999;"
	    "b class=rke2 role=control-plane priority=1000000", "b" },
	{ "V5 exhausted ones are passed over", "a class=rke2 role=control-plane priority=1 free=0;b "
	    "class=rke2 role=control-plane free=1", "b" },
	{ "V5 all exhausted: the first", "b class=rke2 role=control-plane free=0;a class=rke2 role=control-plane free=0", "a" },
	{ "V5 paused ones are passed over", "a class=rke2 role=control-plane paused;b class=rke2 role=control-plane", "b" },
	{ "V5 one that is deleted is none", "a class=rke2 role=control-plane deleting", "" },
	{ "V5 of the namespace before global", "a class=rke2 role=control-plane priority=1;b "
	    "class=rke2 role=control-plane ns=team-a", "b" },
	{ "V5 ... unless it is exhausted", "a class=rke2 role=control-plane;b class=rke2 role=control-plane ns=team-a free=0", "a" },
	{ "V5 of another namespace: no", "a class=rke2 role=control-plane ns=team-b", "" },
};

static void
check_row(void **state)
{
	static struct vip_words w;
	static struct vip_plan p;
	const struct row *const r = *state;

	vip_words_read(&w, r->input, r->pools);
	vip_plan(&w.in, &p);
	assert_string_equal(vip_verb_name(p.verb), vip_verb_name(r->want));
	assert_string_equal(vip_event_reason(p.event), vip_event_reason(r->event));
	assert_int_equal(p.verb == VIP_WARN, p.event == VIP_WAITING || p.event == VIP_NO_POOL);
	assert_memory_equal(p.message, p.why, strlen(p.why));
	if (r->message != NULL)
		assert_string_equal(p.message, r->message);
	assert_true(p.after_ms == 0 || p.verb == VIP_WAIT);
	assert_true(p.verb != VIP_CREATE_CLAIM || p.view.pool != NULL);
}

static void
check_choice(void **state)
{
	static struct vip_words w;
	const struct choice *const c = *state;

	vip_words_read(&w, "", c->pools);
	const struct vip_pool *const p = vip_pool_choose(w.in.pools, w.in.npools, w.in.cluster.namespace,
	    w.in.cluster.class_name, VIP_CONTROL_PLANE);
	assert_true(p == NULL ? c->want[0] == '\0' : wire_str_is(p->name, c->want));
}

/* V3, V4: only the end of the budget is a time; without cluster time it begins again. */
static void
v3_the_wait_ends_with_the_budget(void **state)
{
	static struct vip_words w;
	static struct vip_plan p;

	(void)state;
	vip_words_read(&w, "claim claim.ms=15000", NULL);
	vip_plan(&w.in, &p);
	assert_int_equal(p.after_ms, 40000);
	w.in.now_us = 0;
	vip_plan(&w.in, &p);
	assert_int_equal(p.after_ms, 55000);
	vip_words_read(&w, "claim claim.ms=-9000", NULL);	/* made after "now": the clocks differ */
	vip_plan(&w.in, &p);
	assert_int_equal(p.after_ms, 55000);
}

static void
addresses(void **state)
{
	static const char *const good[] = { "0.0.0.0", "255.255.255.255", "::1",
		"fe80::", "2001:db8::ffff:10.0.0.1" };
	static const char *const bad[] = { "", "1", "1.2.3", "1.2.3.", "1.2.3.4.5", "01.2.3.4",
		"1.2.3.1000", ":", "g::1", "1.2.3.4 ", "::1%eth0",
		"1111:2222:3333:4444:5555:6666:7777:8888:9999:aa" };

	(void)state;
	for (size_t i = 0; i < NITEMS(good); i++)
		assert_true(vip_is_address(wire_str_of(good[i])));
	for (size_t i = 0; i < NITEMS(bad); i++)
		assert_false(vip_is_address(wire_str_of(bad[i])));
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(choices) + 2];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[n++] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(choices); i++)
		tests[n++] = (struct CMUnitTest){ choices[i].name, check_choice, NULL, NULL,
			(void *)(uintptr_t)&choices[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(v3_the_wait_ends_with_the_budget);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(addresses);
	MUST(n == NITEMS(tests));
	return cmocka_run_group_tests_name("vip_plan", tests, NULL, NULL);
}
