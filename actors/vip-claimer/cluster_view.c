/*
 * actors/vip-claimer/cluster_view.c - a Cluster and what belongs to it, as the mirrors have them; which
 * Clusters a change concerns.
 *
 * The claim has the name of its Cluster, and the address names its claim: no index is needed. A pool
 * concerns the Clusters that wait, a ClusterClass those that name it.
 */
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "clock.h"
#include "kube/time.h"
#include "obj.h"

static void read_cluster(struct cluster_view *, struct claimer *);
static void read_class(struct cluster_view *, struct claimer *);
static void read_claim(struct cluster_view *, struct claimer *, enum vip_role);
static void read_owners(struct vip_claim *, struct wire_rows, struct wire_str);
static void read_address(struct cluster_view *, struct claimer *);
static bool read_object(struct claimer *, unsigned, struct wire_str, struct wire_str, struct change *,
    union msg_body *);
static bool listing(const struct claimer *);
static void enqueue_claim(struct reconciler *, struct wire_str, struct wire_str, const struct change *);
static void enqueue_waiting(struct reconciler *, const struct change *);
static void enqueue_class(struct reconciler *, const struct change *);
static bool split_key(struct wire_str, struct wire_str *, struct wire_str *);
static int64_t time_of(struct wire_str);

bool
cluster_view_name(struct cluster_view *v, struct wire_str ns, struct wire_str name)
{
	if (ns.len == 0 || ns.len >= sizeof(v->ns) || name.len == 0 || name.len >= sizeof(v->name))
		return false;
	memcpy(v->ns, ns.p, ns.len);
	v->ns[ns.len] = '\0';
	memcpy(v->name, name.p, name.len);
	v->name[name.len] = '\0';
	return true;
}

bool
cluster_view_key(struct cluster_view *v, const char *key, size_t len)
{
	struct wire_str ns, name;

	return split_key((struct wire_str){ .p = key, .len = (uint32_t)len }, &ns, &name)
	    && cluster_view_name(v, ns, name);
}

void
cluster_view_read(struct cluster_view *v, struct claimer *c, enum vip_role role)
{
	memset(&v->in, 0, sizeof(v->in));
	v->in.role = role;
	v->in.synced = reconcile_synced(&c->r) && !listing(c);
	v->in.budget_ms = c->budget_ms;
	v->in.default_port = c->default_port;
	v->in.pools = pool_set_all(c->pools, &v->in.npools);
	if (!actor_cluster_time_us(c->r.actor, LINK_KUBE_VIP, &v->in.now_us))
		v->in.now_us = 0;
	read_cluster(v, c);
	read_class(v, c);
	read_claim(v, c, role);
	read_address(v, c);
}

void
cluster_view_hook(struct cluster_view *v, struct claimer *c, const struct vip_cluster *request)
{
	const char *const forbidden = cluster_view_forbidden(c);

	cluster_view_read(v, c, VIP_CONTROL_PLANE);
	if (request != NULL) {
		const struct wire_str uid = v->in.cluster.uid;

		v->in.cluster = *request;
		if (request->uid.len == 0)
			v->in.cluster.uid = uid;
		if (v->in.claim.present)
			read_owners(&v->in.claim, v->claim.ip_claim.owners, v->in.cluster.uid);
	}
	v->in.forbidden = wire_str_of(forbidden != NULL ? forbidden : "");
	/* What is set does not change: also an older mirror is right about it. */
	v->in.synced = v->in.synced
	    && (actor_fresh(c->r.actor, LINK_KUBE_VIP) || v->in.cluster.host.len > 0);
}

void
cluster_view_patches(struct cluster_view *v, struct claimer *c, struct wire_str uid)
{
	cluster_view_hook(v, c, NULL);
	if (uid.len > 0 && !wire_str_same(uid, v->in.cluster.uid))
		v->in.cluster.present = false;
}

const char *
cluster_view_forbidden(const struct claimer *c)
{
	for (unsigned k = 0; k < VIP_KIND_MAX; k++) {
		if (c->r.kinds[k].state == KIND_STATE_FORBIDDEN)
			return c->r.spec->kinds[k].resource;
	}
	return NULL;
}

