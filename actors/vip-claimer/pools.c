/* actors/vip-claimer/pools.c - which pool a Cluster takes its address from (V5). Pure. */
#include <string.h>

#include "ascii.h"
#include "obj.h"
#include "vip.h"

enum { PRIORITY_MAX = 1000 * 1000, PRIORITY_NONE };

static bool matches(const struct vip_pool *, struct wire_str, struct wire_str, enum vip_role);
static bool is_or_lists(struct wire_str, struct wire_str, struct wire_str);
static struct wire_str trimmed(const char *, const char *);
static int compare(const struct vip_pool *, const struct vip_pool *);
static int64_t priority_of(struct wire_str);

const char *
vip_pool_kind(const struct vip_pool *p)
{
	return p->namespaced ? "InClusterIPPool" : "GlobalInClusterIPPool";
}

bool
vip_pool_exhausted(const struct vip_pool *p)
{
	return p->counted && p->free <= 0;
}

const struct vip_pool *
vip_pool_choose(const struct vip_pool *pools, size_t n, struct wire_str namespace, struct wire_str class,
    enum vip_role role)
{
	const struct vip_pool *best = NULL;

	for (size_t i = 0; i < n; i++) {
		if (matches(&pools[i], namespace, class, role)
		    && (best == NULL || compare(&pools[i], best) < 0))
			best = &pools[i];
	}
	return best;
}

static bool
matches(const struct vip_pool *p, struct wire_str namespace, struct wire_str class, enum vip_role role)
{
	return !p->deleting && class.len > 0 && (!p->namespaced || wire_str_same(p->namespace, namespace))
	    && is_or_lists(p->class_label, p->class_list, class)
	    && is_or_lists(p->role_label, p->role_list, wire_str_of(vip_role_label(role)));
}

/* The label is the text, or the annotation has it among its entries: "a, b". */
static bool
is_or_lists(struct wire_str label, struct wire_str list, struct wire_str text)
{
	if (wire_str_same(label, text))
		return true;
	for (const char *p = list.p, *const end = list.p + list.len; list.len > 0 && p <= end;) {
		const char *const comma = p < end ? memchr(p, ',', (size_t)(end - p)) : NULL;
		const char *const last = comma == NULL ? end : comma;

		if (wire_str_same(trimmed(p, last), text))
			return true;
		p = last + 1;
	}
	return false;
}

static struct wire_str
trimmed(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	while (p < end && end[-1] == ' ')
		end--;
	return (struct wire_str){ .p = p, .len = (uint32_t)(end - p) };
}

/* Below 0: a comes before b. */
static int
compare(const struct vip_pool *a, const struct vip_pool *b)
{
	const bool a_waits = a->paused || vip_pool_exhausted(a), b_waits = b->paused || vip_pool_exhausted(b);
	const int64_t a_priority = priority_of(a->priority), b_priority = priority_of(b->priority);

	if (a_waits != b_waits)
		return a_waits ? 1 : -1;
	if (a->namespaced != b->namespaced)
		return a->namespaced ? -1 : 1;
	if (a_priority != b_priority)
		return a_priority < b_priority ? -1 : 1;
	return wire_str_compare(a->name, b->name);
}

static int64_t
priority_of(struct wire_str text)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < text.len; i++) {
		if (!ascii_digit(text.p[i]) || n > PRIORITY_MAX)
			return PRIORITY_NONE;
		n = n * 10 + (text.p[i] - '0');
	}
	return text.len == 0 || n > PRIORITY_MAX ? PRIORITY_NONE : n;
}
