/*
 * sim/linode/sim_linode.c - the Linode API, v4 and v4beta, as far as clusters of LKE need it.
 *
 * Facts and their sources: spec/wire-linode.md. Where the API's behaviour is not confirmed, a setting
 * chooses, and its default is the worse one for the client.
 */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/provider/sim_providers.h"
#include "sim_linode_filter.h"
#include "sim_linode_private.h"

enum { KEPT_STATES = 8, FILTER_ERROR_MAX = 128 };

/* At --speed 1. A node's instance_id is null while it is ordered. */
static const int64_t lasts_ms[MACHINE_STATES] = {
	[MACHINE_ORDERED] = 2000, [MACHINE_BOOTING] = 20000, [MACHINE_RUNNING] = 60000,
	[MACHINE_JOINED] = 10000, [MACHINE_DELETING] = 5000,
};

static const struct linode_settings defaults = {
	.nodes_lag_ms = 45000, .tags_lag_ms = 4000, .pool_max = 100, .quota = 1000, .contains_substring = 1,
};

/* Names of settings (POST /providers, op set), where they go, and what they may be. */
static const struct sim_provider_setting settings[] = {
	{ "nodes_lag_ms",          offsetof(struct linode_settings, nodes_lag_ms),          0, INT64_MAX },
	{ "tags_lag_ms",           offsetof(struct linode_settings, tags_lag_ms),           0, INT64_MAX },
	{ "pool_max",              offsetof(struct linode_settings, pool_max),              0, INT64_MAX },
	{ "quota",                 offsetof(struct linode_settings, quota),                 0, INT64_MAX },
	{ "contains_substring",    offsetof(struct linode_settings, contains_substring),    0, 1 },
	{ "filter_lke_cluster_id", offsetof(struct linode_settings, filter_lke_cluster_id), 0, 1 },
};

/* Calls by class; the limit is that of the bucket, as documented: lists 200 a minute, others 1600. */
#define LISTS	200, 60000, "lists"
#define GENERAL	1600, 60000, "general"
static const struct sim_provider_class clusters = { "clusters", LISTS }, cluster = { "cluster", GENERAL },
    create_cluster = { "create-cluster", GENERAL }, pools = { "pools", LISTS }, pool = { "pool", GENERAL },
    create_pool = { "create-pool", GENERAL }, scale_pool = { "scale-pool", GENERAL },
    delete_pool = { "delete-pool", GENERAL }, recycle = { "recycle", GENERAL }, node = { "node", GENERAL },
    delete_node = { "delete-node", GENERAL }, instances = { "instances", LISTS },
    instance = { "instance", GENERAL }, tag_instance = { "tag-instance", GENERAL },
    types = { "types", LISTS }, type = { "type", GENERAL },
    regions = { "regions", LISTS }, region = { "region", GENERAL },
    availability = { "availability", GENERAL };

