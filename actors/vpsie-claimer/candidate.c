/* actors/vpsie-claimer/candidate.c - whether one machine can be the one that a VPSieNode requested. Pure. */
#include "discover.h"
#include "text_index.h"

static bool other_datacenter(const struct discover_input *, const struct discover_vpsienode *,
    const struct machine *);
static bool other_size(const struct machine_group *, const struct machine *);
static bool differ(struct wire_str, struct wire_str);
static bool numbers_differ(int64_t, int64_t);
static int64_t number_of(struct wire_str);
static bool existed(const struct discover_vpsienode *, const struct machine *);
static bool older(const struct discover_input *, const struct discover_vpsienode *, const struct machine *);
static bool undated(const struct discover_vpsienode *, const struct machine *);
static bool too_late(const struct discover_input *, const struct discover_vpsienode *,
    const struct machine *);

enum discover_reason
candidate_check(const struct discover_input *in, const struct discover_vpsienode *v,
    const struct machine *m, enum discover_reason rule)
{
	const bool requested = rule != DISCOVER_ADDRESS;
	const bool by_group = rule == DISCOVER_NODE || rule == DISCOVER_ORDER;
	const struct machine_group *const group = v->group < in->ngroups ? &in->groups[v->group] : NULL;

	if (m->deleted)
		return DISCOVER_DELETED;
	if (m->master)
		return DISCOVER_MASTER;
	if (differ(m->cluster, v->cluster))
		return DISCOVER_OTHER_CLUSTER;
	if (!requested)
		return DISCOVER_FREE;
	if (other_datacenter(in, v, m))
		return DISCOVER_OTHER_DATACENTER;
	if (group != NULL && other_size(group, m))
		return DISCOVER_OTHER_SIZE;
	if (existed(v, m))
		return DISCOVER_EXISTED;
	if (older(in, v, m))
		return DISCOVER_OLDER;
	if (by_group && (m->cluster.len == 0 || v->cluster.len == 0))
		return DISCOVER_NOT_LISTED;
	if (by_group && undated(v, m))
		return DISCOVER_UNDATED;
	if (by_group && too_late(in, v, m))
		return DISCOVER_TOO_LATE;
	/* No spec can hold it: nothing would be written, again and again, and nothing could delete it. */
	if (m->id <= 0 && m->identifier.len == 0)
		return DISCOVER_UNIDENTIFIED;
	/* The vendor's own VM type has no status: without one a machine may run. */
	if (m->status.len > 0 && text_compare_folded(m->status, wire_str_of("running")) != 0)
		return DISCOVER_NOT_RUNNING;
	return DISCOVER_FREE;
}

/* spec.datacenterID is a UUID or a number, as whoever wrote it had it; unlike forms cannot be compared. */
static bool
other_datacenter(const struct discover_input *in, const struct discover_vpsienode *v, const struct machine *m)
{
	const int64_t number = number_of(v->datacenter);
	const struct machine_group *const group = v->group < in->ngroups ? &in->groups[v->group] : NULL;

	if (number > 0 ? numbers_differ(number, m->datacenter_id) : differ(v->datacenter, m->datacenter))
		return true;
	return group != NULL
	    && (differ(group->datacenter, m->datacenter)
		|| numbers_differ(group->datacenter_id, m->datacenter_id));
}

static bool
other_size(const struct machine_group *group, const struct machine *m)
{
	return numbers_differ(group->boxsize_id, m->boxsize_id) || numbers_differ(group->cpu, m->cpu)
	    || numbers_differ(group->ram, m->ram);
}

/* Both are known, and not the same. */
static bool
differ(struct wire_str a, struct wire_str b)
{
	return a.len > 0 && b.len > 0 && text_compare_folded(a, b) != 0;
}

static bool
numbers_differ(int64_t a, int64_t b)
{
	return a > 0 && b > 0 && a != b;
}

/* 0: not a number. */
static int64_t
number_of(struct wire_str s)
{
	int64_t n = 0;

	if (s.len == 0 || s.len > 18)
		return 0;
	for (uint32_t i = 0; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return 0;
		n = n * 10 + (s.p[i] - '0');
	}
	return n;
}

static bool
existed(const struct discover_vpsienode *v, const struct machine *m)
{
	const struct wire_str key = m->identifier.len > 0 ? m->identifier : m->hostname;

	for (uint32_t i = 0; i < v->nbefore; i++) {
		if (text_compare_folded(v->before[i], key) == 0)
			return true;
	}
	return false;
}

/*
 * The newest machine of the group at the time of the request has a time of the provider's own clock, so that
 * one is compared exactly. One of the same second is refused only when the list of what was there is missing.
 * With that list the time of the request does not count: a slow machine may have been ordered for an earlier
 * request, which got another one.
 */
static bool
older(const struct discover_input *in, const struct discover_vpsienode *v, const struct machine *m)
{
	if (m->created_us == 0)
		return false;
	if (v->newest_us > 0
	    && (m->created_us < v->newest_us || (m->created_us == v->newest_us && !v->has_before)))
		return true;
	return !v->has_before && v->requested_us > 0 && m->created_us + in->skew_us < v->requested_us;
}

static bool
undated(const struct discover_vpsienode *v, const struct machine *m)
{
	if (v->has_before)
		return false;
	return m->created_us == 0 || (v->requested_us == 0 && v->newest_us == 0);
}

/* One without a time may be somebody else's of much later. */
static bool
too_late(const struct discover_input *in, const struct discover_vpsienode *v, const struct machine *m)
{
	return v->until_us > 0 && (m->created_us == 0 || m->created_us > v->until_us + in->skew_us);
}
