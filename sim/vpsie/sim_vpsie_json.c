/* sim/vpsie/sim_vpsie_json.c - the objects of the VPSie API as its answers have them. */
#include <stdio.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/sim_options.h"
#include "sim_vpsie_private.h"

enum { NODE_ID_BASE = 7700000, MASTER_ID_BASE = 7600000 };

/* The addresses of a worker as the lists have them now; "": none. */
struct shown_addresses {
	char	public[16], private[16], v6[40];
};

static struct shown_addresses addresses_of(const struct vpsie *, const struct vpsie_worker *);
static json_t *node_json(const struct vpsie *, const struct vpsie_worker *);
static json_t *master_json(const struct vpsie *, const struct vpsie_cluster *);
static json_t *as_sdk(json_t *);
static json_t *as_autoscaler(json_t *);
static json_t *keep_members(json_t *, const char *const *);
static int64_t count_nodes(const struct vpsie *, int64_t, int64_t);
static int64_t created_us(const struct vpsie *, const struct vpsie_worker *);
static json_t *time_json(const struct vpsie *, int64_t, bool);
static int64_t datacenter_number(const char *);

/* The vendor's own VM type has no status; clients that map one find it where `vm_status` is set. */
const char *
vpsie_status(const struct sim_machine *m)
{
	static const char *const status_of[MACHINE_STATES] = {
		[MACHINE_GONE] = "", [MACHINE_ORDERED] = "provisioning", [MACHINE_BOOTING] = "provisioning",
		[MACHINE_RUNNING] = "running", [MACHINE_JOINED] = "running", [MACHINE_READY] = "running",
		[MACHINE_DEAD] = "stopped", [MACHINE_DELETING] = "deleting",
	};

	return status_of[m->state];
}

/* Times of VMs have another form than those of clusters, as their types in the SDK differ. */
json_t *
vpsie_vm_json(const struct vpsie *v, const struct vpsie_worker *w)
{
	const struct sim_machine *const m = vpsie_machine(v, w);
	const struct shown_addresses a = addresses_of(v, w);
	const struct vpsie_cluster *const home = w->cluster != NULL ? w->cluster : v->clusters[0];
	const bool runs = strcmp(vpsie_status(m), "running") == 0, deleted = m->state == MACHINE_DELETING;
	const struct vpsie_size *const size = w->size;

	json_t *const vm = json_pack("{s:I, s:s, s:i, s:s, s:s, s:s, s:o}", "id", (json_int_t)vpsie_vm_id(w),
	    "identifier", w->identifier, "user_id", 9, "hostname", w->hostname, "default_ip", a.public,
	    "default_ipv6", a.v6, "private_ip", a.private[0] != '\0' ? json_string(a.private) : json_null());
	json_object_update_new(vm, json_pack("{s:I, s:I, s:I, s:I, s:I, s:i, s:I, s:s, s:i, s:i}", "cpu",
	    (json_int_t)size->cpu, "ram", (json_int_t)size->ram, "ssd", (json_int_t)size->ssd, "traffic",
	    (json_int_t)size->traffic, "boxsize_id", (json_int_t)size->id, "boximage_id", 3, "datacenter_id",
	    (json_int_t)datacenter_number(home->datacenter), "dcIdentifier", home->datacenter, "node_id", 77,
	    "projectId", 4));
	json_object_update_new(vm, json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:s, s:n, s:o, s:o, s:n}",
	    "power", (int)runs, "is_active", (int)!deleted, "is_deleted", (int)deleted, "is_locked", 0,
	    "is_suspended", 0, "is_terminated", 0, "state", "Illinois", "category", "k8s", "notes",
	    "created_on", time_json(v, created_us(v, w), false), "last_updated",
	    time_json(v, created_us(v, w), false), "dropped_on"));
	if (v->settings.vm_status != 0)
		json_object_set_new(vm, "status", json_string(vpsie_status(m)));
	return vm;
}

