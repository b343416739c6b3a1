/*
 * actors/vpsie-claimer/main.c - one VM of VPSie per VPSieNode, as many VPSieNodes as each NodeGroup wants.
 *
 *	kube-watcher ==kube.vpsie-claimer==> "vpsienodes/<namespace>/<name>", "nodegroups/<namespace>/<name>"
 *	node-state   ==facts==============> the VPSieNode of that Node, and those that wait for one
 *	reconcile: mirrors, the last list -> one matching -> fsm.c or group.c -> at most one write or call
 */
#include <stdio.h>
#include <string.h>

#include "vpsie.h"
#include "clock.h"
#include "json.h"
#include "log.h"
#include "obj.h"
#include "stat.h"

enum { TICK_MS = 1000, COUNT_MS = 60 * 1000, BRAKE_MOST = 10, BRAKE_WINDOW_MS = 60 * 1000 };

static void keys(struct reconciler *, const struct change *);
static void keys_of_vpsienode(struct reconciler *, const struct change *);
static void keys_of_node(struct reconciler *, const struct change *);
static void enqueue_waiting(struct reconciler *, const struct change *);
static void plan(struct reconciler *, const struct reconcile_item *, struct reconcile_step *);
static int64_t busy_until_ms(struct reconciler *);
static void count_phases(struct vpsie_claimer *, int64_t);
static void count_phase(const struct change *, void *);

static const struct actor_row rows[] = {
	/* message         only from           handler             */
	{ MSG_VPSIE_NODE,  ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_NODE_GROUP,  ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_NODE,        ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_KIND,        ROLE_KUBE_WATCHER,  reconcile_on_kind   },
	{ MSG_LEADER,      ROLE_KUBE_WATCHER,  reconcile_on_leader },
	{ MSG_SNAP_END,    ROLE_KUBE_WATCHER,  reconcile_on_synced },
	{ MSG_NODE_FACT,   ROLE_NODE_STATE,    reconcile_on_object },
	{ MSG_SNAP_END,    ROLE_NODE_STATE,    reconcile_on_synced },
};

static const struct reconcile_kind kinds[] = {
	[VPSIE_KIND_NODES] = { .group = VPSIE_GROUP, .resource = VPSIE_NODES, .message = MSG_VPSIE_NODE,
	    .counted = true },
	[VPSIE_KIND_GROUPS] = { .group = VPSIE_GROUP, .resource = NODE_GROUPS, .message = MSG_NODE_GROUP },
	/* Labels and resourceVersion of what is written come from here, everything else from node-state. */
	[VPSIE_KIND_CLUSTER_NODES] = { .group = "", .resource = "nodes", .message = MSG_NODE },
};

static const struct reconcile_spec reconcile = {
	.kinds = kinds, .nkinds = NITEMS(kinds), .links = { LINK_KUBE_VPSIE, LINK_FACTS }, .nlinks = 2,
	.refused_reason = "Refused", .noun = "VPSieNodes", .keys = keys, .plan = plan,
	.busy_until_ms = busy_until_ms,
};

static void
start(struct actor *a, void *self)
{
	struct vpsie_claimer *const c = self;
	const bool bearer = strcmp(actor_setting(a, "auth-header"), "authorization") == 0;

	reconcile_start(&c->r, a, &reconcile);
	c->set = (struct vpsie_settings){ .discovery_ms = actor_setting_i64(a, "discovery-interval"),
		.resync_ms = actor_setting_i64(a, "resync-interval"),
		.provisioning_ms = actor_setting_i64(a, "provisioning-timeout"),
		.joining_ms = actor_setting_i64(a, "joining-timeout"),
		.failed_ttl_ms = actor_setting_i64(a, "failed-ttl"),
		.confirm_ms = actor_setting_i64(a, "confirm-interval"),
		.skew_ms = actor_setting_i64(a, "clock-skew") };
	c->claims = keytab_new(sizeof(struct vpsienode_claim));
	c->groups = keytab_new(sizeof(struct nodegroup_claim));
	c->waiting = keytab_new(0);
	c->posting = keytab_new(0);
	c->owners = id_index_new();
	c->policy = drain_kubectl;
	c->policy.limit_ms = actor_setting_i64(a, "drain-timeout");
	c->drains = drain_set_new(&c->r, LINK_KUBE_VPSIE, &c->policy);
	brake_init(&c->brake, BRAKE_MOST, BRAKE_WINDOW_MS);
	shared_list_open(&c->list);
	c->matching = vpsie_matching_new();
	c->credential = vpsie_credential_new(actor_setting(a, "credential-dir"),
	    bearer ? "Authorization: Bearer " : "Vpsie-Auth: ");
	if (!vpsie_calls_open(c))
		actor_exit(a, EXIT_CONFIG);
}

static void
tick(struct actor *a, void *self, int64_t now_ms)
{
	struct vpsie_claimer *const c = self;

	if (c->calls.client != NULL) {
		vpsie_calls_tick(c);
		vpsie_credential_tick(c, now_ms);
	}
	if (c->phases_changed || now_ms >= c->count_ms)
		count_phases(c, now_ms);
	reconcile_tick(a, self, now_ms);
}

