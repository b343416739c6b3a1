/* sim/linode/sim_linode_lke.c - calls of /lke: clusters, node pools, nodes. */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_linode_private.h"

/* Arguments of the paths. */
enum { ARG_CLUSTER = 1, ARG_BELOW = 2 };	/* before them: the version */

static struct sim_provider_answer change_pool(const struct sim_provider_call *, struct linode *,
    struct linode_pool *, json_t *);
static const char *check_pool(const struct linode *, const struct linode_pool *, const json_t *,
    const char **);
static bool may_be(const json_t *, json_type);
static void take(json_t **, const json_t *, const char *);
static void take_text(char *, size_t, const json_t *, const char *);
static struct linode_pool *pool_of(struct linode *, const struct sim_provider_call *);
static struct linode_node *node_of(struct linode *, const struct sim_provider_call *);
static struct sim_provider_answer not_found(void);

struct sim_provider_answer
linode_list_clusters(void *model, const struct sim_provider_call *c)
{
	static const char *const fields[] = { "id", "label", "region", "tags", "k8s_version", NULL };
	const struct linode *const l = model;
	json_t *const list = json_array();

	for (size_t i = 0; i < l->nclusters; i++)
		json_array_append_new(list, linode_cluster_json(l->clusters[i]));
	return linode_list(l, c, list, fields);
}

struct sim_provider_answer
linode_create_cluster(void *model, const struct sim_provider_call *c)
{
	struct linode *const l = model;
	const char *const label = sim_json_text(c->body, "label");
	const char *const tier = sim_json_text(c->body, "tier");
	const char *const region = sim_json_text(c->body, "region");

	if (label[0] == '\0' || strlen(label) >= LINODE_NAME_MAX)
		return linode_fail(400, "label", "label is not valid");
	if (sim_json_find(linode_regions(), "id", region) == NULL)
		return linode_fail(400, "region", "region is not valid");
	linode_keep_past(l);
	const struct linode_cluster *const made = linode_add_cluster(l, label, region,
	    strcmp(tier, "enterprise") == 0);
	return linode_ok(linode_shown(c, linode_cluster_json(made)),
	    json_sprintf("cluster %llu created", (unsigned long long)made->id));
}

struct sim_provider_answer
linode_get_cluster(void *model, const struct sim_provider_call *c)
{
	const struct linode_cluster *const cluster = linode_find_cluster(model, c->args.of[ARG_CLUSTER]);

	return cluster != NULL ? linode_ok(linode_shown(c, linode_cluster_json(cluster)), NULL) : not_found();
}

struct sim_provider_answer
linode_list_pools(void *model, const struct sim_provider_call *c)
{
	static const char *const fields[] = { "id", "type", "count", "tags", NULL };
	struct linode *const l = model;
	const struct linode_cluster *const cluster = linode_find_cluster(l, c->args.of[ARG_CLUSTER]);

	if (cluster == NULL)
		return not_found();
	linode_refresh(l);
	json_t *const earlier = json_object_get(json_object_get(sim_provider_past_at(l->past, c->behind),
	    "pools"), c->args.of[ARG_CLUSTER]);
	return linode_list(l, c, earlier != NULL ? json_incref(earlier) : linode_pools_json(l, cluster),
	    fields);
}

struct sim_provider_answer
linode_create_pool(void *model, const struct sim_provider_call *c)
{
	struct linode *const l = model;
	const struct linode_cluster *const cluster = linode_find_cluster(l, c->args.of[ARG_CLUSTER]);
	const char *const type = sim_json_text(c->body, "type");
	const char *field = NULL;

	if (cluster == NULL)
		return not_found();
	if (linode_find_type(type) == NULL)
		return linode_fail(400, "type", "type is not valid");
	if (!json_is_integer(json_object_get(c->body, "count")))
		return linode_fail(400, "count", "count is required");
	const struct linode_pool none = { .cluster = cluster };
	const char *const wrong = check_pool(l, &none, c->body, &field);
	if (wrong != NULL)
		return linode_fail(400, field, wrong);
	linode_keep_past(l);
	struct linode_pool *const p = linode_add_pool(l, cluster, type);
	p->tags = json_array();
	p->taints = json_array();
	p->labels = json_object();
	p->least = p->most = sim_json_int_at(c->body, "count", 1);
	return change_pool(c, l, p, json_sprintf("pool %llu created with %lld nodes",
	    (unsigned long long)p->id, (long long)p->least));
}

