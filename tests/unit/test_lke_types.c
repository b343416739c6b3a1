/* tests/unit/test_lke_types.c - the instance type of a NodeClaim, or why there is none: C10, C11. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/lke-claimer/types.h"
#include "kube/quantity.h"
#include "obj.h"

enum { NOW_MS = 1000000 };

static const struct lke_type catalogue[] = {
	{ "g6-nanode-1", "nanode", 1, 1024, 25600, 0, 0, 1000, 1000, 7500, true, 0 },
	{ "g6-standard-2", "standard", 2, 4096, 81920, 0, 0, 4000, 4000, 36000, true, 0 },
	{ "g6-standard-4", "standard", 4, 8192, 163840, 0, 0, 5000, 5000, 72000, true, 0 },
	{ "g6-dedicated-4", "dedicated", 4, 8192, 163840, 0, 0, 5000, 5000, 108000, true, 0 },
	{ "g8-dedicated-8-4", "dedicated", 4, 8192, 163840, 0, 0, 5000, 5000, 72000, true, NOW_MS - 1 },
	{ "g6-standard-6", "standard", 6, 16384, 327680, 0, 0, 8000, 6000, -1, true, 0 },
	{ "g7-premium-2", "premium", 2, 4096, 81920, 0, 0, 4000, 4000, 43000, false, 0 },
	{ "g6-highmem-1", "highmem", 2, 24576, 20480, 0, 0, 5000, 5000, 90000, true, NOW_MS + 60000 },
	{ "g2-gpu-rtx4000a1-s", "gpu", 4, 16384, 524288, 1, 0, 0, 10000, 520000, true, 0 },
};

#define TYPE	"node.kubernetes.io/instance-type"
#define ZONE	"topology.kubernetes.io/zone"
#define LINODE	"karpenter.k8s.linode/instance-"

/* Requirements: "key operator value,value minValues; ...". Requests: "name=quantity ...". */
static const struct row {
	const char		*name, *requirements, *requests;
	enum lke_resolved	 result;
	const char		*want;		/* type, or message */
} rows[] = {
	{ "C11 the cheapest", "", "", LKE_RESOLVED, "g6-standard-2" },
	{ "C11 the cheapest with room", "", "cpu=3 memory=4Gi", LKE_RESOLVED, "g6-standard-4" },
	{ "C11 of equal prices the first id", LINODE "class In dedicated,standard; " LINODE "cpu In 4", "", LKE_RESOLVED, "g6-standard-4" },
	{ "C11 inside the claim's own list, in no order",
	    TYPE " In g6-dedicated-4,g6-standard-6,g8-dedicated-8-4", "cpu=1", LKE_RESOLVED,
	    "g8-dedicated-8-4" },
	{ "C11 a type without a price comes last", TYPE " In g6-standard-6,g6-dedicated-4", "", LKE_RESOLVED, "g6-dedicated-4" },
	{ "C11 ... and is better than none", TYPE " In g6-standard-6", "", LKE_RESOLVED, "g6-standard-6" },
	{ "C11 a list with types that do not exist", TYPE " In g9-standard-1,g6-standard-4", "", LKE_RESOLVED, "g6-standard-4" },
	{ "NotIn", TYPE " NotIn g6-standard-2", "", LKE_RESOLVED, "g6-standard-4" },
	{ "NotIn of a label that the type has not", LINODE "gpu-name NotIn rtx4000a1", "", LKE_RESOLVED, "g6-standard-2" },
	{ "Exists", LINODE "gpu-name Exists", "", LKE_RESOLVED, "g2-gpu-rtx4000a1-s" },
	{ "DoesNotExist", LINODE "gpu-name DoesNotExist; " LINODE "cpu Gt 5", "", LKE_RESOLVED, "g6-standard-6" },
	{ "Gt", LINODE "cpu Gt 2", "", LKE_RESOLVED, "g6-standard-4" },
	{ "Lt", LINODE "cpu Lt 4; " LINODE "memory Gt 4096", "", LKE_NO_CAPACITY, NULL },
	{ "Gte", LINODE "memory Gte 8192", "", LKE_RESOLVED, "g6-standard-4" },
	{ "Lte", LINODE "cpu Lte 2", "", LKE_RESOLVED, "g6-standard-2" },
	{ "Gt is a number, not a text", LINODE "memory Gt 999", "", LKE_RESOLVED, "g6-standard-2" },
	{ "generation", LINODE "generation In 8", "", LKE_RESOLVED, "g8-dedicated-8-4" },
	{ "all the labels of C10", ZONE " In us-ord; topology.kubernetes.io/region In us-ord; "
	    "kubernetes.io/arch In amd64; kubernetes.io/os In linux; karpenter.sh/capacity-type "
	    "In on-demand", "", LKE_RESOLVED, "g6-standard-2" },
	{ "labels by the keys they had before",
	    "failure-domain.beta.kubernetes.io/zone In us-ord; beta.kubernetes.io/instance-type "
	    "In g6-standard-4", "", LKE_RESOLVED, "g6-standard-4" },
	{ "a label of the user does not decide", "team In a; tier Gt 3; zone DoesNotExist; x NotIn y", "", LKE_RESOLVED, "g6-standard-2" },
	{ "minValues", TYPE " Exists 5", "", LKE_RESOLVED, "g6-standard-2" },
	{ "minValues of a few values", LINODE "class In standard,dedicated 2", "", LKE_RESOLVED, "g6-standard-2" },
	{ "minValues counts types that were refused a short time ago",
	    LINODE "class In standard,highmem 2", "", LKE_RESOLVED, "g6-standard-2" },
	{ "minValues counts values, not types", LINODE "class In standard,dedicated,nanode 3", "",
	    LKE_TOO_FEW,
	    LINODE "class In [standard, dedicated, nanode] requires 3 different values "
	    "(minValues), but the instance types that fit have 2" },
	{ "minValues of a label of the user", "team Exists 3", "", LKE_RESOLVED, "g6-standard-2" },

	{ "an unknown region", ZONE " In nl-ams", "", LKE_NO_MATCH,
	    "no instance type of the region us-ord satisfies the requirement " ZONE " In [nl-ams]"
	    },
	{ "an unknown type", TYPE " In m5.large,m5.xlarge,m5.2xlarge,m5.4xlarge", "", LKE_NO_MATCH,
	    "no instance type of the region us-ord satisfies the requirement "
	    TYPE " In [m5.large, m5.xlarge, m5.2xlarge, ...]" },
	{ "spot", "karpenter.sh/capacity-type In spot", "", LKE_NO_MATCH, NULL },
	{ "arm64", "kubernetes.io/arch In arm64", "", LKE_NO_MATCH, NULL },
	{ "an impossible requirement", TYPE " DoesNotExist", "", LKE_NO_MATCH,
	    "no instance type of the region us-ord satisfies the requirement " TYPE " DoesNotExist"
	    },
	{ "Gt of no number", LINODE "cpu Gt many", "", LKE_NO_MATCH, NULL },
	{ "Gt of two values", LINODE "cpu Gt 1,2", "", LKE_NO_MATCH, NULL },
	{ "two that exclude each other", LINODE "class In gpu; " LINODE "cpu In 2", "", LKE_NO_MATCH,
	    "no instance type of the region us-ord satisfies all requirements together" },
	{ "C11 requests against allocatable, not capacity", TYPE " In g6-standard-2", "memory=3Gi",
	    LKE_NO_ROOM,
	    "1 instance types satisfy the requirements, but none has room for the requests: "
	    "memory of 3072Mi is requested, the largest has 2223Mi allocatable" },
	{ "C11 no CPU of 2 is whole", TYPE " In g6-standard-2", "cpu=2", LKE_NO_ROOM, NULL },
	{ "C11 all but the last thousandth", TYPE " In g6-standard-2", "cpu=1930m memory=2223Mi pods=110", LKE_RESOLVED, "g6-standard-2" },
	{ "C11 that one", TYPE " In g6-standard-2", "cpu=1930.001m", LKE_NO_ROOM, NULL },
	{ "one Pod more", "", "pods=111", LKE_NO_ROOM, NULL },
	{ "room in none for all of them", "", "cpu=5 memory=20Gi", LKE_NO_ROOM,
	    "9 instance types satisfy the requirements, but none has room for the requests "
	    "together: request less, or allow larger instance types" },
	{ "GPUs", "", "nvidia.com/gpu=1", LKE_RESOLVED, "g2-gpu-rtx4000a1-s" },
	{ "too many GPUs", "", "nvidia.com/gpu=2", LKE_NO_ROOM, NULL },
	{ "storage", "", "ephemeral-storage=100Gi", LKE_RESOLVED, "g6-standard-4" },
	{ "a plan whose memory is all reserved", TYPE " In g6-nanode-1", "", LKE_NO_ROOM, NULL },
	{ "a resource that no type has", "", "hugepages-2Mi=1Gi", LKE_INVALID,
	    "spec.resources.requests: no instance type has hugepages-2Mi" },
	{ "none of it is requested", "", "hugepages-2Mi=0", LKE_RESOLVED, "g6-standard-2" },
	{ "no quantity", "", "cpu=many", LKE_INVALID, "spec.resources.requests: the quantity of cpu cannot be read" },
	{ "a negative quantity", "", "cpu=-1", LKE_INVALID, NULL },
	{ "a quantity beyond all numbers", "", "memory=999999Ei", LKE_NO_ROOM, NULL },
	{ "C11 not available in the region", TYPE " In g7-premium-2", "", LKE_NOT_OFFERED,
	    "1 instance types fit, but none of them is available in the region us-ord: allow "
	    "other instance types" },
	{ "C11 no capacity a short time ago: the next of the list",
	    TYPE " In g6-highmem-1,g6-dedicated-4", "", LKE_RESOLVED, "g6-dedicated-4" },
	{ "C11 none is left", TYPE " In g6-highmem-1", "memory=8Gi", LKE_NO_CAPACITY,
	    "the API had no capacity for any of the 1 instance types that fit, in the region us-ord: "
	    "allow other instance types, or raise the quota of the account" },
};

