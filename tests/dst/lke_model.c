/*
 * tests/dst/lke_model.c - the pools and machines of the modelled Linode API, and what must hold
 * when one goes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "world_lke.h"

enum {
	PROVISION_MS = 4 * 1000, BOOT_MS = 6 * 1000, LEAVE_MS = 5 * 1000,
	NODES_LAG_MS = 30 * 1000,	/* Enterprise: at least so long, at most twice */
	BLINKS_MS = 6 * 1000,		/* so soon after it is listed, or up to ten times later */
	CREATED_MS = 1000,		/* `created` has whole seconds */
};

static void add_machine(struct lkew *, uint32_t, int64_t);
static int64_t blinks_after(struct sim *);
static sim_fn join, leave;
static void check_deletion(struct lkew *, uint32_t);
static bool is_used(struct lkew *, uint32_t);
static const char *claim_name(struct lkew *, uint32_t);

/* ---- Pools ---- */

uint32_t
lkew_add_pool(struct lkew *w, const char *type, const struct lkew_tags *tags, int64_t count, int64_t shown_ms)
{
	struct lkew_pool *const p = &w->pools[w->npools];

	MUST(w->npools < LKEW_POOLS_MAX);
	*p = (struct lkew_pool){ .tags = *tags, .listed_ms = shown_ms };
	snprintf(p->type, sizeof(p->type), "%s", type);
	lkew_set_count(w, w->npools++, count, shown_ms);
	return w->npools - 1;
}

void
lkew_set_count(struct lkew *w, uint32_t pool, int64_t count, int64_t shown_ms)
{
	struct lkew_pool *const p = &w->pools[pool];

	w->changes++;
	if (p->count_ms <= w->h.sim->now_ms)
		p->old_count = p->count;
	p->count_ms = shown_ms;
	for (; p->count < count; p->count++)
		add_machine(w, pool, shown_ms);
	/* The API deletes machines of its own choice. */
	for (uint32_t i = 0; i < w->nmachines && p->count > count; i++) {
		if (w->machines[i].pool == pool && !w->machines[i].deleted)
			lkew_delete_machine(w, i, true);
	}
}

void
lkew_delete_pool(struct lkew *w, uint32_t pool, bool by_actor)
{
	struct lkew_pool *const p = &w->pools[pool];

	for (uint32_t i = 0; i < w->nmachines; i++) {
		if (w->machines[i].pool == pool && !w->machines[i].deleted)
			lkew_delete_machine(w, i, by_actor);
	}
	p->deleted = true;
	p->until_ms = w->h.sim->now_ms + harness_lag(w->h.sim);
	w->changes++;
}

bool
lkew_same_key(const struct lkew_pool *a, const struct lkew_pool *b)
{
	const char *const x = lkew_tag_value(&a->tags, LKEW_NODEPOOL_TAG);
	const char *const y = lkew_tag_value(&b->tags, LKEW_NODEPOOL_TAG);

	return x != NULL && y != NULL && strcmp(x, y) == 0 && strcmp(a->type, b->type) == 0;
}

bool
lkew_in_use(struct lkew *w, uint32_t pool)
{
	for (uint32_t i = 0; i < w->nmachines; i++) {
		if (w->machines[i].pool == pool && !w->machines[i].deleted && is_used(w, i))
			return true;
	}
	return false;
}

/* ---- Machines ---- */

static void
add_machine(struct lkew *w, uint32_t pool, int64_t shown_ms)
{
	struct sim *const sim = w->h.sim;
	struct lkew_machine *const m = &w->machines[w->nmachines];
	char value[24];

	MUST(w->nmachines < LKEW_MACHINES_MAX);
	*m = (struct lkew_machine){ .pool = pool, .made_ms = sim->now_ms };
	m->id_ms = sim->now_ms + 500 + (int64_t)sim_random(sim, PROVISION_MS);
	m->listed_ms = m->id_ms + harness_lag(sim);
	m->listed_ms = m->listed_ms > shown_ms ? m->listed_ms : shown_ms;
	m->nodes_ms = sim->now_ms;
	if (!sim->faults_over && !w->h.sweep)
		m->blinks_ms = m->listed_ms + blinks_after(sim);
	if (w->enterprise) {
		m->nodes_ms += NODES_LAG_MS + (int64_t)sim_random(sim, NODES_LAG_MS);
		m->tags = w->pools[pool].tags;
		snprintf(value, sizeof(value), "nodepool=%u", LKEW_POOL_BASE + pool);
		lkew_add_tag(&m->tags, value, NULL);
		snprintf(value, sizeof(value), "lke%d", LKEW_CLUSTER);
		lkew_add_tag(&m->tags, value, NULL);
	}
	sim_at(sim, m->id_ms + 1000 + (int64_t)sim_random(sim, BOOT_MS), join, w, w->nmachines);
	w->nmachines++;
}