struct sim_provider_answer
linode_get_pool(void *model, const struct sim_provider_call *c)
{
	const struct linode_pool *const p = pool_of(model, c);

	linode_refresh(model);
	return p != NULL ? linode_ok(linode_shown(c, linode_pool_json(model, p)), NULL) : not_found();
}

struct sim_provider_answer
linode_update_pool(void *model, const struct sim_provider_call *c)
{
	struct linode *const l = model;
	struct linode_pool *const p = pool_of(l, c);
	const char *field = NULL;

	if (p == NULL)
		return not_found();
	const char *const wrong = check_pool(l, p, c->body, &field);
	if (wrong != NULL)
		return linode_fail(400, field, wrong);
	linode_refresh(l);
	linode_keep_past(l);
	return change_pool(c, l, p, json_sprintf("pool %llu updated, count %lld to %lld",
	    (unsigned long long)p->id, (long long)p->count,
	    (long long)sim_json_int_at(c->body, "count", p->count)));
}

struct sim_provider_answer
linode_remove_pool(void *model, const struct sim_provider_call *c)
{
	struct linode *const l = model;
	struct linode_pool *const p = pool_of(l, c);

	if (p == NULL)
		return not_found();
	linode_refresh(l);
	linode_keep_past(l);
	json_t *const effect = json_sprintf("pool %llu deleted with %lld nodes", (unsigned long long)p->id,
	    (long long)p->count);
	linode_delete_pool(l, p);
	return linode_ok(json_object(), effect);
}

struct sim_provider_answer
linode_recycle_pool(void *model, const struct sim_provider_call *c)
{
	struct linode *const l = model;
	const struct linode_pool *const p = pool_of(l, c);
	const size_t before = l->nnodes;

	if (p == NULL)
		return not_found();
	linode_keep_past(l);
	for (size_t i = 0; i < before; i++) {
		if (l->nodes[i]->pool == p)
			linode_recycle_node(l, l->nodes[i]);
	}
	return linode_ok(json_object(), json_sprintf("pool %llu recycled", (unsigned long long)p->id));
}

struct sim_provider_answer
linode_get_node(void *model, const struct sim_provider_call *c)
{
	const struct linode_node *const n = node_of(model, c);

	return n != NULL ? linode_ok(linode_node_json(model, n), NULL) : not_found();
}

/* It goes from the pool at once, and count with it. */
struct sim_provider_answer
linode_remove_node(void *model, const struct sim_provider_call *c)
{
	struct linode *const l = model;
	struct linode_node *const n = node_of(l, c);

	if (n == NULL)
		return not_found();
	linode_refresh(l);
	linode_keep_past(l);
	n->pool->count--;
	json_t *const effect = json_sprintf("node %s deleted, instance %llu of pool %llu", n->id,
	    (unsigned long long)linode_instance_id(n), (unsigned long long)n->pool_id);
	linode_delete_node(l, n);
	return linode_ok(json_object(), effect);
}

struct sim_provider_answer
linode_renew_node(void *model, const struct sim_provider_call *c)
{
	struct linode *const l = model;
	struct linode_node *const n = node_of(l, c);

	if (n == NULL)
		return not_found();
	linode_keep_past(l);
	json_t *const effect = json_sprintf("node %s recycled", n->id);
	linode_recycle_node(l, n);
	return linode_ok(json_object(), effect);
}