/* The words of a row, cut. */
struct words {
	char			text[512];
	struct wire_str		values[64];
	struct lke_requirement	requirements[16];
	struct lke_request	requests[16];
	uint32_t		nvalues, nrequirements, nrequests;
};

static void
cut_requirements(struct words *w, char *text)
{
	char *outer, *inner, *list;

	for (char *s = strtok_r(text, ";", &outer); s != NULL; s = strtok_r(NULL, ";", &outer)) {
		struct lke_requirement *const r = &w->requirements[w->nrequirements++];

		r->key = wire_str_of(strtok_r(s, " ", &inner));
		assert_true(lke_operator_read(wire_str_of(strtok_r(NULL, " ", &inner)), &r->op));
		r->values = &w->values[w->nvalues];
		const bool listed = r->op != LKE_EXISTS && r->op != LKE_DOES_NOT_EXIST;
		char *values = listed ? strtok_r(NULL, " ", &inner) : NULL;
		for (char *v = values == NULL ? NULL : strtok_r(values, ",", &list); v != NULL;
		    v = strtok_r(NULL, ",", &list)) {
			w->values[w->nvalues++] = wire_str_of(v);
			r->nvalues++;
		}
		const char *const least = strtok_r(NULL, " ", &inner);
		r->min_values = least == NULL ? 0 : (uint32_t)atoi(least);
	}
}

