/* sim/linode/sim_linode_model.c - clusters, pools and nodes: how they come and go. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "random.h"
#include "sim/base/sim_json.h"
#include "sim_linode_private.h"

/* Ids as large as the API's, and of different lengths, so that nobody takes one for another. */
enum { CLUSTER_BASE = 70000, POOL_BASE = 900000, INSTANCE_BASE = 55500000 };

static void add_node(struct linode *, struct linode_pool *);
static json_t *labels_of(const struct linode_pool *, const char *);
static json_t *capacity_of(const char *);
static void add_pool_tags(struct linode_node *);
static void add_tag(json_t *, const char *);
static uint64_t read_id(const char *);
static void release_node(struct linode_node *);
static void release_pool(struct linode_pool *);

struct linode_cluster *
linode_add_cluster(struct linode *l, const char *label, const char *region, bool enterprise)
{
	struct linode_cluster *const c = obj_alloc(sizeof(*c));

	c->id = CLUSTER_BASE + ++l->last_cluster;
	c->enterprise = enterprise;
	c->tags = json_array();
	snprintf(c->label, sizeof(c->label), "%s", label);
	snprintf(c->region, sizeof(c->region), "%s", region);
	snprintf(c->k8s_version, sizeof(c->k8s_version), "%s", enterprise ? "v1.35.4+lke1" : "1.35");
	linode_now(c->created);
	l->clusters = obj_realloc(l->clusters, (l->nclusters + 1) * sizeof(struct linode_cluster *));
	l->clusters[l->nclusters++] = c;
	return c;
}

struct linode_pool *
linode_add_pool(struct linode *l, const struct linode_cluster *c, const char *type)
{
	struct linode_pool *const p = obj_alloc(sizeof(*p));

	p->id = POOL_BASE + ++l->last_pool;
	p->cluster = c;
	snprintf(p->type, sizeof(p->type), "%s", type);
	snprintf(p->k8s_version, sizeof(p->k8s_version), "%s", c->k8s_version);
	snprintf(p->update_strategy, sizeof(p->update_strategy), "rolling_update");
	l->pools = obj_realloc(l->pools, (l->npools + 1) * sizeof(struct linode_pool *));
	l->pools[l->npools++] = p;
	return p;
}

void
linode_set_count(struct linode *l, struct linode_pool *p, int64_t count)
{
	for (; p->count < count; p->count++)
		add_node(l, p);
	for (size_t i = 0; i < l->nnodes && p->count > count; i++) {
		if (l->nodes[i]->pool != p)
			continue;
		linode_delete_node(l, l->nodes[i]);
		p->count--;
	}
}

void
linode_delete_pool(struct linode *l, struct linode_pool *p)
{
	size_t at = 0;

	linode_set_count(l, p, 0);
	while (l->pools[at] != p)
		at++;
	l->npools--;
	memmove(&l->pools[at], &l->pools[at + 1], (l->npools - at) * sizeof(struct linode_pool *));
	release_pool(p);
}

void
linode_delete_node(struct linode *l, struct linode_node *n)
{
	n->pool = NULL;
	sim_machines_delete(l->machines, n->machine);
}

void
linode_recycle_node(struct linode *l, struct linode_node *n)
{
	struct linode_pool *const p = n->pool;

	linode_delete_node(l, n);
	add_node(l, p);
}

static void
add_node(struct linode *l, struct linode_pool *p)
{
	struct linode_node *const n = obj_alloc(sizeof(*n));
	const uint64_t hex = random_next(&l->sim->seed) & 0xffffffffu;
	char provider_id[LINODE_NAME_MAX];

	n->machine = sim_machines_next_id(l->machines);
	n->cluster = p->cluster;
	n->pool = p;
	n->pool_id = p->id;
	n->since_ms = sim_machines_now_ms(l->machines);
	n->tags = json_array();
	memcpy(n->type, p->type, sizeof(n->type));
	linode_now(n->created);
	snprintf(n->label, sizeof(n->label), "lke%llu-%llu-%08llx0000", (unsigned long long)p->cluster->id,
	    (unsigned long long)p->id, (unsigned long long)hex);
	/* Enterprise names a node by the label of its instance. */
	snprintf(n->id, sizeof(n->id), "%s", p->cluster->enterprise ? n->label : strchr(n->label, '-') + 1);
	snprintf(provider_id, sizeof(provider_id), "linode://%llu",
	    (unsigned long long)linode_instance_id(n));
	json_auto_t *labels = labels_of(p, n->label), *capacity = capacity_of(p->type);
	sim_machines_order(l->machines, &(struct sim_machine_order){ .name = n->label,
	    .provider_id = provider_id, .labels = labels, .taints = p->taints, .capacity = capacity,
	    .last = l->join ? MACHINE_GONE : MACHINE_RUNNING });
	l->nodes = obj_realloc(l->nodes, (l->nnodes + 1) * sizeof(struct linode_node *));
	l->nodes[l->nnodes++] = n;
}

static json_t *
labels_of(const struct linode_pool *p, const char *name)
{
	char id[LINODE_NAME_MAX];

	snprintf(id, sizeof(id), "%llu", (unsigned long long)p->id);
	json_t *const labels = json_pack("{s:s, s:s, s:s, s:s, s:s}", "lke.linode.com/pool-id", id,
	    "node.k8s.linode.com/host-uuid", name, "node.kubernetes.io/instance-type", p->type,
	    "topology.kubernetes.io/region", p->cluster->region, "topology.linode.com/region",
	    p->cluster->region);
	json_object_update(labels, p->labels);
	return labels;
}

