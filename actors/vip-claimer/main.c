/*
 * actors/vip-claimer/main.c - gives each Cluster of a ClusterClass the address of its control plane before it
 * is rendered.
 *
 *	kube-watcher ==kube.vip-claimer==> "clusters/<namespace>/<name>"; of a claim or an address: its
 *	Cluster; of a ClusterClass: those that name it; of a pool: those that wait
 *	reconcile (on the leader): mirrors -> plan.c -> at most one claim, adoption or patch of the Cluster
 *	hook.c (on every replica): request and mirrors -> hook_plan.c -> the answer
 */
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "clock.h"
#include "log.h"
#include "obj.h"

enum { TICK_MS = 1000 };

static unsigned kinds_of(const char *, size_t);
static void plan(struct reconciler *, const struct reconcile_item *, struct reconcile_step *);
static void plan_role(struct claimer *, struct cluster_view *, const struct work *, struct cluster_note *,
    enum vip_role, struct vip_plan *);
static void fill_step(
    struct claimer *, const struct cluster_view *, const struct vip_plan *, struct reconcile_step *);
static void forget(struct claimer *, const struct work *);

static const struct actor_row rows[] = {
	/* message             only from           handler             */
	{ MSG_CAPI_CLUSTER,    ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_CLUSTER_CLASS,   ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_IP_CLAIM,        ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_IP_ADDRESS,      ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_GLOBAL_IP_POOL,  ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_IP_POOL,         ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_KIND,            ROLE_KUBE_WATCHER,  reconcile_on_kind   },
	{ MSG_LEADER,          ROLE_KUBE_WATCHER,  reconcile_on_leader },
	{ MSG_SNAP_END,        ROLE_KUBE_WATCHER,  reconcile_on_synced },
};

#define INSTALL_CAPI	"install Cluster API"
#define INSTALL_IPAM	"install an IPAM provider of Cluster API"

/* A cluster may have pools of one kind only; without any, no pool matches. */
static const struct reconcile_kind kinds[VIP_KIND_MAX] = {
	[VIP_KIND_CLUSTERS] = { .group = CAPI_GROUP, .resource = VIP_CLUSTERS, .message = MSG_CAPI_CLUSTER,
	    .counted = true, .install = INSTALL_CAPI },
	[VIP_KIND_CLASSES] = { .group = CAPI_GROUP, .resource = "clusterclasses",
	    .message = MSG_CLUSTER_CLASS, .install = INSTALL_CAPI },
	[VIP_KIND_CLAIMS] = { .group = CAPI_IPAM_GROUP, .resource = "ipaddressclaims",
	    .message = MSG_IP_CLAIM, .install = INSTALL_CAPI },
	[VIP_KIND_ADDRESSES] = { .group = CAPI_IPAM_GROUP, .resource = "ipaddresses",
	    .message = MSG_IP_ADDRESS, .install = INSTALL_CAPI },
	[VIP_KIND_GLOBAL_POOLS] = { .group = CAPI_IPAM_GROUP, .resource = "globalinclusterippools",
	    .message = MSG_GLOBAL_IP_POOL, .optional = true, .install = INSTALL_IPAM },
	[VIP_KIND_POOLS] = { .group = CAPI_IPAM_GROUP, .resource = "inclusterippools",
	    .message = MSG_IP_POOL, .optional = true, .install = INSTALL_IPAM },
};

static const struct reconcile_spec reconcile = {
	.kinds = kinds, .nkinds = NITEMS(kinds), .links = { LINK_KUBE_VIP }, .nlinks = 1,
	.refused_reason = "FailedAllocate", .noun = "Clusters", .keys = cluster_view_keys,
	.kinds_of = kinds_of, .plan = plan,
};

