/*
 * tests/dst/vip_checks.c - what must hold in the world `vip` of each request of vip-claimer, of its effect,
 * and of each answer of a hook.
 *
 * Written a second time here, without the code of vip-claimer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "obj.h"
#include "world_vip.h"

/* A replica has noticed by then what was there all the time, and what happened while it was cut off. */
enum { READ_MS = 30 * 1000, AFTER_CUT_MS = 20 * 1000, PORT = 6443, MANUAL_PORT = 8443 };

static void check_claim(struct vipw *, struct runtime_actor *, const struct write_request *);
static void check_event(struct vipw *, struct runtime_actor *, const struct write_request *);
static bool has_only(const json_t *, const char *);
static bool address_is_set(struct runtime_actor *, const char *);
static void check_cluster_patch(struct vipw *, const json_t *, const json_t *);
static void check_address(struct vipw *, const json_t *, const char *, bool);
static void check_variables(struct vipw *, const json_t *, const json_t *, const char *);
static void check_adoption(struct vipw *, const char *, const json_t *, const json_t *);
static json_t *without_ours(const json_t *);
static json_t *other_variables(const json_t *);
static bool pool_is_read(const struct vipw *, const struct runtime_actor *, const char *);
static bool must_have_read(const struct vipw *, const struct runtime_actor *, int64_t);

/* ---- Requests, as the process has its objects ---- */

void
vipw_requested(struct harness *h, struct runtime_actor *ra, const struct write_request *r)
{
	struct vipw *const w = (struct vipw *)h;
	json_t *const body = json_loadb(r->body, r->body_len, 0, NULL);

	if (r->op == OP_CREATE && strcmp(r->resource, "ipaddressclaims") == 0) {
		check_claim(w, ra, r);
	} else if (r->op == OP_MERGE && strcmp(r->resource, "ipaddressclaims") == 0) {
		if (!has_only(body, "metadata")
		    || !has_only(json_object_get(body, "metadata"), "resourceVersion labels ownerReferences"))
			sim_fail(h->sim, "a patch of %s changes what is not ours: %.*s", r->name,
			    (int)r->body_len, (const char *)r->body);
	} else if (r->op == OP_MERGE && strcmp(r->resource, "clusters") == 0) {
		const json_t *const spec = json_object_get(body, "spec");

		if (!has_only(body, "metadata spec") || !has_only(spec, "controlPlaneEndpoint topology")
		    || !has_only(json_object_get(body, "metadata"), "resourceVersion labels annotations")
		    || !has_only(json_object_get(spec, "topology"), "variables"))
			sim_fail(h->sim, "a patch of %s changes what is not ours: %.*s", r->name,
			    (int)r->body_len, (const char *)r->body);
		if (vipw_text(body, "metadata.resourceVersion")[0] == '\0')
			sim_fail(h->sim, "a patch of %s without a resourceVersion", r->name);
	} else if (r->op == OP_EVENT) {
		check_event(w, ra, r);
	} else if (r->op != OP_GET) {
		sim_fail(h->sim, "%s requests %s %s/%s", ra->name, op_table[r->op].name,
		    r->resource, r->name);
	}
	json_decref(body);
}

/* Every member of object is among names, which has a space between two. */
static bool
has_only(const json_t *object, const char *names)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, key, value) {
		const char *const found = strstr(names, key);

		if (found == NULL || strchr(" ", found[strlen(key)]) == NULL)
			return false;
	}
	return true;
}

