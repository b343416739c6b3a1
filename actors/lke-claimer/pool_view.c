/* actors/lke-claimer/pool_view.c - a pool key: its claims, its pool and its machines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claimer.h"
#include "obj.h"

struct entry {
	struct lke_plan_claim	claim;
	char			name[254], created[32], class_name[254];
};

struct collected {
	struct pool_view	*v;
	struct entry		*entries;
	uint32_t		 n, room;
};

static void read_nodepool(struct pool_view *);
static void match_nodepool(const struct change *, void *);
static void take_nodepool(struct pool_view *, const struct change *);
static void read_claims(struct pool_view *);
static void collect(const struct change *, void *);
static void fill_claim(struct pool_view *, const struct change *, struct entry *,
    const struct claim_memory *);
static int compare(const void *, const void *);
static void read_pool(struct pool_view *, int64_t);
static void read_instance(struct pool_view *, uint32_t, int64_t);
static bool claims_complete(struct lke_claimer *);
static void read_intent(struct pool_view *, int64_t);
static void read_progress(struct pool_view *, int64_t);
static bool class_ready(struct pool_view *);

void
pool_view_read(struct pool_view *v, struct lke_claimer *c, const struct work *w, int64_t now_ms)
{
	int64_t retry_ms = 0;

	*v = (struct pool_view){ .c = c, .work = w, .memory = pool_memory(c, w->key), .due_ms = INT64_MAX };
	MUST(lke_key_read((struct wire_str){ w->key + strlen(LKE_POOL_KEYS),
	    (uint32_t)(w->len - strlen(LKE_POOL_KEYS)) }, &v->nodepool, &v->type));
	v->in.now_ms = now_ms;
	v->in.listed = c->snapshot != NULL;
	read_nodepool(v);
	read_claims(v);
	if (c->snapshot == NULL)
		return;
	v->in.tier = c->snapshot->tier;
	v->in.begun_ms = c->list.began_ms;
	v->in.current = c->list.number > v->memory->after;
	v->in.doubtful = claimer_doubtful(c, now_ms);
	v->in.took_over = now_ms < fence_takeover_ms(call_effects_lease(&c->calls));
	read_pool(v, now_ms);
	read_progress(v, now_ms);
	read_intent(v, now_ms);
	v->in.nodepool = v->nodepool_name[0] != '\0' && class_ready(v);
	v->in.braked = claimer_braked(c, now_ms, &retry_ms);
	const struct fence_verdict fence = client_fence(c->calls.client, LKE_CALL_CREATE_POOL, false);
	v->in.open = fence.reason == FENCE_OPEN && now_ms >= v->memory->blocked_ms;
	v->in.retry_at_ms = fence.reason != FENCE_OPEN ? fence.retry_at_ms
	    : now_ms < v->memory->blocked_ms ? v->memory->blocked_ms : retry_ms;
}

void
pool_view_free(struct pool_view *v)
{
	free(v->claims);
	free(v->names);
	free(v->instances);
	free(v->members);
	free(v->assign);
}

/* ---- The NodePool ---- */

/* The key has its name as a tag has it: a long one is shortened there. */
static void
read_nodepool(struct pool_view *v)
{
	struct change found;
	union msg_body body;
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), "nodepools/%.*s", (int)v->nodepool.len, v->nodepool.p);

	if (actor_read(v->c->r.actor, LINK_KUBE_LKE_CLAIMER, key, (size_t)n, &found, &body))
		take_nodepool(v, &found);
	else
		actor_each(v->c->r.actor, LINK_KUBE_LKE_CLAIMER, match_nodepool, v);
}

static void
match_nodepool(const struct change *c, void *arg)
{
	struct pool_view *const v = arg;
	const size_t prefix = strlen("nodepools/");

	if (c->type != MSG_NODE_POOL || v->nodepool_name[0] != '\0')
		return;
	const struct wire_str name = { c->key.p + prefix, c->key.len - (uint32_t)prefix };
	if (lke_tag_means(LKE_TAG_NODEPOOL, v->nodepool, name))
		take_nodepool(v, c);
}

