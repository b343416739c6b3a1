/*
 * tests/dst/vip_objects.c - Clusters, ClusterClasses, pools and claims of the world `vip`, and what people
 * do with them.
 *
 * Pools 0 and 1 are global ones for the control plane: of the first class, and, by the list of an
 * annotation, of both. Pool 2 is one of the namespace for the second class. Pool 3 is for ingress.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"
#include "world_vip.h"

enum { PATH_PART = 64, INGRESS_POOL = 3, NAMESPACED_POOL = 2, IPAM_STOP_MS = 90 * 1000 };

static json_t *member(const json_t *, const char *);
static const char *text_of(const json_t *, const char *, const char *);
static void stamp(struct vipw *, struct cluster_object *);
static void set_meta(struct vipw *, struct cluster_object *, const char *, const char *, const char *);
static void disturb(struct vipw *, const struct cluster_object *);
static struct cluster_object *any_cluster(struct vipw *);

/* ---- Reading ---- */

const json_t *
vipw_at(const json_t *object, const char *path)
{
	char part[PATH_PART];

	while (object != NULL && *path != '\0') {
		const size_t len = strcspn(path, ".");

		MUST(len < sizeof(part));
		memcpy(part, path, len);
		part[len] = '\0';
		object = json_object_get(object, part);
		path += len + (path[len] == '.');
	}
	return object;
}

const char *
vipw_text(const json_t *object, const char *path)
{
	const char *const text = json_string_value(vipw_at(object, path));

	return text != NULL ? text : "";
}

const char *
vipw_label(const json_t *object, const char *key)
{
	return text_of(object, "labels", key);
}

const char *
vipw_annotation(const json_t *object, const char *key)
{
	return text_of(object, "annotations", key);
}

static const char *
text_of(const json_t *object, const char *map, const char *key)
{
	const json_t *const metadata = json_object_get(object, "metadata");
	const char *const text = json_string_value(json_object_get(json_object_get(metadata, map), key));

	return text != NULL ? text : "";
}

bool
vipw_is_paused(const json_t *cluster)
{
	return json_is_true(vipw_at(cluster, "spec.paused"))
	    || vipw_annotation(cluster, "cluster.x-k8s.io/paused")[0] != '\0';
}

void
vipw_cluster_name(char buf[CLUSTER_NAME_MAX], uint32_t n)
{
	snprintf(buf, CLUSTER_NAME_MAX, "c%u", n);
}

void
vipw_claim_name(char buf[CLUSTER_NAME_MAX], uint32_t cluster, bool ingress)
{
	snprintf(buf, CLUSTER_NAME_MAX, "%sc%u", ingress ? "vip-ingress-" : "vip-cp-", cluster);
}

uint32_t
vipw_claim_cluster(const char *claim, bool *ingress)
{
	char name[CLUSTER_NAME_MAX];

	for (uint32_t i = 0; i < 2 * VIPW_CLUSTERS; i++) {
		*ingress = i % 2 != 0;
		vipw_claim_name(name, i / 2, *ingress);
		if (strcmp(name, claim) == 0)
			return i / 2;
	}
	return VIPW_CLUSTERS;
}

void
vipw_pool_name(char buf[CLUSTER_NAME_MAX], uint32_t n)
{
	snprintf(buf, CLUSTER_NAME_MAX, "pool-%u", n);
}

enum kind
vipw_pool_kind(uint32_t n)
{
	return n == NAMESPACED_POOL ? KIND_IP_POOL : KIND_GLOBAL_IP_POOL;
}

bool
vipw_pool_serves(uint32_t n, const char *class, bool ingress)
{
	if (class[0] == '\0' || ingress != (n == INGRESS_POOL))
		return false;
	return n == 0 ? strcmp(class, "class-0") == 0 : n != NAMESPACED_POOL || strcmp(class, "class-1") == 0;
}

struct cluster_object *
vipw_object(struct vipw *w, enum kind k, const char *name)
{
	struct cluster_object *const o = cluster_find(&w->h.cluster, k, name);

	return o != NULL && o->json != NULL ? o : NULL;
}

struct cluster_object *
vipw_cluster(struct vipw *w, uint32_t n)
{
	char name[CLUSTER_NAME_MAX];

	vipw_cluster_name(name, n);
	return vipw_object(w, KIND_CAPI_CLUSTER, name);
}

