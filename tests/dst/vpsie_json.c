/* tests/dst/vpsie_json.c - answers of the modelled VPSie API: VMs, a cluster with its nodes, its groups. */
#include <stdio.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"
#include "world_vpsie.h"

enum { DATACENTER = 5, NODE_ID_BASE = 7700000, BLINK_MS = 8 * 1000 };
#define DATACENTER_UUID	"dc-5"

static bool shows(const struct vpw *, uint32_t, int64_t);
static json_t *node_json(struct vpw *, uint32_t);
static void put_addresses(struct vpw *, const struct vpw_machine *, json_t *, bool);
static json_t *time_json(const struct vpw_machine *, bool);
static int64_t size_of(const struct vpw *, const struct vpw_machine *);
static int cpus(int64_t);
static const char *status_of(const struct vpw *, const struct vpw_machine *);

/* limit: only the first so many machines. */
json_t *
vpw_vms_json(struct vpw *w, uint32_t limit)
{
	json_t *const list = json_array();

	for (uint32_t i = 0, n = 0; i < w->nmachines; i++) {
		if (!vpw_is_listed(w, i) || n++ >= limit || !shows(w, i, w->machines[i].vm_ms))
			continue;
		json_array_append_new(list, vpw_vm_json(w, i));
	}
	return list;
}

json_t *
vpw_vm_json(struct vpw *w, uint32_t machine)
{
	const struct vpw_machine *const m = &w->machines[machine];
	const int64_t size = size_of(w, m);

	json_t *const vm = json_pack(
	    "{s:i, s:s, s:s, s:i, s:i, s:i, s:I, s:i, s:s, s:i, s:o}", "id",
	    VPW_VM_BASE + (int)machine, "identifier", m->uuid, "hostname", m->hostname, "cpu", cpus(size),
	    "ram",
	    4096, "ssd", 80, "boxsize_id", (json_int_t)size, "datacenter_id", DATACENTER, "dcIdentifier",
	    DATACENTER_UUID, "is_deleted", 0, "created_on", time_json(m, false));
	put_addresses(w, m, vm, true);
	if (w->vm_status)
		json_object_set_new(vm, "status", json_string(status_of(w, m)));
	return vm;
}

json_t *
vpw_cluster_json(struct vpw *w, uint32_t limit)
{
	json_t *const nodes = json_array();
	int workers = 0;

	for (uint32_t i = 0, n = 0; i < w->nmachines; i++) {
		const struct vpw_machine *const m = &w->machines[i];

		workers += m->group != VPW_NONE && !m->control_plane && !m->deleted
		    && m->made_ms <= w->h.sim->now_ms;
		if (!vpw_is_listed(w, i) || n++ >= limit || !shows(w, i, m->listed_ms))
			continue;
		json_array_append_new(nodes, node_json(w, i));
	}
	json_t *const cluster =
	    json_pack("{s:s, s:s, s:o}", "identifier", VPW_CLUSTER, "cluster_name", "dst", "nodes", nodes);
	if (w->counts)
		json_object_set_new(cluster, "slaveCount", json_integer(workers));
	return cluster;
}

/* Two vendor types, and one with everything. */
static json_t *
node_json(struct vpw *w, uint32_t machine)
{
	const struct vpw_machine *const m = &w->machines[machine];

	json_t *const node = json_pack("{s:s}", "hostname", m->hostname);
	put_addresses(w, m, node, false);
	if (w->node_view != 2)
		json_object_update_new(node, json_pack("{s:i, s:i, s:i, s:o}", "id",
		    NODE_ID_BASE + (int)machine, "node_type", m->control_plane ? 1 : 2, "datacenter_id",
		    DATACENTER, "created_on", time_json(m, true)));
	if (w->node_view != 1)
		json_object_update_new(node, json_pack("{s:s, s:s, s:s, s:i, s:i, s:i}", "identifier",
		    m->uuid, "status", status_of(w, m), "role", m->control_plane ? "master" : "slave", "cpu",
		    cpus(size_of(w, m)), "ram", 4096, "disk", 80));
	else if (m->control_plane)
		json_object_set_new(node, "role", json_string("master"));
	return node;
}

json_t *
vpw_groups_json(struct vpw *w)
{
	json_t *const list = json_array();

	for (uint32_t i = 0; i < w->nplatform; i++) {
		const struct vpw_platform *const p = &w->platform[i];

		if (p->listed_ms > w->h.sim->now_ms)
			continue;
		json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:I, s:i, s:s, s:i, s:i, s:i}", "id",
		    VPW_GROUP_BASE + (int)i, "group_name", p->name, "identifier", p->name, "boxsize_id",
		    (json_int_t)p->size, "datacenter_id", DATACENTER, "dcIdentifier", DATACENTER_UUID, "cpu",
		    cpus(p->size), "ram", 4096, "is_deleted", 0));
	}
	return list;
}

bool
vpw_is_listed(const struct vpw *w, uint32_t machine)
{
	const struct vpw_machine *const m = &w->machines[machine];

	return shows(w, machine, m->vm_ms) || shows(w, machine, m->listed_ms);
}

/* In a list that has it from then on. */
static bool
shows(const struct vpw *w, uint32_t machine, int64_t from_ms)
{
	const struct vpw_machine *const m = &w->machines[machine];
	const int64_t now_ms = w->h.sim->now_ms;
	const int64_t blinks_for_ms = m->blinks_ms != 0 ? now_ms - m->blinks_ms : -1;
	const bool blinks = blinks_for_ms >= 0 && blinks_for_ms < BLINK_MS;

	return from_ms <= now_ms && !blinks && (!m->deleted || m->until_ms > now_ms);
}

static void
put_addresses(struct vpw *w, const struct vpw_machine *m, json_t *to, bool vm)
{
	const bool settled = w->h.sim->now_ms >= m->settled_ms;
	char public[VPW_TEXT_MAX] = "", private[VPW_TEXT_MAX] = "", v6[VPW_TEXT_MAX] = "";

	if (w->h.sim->now_ms >= m->ip_ms) {
		vpw_address(public, m, 0, settled);
		vpw_address(private, m, 1, settled);
		vpw_address(v6, m, 2, settled);
	}
	if (vm || w->node_view != 2) {
		json_object_set_new(to, "default_ip", json_string(public));
		json_object_set_new(
		    to, "private_ip", private[0] != '\0' ? json_string(private) : json_null());
	} else {
		json_object_set_new(to, "ip", json_string((m - w->machines) % 2 == 0 ? public : private));
	}
	if (vm)
		json_object_set_new(to, "default_ipv6", json_string(v6));
}

/* The provider's clock is right. */
static json_t *
time_json(const struct vpw_machine *m, bool rfc3339)
{
	char text[TIME_TEXT_MAX];
	const int64_t made_us = (RUNTIME_EPOCH_MS + m->made_ms) * 1000;
	const size_t len = time_format(made_us / 1000000 * 1000000, text, sizeof(text));

	if (!rfc3339) {
		*strchr(text, 'T') = ' ';
		text[len - 1] = '\0';
	}
	return json_string(text);
}

static int64_t
size_of(const struct vpw *w, const struct vpw_machine *m)
{
	return m->group != VPW_NONE ? w->platform[m->group].size : VPW_HUMAN_SIZE;
}

static int
cpus(int64_t size)
{
	return size == 12 ? 2 : size == 13 ? 4 : 8;
}

static const char *
status_of(const struct vpw *w, const struct vpw_machine *m)
{
	return m->deleted ? "deleting" : m->stopped ? "stopped"
	    : m->runs_ms > w->h.sim->now_ms	    ? "provisioning"
						    : "running";
}