json_t *
vpsie_vms_json(const struct vpsie *v)
{
	json_t *const list = json_array();

	for (size_t i = 0; i < v->nworkers; i++) {
		const struct vpsie_worker *const w = v->workers[i];
		const struct sim_machine *const m = vpsie_machine(v, w);

		if (m != NULL && m->state != MACHINE_ORDERED && !w->manner.hide_vm)
			json_array_append_new(list, vpsie_vm_json(v, w));
	}
	return list;
}

json_t *
vpsie_group_json(const struct vpsie *v, const struct vpsie_group *g)
{
	json_t *const group = json_pack("{s:I, s:s, s:s, s:i, s:I, s:I, s:s}", "id", (json_int_t)g->id,
	    "group_name", g->name, "identifier", g->identifier, "user_id", 9, "boxsize_id",
	    (json_int_t)g->size->id, "datacenter_id", (json_int_t)datacenter_number(g->cluster->datacenter),
	    "dcIdentifier", g->cluster->datacenter);

	json_object_update_new(group, json_pack("{s:I, s:I, s:I, s:I, s:n, s:I, s:I, s:i}", "ram",
	    (json_int_t)g->size->ram, "cpu", (json_int_t)g->size->cpu, "ssd", (json_int_t)g->size->ssd,
	    "traffic", (json_int_t)g->size->traffic, "notes", "nodes_count",
	    (json_int_t)count_nodes(v, g->id, v->settings.nodes_count_lag_ms), "cluster_id",
	    (json_int_t)g->cluster->number, "project_id", 4));
	json_object_update_new(group, json_pack("{s:i, s:i, s:o, s:o, s:n}", "is_active", 1, "is_deleted", 0,
	    "created_on", time_json(v, g->created_us, true), "last_updated",
	    time_json(v, g->created_us, true), "dropped_on"));
	return group;
}

json_t *
vpsie_groups_json(const struct vpsie *v, const struct vpsie_cluster *c)
{
	const int64_t now_ms = sim_machines_now_ms(v->machines);
	json_t *const list = json_array();

	for (size_t i = 0; i < v->ngroups; i++) {
		const struct vpsie_group *const g = v->groups[i];

		if (g->cluster == c && now_ms - g->since_ms >= v->settings.groups_lag_ms)
			json_array_append_new(list, vpsie_group_json(v, g));
	}
	return list;
}

json_t *
vpsie_cluster_json(const struct vpsie *v, const struct vpsie_cluster *c, bool with_nodes)
{
	json_t *const masters = json_array(), *const slaves = json_array();
	int64_t workers = 0;

	json_array_append_new(masters, master_json(v, c));
	for (size_t i = 0; i < v->nworkers; i++) {
		if (v->workers[i]->cluster != c || !vpsie_exists(v, v->workers[i]))
			continue;
		workers++;
		if (v->settings.nodes_max == 0 || workers <= v->settings.nodes_max)
			json_array_append_new(slaves, node_json(v, v->workers[i]));
	}
	json_t *const cluster = json_pack("{s:s, s:s, s:i, s:I, s:s, s:s, s:i, s:i, s:i}", "identifier",
	    c->identifier, "cluster_name", c->name, "user_id", 9, "count", (json_int_t)workers + 1,
	    "kube_version", "1.35.1", "nickname", c->name, "cpu", 2, "ram", 4096, "traffic", 3000);
	json_object_update_new(cluster, json_pack("{s:s, s:i, s:i, s:i, s:n, s:n, s:i, s:I, s:o, s:o}",
	    "color", "#336699", "price", 20, "lock", 0, "created_by", 9, "upgrade_version", "lb_id",
	    "managerCount", 1, "slaveCount", (json_int_t)workers, "created_on",
	    time_json(v, c->created_us, true), "updated_on", time_json(v, c->created_us, true)));
	if (with_nodes && v->settings.nodes_form == NODES_OF_AUTOSCALER) {
		json_object_set_new(cluster, "masters", as_autoscaler(masters));
		json_object_set_new(cluster, "slaves", as_autoscaler(slaves));
		return cluster;
	}
	json_array_extend(masters, slaves);
	json_decref(slaves);
	if (with_nodes && v->settings.nodes_form == NODES_OF_SDK)
		json_object_set_new(cluster, "nodes", as_sdk(masters));
	else if (with_nodes)
		json_object_set_new(cluster, "nodes", masters);
	else
		json_decref(masters);
	return cluster;
}