/* V2: with owner and label, from a pool of its class, for a Cluster that needs one. */
static void
check_claim(struct vipw *w, struct runtime_actor *ra, const struct write_request *r)
{
	json_t *const body = json_loadb(r->body, r->body_len, 0, NULL);
	char key[2 * CLUSTER_NAME_MAX], name[CLUSTER_NAME_MAX], class[VIPW_TEXT], pool[CLUSTER_NAME_MAX];
	const char *wrong = NULL;
	struct change object;
	union msg_body cluster;
	struct wire_str text;
	bool ingress, serves = false;

	const uint32_t n = vipw_claim_cluster(r->name, &ingress);
	vipw_cluster_name(name, n);
	MUST(object_key(key, sizeof(key), "clusters", "default", name));
	if (n == VIPW_CLUSTERS
	    || !actor_read(&ra->actor, LINK_KUBE_VIP, key, strlen(key), &object, &cluster)) {
		sim_fail(w->h.sim, "%s makes %s, and has no such Cluster", ra->name, r->name);
		json_decref(body);
		return;
	}
	const struct body_capi_cluster *const c = &cluster.capi_cluster;
	const json_t *const owner = json_array_get(vipw_at(body, "metadata.ownerReferences"), 0);
	const bool paused = c->paused || map_get(c->core, "paused", &text);
	const bool reserves = map_get(c->vip, "pre-allocate", &text) && wire_str_is(text, "true");
	snprintf(class, sizeof(class), "%.*s", (int)c->class_name.len,
	    c->class_name.len > 0 ? c->class_name.p : "");
	for (uint32_t i = 0; i < VIPW_POOLS; i++) {
		vipw_pool_name(pool, i);
		serves |= strcmp(pool, vipw_text(body, "spec.poolRef.name")) == 0
		    && strcmp(kind_table[vipw_pool_kind(i)].kind, vipw_text(body, "spec.poolRef.kind")) == 0
		    && vipw_pool_serves(i, class, ingress);
	}
	if (!serves)
		wrong = "the pool is not one for it";
	else if (!wire_str_is(object.uid, vipw_text(owner, "uid")))
		wrong = "the Cluster is not its owner";
	else if (strcmp(vipw_label(body, "cluster.x-k8s.io/cluster-name"), paused ? "" : name) != 0)
		wrong = "its label";
	else if (c->deleted.len > 0 || (paused && !reserves) || (!ingress && c->host.len > 0))
		wrong = "the Cluster needs none";
	if (wrong != NULL)
		sim_fail(w->h.sim, "%s makes a wrong claim, %s: %.*s", ra->name, wrong, (int)r->body_len,
		    (const char *)r->body);
	json_decref(body);
}

static void
check_event(struct vipw *w, struct runtime_actor *ra, const struct write_request *r)
{
	json_t *const body = json_loadb(r->body, r->body_len, 0, NULL);

	SIM_TRACE(w->h.sim, "%s: Event %.*s", ra->name, (int)r->body_len, (const char *)r->body);
	if (strcmp(vipw_text(body, "reason"), "VIPAllocated") == 0 && !address_is_set(ra, r->name))
		sim_fail(w->h.sim, "%s reports an address for %s, which has none", ra->name, r->name);
	json_decref(body);
}

/* As the process has it: the endpoint of the Cluster, or its address for ingress. */
static bool
address_is_set(struct runtime_actor *ra, const char *cluster)
{
	char key[2 * CLUSTER_NAME_MAX];
	struct change object;
	union msg_body body;
	struct wire_str text;

	MUST(object_key(key, sizeof(key), "clusters", "default", cluster));
	return actor_read(&ra->actor, LINK_KUBE_VIP, key, strlen(key), &object, &body)
	    && (body.capi_cluster.host.len > 0 || map_get(body.capi_cluster.vip, "ingress-vip", &text));
}

/* ---- Effects ---- */

void
vipw_executed(struct harness *h, const struct flight *f, const json_t *before)
{
	struct vipw *const w = (struct vipw *)h;

	if (f->answer.outcome != OUTCOME_OK || f->request.op != OP_MERGE || before == NULL)
		return;
	const struct cluster_object *const o = cluster_find(&h->cluster, f->request.kind, f->request.name);
	MUST(o != NULL && o->json != NULL);
	if (json_equal(o->json, before))
		return;
	if (f->request.kind == KIND_CAPI_CLUSTER)
		check_cluster_patch(w, before, o->json);
	else
		check_adoption(w, o->name, before, o->json);
}

/* V6, V7, V8: what is set stays, and what is set now is the address of the Cluster's own claim. */
static void
check_cluster_patch(struct vipw *w, const json_t *before, const json_t *after)
{
	const char *const name = vipw_text(before, "metadata.name");
	const char *const was = vipw_text(before, "spec.controlPlaneEndpoint.host");
	const char *const host = vipw_text(after, "spec.controlPlaneEndpoint.host");
	const char *const old_ingress = vipw_annotation(before, VIPW_INGRESS);
	const char *const ingress = vipw_annotation(after, VIPW_INGRESS);
	struct sim *const sim = w->h.sim;

	SIM_TRACE(sim, "%s has the endpoint %s", name, host);
	if (vipw_is_paused(before) || vipw_text(before, "metadata.deletionTimestamp")[0] != '\0'
	    || vipw_text(before, "spec.topology.classRef.name")[0] == '\0')
		sim_fail(sim, "%s is changed, and it is paused, being deleted or of no class", name);
	if (was[0] != '\0' && strcmp(was, host) != 0)
		sim_fail(sim, "the endpoint %s of %s is overwritten with %s", was, name, host);
	if (old_ingress[0] != '\0' && strcmp(old_ingress, ingress) != 0)
		sim_fail(sim, "the ingress address %s of %s is overwritten with %s", old_ingress,
		    name, ingress);
	json_t *const rest = without_ours(after), *const old = without_ours(before);
	if (!json_equal(rest, old))
		sim_fail(sim, "a patch of %s changes what is not ours", name);
	json_decref(rest);
	json_decref(old);
	if (host[0] != '\0' && was[0] == '\0') {
		check_address(w, after, host, false);
		if (json_integer_value(vipw_at(after, "spec.controlPlaneEndpoint.port")) != PORT)
			sim_fail(sim, "the port of %s", name);
	}
	if (ingress[0] != '\0' && old_ingress[0] == '\0')
		check_address(w, after, ingress, true);
	check_variables(w, before, after, host);
}