static void
take_nodepool(struct pool_view *v, const struct change *c)
{
	const size_t prefix = strlen("nodepools/");

	snprintf(v->nodepool_name, sizeof(v->nodepool_name), "%.*s", (int)(c->key.len - prefix),
	    c->key.p + prefix);
	snprintf(v->nodepool_uid, sizeof(v->nodepool_uid), "%.*s", (int)c->uid.len, c->uid.p);
	snprintf(v->nodepool_rv, sizeof(v->nodepool_rv), "%.*s", (int)c->rv.len, c->rv.p);
}

static bool
class_ready(struct pool_view *v)
{
	struct lke_condition stored[LKE_CONDITIONS_MAX];
	struct change found;
	union msg_body body;
	char key[OBJECT_KEY_MAX + 1];
	const int n = snprintf(key, sizeof(key), LKE_CLASS_KEYS "%s", v->class_name);

	if (v->class_name[0] == '\0'
	    || !actor_read(v->c->r.actor, LINK_KUBE_LKE_CLAIMER, key, (size_t)n, &found, &body))
		return false;
	const uint32_t count = conditions_of(body.linode_class.conditions, stored, LKE_CONDITIONS_MAX);
	const struct lke_condition *const ready = condition_find(stored, count, "Ready");
	return ready != NULL && wire_str_is(ready->status, "True");
}

/* ---- Claims ---- */

/* Those of the key, and every other one that a machine may belong to. */
static void
read_claims(struct pool_view *v)
{
	struct collected all = { .v = v };

	actor_each(v->c->r.actor, LINK_KUBE_LKE_CLAIMER, collect, &all);
	if (all.n > 0)
		qsort(all.entries, all.n, sizeof(*all.entries), compare);
	v->claims = obj_alloc((all.n + 1) * sizeof(*v->claims));
	v->names = obj_alloc((all.n + 1) * sizeof(*v->names));
	v->assign = obj_alloc((all.n + 1) * sizeof(*v->assign));
	for (uint32_t i = 0; i < all.n; i++) {
		snprintf(v->names[i], sizeof(v->names[i]), "%s", all.entries[i].name);
		v->claims[i] = all.entries[i].claim;
		v->claims[i].name = v->names[i];
		if (v->class_name[0] == '\0' && v->claims[i].held)
			snprintf(v->class_name, sizeof(v->class_name), "%s", all.entries[i].class_name);
	}
	v->in.claims = v->claims;
	v->in.nclaims = all.n;
	free(all.entries);
}

static void
collect(const struct change *c, void *arg)
{
	struct collected *const all = arg;
	struct entry e = { .claim = { .held = false } };
	char key[OBJECT_KEY_MAX + 1];

	if (c->type != MSG_NODE_CLAIM)
		return;
	snprintf(key, sizeof(key), "%.*s", (int)c->key.len, c->key.p);
	const struct claim_memory *const m = claim_memory_find(all->v->c, key);
	fill_claim(all->v, c, &e, m);
	const bool ours = m != NULL && strcmp(m->pool_key, all->v->work->key) == 0;
	if (!ours && e.claim.reserved == 0 && e.claim.provider_id == 0)
		return;
	if (all->n == all->room) {
		all->room = all->room * 2 + 16;
		all->entries = obj_realloc(all->entries, all->room * sizeof(*all->entries));
	}
	all->entries[all->n++] = e;
}

