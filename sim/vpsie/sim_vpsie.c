/*
 * sim/vpsie/sim_vpsie.c - the VPSie API, as far as workers of managed clusters need it.
 *
 * Facts and their sources: spec/wire-vpsie.md. Clients of the vendor disagree about prefixes and headers, so
 * all of them are accepted, unless `strict` names one. No limits of calls are known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/provider/sim_providers.h"
#include "sim_vpsie_private.h"

enum { KEPT_STATES = 16 };

/* At --speed 1. A worker is in no list while it is ordered. */
static const int64_t lasts_ms[MACHINE_STATES] = {
	[MACHINE_ORDERED] = 5000, [MACHINE_BOOTING] = 10000, [MACHINE_RUNNING] = 15000,
	[MACHINE_JOINED] = 5000, [MACHINE_DELETING] = 5000,
};

static const struct vpsie_settings defaults = { .page_max = 500, .quota = 1000, .token_life_s = 3600 };

#define SETTING(name, least, most)	{ #name, offsetof(struct vpsie_settings, name), least, most }
static const struct sim_provider_setting settings[] = {
	SETTING(worker_delay_ms, 0, INT64_MAX / 2), SETTING(ip_lag_ms, 0, INT64_MAX / 4),
	SETTING(ip_settle_ms, 0, INT64_MAX / 4), SETTING(hide_vm_every, 0, INT64_MAX),
	SETTING(hide_identifier_every, 0, INT64_MAX), SETTING(nodes_count_lag_ms, 0, INT64_MAX),
	SETTING(groups_lag_ms, 0, INT64_MAX), SETTING(vm_status, 0, 1),
	SETTING(nodes_form, 0, NODES_FORMS - 1), SETTING(bare_vm, 0, 1), SETTING(page_max, 1, 500),
	SETTING(ignore_offset, 0, 1), SETTING(hide_total, 0, 1), SETTING(nodes_max, 0, INT64_MAX),
	SETTING(errors_with_200, 0, 1), SETTING(quota, 0, INT64_MAX), SETTING(answer_object, 0, 1),
	SETTING(token_life_s, 1, 1000000), SETTING(clock_offset_s, -100000, 100000),
	SETTING(strict, 0, STRICT_MAX - 1),
};

#define NO_LIMIT	0, 0, NULL
static const struct sim_provider_class token = { "token", NO_LIMIT }, vms = { "vms", NO_LIMIT },
    vm = { "vm", NO_LIMIT }, create_vm = { "create-vm", NO_LIMIT }, delete_vm = { "delete-vm", NO_LIMIT },
    clusters = { "clusters", NO_LIMIT }, cluster = { "cluster", NO_LIMIT },
    create_cluster = { "create-cluster", NO_LIMIT }, groups = { "groups", NO_LIMIT },
    create_group = { "create-group", NO_LIMIT }, delete_group = { "delete-group", NO_LIMIT },
    add_worker = { "add-worker", NO_LIMIT }, delete_worker = { "delete-worker", NO_LIMIT },
    reduce = { "reduce", NO_LIMIT }, catalogue = { "catalogue", NO_LIMIT };