/* Members that are absent or null stay. Takes effect. */
static struct sim_provider_answer
change_pool(const struct sim_provider_call *c, struct linode *l, struct linode_pool *p, json_t *effect)
{
	const json_t *const body = c->body, *const autoscaler = json_object_get(body, "autoscaler");

	take(&p->tags, body, "tags");
	take(&p->labels, body, "labels");
	take(&p->taints, body, "taints");
	take_text(p->label, sizeof(p->label), body, "label");
	p->least = sim_json_int_at(autoscaler, "min", p->least);
	p->most = sim_json_int_at(autoscaler, "max", p->most);
	if (p->cluster->enterprise) {
		take(&p->firewall_id, body, "firewall_id");
		take_text(p->k8s_version, sizeof(p->k8s_version), body, "k8s_version");
		take_text(p->update_strategy, sizeof(p->update_strategy), body, "update_strategy");
	}
	linode_set_count(l, p, sim_json_int_at(body, "count", p->count));
	return linode_ok(linode_shown(c, linode_pool_json(l, p)), effect);
}

/* NULL, or the reason and the field that it is about. */
static const char *
check_pool(const struct linode *l, const struct linode_pool *p, const json_t *body, const char **field)
{
	const int64_t count = sim_json_int_at(body, "count", p->count);
	const char *const strategy = sim_json_text(body, "update_strategy");
	const char *const tags = linode_wrong_tags(json_object_get(body, "tags"));

	*field = NULL;
	if (!json_is_object(body))
		return "The body must be an object";
	*field = "count";
	if (count < 1)
		return "Must be at least 1";
	if (count > l->settings.pool_max)
		return "Must be at most the limit of nodes of a pool";
	*field = "tags";
	if (tags != NULL)
		return tags;
	*field = "labels";
	if (!may_be(json_object_get(body, "labels"), JSON_OBJECT))
		return "Must be an object";
	*field = "taints";
	if (!may_be(json_object_get(body, "taints"), JSON_ARRAY))
		return "Must be an array";
	*field = "update_strategy";
	if (strategy[0] != '\0' && (!p->cluster->enterprise
	    || (strcmp(strategy, "rolling_update") != 0 && strcmp(strategy, "on_recycle") != 0)))
		return "update_strategy is not valid";
	*field = "k8s_version";
	if (!p->cluster->enterprise && sim_json_text(body, "k8s_version")[0] != '\0')
		return "k8s_version is not valid for this tier";
	*field = NULL;
	if (count - p->count > l->settings.quota - linode_count_nodes(l))
		return "Account Limit reached. Please open a support ticket.";
	return NULL;
}

/* Of that type, null, or absent. */
static bool
may_be(const json_t *value, json_type type)
{
	return value == NULL || json_is_null(value) || json_typeof(value) == type;
}

static void
take(json_t **to, const json_t *body, const char *key)
{
	json_t *const value = json_object_get(body, key);

	if (value == NULL || json_is_null(value))
		return;
	json_decref(*to);
	*to = json_deep_copy(value);
}

static void
take_text(char *to, size_t size, const json_t *body, const char *key)
{
	if (json_is_string(json_object_get(body, key)))
		snprintf(to, size, "%s", sim_json_text(body, key));
}

static struct linode_pool *
pool_of(struct linode *l, const struct sim_provider_call *c)
{
	const struct linode_cluster *const cluster = linode_find_cluster(l, c->args.of[ARG_CLUSTER]);

	return cluster != NULL ? linode_find_pool(l, cluster, c->args.of[ARG_BELOW]) : NULL;
}

static struct linode_node *
node_of(struct linode *l, const struct sim_provider_call *c)
{
	const struct linode_cluster *const cluster = linode_find_cluster(l, c->args.of[ARG_CLUSTER]);

	return cluster != NULL ? linode_find_node(l, cluster, c->args.of[ARG_BELOW]) : NULL;
}

static struct sim_provider_answer
not_found(void)
{
	return linode_fail(404, NULL, "Not found");
}
