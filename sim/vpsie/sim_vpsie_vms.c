/* sim/vpsie/sim_vpsie_vms.c - the handlers of VMs: plain ones, and those of workers. */
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim_vpsie_private.h"

static struct vpsie_worker *vm_of(struct vpsie *, const char *);
static struct sim_provider_answer not_found(const struct vpsie *);
static struct sim_provider_answer remove_vm(struct vpsie *, const char *);

struct sim_provider_answer
vpsie_list_vms(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const json_t *const earlier = sim_provider_past_at(v->past, c->behind);

	vpsie_refresh(v);
	return vpsie_list(v, c, earlier != NULL ? json_incref(json_object_get(earlier, "vms"))
	    : vpsie_vms_json(v));
}

/* By number it is in `data`, or bare; by identifier it is wrapped once more, as the SDK reads it. */
struct sim_provider_answer
vpsie_get_vm(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const char *const id = c->args.of[1];
	const struct vpsie_worker *const w = vm_of(v, id);

	if (w == NULL)
		return not_found(v);
	json_t *const vm = vpsie_vm_json(v, w);
	if (strchr(id, '-') != NULL)
		return vpsie_ok(json_pack("{s:o, s:[], s:[], s:[], s:[]}", "vmData", vm, "imageCategories",
		    "vmTags", "privateIpData", "floatingIpData"), NULL);
	if (v->settings.bare_vm != 0)
		return (struct sim_provider_answer){ .code = 200, .body = vm };
	return vpsie_ok(vm, NULL);
}

/* A plain VM; it is made later, and nothing of it is in the answer. */
struct sim_provider_answer
vpsie_create_vm(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const char *const hostname = sim_json_text(c->body, "hostname");

	if (hostname[0] == '\0' || strlen(hostname) >= VPSIE_NAME_MAX)
		return vpsie_fail(v, 400, "hostname is required");
	if (vpsie_count_workers(v) >= v->settings.quota)
		return vpsie_fail(v, 400, "VM quota exceeded");
	vpsie_keep_past(v);
	const struct vpsie_worker *const w = vpsie_add_worker(v, NULL, NULL, hostname);
	return vpsie_ok(json_true(), json_sprintf("VM %lld created, %s", (long long)vpsie_vm_id(w),
	    w->hostname));
}

struct sim_provider_answer
vpsie_delete_vm(void *model, const struct sim_provider_call *c)
{
	return remove_vm(model, c->args.of[1]);
}

/* The SDK's form: {"vmIdentifier", "password", "deleteStatistic"}. */
struct sim_provider_answer
vpsie_delete_vm_by_body(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const char *const identifier = sim_json_text(c->body, "vmIdentifier");

	if (identifier[0] == '\0' || sim_json_text(c->body, "password")[0] == '\0')
		return vpsie_fail(v, 400, "vmIdentifier and password are required");
	return remove_vm(v, identifier);
}

struct sim_provider_answer
vpsie_vm_status(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	const struct vpsie_worker *const w = vm_of(v, c->args.of[1]);

	return w != NULL ? vpsie_ok(json_pack("{s:s}", "status", vpsie_status(vpsie_machine(v, w))), NULL)
	    : not_found(v);
}

/* Plain VMs that are only ordered. That workers are here, too, is not confirmed: they are not. */
struct sim_provider_answer
vpsie_list_pending(void *model, const struct sim_provider_call *c)
{
	struct vpsie *const v = model;
	json_t *const list = json_array();

	vpsie_refresh(v);
	for (size_t i = 0; i < v->nworkers; i++) {
		const struct vpsie_worker *const w = v->workers[i];

		if (w->cluster == NULL && vpsie_machine(v, w)->state == MACHINE_ORDERED)
			json_array_append_new(list, json_pack("{s:o, s:i, s:{s:s}, s:i, s:s}", "id",
			    json_sprintf("%lld", (long long)vpsie_vm_id(w)), "user_id", 9, "data", "hostname",
			    w->hostname, "running", 1, "type", "vm"));
	}
	return vpsie_list(v, c, list);
}

/* NULL: there is none, or no list of VMs has it. */
static struct vpsie_worker *
vm_of(struct vpsie *v, const char *id)
{
	vpsie_refresh(v);
	struct vpsie_worker *const w = vpsie_find_vm(v, id);
	return w != NULL && !w->manner.hide_vm ? w : NULL;
}

static struct sim_provider_answer
remove_vm(struct vpsie *v, const char *id)
{
	struct vpsie_worker *const w = vm_of(v, id);

	if (w == NULL || vpsie_machine(v, w)->state == MACHINE_DELETING)
		return not_found(v);
	vpsie_keep_past(v);
	json_t *const effect = json_sprintf("VM %lld deleted, %s", (long long)vpsie_vm_id(w), w->hostname);
	vpsie_delete_worker(v, w);
	return vpsie_ok(json_true(), effect);
}

static struct sim_provider_answer
not_found(const struct vpsie *v)
{
	return vpsie_fail(v, 404, "VM not found");
}
