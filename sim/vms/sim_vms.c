/*
 * sim/vms/sim_vms.c - the provider of test-claimer: the smallest API that loses money when it is called
 * twice.
 *
 *	GET /vms			{"data": [{"id": 7, "tag": "...", "status": "running"}]}
 *	GET /vms?page=1&page_size=100	the same with page, pages and results
 *	POST /vms {"tag": "..."}	the VM; every call makes another one
 *	DELETE /vms/7			{}; it is in no list from then on, and its Node goes soon after
 *
 * VM 7 becomes the Node vm-7 with spec.providerID test://7.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/machines/sim_machine_nodes.h"
#include "sim/provider/sim_provider_past.h"
#include "sim/provider/sim_providers.h"

enum { KEPT_STATES = 64 };

struct sim_vms {
	uint32_t			 magic;
#define VMS_MAGIC	0x564d5321u
	bool				 join;
	struct sim_machine_nodes	*nodes;
	struct sim_provider_past	*past;
};

/* At --speed 1; a VM has joined after about two seconds. */
static const int64_t lasts_ms[MACHINE_STATES] = {
	[MACHINE_ORDERED] = 300, [MACHINE_BOOTING] = 700, [MACHINE_RUNNING] = 500, [MACHINE_JOINED] = 500,
	[MACHINE_DELETING] = 500,
};

/* What the API calls the states; NULL: the VM is in no list. */
static const char *const status_of[MACHINE_STATES] = {
	[MACHINE_ORDERED] = "provisioning", [MACHINE_BOOTING] = "booting", [MACHINE_RUNNING] = "running",
	[MACHINE_JOINED] = "running", [MACHINE_READY] = "running", [MACHINE_DEAD] = "offline",
};

static const struct sim_provider_page_sizes page_sizes = { .usual = 100, .least = 1, .most = 500 };

/* No limits, unless a test sets them (POST /providers). */
static const struct sim_provider_class list_class = { "list", 0, 0, NULL },
    create_class = { "create", 0, 0, NULL }, delete_class = { "delete", 0, 0, NULL };

static sim_provider_handler list_vms, create_vm, delete_vm;
static const struct sim_provider_route routes[] = {
	{ EVHTTP_REQ_GET,    "/vms",      &list_class,   list_vms,  false },
	{ EVHTTP_REQ_POST,   "/vms",      &create_class, create_vm, false },
	{ EVHTTP_REQ_DELETE, "/vms/{id}", &delete_class, delete_vm, false },
	{ .pattern = NULL },
};
static const struct sim_provider_auth auth[] = { { "Authorization", "Bearer " }, { .header = NULL } };

static void *open_model(struct simulator *, bool);
static void close_model(void *);
static struct sim_machines *machines_of(void *);
static json_t *state_of(void *);
static json_t *error_of(int, const char *);
static struct sim_provider_answer fail(int, const char *);
static json_t *present(const struct sim_vms *);
static json_t *vm_json(const struct sim_machine *);

static const struct sim_provider_spec spec = { .name = "vms", .routes = routes,
	.auth = auth, .error = error_of };
extern const struct sim_provider_kind sim_vms_kind;
const struct sim_provider_kind sim_vms_kind = {
	.spec = &spec, .open = open_model, .close = close_model, .machines = machines_of, .state = state_of,
};

static void *
open_model(struct simulator *s, bool join)
{
	struct sim_vms *v;

	OBJ_NEW(v, VMS_MAGIC);
	v->join = join;
	v->nodes = sim_machine_nodes_new(s, lasts_ms);
	v->past = sim_provider_past_new(KEPT_STATES);
	return v;
}

static void
close_model(void *model)
{
	struct sim_vms *v = model;

	OBJ_CHECK(v, VMS_MAGIC);
	sim_machine_nodes_free(&v->nodes);
	sim_provider_past_free(&v->past);
	OBJ_FREE(v);
}

static struct sim_machines *
machines_of(void *model)
{
	const struct sim_vms *const v = model;

	return sim_machine_nodes_machines(v->nodes);
}