static void
fill_claim(struct pool_view *v, const struct change *c, struct entry *e, const struct claim_memory *m)
{
	const struct body_node_claim *const b = &c->value->node_claim;
	const struct lke_instance *first = NULL;
	const bool ours = m != NULL && strcmp(m->pool_key, v->work->key) == 0;
	const size_t prefix = strlen(LKE_CLAIM_KEYS);
	const struct wire_str name = { c->key.p + prefix, c->key.len - (uint32_t)prefix };
	char value[LKE_TAG_SIZE];
	struct wire_str text;

	snprintf(e->name, sizeof(e->name), "%.*s", (int)name.len, name.p);
	snprintf(e->created, sizeof(e->created), "%.*s", (int)b->created.len, b->created.len > 0
	    ? b->created.p : "");
	snprintf(e->class_name, sizeof(e->class_name), "%.*s", (int)b->class_name.len,
	    b->class_name.len > 0 ? b->class_name.p : "");
	e->claim.deleting = b->deleted.len > 0;
	e->claim.provider_id = provider_id_read(b->provider_id);
	e->claim.reserved = map_get(b->annotations, LKE_RESERVED_ANNOTATION, &text) ? wire_int(text) : 0;
	if (m == NULL)
		return;
	/* One that is not recorded yet counts, too, for as long as its machine is there. */
	if (m->assigned != 0 && (e->claim.reserved == 0 || m->gone_id == e->claim.reserved)
	    && v->c->snapshot != NULL && snapshot_instance(v->c->snapshot, m->assigned) != NULL)
		e->claim.reserved = m->assigned;
	e->claim.reserved_gone = e->claim.reserved != 0 && m->gone_id == e->claim.reserved;
	e->claim.removable = e->claim.deleting && m->removable;
	e->claim.other_key = !ours && m->pool_key[0] != '\0';
	if (!ours)
		return;
	e->claim.held = m->wants;
	lke_tag_value(value, LKE_TAG_CLAIM, name);
	e->claim.same_tag = id_index_count(v->c->tags, wire_str_of(value)) > 1;
	if (v->c->snapshot != NULL)
		e->claim.tagged = lke_claim_machines(v->c->snapshot, name, &first);
	e->claim.tagged_id = first != NULL ? first->id : 0;
}

/* The one that waits longest first. */
static int
compare(const void *a, const void *b)
{
	const struct entry *const x = a, *const y = b;
	const int c = strcmp(x->created, y->created);

	return c != 0 ? c : strcmp(x->name, y->name);
}

/* ---- Pool and machines ---- */

static void
read_pool(struct pool_view *v, int64_t now_ms)
{
	const struct lke_snapshot *const s = v->c->snapshot;

	v->in.pools = lke_key_pools(s, v->nodepool, v->type, &v->pool);
	v->members = obj_alloc((s->ninstances + 1) * sizeof(*v->members));
	v->instances = obj_alloc((s->ninstances + 1) * sizeof(*v->instances));
	v->in.instances = v->instances;
	if (v->in.pools == 0)
		return;
	v->in.pool_id = v->pool->id;
	v->in.count = v->pool->count;
	v->in.ninstances = lke_pool_members(s, v->pool, v->members, (uint32_t)s->ninstances);
	for (uint32_t i = 0; i < v->in.ninstances; i++)
		read_instance(v, i, now_ms);
}

static void
read_instance(struct pool_view *v, uint32_t i, int64_t now_ms)
{
	struct lke_claimer *const c = v->c;
	const struct lke_instance *const m = v->members[i].instance;
	struct lke_plan_instance *const out = &v->instances[i];
	struct machine_memory *const memory = machine_memory(c, m->id);
	const int64_t takeover_ms = fence_takeover_ms(call_effects_lease(&c->calls));
	struct wire_str claim = { "", 0 };
	struct change node;
	union msg_body fact;
	char id[LKE_PROVIDER_ID_MAX];
	int64_t cluster_us;

	*out = (struct lke_plan_instance){ .id = m->id, .node_id = v->members[i].node_id,
		.leaving = m->leaving || (memory->deleted && now_ms - memory->deleted_ms < LKE_LEAVING_MS),
		.tags = lke_tags_claim(m->tags.tags, m->tags.n, &claim) };
	out->ownerless = out->tags == 1 && id_index_key(c->tags, claim) == NULL && claims_complete(c);
	provider_id_put(id, m->id);
	const char *const key = id_index_key(c->nodes, wire_str_of(id));
	out->joined = key != NULL && actor_read(c->r.actor, LINK_FACTS, key, strlen(key), &node, &fact);
	out->tainted = out->joined && rows_have(fact.node_fact.taints, LKE_UNREGISTERED_TAINT);
	out->drained = !out->joined || memory->drained;
	const bool read = memory->pods_ms != 0 && now_ms - memory->pods_ms < LKE_LIVE_MS;
	out->pods = out->joined && read && memory->pods;
	out->pods_unread = out->joined && !read;
	if (!cluster_now_us(c, &cluster_us) || (out->tags > 0 && !out->ownerless))
		return;
	const bool old = (cluster_us - m->created_us) / 1000 > c->settings.orphan_ms;
	const enum absence_verdict expired =
	    absence_observe(&memory->expiry, old, c->list.number, c->list.began_ms, LKE_APART_MS, now_ms);
	const int64_t due_ms = old ? absence_due_ms(&memory->expiry, LKE_APART_MS)
				   : now_ms + c->settings.orphan_ms - (cluster_us - m->created_us) / 1000 + 1;
	out->expired = expired == ABSENCE_CONFIRMED;
	if (!out->expired && due_ms <= now_ms)
		v->list_due = true;	/* planning again would change nothing */
	else if (!out->expired && due_ms < v->due_ms)
		v->due_ms = due_ms;
	if (v->in.took_over && takeover_ms < v->due_ms)
		v->due_ms = takeover_ms;
	out->suspect = now_ms < memory->unanswered_ms
	    || (old && now_ms < fence_settled_ms(call_effects_lease(&c->calls), c->calls.started_ms));
}

