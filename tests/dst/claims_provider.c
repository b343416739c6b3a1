/*
 * tests/dst/claims_provider.c - the provider of the world `claims`: VMs that are ordered, listed late,
 * joined as Nodes with Pods, and deleted; and what must hold when a call leaves or takes effect.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "provider/brake.h"
#include "provider/fence.h"
#include "world_claims.h"

enum {
	BOOT_MS = 8 * 1000, LEAVE_MS = 5 * 1000, PODS_MAX = 2, GRACE_S = 5,
	/* Less than two observations of test-claimer are apart; and how soon after it is listed. */
	BLINK_MS = 1900, BLINKS_MS = 4 * 1000,
	SHRINK_MS = BRAKE_CONFIRM_MS - 1000,
	/* How old a view of the cluster can be when a decision from it takes effect at the provider. */
	VIEW_MS = 60 * 1000,
};

static void list_vms(struct claims *, struct http_exchange *);
static uint32_t list_limit(struct claims *, const struct http_exchange *);
static void order_vm(struct claims *, struct http_exchange *);
static void delete_vm(struct claims *, struct http_exchange *);
static void check_deletion(struct claims *, uint32_t);
static struct cluster_object *owner_of(struct claims *, const char *);
static bool has_pods(struct claims *, const char *);
static sim_fn shrink, join, leave;
static int64_t lag(struct sim *);

/* A mutation is begun only by the instance that leads, and only if its Lease outlives it (A8). */
void
claims_leaves(struct runtime *r, const struct http_exchange *x)
{
	struct claims *const w = r->world;

	if (strcmp(x->method, "GET") == 0)
		return;
	w->mutations++;
	w->mutated_ms = r->sim->now_ms;
	if (w->cluster.holder != (int)x->from->tree || w->cluster.until_ms <= r->sim->now_ms)
		sim_fail(r->sim, "%s begins %s %s, and does not lead", x->from->name, x->method, x->path);
	/* The worst moment to end: an order is sent, and no record of it exists. */
	if (!w->sweep && !w->sim->faults_over && strcmp(x->method, "POST") == 0
	    && sim_chance(w->sim, w->ends_at_order))
		runtime_kill_after(x->from, EFFECT_SENT, x->from->effects[EFFECT_SENT] + 1);
	if (w->cluster.until_ms - r->sim->now_ms < FENCE_MUTATION_MS)
		sim_fail(r->sim, "%s begins %s %s %lld ms before its Lease ends", x->from->name, x->method,
		    x->path, (long long)(w->cluster.until_ms - r->sim->now_ms));
}

void
claims_serve(struct runtime *r, struct http_exchange *x)
{
	struct claims *const w = r->world;

	if (strcmp(x->method, "GET") == 0) {
		list_vms(w, x);
		return;
	}
	w->mutated_ms = r->sim->now_ms;
	w->vm_changes++;
	if (strcmp(x->method, "POST") == 0)
		order_vm(w, x);
	else
		delete_vm(w, x);
}

static void
list_vms(struct claims *w, struct http_exchange *x)
{
	const int64_t now_ms = w->sim->now_ms;
	const uint32_t most = list_limit(w, x);
	json_t *const data = json_array();

	for (uint32_t i = 0; i < w->nvms && json_array_size(data) < most; i++) {
		const struct claims_vm *const vm = &w->vms[i];

		if (vm->from_ms <= now_ms && (now_ms < vm->blinks_ms || now_ms >= vm->blinks_ms + BLINK_MS)
		    && (!vm->deleted || vm->until_ms > now_ms))
			json_array_append_new(data, json_pack("{s:i, s:s, s:s}", "id", (int)i + 1, "tag",
			    vm->tag, "status", "running"));
	}
	struct claims_seen *const seen = &w->trees[x->from->tree].seen;
	if (most == UINT32_MAX && !x->lost && x->call != NULL) {
		seen->counts[seen->n++ % CLAIMS_SEEN] = (uint32_t)json_array_size(data);
		seen->shrunk = 0;
	}
	json_t *const all = json_pack("{s:o}", "data", data);
	x->answer = json_dumps(all, JSON_COMPACT);
	x->status = 200;
	json_decref(all);
}