static bool
listing(const struct claimer *c)
{
	for (unsigned k = 0; k < VIP_KIND_MAX; k++) {
		if (c->r.kinds[k].state == KIND_STATE_LISTING)
			return true;
	}
	return false;
}

/* ---- Reading ---- */

static void
read_cluster(struct cluster_view *v, struct claimer *c)
{
	const struct body_capi_cluster *const b = &v->cluster.capi_cluster;
	struct vip_cluster *const out = &v->in.cluster;
	struct wire_str value;

	out->namespace = wire_str_of(v->ns);
	out->name = wire_str_of(v->name);
	out->present = read_object(
	    c, VIP_KIND_CLUSTERS, out->namespace, out->name, &v->cluster_object, &v->cluster);
	if (!out->present)
		return;
	out->uid = v->cluster_object.uid;
	out->resource_version = v->cluster_object.rv;
	out->created_us = time_of(b->created);
	out->deleting = b->deleted.len > 0;
	out->paused = b->paused || map_get(b->core, "paused", &value);
	out->pre_allocate = map_get(b->vip, "pre-allocate", &value) && wire_str_is(value, "true");
	out->ingress = map_get(b->vip, "ingress-enabled", &value) && wire_str_is(value, "true");
	map_get(b->vip, "ingress-vip", &out->ingress_vip);
	map_get(b->vip_labels, "ingress-vip", &out->ingress_vip_label);
	out->class_name = b->class_name;
	out->class_namespace = b->class_ns;
	out->host = b->host;
	out->port = b->port;
	out->variables = b->variables;
}

static void
read_class(struct cluster_view *v, struct claimer *c)
{
	const struct vip_cluster *const of = &v->in.cluster;
	struct change object;

	v->in.class.present = of->class_name.len > 0
	    && read_object(c, VIP_KIND_CLASSES, vip_class_namespace(of), of->class_name, &object, &v->class);
	if (v->in.class.present)
		v->in.class.declares_variable = rows_have(v->class.cluster_class.variables, VIP_VARIABLE);
}

static void
read_claim(struct cluster_view *v, struct claimer *c, enum vip_role role)
{
	struct vip_claim *const out = &v->in.claim;
	const struct body_ip_claim *const b = &v->claim.ip_claim;
	struct wire_str cells[ROWS_COLUMNS_MAX];

	if (vip_claim_name(v->claim_name, role, v->in.cluster.name) == 0)
		return;
	out->namespace = v->in.cluster.namespace;
	out->name = wire_str_of(v->claim_name);
	out->present =
	    read_object(c, VIP_KIND_CLAIMS, out->namespace, out->name, &v->claim_object, &v->claim);
	if (!out->present)
		return;
	out->resource_version = v->claim_object.rv;
	out->created_us = time_of(b->created);
	out->deleting = b->deleted.len > 0;
	map_get(b->labels, "cluster-name", &out->cluster_label);
	out->pool_kind = b->pool_kind;
	out->pool_name = b->pool_name;
	out->address_name = b->address;
	read_owners(out, b->owners, v->in.cluster.uid);
	for (struct wire_rows left = b->conditions; rows_next(&left, cells);) {
		if (wire_str_is(cells[0], "Ready") && wire_str_is(cells[1], "False"))
			out->not_ready = cells[2].len > 0 ? cells[2] : wire_str_of("Unknown");
	}
}

/* The Cluster with that uid is an owner; or one of another life of it is. */
static void
read_owners(struct vip_claim *out, struct wire_rows owners, struct wire_str uid)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	out->owners = owners.count;
	out->owner_uid = wire_str_of("");
	while (rows_next(&owners, cells)) {
		if (wire_str_is(cells[0], "Cluster")
		    && (out->owner_uid.len == 0 || wire_str_same(cells[2], uid)))
			out->owner_uid = cells[2];
	}
}

static void
read_address(struct cluster_view *v, struct claimer *c)
{
	struct change object;

	v->in.address.present = v->in.claim.present && v->in.claim.address_name.len > 0
	    && read_object(c, VIP_KIND_ADDRESSES, v->in.claim.namespace, v->in.claim.address_name, &object,
		&v->address);
	if (!v->in.address.present)
		return;
	v->in.address.address = v->address.ip_address.address;
	v->in.address.claim_name = v->address.ip_address.claim;
}

