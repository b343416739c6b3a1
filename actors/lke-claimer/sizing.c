/*
 * actors/lke-claimer/sizing.c - capacity and allocatable of an instance type. Pure.
 *
 * The figures are those of the existing provider, so that Karpenter's own plan and this one agree: a VM shows
 * 7.5 % less memory than its plan has; 110 Pods; the kubelet reserves 255 MiB and 11 MiB per Pod, a share of
 * the CPUs that falls with their number, and 1 GiB of storage; it evicts below 100 MiB. Beyond that provider,
 * the disk and the GPUs of a plan count: without them a Pod that requests one would never get a machine.
 */
#include <string.h>

#include "kube/quantity.h"
#include "obj.h"
#include "text_buffer.h"
#include "types.h"

#define MIB	(INT64_C(1) << 20)

enum { UNSET = -1, PODS = 110, EVICTION_MIB = 100, NODEFS_PERCENT = 90, MILLION = 1000 * 1000 };

const struct lke_sizing lke_sizing_default = {
	.memory_overhead = 75, .max_pods = UNSET, .pods_per_core = UNSET, .eviction_memory = UNSET,
	.eviction_ppm = UNSET,
	.kube_reserved = { { UNSET, UNSET, UNSET, UNSET, UNSET } },
	.system_reserved = { { UNSET, UNSET, UNSET, UNSET, UNSET } },
};

static const struct {
	const char	*name;
	int		 scale;		/* the unit is a power of ten */
} resources[LKE_RESOURCE_MAX] = {
	[LKE_CPU] = { "cpu", -3 }, [LKE_MEMORY] = { "memory", 0 }, [LKE_PODS] = { "pods", 0 },
	[LKE_STORAGE] = { "ephemeral-storage", 0 }, [LKE_GPU] = { "nvidia.com/gpu", 0 },
};

static int64_t kube_cpu(int64_t);

const char *
lke_resource_name(enum lke_resource r)
{
	return (unsigned)r < LKE_RESOURCE_MAX ? resources[r].name : "?";
}

enum lke_resource
lke_resource_find(struct wire_str name)
{
	unsigned r = 0;

	while (r < LKE_RESOURCE_MAX && !wire_str_is(name, resources[r].name))
		r++;
	return (enum lke_resource)r;
}

bool
lke_resource_read(enum lke_resource r, struct wire_str quantity, int64_t *out)
{
	struct quantity q;

	MUST((unsigned)r < LKE_RESOURCE_MAX);
	if (quantity_parse(&q, quantity.p, quantity.len) != NULL || (q.negative && q.ndigits > 0))
		return false;
	*out = quantity_scaled(&q, resources[r].scale);
	return true;
}

size_t
lke_resource_put(char buf[LKE_LABEL_SIZE], enum lke_resource r, int64_t amount)
{
	struct text_buffer text = { .p = buf, .size = LKE_LABEL_SIZE };
	const bool binary = (r == LKE_MEMORY || r == LKE_STORAGE) && amount > 0;

	if (r == LKE_CPU && amount % 1000 == 0) {
		text_put_int(&text, amount / 1000);
	} else if (r == LKE_CPU) {
		text_put_int(&text, amount);
		text_put(&text, "m");
	} else if (binary && amount % MIB == 0) {
		text_put_int(&text, amount / MIB);
		text_put(&text, "Mi");
	} else {
		text_put_int(&text, amount);
	}
	return text.len;
}

struct lke_resources
lke_capacity(const struct lke_type *t, const struct lke_sizing *s)
{
	const int64_t mib = t->memory_mib;
	int64_t pods = s->max_pods >= 0 ? s->max_pods : PODS;

	if (s->pods_per_core > 0 && s->pods_per_core * t->vcpus < pods)
		pods = s->pods_per_core * t->vcpus;
	return (struct lke_resources){ {
		[LKE_CPU] = INT64_C(1000) * t->vcpus,
		[LKE_MEMORY] = (mib - (mib * s->memory_overhead + 999) / 1000) * MIB,
		[LKE_PODS] = pods,
		[LKE_STORAGE] = (int64_t)t->disk_mib * MIB,
		[LKE_GPU] = t->gpus,
	} };
}

struct lke_resources
lke_allocatable(const struct lke_type *t, const struct lke_sizing *s)
{
	struct lke_resources r = lke_capacity(t, s);
	const struct lke_resources kubelet = { {
		[LKE_CPU] = kube_cpu(r.of[LKE_CPU]),
		[LKE_MEMORY] = (255 + 11 * r.of[LKE_PODS]) * MIB,
		[LKE_STORAGE] = 1024 * MIB,
	} };

	r.of[LKE_MEMORY] -= s->eviction_memory >= 0 ? s->eviction_memory
	    : s->eviction_ppm >= 0 ? (r.of[LKE_MEMORY] * s->eviction_ppm + MILLION - 1) / MILLION
	    : EVICTION_MIB * MIB;
	r.of[LKE_STORAGE] = r.of[LKE_STORAGE] / 100 * NODEFS_PERCENT;
	for (unsigned i = 0; i < LKE_RESOURCE_MAX; i++) {
		const int64_t kube = s->kube_reserved.of[i], system = s->system_reserved.of[i];

		r.of[i] -= (kube >= 0 ? kube : kubelet.of[i]) + (system >= 0 ? system : 0);
		if (r.of[i] < 0)
			r.of[i] = 0;
	}
	return r;
}

/* Of the first CPU 6 %, of the second 1 %, of the next two 0.5 %, of the others 0.25 %, in thousandths. */
static int64_t
kube_cpu(int64_t milli)
{
	static const struct {
		int64_t	from, to, share;	/* hundredths of a percent */
	} bands[] = {
		{ 0, 1000, 600 }, { 1000, 2000, 100 }, { 2000, 4000, 50 }, { 4000, INT64_MAX, 25 },
	};
	int64_t sum = 0;

	for (size_t i = 0; i < NITEMS(bands) && milli > bands[i].from; i++) {
		const int64_t end = milli < bands[i].to ? milli : bands[i].to;

		sum += (end - bands[i].from) * bands[i].share / 10000;
	}
	return sum;
}