/* The first argument of every route is the first segment: v2, apps or api. */
#define ROUTE(method, path, class, handler, open)					\
	{ EVHTTP_REQ_##method, "/{v2|v2}" path, &class, handler, open },		\
	{ EVHTTP_REQ_##method, "/{apps|api}/v2" path, &class, handler, open }
#define CLUSTER	"/k8s/cluster/byId/{c}"
static const struct sim_provider_route routes[] = {
	ROUTE(POST,   "/auth/from/api",                  token,          vpsie_exchange_token,    true),
	ROUTE(GET,    "/vm",                             vms,            vpsie_list_vms,          false),
	ROUTE(POST,   "/vm",                             create_vm,      vpsie_create_vm,         false),
	ROUTE(DELETE, "/vm",                             delete_vm,      vpsie_delete_vm_by_body, false),
	ROUTE(GET,    "/vm/pending",                     vms,            vpsie_list_pending,      false),
	ROUTE(GET,    "/vm/status/{id}",                 vm,             vpsie_vm_status,         false),
	ROUTE(GET,    "/vm/{id}",                        vm,             vpsie_get_vm,            false),
	ROUTE(DELETE, "/vm/{id}",                        delete_vm,      vpsie_delete_vm,         false),
	ROUTE(GET,    "/k8s/cluster/all",                clusters,       vpsie_list_clusters,     false),
	ROUTE(POST,   "/k8s/create/cluster",             create_cluster, vpsie_create_cluster,    false),
	ROUTE(GET,    CLUSTER,                           cluster,        vpsie_get_cluster,       false),
	ROUTE(GET,    "/k8s/node/groups/byClusterId/{c}", groups,        vpsie_list_groups,       false),
	ROUTE(POST,   "/k8s/cluster/add/group",          create_group,   vpsie_create_group,      false),
	ROUTE(DELETE, "/k8s/cluster/delete/group/{g}",   delete_group,   vpsie_remove_group,      false),
	ROUTE(POST,   CLUSTER "/add/slave/group/{g}",    add_worker,     vpsie_add_slave,         false),
	ROUTE(POST,   CLUSTER "/add/slave",              add_worker,     vpsie_add_slave,         false),
	ROUTE(DELETE, CLUSTER "/delete/slave",           delete_worker,  vpsie_remove_slave,      false),
	ROUTE(DELETE, CLUSTER "/reduce/{slave|master}",  reduce,         vpsie_reduce,            false),
	ROUTE(POST,   "/k8s/offers",                     catalogue,      vpsie_list_offers,       false),
	ROUTE(GET,    "/datacenter",                     catalogue,      vpsie_list_datacenters,  false),
	{ .pattern = NULL },
};
static const struct sim_provider_auth auth[] = { { "Authorization", "Bearer " }, { "Vpsie-Auth", "" },
	{ .header = NULL } };

static void *open_model(struct simulator *, bool);
static void close_model(void *);
static struct sim_machines *machines_of(void *);
static json_t *state_of(void *);
static bool set(void *, const char *, const json_t *);
static json_t *error_of(int, const char *);
static size_t number_of(const char *, size_t);

static const struct sim_provider_spec spec = { .name = "vpsie", .routes = routes, .auth = auth,
	.error = error_of, .issued = vpsie_issued, .refuse = vpsie_refuse };
extern const struct sim_provider_kind sim_vpsie_kind;
const struct sim_provider_kind sim_vpsie_kind = {
	.spec = &spec, .open = open_model, .close = close_model, .machines = machines_of, .state = state_of,
	.set = set,
};

/* It begins with two clusters in different datacenters, each with a control plane and nothing else. */
static void *
open_model(struct simulator *s, bool join)
{
	struct vpsie *v;

	OBJ_NEW(v, VPSIE_MAGIC);
	v->sim = s;
	v->join = join;
	v->settings = defaults;
	v->nodes_of_cluster = sim_machine_nodes_new(s, lasts_ms);
	v->machines = sim_machine_nodes_machines(v->nodes_of_cluster);
	v->past = sim_provider_past_new(KEPT_STATES);
	v->next = json_array();
	v->clients = json_object();
	vpsie_add_cluster(v, "main", "dc000000-0000-4000-8000-000000000001");
	vpsie_add_cluster(v, "other", "dc000000-0000-4000-8000-000000000002");
	return v;
}

static void
close_model(void *model)
{
	struct vpsie *v = model;

	OBJ_CHECK(v, VPSIE_MAGIC);
	sim_machine_nodes_free(&v->nodes_of_cluster);
	sim_provider_past_free(&v->past);
	vpsie_free_all(v);
	OBJ_FREE(v);
}

static struct sim_machines *
machines_of(void *model)
{
	const struct vpsie *const v = model;

	return v->machines;
}

static json_t *
state_of(void *model)
{
	vpsie_refresh(model);
	return vpsie_state_json(model);
}

static bool
set(void *model, const char *key, const json_t *value)
{
	struct vpsie *const v = model;

	if (strcmp(key, "next") == 0)
		return vpsie_order_next(v, value);
	if (strcmp(key, "client") == 0)
		return vpsie_add_client(v, value);
	if (strcmp(key, "expire_tokens") == 0 && json_is_true(value)) {
		vpsie_expire_tokens(v);
		return true;
	}
	return sim_provider_set_number(settings, NITEMS(settings), &v->settings, key, value);
}

/* A fault with the status 200 is an error in the body alone. */
static json_t *
error_of(int code, const char *why)
{
	return json_pack("{s:b, s:i, s:s}", "error", 1, "code", code == 200 ? 400 : code, "message", why);
}

struct sim_provider_answer
vpsie_ok(json_t *data, json_t *effect)
{
	return (struct sim_provider_answer){ .code = 200, .effect = effect,
		.body = json_pack("{s:b, s:i, s:s, s:o}", "error", 0, "code", 200, "message", "ok", "data",
		    data) };
}

struct sim_provider_answer
vpsie_fail(const struct vpsie *v, int code, const char *message)
{
	return (struct sim_provider_answer){ .code = v->settings.errors_with_200 != 0 ? 200 : code,
		.body = error_of(code, message) };
}

/* A limit or an offset that is no number counts as none: the vendor's own SDK sends such ones. */
struct sim_provider_answer
vpsie_list(const struct vpsie *v, const struct sim_provider_call *c, json_t *list)
{
	json_auto_t *all = list;
	const size_t results = json_array_size(all), most = (size_t)v->settings.page_max;
	const size_t limit = number_of(sim_provider_query(c, "limit"), most);
	const size_t offset = v->settings.ignore_offset != 0 ? 0
	    : number_of(sim_provider_query(c, "offset"), 0);
	struct sim_provider_page p = { .first = offset < results ? offset : results };

	p.n = results - p.first;
	p.n = p.n > limit ? limit : p.n;
	p.n = p.n > most ? most : p.n;
	json_t *const body = json_pack("{s:b, s:o}", "error", 0, "data", sim_provider_slice(all, &p));
	if (v->settings.hide_total == 0)
		json_object_set_new(body, "total", json_integer((json_int_t)results));
	return (struct sim_provider_answer){ .code = 200, .body = body };
}

static size_t
number_of(const char *text, size_t absent)
{
	char *end;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return absent;
	errno = 0;
	const size_t n = strtoul(text, &end, 10);
	return *end == '\0' && errno == 0 ? n : absent;
}
