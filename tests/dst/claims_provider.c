/*
 * tests/dst/claims_provider.c - the provider of the world `claims`: VMs that are ordered, listed late,
 * joined as Nodes, and deleted; and what must hold when a call takes effect.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "provider/fence.h"
#include "world_claims.h"

enum {
	BOOT_MS = 8 * 1000, LEAVE_MS = 5 * 1000,
	/* Less than two observations of test-claimer are apart; and how soon after it is listed. */
	BLINK_MS = 1900, BLINKS_MS = 4 * 1000,
};

static void list_vms(struct claims *, struct http_exchange *);
static void order_vm(struct claims *, struct http_exchange *);
static void delete_vm(struct claims *, struct http_exchange *);
static void check_deletion(struct claims *, uint32_t);
static sim_fn shrink, join, leave;

void
claims_serve(struct harness *h, struct http_exchange *x)
{
	struct claims *const w = (struct claims *)h;

	if (strcmp(x->method, "GET") == 0) {
		list_vms(w, x);
		return;
	}
	w->vm_changes++;
	if (strcmp(x->method, "POST") == 0)
		order_vm(w, x);
	else
		delete_vm(w, x);
}

static void
list_vms(struct claims *w, struct http_exchange *x)
{
	const int64_t now_ms = w->h.sim->now_ms;
	const uint32_t most = harness_list_limit(&w->h, x);
	json_t *const data = json_array();

	for (uint32_t i = 0; i < w->nvms && json_array_size(data) < most; i++) {
		const struct claims_vm *const vm = &w->vms[i];

		if (vm->from_ms <= now_ms && (now_ms < vm->blinks_ms || now_ms >= vm->blinks_ms + BLINK_MS)
		    && (!vm->deleted || vm->until_ms > now_ms))
			json_array_append_new(data, json_pack("{s:i, s:s, s:s}", "id", (int)i + 1, "tag",
			    vm->tag, "status", "running"));
	}
	harness_listed(&w->h, x, most, (uint32_t)json_array_size(data));
	json_t *const all = json_pack("{s:o}", "data", data);
	x->answer = json_dumps(all, JSON_COMPACT);
	x->status = 200;
	json_decref(all);
}

static void
shrink(struct sim *sim, void *arg, uint64_t n)
{
	(void)sim, (void)n;
	harness_shrink_lists(arg);
}

static void
order_vm(struct claims *w, struct http_exchange *x)
{
	json_t *const body = json_loads(x->body, 0, NULL);
	const char *const tag = json_string_value(json_object_get(body, "tag"));
	struct claims_vm *const vm = &w->vms[w->nvms];

	MUST(tag != NULL && w->nvms < CLAIMS_VMS_MAX);
	snprintf(vm->tag, sizeof(vm->tag), "%s", tag);
	vm->from_ms = w->h.sim->now_ms + harness_lag(w->h.sim);
	/* Its sender gave it up and lives on: it waits FENCE_SETTLE_MS from then. Lists may lag so long. */
	const int64_t settles_ms = x->ended_ms + FENCE_SETTLE_MS;
	if (!w->h.sim->faults_over && harness_given_up(x) && vm->from_ms < settles_ms
	    && sim_chance(w->h.sim, 500))
		vm->from_ms = vm->blinks_ms = settles_ms - 1;
	else if (!w->h.sim->faults_over)
		vm->blinks_ms = vm->from_ms + (int64_t)sim_random(w->h.sim, BLINKS_MS);
	if (!w->h.sim->faults_over && sim_chance(w->h.sim, w->shrinks))
		sim_at(w->h.sim, vm->from_ms, shrink, w, 0);
	sim_at(w->h.sim, w->h.sim->now_ms + 1000 + (int64_t)sim_random(w->h.sim, BOOT_MS), join, w, w->nvms);
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
	harness_list_lost_one(&w->h);
	vm->until_ms = w->h.sim->now_ms + harness_lag(w->h.sim);
	sim_at(w->h.sim, w->h.sim->now_ms + 1 + (int64_t)sim_random(w->h.sim, LEAVE_MS), leave, w, id - 1);
	x->status = 200;
	x->answer = obj_strdup("{}");
}

/* Only the VM of a Widget that is being deleted, or is gone; and only when its Node is drained. */
static void
check_deletion(struct claims *w, uint32_t vm)
{
	const struct cluster_object *const owner = harness_find_uid(&w->h, KIND_WIDGET, w->vms[vm].tag);
	char node[CLUSTER_NAME_MAX];

	if (owner != NULL && !harness_is_deleting(owner))
		sim_fail(w->h.sim, "VM %u is deleted, and %s wants it", vm + 1, owner->name);
	snprintf(node, sizeof(node), "vm-%u", vm + 1);
	if (w->vms[vm].joined_ms != 0 && w->h.sim->now_ms - w->vms[vm].joined_ms > HARNESS_VIEW_MS
	    && harness_has_pods(&w->h, node))
		sim_fail(w->h.sim, "VM %u is deleted, and its Node has Pods", vm + 1);
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
	char node[CLUSTER_NAME_MAX], provider_id[CLUSTER_NAME_MAX];

	if (w->vms[n].deleted)
		return;
	w->vms[n].joined_ms = sim->now_ms;
	snprintf(node, sizeof(node), "vm-%u", (unsigned)n + 1);
	snprintf(provider_id, sizeof(provider_id), "test://%u", (unsigned)n + 1);
	harness_join(&w->h, node, provider_id);
}

static void
leave(struct sim *sim, void *arg, uint64_t n)
{
	struct claims *const w = arg;
	char node[CLUSTER_NAME_MAX];

	(void)sim;
	snprintf(node, sizeof(node), "vm-%u", (unsigned)n + 1);
	harness_leave(&w->h, node);
}
