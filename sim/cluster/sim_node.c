/* sim/cluster/sim_node.c - a Node as a cloud provider's kubelet registers it. */
#include "sim_node.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"

enum { IMAGES_FEWEST = 5, IMAGE_BYTES = 220 /* about, as JSON */ };

static const char *const zones[] = { "a", "b", "c" };
static const char *const sizes[] = { "m6i.large", "m6i.xlarge", "m6i.2xlarge", "r6i.xlarge" };

/*
 * What the kubelet reports about itself: the type, its status when all is well, the reason and
 * message of that.
 */
static const struct {
	const char	*type, *status, *reason, *message;
} conditions[] = {
	{ "MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available" },
	{ "DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure" },
	{ "PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available" },
	{ "Ready", "True", "KubeletReady", "kubelet is posting ready status" },
};

static json_t *labels_of(const char *, size_t);
static json_t *status_of(const char *, const struct sim_node_spec *);
static json_t *conditions_of(const char *);
static void add_managed_fields(json_t *, const char *);
static void add_image(json_t *);

const char *
sim_node_name(size_t number, char buf[NODE_NAME_MAX])
{
	snprintf(buf, NODE_NAME_MAX, "node-%05zu", number);
	return buf;
}

json_t *
sim_node_new(const struct sim_node_spec *n)
{
	char numbered[NODE_NAME_MAX];
	const char *const name = n->name != NULL ? n->name : sim_node_name(n->number, numbered);
	json_t *const cidr = json_sprintf("10.%zu.%zu.0/24", n->number / 256 % 256, n->number % 256);
	json_t *const node = json_pack(
	    "{s:s, s:s, s:{s:s, s:s, s:s, s:o, s:{s:s, s:s, s:s}}, s:{s:o, s:[O], s:o}, s:o}",
	    "apiVersion", "v1", "kind", "Node",
	    "metadata", "name", name, "uid", n->uid, "creationTimestamp", n->now,
	    "labels", labels_of(name, n->number),
	    "annotations", "node.alpha.kubernetes.io/ttl", "0",
	    "volumes.kubernetes.io/controller-managed-attach-detach", "true",
	    "csi.volume.kubernetes.io/nodeid", "{\"ebs.csi.example.com\":\"i-0\"}",
	    "spec", "podCIDR", cidr, "podCIDRs", cidr,
	    "providerID",
	    json_sprintf("sim:///zone-%s/i-%016zx", zones[n->number % NITEMS(zones)], n->number),
	    "status", status_of(name, n));
	MUST(node != NULL);
	if (n->managed)
		add_managed_fields(node, n->now);
	return node;
}

json_t *
sim_node_images(size_t bytes)
{
	json_t *const images = json_array();
	struct sim_buf text = { 0 };

	while (json_array_size(images) < IMAGES_FEWEST)
		add_image(images);
	json_auto_t *sample = sim_node_new(&(struct sim_node_spec){ .number = 1,
	    .uid = "00000000-0000-4000-8000-000000000000",
	    .now = "2026-01-01T00:00:00Z",
	    .images = images, .managed = true });
	sim_buf_json(&text, sample);
	for (size_t have = text.len; have < bytes; have += IMAGE_BYTES)
		add_image(images);
	sim_buf_free(&text);
	return images;
}

void
sim_node_beat(json_t *node, const char *now)
{
	size_t i;
	json_t *c;

	json_array_foreach(sim_json_at(node, "status.conditions"), i, c)
		json_object_set_new(c, "lastHeartbeatTime", json_string(now));
}

void
sim_node_set_ready(json_t *node, bool ready, const char *now)
{
	json_t *const c = sim_json_find(sim_json_at(node, "status.conditions"), "type", "Ready");
	const char *const status = ready ? "True" : "Unknown";

	sim_node_beat(node, now);
	if (c == NULL || strcmp(sim_json_text(c, "status"), status) == 0)
		return;
	json_object_set_new(c, "status", json_string(status));
	json_object_set_new(c, "lastTransitionTime", json_string(now));
	json_object_set_new(c, "reason", json_string(ready ? "KubeletReady" : "NodeStatusUnknown"));
	json_object_set_new(c, "message", json_string(ready ? "kubelet is posting ready status"
							    : "Kubelet stopped posting node status."));
	sim_node_set_taint(node, "node.kubernetes.io/unreachable", "NoSchedule", !ready);
}

void
sim_node_set_taint(json_t *node, const char *key, const char *effect, bool there)
{
	json_t *const spec = sim_json_branch(node, "spec");
	json_t *const taints = sim_json_list(spec, "taints");
	size_t i;
	json_t *t;

	json_array_foreach(taints, i, t) {
		if (strcmp(sim_json_text(t, "key"), key) == 0) {
			json_array_remove(taints, i);
			break;
		}
	}
	if (there)
		json_array_append_new(taints, json_pack("{s:s, s:s}", "key", key, "effect", effect));
	if (json_array_size(taints) == 0)
		json_object_del(spec, "taints");
}

