/* sim/linode/sim_linode_json.c - clusters, pools, nodes and instances as the API shows them. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_linode_private.h"

/* NULL: in no list of instances. */
static const char *const status_of[MACHINE_STATES] = {
	[MACHINE_BOOTING] = "provisioning", [MACHINE_RUNNING] = "running", [MACHINE_JOINED] = "running",
	[MACHINE_READY] = "running", [MACHINE_DEAD] = "offline", [MACHINE_DELETING] = "deleting",
};

static bool is_ready(const struct linode *, const struct linode_node *);
static json_t *addresses_of(const struct sim_machine *);

json_t *
linode_cluster_json(const struct linode_cluster *c)
{
	return json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:{s:b}, s:b, s:O, s:[]}", "id",
	    (json_int_t)c->id, "status", "ready", "created", c->created, "updated", c->created, "label",
	    c->label, "region", c->region, "k8s_version", c->k8s_version, "tier",
	    c->enterprise ? "enterprise" : "standard", "control_plane", "high_availability", c->enterprise,
	    "apl_enabled", 0, "tags", c->tags, "locks");
}

json_t *
linode_pool_json(const struct linode *l, const struct linode_pool *p)
{
	const int64_t now_ms = sim_machines_now_ms(l->machines);
	const int64_t lag_ms = p->cluster->enterprise ? l->settings.nodes_lag_ms : 0;
	json_t *const nodes = json_array();

	for (size_t i = 0; i < l->nnodes; i++) {
		if (l->nodes[i]->pool == p && now_ms - l->nodes[i]->since_ms >= lag_ms)
			json_array_append_new(nodes, linode_node_json(l, l->nodes[i]));
	}
	json_t *const pool = json_pack(
	    "{s:I, s:s, s:s, s:I, s:o, s:[], s:{s:b, s:I, s:I}, s:O, s:O, s:O, s:s}",
	    "id", (json_int_t)p->id, "type", p->type, "label", p->label, "count", (json_int_t)p->count,
	    "nodes", nodes, "disks", "autoscaler", "enabled", 0, "min", (json_int_t)p->least, "max",
	    (json_int_t)p->most, "labels", p->labels, "taints", p->taints, "tags", p->tags,
	    "disk_encryption", p->cluster->enterprise ? "disabled" : "enabled");
	if (!p->cluster->enterprise) {
		json_object_set_new(pool, "locks", json_array());
		return pool;
	}
	json_object_set_new(pool, "k8s_version", json_string(p->k8s_version));
	json_object_set_new(pool, "update_strategy", json_string(p->update_strategy));
	json_object_set_new(pool, "firewall_id", p->firewall_id != NULL ? json_incref(p->firewall_id)
	    : json_null());
	return pool;
}

json_t *
linode_node_json(const struct linode *l, const struct linode_node *n)
{
	const struct sim_machine *const m = linode_machine(l, n);
	json_t *const instance = m == NULL || m->state == MACHINE_ORDERED ? json_null()
	    : json_integer((json_int_t)linode_instance_id(n));

	return json_pack("{s:s, s:o, s:s}", "id", n->id, "instance_id", instance, "status",
	    is_ready(l, n) ? "ready" : "not_ready");
}

json_t *
linode_instance_json(const struct linode *l, const struct linode_node *n)
{
	const struct sim_machine *const m = linode_machine(l, n);
	const json_t *const type = linode_find_type(n->type);
	json_t *const instance = json_pack(
	    "{s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:n, s:s, s:s, s:O, s:b, s:n}",
	    "id", (json_int_t)linode_instance_id(n), "label", n->label, "group", "", "status",
	    status_of[m->state], "created", n->created, "updated", n->created, "type", n->type, "ipv4",
	    addresses_of(m), "image", "region", n->cluster->region, "site_type", "core", "tags", n->tags,
	    "has_user_data", 0, "placement_group");

	json_object_set_new(instance, "ipv6", json_sprintf("2001:db8::%llx/128", (unsigned long long)m->id));
	json_object_set_new(instance, "specs", json_pack("{s:I, s:I, s:I, s:I, s:I, s:i}", "disk",
	    sim_json_int_at(type, "disk", 0), "memory", sim_json_int_at(type, "memory", 0), "vcpus",
	    sim_json_int_at(type, "vcpus", 0), "gpus", sim_json_int_at(type, "gpus", 0), "transfer",
	    sim_json_int_at(type, "transfer", 0), "accelerated_devices", 0));
	json_object_set_new(instance, "alerts", json_pack("{s:i, s:i, s:i, s:i, s:i}", "cpu", 90,
	    "network_in", 10, "network_out", 10, "transfer_quota", 80, "io", 10000));
	json_object_set_new(instance, "backups", json_pack("{s:b, s:b, s:{s:n, s:n}, s:n}", "enabled", 0,
	    "available", 0, "schedule", "day", "window", "last_successful"));
	json_object_set_new(instance, "hypervisor", json_string("kvm"));
	json_object_set_new(instance, "watchdog_enabled", json_true());
	json_object_set_new(instance, "host_uuid", json_string(n->label));
	json_object_set_new(instance, "disk_encryption", json_string("enabled"));
	json_object_set_new(instance, "lke_cluster_id", json_integer((json_int_t)n->cluster->id));
	json_object_set_new(instance, "capabilities", json_pack("[s]", "Block Storage Encryption"));
	json_object_set_new(instance, "interface_generation", json_string("legacy_config"));
	json_object_set_new(instance, "maintenance_policy", json_string("linode/power_off_on"));
	return instance;
}

json_t *
linode_pools_json(const struct linode *l, const struct linode_cluster *c)
{
	json_t *const list = json_array();

	for (size_t i = 0; i < l->npools; i++) {
		if (l->pools[i]->cluster == c)
			json_array_append_new(list, linode_pool_json(l, l->pools[i]));
	}
	return list;
}

json_t *
linode_instances_json(const struct linode *l)
{
	json_t *const list = json_array();

	for (size_t i = 0; i < l->nnodes; i++) {
		const struct sim_machine *const m = linode_machine(l, l->nodes[i]);

		if (m != NULL && status_of[m->state] != NULL)
			json_array_append_new(list, linode_instance_json(l, l->nodes[i]));
	}
	return list;
}

/* In UTC, without a zone. */
const char *
linode_now(char buf[LINODE_TIME_MAX])
{
	const time_t now = (time_t)(clock_wall_ms() / 1000);
	struct tm tm;

	MUST(gmtime_r(&now, &tm) != NULL);
	strftime(buf, LINODE_TIME_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	return buf;
}

/* Without Nodes there is nothing to wait for but the machine. */
static bool
is_ready(const struct linode *l, const struct linode_node *n)
{
	const struct sim_machine *const m = linode_machine(l, n);

	return m != NULL && m->state == (l->join ? MACHINE_READY : MACHINE_RUNNING);
}

static json_t *
addresses_of(const struct sim_machine *m)
{
	return m->public_ip[0] == '\0' ? json_array() : json_pack("[s, s]", m->public_ip, m->private_ip);
}
