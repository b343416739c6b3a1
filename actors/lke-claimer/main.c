/*
 * actors/lke-claimer/main.c - one machine of an LKE node pool per NodeClaim, existing or new.
 *
 *	kube-watcher ==kube.lke-claimer==> NodeClaims, NodePools, LinodeNodeClasses
 *	node-state   ==facts=============> the Nodes of the machines
 *	reconcile: claim_view.c or pool_view.c -> claim.c or plan.c -> at most one write or one call per key
 */
#include <stdio.h>
#include <string.h>

#include "claimer.h"
#include "clock.h"
#include "obj.h"

enum { TICK_MS = 1000, BRAKE_WINDOW_MS = 60 * 1000, URL_MAX = 1100 };

static void keys(struct reconciler *, const struct change *);
static void claim_keys(struct lke_claimer *, const struct change *);
static void node_keys(struct lke_claimer *, const struct change *);
static void intent_keys(struct lke_claimer *, const struct change *);
static void plan(struct reconciler *, const struct reconcile_item *, struct reconcile_step *);
static bool has_prefix(const char *, const char *);
static int64_t busy_until_ms(struct reconciler *);
static void enqueue_class(const struct change *, void *);

static const struct actor_row rows[] = {
	/* message          only from           handler             */
	{ MSG_NODE_CLAIM,   ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_NODE_POOL,    ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_LINODE_CLASS, ROLE_KUBE_WATCHER,  reconcile_on_object },
	{ MSG_KIND,         ROLE_KUBE_WATCHER,  reconcile_on_kind   },
	{ MSG_LEADER,       ROLE_KUBE_WATCHER,  reconcile_on_leader },
	{ MSG_SNAP_END,     ROLE_KUBE_WATCHER,  reconcile_on_synced },
	{ MSG_NODE_FACT,    ROLE_NODE_STATE,    reconcile_on_object },
	{ MSG_SNAP_END,     ROLE_NODE_STATE,    reconcile_on_synced },
};

static const struct reconcile_kind kinds[] = {
	[LKE_KIND_CLAIMS] = { .group = KARPENTER_GROUP, .resource = "nodeclaims", .message = MSG_NODE_CLAIM,
	    .counted = true },
	[LKE_KIND_POOLS] = { .group = KARPENTER_GROUP, .resource = "nodepools", .message = MSG_NODE_POOL },
	[LKE_KIND_CLASSES] = { .group = LINODE_GROUP, .resource = "linodenodeclasses",
	    .message = MSG_LINODE_CLASS },
	[LKE_KIND_NODES] = { .group = "", .resource = "nodes", .link = LINK_FACTS },
};

static const struct reconcile_spec reconcile = {
	.kinds = kinds, .nkinds = NITEMS(kinds), .links = { LINK_KUBE_LKE_CLAIMER, LINK_FACTS }, .nlinks = 2,
	.refused_reason = "Refused", .noun = "NodeClaims", .keys = keys, .plan = plan,
	.busy_until_ms = busy_until_ms,
};

static void
read_settings(struct lke_claimer *c, struct actor *a)
{
	c->settings = (struct lke_settings){
		.style = strcmp(actor_setting(a, "tag-style"), "equals") == 0 ? LKE_TAGS_EQUALS
		    : LKE_TAGS_COLON,
		.cluster_id = actor_setting_i64(a, "cluster-id"),
		.cluster_name = actor_setting(a, "cluster-name"),
		.create_ms = actor_setting_i64(a, "create-deadline"),
		.verify_ms = actor_setting_i64(a, "tag-verification-timeout"),
		.orphan_ms = actor_setting_i64(a, "orphan-ttl"),
		.registration_ms = actor_setting_i64(a, "registration-timeout"),
		.launch_ms = actor_setting_i64(a, "launch-timeout"),
		.resync_ms = actor_setting_i64(a, "resync-interval"),
		.types_ms = actor_setting_i64(a, "catalogue-ttl"),
		.memory_overhead = (uint32_t)actor_setting_i64(a, "vm-memory-overhead"),
	};
	c->policy = drain_karpenter;
	c->policy.limit_ms = actor_setting_i64(a, "drain-timeout");
}