/*
 * While lists lose entries: less than half of what this process has seen, so that its brake must notice. Not
 * more than that: what it has not seen, few entries, and a second loss without a whole list between are
 * beyond what the brake promises.
 */
static uint32_t
list_limit(struct claims *w, const struct http_exchange *x)
{
	struct claims_seen *const seen = &w->trees[x->from->tree].seen;
	uint32_t least = UINT32_MAX;

	if (seen->incarnation != x->incarnation)
		*seen = (struct claims_seen){ .incarnation = x->incarnation };
	for (uint32_t i = 0; i < CLAIMS_SEEN && i < seen->n; i++)
		least = seen->counts[i] < least ? seen->counts[i] : least;
	if (w->sim->now_ms >= w->shrunk_until_ms || seen->n < 2 || least <= BRAKE_SMALL
	    || (seen->shrunk != 0 && seen->shrunk != w->losses))
		return UINT32_MAX;
	seen->shrunk = w->losses;
	return least - least / 2 - 1;
}

static void
shrink(struct sim *sim, void *arg, uint64_t n)
{
	(void)sim, (void)n;
	claims_shrink_list(arg);
}

void
claims_shrink_list(struct claims *w)
{
	if (w->sim->faults_over || w->sim->now_ms < w->shrunk_until_ms)
		return;
	w->losses++;
	w->shrunk_until_ms = w->sim->now_ms + 1 + (int64_t)sim_random(w->sim, SHRINK_MS);
	SIM_TRACE(w->sim, "the provider's lists lack most VMs until %lld ms", (long long)w->shrunk_until_ms);
}

static void
order_vm(struct claims *w, struct http_exchange *x)
{
	json_t *const body = json_loads(x->body, 0, NULL);
	const char *const tag = json_string_value(json_object_get(body, "tag"));
	struct claims_vm *const vm = &w->vms[w->nvms];

	MUST(tag != NULL && w->nvms < CLAIMS_VMS_MAX);
	snprintf(vm->tag, sizeof(vm->tag), "%s", tag);
	vm->from_ms = w->sim->now_ms + lag(w->sim);
	/* Its sender gave it up and lives on: it waits FENCE_SETTLE_MS from then. Lists may lag so long. */
	const int64_t settles_ms = x->ended_ms + FENCE_SETTLE_MS;
	const bool given_up = x->call == NULL && x->from->node.up && x->from->incarnation == x->incarnation;
	if (!w->sim->faults_over && given_up && vm->from_ms < settles_ms && sim_chance(w->sim, 500))
		vm->from_ms = vm->blinks_ms = settles_ms - 1;
	else if (!w->sim->faults_over)
		vm->blinks_ms = vm->from_ms + (int64_t)sim_random(w->sim, BLINKS_MS);
	if (!w->sim->faults_over && sim_chance(w->sim, w->shrinks))
		sim_at(w->sim, vm->from_ms, shrink, w, 0);
	sim_at(w->sim, w->sim->now_ms + 1000 + (int64_t)sim_random(w->sim, BOOT_MS), join, w, w->nvms);
	w->nvms++;
	x->status = 200;
	MUST(asprintf(&x->answer, "{\"id\":%u,\"tag\":\"%s\",\"status\":\"booting\"}", w->nvms, tag) != -1);
	json_decref(body);
}

static void
delete_vm(struct claims *w, struct http_exchange *x)
{
	const unsigned long id = strtoul(x->path + strlen("/vms/"), NULL, 10);

	if (id == 0 || id > w->nvms || w->vms[id - 1].deleted) {
		x->status = 404;
		return;
	}
	struct claims_vm *const vm = &w->vms[id - 1];
	check_deletion(w, (uint32_t)id - 1);
	vm->deleted = true;
	for (unsigned t = 0; t < w->ntrees; t++) {
		for (uint32_t i = 0; i < CLAIMS_SEEN; i++)
			w->trees[t].seen.counts[i] -= w->trees[t].seen.counts[i] > 0;
	}
	vm->until_ms = w->sim->now_ms + lag(w->sim);
	sim_at(w->sim, w->sim->now_ms + 1 + (int64_t)sim_random(w->sim, LEAVE_MS), leave, w, id - 1);
	x->status = 200;
	x->answer = obj_strdup("{}");
}

