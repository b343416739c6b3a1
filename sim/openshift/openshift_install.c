/* sim/openshift/openshift_install.c - the OpenShift at its beginning: pools, configs, and Nodes with roles. */
#include <stdio.h>
#include <string.h>

#include "sim/base/sim_json.h"
#include "obj.h"
#include "openshift_private.h"
#include "openshift_release.h"
#include "sim/cluster/sim_cluster.h"

enum { NAME_LEN = 32 };

static json_t *make_sources(struct rollout *, const char *);
static void dress(struct rollout *, json_t *, enum rollout_role);
static const char *settled_config(const struct rollout *, enum rollout_role);

void
rollout_make_pool(struct rollout *r, const char *name, json_t *selector, json_t *max_unavailable)
{
	char config[CONFIG_NAME_MAX];
	json_t *const sources = make_sources(r, name);

	config_rendered_name(name, ++r->serial, config);
	rollout_put_new(r, r->config_store, config_rendered(config, r->version));
	json_t *const pool = pool_new(name, selector, max_unavailable, config);
	pool_set_target(pool, config, sources);
	rollout_put_new(r, r->pool_store, pool);
	json_decref(sources);
}

size_t
rollout_give_roles(struct rollout *r, const size_t wanted[ROLES])
{
	size_t have[ROLES] = { 0 }, made = 0;

	/* By name: the first ones are the masters, as in most clusters. */
	for (size_t i = 0; i < r->nnodes; i++) {
		json_t *const node = rollout_get(r->node_store, r->nodes[i].name);
		enum rollout_role role = 0;

		while (role < ROLE_WORKER && have[role] == wanted[role])
			role++;
		have[role]++;
		dress(r, node, role);
		rollout_put(r, r->node_store, node, false);
	}
	for (enum rollout_role role = 0; role < ROLES; role++) {
		if (have[role] < wanted[role])
			made += rollout_make_nodes(r, role, wanted[role] - have[role]);
	}
	return r->nnodes + made;
}

size_t
rollout_make_nodes(struct rollout *r, enum rollout_role role, size_t n)
{
	size_t number = 0;

	for (size_t i = 0; i < n; i++) {
		char name[NAME_LEN];

		do
			snprintf(name, sizeof(name), "%s-%02zu", role_name(role), number++);
		while (storage_get(r->node_store, name) != NULL);
		json_t *const node = world_node(r->sim->world, name);
		dress(r, node, role);
		rollout_put(r, r->node_store, node, false);
	}
	return n;
}

static void
dress(struct rollout *r, json_t *node, enum rollout_role role)
{
	node_set_role(node, role);
	node_join(node, settled_config(r, role));
}

/* Of the pool of that role, or of the workers' where it has none. */
static const char *
settled_config(const struct rollout *r, enum rollout_role role)
{
	const char *config = "";

	for (size_t i = 0; i < r->npools; i++) {
		const struct rollout_pool *const p = &r->pools[i];

		if (strcmp(p->name, role_name(role)) == 0)
			return p->settled;
		if (strcmp(p->name, "worker") == 0)
			config = p->settled;
	}
	return config;
}

/* As the pool's configuration.source names them; those that are there are left alone. */
static json_t *
make_sources(struct rollout *r, const char *role)
{
	json_t *const names = json_array(), *source;

	for (size_t i = 0; (source = config_source(role, i)) != NULL; i++) {
		const char *const name = json_text_at(source, "metadata.name");

		json_array_append_new(names, json_pack("{s:s, s:s, s:s}", "apiVersion", MCO_GROUP "/v1",
		    "kind", "MachineConfig", "name", name));
		if (storage_get(r->config_store, name) == NULL)
			rollout_put_new(r, r->config_store, json_incref(source));
		json_decref(source);
	}
	return names;
}