/* What the SDK and the autoscaler each read, in one. The `id` of a node is not that of its VM. */
static json_t *
node_json(const struct vpsie *v, const struct vpsie_worker *w)
{
	const struct shown_addresses a = addresses_of(v, w);
	const struct vpsie_size *const size = w->size;
	json_t *const node = json_pack("{s:I, s:i, s:s, s:s, s:o, s:s, s:i, s:i, s:I}", "id",
	    (json_int_t)NODE_ID_BASE + (json_int_t)w->machine, "user_id", 9, "hostname", w->hostname,
	    "default_ip", a.public, "private_ip",
	    a.private[0] != '\0' ? json_string(a.private) : json_null(), "ip", a.public, "node_type", 2,
	    "node_id", 77, "datacenter_id", (json_int_t)datacenter_number(w->cluster->datacenter));

	json_object_update_new(node, json_pack("{s:s, s:s, s:I, s:I, s:I, s:o}", "status",
	    vpsie_status(vpsie_machine(v, w)), "role", "slave", "cpu", (json_int_t)size->cpu, "ram",
	    (json_int_t)size->ram, "disk", (json_int_t)size->ssd, "created_on",
	    time_json(v, created_us(v, w), true)));
	if (!w->manner.hide_identifier)
		json_object_set_new(node, "identifier", json_string(w->identifier));
	return node;
}

static json_t *
master_json(const struct vpsie *v, const struct vpsie_cluster *c)
{
	json_t *const node = json_pack("{s:I, s:i, s:s, s:o, s:o, s:i, s:i, s:I}", "id",
	    (json_int_t)MASTER_ID_BASE + (json_int_t)c->number, "user_id", 9, "identifier", c->master,
	    "hostname", json_sprintf("k8s-master-%s-%lld", c->name, (long long)c->number), "ip",
	    json_sprintf("198.19.0.%lld", (long long)c->number), "node_type", 1, "node_id", 77,
	    "datacenter_id", (json_int_t)datacenter_number(c->datacenter));

	json_object_update_new(node, json_pack("{s:O, s:n, s:s, s:s, s:i, s:i, s:i, s:o}", "default_ip",
	    json_object_get(node, "ip"), "private_ip", "status", "running", "role", "master", "cpu", 2, "ram",
	    4096, "disk", 80, "created_on", time_json(v, c->created_us, true)));
	return node;
}

/* As the SDK's type has them. Takes the list; a new reference. */
static json_t *
as_sdk(json_t *nodes)
{
	static const char *const members[] = { "id", "user_id", "hostname", "default_ip", "private_ip",
		"node_type", "node_id", "datacenter_id", "created_on", NULL };

	return keep_members(nodes, members);
}

static json_t *
as_autoscaler(json_t *nodes)
{
	static const char *const members[] = { "identifier", "hostname", "ip", "status", "role", "cpu", "ram",
		"disk", NULL };

	return keep_members(nodes, members);
}

static json_t *
keep_members(json_t *list, const char *const *members)
{
	json_t *const out = json_array();
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one) {
		json_t *const kept = json_object();

		for (size_t k = 0; members[k] != NULL; k++) {
			if (json_object_get(one, members[k]) != NULL)
				json_object_set(kept, members[k], json_object_get(one, members[k]));
		}
		json_array_append_new(out, kept);
	}
	json_decref(list);
	return out;
}

/* The addresses come late, and another one may come first. Then they are those of the Node. */
static struct shown_addresses
addresses_of(const struct vpsie *v, const struct vpsie_worker *w)
{
	const struct sim_machine *const m = vpsie_machine(v, w);
	const int64_t runs_for_ms = sim_machines_now_ms(v->machines) - m->since_ms[MACHINE_RUNNING];
	struct shown_addresses a = { .public = "" };

	if (m->public_ip[0] == '\0' || runs_for_ms < w->manner.ip_lag_ms)
		return a;
	if (runs_for_ms < w->manner.ip_lag_ms + w->manner.ip_settle_ms) {
		snprintf(a.public, sizeof(a.public), "198.51.100.%u", (unsigned)(m->id & 255));
		return a;
	}
	memcpy(a.public, m->public_ip, sizeof(a.public));
	memcpy(a.private, m->private_ip, sizeof(a.private));
	snprintf(a.v6, sizeof(a.v6), "2001:db8::%llx", (unsigned long long)m->id);
	return a;
}