static json_t *
labels_of(const char *name, size_t number)
{
	const char *const zone = zones[number % NITEMS(zones)], *const size = sizes[number % NITEMS(sizes)];

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:s, s:s}",
	    "beta.kubernetes.io/arch", "amd64", "beta.kubernetes.io/instance-type", size,
	    "beta.kubernetes.io/os", "linux", "kubernetes.io/arch", "amd64", "kubernetes.io/hostname", name,
	    "kubernetes.io/os", "linux", "node.kubernetes.io/instance-type", size,
	    "topology.kubernetes.io/region", "sim-1",
	    "topology.kubernetes.io/zone", json_sprintf("sim-1%s", zone),
	    "failure-domain.beta.kubernetes.io/region", "sim-1",
	    "failure-domain.beta.kubernetes.io/zone", json_sprintf("sim-1%s", zone),
	    "sim.muster.dev/pool", json_sprintf("pool-%zu", number % 8),
	    "sim.muster.dev/lifecycle", number % 4 == 0 ? "spot" : "on-demand",
	    number % 50 == 1 ? "node-role.kubernetes.io/control-plane" : "node-role.kubernetes.io/worker",
	    "");
}

static json_t *
status_of(const char *name, const struct sim_node_spec *n)
{
	const size_t number = n->number;
	json_t *const capacity = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "cpu", "4",
	    "ephemeral-storage", "83873772Ki", "hugepages-1Gi", "0", "hugepages-2Mi", "0", "memory",
	    "16073636Ki", "pods", "110");
	json_t *const allocatable = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "cpu", "3920m",
	    "ephemeral-storage", "76224326324", "hugepages-1Gi", "0", "hugepages-2Mi", "0",
	    "memory", "15051684Ki", "pods", "110");
	json_t *const info = json_pack("{s:o, s:o, s:o, s:s, s:s, s:s, s:s, s:s, s:s, s:s}",
	    "machineID", json_sprintf("%032zx", number), "systemUUID", json_sprintf("%032zx", number * 31),
	    "bootID", json_sprintf("%032zx", number * 131), "kernelVersion", "6.1.0-44-cloud-amd64",
	    "osImage", "Debian GNU/Linux 12 (bookworm)", "containerRuntimeVersion", "containerd://2.1.5",
	    "kubeletVersion", "v1.35.4", "kubeProxyVersion", "", "operatingSystem", "linux",
	    "architecture", "amd64");
	json_t *const addresses = json_pack("[{s:s, s:o}, {s:s, s:s}, {s:s, s:o}]",
	    "type", "InternalIP", "address", json_sprintf("10.%zu.%zu.%zu", 200 + number / 65025 % 50,
	    number / 255 % 255, 1 + number % 254), "type", "Hostname", "address", name,
	    "type", "InternalDNS", "address", json_sprintf("%s.sim.internal", name));

	return json_pack("{s:o, s:o, s:o, s:o, s:{s:{s:i}}, s:o, s:O}", "capacity", capacity,
	    "allocatable", allocatable, "conditions", conditions_of(n->now), "addresses", addresses,
	    "daemonEndpoints", "kubeletEndpoint", "Port", 10250, "nodeInfo", info, "images",
	    n->images);
}

static json_t *
conditions_of(const char *now)
{
	json_t *const list = json_array();

	for (size_t i = 0; i < NITEMS(conditions); i++)
		json_array_append_new(list,
		    json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "type", conditions[i].type,
			"status", conditions[i].status, "lastHeartbeatTime", now,
			"lastTransitionTime", now, "reason", conditions[i].reason, "message",
			conditions[i].message));
	return list;
}

static void
add_managed_fields(json_t *node, const char *now)
{
	json_t *const fields = json_object(), *const f_labels = json_object();
	const char *key;
	json_t *value;

	JSON_EACH(sim_json_at(node, "metadata.labels"), key, value) {
		json_auto_t *name = json_sprintf("f:%s", key);

		json_object_set_new(f_labels, json_string_value(name), json_object());
	}
	json_object_set_new(fields, "f:metadata", json_pack("{s:o, s:{s:{}, s:{}}}", "f:labels", f_labels,
	    "f:annotations", ".", "f:volumes.kubernetes.io/controller-managed-attach-detach"));
	json_object_set_new(fields, "f:status",
	    json_pack("{s:{s:{}, s:{}}, s:{}, s:{s:{}, s:{}}}", "f:allocatable", "f:cpu",
		"f:memory", "f:images", "f:conditions", "k:{\"type\":\"Ready\"}",
		"k:{\"type\":\"DiskPressure\"}"));
	json_object_set_new(sim_json_branch(node, "metadata"), "managedFields",
	    json_pack("[{s:s, s:s, s:s, s:s, s:s, s:o}]", "manager", "kubelet", "operation", "Update",
	    "apiVersion", "v1", "time", now, "fieldsType", "FieldsV1", "fieldsV1", fields));
}

static void
add_image(json_t *images)
{
	const size_t i = json_array_size(images);

	json_array_append_new(images, json_pack("{s:[o, o], s:I}", "names",
	    json_sprintf("registry.sim.internal/team-%zu/service-%zu@sha256:%064zx", i % 7, i, i * 7919 + 1),
	    json_sprintf("registry.sim.internal/team-%zu/service-%zu:v1.%zu.0", i % 7, i, i % 40),
	    "sizeBytes", (json_int_t)31457280 + (json_int_t)i * 65536));
}