/* Only the VM of a Widget that is being deleted, or is gone; and only when its Node is drained. */
static void
check_deletion(struct claims *w, uint32_t vm)
{
	const struct cluster_object *const owner = owner_of(w, w->vms[vm].tag);
	char node[CLUSTER_NAME_MAX];

	if (owner != NULL && claims_meta(owner, "deletionTimestamp")[0] == '\0')
		sim_fail(w->sim, "VM %u is deleted, and %s wants it", vm + 1, owner->name);
	snprintf(node, sizeof(node), "vm-%u", vm + 1);
	if (w->vms[vm].joined_ms != 0 && w->sim->now_ms - w->vms[vm].joined_ms > VIEW_MS
	    && has_pods(w, node))
		sim_fail(w->sim, "VM %u is deleted, and its Node has Pods", vm + 1);
}

static struct cluster_object *
owner_of(struct claims *w, const char *uid)
{
	for (unsigned i = 0; i < w->cluster.count; i++) {
		struct cluster_object *const o = &w->cluster.objects[i];

		if (o->kind == KIND_WIDGET && o->json != NULL && strcmp(claims_meta(o, "uid"), uid) == 0)
			return o;
	}
	return NULL;
}

static bool
has_pods(struct claims *w, const char *node)
{
	char fields[2 * CLUSTER_NAME_MAX];

	snprintf(fields, sizeof(fields), "spec.nodeName=%s", node);
	for (unsigned i = 0; i < w->cluster.count; i++) {
		const struct cluster_object *const o = &w->cluster.objects[i];

		if (o->kind == KIND_POD && o->json != NULL && cluster_selects(o, fields))
			return true;
	}
	return false;
}

uint32_t
claims_live_vms(const struct claims *w, const char *tag)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->nvms; i++)
		n += !w->vms[i].deleted && strcmp(w->vms[i].tag, tag) == 0;
	return n;
}

/* ---- Its Node ---- */

static void
join(struct sim *sim, void *arg, uint64_t n)
{
	struct claims *const w = arg;
	char node[CLUSTER_NAME_MAX], provider_id[CLUSTER_NAME_MAX], pod[CLUSTER_NAME_MAX];

	if (w->vms[n].deleted)
		return;
	w->vms[n].joined_ms = sim->now_ms;
	snprintf(node, sizeof(node), "vm-%u", (unsigned)n + 1);
	snprintf(provider_id, sizeof(provider_id), "test://%u", (unsigned)n + 1);
	SIM_TRACE(sim, "%s joins", node);
	cluster_put(&w->cluster, KIND_NODE, node, "spec", json_pack("{s:s}", "providerID", provider_id));
	for (uint64_t i = sim_random(sim, PODS_MAX + 1); i > 0; i--) {
		snprintf(pod, sizeof(pod), "pod-%u-%u", (unsigned)n + 1, (unsigned)i);
		cluster_put(&w->cluster, KIND_POD, pod, "spec", json_pack("{s:s, s:i}", "nodeName", node,
		    "terminationGracePeriodSeconds", GRACE_S));
	}
}

static void
leave(struct sim *sim, void *arg, uint64_t n)
{
	struct claims *const w = arg;
	char node[CLUSTER_NAME_MAX], fields[2 * CLUSTER_NAME_MAX];

	snprintf(node, sizeof(node), "vm-%u", (unsigned)n + 1);
	snprintf(fields, sizeof(fields), "spec.nodeName=%s", node);
	struct cluster_object *const o = cluster_find(&w->cluster, KIND_NODE, node);
	if (o == NULL)
		return;
	SIM_TRACE(sim, "%s leaves", node);
	cluster_drop(&w->cluster, o);
	for (unsigned i = 0; i < w->cluster.count; i++) {
		struct cluster_object *const pod = &w->cluster.objects[i];

		if (pod->kind == KIND_POD && pod->json != NULL && cluster_selects(pod, fields))
			cluster_drop(&w->cluster, pod);
	}
}

static int64_t
lag(struct sim *sim)
{
	if (sim->faults_over)
		return 0;
	return sim_chance(sim, 300) ? CLAIMS_LAG_MS : (int64_t)sim_random(sim, CLAIMS_LAG_MS);
}