/* Of the group; those that are younger than the lag do not count yet. */
static int64_t
count_nodes(const struct vpsie *v, int64_t group, int64_t lag_ms)
{
	const int64_t now_ms = sim_machines_now_ms(v->machines);
	int64_t n = 0;

	for (size_t i = 0; i < v->nworkers; i++) {
		const struct vpsie_worker *const w = v->workers[i];

		n += w->group == group && vpsie_exists(v, w)
		    && now_ms - vpsie_machine(v, w)->since_ms[MACHINE_BOOTING] >= lag_ms;
	}
	return n;
}

/* A machine is made when its order is carried out; of one that is not, when it was ordered. */
static int64_t
created_us(const struct vpsie *v, const struct vpsie_worker *w)
{
	const struct sim_machine *const m = vpsie_machine(v, w);
	const int64_t waited_ms = m->since_ms[MACHINE_BOOTING] - m->since_ms[MACHINE_ORDERED];

	return w->ordered_us
	    + (waited_ms > 0 ? (int64_t)((double)waited_ms * 1000 / v->sim->options->speed) : 0);
}

/* "2026-01-09T10:01:00Z", or "2026-01-09 10:01:00". */
static json_t *
time_json(const struct vpsie *v, int64_t us, bool rfc3339)
{
	char text[TIME_TEXT_MAX];

	const size_t len = time_format(us + v->settings.clock_offset_s * 1000000, text, sizeof(text));
	if (!rfc3339) {
		*strchr(text, 'T') = ' ';
		text[len - 1] = '\0';
	}
	return json_string(text);
}

/* The last digit of its identifier: enough for the few that there are. */
static int64_t
datacenter_number(const char *identifier)
{
	return identifier[strlen(identifier) - 1] - '0';
}

json_t *
vpsie_state_json(const struct vpsie *v)
{
	json_t *const clusters = json_array(), *const groups = json_array(), *const workers = json_array();

	for (size_t i = 0; i < v->nclusters; i++)
		json_array_append_new(clusters, json_pack("{s:s, s:s, s:s}", "identifier",
		    v->clusters[i]->identifier, "name", v->clusters[i]->name, "datacenter",
		    v->clusters[i]->datacenter));
	for (size_t i = 0; i < v->ngroups; i++)
		json_array_append_new(groups, json_pack("{s:I, s:s, s:s, s:I, s:I}", "id",
		    (json_int_t)v->groups[i]->id, "name", v->groups[i]->name, "cluster",
		    v->groups[i]->cluster->identifier, "size", (json_int_t)v->groups[i]->size->id, "nodes",
		    (json_int_t)count_nodes(v, v->groups[i]->id, 0)));
	for (size_t i = 0; i < v->nworkers; i++) {
		const struct vpsie_worker *const w = v->workers[i];
		const struct sim_machine *const m = vpsie_machine(v, w);

		json_t *const one = json_pack("{s:I, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:s, s:b}", "id",
		    (json_int_t)vpsie_vm_id(w), "identifier", w->identifier, "hostname", w->hostname, "node",
		    m->name, "cluster", w->cluster != NULL ? w->cluster->identifier : "", "group",
		    (json_int_t)w->group, "machine", sim_machine_state_name(m->state), "public_ip",
		    m->public_ip, "private_ip", m->private_ip, "in_vms", (int)!w->manner.hide_vm);
		json_object_set_new(one, "vm", vpsie_vm_json(v, w));
		json_array_append_new(workers, one);
	}
	return json_pack("{s:o, s:o, s:o}", "clusters", clusters, "groups", groups, "workers", workers);
}