static void
start(struct actor *a, void *self)
{
	struct lke_claimer *const c = self;
	const char *const token = actor_setting(a, "token-file");
	char url[URL_MAX];

	reconcile_start(&c->r, a, &reconcile);
	read_settings(c, a);
	memory_open(c);
	c->nodes = id_index_new();
	c->owners = id_index_new();
	c->tags = id_index_new();
	c->drains = drain_set_new(&c->r, LINK_KUBE_LKE_CLAIMER, &c->policy);
	brake_init(&c->brake, (uint32_t)actor_setting_i64(a, "deletions-per-minute"), BRAKE_WINDOW_MS);
	shared_list_open(&c->list);
	shared_list_open(&c->catalogue);
	calls_open(c);
	snprintf(url, sizeof(url), "%s/%s", actor_setting(a, "api-url"), actor_setting(a, "api-version"));
	if (!call_effects_open(&c->calls, &c->r, &(struct client_config){ .provider = "linode", .url = url,
		.user_agent = "muster-lke-claimer", .token_file = token, .classes = c->classes,
		.nclasses = LKE_CALL_MAX }))
		actor_exit(a, EXIT_CONFIG);
}

static void
stop(struct actor *a, void *self)
{
	struct lke_claimer *const c = self;

	call_effects_close(&c->calls);
	observe_close(c);
	drain_set_free(&c->drains);
	id_index_free(&c->nodes);
	id_index_free(&c->owners);
	id_index_free(&c->tags);
	memory_close(c);
	reconcile_stop(a, self);
}

/* The list that nobody waits for: its key is not that of an object, so nothing else enqueues it. */
static void
tick(struct actor *a, void *self, int64_t now_ms)
{
	struct lke_claimer *const c = self;

	reconcile_tick(a, self, now_ms);
	meters_tick(c);
	if (c->r.leading && !c->list.in_flight && now_ms - c->list.began_ms >= c->settings.resync_ms)
		claimer_enqueue(c, LKE_PROVIDER_KEY);
}

static const struct actor_spec spec = {
	.name = "lke-claimer", .state_size = sizeof(struct lke_claimer), .rows = rows, .nrows = NITEMS(rows),
	.start = start, .tick = tick, .tick_ms = TICK_MS, .work = reconcile_work,
	.explain = claimer_explain, .ending = reconcile_ending, .stop = stop,
};

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

struct lke_claimer *
claimer_of(struct reconciler *r)
{
	return (struct lke_claimer *)r;
}

static int64_t
busy_until_ms(struct reconciler *r)
{
	return drain_set_busy_until_ms(claimer_of(r)->drains);
}

/* ---- Keys ---- */

static void
keys(struct reconciler *r, const struct change *c)
{
	struct lke_claimer *const self = claimer_of(r);

	if (c->type == MSG_NODE_CLAIM) {
		claim_keys(self, c);
	} else if (c->type == MSG_NODE_FACT) {
		node_keys(self, c);
	} else {
		if (c->type == MSG_LINODE_CLASS)
			reconcile_enqueue(r, c->key.p, c->key.len, c);
		else if (c->type == MSG_NODE_POOL && c->kind != CHANGE_GONE)
			intent_keys(self, c);
		/* Claims that wait for their class or their NodePool. */
		KEYTAB_EACH(self->claims, id) {
			size_t len;
			const char *const key = keytab_key(self->claims, id, &len);

			reconcile_enqueue(r, key, len, c);
		}
	}
}

static void
claim_keys(struct lke_claimer *self, const struct change *c)
{
	const struct body_node_claim *const b = &c->value->node_claim;
	const size_t prefix = strlen(LKE_CLAIM_KEYS);
	const struct wire_str none = { "", 0 }, name = { c->key.p + prefix, c->key.len - (uint32_t)prefix };
	const bool gone = c->kind == CHANGE_GONE;
	char value[LKE_TAG_SIZE], class[OBJECT_KEY_MAX + 1];

	lke_tag_value(value, LKE_TAG_CLAIM, name);
	id_index_set(self->tags, c->key, gone ? none : wire_str_of(value));
	id_index_set(self->owners, c->key, gone ? none : b->provider_id);
	reconcile_enqueue(&self->r, c->key.p, c->key.len, c);
	const int n = snprintf(class, sizeof(class), LKE_CLASS_KEYS "%.*s", (int)b->class_name.len,
	    b->class_name.len > 0 ? b->class_name.p : "");
	/* Its finalizer stays while claims refer to it (C17). */
	if ((gone || c->kind == CHANGE_ADDED) && wire_str_is(b->class_group, LINODE_GROUP)
	    && b->class_name.len > 0
	    && n > 0 && (size_t)n < sizeof(class))
		reconcile_enqueue(&self->r, class, (size_t)n, c);
}

