/*
 * tests/dst/annotator_objects.c - MachineDeployments, templates, Clusters and objects with regions of
 * the world `annotator`: how they change, and what follows from them.
 *
 * What follows is written a second time here, without the code of capa-annotator.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "obj.h"
#include "world_annotator.h"

#define INFRA_GROUP	"infrastructure.cluster.x-k8s.io"
#define CONTROL_GROUP	"controlplane.cluster.x-k8s.io"
#define OPENSHIFT	"machine.openshift.io/"
#define CAPACITY	"capacity.cluster-autoscaler.kubernetes.io/"
#define REGION_KEY	"capa." INFRA_GROUP "/region"
#define ARCH		"kubernetes.io/arch="

enum { TEXT_MAX = 128 };

/* A reference, as either API version has it. */
struct reference {
	char	version[TEXT_MAX], group[TEXT_MAX], kind[TEXT_MAX], name[TEXT_MAX];
};

static const char *const our_keys[] = {
	OPENSHIFT "vCPU", OPENSHIFT "memoryMb", OPENSHIFT "GPU", CAPACITY "cpu", CAPACITY "memory",
	CAPACITY "gpu-count", CAPACITY "gpu-type", CAPACITY "labels",
};

static bool read_body(struct capaw *, struct runtime_actor *, enum kind, const char *, union msg_body *);
static void take_annotations(const union msg_body *, json_t *);
static const char *take_region(struct capaw *, struct runtime_actor *, const char *, const char *,
    struct capaw_view *);
static const char *check_region(const char *, struct capaw_view *);
static void copy(char *, struct wire_str);
static bool refers_to(const struct reference *, const char *, const char *);
static const char *text_of(const json_t *, const char *);
static json_t *reference_json(struct sim *, const char *, const char *, const char *);
static const char *any_region(struct sim *);

/* ---- What follows ---- */

void
capaw_read(struct capaw *w, struct runtime_actor *ra, uint32_t deployment, struct capaw_view *out)
{
	char name[CLUSTER_NAME_MAX], cluster[TEXT_MAX], annotated[TEXT_MAX], type[TEXT_MAX];
	struct reference ref = { .name = "" };
	union msg_body body;
	struct wire_str region;

	*out = (struct capaw_view){ .region = CAPAW_NONE, .type = CAPAW_TYPES };
	capaw_deployment_name(name, deployment);
	if (!read_body(w, ra, KIND_MACHINE_DEPLOYMENT, name, &body))
		return;
	const struct body_machine_deployment *const b = &body.machine_deployment;
	const bool deleting = b->deleted.len > 0;
	out->exists = true;
	out->annotations = json_object();
	take_annotations(&body, out->annotations);
	map_get(b->region, "region", &region);
	copy(annotated, region);
	copy(cluster, b->cluster);
	copy(ref.version, b->infra_version);
	copy(ref.group, b->infra_group);
	copy(ref.kind, b->infra_kind);
	copy(ref.name, b->infra_name);
	if (deleting) {
		out->missing = "it is being deleted";
		return;
	}
	if (!refers_to(&ref, INFRA_GROUP, "AWSMachineTemplate")) {
		out->missing = "no reference to a template of AWS";
		return;
	}
	if (!read_body(w, ra, KIND_AWS_TEMPLATE, ref.name, &body)) {
		out->missing = "no template";
		return;
	}
	copy(type, body.aws_template.type);
	if (type[0] == '\0') {
		out->missing = "no type";
		return;
	}
	for (uint32_t i = 0; i < CAPAW_TYPES; i++) {
		if (strcmp(type, capaw_type_name(i)) == 0)
			out->type = i;
	}
	out->missing = take_region(w, ra, cluster, annotated, out);
}

static const char *
take_region(struct capaw *w, struct runtime_actor *ra, const char *cluster, const char *annotated,
    struct capaw_view *out)
{
	struct reference infra = { .name = "" }, control = { .name = "" };
	char region[TEXT_MAX] = "";
	union msg_body body;

