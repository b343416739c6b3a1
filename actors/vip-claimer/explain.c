/* actors/vip-claimer/explain.c - `muster explain cluster/NAMESPACE/NAME`. */
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "json.h"
#include "obj.h"

static void put_role(struct claimer *, struct cluster_view *, enum vip_role, struct json *);
static void put_inputs(const struct cluster_view *, const struct vip_plan *, struct json *);
static void put_claim(const struct cluster_view *, struct json *);
static void put_pools(const struct cluster_view *, struct json *);
static void put(struct json *, const char *, struct wire_str);

void
claimer_explain(struct actor *actor, void *self, const char *resource, const char *name, struct json *out)
{
	struct claimer *const c = self;
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), "%s/%s", resource, name);
	struct cluster_view v;

	(void)actor;
	if (n < 0 || (size_t)n >= sizeof(key) || strcmp(resource, VIP_CLUSTERS) != 0)
		return;
	const struct journal_entry *const entry = journal_find(c->r.journal, key, (size_t)n);
	if (entry == NULL || entry->why == NULL || !cluster_view_key(&v, key, (size_t)n))
		return;
	put_role(c, &v, VIP_CONTROL_PLANE, out);
	if (v.in.cluster.ingress) {
		json_open(out, "ingress", '{');
		put_role(c, &v, VIP_INGRESS, out);
		json_close(out, '}');
	}
	if (hook_obstacle(c->hook) != NULL)
		json_str(out, "hooks", hook_obstacle(c->hook));
	journal_put_write(entry, out);
}

static void
put_role(struct claimer *c, struct cluster_view *v, enum vip_role role, struct json *out)
{
	struct vip_plan p;
	struct vip_gate g;

	cluster_view_read(v, c, role);
	vip_plan(&v->in, &p);
	json_open(out, "inputs", '{');
	put_inputs(v, &p, out);
	json_close(out, '}');
	json_str(out, "rule", p.message);
	json_open(out, "decided", '{');
	json_str(out, "verb", vip_verb_name(p.verb));
	if (role == VIP_CONTROL_PLANE && c->hook != NULL) {
		cluster_view_hook(v, c, NULL);
		vip_gate_plan(&v->in, &g);
		json_str(out, "hook", g.pass ? "lets the Cluster pass" : g.message);
	}
	json_close(out, '}');
}

static void
put_inputs(const struct cluster_view *v, const struct vip_plan *p, struct json *out)
{
	const struct vip_cluster *const c = &v->in.cluster;
	char text[400];

	const struct wire_str ns = vip_class_namespace(c);
	snprintf(text, sizeof(text), "%.*s/%.*s%s", (int)(ns.len < 64 ? ns.len : 64), ns.p,
	    (int)(c->class_name.len < 254 ? c->class_name.len : 254),
	    c->class_name.len > 0 ? c->class_name.p : "",
	    v->in.class.present ? "" : ": does not exist");
	json_str(out, "cluster class", c->class_name.len > 0 ? text : "none");
	if (v->in.role == VIP_CONTROL_PLANE) {
		put(out, "endpoint", c->host);
		json_int(out, "port", c->port > 0 ? c->port : v->in.default_port);
		json_bool(out, "variable " VIP_VARIABLE " declared", v->in.class.declares_variable);
	} else {
		put(out, "ingress address", c->ingress_vip);
	}
	if (c->paused)
		json_str(out, "paused", c->pre_allocate ? "yes, with pre-allocate" : "yes");
	put_pools(v, out);
	put(out, "pool", p->view.pool_name);
	put_claim(v, out);
}

static void
put_claim(const struct cluster_view *v, struct json *out)
{
	const struct vip_claim *const claim = &v->in.claim;
	char text[400];

	snprintf(text, sizeof(text), "%s/%s%s", v->ns, v->claim_name,
	    !claim->present ? ": does not exist" : claim->deleting ? ": is being deleted" : "");
	json_str(out, "claim", text);
	if (!claim->present)
		return;
	json_str(out, "owner of the claim", claim->owners == 0 ? "none"
	    : wire_str_same(claim->owner_uid, v->in.cluster.uid) ? "this Cluster" : "another object");
	put(out, "claim not ready", claim->not_ready);
	put(out, "IPAddress", claim->address_name);
	put(out, "address", v->in.address.address);
}

static void
put_pools(const struct cluster_view *v, struct json *out)
{
	unsigned exhausted = 0;

	for (size_t i = 0; i < v->in.npools; i++)
		exhausted += vip_pool_exhausted(&v->in.pools[i]);
	json_int(out, "pools", (int64_t)v->in.npools);
	json_int(out, "pools that are exhausted", exhausted);
}

static void
put(struct json *out, const char *name, struct wire_str value)
{
	if (value.len > 0)
		json_strn(out, name, value.p, value.len);
}