/* The write of each verb; kind and name of its object follow from it. */
static const struct {
	enum step_form	 form;
	enum op		 op;
	unsigned	 kind;
	const char	*action;
} performed[VIP_VERB_MAX] = {
	[VIP_NOTHING]       = { STEP_NOTHING, OP_MERGE,  VIP_KIND_CLUSTERS, "Allocate" },
	[VIP_WAIT]          = { STEP_WAIT,    OP_MERGE,  VIP_KIND_CLUSTERS, "Allocate" },
	[VIP_WARN]          = { STEP_WAIT,    OP_MERGE,  VIP_KIND_CLUSTERS, "Allocate" },
	[VIP_CREATE_CLAIM]  = { STEP_WRITE,   OP_CREATE, VIP_KIND_CLAIMS,   "Claim" },
	[VIP_ADOPT_CLAIM]   = { STEP_WRITE,   OP_MERGE,  VIP_KIND_CLAIMS,   "Adopt" },
	[VIP_PATCH_CLUSTER] = { STEP_WRITE,   OP_MERGE,  VIP_KIND_CLUSTERS, "Allocate" },
};

static void
start(struct actor *actor, void *self)
{
	struct claimer *const c = self;

	reconcile_start(&c->r, actor, &reconcile);
	c->budget_ms = actor_setting_i64(actor, "before-create-timeout");
	c->default_port = actor_setting_i64(actor, "default-port");
	c->pools = pool_set_new();
	c->notes = keytab_new(sizeof(struct cluster_note));
	c->figures = figures_new();
	c->hook = hook_new(c);
}

static void
tick(struct actor *actor, void *self, int64_t now_ms)
{
	struct claimer *const c = self;

	reconcile_tick(actor, self, now_ms);
	hook_tick(c->hook, now_ms);
	if (hook_obstacle(c->hook) != NULL)
		actor_status(actor, "the hooks are not served: %s", hook_obstacle(c->hook));
	pool_set_measure(c->pools);
	figures_claims(c);
}

static void
stop(struct actor *actor, void *self)
{
	struct claimer *const c = self;

	hook_free(&c->hook);
	pool_set_free(&c->pools);
	keytab_free(&c->figures);
	keytab_free(&c->notes);
	reconcile_stop(actor, self);
}