static void
check_row(void **state)
{
	const struct row *const r = *state;
	struct words w = { .nvalues = 0 };
	char requests[256], *save;
	struct lke_resolution got;

	snprintf(w.text, sizeof(w.text), "%s", r->requirements);
	cut_requirements(&w, w.text);
	snprintf(requests, sizeof(requests), "%s", r->requests);
	for (char *s = strtok_r(requests, " ", &save); s != NULL; s = strtok_r(NULL, " ", &save)) {
		char *const value = strchr(s, '=');

		*value = '\0';
		w.requests[w.nrequests++] = (struct lke_request){ wire_str_of(s), wire_str_of(value + 1) };
	}
	lke_resolve(&(struct lke_resolve_input){ .region = "us-ord", .types = catalogue,
	    .ntypes = NITEMS(catalogue), .sizing = &lke_sizing_default, .requirements = w.requirements,
	    .nrequirements = w.nrequirements, .requests = w.requests, .nrequests = w.nrequests,
	    .now_ms = NOW_MS }, &got);
	if (got.result != r->result)
		print_message("%s\n", got.message);
	assert_int_equal(got.result, r->result);
	assert_int_equal(got.type != NULL, got.result == LKE_RESOLVED);
	assert_int_equal(got.retry_at_ms, got.result == LKE_NO_CAPACITY ? NOW_MS + 60000 : INT64_MAX);
	assert_int_equal(got.message[0] == '\0', got.result == LKE_RESOLVED);
	if (r->want != NULL)
		assert_string_equal(got.type != NULL ? got.type->id : got.message, r->want);
}

/* ---- Sizing ---- */

static void
check_amount(const struct lke_resources *r, enum lke_resource which, const char *want)
{
	char buf[LKE_LABEL_SIZE];

	lke_resource_put(buf, which, r->of[which]);
	assert_string_equal(buf, want);
}