static json_t *
state_of(void *model)
{
	return json_pack("{s:o}", "vms", present(model));
}

static json_t *
error_of(int code, const char *why)
{
	(void)code;
	return json_pack("{s:s}", "error", why);
}

static struct sim_provider_answer
fail(int code, const char *why)
{
	return (struct sim_provider_answer){ .code = code, .body = error_of(code, why) };
}

static struct sim_provider_answer
list_vms(void *model, const struct sim_provider_call *c)
{
	const struct sim_vms *const v = model;
	const char *const page = sim_provider_query(c, "page");
	const char *const size = sim_provider_query(c, "page_size");
	json_t *const earlier = sim_provider_past_at(v->past, c->behind);
	json_auto_t *all = earlier != NULL ? json_incref(earlier) : present(v);
	struct sim_provider_page p;

	if (page == NULL && size == NULL)
		return (struct sim_provider_answer){ .code = 200, .body = json_pack("{s:O}", "data", all) };
	if (!sim_provider_page_by_number(&p, json_array_size(all), page, size, &page_sizes))
		return fail(400, "page or page_size is not a number that it may be");
	return (struct sim_provider_answer){ .code = 200, .body = json_pack("{s:o, s:I, s:I, s:I}", "data",
	    sim_provider_slice(all, &p), "page", (json_int_t)p.page, "pages", (json_int_t)p.pages, "results",
	    (json_int_t)json_array_size(all)) };
}

static struct sim_provider_answer
create_vm(void *model, const struct sim_provider_call *c)
{
	struct sim_vms *const v = model;
	struct sim_machines *const machines = sim_machine_nodes_machines(v->nodes);
	json_t *const tag = json_object_get(c->body, "tag");
	char name[32], provider_id[32];

	if (!json_is_string(tag))
		return fail(400, "tag: a text is needed");
	sim_provider_past_keep(v->past, present(v));
	const uint64_t id = sim_machines_next_id(machines);
	snprintf(name, sizeof(name), "vm-%llu", (unsigned long long)id);
	snprintf(provider_id, sizeof(provider_id), "test://%llu", (unsigned long long)id);
	const struct sim_machine *const m = sim_machines_order(machines, &(struct sim_machine_order){
	    .name = name, .provider_id = provider_id, .info = tag,
	    .last = v->join ? MACHINE_GONE : MACHINE_RUNNING });
	return (struct sim_provider_answer){ .code = 200, .body = vm_json(m),
		.effect = json_sprintf("%s created for %s", name, json_string_value(tag)) };
}

static struct sim_provider_answer
delete_vm(void *model, const struct sim_provider_call *c)
{
	struct sim_vms *const v = model;
	struct sim_machines *const machines = sim_machine_nodes_machines(v->nodes);
	char *end;

	errno = 0;
	const uint64_t id = strtoull(c->args.of[0], &end, 10);
	const bool number = *end == '\0' && errno == 0;
	const struct sim_machine *const m = number ? sim_machines_find(machines, id) : NULL;
	if (m == NULL || m->state == MACHINE_DELETING)
		return fail(404, "there is no such VM");
	sim_provider_past_keep(v->past, present(v));
	json_t *const effect = json_sprintf("%s deleted of %s", m->name, json_string_value(m->info));
	MUST(sim_machines_delete(machines, id));
	return (struct sim_provider_answer){ .code = 200, .body = json_object(), .effect = effect };
}

static json_t *
present(const struct sim_vms *v)
{
	const struct sim_machines *const machines = sim_machine_nodes_machines(v->nodes);
	json_t *const list = json_array();
	const struct sim_machine *m;

	for (size_t i = 0; (m = sim_machines_nth(machines, i)) != NULL; i++) {
		if (status_of[m->state] != NULL)
			json_array_append_new(list, vm_json(m));
	}
	return list;
}

static json_t *
vm_json(const struct sim_machine *m)
{
	return json_pack("{s:I, s:O, s:s}", "id", (json_int_t)m->id, "tag", m->info, "status",
	    status_of[m->state]);
}