static int64_t
blinks_after(struct sim *sim)
{
	const uint64_t most_ms = sim_chance(sim, 500) ? BLINKS_MS : 10 * BLINKS_MS;

	return (int64_t)sim_random(sim, most_ms);
}

void
lkew_delete_machine(struct lkew *w, uint32_t machine, bool by_actor)
{
	struct lkew_machine *const m = &w->machines[machine];
	struct sim *const sim = w->h.sim;

	if (by_actor)
		check_deletion(w, machine);
	w->changes++;
	m->deleted = true;
	m->until_ms = sim->now_ms + harness_lag(sim);
	w->pools[m->pool].count--;
	harness_list_lost_one(&w->h);
	sim_at(sim, sim->now_ms + 1 + (int64_t)sim_random(sim, LEAVE_MS), leave, w, machine);
}

/*
 * Only a machine that no NodeClaim wants, and only when its Node is drained (C8).
 */
static void
check_deletion(struct lkew *w, uint32_t machine)
{
	const struct lkew_machine *const m = &w->machines[machine];
	const int64_t now_ms = w->h.sim->now_ms;
	const char *const name = claim_name(w, machine);
	char node[CLUSTER_NAME_MAX];

	if (w->pools[m->pool].human)
		sim_fail(w->h.sim, "machine %u is deleted, and belongs to a human", machine);
	if (name != NULL)
		sim_fail(w->h.sim, "machine %u is deleted, and %s wants it", machine, name);
	lkew_node_name(node, machine);
	if (m->joined_ms != 0 && now_ms - m->joined_ms > HARNESS_VIEW_MS && harness_has_pods(&w->h, node))
		sim_fail(w->h.sim, "machine %u is deleted, and its Node has Pods", machine);
}

void
lkew_check_orphan(struct lkew *w, uint32_t machine)
{
	const struct lkew_machine *const m = &w->machines[machine];
	const int64_t now_ms = w->h.sim->now_ms;
	const int64_t expired_ms = m->made_ms + LKEW_ORPHAN_MS - w->h.cluster.clock_ms;
	const bool moved = w->clock_moved_ms != 0 && now_ms - w->clock_moved_ms < HARNESS_VIEW_MS;

	if (!m->deleted && !moved && !is_used(w, machine) && now_ms - expired_ms < LKEW_APART_MS - CREATED_MS)
		sim_fail(w->h.sim, "machine %u is deleted as an orphan %lld ms after it expired", machine,
		    (long long)(now_ms - expired_ms));
}

/* It has the tag, the reservation or the providerID of a NodeClaim, or had. */
static bool
is_used(struct lkew *w, uint32_t machine)
{
	for (unsigned i = 0; i < w->h.cluster.count; i++) {
		const struct cluster_object *const o = &w->h.cluster.objects[i];

		if (o->kind == KIND_NODE_CLAIM && o->json != NULL && (lkew_claim_machine(o) == machine
		    || strtoul(harness_annotation(o, LKEW_RESERVED), NULL, 10)
		    == LKEW_INSTANCE_BASE + machine))
			return true;
	}
	return lkew_tag_value(&w->machines[machine].tags, LKEW_CLAIM_TAG) != NULL;
}

/* The NodeClaim that wants it, by its tag or its providerID; NULL: none. */
static const char *
claim_name(struct lkew *w, uint32_t machine)
{
	const char *const tag = lkew_tag_value(&w->machines[machine].tags, LKEW_CLAIM_TAG);
	const struct cluster_object *const tagged = tag != NULL ? lkew_claim_of_tag(w, tag) : NULL;

	if (tagged != NULL && !harness_is_deleting(tagged)
	    && (lkew_claim_machine(tagged) == machine || lkew_claim_machine(tagged) == LKEW_NONE))
		return tagged->name;
	for (unsigned i = 0; i < w->h.cluster.count; i++) {
		const struct cluster_object *const o = &w->h.cluster.objects[i];

		if (o->kind == KIND_NODE_CLAIM && o->json != NULL && !harness_is_deleting(o)
		    && lkew_claim_machine(o) == machine)
			return o->name;
	}
	return NULL;
}