/* It is what the provider gave the Cluster's own claim; and what was rendered, if something was. */
static void
check_address(struct vipw *w, const json_t *cluster, const char *address, bool ingress)
{
	const char *const name = vipw_text(cluster, "metadata.name");
	const char *const uid = vipw_text(cluster, "metadata.uid");
	const struct vipw_life *const life = vipw_life(w, uid);
	char claim_name[CLUSTER_NAME_MAX];

	MUST(life != NULL);
	if (life->disturbed)
		return;
	snprintf(claim_name, sizeof(claim_name), "%s%s", ingress ? "vip-ingress-" : "vip-cp-", name);
	const struct cluster_object *const claim = vipw_object(w, KIND_IP_CLAIM, claim_name);
	const struct cluster_object *const given = vipw_object(w, KIND_IP_ADDRESS, claim_name);
	if (claim == NULL || given == NULL || strcmp(vipw_text(given->json, "spec.address"), address) != 0)
		sim_fail(w->h.sim, "%s gets %s, which is not the address of its claim", name, address);
	else if (strcmp(vipw_text(json_array_get(vipw_at(claim->json, "metadata.ownerReferences"), 0), "uid"),
	    uid) != 0)
		sim_fail(w->h.sim, "%s gets %s of a claim that is not its own", name, address);
	if (!ingress && life->given[0] != '\0' && strcmp(life->given, address) != 0)
		sim_fail(w->h.sim, "%s gets %s, and was rendered with %s", name, address, life->given);
}

/* Other variables keep what they are; ours is the address. */
static void
check_variables(struct vipw *w, const json_t *before, const json_t *after, const char *host)
{
	const json_t *const is = vipw_at(after, "spec.topology.variables"), *value;
	json_t *const others = other_variables(is);
	json_t *const old = other_variables(vipw_at(before, "spec.topology.variables"));
	size_t i;

	if (!json_equal(others, old))
		sim_fail(w->h.sim, "a patch of %s changes other variables",
		    vipw_text(before, "metadata.name"));
	json_array_foreach(is, i, value) {
		if (strcmp(vipw_text(value, "name"), VIPW_VARIABLE) == 0
		    && strcmp(vipw_text(value, "value"), host) != 0)
			sim_fail(w->h.sim, "the variable of %s is %s, and its endpoint %s",
			    vipw_text(before, "metadata.name"), vipw_text(value, "value"), host);
	}
	json_decref(others);
	json_decref(old);
}

static json_t *
other_variables(const json_t *all)
{
	json_t *const others = json_array();
	json_t *value;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)all, i, value) {
		if (strcmp(vipw_text(value, "name"), VIPW_VARIABLE) != 0)
			json_array_append(others, value);
	}
	return others;
}

static json_t *
without_ours(const json_t *object)
{
	json_t *const rest = json_deep_copy(object);
	json_t *const metadata = json_object_get(rest, "metadata");
	json_t *const spec = json_object_get(rest, "spec");
	static const char *const maps[] = { "labels", "annotations" };

	json_object_del(metadata, "resourceVersion");
	json_object_del(metadata, "generation");
	for (size_t i = 0; i < NITEMS(maps); i++) {
		json_t *const map = json_object_get(metadata, maps[i]);

		json_object_del(map, VIPW_INGRESS);
		if (json_object_size(map) == 0)
			json_object_del(metadata, maps[i]);
	}
	json_object_del(spec, "controlPlaneEndpoint");
	json_object_del(json_object_get(spec, "topology"), "variables");
	return rest;
}

