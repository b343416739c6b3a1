/* tests/unit/test_capa_annotations.c - references, values, the patch: F1, F2, F9, FR2, FR3, FR6, TR3, TR4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/capa-annotator/capa.h"
#include "kube/quantity.h"
#include "obj.h"

#define INFRA	"infrastructure.cluster.x-k8s.io"
#define PLANE	"controlplane.cluster.x-k8s.io"

/* A reference: apiGroup or apiVersion, kind, name, namespace. */
struct reference {
	const char	*api, *kind, *name, *namespace;
};

static const struct region_row {
	const char		*name;
	struct reference	 infrastructure, control_plane;
	enum capa_region_kind	 want;
	const char		*object;
} region_rows[] = {
	{ "FR3.1 TR4 F9 AWSCluster, v1beta1", { INFRA "/v1beta2", "AWSCluster", "c1", "other" },
	    { "controlplane.cluster.x-k8s.io/v1beta1", "KubeadmControlPlane", "cp", "" },
	    CAPA_REGION_CLUSTER, "other/c1" },
	{ "F2 AWSCluster, v1beta2", { INFRA, "AWSCluster", "c1", "" },
	    { PLANE, "KubeadmControlPlane", "cp", "" }, CAPA_REGION_CLUSTER, "ns/c1" },
	{ "F2 F9 EKS: the region of controlPlaneRef", { INFRA, "AWSManagedCluster", "c1", "" },
	    { PLANE, "AWSManagedControlPlane", "cp", "" }, CAPA_REGION_MANAGED, "ns/cp" },
	{ "F9 EKS, v1beta1", { INFRA "/v1beta2", "AWSManagedCluster", "c1", "" },
	    { PLANE "/v1beta2", "AWSManagedControlPlane", "cp", "eks" }, CAPA_REGION_MANAGED, "eks/cp" },
	{ "F9 EKS of old: both refer to the control plane", { PLANE, "AWSManagedControlPlane", "c1", "" },
	    { PLANE, "AWSManagedControlPlane", "cp", "" }, CAPA_REGION_MANAGED, "ns/cp" },
	{ "F9 ... or the infrastructure alone does", { PLANE, "AWSManagedControlPlane", "c1", "" },
	    { "", "", "", "" }, CAPA_REGION_MANAGED, "ns/c1" },
	{ "F9 EKS without a control plane", { INFRA, "AWSManagedCluster", "c1", "" }, { "", "", "", "" }, CAPA_REGION_NONE, "/" },
	{ "F9 the kind counts: another cloud with the control plane of EKS", { INFRA, "DockerCluster", "c1", "" },
	    { PLANE, "AWSManagedControlPlane", "cp", "" }, CAPA_REGION_NONE, "/" },
	{ "F9 the group counts", { "example.com", "AWSCluster", "c1", "" }, { "", "", "", "" }, CAPA_REGION_NONE, "/" },
	{ "an apiVersion without a group", { "v1", "AWSCluster", "c1", "" }, { "", "", "", "" }, CAPA_REGION_NONE, "/" },
	{ "a reference without a name", { INFRA, "AWSCluster", "", "" }, { "", "", "", "" }, CAPA_REGION_NONE, "/" },
	{ "no reference", { "", "", "", "" }, { "", "", "", "" }, CAPA_REGION_NONE, "/" },
};

static struct capa_reference
reference_of(const struct reference *r)
{
	const bool version = strchr(r->api, '/') != NULL || strcmp(r->api, "v1") == 0;
	const struct wire_str api = wire_str_of(r->api);
	struct capa_reference out = { .kind = wire_str_of(r->kind), .name = wire_str_of(r->name),
		.namespace = wire_str_of(r->namespace) };

	*(version ? &out.api_version : &out.api_group) = api;
	return out;
}

static void
check_region(void **state)
{
	const struct region_row *const r = *state;
	const struct capa_reference infrastructure = reference_of(&r->infrastructure);
	const struct capa_reference control_plane = reference_of(&r->control_plane);
	struct capa_object object;
	char text[128];

	assert_int_equal(capa_region_of(&infrastructure, &control_plane, wire_str_of("ns"), &object),
	    r->want);
	snprintf(text, sizeof(text), "%.*s/%.*s", (int)object.namespace.len, object.namespace.p,
	    (int)object.name.len, object.name.p);
	assert_string_equal(text, r->object);
}

static void
check_quantity(struct wire_str text, int64_t want)
{
	struct quantity q, number;
	char digits[32];

	snprintf(digits, sizeof(digits), "%lld", (long long)want);
	assert_null(quantity_parse(&q, text.p, text.len));
	assert_null(quantity_parse(&number, digits, strlen(digits)));
	/* the digits are normalised: equal numbers have equal ones */
	assert_int_equal(q.exponent, number.exponent);
	assert_int_equal(q.ndigits, number.ndigits);
	assert_memory_equal(q.digits, number.digits, q.ndigits);
}