#define LKE		"/{v4|v4beta}/lke/clusters"
#define LINODE		"/{v4|v4beta}/linode"
#define REGIONS		"/{v4|v4beta}/regions"
#define ROUTE(method, pattern, class, handler)	{ EVHTTP_REQ_##method, pattern, &class, handler, false }
static const struct sim_provider_route routes[] = {
	ROUTE(GET,    LKE,                           clusters,       linode_list_clusters),
	ROUTE(POST,   LKE,                           create_cluster, linode_create_cluster),
	ROUTE(GET,    LKE "/{c}",                    cluster,        linode_get_cluster),
	ROUTE(GET,    LKE "/{c}/pools",              pools,          linode_list_pools),
	ROUTE(POST,   LKE "/{c}/pools",              create_pool,    linode_create_pool),
	ROUTE(GET,    LKE "/{c}/pools/{p}",          pool,           linode_get_pool),
	ROUTE(PUT,    LKE "/{c}/pools/{p}",          scale_pool,     linode_update_pool),
	ROUTE(DELETE, LKE "/{c}/pools/{p}",          delete_pool,    linode_remove_pool),
	ROUTE(POST,   LKE "/{c}/pools/{p}/recycle",  recycle,        linode_recycle_pool),
	ROUTE(GET,    LKE "/{c}/nodes/{n}",          node,           linode_get_node),
	ROUTE(DELETE, LKE "/{c}/nodes/{n}",          delete_node,    linode_remove_node),
	ROUTE(POST,   LKE "/{c}/nodes/{n}/recycle",  recycle,        linode_renew_node),
	ROUTE(GET,    LINODE "/instances",           instances,      linode_list_instances),
	ROUTE(GET,    LINODE "/instances/{i}",       instance,       linode_get_instance),
	ROUTE(PUT,    LINODE "/instances/{i}",       tag_instance,   linode_update_instance),
	ROUTE(GET,    LINODE "/types",               types,          linode_list_types),
	ROUTE(GET,    LINODE "/types/{t}",           type,           linode_get_type),
	ROUTE(GET,    REGIONS,                       regions,        linode_list_regions),
	ROUTE(GET,    REGIONS "/availability",       regions,        linode_list_availability),
	ROUTE(GET,    REGIONS "/{r}",                region,         linode_get_region),
	ROUTE(GET,    REGIONS "/{r}/availability",   availability,   linode_get_availability),
	{ .pattern = NULL },
};
static const struct sim_provider_auth auth[] = { { "Authorization", "Bearer " }, { .header = NULL } };
static const struct sim_provider_page_sizes page_sizes = { .usual = 100, .least = 25, .most = 500 };

static void *open_model(struct simulator *, bool);
static void close_model(void *);
static struct sim_machines *machines_of(void *);
static json_t *state_of(void *);
static bool set(void *, const char *, const json_t *);
static json_t *error_of(int, const char *);

static const struct sim_provider_spec spec = { .name = "linode", .routes = routes,
	.auth = auth, .error = error_of };
extern const struct sim_provider_kind sim_linode_kind;
const struct sim_provider_kind sim_linode_kind = {
	.spec = &spec, .open = open_model, .close = close_model, .machines = machines_of, .state = state_of,
	.set = set,
};

/* It begins with a cluster of each tier. */
static void *
open_model(struct simulator *s, bool join)
{
	struct linode *l;

	OBJ_NEW(l, LINODE_MAGIC);
	l->sim = s;
	l->join = join;
	l->settings = defaults;
	l->nodes_of_cluster = sim_machine_nodes_new(s, lasts_ms);
	l->machines = sim_machine_nodes_machines(l->nodes_of_cluster);
	l->past = sim_provider_past_new(KEPT_STATES);
	linode_add_cluster(l, "standard", "us-ord", false);
	linode_add_cluster(l, "enterprise", "us-ord", true);
	return l;
}

static void
close_model(void *model)
{
	struct linode *l = model;

	OBJ_CHECK(l, LINODE_MAGIC);
	sim_machine_nodes_free(&l->nodes_of_cluster);
	sim_provider_past_free(&l->past);
	linode_free_all(l);
	OBJ_FREE(l);
}

static struct sim_machines *
machines_of(void *model)
{
	const struct linode *const l = model;

	return l->machines;
}

/* Everything there is, whatever lags: pools with all their nodes, and instances that are only ordered. */
static json_t *
state_of(void *model)
{
	struct linode *const l = model;
	json_t *const all_pools = json_array(), *const all_nodes = json_array();

	linode_refresh(l);
	for (size_t i = 0; i < l->npools; i++)
		json_array_append_new(all_pools, json_pack("{s:I, s:I, s:s, s:I, s:O}", "id",
		    (json_int_t)l->pools[i]->id, "cluster", (json_int_t)l->pools[i]->cluster->id, "type",
		    l->pools[i]->type, "count", (json_int_t)l->pools[i]->count, "tags", l->pools[i]->tags));
	for (size_t i = 0; i < l->nnodes; i++)
		json_array_append_new(all_nodes, json_pack("{s:s, s:s, s:I, s:I, s:b, s:s, s:O}", "id",
		    l->nodes[i]->id, "name", l->nodes[i]->label, "instance",
		    (json_int_t)linode_instance_id(l->nodes[i]), "pool", (json_int_t)l->nodes[i]->pool_id,
		    "in_pool", l->nodes[i]->pool != NULL, "machine",
		    sim_machine_state_name(linode_machine(l, l->nodes[i])->state), "tags",
		    l->nodes[i]->tags));
	return json_pack("{s:o, s:o}", "pools", all_pools, "nodes", all_nodes);
}