struct vipw_life *
vipw_life(struct vipw *w, const char *uid)
{
	for (uint32_t i = 0; i < w->nlives; i++) {
		if (strcmp(w->lives[i].uid, uid) == 0)
			return &w->lives[i];
	}
	return NULL;
}

/* ---- Writing ---- */

static json_t *
member(const json_t *object, const char *name)
{
	json_t *const found = json_object_get(object, name);

	return found != NULL ? found : json_object();
}

/* When it was made. */
static void
stamp(struct vipw *w, struct cluster_object *o)
{
	char now[TIME_TEXT_MAX];

	time_format(cluster_time_us(&w->h.cluster) / 1000000 * 1000000, now, sizeof(now));
	json_object_set_new(json_object_get(o->json, "metadata"), "creationTimestamp", json_string(now));
	cluster_touch(&w->h.cluster, o);
}

/* value NULL: it is removed. */
static void
set_meta(struct vipw *w, struct cluster_object *o, const char *map, const char *key, const char *value)
{
	json_t *const metadata = json_object_get(o->json, "metadata");
	json_t *const all = json_deep_copy(json_object_get(metadata, map));
	json_t *const changed = all != NULL ? all : json_object();

	if (value != NULL)
		json_object_set_new(changed, key, json_string(value));
	else
		json_object_del(changed, key);
	json_object_set_new(metadata, map, changed);
	cluster_touch(&w->h.cluster, o);
}

void
vipw_put_cluster(struct vipw *w, uint32_t n, uint32_t class, bool ingress)
{
	struct cluster *const c = &w->h.cluster;
	char name[CLUSTER_NAME_MAX], class_name[CLUSTER_NAME_MAX];

	if (w->nlives == VIPW_LIVES_MAX)
		return;
	vipw_cluster_name(name, n);
	snprintf(class_name, sizeof(class_name), "class-%u", class);
	SIM_TRACE(w->h.sim, "%s is made, of %s%s", name, class_name, ingress ? ", with ingress" : "");
	json_t *const topology = json_pack("{s:{s:s}, s:s}", "classRef", "name", class_name, "version",
	    "v1.33.0");
	if (sim_random(w->h.sim, 2) == 0)
		json_object_set_new(topology, "variables",
		    json_pack("[{s:s, s:{s:[i, i]}}]", "name", "other", "value", "a", 1, 2));
	cluster_put(c, KIND_CAPI_CLUSTER, name, "spec", json_pack("{s:o}", "topology", topology));
	struct cluster_object *const o = vipw_cluster(w, n);
	stamp(w, o);
	if (ingress)
		set_meta(w, o, "annotations", VIPW_PREFIX "ingress-enabled", "true");
	snprintf(w->lives[w->nlives++].uid, VIPW_TEXT, "%s", harness_meta(o, "uid"));
}

void
vipw_put_class(struct vipw *w, uint32_t n, bool declares)
{
	char name[CLUSTER_NAME_MAX];

	snprintf(name, sizeof(name), "class-%u", n);
	SIM_TRACE(w->h.sim, "%s %s the variable", name, declares ? "declares" : "does not declare");
	w->declares[n] = declares;
	cluster_put(&w->h.cluster, KIND_CLUSTER_CLASS, name, "spec", declares
	    ? json_pack("{s:[{s:s}, {s:s}]}", "variables", "name", "other", "name", VIPW_VARIABLE)
	    : json_pack("{s:[{s:s}]}", "variables", "name", "other"));
}

void
vipw_put_pool(struct vipw *w, uint32_t n, uint32_t size)
{
	struct vipw_pool *const p = &w->pools[n];
	char name[CLUSTER_NAME_MAX];

	vipw_pool_name(name, n);
	SIM_TRACE(w->h.sim, "%s has %u addresses", name, size);
	p->since_ms = p->exists ? p->since_ms : w->h.sim->now_ms;
	p->exists = true;
	p->size = size;
	cluster_put(&w->h.cluster, vipw_pool_kind(n), name, "spec", json_pack("{s:i}", "size", (int)size));
	struct cluster_object *const o = vipw_object(w, vipw_pool_kind(n), name);
	set_meta(w, o, "labels", VIPW_ROLE_KEY, n == INGRESS_POOL ? "ingress" : "control-plane");
	const char *const class = n == 0 ? "class-0" : n == NAMESPACED_POOL ? "class-1" : "true";
	set_meta(w, o, "labels", VIPW_CLASS_KEY, class);
	if (n == 1 || n == INGRESS_POOL)
		set_meta(w, o, "annotations", VIPW_CLASS_KEY, "class-0, class-1");
	if (n == 1)
		set_meta(w, o, "labels", VIPW_PREFIX "priority", "1");
	set_meta(w, o, "annotations", "cluster.x-k8s.io/paused", p->paused ? "true" : NULL);
}