static void
c10_capacity_and_allocatable(void **state)
{
	const struct lke_resources all = lke_capacity(&catalogue[1], &lke_sizing_default);
	const struct lke_resources left = lke_allocatable(&catalogue[1], &lke_sizing_default);

	(void)state;
	check_amount(&all, LKE_CPU, "2");
	check_amount(&all, LKE_MEMORY, "3788Mi");	/* 4096 less the 308 that 7.5 % are */
	check_amount(&all, LKE_PODS, "110");
	check_amount(&all, LKE_STORAGE, "81920Mi");
	check_amount(&all, LKE_GPU, "0");
	check_amount(&left, LKE_CPU, "1930m");
	check_amount(&left, LKE_MEMORY, "2223Mi");
	check_amount(&left, LKE_PODS, "110");
	check_amount(&left, LKE_STORAGE, "76235669486");
	/* 6 CPUs: 60 + 10 + 10 + 5 thousandths */
	const struct lke_resources six = lke_allocatable(&catalogue[5], &lke_sizing_default);
	check_amount(&six, LKE_CPU, "5915m");
}

static void
c10_sizing_of_a_class(void **state)
{
	struct lke_sizing s = lke_sizing_default;

	(void)state;
	s.max_pods = 30;
	s.pods_per_core = 10;
	s.kube_reserved.of[LKE_CPU] = 100;
	s.system_reserved.of[LKE_CPU] = 150;
	s.system_reserved.of[LKE_MEMORY] = 64 << 20;
	s.eviction_memory = 0;
	s.memory_overhead = 0;
	const struct lke_resources all = lke_capacity(&catalogue[1], &s);
	const struct lke_resources left = lke_allocatable(&catalogue[1], &s);
	check_amount(&all, LKE_PODS, "20");
	check_amount(&all, LKE_MEMORY, "4096Mi");
	check_amount(&left, LKE_CPU, "1750m");
	check_amount(&left, LKE_MEMORY, "3557Mi");	/* 4096 - 255 - 20 * 11 - 64 */
	/* A percentage is one of the capacity. */
	s.eviction_memory = lke_sizing_default.eviction_memory;
	s.eviction_ppm = 250 * 1000;
	const struct lke_resources quarter = lke_allocatable(&catalogue[1], &s);
	check_amount(&quarter, LKE_MEMORY, "2533Mi");	/* ... - 1024 */
}

static void
every_label_of_a_type(void **state)
{
	static const char *const want[LKE_LABEL_MAX] = {
		[LKE_LABEL_TYPE] = "g2-gpu-rtx4000a1-s", [LKE_LABEL_ZONE] = "us-ord",
		[LKE_LABEL_REGION] = "us-ord", [LKE_LABEL_CAPACITY_TYPE] = "on-demand",
		[LKE_LABEL_ARCH] = "amd64", [LKE_LABEL_OS] = "linux", [LKE_LABEL_CPU] = "4",
		[LKE_LABEL_MEMORY] = "16384", [LKE_LABEL_DISK] = "524288", [LKE_LABEL_CLASS] = "gpu",
		[LKE_LABEL_GENERATION] = "2", [LKE_LABEL_GPU_NAME] = "rtx4000a1", [LKE_LABEL_GPU_COUNT] = "1",
		[LKE_LABEL_TRANSFER] = "0", [LKE_LABEL_NETWORK_OUT] = "10000", [LKE_LABEL_ACCELERATED] = "0",
	};
	char buf[LKE_LABEL_SIZE];
	struct lke_type odd = { .id = "plan" };

	(void)state;
	for (unsigned i = 0; i < LKE_LABEL_MAX; i++) {
		lke_label_value(buf, &catalogue[8], "us-ord", (enum lke_label)i);
		assert_string_equal(buf, want[i]);
		assert_int_equal(lke_label_find(wire_str_of(lke_label_key((enum lke_label)i))), i);
	}
	/* An id of another form has no generation. */
	assert_int_equal(lke_label_value(buf, &odd, "us-ord", LKE_LABEL_GENERATION), 0);
	assert_int_equal(lke_label_value(buf, &odd, "us-ord", LKE_LABEL_GPU_NAME), 0);
}

int
main(void)
{
	struct CMUnitTest tests[NITEMS(rows)];
	const struct CMUnitTest more[] = {
		cmocka_unit_test(c10_capacity_and_allocatable), cmocka_unit_test(c10_sizing_of_a_class),
		cmocka_unit_test(every_label_of_a_type),
	};

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
		    (void *)(uintptr_t)&rows[i] };
	const int failed = cmocka_run_group_tests_name("lke_resolve", tests, NULL, NULL);
	return failed + cmocka_run_group_tests_name("lke_sizing", more, NULL, NULL);
}