/* While NodeClaims cannot be read, a missing one proves nothing. */
static bool
claims_complete(struct lke_claimer *c)
{
	struct change found;
	union msg_body body;

	return actor_read(c->r.actor, LINK_KUBE_LKE_CLAIMER, ":kind/nodeclaims", strlen(":kind/nodeclaims"),
	    &found, &body) && body.kind.state == KIND_STATE_SYNCED && body.kind.skipped == 0;
}

static void
read_progress(struct pool_view *v, int64_t now_ms)
{
	struct pool_memory *const m = v->memory;

	if (m->seen_list != v->c->list.number) {
		const bool progress = m->seen_list == 0 || m->members != v->in.ninstances
		    || m->pool_count != v->in.count;

		m->lists = progress ? 0 : m->lists + 1;
		if (progress)
			m->progress_ms = m->waits_ms = now_ms;
		m->seen_list = v->c->list.number;
		m->members = v->in.ninstances;
		m->pool_count = v->in.count;
	}
	v->in.waits_ms = m->waits_ms;
	v->in.overdue = v->c->settings.launch_ms > 0 && now_ms - m->progress_ms > v->c->settings.launch_ms;
}

/* ---- The intent ---- */

static void
read_intent(struct pool_view *v, int64_t now_ms)
{
	struct pool_memory *const m = v->memory;
	const struct fence_lease *const lease = call_effects_lease(&v->c->calls);
	struct change found;
	union msg_body body;
	struct wire_str stored = { "", 0 };
	struct lke_intent_record r = { .kind = m->intent_kind, .count = m->intent_count };
	char key[OBJECT_KEY_MAX + 1], name[sizeof(LKE_INTENT_PREFIX) + LKE_TYPE_ID_SIZE];

	snprintf(name, sizeof(name), LKE_INTENT_PREFIX "%.*s", (int)v->type.len, v->type.p);
	const int n = snprintf(key, sizeof(key), "nodepools/%s", v->nodepool_name);
	if (v->nodepool_name[0] != '\0'
	    && actor_read(v->c->r.actor, LINK_KUBE_LKE_CLAIMER, key, (size_t)n, &found, &body))
		map_get(body.node_pool.intents, name, &stored);
	if (stored.len == 0 && m->unrecorded)
		r.text = wire_str_of(m->intent.text);
	else if (stored.len == 0)
		return;
	else if (!lke_intent_read(stored, &r)) {
		v->in.intent = LKE_INTENT_ENDED;
		return;
	}
	const enum intent_state state = intent_state(&m->intent, r.text, lease);
	v->in.intent_kind = r.kind;
	v->in.intent_count = r.count;
	v->in.intent = state == INTENT_OPEN ? LKE_INTENT_READY
	    : state == INTENT_ENDED ? LKE_INTENT_ENDED : LKE_INTENT_SENT;
	v->in.settled_at_ms = intent_settled_ms(&m->intent, lease, v->c->calls.started_ms);
	v->in.settled = now_ms >= v->in.settled_at_ms;
	v->in.settled_list = v->c->list.began_ms > v->in.settled_at_ms;
}
