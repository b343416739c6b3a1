/* sim/machines/sim_machine_nodes.c - a machine's Node: what its kubelet and the cloud controller write. */
#include "sim_machine_nodes.h"

#include <event2/event.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/cluster/sim_cluster.h"
#include "sim/cluster/sim_node.h"
#include "sim/kube/store/sim_store.h"
#include "sim/sim_options.h"

#define NOT_READY	"node.kubernetes.io/not-ready"

enum { TICK_MS = 25 };

struct sim_machine_nodes {
	uint32_t		 magic;
#define NODES_MAGIC	0x4d4e4f44u
	struct simulator	*sim;
	struct sim_storage	*nodes;
	struct sim_machines	*machines;
	struct event		*timer;
	double			 elapsed_ms;	/* of the simulated time, less than 1: not advanced yet */
};

typedef void node_fn(json_t *node, const struct sim_machine *m, const char *now);
static node_fn join, become_ready, stop;

/* The change to the Node with which a state begins; NULL: none. */
static node_fn *const changes[MACHINE_STATES] = {
	[MACHINE_JOINED] = join, [MACHINE_READY] = become_ready, [MACHINE_DEAD] = stop,
	[MACHINE_DELETING] = stop,
};

static void keep_general_labels(json_t *);
static void on_tick(evutil_socket_t, short, void *);
static void on_change(void *, const struct sim_machine *);

struct sim_machine_nodes *
sim_machine_nodes_new(struct simulator *s, const int64_t lasts_ms[MACHINE_STATES])
{
	struct sim_machine_nodes *n;

	OBJ_NEW(n, NODES_MAGIC);
	struct sim_machines_settings settings = { .seed = s->seed, .changed = on_change, .arg = n };
	memcpy(settings.lasts_ms, lasts_ms, sizeof(settings.lasts_ms));
	n->sim = s;
	n->nodes = sim_store_storage(s->store, "", "nodes");
	n->machines = sim_machines_new(&settings);
	n->timer = event_new(s->base, -1, EV_PERSIST, on_tick, n);
	MUST(n->timer != NULL);
	event_add(n->timer, &(struct timeval){ .tv_usec = TICK_MS * 1000 });
	return n;
}

void
sim_machine_nodes_free(struct sim_machine_nodes **np)
{
	struct sim_machine_nodes *n;

	if (*np == NULL)
		return;
	OBJ_TAKE(n, np, NODES_MAGIC);
	event_free(n->timer);
	sim_machines_free(&n->machines);
	OBJ_FREE(n);
}

struct sim_machines *
sim_machine_nodes_machines(const struct sim_machine_nodes *n)
{
	return n->machines;
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct sim_machine_nodes *const n = arg;

	(void)fd;
	(void)what;
	n->elapsed_ms += TICK_MS * n->sim->options->speed;
	const int64_t whole_ms = (int64_t)n->elapsed_ms;
	n->elapsed_ms -= (double)whole_ms;
	sim_machines_advance(n->machines, whole_ms);
}

static void
on_change(void *arg, const struct sim_machine *m)
{
	struct sim_machine_nodes *const n = arg;
	const struct sim_blob *const b = sim_storage_get(n->nodes, m->name);
	char now[SIM_TIME_MAX];

	if (m->state == MACHINE_GONE)
		sim_store_remove(n->sim->store, n->nodes, m->name);
	if (changes[m->state] == NULL || (b == NULL && m->state != MACHINE_JOINED))
		return;
	json_auto_t *node = b != NULL ? sim_blob_parse(b, n->nodes->form)
	    : sim_cluster_node(n->sim->cluster, m->name);
	changes[m->state](node, m, sim_now(now));
	sim_store_put(n->sim->store, n->nodes, node);
}

/* As a kubelet registers its Node before the network of its Pods is there. */
static void
join(json_t *node, const struct sim_machine *m, const char *now)
{
	json_t *const spec = sim_json_branch(node, "spec");
	json_t *const ready = sim_json_find(sim_json_at(node, "status.conditions"), "type", "Ready");
	size_t i;
	json_t *taint;

	sim_node_beat(node, now);
	json_object_set_new(ready, "status", json_string("False"));
	json_object_set_new(ready, "reason", json_string("KubeletNotReady"));
	json_object_set_new(ready, "message", json_string("container runtime network not ready"));
	json_object_set_new(sim_json_branch(node, "status"), "addresses",
	    json_pack("[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}]", "type", "Hostname", "address", m->name,
	    "type", "InternalIP", "address", m->private_ip, "type", "ExternalIP", "address", m->public_ip));
	json_object_del(spec, "providerID");
	if (m->provider_id[0] != '\0')
		json_object_set_new(spec, "providerID", json_string(m->provider_id));
	keep_general_labels(sim_json_branch(node, "metadata"));
	json_object_update(sim_json_branch(sim_json_branch(node, "metadata"), "labels"), m->labels);
	if (m->capacity != NULL) {
		json_object_set(sim_json_branch(node, "status"), "capacity", m->capacity);
		json_object_set(sim_json_branch(node, "status"), "allocatable", m->capacity);
	}
	json_array_foreach(m->taints, i, taint)
		json_array_append(sim_json_list(spec, "taints"), taint);
	sim_node_set_taint(node, NOT_READY, "NoSchedule", true);
}

/* Zone, type and role are the provider's, or there are none: sim_cluster_node invents them. */
static void
keep_general_labels(json_t *meta)
{
	static const char *const general[] = { "kubernetes.io/arch", "kubernetes.io/os",
		"kubernetes.io/hostname", "beta.kubernetes.io/arch", "beta.kubernetes.io/os" };
	json_t *const kept = json_object();

	for (size_t i = 0; i < NITEMS(general); i++)
		take_member(kept, json_object_get(meta, "labels"), general[i]);
	json_object_set_new(meta, "labels", kept);
}

static void
become_ready(json_t *node, const struct sim_machine *m, const char *now)
{
	(void)m;
	sim_node_set_ready(node, true, now);
	sim_node_set_taint(node, NOT_READY, "NoSchedule", false);
}

static void
stop(json_t *node, const struct sim_machine *m, const char *now)
{
	(void)m;
	sim_node_set_ready(node, false, now);
}
