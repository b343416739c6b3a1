/* sim/vpsie/sim_vpsie_k8s.c - the handlers of managed clusters: node groups and workers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_vpsie_private.h"

enum { ARG_CLUSTER = 1, ARG_GROUP = 2 };

static struct sim_provider_answer no_cluster(const struct vpsie *);
static struct sim_provider_answer remove_worker(struct vpsie *, struct vpsie_worker *, const char *);
static json_t *past_of(const struct vpsie *, const struct sim_provider_call *, const char *, const char *);
static int64_t read_id(const char *);

struct sim_provider_answer
vpsie_list_clusters(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	json_t *const list = json_array();

	vpsie_refresh(v);
	for (size_t i = 0; i < v->nclusters; i++)
		json_array_append_new(list, vpsie_cluster_json(v, v->clusters[i], false));
	return vpsie_list(v, c, list);
}

struct sim_provider_answer
vpsie_get_cluster(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const struct vpsie_cluster *const cluster = vpsie_find_cluster(v, c->args.of[ARG_CLUSTER]);

	if (cluster == NULL)
		return no_cluster(v);
	vpsie_refresh(v);
	json_t *const earlier = past_of(v, c, "clusters", cluster->identifier);
	return vpsie_ok(earlier != NULL ? json_incref(earlier) : vpsie_cluster_json(v, cluster, true), NULL);
}

struct sim_provider_answer
vpsie_create_cluster(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const char *const name = sim_json_text(c->body, "clusterName");
	const char *const datacenter = sim_json_text(c->body, "dcIdentifier");

	if (name[0] == '\0' || strlen(datacenter) + 1 > VPSIE_UUID_MAX || datacenter[0] == '\0')
		return vpsie_fail(v, 400, "clusterName and dcIdentifier are required");
	const struct vpsie_cluster *const made = vpsie_add_cluster(v, name, datacenter);
	return vpsie_ok(json_pack("{s:s}", "identifier", made->identifier),
	    json_sprintf("cluster %s created", made->identifier));
}

struct sim_provider_answer
vpsie_list_groups(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const struct vpsie_cluster *const cluster = vpsie_find_cluster(v, c->args.of[ARG_CLUSTER]);

	if (cluster == NULL)
		return no_cluster(v);
	vpsie_refresh(v);
	json_t *const earlier = past_of(v, c, "groups", cluster->identifier);
	return vpsie_list(v, c, earlier != NULL ? json_incref(earlier) : vpsie_groups_json(v, cluster));
}

/* A name may be used twice: that the server refuses it is not confirmed. */
struct sim_provider_answer
vpsie_create_group(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const char *const name = sim_json_text(c->body, "groupName");
	const struct vpsie_cluster *const cluster =
	    vpsie_find_cluster(v, sim_json_text(c->body, "clusterIdentifier"));
	const struct vpsie_size *const size = vpsie_find_size(sim_json_int_at(c->body, "KubeSizeID", 0));

	if (cluster == NULL)
		return no_cluster(v);
	if (name[0] == '\0' || strlen(name) >= VPSIE_NAME_MAX)
		return vpsie_fail(v, 400, "groupName is required");
	if (size == NULL)
		return vpsie_fail(v, 400, "KubeSizeID is not a size that is offered");
	vpsie_keep_past(v);
	const struct vpsie_group *const g = vpsie_add_group(v, cluster, name, size);
	return vpsie_ok(json_pack("{s:s}", "groupId", g->identifier),
	    json_sprintf("group %lld created, %s", (long long)g->id, g->name));
}

struct sim_provider_answer
vpsie_remove_group(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	struct vpsie_group *const g = vpsie_find_group(v, NULL, read_id(c->args.of[ARG_GROUP - 1]));

	if (g == NULL)
		return vpsie_fail(v, 404, "Group not found");
	vpsie_keep_past(v);
	json_t *const effect = json_sprintf("group %lld deleted, %s", (long long)g->id, g->name);
	vpsie_delete_group(v, g);
	return vpsie_ok(json_true(), effect);
}