static const struct actor_spec spec = {
	.name = "vip-claimer", .state_size = sizeof(struct claimer), .rows = rows, .nrows = NITEMS(rows),
	.start = start, .tick = tick, .tick_ms = TICK_MS, .work = reconcile_work,
	.explain = claimer_explain, .stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

/* ---- Plan ---- */

/* Pools are judged by the plan: one of the two kinds may be missing. */
static unsigned
kinds_of(const char *key, size_t len)
{
	(void)key;
	(void)len;
	return 1u << VIP_KIND_CLUSTERS | 1u << VIP_KIND_CLASSES | 1u << VIP_KIND_CLAIMS
	    | 1u << VIP_KIND_ADDRESSES;
}

/* Ingress waits until there is nothing to write for the control plane. */
static void
plan(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *step)
{
	struct claimer *const c = claimer_of(r);
	const struct work *const w = i->work;
	struct cluster_view v;
	struct vip_plan p;
	int64_t after_ms = 0;

	MUST(cluster_view_key(&v, w->key, w->len));
	if (cluster_view_forbidden(c) != NULL) {
		*step = (struct reconcile_step){ .form = STEP_WAIT, .verb = "wait",
			.why = "reading a kind that the plan requires is forbidden" };
		return;
	}
	struct cluster_note *const note = keytab_value(c->notes, keytab_add(c->notes, w->key, w->len, NULL));
	for (enum vip_role role = 0; role < VIP_ROLE_MAX; role++) {
		struct reconcile_step own = { .form = STEP_NOTHING };

		plan_role(c, &v, w, note, role, &p);
		if (!v.in.cluster.present)
			break;
		fill_step(c, &v, &p, &own);
		own.write.trace = w->trace;
		if (own.after_ms > 0 && (after_ms == 0 || own.after_ms < after_ms))
			after_ms = own.after_ms;
		/* What the control plane waits for is what the journal shows; what is written comes first. */
		if (role == VIP_CONTROL_PLANE || own.form == STEP_WRITE
		    || (step->form == STEP_NOTHING && own.form == STEP_WAIT))
			*step = own;
		if (own.form == STEP_WRITE)
			return;
	}
	if (!v.in.cluster.present) {
		*step = (struct reconcile_step){ .form = STEP_NOTHING, .verb = "nothing", .why = p.why,
			.forget = true };
		forget(c, w);
		return;
	}
	if (after_ms > 0) {
		step->form = STEP_WAIT;
		step->after_ms = after_ms;
	}
}

static void
plan_role(struct claimer *c, struct cluster_view *v, const struct work *w, struct cluster_note *note,
    enum vip_role role, struct vip_plan *p)
{
	const int64_t began_us = clock_mono_us();
	const struct vip_cluster *const of = &v->in.cluster;
	char key[OBJECT_KEY_MAX + 1];

	cluster_view_read(v, c, role);
	vip_plan(&v->in, p);
	if (role == VIP_CONTROL_PLANE) {
		const struct wire_str ns = vip_class_namespace(of);
		const int n = of->class_name.len == 0 ? 0 : snprintf(key, sizeof(key), "%s/%.*s/%.*s",
		    kinds[VIP_KIND_CLASSES].resource, (int)ns.len, ns.p, (int)of->class_name.len,
		    of->class_name.p);

		note->class = n > 0 && (size_t)n < sizeof(key) ? hash64(key, (size_t)n) : 0;
		figures_planned(v, p->verb, began_us);
	}
	log_set_trace(w->trace);
	report_plan(c, v, note, p);
	note->roles[role].verb = p->verb;
	note->roles[role].claimed = v->in.claim.present;
	note->roles[role].ready = v->in.address.present;
}

static void
fill_step(struct claimer *c, const struct cluster_view *v, const struct vip_plan *p,
    struct reconcile_step *step)
{
	const unsigned kind = performed[p->verb].kind;
	const char *const cluster_api = c->r.kinds[VIP_KIND_CLUSTERS].api;
	struct reconcile_write *const w = &step->write;
	char *const body = c->r.body;

	step->form = performed[p->verb].form;
	step->verb = vip_verb_name(p->verb);
	step->why = p->why;
	step->after_ms = p->verb == VIP_WAIT || p->verb == VIP_WARN ? p->after_ms : 0;
	*w = (struct reconcile_write){ .op = performed[p->verb].op, .kind = kind,
		.action = performed[p->verb].action };
	snprintf(w->ns, sizeof(w->ns), "%s", v->ns);
	snprintf(w->name, sizeof(w->name), "%s", kind == VIP_KIND_CLAIMS ? v->claim_name : v->name);
	switch (p->verb) {
	case VIP_CREATE_CLAIM:
		w->body_len = vip_body_claim(body, sizeof(c->r.body), c->r.kinds[VIP_KIND_CLAIMS].api,
		    cluster_api, &v->in, &p->view);
		break;
	case VIP_ADOPT_CLAIM:
		w->body_len = vip_body_adopt(body, sizeof(c->r.body), cluster_api, &v->in);
		break;
	case VIP_PATCH_CLUSTER:
		w->body_len = vip_body_cluster(body, sizeof(c->r.body), &v->in);
		break;
	default:
		return;
	}
	/* Only the variables vary, and they are an object's: the server takes 1.5 MiB of one, we 512 KiB. */
	if (w->body_len > 0)
		return;
	step->form = STEP_WAIT;
	step->verb = "wait";
	step->why = "the variables of the Cluster are too large to be written back";
}

static void
forget(struct claimer *c, const struct work *w)
{
	const uint32_t id = keytab_find(c->notes, w->key, w->len);

	if (id != KEYTAB_NONE)
		keytab_remove(c->notes, id);
}