	if (cluster[0] == '\0' || !read_body(w, ra, KIND_CAPI_CLUSTER, cluster, &body))
		return check_region(annotated, out);
	const struct body_capi_cluster *const c = &body.capi_cluster;
	copy(infra.version, c->infra_version);
	copy(infra.group, c->infra_group);
	copy(infra.kind, c->infra_kind);
	copy(infra.name, c->infra_name);
	copy(control.version, c->control_version);
	copy(control.group, c->control_group);
	copy(control.kind, c->control_kind);
	copy(control.name, c->control_name);
	if (refers_to(&infra, INFRA_GROUP, "AWSCluster")) {
		if (read_body(w, ra, KIND_AWS_CLUSTER, infra.name, &body))
			copy(region, body.aws_cluster.region);
	} else if (refers_to(&infra, INFRA_GROUP, "AWSManagedCluster")
	    && refers_to(&control, CONTROL_GROUP, "AWSManagedControlPlane")) {
		if (read_body(w, ra, KIND_AWS_CONTROL_PLANE, control.name, &body))
			copy(region, body.aws_control_plane.region);
	}
	return check_region(region[0] != '\0' ? region : annotated, out);
}

static const char *
check_region(const char *region, struct capaw_view *out)
{
	for (uint32_t i = 0; i < CAPAW_REGIONS; i++) {
		if (strcmp(region, capaw_region_names[i]) == 0)
			out->region = i;
	}
	return out->region == CAPAW_NONE ? "no region that may be read" : NULL;
}

static bool
read_body(struct capaw *w, struct runtime_actor *ra, enum kind k, const char *name, union msg_body *out)
{
	static struct msg_arena arena;
	static bool open;
	struct projected p;
	struct change found;
	char key[2 * CLUSTER_NAME_MAX];

	if (!object_key(key, sizeof(key), kind_table[k].resource, "default", name))
		return false;
	if (ra != NULL)
		return actor_read(&ra->actor, LINK_KUBE_CAPA, key, strlen(key), &found, out);
	const struct cluster_object *const o = cluster_find(&w->h.cluster, k, name);
	if (o == NULL || o->json == NULL)
		return false;
	if (!open)
		msg_arena_init(&arena);
	open = true;
	msg_arena_reset(&arena);
	MUST(cluster_project(o, ROLE_CAPA_ANNOTATOR, &p) && p.nvalues == 1);
	return msg_unpack_value(
	    (enum msg)kind_table[k].message, p.values[0].bytes, p.values[0].len, &arena, out);
}

static void
take_annotations(const union msg_body *body, json_t *out)
{
	const wire_map maps[] = { body->machine_deployment.openshift, body->machine_deployment.capacity };
	struct wire_str value;

	for (size_t i = 0; i < NITEMS(our_keys); i++) {
		const bool capacity = strncmp(our_keys[i], CAPACITY, strlen(CAPACITY)) == 0;

		if (map_get(maps[capacity], strchr(our_keys[i], '/') + 1, &value))
			json_object_set_new(out, our_keys[i],
			    json_stringn(value.len > 0 ? value.p : "", value.len));
	}
}

bool
capaw_our_key(const char *key)
{
	for (size_t i = 0; i < NITEMS(our_keys); i++) {
		if (strcmp(key, our_keys[i]) == 0)
			return true;
	}
	return false;
}

const char *
capaw_annotations_differ(const json_t *annotations, uint32_t type, uint8_t form)
{
	const struct capaw_figures f = capaw_figures(type, form);
	const char *const gpu_type = text_of(annotations, CAPACITY "gpu-type");
	const char *const count = text_of(annotations, CAPACITY "gpu-count");
	const char *labels = text_of(annotations, CAPACITY "labels");
	char vcpus[16], memory[16], quantity[20], gpus[16];
	unsigned archs = 0;

	snprintf(vcpus, sizeof(vcpus), "%u", f.vcpus);
	snprintf(memory, sizeof(memory), "%u", f.memory_mib);
	snprintf(quantity, sizeof(quantity), "%uMi", f.memory_mib);
	snprintf(gpus, sizeof(gpus), "%u", f.gpus);
	if (strcmp(text_of(annotations, OPENSHIFT "vCPU"), vcpus) != 0
	    || strcmp(text_of(annotations, CAPACITY "cpu"), vcpus) != 0)
		return "the vCPUs";
	if (strcmp(text_of(annotations, OPENSHIFT "memoryMb"), memory) != 0
	    || strcmp(text_of(annotations, CAPACITY "memory"), quantity) != 0)
		return "the memory";
	if (strcmp(text_of(annotations, OPENSHIFT "GPU"), gpus) != 0)
		return "the GPUs";
	if (f.gpu_type != NULL && (strcmp(count, gpus) != 0 || strcmp(gpu_type, f.gpu_type) != 0))
		return "gpu-count and gpu-type";
	if (f.gpus == 0 && (count[0] != '\0' || gpu_type[0] != '\0'))
		return "gpu-count and gpu-type are there";
	if (f.gpus > 0 && f.gpu_type == NULL
	    && (strcmp(gpu_type, "nvidia.com/gpu") == 0 || strcmp(gpu_type, "amd.com/gpu") == 0))
		return "gpu-type is that of another maker";
	for (size_t len; labels[0] != '\0'; labels += len + (labels[len] == ',')) {
		len = strcspn(labels, ",");
		if (strncmp(labels, ARCH, strlen(ARCH)) != 0)
			continue;
		archs++;
		if (len != strlen(ARCH) + strlen(f.arch)
		    || strncmp(labels + strlen(ARCH), f.arch, strlen(f.arch)) != 0)
			return "the architecture";
	}
	return archs == 1 ? NULL : "the number of architectures";
}

