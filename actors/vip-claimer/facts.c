/* actors/vip-claimer/facts.c - what the rules of both plans require, and their messages. Pure. */
#include <string.h>

#include "ascii.h"
#include "obj.h"
#include "text_buffer.h"
#include "vip.h"

static const struct {
	const char	*label, *prefix;
} roles[VIP_ROLE_MAX] = {
#define VIP_ROLE_ROW(ID, label_, prefix_) [VIP_##ID] = { .label = (label_), .prefix = (prefix_) },
	VIP_ROLES(VIP_ROLE_ROW)
#undef VIP_ROLE_ROW
};

static const struct vip_pool *pool_of_claim(const struct vip_input *);
static struct wire_str value_of(const struct vip_input *);
static bool rest_differs(const struct vip_input *);
static void put_object(struct text_buffer *, const char *, struct wire_str, struct wire_str);
static void put(struct text_buffer *, struct wire_str);

const char *
vip_role_label(enum vip_role r)
{
	MUST((unsigned)r < VIP_ROLE_MAX);
	return roles[r].label;
}

size_t
vip_claim_name(char buf[VIP_NAME_SIZE], enum vip_role r, struct wire_str cluster)
{
	struct text_buffer t = { .p = buf, .size = VIP_NAME_SIZE };

	MUST((unsigned)r < VIP_ROLE_MAX);
	text_put(&t, roles[r].prefix);
	put(&t, cluster);
	return t.len == strlen(roles[r].prefix) + cluster.len ? t.len : 0;
}

struct wire_str
vip_class_namespace(const struct vip_cluster *c)
{
	return c->class_namespace.len > 0 ? c->class_namespace : c->namespace;
}

bool
vip_is_ipv4(struct wire_str text)
{
	unsigned parts = 0, digits = 0, n = 0;

	for (uint32_t i = 0; i < text.len; i++) {
		if (text.p[i] == '.' && digits > 0) {
			parts++;
			digits = n = 0;
		} else if (ascii_digit(text.p[i]) && digits < 3 && !(digits > 0 && n == 0)) {
			n = n * 10 + (unsigned)(text.p[i] - '0');
			digits++;
		} else {
			return false;
		}
		if (n > 255)
			return false;
	}
	return parts == 3 && digits > 0;
}

bool
vip_is_address(struct wire_str text)
{
	enum { LONGEST = 45 };
	unsigned colons = 0;

	if (vip_is_ipv4(text))
		return true;
	for (uint32_t i = 0; i < text.len; i++) {
		const char c = text.p[i];

		colons += c == ':';
		if (!ascii_digit(c) && c != ':' && c != '.' && !(ascii_letter(c) && (c | 0x20) <= 'f'))
			return false;
	}
	return colons >= 2 && text.len <= LONGEST;
}

void
vip_view(const struct vip_input *s, struct vip_view *v)
{
	const struct vip_cluster *const c = &s->cluster;
	const struct vip_claim *const claim = &s->claim;
	const struct vip_pool *const claimed = pool_of_claim(s);
	const struct wire_str value = value_of(s);
	const int64_t age_ms = s->now_us > 0 ? (s->now_us - claim->created_us) / 1000 : 0;
	const bool fits = vip_claim_name(v->claim_name, s->role, c->name) > 0;

	v->pool = vip_pool_choose(s->pools, s->npools, c->namespace, c->class_name, s->role);
	v->pool_name = claim->present ? claim->pool_name : v->pool != NULL ? v->pool->name : wire_str_of("");
	const bool late = claim->present && claim->created_us > 0 && age_ms >= s->budget_ms;
	v->late_in_ms = claim->present && !late ? s->budget_ms - (age_ms > 0 ? age_ms : 0) : 0;
	const bool ours = claim->present && s->address.present && vip_is_address(s->address.address)
	    && wire_str_same(s->address.claim_name, claim->name);
	const struct {
		bool		holds;
		enum vip_fact	fact;
	} all[] = {
		{ s->synced, VIP_SYNCED },
		{ s->forbidden.len == 0, VIP_READABLE },
		{ c->present, VIP_CLUSTER },
		{ s->role == VIP_CONTROL_PLANE || c->ingress, VIP_WANTED },
		{ c->class_name.len > 0, VIP_CLASS_NAMED },
		{ s->class.present, VIP_CLASS_PRESENT },
		{ fits, VIP_NAME_FITS },
		{ c->deleting, VIP_DELETING },
		{ c->paused, VIP_PAUSED },
		{ c->pre_allocate, VIP_RESERVES },
		{ value.len > 0, VIP_SET },
		{ ours && wire_str_same(value, s->address.address), VIP_SET_BY_US },
		{ ours && rest_differs(s), VIP_REST_DIFFERS },
		{ v->pool != NULL, VIP_POOL },
		{ claim->present, VIP_CLAIM },
		{ claim->present && claim->deleting, VIP_CLAIM_DELETING },
		{ claim->present && claim->owners == 0, VIP_CLAIM_OWNERLESS },
		{ claim->present && c->uid.len > 0 && wire_str_same(claim->owner_uid, c->uid), VIP_CLAIM_OWNED },
		{ claim->present && wire_str_same(claim->cluster_label, c->name), VIP_CLAIM_LABELLED },
		{ claim->present && claim->address_name.len > 0, VIP_ADDRESS_NAMED },
		{ s->address.present, VIP_ADDRESS_PRESENT },
		{ s->address.present && wire_str_same(s->address.claim_name, claim->name), VIP_ADDRESS_OF_CLAIM },
		{ vip_is_address(s->address.address), VIP_ADDRESS_VALID },
		{ claim->present && claim->not_ready.len > 0, VIP_CLAIM_NOT_READY },
		{ late, VIP_LATE },
		{ claimed != NULL, VIP_CLAIM_POOL },
		{ claimed != NULL && vip_pool_exhausted(claimed), VIP_CLAIM_POOL_EMPTY },
	};

	v->facts = 0;
	for (size_t i = 0; i < NITEMS(all); i++)
		v->facts |= all[i].holds ? all[i].fact : 0;
}

