/*
 * tests/unit/test_vip_hook.c - the answers of the hooks: V2, V3, V7, V13; edge cases E1 to E6 of
 * the document.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vip_words.h"

#define ADDRESS	"claim address=10.2.0.20"

/* BeforeClusterCreate. retry 0: it passes. */
static const struct gate_row {
	const char	*name, *input, *pools;
	int64_t		 retry_s;
	const char	*message;
} gates[] = {
	{ "V2 E5 the endpoint is set", "host=10.2.0.100", NULL, 0, "the endpoint is set" },
	{ "V2 E5 ... whatever else is there", "host=10.2.0.100 unsynced forbidden=ipaddressclaims", NULL, 0, NULL },
	{ "V2 a port alone is no endpoint", "port=6443", NULL, 1, NULL },
	{ "V2 no topology class", "class=", NULL, 0, "the Cluster has no topology class" },
	{ "V2 E4 no matching pool: the Cluster is created without an address", "", "", 0,
	    "no pool for the ClusterClass: label a pool with vip.capi.gorizond.io/cluster-class=rke2 and "
	    "vip.capi.gorizond.io/role=control-plane" },
	{ "V2 no matching pool, but a claim: it waits", "claim", "", 1, NULL },
	{ "V6 being deleted", "deleting", NULL, 0, NULL },
	{ "V13 nothing is read yet: it waits, it does not let through", "unsynced", "", 1,
	    "vip-claimer has not read the objects of the cluster yet" },
	{ "A4 pools may not be read: it waits and names the resource",
	    "forbidden=globalinclusterippools", "", 1,
	    "vip-claimer may not read a resource, check its RBAC: globalinclusterippools" },
	{ "V2 no claim yet", "", NULL, 1, "waiting until the claim is created: IPAddressClaim team-a/vip-cp-c1 of pool cp" },
	{ "V2 1 s after the Cluster was created", "age=1000", NULL, 1, NULL },
	{ "V2 2 s", "age=2000", NULL, 2, NULL },
	{ "V2 4 s", "age=4000", NULL, 3, NULL },
	{ "V2 7 s", "age=7000", NULL, 5, NULL },
	{ "V2 E1 a claim from an earlier call", "age=60000 claim", NULL, 1,
	    "waiting for an address: IPAddressClaim team-a/vip-cp-c1 of pool cp" },
	{ "V2 a claim of 1 s", "claim claim.ms=1000", NULL, 1, NULL },
	{ "V2 a claim of 2 s", "claim claim.ms=2000", NULL, 2, NULL },
	{ "V2 a claim of 4 s", "claim claim.ms=4000", NULL, 3, NULL },
	{ "V2 a claim of 7 s", "claim claim.ms=7000", NULL, 5, NULL },
	{ "V2 a claim of an hour", "claim claim.ms=3600000", NULL, 5, NULL },
	{ "V2 a claim made after \"now\"", "claim claim.ms=-5000", NULL, 1, NULL },
	{ "V2 the address is there, the endpoint follows at once", ADDRESS " claim.ms=60000", VIP_EMPTY, 1,
	    "the address is allocated and is being set: 10.2.0.20" },
	{ "V2 ... also of a claim that is still to be adopted", "claim claim.owners=0 address=10.2.0.20", NULL, 1, NULL },
	{ "V2 the claim's IPAddress is not there yet", "claim claim.ref=vip-cp-c1", NULL, 1, NULL },
	{ "V3 E2 slow IPAM: still Success", "claim claim.ms=55000", NULL, 5,
	    "the pool has free addresses, but the IPAM provider gives none: IPAddressClaim "
	    "team-a/vip-cp-c1 of pool cp" },
	{ "V3 E3 exhausted: still Success, with the pool's name", "claim claim.ms=55000", VIP_EMPTY, 5,
	    "the pool is exhausted, add addresses or free some: pool cp" },
	{ "V3 the claim's pool is gone", "claim claim.ms=55000 claim.pool=x", NULL, 5, NULL },
	{ "V3 the provider's reason", "claim notready=PoolExhausted", NULL, 1,
	    "the IPAM provider reports that the claim is not ready: IPAddressClaim team-a/vip-cp-c1 "
	    "of pool cp has reason PoolExhausted" },
	{ "A2 the claim of a deleted Cluster of the same name", ADDRESS " claim.owner=u0", NULL, 1,
	    "the claim belongs to another owner and is not used: IPAddressClaim team-a/vip-cp-c1" },
	{ "A2 ... while it is deleted", ADDRESS " claim.owner=u0 claim.deleting", NULL, 1,
	    "waiting until an older claim is deleted: IPAddressClaim team-a/vip-cp-c1" },
	{ "an IPAddress of another claim", ADDRESS " address.claim=vip-cp-c2", NULL, 1, NULL },
	{ "an IPAddress without an address", "claim address=", NULL, 1, NULL },
	{ "V8 ingress is nothing to wait for", "host=10.2.0.20 ingress", NULL, 0, NULL },
};