static void
f1_the_autoscaler_reads_every_value(void **state)
{
	static const struct instance_type types[] = {
		{ 1, 512, 0, ARCH_ARM64, GPU_NONE }, { 192, 2097152, 8, ARCH_AMD64, GPU_NVIDIA },
		{ 1920, 33554432, 0, ARCH_AMD64, GPU_NONE }, { UINT32_MAX, UINT32_MAX, UINT32_MAX, ARCH_AMD64, GPU_AMD },
	};
	static const struct wire_str none[CAPA_KEY_MAX];
	static struct capa_annotations a;

	(void)state;
	for (size_t i = 0; i < NITEMS(types); i++) {
		assert_true(capa_annotations(&types[i], none, &a));
		const struct wire_str memory = a.value[CAPA_KEY_MEMORY];
		check_quantity(a.value[CAPA_KEY_CPU], types[i].vcpus);
		check_quantity(memory, (int64_t)types[i].memory_mib << 20);
		/* FR6.2: the same in MiB, without a suffix */
		assert_int_equal(a.value[CAPA_KEY_MEMORY_MB].len + 2, memory.len);
		assert_memory_equal(a.value[CAPA_KEY_MEMORY_MB].p, memory.p, memory.len - 2);
	}
}

static void
f1_only_our_keys_are_in_the_patch(void **state)
{
	static struct capa_annotations a;
	struct wire_str current[CAPA_KEY_MAX] = { 0 };
	char body[1024];

	(void)state;
	current[CAPA_KEY_LABELS] = wire_str_of("kubernetes.io/arch=amd64");
	current[CAPA_KEY_GPU_TYPE] = wire_str_of("nvidia.com/gpu");
	current[CAPA_KEY_VCPU] = wire_str_of("2");
	current[CAPA_KEY_CPU] = wire_str_of("2");
	current[CAPA_KEY_GPU] = wire_str_of("0");
	assert_true(capa_annotations(&(struct instance_type){ .vcpus = 2, .memory_mib = 8192 }, current, &a));
	assert_int_equal(a.changes, 3);
	assert_true(capa_patch_body(body, sizeof(body), &a, wire_str_of("7")) > 0);
	assert_string_equal(body,
	    "{\"metadata\":{\"annotations\":{\"machine.openshift.io/memoryMb\":\"8192\","
	    "\"capacity.cluster-autoscaler.kubernetes.io/memory\":\"8192Mi\","
	    "\"capacity.cluster-autoscaler.kubernetes.io/gpu-type\":null}}}");
}

/* The labels of others are in the value: it must not replace a newer one. */
static void
f1_labels_are_written_with_a_resource_version(void **state)
{
	static struct capa_annotations a;
	struct wire_str current[CAPA_KEY_MAX] = { 0 };
	char body[1024];

	(void)state;
	assert_true(capa_annotations(&(struct instance_type){ .vcpus = 2, .memory_mib = 8192 }, current, &a));
	const size_t len = capa_patch_body(body, sizeof(body), &a, wire_str_of("7"));
	assert_int_equal(len, strlen(body));
	assert_non_null(strstr(body, "{\"metadata\":{\"resourceVersion\":\"7\",\"annotations\":{"));
	assert_int_equal(capa_patch_body(body, len, &a, wire_str_of("7")), 0);
}

static void
labels_have_a_limit(void **state)
{
	static struct capa_annotations a;
	static char labels[CAPA_LABELS_MAX];
	struct wire_str current[CAPA_KEY_MAX] = { 0 };
	const struct instance_type type = { .vcpus = 2, .memory_mib = 8192 };
	const size_t ours = strlen("kubernetes.io/arch=amd64");

	(void)state;
	memset(labels, 'x', sizeof(labels));
	current[CAPA_KEY_LABELS] = (struct wire_str){ .p = labels,
	    .len = (uint32_t)(sizeof(labels) - ours - 1) };
	assert_true(capa_annotations(&type, current, &a));
	assert_int_equal(a.value[CAPA_KEY_LABELS].len, sizeof(labels));
	current[CAPA_KEY_LABELS].len++;
	assert_false(capa_annotations(&type, current, &a));
	assert_int_equal(a.changes, 0);
}

int
main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(f1_the_autoscaler_reads_every_value),
		cmocka_unit_test(f1_only_our_keys_are_in_the_patch),
		cmocka_unit_test(f1_labels_are_written_with_a_resource_version),
		cmocka_unit_test(labels_have_a_limit),
	};
	struct CMUnitTest tests[NITEMS(region_rows) + NITEMS(others)];

	memcpy(tests, others, sizeof(others));
	for (size_t i = 0; i < NITEMS(region_rows); i++)
		tests[NITEMS(others) + i] = (struct CMUnitTest){ region_rows[i].name, check_region, NULL,
			NULL, (void *)(uintptr_t)&region_rows[i] };
	return cmocka_run_group_tests_name("capa_annotations", tests, NULL, NULL);
}