static const struct vip_pool *
pool_of_claim(const struct vip_input *s)
{
	for (size_t i = 0; s->claim.present && i < s->npools; i++) {
		const struct vip_pool *const p = &s->pools[i];

		if (wire_str_is(s->claim.pool_kind, vip_pool_kind(p))
		    && wire_str_same(s->claim.pool_name, p->name)
		    && (!p->namespaced || wire_str_same(s->claim.namespace, p->namespace)))
			return p;
	}
	return NULL;
}

/* What the role's goal has now. */
static struct wire_str
value_of(const struct vip_input *s)
{
	return s->role == VIP_CONTROL_PLANE ? s->cluster.host : s->cluster.ingress_vip;
}

/* An IPv6 address is no value of a label: there the annotation alone has it. */
static bool
rest_differs(const struct vip_input *s)
{
	if (s->role == VIP_CONTROL_PLANE)
		return s->class.present && s->class.declares_variable
		    && !vip_variable_is(s->cluster.variables, s->address.address);
	return vip_is_ipv4(s->address.address)
	    && !wire_str_same(s->cluster.ingress_vip_label, s->address.address);
}

/* ---- Messages ---- */

void
vip_message(char buf[VIP_MESSAGE_SIZE], const char *why, enum vip_subject about, const struct vip_input *s,
    const struct vip_view *v)
{
	struct text_buffer t = { .p = buf, .size = VIP_MESSAGE_SIZE };
	const struct vip_cluster *const c = &s->cluster;
	const struct wire_str claim = wire_str_of(v->claim_name);

	text_put(&t, why);
	if (about != VIP_OF_NONE)
		text_put(&t, ": ");
	switch (about) {
	case VIP_OF_NONE:
		break;
	case VIP_OF_CLASS:
		put_object(&t, "ClusterClass ", vip_class_namespace(c), c->class_name);
		break;
	case VIP_OF_LABELS:
		text_put(&t, "label a pool with " VIP_CLUSTER_CLASS "=");
		put(&t, c->class_name);
		text_put(&t, " and " VIP_ROLE "=");
		text_put(&t, vip_role_label(s->role));
		break;
	case VIP_OF_CLAIM:
		put_object(&t, "IPAddressClaim ", c->namespace, claim);
		break;
	case VIP_OF_POOL:
		text_put(&t, "pool ");
		put(&t, v->pool_name);
		break;
	case VIP_OF_CLAIM_IN_POOL:
		put_object(&t, "IPAddressClaim ", c->namespace, claim);
		text_put(&t, " of pool ");
		put(&t, v->pool_name);
		break;
	case VIP_OF_ADDRESS:
		put(&t, s->address.address);
		break;
	case VIP_OF_REASON:
		put_object(&t, "IPAddressClaim ", c->namespace, claim);
		text_put(&t, " of pool ");
		put(&t, v->pool_name);
		text_put(&t, " has reason ");
		put(&t, s->claim.not_ready);
		break;
	case VIP_OF_RESOURCE:
		put(&t, s->forbidden);
		break;
	}
}

static void
put_object(struct text_buffer *t, const char *kind, struct wire_str namespace, struct wire_str name)
{
	text_put(t, kind);
	put(t, namespace);
	text_put(t, "/");
	put(t, name);
}

static void
put(struct text_buffer *t, struct wire_str s)
{
	text_putn(t, s.p, s.len);
}