static void
stop(struct actor *a, void *self)
{
	struct vpsie_claimer *const c = self;

	call_effects_close(&c->calls);
	vpsie_listing_close(c);
	shared_list_close(&c->list);
	drain_set_free(&c->drains);
	id_index_free(&c->owners);
	keytab_free(&c->claims);
	keytab_free(&c->groups);
	keytab_free(&c->waiting);
	keytab_free(&c->posting);
	keytab_free(&c->missing);
	vpsie_list_free(&c->machines);
	vpsie_matching_free(&c->matching);
	vpsie_credential_free(&c->credential);
	reconcile_stop(a, self);
}

static const struct actor_spec spec = {
	.name = "vpsie-claimer",
	.state_size = sizeof(struct vpsie_claimer),
	.rows = rows,
	.nrows = NITEMS(rows),
	.start = start,
	.tick = tick,
	.tick_ms = TICK_MS,
	.work = reconcile_work,
	.explain = vpsie_explain_key,
	.ending = reconcile_ending,
	.stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

static int64_t
busy_until_ms(struct reconciler *r)
{
	return drain_set_busy_until_ms(vpsie_of(r)->drains);
}

static void
plan(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *step)
{
	if (strncmp(i->work->key, NODE_GROUPS "/", strlen(NODE_GROUPS "/")) == 0)
		vpsie_group_plan_key(r, i, step);
	else
		vpsie_node_plan(r, i, step);
}

/* ---- Which keys a change concerns ---- */

static void
keys(struct reconciler *r, const struct change *c)
{
	if (!r->enqueues_all)
		vpsie_matching_changed(vpsie_of(r));
	switch (c->type) {
	case MSG_VPSIE_NODE:
		keys_of_vpsienode(r, c);
		break;
	case MSG_NODE_GROUP:
		reconcile_enqueue(r, c->key.p, c->key.len, c);
		if (!r->enqueues_all)
			enqueue_waiting(r, c);
		break;
	case MSG_NODE:
	case MSG_NODE_FACT:
		if (c->kind == CHANGE_GONE && c->type == MSG_NODE_FACT)
			vpsie_matching_node_gone(vpsie_of(r), c->key.p, c->key.len);
		keys_of_node(r, c);
		break;
	default:
		break;
	}
}

/* Its NodeGroup counts it. */
static void
keys_of_vpsienode(struct reconciler *r, const struct change *c)
{
	const struct body_vpsie_node *const b = &c->value->vpsie_node;
	const bool gone = c->kind == CHANGE_GONE;
	char key[OBJECT_KEY_MAX + 1], space[64], name[254];
	struct wire_str ns, own;

	snprintf(key, sizeof(key), "%.*s", (int)c->key.len, c->key.p);
	vpsie_key_split(key, &ns, &own);
	snprintf(space, sizeof(space), "%.*s", (int)ns.len, ns.p);
	vpsie_of(r)->phases_changed = true;
	id_index_set(vpsie_of(r)->owners, c->key, gone ? wire_str_of("") : b->joined_node);
	reconcile_enqueue(r, c->key.p, c->key.len, c);
	snprintf(name, sizeof(name), "%.*s", (int)b->group.len, b->group.len > 0 ? b->group.p : "");
	if (name[0] != '\0' && object_key(key, sizeof(key), NODE_GROUPS, space, name))
		reconcile_enqueue(r, key, strlen(key), c);
}

/* Its owner by status.nodeName, or by the label, else whoever waits for a Node. */
static void
keys_of_node(struct reconciler *r, const struct change *c)
{
	const uint32_t prefix = (uint32_t)strlen("nodes/");
	const struct wire_str name = { c->key.p + prefix, c->key.len - prefix };
	const char *const owner = id_index_key(vpsie_of(r)->owners, name);

	if (owner != NULL)
		reconcile_enqueue(r, owner, strlen(owner), c);
	else if (!r->enqueues_all && c->type == MSG_NODE_FACT)
		enqueue_waiting(r, c);
}

static void
enqueue_waiting(struct reconciler *r, const struct change *c)
{
	const struct keytab *const waiting = vpsie_of(r)->waiting;

	KEYTAB_EACH(waiting, id) {
		size_t len;
		const char *const key = keytab_key(waiting, id, &len);

		reconcile_enqueue(r, key, len, c);
	}
}

/* ---- Metrics ---- */

static void
count_phases(struct vpsie_claimer *c, int64_t now_ms)
{
	unsigned counts[PHASE_MAX] = { 0 };
	char label[48];

	c->phases_changed = false;
	c->count_ms = now_ms + COUNT_MS;
	actor_each(c->r.actor, LINK_KUBE_VPSIE, count_phase, counts);
	for (unsigned p = PHASE_PENDING; p < PHASE_OTHER; p++) {
		snprintf(label, sizeof(label), "phase=\"%s\"", vpsie_phase_name((enum vpsie_phase)p));
		stat_set(stat_get(STAT_VPSIE_NODES, label), counts[p]);
	}
}

static void
count_phase(const struct change *c, void *arg)
{
	if (c->type == MSG_VPSIE_NODE)
		((unsigned *)arg)[vpsie_phase_of(c->value->vpsie_node.phase)]++;
}
