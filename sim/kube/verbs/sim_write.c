/* sim/kube/verbs/sim_write.c - POST, PUT and PATCH. */
#include <event2/buffer.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/base/sim_yaml.h"
#include "sim/http/sim_audit.h"
#include "sim/kube/printers/sim_view.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim/kube/sim_api.h"
#include "sim/kube/store/sim_store.h"
#include "sim_verbs.h"
#include "sim_write_request.h"

static const struct {
	const char	*type;
	enum sim_patch_type	 patch;
} patch_types[] = {
	{ "application/json-patch+json",            PATCH_JSON },
	{ "application/merge-patch+json",           PATCH_MERGE },
	{ "application/strategic-merge-patch+json", PATCH_STRATEGIC },
	{ "application/apply-patch+yaml",           PATCH_APPLY },
};

static bool namespace_takes(struct sim_request *, const char *);
static bool patch_type_of(struct sim_request *, enum sim_patch_type *);
static bool is_type(const char *, const char *);
static void finish(struct sim_request *, const struct sim_write_request *, struct sim_view *,
    struct sim_blob *, const json_t *, json_t *, json_t *);
static void answer(struct sim_request *, const struct sim_write_request *, struct sim_view *, int,
    struct sim_blob *);

void
sim_write_create(struct sim_request *c)
{
	struct sim_write_request w;
	struct sim_view view;
	json_t *status = NULL;

	if (!sim_view_read(&view, c))
		return;
	json_auto_t *body = sim_write_body(c);
	if (body == NULL)
		return;
	const char *const name = sim_json_text_at(body, "metadata.name");
	sim_audit_name(c->sim->audit, c->audit_row, name);
	if (!namespace_takes(c, name))
		return;
	sim_write_request_open(&w, c);
	json_t *const object = sim_semantics_create(&w.params, body, &status);
	finish(c, &w, &view, NULL, NULL, object, status);
	sim_write_request_close(&w);
}

void
sim_write_update(struct sim_request *c)
{
	struct sim_write_request w;
	struct sim_view view;
	char key[SIM_KEY_MAX];
	json_t *status = NULL;

	if (!sim_view_read(&view, c))
		return;
	json_auto_t *body = sim_write_body(c);
	if (body == NULL)
		return;
	struct sim_blob *const before = sim_storage_get(c->resource->storage,
	    sim_request_key(c, key, sizeof(key)));
	json_auto_t *old = before != NULL ? sim_blob_parse(before, c->resource) : NULL;
	if (old == NULL && !namespace_takes(c, c->route.name))
		return;
	sim_write_request_open(&w, c);
	json_t *const object = sim_semantics_update(&w.params, old, body, &status);
	finish(c, &w, &view, before, old, object, status);
	sim_write_request_close(&w);
}

void
sim_write_patch(struct sim_request *c)
{
	struct sim_write_request w;
	struct sim_view view;
	enum sim_patch_type type;
	char key[SIM_KEY_MAX];
	json_t *status = NULL;
	size_t len;

	if (!sim_view_read(&view, c) || !patch_type_of(c, &type))
		return;
	const char *const body = sim_request_body(c, &len);
	struct sim_blob *const before = sim_storage_get(c->resource->storage,
	    sim_request_key(c, key, sizeof(key)));
	json_auto_t *old = before != NULL ? sim_blob_parse(before, c->resource) : NULL;
	if (old == NULL && !namespace_takes(c, c->route.name))
		return;
	sim_write_request_open(&w, c);
	json_t *const object = sim_semantics_patch(&w.params, old, type, body, len, &status);
	finish(c, &w, &view, before, old, object, status);
	sim_write_request_close(&w);
}

/* Takes object and status: one of them is NULL. before and old (the same, read) NULL: the object is new. */
static void
finish(struct sim_request *c, const struct sim_write_request *w, struct sim_view *view,
    struct sim_blob *before, const json_t *old, json_t *object, json_t *status)
{
	const bool crd =
	    strcmp(c->resource->plural, "customresourcedefinitions") == 0 && c->resource->builtin;