/* The kernel keeps some of the memory: about a fourteenth is missing in a Node. */
static json_t *
capacity_of(const char *id)
{
	const json_t *const type = linode_find_type(id);
	const int64_t memory_kib = sim_json_int_at(type, "memory", 0) * 1024;

	return json_pack("{s:o, s:o, s:o, s:s}", "cpu",
	    json_sprintf("%lld", (long long)sim_json_int_at(type, "vcpus", 0)), "memory",
	    json_sprintf("%lldKi", (long long)(memory_kib - memory_kib / 14)), "ephemeral-storage",
	    json_sprintf("%lldMi", (long long)sim_json_int_at(type, "disk", 0)), "pods", "110");
}

struct linode_cluster *
linode_find_cluster(const struct linode *l, const char *id)
{
	for (size_t i = 0; i < l->nclusters; i++) {
		if (l->clusters[i]->id == read_id(id))
			return l->clusters[i];
	}
	return NULL;
}

struct linode_pool *
linode_find_pool(const struct linode *l, const struct linode_cluster *c, const char *id)
{
	for (size_t i = 0; i < l->npools; i++) {
		if (l->pools[i]->cluster == c && l->pools[i]->id == read_id(id))
			return l->pools[i];
	}
	return NULL;
}

struct linode_node *
linode_find_node(const struct linode *l, const struct linode_cluster *c, const char *id)
{
	for (size_t i = 0; i < l->nnodes; i++) {
		struct linode_node *const n = l->nodes[i];

		if (n->pool != NULL && n->cluster == c && strcmp(n->id, id) == 0)
			return n;
	}
	return NULL;
}

struct linode_node *
linode_find_instance(struct linode *l, const char *id)
{
	for (size_t i = 0; i < l->nnodes; i++) {
		struct linode_node *const n = l->nodes[i];
		const struct sim_machine *const m = linode_machine(l, n);

		if (linode_instance_id(n) == read_id(id) && m != NULL && m->state != MACHINE_ORDERED)
			return n;
	}
	return NULL;
}

uint64_t
linode_instance_id(const struct linode_node *n)
{
	return INSTANCE_BASE + n->machine;
}

const struct sim_machine *
linode_machine(const struct linode *l, const struct linode_node *n)
{
	return sim_machines_find(l->machines, n->machine);
}

int64_t
linode_count_nodes(const struct linode *l)
{
	int64_t count = 0;

	for (size_t i = 0; i < l->npools; i++)
		count += l->pools[i]->count;
	return count;
}

void
linode_refresh(struct linode *l)
{
	const int64_t now_ms = sim_machines_now_ms(l->machines);
	size_t kept = 0;

	for (size_t i = 0; i < l->nnodes; i++) {
		struct linode_node *const n = l->nodes[i];
		const struct sim_machine *const m = linode_machine(l, n);

		if (m == NULL) {
			release_node(n);
			continue;
		}
		l->nodes[kept++] = n;
		if (n->tagged || !n->cluster->enterprise || m->state == MACHINE_ORDERED
		    || now_ms - n->since_ms < l->settings.tags_lag_ms)
			continue;
		add_pool_tags(n);
	}
	l->nnodes = kept;
}

/* Into a new list: an earlier state of the model has the old one. */
static void
add_pool_tags(struct linode_node *n)
{
	json_t *const tags = json_copy(n->tags);
	char tag[LINODE_NAME_MAX];
	json_t *of_pool;
	size_t i;

	json_array_foreach(n->pool != NULL ? n->pool->tags : NULL, i, of_pool)
		add_tag(tags, json_string_value(of_pool));
	snprintf(tag, sizeof(tag), "nodepool=%llu", (unsigned long long)n->pool_id);
	add_tag(tags, tag);
	snprintf(tag, sizeof(tag), "lke%llu", (unsigned long long)n->cluster->id);
	add_tag(tags, tag);
	json_decref(n->tags);
	n->tags = tags;
	n->tagged = true;
}

static void
add_tag(json_t *tags, const char *tag)
{
	json_t *one;
	size_t i;

	json_array_foreach(tags, i, one) {
		if (strcmp(json_string_value(one), tag) == 0)
			return;
	}
	json_array_append_new(tags, json_string(tag));
}

void
linode_keep_past(struct linode *l)
{
	json_t *const pools = json_object();
	char id[LINODE_NAME_MAX];

	for (size_t i = 0; i < l->nclusters; i++) {
		snprintf(id, sizeof(id), "%llu", (unsigned long long)l->clusters[i]->id);
		json_object_set_new(pools, id, linode_pools_json(l, l->clusters[i]));
	}
	sim_provider_past_keep(l->past, json_pack("{s:o, s:o}", "pools", pools, "instances",
	    linode_instances_json(l)));
}

void
linode_free_all(struct linode *l)
{
	for (size_t i = 0; i < l->nnodes; i++)
		release_node(l->nodes[i]);
	for (size_t i = 0; i < l->npools; i++)
		release_pool(l->pools[i]);
	for (size_t i = 0; i < l->nclusters; i++) {
		json_decref(l->clusters[i]->tags);
		free(l->clusters[i]);
	}
	free(l->nodes);
	free(l->pools);
	free(l->clusters);
}

/* 0: not an id. */
static uint64_t
read_id(const char *text)
{
	char *end;

	errno = 0;
	const uint64_t id = strtoull(text, &end, 10);
	return text[0] >= '1' && text[0] <= '9' && *end == '\0' && errno == 0 ? id : 0;
}

static void
release_node(struct linode_node *n)
{
	json_decref(n->tags);
	free(n);
}

static void
release_pool(struct linode_pool *p)
{
	json_decref(p->tags);
	json_decref(p->labels);
	json_decref(p->taints);
	json_decref(p->firewall_id);
	free(p);
}