static bool
read_object(struct claimer *c, unsigned kind, struct wire_str ns, struct wire_str name, struct change *out,
    union msg_body *value)
{
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), "%s/%.*s/%.*s", c->r.spec->kinds[kind].resource, (int)ns.len,
	    ns.p, (int)name.len, name.p);

	return n > 0 && (size_t)n < sizeof(key)
	    && actor_read(c->r.actor, LINK_KUBE_VIP, key, (size_t)n, out, value);
}

static int64_t
time_of(struct wire_str text)
{
	int64_t us;

	return text.len > 0 && time_parse(text.p, text.len, &us) ? us : 0;
}

/* ---- Keys ---- */

void
cluster_view_keys(struct reconciler *r, const struct change *c)
{
	struct wire_str ns, name;

	switch (c->type) {
	case MSG_CAPI_CLUSTER:
		reconcile_enqueue(r, c->key.p, c->key.len, c);
		break;
	case MSG_CLUSTER_CLASS:
		enqueue_class(r, c);
		break;
	case MSG_IP_CLAIM:
		if (split_key(c->key, &ns, &name))
			enqueue_claim(r, ns, name, c);
		break;
	case MSG_IP_ADDRESS:
		if (split_key(c->key, &ns, &name))
			enqueue_claim(r, ns, c->value->ip_address.claim, c);
		break;
	default:
		pool_set_change(claimer_of(r)->pools, c);
		enqueue_waiting(r, c);
	}
}

/* The Cluster whose claim has that name. Claims of others, as those of machines, concern nobody. */
static void
enqueue_claim(struct reconciler *r, struct wire_str ns, struct wire_str claim, const struct change *c)
{
	char key[OBJECT_KEY_MAX + 1], prefix[VIP_NAME_SIZE];

	for (enum vip_role role = 0; role < VIP_ROLE_MAX; role++) {
		const uint32_t len = (uint32_t)vip_claim_name(prefix, role, wire_str_of(""));

		if (claim.len <= len || memcmp(claim.p, prefix, len) != 0)
			continue;
		const int n = snprintf(key, sizeof(key), VIP_CLUSTERS "/%.*s/%.*s", (int)ns.len, ns.p,
		    (int)(claim.len - len), claim.p + len);
		if (n > 0 && (size_t)n < sizeof(key))
			reconcile_enqueue(r, key, (size_t)n, c);
	}
}

static void
enqueue_waiting(struct reconciler *r, const struct change *c)
{
	const struct keytab *const notes = claimer_of(r)->notes;
	size_t len;

	KEYTAB_EACH(notes, id) {
		const struct cluster_note *const note = keytab_value(notes, id);
		const char *const key = keytab_key(notes, id, &len);
		bool waits = false;

		for (enum vip_role role = 0; role < VIP_ROLE_MAX; role++)
			waits |= note->roles[role].verb != VIP_NOTHING;
		if (waits)
			reconcile_enqueue(r, key, len, c);
	}
}

static void
enqueue_class(struct reconciler *r, const struct change *c)
{
	const struct keytab *const notes = claimer_of(r)->notes;
	const uint64_t class = hash64(c->key.p, c->key.len);
	size_t len;

	KEYTAB_EACH(notes, id) {
		const char *const key = keytab_key(notes, id, &len);

		if (((const struct cluster_note *)keytab_value(notes, id))->class == class)
			reconcile_enqueue(r, key, len, c);
	}
}

/* "<resource>/<namespace>/<name>" */
static bool
split_key(struct wire_str key, struct wire_str *ns, struct wire_str *name)
{
	const char *const end = key.p + key.len, *const first = memchr(key.p, '/', key.len);
	const char *const second = first != NULL ? memchr(first + 1, '/', (size_t)(end - first - 1)) : NULL;

	if (second == NULL)
		return false;
	*ns = (struct wire_str){ .p = first + 1, .len = (uint32_t)(second - first - 1) };
	*name = (struct wire_str){ .p = second + 1, .len = (uint32_t)(end - second - 1) };
	return true;
}