void
capaw_foreign_labels(char *buf, size_t size, const json_t *object)
{
	const json_t *const metadata = json_object_get(object, "metadata");
	const char *labels = text_of(json_object_get(metadata, "annotations"), CAPACITY "labels");
	size_t at = 0;

	buf[0] = '\0';
	for (size_t len; labels[0] != '\0'; labels += len + (labels[len] == ',')) {
		len = strcspn(labels, ",");
		if (len == 0 || strncmp(labels, ARCH, strlen(ARCH)) == 0)
			continue;
		at += (size_t)snprintf(buf + at, size - at, "%.*s,", (int)len, labels);
		MUST(at < size);
	}
}

static bool
refers_to(const struct reference *r, const char *group, const char *kind)
{
	const size_t len = strlen(group);
	const bool same = r->group[0] != '\0' ? strcmp(r->group, group) == 0
	    : strncmp(r->version, group, len) == 0 && r->version[len] == '/';

	return same && strcmp(r->kind, kind) == 0 && r->name[0] != '\0';
}

static void
copy(char *to, struct wire_str s)
{
	MUST(s.len < TEXT_MAX);
	memcpy(to, s.len > 0 ? s.p : "", s.len);
	to[s.len] = '\0';
}

static const char *
text_of(const json_t *object, const char *key)
{
	const char *const text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

/* ---- Objects ---- */

void
capaw_deployment_name(char buf[CLUSTER_NAME_MAX], uint32_t n)
{
	snprintf(buf, CLUSTER_NAME_MAX, "deployment-%u", n);
}

uint32_t
capaw_deployment_number(const char *name)
{
	char own[CLUSTER_NAME_MAX];

	for (uint32_t i = 0; i < CAPAW_DEPLOYMENTS; i++) {
		capaw_deployment_name(own, i);
		if (strcmp(own, name) == 0)
			return i;
	}
	return CAPAW_NONE;
}

struct cluster_object *
capaw_deployment(struct capaw *w, uint32_t n)
{
	char name[CLUSTER_NAME_MAX];

	capaw_deployment_name(name, n);
	struct cluster_object *const o = cluster_find(&w->h.cluster, KIND_MACHINE_DEPLOYMENT, name);
	return o != NULL && o->json != NULL ? o : NULL;
}

void
capaw_put_template(struct capaw *w, uint32_t n, const char *type)
{
	char name[CLUSTER_NAME_MAX];

	snprintf(name, sizeof(name), "template-%u", n);
	SIM_TRACE(w->h.sim, "%s has the type %s", name, type);
	cluster_put(&w->h.cluster, KIND_AWS_TEMPLATE, name, "spec",
	    json_pack("{s:{s:{s:s}}}", "template", "spec", "instanceType", type));
}

void
capaw_put_cluster(struct capaw *w, uint32_t n, bool managed, const char *region)
{
	struct cluster *const c = &w->h.cluster;
	const enum kind k = managed ? KIND_AWS_CONTROL_PLANE : KIND_AWS_CLUSTER;
	char name[CLUSTER_NAME_MAX];

	snprintf(name, sizeof(name), "cluster-%u", n);
	SIM_TRACE(w->h.sim, "%s is %s and has the region %s", name, kind_table[k].kind, region);
	json_t *const spec = json_object();
	json_object_set_new(spec, "infrastructureRef", reference_json(w->h.sim, INFRA_GROUP,
	    managed ? "AWSManagedCluster" : "AWSCluster", name));
	if (managed)
		json_object_set_new(spec, "controlPlaneRef",
		    reference_json(w->h.sim, CONTROL_GROUP, "AWSManagedControlPlane", name));
	cluster_put(c, KIND_CAPI_CLUSTER, name, "spec", spec);
	cluster_put(c, k, name, "spec",
	    region[0] != '\0' ? json_pack("{s:s}", "region", region) : json_object());
}

/* The reference of v1beta1 or of v1beta2. */
static json_t *
reference_json(struct sim *sim, const char *group, const char *kind, const char *name)
{
	char version[TEXT_MAX];

	snprintf(version, sizeof(version), "%s/v1beta%u", group, 1 + (unsigned)sim_random(sim, 2));
	return sim_random(sim, 2) == 0
	    ? json_pack("{s:s, s:s, s:s}", "apiGroup", group, "kind", kind, "name", name)
	    : json_pack("{s:s, s:s, s:s, s:s}", "apiVersion", version, "kind", kind, "name", name,
	    "namespace", "default");
}

/* In some histories it refers to something else, or to nothing. */
void
capaw_put_deployment(struct capaw *w, uint32_t n, uint32_t template, uint32_t cluster)
{
	static const char *const kinds[] = { "AWSMachineTemplate", "AWSMachinePool", "AzureMachineTemplate" };
	struct sim *const sim = w->h.sim;
	const bool other = !w->h.sweep && sim_chance(sim, 60);
	char name[CLUSTER_NAME_MAX], target[CLUSTER_NAME_MAX], owner[CLUSTER_NAME_MAX];

	capaw_deployment_name(name, n);
	snprintf(target, sizeof(target), "template-%u", template);
	snprintf(owner, sizeof(owner), "cluster-%u", cluster);
	SIM_TRACE(sim, "%s refers to %s%s and %s", name, other ? "another kind and " : "", target, owner);
	const char *const kind = kinds[other ? sim_random(sim, NITEMS(kinds)) : 0];
	json_t *const ref = reference_json(sim, INFRA_GROUP, kind, target);
	if (other && sim_random(sim, 2) == 0)
		json_object_del(ref, "name");
	cluster_put(&w->h.cluster, KIND_MACHINE_DEPLOYMENT, name, "spec", json_pack("{s:s, s:{s:{s:o}}}",
	    "clusterName", owner, "template", "spec", "infrastructureRef", ref));
}

/* value NULL: it is removed. */
void
capaw_set_annotation(struct capaw *w, uint32_t n, const char *key, const char *value)
{
	struct cluster_object *const o = capaw_deployment(w, n);
	json_t *const metadata = json_object_get(o->json, "metadata");

	if (!json_is_object(json_object_get(metadata, "annotations")))
		json_object_set_new(metadata, "annotations", json_object());
	json_t *const all = json_object_get(metadata, "annotations");
	SIM_TRACE(w->h.sim, "somebody sets %s of %s to %s", key, o->name, value != NULL ? value : "nothing");
	if (value == NULL)
		json_object_del(all, key);
	else
		json_object_set_new(all, key, json_string(value));
	cluster_touch(&w->h.cluster, o);
}

/* ---- What happens to them ---- */

void
capaw_toggle_deployment(struct harness *h)
{
	struct capaw *const w = (struct capaw *)h;
	const uint32_t n = (uint32_t)sim_random(h->sim, CAPAW_DEPLOYMENTS);
	struct cluster_object *const o = capaw_deployment(w, n);

	if (o == NULL) {
		const uint32_t template = (uint32_t)sim_random(h->sim, CAPAW_TEMPLATES);

		capaw_put_deployment(w, n, template, (uint32_t)sim_random(h->sim, CAPAW_CLUSTERS));
		return;
	}
	if (harness_is_deleting(o)) {
		SIM_TRACE(h->sim, "%s goes", o->name);
		cluster_set_finalizer(&h->cluster, o, false);
		return;
	}
	SIM_TRACE(h->sim, "%s is deleted", o->name);
	if (sim_random(h->sim, 2) == 0)
		cluster_set_finalizer(&h->cluster, o, true);
	cluster_remove(&h->cluster, o);
}

void
capaw_change_deployment(struct harness *h)
{
	struct capaw *const w = (struct capaw *)h;
	const uint32_t n = (uint32_t)sim_random(h->sim, CAPAW_DEPLOYMENTS);
	const uint32_t template = (uint32_t)sim_random(h->sim, CAPAW_TEMPLATES);
	struct cluster_object *const o = capaw_deployment(w, n);

	if (o == NULL || sim_chance(h->sim, 300)) {
		if (o != NULL)
			cluster_touch(&h->cluster, o);
		return;
	}
	capaw_put_deployment(w, n, template, (uint32_t)sim_random(h->sim, CAPAW_CLUSTERS));
}

/* It comes, goes, or gets another type, also one that no region has. */
void
capaw_change_template(struct harness *h)
{
	struct capaw *const w = (struct capaw *)h;
	const uint32_t n = (uint32_t)sim_random(h->sim, CAPAW_TEMPLATES);
	char name[CLUSTER_NAME_MAX];

	snprintf(name, sizeof(name), "template-%u", n);
	struct cluster_object *const o = cluster_find(&h->cluster, KIND_AWS_TEMPLATE, name);
	if (o != NULL && o->json != NULL && sim_chance(h->sim, 250)) {
		SIM_TRACE(h->sim, "%s is deleted", name);
		cluster_remove(&h->cluster, o);
		return;
	}
	capaw_put_template(w, n, sim_chance(h->sim, 60) ? ""
	    : capaw_type_name((uint32_t)sim_random(h->sim, CAPAW_TYPES + 1)));
}

/* It, or what has its region, comes, goes or changes. */
void
capaw_change_cluster(struct harness *h)
{
	static const enum kind kinds[] = { KIND_CAPI_CLUSTER, KIND_AWS_CLUSTER, KIND_AWS_CONTROL_PLANE };
	struct capaw *const w = (struct capaw *)h;
	const uint32_t n = (uint32_t)sim_random(h->sim, CAPAW_CLUSTERS);
	char name[CLUSTER_NAME_MAX];

	snprintf(name, sizeof(name), "cluster-%u", n);
	const enum kind k = kinds[sim_random(h->sim, NITEMS(kinds))];
	struct cluster_object *const o = cluster_find(&h->cluster, k, name);
	if (o != NULL && o->json != NULL && sim_chance(h->sim, 300)) {
		SIM_TRACE(h->sim, "%s is deleted", o->key);
		cluster_remove(&h->cluster, o);
		return;
	}
	const char *const region = any_region(h->sim);
	capaw_put_cluster(w, n, sim_random(h->sim, 3) == 0, region);
}

static const char *
any_region(struct sim *sim)
{
	static const char *const others[] = {
		"", "cn-north-1", "eu-west-1.evil.example/", "us-gov-west-1", "EU-WEST-1",
	};

	return sim_chance(sim, 200) ? others[sim_random(sim, NITEMS(others))]
				    : capaw_region_names[sim_random(sim, CAPAW_REGIONS)];
}

/* Other clients write annotations, those that are ours too. */
void
capaw_change_annotation(struct harness *h)
{
	static const char *const labels[] = {
		NULL, "team=a", "kubernetes.io/arch=arm64,team=a", "a=b,,c=d",
		"broken,x=1,kubernetes.io/arch=s390x", "",
		"kubernetes.io/arch=amd64,kubernetes.io/arch=arm64,z=1",
	};
	static const char *const foreign[] = {
		CAPACITY "taints", CAPACITY "maxPods", "example.com/keep", OPENSHIFT "cluster-api-cluster",
		CAPACITY "ephemeral-disk",
	};
	struct capaw *const w = (struct capaw *)h;
	const uint32_t n = (uint32_t)sim_random(h->sim, CAPAW_DEPLOYMENTS);
	const char *const value = (const char *[]){ NULL, "7", "nvidia.com/gpu" }[sim_random(h->sim, 3)];

	if (capaw_deployment(w, n) == NULL)
		return;
	switch (sim_random(h->sim, 4)) {
	case 0:
		capaw_set_annotation(w, n, foreign[sim_random(h->sim, NITEMS(foreign))], value);
		break;
	case 1:
		capaw_set_annotation(w, n, our_keys[sim_random(h->sim, NITEMS(our_keys) - 1)], value);
		break;
	case 2:
		capaw_set_annotation(w, n, CAPACITY "labels", labels[sim_random(h->sim, NITEMS(labels))]);
		break;
	default:
		capaw_set_annotation(w, n, REGION_KEY, value == NULL ? NULL : any_region(h->sim));
		break;
	}
}

/* A CRD goes with its objects, or comes back without them. */
void
capaw_toggle_kind(struct harness *h)
{
	static const enum kind kinds[] = {
		KIND_AWS_TEMPLATE, KIND_CAPI_CLUSTER, KIND_AWS_CLUSTER, KIND_AWS_CONTROL_PLANE,
		KIND_MACHINE_DEPLOYMENT,
	};
	const enum kind k = kinds[sim_random(h->sim, NITEMS(kinds))];

	SIM_TRACE(h->sim, "the CRD of %s %s", kind_table[k].kind, h->cluster.absent[k] ? "comes" : "goes");
	cluster_set_absent(&h->cluster, k, !h->cluster.absent[k]);
}