/* As the original's hook made it: without an owner. */
void
vipw_put_claim(struct vipw *w, uint32_t cluster, uint32_t pool)
{
	const enum kind k = vipw_pool_kind(pool);
	char name[CLUSTER_NAME_MAX], pool_name[CLUSTER_NAME_MAX];

	vipw_claim_name(name, cluster, false);
	vipw_pool_name(pool_name, pool);
	if (vipw_object(w, KIND_IP_CLAIM, name) != NULL)
		return;
	SIM_TRACE(w->h.sim, "somebody makes %s without an owner, of %s", name, pool_name);
	cluster_put(&w->h.cluster, KIND_IP_CLAIM, name, "spec", json_pack("{s:{s:s, s:s, s:s}}", "poolRef",
	    "apiGroup", kind_table[k].group, "kind", kind_table[k].kind, "name", pool_name));
	stamp(w, vipw_object(w, KIND_IP_CLAIM, name));
}

void
vipw_repair(struct vipw *w)
{
	w->ipam_stopped_ms = 0;
	w->no_certificate = false;
	for (uint32_t i = 0; i < VIPW_CLASSES; i++)
		vipw_put_class(w, i, w->declares[i]);
	for (uint32_t i = 0; i < VIPW_POOLS; i++) {
		w->pools[i].paused = false;
		vipw_put_pool(w, i, VIPW_SIZE_END);
	}
	for (uint32_t i = 0; i < VIPW_CLUSTERS; i++) {
		struct cluster_object *const o = vipw_cluster(w, i);

		if (o == NULL || !vipw_is_paused(o->json))
			continue;
		SIM_TRACE(w->h.sim, "%s is paused no more", o->name);
		set_meta(w, o, "annotations", "cluster.x-k8s.io/paused", NULL);
	}
}

/* ---- Acts ---- */

static struct cluster_object *
any_cluster(struct vipw *w)
{
	return vipw_cluster(w, (uint32_t)sim_random(w->h.sim, VIPW_CLUSTERS));
}

static void
disturb(struct vipw *w, const struct cluster_object *cluster)
{
	struct vipw_life *const life = vipw_life(w, harness_meta(cluster, "uid"));

	MUST(life != NULL);
	life->disturbed = true;
}

void
vipw_toggle_cluster(struct harness *h)
{
	struct vipw *const w = (struct vipw *)h;
	const uint32_t n = (uint32_t)sim_random(h->sim, VIPW_CLUSTERS);
	struct cluster_object *const o = vipw_cluster(w, n);

	if (o == NULL) {
		vipw_put_cluster(w, n, (uint32_t)sim_random(h->sim, VIPW_CLASSES), sim_chance(h->sim, 250));
		return;
	}
	SIM_TRACE(h->sim, "%s %s", o->name, harness_is_deleting(o) ? "goes" : "is deleted");
	if (harness_is_deleting(o)) {
		cluster_set_finalizer(&h->cluster, o, false);
		return;
	}
	if (sim_random(h->sim, 2) == 0)
		cluster_set_finalizer(&h->cluster, o, true);
	cluster_remove(&h->cluster, o);
}

/* It is paused, reserves its address, wants one for ingress, or changes in something else. */
void
vipw_change_cluster(struct harness *h)
{
	static const char *const keys[] = {
		"cluster.x-k8s.io/paused", "cluster.x-k8s.io/paused", VIPW_PREFIX "pre-allocate",
		VIPW_PREFIX "ingress-enabled",
	};
	struct vipw *const w = (struct vipw *)h;
	struct cluster_object *const o = any_cluster(w);
	const uint64_t n = sim_random(h->sim, NITEMS(keys) + 2);

	if (o == NULL)
		return;
	if (n >= NITEMS(keys)) {
		cluster_touch(&h->cluster, o);
		return;
	}
	const bool set = vipw_annotation(o->json, keys[n])[0] != '\0';
	SIM_TRACE(h->sim, "somebody %s %s of %s", set ? "removes" : "sets", keys[n], o->name);
	set_meta(w, o, "annotations", keys[n], set ? NULL : "true");
}