static const struct patch_row {
	const char		*name, *input, *pools;
	enum vip_patches	 want;
	const char		*endpoint;	/* "host port" */
} patches[] = {
	{ "V7 the Cluster's endpoint", "host=10.2.0.20 port=8443", NULL, VIP_PATCHES_GIVE, "10.2.0.20 8443" },
	{ "V7 ... without a port: the default", "host=10.2.0.20", NULL, VIP_PATCHES_GIVE, "10.2.0.20 6443" },
	{ "V7 on every call: also when its pool is gone", "host=10.2.0.20 port=6443", "", VIP_PATCHES_GIVE, "10.2.0.20 6443" },
	{ "V7 a manual endpoint wins over the claim", "host=10.2.0.100 " ADDRESS, NULL, VIP_PATCHES_GIVE, "10.2.0.100 6443" },
	{ "V7 the claim's address, if the endpoint is on its way", ADDRESS, NULL, VIP_PATCHES_GIVE, "10.2.0.20 6443" },
	{ "V7 ... with the port that is set", ADDRESS " port=8443", NULL, VIP_PATCHES_GIVE, "10.2.0.20 8443" },
	{ "V7 the address is not known: Failure", "claim", NULL, VIP_PATCHES_FAIL, "" },
	{ "V7 no claim yet: Failure", "", NULL, VIP_PATCHES_FAIL, "" },
	{ "V7 nothing read yet: Failure", "unsynced host=10.2.0.20", NULL, VIP_PATCHES_FAIL, "" },
	{ "V7 the Cluster is not read yet: Failure", "absent", "", VIP_PATCHES_FAIL, "" },
	{ "V7 pools may not be read: Failure", "forbidden=globalinclusterippools", "", VIP_PATCHES_FAIL, "" },
	{ "V7 ... but a set endpoint needs none", "forbidden=globalinclusterippools host=10.2.0.20", "",
	    VIP_PATCHES_GIVE, "10.2.0.20 6443" },
	{ "V7 somebody else's claim: Failure", ADDRESS " claim.owner=u0", NULL, VIP_PATCHES_FAIL, "" },
	{ "V7 E4 a Cluster without a pool has no patch", "", "", VIP_PATCHES_NONE, "" },
	{ "V7 a Cluster without a class has no patch", "class=", NULL, VIP_PATCHES_NONE, "" },
};

static void
check_gate(void **state)
{
	static struct vip_words w;
	static struct vip_gate g;
	const struct gate_row *const r = *state;

	vip_words_read(&w, r->input, r->pools);
	vip_gate_plan(&w.in, &g);
	assert_int_equal(g.retry_s, r->retry_s);
	assert_int_equal(g.pass, r->retry_s == 0);
	if (r->message != NULL)
		assert_string_equal(g.message, r->message);
}

/* V2: a message without counters or times: the same call a while later has the same. */
static void
v2_messages_do_not_change_with_time(void **state)
{
	static struct vip_words w;
	static struct vip_gate g, later;

	(void)state;
	for (size_t i = 0; i < NITEMS(gates); i++) {
		vip_words_read(&w, gates[i].input, gates[i].pools);
		vip_gate_plan(&w.in, &g);
		w.in.now_us += 3000 * 1000;
		vip_gate_plan(&w.in, &later);
		assert_true(later.retry_s >= g.retry_s);
		assert_string_equal(later.message, g.message);
	}
}

/* V2: as the caller calls: when the seconds of the last answer are over. */
static void
v2_waits_grow_1_1_2_3_5(void **state)
{
	static const int64_t want[] = { 1, 1, 2, 3, 5, 5, 5 };
	static struct vip_words w;
	static struct vip_gate g;

	(void)state;
	vip_words_read(&w, "claim", NULL);
	for (size_t i = 0; i < NITEMS(want); i++) {
		vip_gate_plan(&w.in, &g);
		assert_int_equal(g.retry_s, want[i]);
		w.in.now_us += g.retry_s * 1000 * 1000;
	}
}

static void
check_patches(void **state)
{
	static struct vip_words w;
	static struct vip_patch_plan p;
	const struct patch_row *const r = *state;
	char endpoint[64] = "";

	vip_words_read(&w, r->input, r->pools);
	vip_patch_plan(&w.in, &p);
	assert_int_equal(p.result, r->want);
	if (p.result == VIP_PATCHES_GIVE)
		snprintf(endpoint, sizeof(endpoint), "%.*s %d", (int)p.host.len, p.host.p, (int)p.port);
	assert_string_equal(endpoint, r->endpoint);
	assert_true(p.message[0] != '\0');
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(gates) + NITEMS(patches) + 2];
	size_t n = 0;

	for (size_t i = 0; i < NITEMS(gates); i++)
		tests[n++] = (struct CMUnitTest){ gates[i].name, check_gate, NULL, NULL,
			(void *)(uintptr_t)&gates[i] };
	for (size_t i = 0; i < NITEMS(patches); i++)
		tests[n++] = (struct CMUnitTest){ patches[i].name, check_patches, NULL, NULL,
			(void *)(uintptr_t)&patches[i] };
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(v2_messages_do_not_change_with_time);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(v2_waits_grow_1_1_2_3_5);
	MUST(n == NITEMS(tests));
	return cmocka_run_group_tests_name("vip_hook", tests, NULL, NULL);
}