/* V6: only a claim without an owner gets one, and it is the Cluster that the claim is named after. */
static void
check_adoption(struct vipw *w, const char *name, const json_t *before, const json_t *after)
{
	const json_t *const old = vipw_at(before, "metadata.ownerReferences");
	const json_t *const owners = vipw_at(after, "metadata.ownerReferences");
	bool ingress;
	char cluster[CLUSTER_NAME_MAX];

	vipw_cluster_name(cluster, vipw_claim_cluster(name, &ingress));
	if (json_array_size(old) > 0 && !json_equal(old, owners))
		sim_fail(w->h.sim, "%s gets another owner", name);
	if (json_array_size(owners) != 1
	    || strcmp(vipw_text(json_array_get(owners, 0), "name"), cluster) != 0
	    || vipw_life(w, vipw_text(json_array_get(owners, 0), "uid")) == NULL)
		sim_fail(w->h.sim, "%s gets an owner that is no Cluster", name);
	if (!json_equal(json_object_get(before, "spec"), json_object_get(after, "spec")))
		sim_fail(w->h.sim, "the spec of %s changes", name);
}

/* ---- Answers of the hooks ---- */

/* V2, V13: an endpoint, or no pool for its class as far as this replica can have read. */
void
vipw_check_pass(struct vipw *w, const struct runtime_actor *ra, const struct vipw_topology *t)
{
	const char *const class = vipw_text(t->seen, "spec.topology.classRef.name");

	if (vipw_text(t->seen, "spec.controlPlaneEndpoint.host")[0] == '\0'
	    && pool_is_read(w, ra, class))
		sim_fail(w->h.sim, "%s lets %s pass without an address, and there is a pool", ra->name,
		    vipw_text(t->seen, "metadata.name"));
	w->answers[0]++;
}

static bool
pool_is_read(const struct vipw *w, const struct runtime_actor *ra, const char *class)
{
	for (uint32_t i = 0; i < VIPW_POOLS; i++) {
		if (w->pools[i].exists && must_have_read(w, ra, w->pools[i].since_ms)
		    && vipw_pool_serves(i, class, false))
			return true;
	}
	return false;
}

/*
 * A replica has read what has been there for some time, if it was not cut off from the API server
 * meanwhile.
 */
static bool
must_have_read(const struct vipw *w, const struct runtime_actor *ra, int64_t since_ms)
{
	const int64_t now_ms = w->h.sim->now_ms;

	return now_ms - since_ms > READ_MS && now_ms - w->cut_ms[ra->tree] > AFTER_CUT_MS;
}

/*
 * V7: the address of the first patch is in every one after it, for as long as the Cluster lives; and it is
 * that of the Cluster's claim, or its endpoint.
 */
void
vipw_check_patches(struct vipw *w, const struct runtime_actor *ra, const struct vipw_topology *t,
    const char *host, int64_t port)
{
	const char *const name = vipw_text(t->seen, "metadata.name");
	const struct cluster_object *const now = vipw_object(w, KIND_CAPI_CLUSTER, name);
	struct vipw_life *const life = vipw_life(w, t->uid);
	char claim[CLUSTER_NAME_MAX];

	MUST(life != NULL);
	if (host[0] == '\0') {
		if (life->given[0] != '\0' && !life->disturbed && must_have_read(w, ra, life->given_ms))
			sim_fail(w->h.sim, "%s was rendered with %s, and now without an address", name,
			    life->given);
		return;
	}
	w->answers[1]++;
	if (port != PORT && port != MANUAL_PORT)
		sim_fail(w->h.sim, "%s is rendered with the port %lld", name, (long long)port);
	if (life->given[0] != '\0' && strcmp(life->given, host) != 0 && !life->disturbed)
		sim_fail(w->h.sim, "%s was rendered with %s, and now with %s", name, life->given, host);
	if (life->given[0] == '\0')
		life->given_ms = w->h.sim->now_ms;
	snprintf(life->given, sizeof(life->given), "%s", host);
	if (now == NULL || strcmp(vipw_text(now->json, "metadata.uid"), t->uid) != 0 || life->disturbed)
		return;		/* the Cluster of the call has gone meanwhile */
	snprintf(claim, sizeof(claim), "vip-cp-%s", name);
	const struct cluster_object *const given = vipw_object(w, KIND_IP_ADDRESS, claim);
	if (strcmp(vipw_text(now->json, "spec.controlPlaneEndpoint.host"), host) != 0
	    && (given == NULL || strcmp(vipw_text(given->json, "spec.address"), host) != 0))
		sim_fail(w->h.sim,
		    "%s is rendered with %s, which is neither its endpoint nor its claim's", name,
		    host);
}