/* By hand, once: what is set is not changed by people either. */
void
vipw_set_endpoint(struct harness *h)
{
	struct vipw *const w = (struct vipw *)h;
	struct cluster_object *const o = any_cluster(w);

	if (o == NULL || vipw_text(o->json, "spec.controlPlaneEndpoint.host")[0] != '\0')
		return;
	SIM_TRACE(h->sim, "somebody sets the endpoint of %s", o->name);
	disturb(w, o);
	json_t *const spec = json_deep_copy(member(o->json, "spec"));
	json_object_set_new(spec, "controlPlaneEndpoint",
	    json_pack("{s:s, s:i}", "host", "192.0.2.1", "port", 8443));
	cluster_put(&h->cluster, KIND_CAPI_CLUSTER, o->name, "spec", spec);
}

void
vipw_change_class(struct harness *h)
{
	struct vipw *const w = (struct vipw *)h;
	const uint32_t n = (uint32_t)sim_random(h->sim, VIPW_CLASSES);
	char name[CLUSTER_NAME_MAX];

	snprintf(name, sizeof(name), "class-%u", n);
	struct cluster_object *const o = vipw_object(w, KIND_CLUSTER_CLASS, name);
	if (o != NULL && sim_chance(h->sim, 300)) {
		SIM_TRACE(h->sim, "%s is deleted", name);
		cluster_drop(&h->cluster, o);
		return;
	}
	vipw_put_class(w, n, sim_random(h->sim, 2) == 0);
}

void
vipw_change_pool(struct harness *h)
{
	struct vipw *const w = (struct vipw *)h;
	const uint32_t n = (uint32_t)sim_random(h->sim, VIPW_POOLS);
	struct vipw_pool *const p = &w->pools[n];
	char name[CLUSTER_NAME_MAX];

	if (p->exists && sim_chance(h->sim, 200)) {
		vipw_pool_name(name, n);
		SIM_TRACE(h->sim, "%s is deleted", name);
		p->exists = false;
		cluster_drop(&h->cluster, vipw_object(w, vipw_pool_kind(n), name));
		return;
	}
	p->paused = sim_chance(h->sim, 150);
	vipw_put_pool(w, n, (uint32_t)sim_random(h->sim, VIPW_SIZE_MAX + 1));
}

void
vipw_claim_by_hand(struct harness *h)
{
	struct vipw *const w = (struct vipw *)h;
	const uint32_t cluster = (uint32_t)sim_random(h->sim, VIPW_CLUSTERS);

	vipw_put_claim(w, cluster, (uint32_t)sim_random(h->sim, INGRESS_POOL));
}

/* Its address may be given to another Cluster: what its own Cluster has is that person's doing. */
void
vipw_delete_claim(struct harness *h)
{
	struct vipw *const w = (struct vipw *)h;
	const uint32_t n = (uint32_t)sim_random(h->sim, VIPW_CLUSTERS);
	const struct cluster_object *const cluster = vipw_cluster(w, n);
	char name[CLUSTER_NAME_MAX];

	vipw_claim_name(name, n, sim_chance(h->sim, 200));
	struct cluster_object *const o = vipw_object(w, KIND_IP_CLAIM, name);
	if (o == NULL)
		return;
	SIM_TRACE(h->sim, "somebody deletes %s", name);
	if (cluster != NULL)
		disturb(w, cluster);
	cluster_remove(&h->cluster, o);
}

void
vipw_stop_ipam(struct harness *h)
{
	struct vipw *const w = (struct vipw *)h;

	w->ipam_stopped_ms = h->sim->now_ms + (int64_t)sim_random(h->sim, IPAM_STOP_MS);
	SIM_TRACE(h->sim, "the IPAM provider stops until %lld ms", (long long)w->ipam_stopped_ms);
}

/* For processes that start. */
void
vipw_toggle_certificate(struct harness *h)
{
	struct vipw *const w = (struct vipw *)h;

	w->no_certificate = !w->no_certificate;
	SIM_TRACE(h->sim, "the certificate is %s", w->no_certificate ? "missing" : "there");
}