	if (object != NULL && crd && c->route.subresource[0] == '\0')
		status = sim_semantics_crd_refusal(object);
	char key[SIM_KEY_MAX];
	sim_resource_key(c->resource, meta_text(object, "namespace"), meta_text(object, "name"), key,
	    sizeof(key));
	if (object != NULL && status == NULL && before == NULL
	    && sim_storage_get(c->resource->storage, key) != NULL)
		status = sim_semantics_already_exists(c->resource, sim_json_text_at(object, "metadata.name"));
	if (status != NULL) {
		json_decref(object);
		sim_write_warn(c, w);
		sim_request_reply_status(c, status);
		return;
	}
	struct sim_blob *now;
	if (old != NULL && json_equal(old, object)) {
		now = sim_blob_ref(before);
	} else if (w->params.dry_run) {
		now = sim_blob_new(sim_blob_stored_form(object, c->resource), c->resource->storage->form,
		    before != NULL ? before->rv : 0);
	} else if (before != NULL && sim_semantics_finished(object)) {
		now = sim_blob_new(sim_blob_stored_form(object, c->resource),
		    c->resource->storage->form, before->rv);
		c->rv = sim_store_remove(c->sim->store, c->resource->storage, sim_blob_key(before));
	} else {
		now = sim_blob_ref(sim_store_put(
		    c->sim->store, c->resource->storage, sim_blob_stored_form(object, c->resource)));
	}
	answer(c, w, view, before == NULL ? 201 : 200, now);
	json_decref(object);
}

/* Takes the reference. */
static void
answer(struct sim_request *c, const struct sim_write_request *w, struct sim_view *view, int code,
    struct sim_blob *now)
{
	struct evbuffer *const out = evbuffer_new();

	sim_write_warn(c, w);
	sim_audit_name(c->sim->audit, c->audit_row, sim_blob_name(now));
	sim_view_object(view, now, 0, out);
	evbuffer_add(out, "\n", 1);
	c->rv = c->rv != 0 ? c->rv : now->rv;
	sim_request_reply(c, code, "application/json", out);
	sim_blob_unref(&now);
}

/* False: the namespace is missing or going, and the request is answered. */
static bool
namespace_takes(struct sim_request *c, const char *name)
{
	if (!c->resource->namespaced)
		return true;
	struct sim_storage *const namespaces = sim_store_storage(c->sim->store, "", "namespaces");
	struct sim_blob *const b = sim_storage_get(namespaces, c->route.ns);
	if (b == NULL) {
		sim_request_reply_status(c, sim_semantics_not_found(namespaces->form, c->route.ns));
		return false;
	}
	if (strcmp(sim_blob_field(b, "status.phase"), "Terminating") != 0)
		return true;
	char qualified[512];
	sim_request_reply_status(c, sim_semantics_failure_of(403, "Forbidden", c->resource, name,
	    json_pack("[{s:s, s:o, s:s}]", "reason", "NamespaceTerminating", "message",
	    json_sprintf("namespace %s is being terminated", c->route.ns), "field", "metadata.namespace"),
	    "%s \"%s\" is forbidden: unable to create new content in namespace %s because "
	    "it is being terminated",
	    sim_resource_qualified(c->resource, qualified, sizeof(qualified)), name, c->route.ns));
	return false;
}

/* False: 415. */
static bool
patch_type_of(struct sim_request *c, enum sim_patch_type *type)
{
	const char *const given = sim_request_header(c, "Content-Type");

	for (size_t i = 0; i < NITEMS(patch_types); i++) {
		if (is_type(given, patch_types[i].type)
		    && (c->resource->builtin || patch_types[i].patch != PATCH_STRATEGIC)) {
			*type = patch_types[i].patch;
			return true;
		}
	}
	sim_request_fail(c, 415, "UnsupportedMediaType",
	    "the body of the request was in an unknown format - accepted media types include: "
	    "application/json-patch+json, application/merge-patch+json, %sapplication/apply-patch+yaml",
	    c->resource->builtin ? "application/strategic-merge-patch+json, " : "");
	return false;
}

static bool
is_type(const char *header, const char *type)
{
	const size_t n = strcspn(header, "; ");

	return strlen(type) == n && strncasecmp(header, type, n) == 0;
}