uint32_t
lkew_claim_machine(const struct cluster_object *claim)
{
	static const char prefix[] = "linode://";
	const char *const id =
	    json_string_value(json_object_get(json_object_get(claim->json, "status"), "providerID"));

	if (id == NULL || strncmp(id, prefix, sizeof(prefix) - 1) != 0)
		return LKEW_NONE;
	return (uint32_t)strtoul(id + sizeof(prefix) - 1, NULL, 10) - LKEW_INSTANCE_BASE;
}

/* ---- Its Node ---- */

void
lkew_node_name(char buf[CLUSTER_NAME_MAX], uint32_t machine)
{
	snprintf(buf, CLUSTER_NAME_MAX, "lke7-%u", machine);
}

static void
join(struct sim *sim, void *arg, uint64_t n)
{
	struct lkew *const w = arg;
	char node[CLUSTER_NAME_MAX], provider_id[CLUSTER_NAME_MAX];

	if (w->machines[n].deleted)
		return;
	w->machines[n].joined_ms = sim->now_ms;
	lkew_node_name(node, (uint32_t)n);
	snprintf(provider_id, sizeof(provider_id), "linode://%u", LKEW_INSTANCE_BASE + (uint32_t)n);
	harness_join(&w->h, node, provider_id);
	cluster_put(&w->h.cluster, KIND_NODE, node, "status", json_pack("{s:[{s:s, s:s}], s:{s:s, s:s}}",
	    "conditions", "type", "Ready", "status", "True", "allocatable", "cpu", "2", "memory", "4Gi"));
}

static void
leave(struct sim *sim, void *arg, uint64_t n)
{
	struct lkew *const w = arg;
	char node[CLUSTER_NAME_MAX];

	(void)sim;
	lkew_node_name(node, (uint32_t)n);
	harness_leave(&w->h, node);
}

/* ---- Tags ---- */

void
lkew_set_tags(struct lkew *w, uint32_t machine, const struct lkew_tags *tags)
{
	struct lkew_machine *const m = &w->machines[machine];
	struct sim *const sim = w->h.sim;

	if (w->pools[m->pool].human)
		sim_fail(sim, "machine %u is tagged, and belongs to a human", machine);
	if (m->tags_ms <= sim->now_ms)
		m->old_tags = m->tags;
	m->tags = *tags;
	m->tags_ms = sim->now_ms + harness_lag(sim);
	w->changes++;
}

/* value: NULL: key is the whole tag. */
void
lkew_add_tag(struct lkew_tags *tags, const char *key, const char *value)
{
	MUST(tags->n < LKEW_TAGS_MAX);
	const int n = snprintf(tags->text[tags->n], sizeof(tags->text[0]), "%s%s%s", key,
	    value != NULL ? ":" : "", value != NULL ? value : "");
	MUST(n > 0 && n <= LKEW_TAG_MAX);
	tags->n++;
}

const char *
lkew_tag_value(const struct lkew_tags *tags, const char *key)
{
	const size_t len = strlen(key);

	for (uint32_t i = 0; i < tags->n; i++) {
		const char *const text = tags->text[i];

		if (strncmp(text, key, len) == 0 && (text[len] == ':' || text[len] == '='))
			return text + len + 1;
	}
	return NULL;
}

const char *
lkew_expected(char buf[LKEW_TAG_MAX + 1], const char *key, const char *name)
{
	const size_t room = LKEW_TAG_MAX - strlen(key) - 1;
	uint32_t hash = 2166136261u;

	if (strlen(name) <= room) {
		snprintf(buf, LKEW_TAG_MAX + 1, "%s", name);
		return buf;
	}
	for (const char *p = name; *p != '\0'; p++)
		hash = (hash ^ (uint8_t)*p) * 16777619u;
	snprintf(buf, LKEW_TAG_MAX + 1, "%.*s-%08x", (int)room - 9, name, hash);
	return buf;
}

struct cluster_object *
lkew_claim_of_tag(struct lkew *w, const char *value)
{
	char expected[LKEW_TAG_MAX + 1];

	for (unsigned i = 0; i < w->h.cluster.count; i++) {
		struct cluster_object *const o = &w->h.cluster.objects[i];

		if (o->kind == KIND_NODE_CLAIM && o->json != NULL
		    && strcmp(lkew_expected(expected, LKEW_CLAIM_TAG, o->name), value) == 0)
			return o;
	}
	return NULL;
}