static bool
set(void *model, const char *key, const json_t *value)
{
	struct linode *const l = model;

	return sim_provider_set_number(settings, NITEMS(settings), &l->settings, key, value);
}

static json_t *
error_of(int code, const char *why)
{
	(void)code;
	return json_pack("{s:[{s:s}]}", "errors", "reason", why);
}

struct sim_provider_answer
linode_ok(json_t *body, json_t *effect)
{
	return (struct sim_provider_answer){ .code = 200, .body = body, .effect = effect };
}

struct sim_provider_answer
linode_fail(int code, const char *field, const char *reason)
{
	return (struct sim_provider_answer){ .code = code, .body = field == NULL ? error_of(code, reason)
	    : json_pack("{s:[{s:s, s:s}]}", "errors", "field", field, "reason", reason) };
}

/* What is documented for v4beta alone: v4 does not show it. */
json_t *
linode_shown(const struct sim_provider_call *c, json_t *object)
{
	static const char *const beta[] = { "tier", "k8s_version", "update_strategy", "firewall_id" };

	if (strcmp(c->args.of[0], "v4beta") == 0)
		return object;
	const bool is_cluster = json_object_get(object, "tier") != NULL;
	json_t *const shown = json_copy(object);
	for (size_t i = 0; i < NITEMS(beta); i++) {
		if (!is_cluster || i == 0)
			json_object_del(shown, beta[i]);
	}
	json_decref(object);
	return shown;
}

struct sim_provider_answer
linode_list(const struct linode *l, const struct sim_provider_call *c, json_t *list,
    const char *const *fields)
{
	const char *const text = sim_provider_header(c, "X-Filter");
	json_auto_t *filter = text != NULL ? json_loads(text, 0, NULL) : json_object();
	json_auto_t *all = list, *chosen = json_array();
	char error[FILTER_ERROR_MAX];
	struct sim_provider_page p;
	json_t *one;
	size_t i;

	const char *const wrong = sim_linode_filter_check(filter, fields, error, sizeof(error));
	if (wrong != NULL)
		return linode_fail(400, "X-Filter", wrong);
	json_array_foreach(all, i, one) {
		if (sim_linode_filter_fits(filter, one, l->settings.contains_substring != 0))
			json_array_append_new(chosen, linode_shown(c, json_incref(one)));
	}
	if (!sim_provider_page_by_number(&p, json_array_size(chosen), sim_provider_query(c, "page"),
	    sim_provider_query(c, "page_size"), &page_sizes))
		return linode_fail(400, "page_size", "Must be 25-500, and page a number");
	return linode_ok(json_pack("{s:o, s:I, s:I, s:I}", "data", sim_provider_slice(chosen, &p), "page",
	    (json_int_t)p.page, "pages", (json_int_t)p.pages, "results", (json_int_t)json_array_size(chosen)),
	    NULL);
}

const char *
linode_wrong_tags(const json_t *tags)
{
	json_t *one;
	size_t i;

	if (tags == NULL || json_is_null(tags))
		return NULL;
	if (!json_is_array(tags))
		return "Must be an array";
	json_array_foreach(tags, i, one) {
		if (!json_is_string(one) || json_string_length(one) == 0
		    || json_string_length(one) > LINODE_TAG_MAX)
			return "Length must be 1-50 characters";
	}
	return NULL;
}
