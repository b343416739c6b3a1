/*
 * tests/dst/vip_ipam.c - the IPAM provider of the world `vip`, as the in-cluster one, and the garbage
 * collector.
 */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "world_vip.h"

enum {
	STEP_MS = 700, EVERY = 5,
	HALF = 300, COLLECT = 500,	/* in a thousand steps */
};

static void serve_claim(struct vipw *, struct cluster_object *);
static void release(struct vipw *, struct cluster_object *);
static bool is_active(struct vipw *, const json_t *);
static uint32_t pool_of(const json_t *);
static bool take_address(struct vipw *, uint32_t, char[VIPW_TEXT]);
static bool is_given(struct vipw *, const char *);
static void collect(struct vipw *, struct cluster_object *);
static void count_pool(struct vipw *, uint32_t);

void
vipw_ipam_step(struct sim *sim, void *arg, uint64_t n)
{
	struct vipw *const w = arg;
	struct cluster *const c = &w->h.cluster;

	for (unsigned t = 0; t < w->h.ntrees; t++)
		w->cut_ms[t] = c->cut[t] ? sim->now_ms : w->cut_ms[t];
	sim_at(sim, sim->now_ms + STEP_MS, vipw_ipam_step, w, n + 1);
	if (c->rv == w->ipam_rv && n % EVERY != 0)
		return;		/* nothing has changed; what it left undone has time */
	for (unsigned i = 0; i < c->count; i++) {
		struct cluster_object *const o = &c->objects[i];

		if (o->kind != KIND_IP_CLAIM || o->json == NULL)
			continue;
		if (harness_is_deleting(o))
			release(w, o);
		else if (vipw_text(o->json, "status.addressRef.name")[0] == '\0'
		    && sim->now_ms >= w->ipam_stopped_ms)
			serve_claim(w, o);
		else
			collect(w, o);
	}
	for (uint32_t i = 0; i < VIPW_POOLS; i++)
		count_pool(w, i);
	w->ipam_rv = c->rv;
}

/* First the IPAddress, then the claim's status; at times in two steps. */
static void
serve_claim(struct vipw *w, struct cluster_object *claim)
{
	struct cluster *const c = &w->h.cluster;
	const uint32_t pool = pool_of(claim->json);
	char address[VIPW_TEXT];

	collect(w, claim);
	if (claim->json == NULL || harness_is_deleting(claim) || !is_active(w, claim->json))
		return;
	const struct cluster_object *given = vipw_object(w, KIND_IP_ADDRESS, claim->name);
	if (given == NULL) {
		if (pool == VIPW_POOLS || !w->pools[pool].exists || w->pools[pool].paused
		    || !take_address(w, pool, address))
			return;
		cluster_set_finalizer(c, claim, true);
		cluster_put(c, KIND_IP_ADDRESS, claim->name, "spec", json_pack("{s:{s:s}, s:O, s:s, s:i}",
		    "claimRef", "name", claim->name, "poolRef", vipw_at(claim->json, "spec.poolRef"),
		    "address", address, "prefix", 24));
		if (!w->h.sim->faults_over && sim_chance(w->h.sim, HALF))
			return;
	}
	SIM_TRACE(w->h.sim, "the IPAM provider serves %s", claim->name);
	cluster_put(c, KIND_IP_CLAIM, claim->name, "status",
	    json_pack("{s:{s:s}}", "addressRef", "name", claim->name));
}

/* The address goes first, then the claim that held it. */
static void
release(struct vipw *w, struct cluster_object *claim)
{
	struct cluster_object *const given = vipw_object(w, KIND_IP_ADDRESS, claim->name);

	if (given != NULL) {
		cluster_drop(&w->h.cluster, given);
		if (!w->h.sim->faults_over && sim_chance(w->h.sim, HALF))
			return;
	}
	SIM_TRACE(w->h.sim, "the IPAM provider releases %s", claim->name);
	cluster_drop(&w->h.cluster, claim);
}

/* A claim that names a Cluster which is missing or paused waits. */
static bool
is_active(struct vipw *w, const json_t *claim)
{
	const char *const name = vipw_label(claim, "cluster.x-k8s.io/cluster-name");
	const struct cluster_object *const cluster =
	    name[0] != '\0' ? vipw_object(w, KIND_CAPI_CLUSTER, name) : NULL;

	return name[0] == '\0' || (cluster != NULL && !vipw_is_paused(cluster->json));
}

static uint32_t
pool_of(const json_t *claim)
{
	char name[CLUSTER_NAME_MAX];
	uint32_t i = 0;

	for (; i < VIPW_POOLS; i++) {
		vipw_pool_name(name, i);
		if (strcmp(vipw_text(claim, "spec.poolRef.name"), name) == 0
		    && strcmp(vipw_text(claim, "spec.poolRef.kind"), kind_table[vipw_pool_kind(i)].kind) == 0)
			break;
	}
	return i;
}

static bool
take_address(struct vipw *w, uint32_t pool, char address[VIPW_TEXT])
{
	for (uint32_t i = 0; i < w->pools[pool].size; i++) {
		snprintf(address, VIPW_TEXT, "10.%u.0.%u", pool, 20 + i);
		if (!is_given(w, address))
			return true;
	}
	return false;
}

static bool
is_given(struct vipw *w, const char *address)
{
	for (unsigned i = 0; i < w->h.cluster.count; i++) {
		const struct cluster_object *const o = &w->h.cluster.objects[i];

		if (o->kind == KIND_IP_ADDRESS && o->json != NULL
		    && strcmp(vipw_text(o->json, "spec.address"), address) == 0)
			return true;
	}
	return false;
}

/* The garbage collector: its owner does not exist any more. */
static void
collect(struct vipw *w, struct cluster_object *claim)
{
	const json_t *const owners = vipw_at(claim->json, "metadata.ownerReferences");
	const json_t *owner;
	size_t i;

	if (json_array_size(owners) == 0 || (!w->h.sim->faults_over && !sim_chance(w->h.sim, COLLECT)))
		return;
	json_array_foreach(owners, i, owner) {
		if (harness_find_uid(&w->h, KIND_CAPI_CLUSTER, vipw_text(owner, "uid")) != NULL)
			return;
	}
	SIM_TRACE(w->h.sim, "the garbage collector deletes %s", claim->name);
	cluster_remove(&w->h.cluster, claim);
}

static void
count_pool(struct vipw *w, uint32_t n)
{
	char name[CLUSTER_NAME_MAX], address[VIPW_TEXT];
	uint32_t used = 0;

	vipw_pool_name(name, n);
	const struct cluster_object *const o = vipw_object(w, vipw_pool_kind(n), name);
	if (o == NULL)
		return;
	for (uint32_t i = 0; i < VIPW_SIZE_END; i++) {
		snprintf(address, sizeof(address), "10.%u.0.%u", n, 20 + i);
		used += is_given(w, address);
	}
	const uint32_t size = w->pools[n].size;
	json_t *const status = json_pack("{s:{s:i, s:i, s:i}}", "ipAddresses", "total", (int)size, "used",
	    (int)used, "free", (int)(size > used ? size - used : 0));
	if (json_equal(status, json_object_get(o->json, "status")))
		json_decref(status);
	else
		cluster_put(&w->h.cluster, o->kind, name, "status", status);
}
