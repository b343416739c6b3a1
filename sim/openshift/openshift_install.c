/*
 * sim/openshift/openshift_install.c - the OpenShift at its beginning: pools, configs, and Nodes
 * with roles.
 */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "openshift_private.h"
#include "openshift_release.h"
#include "sim/base/sim_json.h"
#include "sim/cluster/sim_cluster.h"

enum { NAME_LEN = 32 };

static json_t *make_sources(struct openshift *, const char *);
static void dress(struct openshift *, json_t *, enum openshift_role);
static const char *settled_config(const struct openshift *, enum openshift_role);

void
openshift_make_pool(struct openshift *r, const char *name, json_t *selector, json_t *max_unavailable)
{
	char config[CONFIG_NAME_MAX];
	json_auto_t *sources = make_sources(r, name);

	openshift_config_rendered_name(name, ++r->serial, config);
	openshift_create(r, r->config_store, openshift_config_rendered(config, r->version));
	json_t *const pool = openshift_pool_new(name, selector, max_unavailable, config);
	openshift_pool_set_target(pool, config, sources);
	openshift_create(r, r->pool_store, pool);
}

size_t
openshift_give_roles(struct openshift *r, const size_t wanted[ROLES])
{
	size_t have[ROLES] = { 0 }, made = 0;

	/* By name: the first ones are the masters, as in most clusters. */
	for (size_t i = 0; i < r->nnodes; i++) {
		json_t *const node = openshift_get(r->node_store, r->nodes[i].name);
		enum openshift_role role = 0;

		while (role < ROLE_WORKER && have[role] == wanted[role])
			role++;
		have[role]++;
		dress(r, node, role);
		openshift_put(r, r->node_store, node, false);
	}
	for (enum openshift_role role = 0; role < ROLES; role++) {
		if (have[role] < wanted[role])
			made += openshift_make_nodes(r, role, wanted[role] - have[role]);
	}
	return r->nnodes + made;
}

size_t
openshift_make_nodes(struct openshift *r, enum openshift_role role, size_t n)
{
	size_t number = 0;

	for (size_t i = 0; i < n; i++) {
		char name[NAME_LEN];

		do
			snprintf(name, sizeof(name), "%s-%02zu", openshift_role_name(role), number++);
		while (sim_storage_get(r->node_store, name) != NULL);
		json_t *const node = sim_cluster_node(r->sim->cluster, name);
		dress(r, node, role);
		openshift_put(r, r->node_store, node, false);
	}
	return n;
}

static void
dress(struct openshift *r, json_t *node, enum openshift_role role)
{
	openshift_node_set_role(node, role);
	openshift_node_join(node, settled_config(r, role));
}

/* Of the pool of that role, or of the workers' where it has none. */
static const char *
settled_config(const struct openshift *r, enum openshift_role role)
{
	const char *config = "";

	for (size_t i = 0; i < r->npools; i++) {
		const struct openshift_pool *const p = &r->pools[i];

		if (strcmp(p->name, openshift_role_name(role)) == 0)
			return p->settled;
		if (strcmp(p->name, "worker") == 0)
			config = p->settled;
	}
	return config;
}

/* As the pool's configuration.source names them; those that are there are left alone. */
static json_t *
make_sources(struct openshift *r, const char *role)
{
	json_t *const names = json_array(), *source;

	for (size_t i = 0; (source = openshift_config_source(role, i)) != NULL; i++) {
		const char *const name = sim_json_text_at(source, "metadata.name");

		json_array_append_new(names, json_pack("{s:s, s:s, s:s}", "apiVersion", MCO_GROUP "/v1",
		    "kind", "MachineConfig", "name", name));
		if (sim_storage_get(r->config_store, name) == NULL)
			openshift_create(r, r->config_store, json_incref(source));
		json_decref(source);
	}
	return names;
}