/* No body, no id in the answer: whoever calls twice gets two. The group is in the path, or in the body. */
struct sim_provider_answer
vpsie_add_slave(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const struct vpsie_cluster *const cluster = vpsie_find_cluster(v, c->args.of[ARG_CLUSTER]);
	const char *const path_group = c->args.of[ARG_GROUP];
	const int64_t id = path_group != NULL ? read_id(path_group) : sim_json_int_at(c->body, "groupId", 0);

	if (cluster == NULL)
		return no_cluster(v);
	const struct vpsie_group *const g = vpsie_find_group(v, cluster, id);
	if (g == NULL && (path_group != NULL || id != 0))
		return vpsie_fail(v, 404, "Group not found");
	if (vpsie_count_workers(v) >= v->settings.quota)
		return vpsie_fail(v, 400, "Worker node count exceeds the allowed limit");
	vpsie_keep_past(v);
	const struct vpsie_worker *const w = vpsie_add_worker(v, cluster, g, "");
	json_t *const effect = json_sprintf("worker %lld created in group %lld, %s",
	    (long long)vpsie_vm_id(w), (long long)w->group, w->hostname);
	json_t *const data = v->settings.answer_object == 0 ? json_true()
	    : json_pack("{s:i, s:s, s:s, s:s}", "id", 0, "identifier", w->identifier, "status",
		"provisioning", "hostname", w->hostname);
	return vpsie_ok(data, effect);
}

struct sim_provider_answer
vpsie_remove_slave(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const struct vpsie_cluster *const cluster = vpsie_find_cluster(v, c->args.of[ARG_CLUSTER]);
	const char *const identifier = sim_json_text(c->body, "identifier");

	if (cluster == NULL)
		return no_cluster(v);
	if (identifier[0] == '\0')
		return vpsie_fail(v, 400, "identifier is required");
	vpsie_refresh(v);
	struct vpsie_worker *const w = vpsie_find_vm(v, identifier);
	return remove_worker(v, w != NULL && w->cluster == cluster ? w : NULL, "Node not found");
}

/* Which worker of the group goes is the server's choice: the youngest. */
struct sim_provider_answer
vpsie_reduce(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const struct vpsie_cluster *const cluster = vpsie_find_cluster(v, c->args.of[ARG_CLUSTER]);
	const int64_t group = sim_json_int_at(c->body, "groupId", 0);
	struct vpsie_worker *w = NULL;

	if (cluster == NULL)
		return no_cluster(v);
	vpsie_refresh(v);
	for (size_t i = 0; i < v->nworkers && strcmp(c->args.of[2], "slave") == 0; i++) {
		struct vpsie_worker *const one = v->workers[i];

		if (one->cluster == cluster && one->group == group && vpsie_exists(v, one))
			w = one;
	}
	return remove_worker(v, w, "The group has no node");
}

struct sim_provider_answer
vpsie_list_offers(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	json_t *const list = json_array();
	size_t n;
	const struct vpsie_size *const sizes = vpsie_sizes(&n);

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:I, s:s, s:I, s:I, s:I, s:I, s:f}", "id",
		    (json_int_t)sizes[i].id, "name", sizes[i].name, "cpu", (json_int_t)sizes[i].cpu, "ram",
		    (json_int_t)sizes[i].ram, "disk", (json_int_t)sizes[i].ssd, "price",
		    (json_int_t)sizes[i].cpu * 10, "hourly_price", (double)sizes[i].cpu / 72));
	return vpsie_list(v, c, list);
}

struct sim_provider_answer
vpsie_list_datacenters(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	json_t *const list = json_array();

	for (size_t i = 0; i < v->nclusters; i++)
		json_array_append_new(list, json_pack("{s:o, s:s, s:s, s:i, s:s, s:i, s:i}", "dc_name",
		    json_sprintf("DC %zu", i + 1), "state", "Illinois", "country", "US", "is_active", 1,
		    "identifier", v->clusters[i]->datacenter, "is_deleted", 0, "is_private", 0));
	return vpsie_list(v, c, list);
}

/* NULL: there is none. */
static struct sim_provider_answer
remove_worker(struct vpsie *v, struct vpsie_worker *w, const char *missing)
{
	if (w == NULL || !vpsie_exists(v, w))
		return vpsie_fail(v, 404, missing);
	vpsie_keep_past(v);
	json_t *const effect = json_sprintf("worker %lld deleted of group %lld, %s",
	    (long long)vpsie_vm_id(w), (long long)w->group, w->hostname);
	vpsie_delete_worker(v, w);
	return vpsie_ok(json_true(), effect);
}

static struct sim_provider_answer
no_cluster(const struct vpsie *v)
{
	return vpsie_fail(v, 404, "Cluster not found");
}

/* Borrowed. NULL: the present, or the cluster did not exist then. */
static json_t *
past_of(const struct vpsie *v, const struct sim_provider_call *c, const char *kind, const char *cluster)
{
	return json_object_get(json_object_get(sim_provider_past_at(v->past, c->behind), kind), cluster);
}

/* 0: not an id. */
static int64_t
read_id(const char *text)
{
	char *end;

	errno = 0;
	const int64_t id = strtoll(text, &end, 10);
	return text[0] >= '1' && text[0] <= '9' && *end == '\0' && errno == 0 ? id : 0;
}