/* An intent of an earlier incarnation is removed even if its key has neither claims nor a pool (A10). */
static void
intent_keys(struct lke_claimer *self, const struct change *c)
{
	const size_t prefix = strlen("nodepools/"), intent = strlen(LKE_INTENT_PREFIX);
	const struct wire_str name = { c->key.p + prefix, c->key.len - (uint32_t)prefix };
	struct wire_map left = c->value->node_pool.intents;
	struct wire_str type, text;
	char value[LKE_TAG_SIZE], key[LKE_KEY_SIZE], whole[LKE_POOL_KEY_MAX];

	lke_tag_value(value, LKE_TAG_NODEPOOL, name);
	while (map_next(&left, &type, &text)) {
		if (type.len <= intent || memcmp(type.p, LKE_INTENT_PREFIX, intent) != 0
		    || lke_key_put(key, wire_str_of(value), (struct wire_str){ type.p + intent,
		    type.len - (uint32_t)intent }) == 0)
			continue;
		const int n = snprintf(whole, sizeof(whole), LKE_POOL_KEYS "%s", key);
		reconcile_enqueue(&self->r, whole, (size_t)n, c);
	}
}

static void
node_keys(struct lke_claimer *self, const struct change *c)
{
	const struct wire_str none = { "", 0 }, id = c->value->node_fact.provider_id;
	const char *const owner = id_index_key(self->owners, id);
	const struct lke_instance *i;

	id_index_set(self->nodes, c->key, c->kind != CHANGE_GONE ? id : none);
	if (owner != NULL) {
		reconcile_enqueue(&self->r, owner, strlen(owner), c);
		return;
	}
	/* One that joined and that nobody has claimed concerns its pool (C9). */
	i = self->snapshot == NULL ? NULL : snapshot_instance(self->snapshot, provider_id_read(id));
	if (i == NULL)
		return;
	KEYTAB_EACH(self->pools, pool) {
		size_t len;
		const char *const key = keytab_key(self->pools, pool, &len);
		const char *const slash = strrchr(key, '/');

		if (slash != NULL && strcmp(slash + 1, i->type) == 0)
			claimer_enqueue(self, key);
	}
}

static void
plan(struct reconciler *r, const struct reconcile_item *i, struct reconcile_step *step)
{
	struct lke_claimer *const c = claimer_of(r);
	const char *const key = i->work->key;

	if (has_prefix(key, LKE_CLAIM_KEYS))
		claim_plan(c, i, step);
	else if (has_prefix(key, LKE_POOL_KEYS))
		pool_plan(c, i, step);
	else if (has_prefix(key, LKE_CLASS_KEYS))
		class_plan(c, i, step);
	else
		provider_plan(c, i, step);
}

static bool
has_prefix(const char *key, const char *prefix)
{
	return strncmp(key, prefix, strlen(prefix)) == 0;
}

void
claimer_enqueue(struct lke_claimer *c, const char *key)
{
	actor_enqueue(c->r.actor, key, strlen(key), WORK_LIVE, 0);
}

void
claimer_listed(struct lke_claimer *c)
{
	for (size_t i = 0; c->snapshot != NULL && i < c->snapshot->npools; i++) {
		const struct lke_pool *const p = &c->snapshot->pools[i];
		char key[LKE_KEY_SIZE], whole[LKE_POOL_KEY_MAX];

		if (!lke_tags_have(p->tags.tags, p->tags.n, LKE_TAG_MANAGED, wire_str_of(LKE_TAG_TRUE)))
			continue;
		for (uint32_t t = 0; t < p->tags.n; t++) {
			enum lke_tag kind;
			struct wire_str value;

			if (lke_tag_read(p->tags.tags[t], &kind, &value) && kind == LKE_TAG_NODEPOOL
			    && lke_key_put(key, value, wire_str_of(p->type)) > 0) {
				snprintf(whole, sizeof(whole), LKE_POOL_KEYS "%s", key);
				pool_memory(c, whole);
			}
		}
	}
	KEYTAB_EACH(c->pools, id)
		claimer_enqueue(c, keytab_key(c->pools, id, NULL));
	KEYTAB_EACH(c->claims, id)
		claimer_enqueue(c, keytab_key(c->claims, id, NULL));
	actor_each(c->r.actor, LINK_KUBE_LKE_CLAIMER, enqueue_class, c);
	memory_forget_machines(c);
}

/* Its validation needs the version of the cluster. */
static void
enqueue_class(const struct change *change, void *arg)
{
	struct lke_claimer *const c = arg;

	if (change->type == MSG_LINODE_CLASS)
		actor_enqueue(c->r.actor, change->key.p, change->key.len, WORK_LIVE, 0);
}
