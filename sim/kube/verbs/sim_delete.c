/* sim/kube/verbs/sim_delete.c - DELETE, of one object or of all that are selected, and eviction. */
#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_json.h"
#include "sim/base/sim_yaml.h"
#include "sim/cluster/sim_pdb.h"
#include "sim/kube/printers/sim_view.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim/kube/sim_api.h"
#include "sim/kube/store/sim_selection.h"
#include "sim/kube/store/sim_store.h"
#include "sim_verbs.h"
#include "sim_write_request.h"

static json_t *read_options(struct sim_request *);
static bool is_dry_run(const json_t *);
static enum sim_deletion delete_one(struct sim_request *, struct sim_write_request *,
    struct sim_blob *, const json_t *, json_t **);

void
sim_write_delete(struct sim_request *c)
{
	struct sim_write_request w;
	char key[SIM_KEY_MAX];
	json_t *answer = NULL;

	json_auto_t *options = read_options(c);
	if (options == NULL)
		return;
	struct sim_blob *b = sim_blob_ref(sim_storage_get(c->resource->storage,
	    sim_request_key(c, key, sizeof(key))));
	sim_write_request_open(&w, c);
	w.params.dry_run = is_dry_run(options);
	if (b == NULL)
		answer = sim_semantics_not_found(c->resource, c->route.name);
	else
		delete_one(c, &w, b, options, &answer);
	sim_write_warn(c, &w);
	/* A Status is answered by its own code; "Success" has none. */
	if (strcmp(sim_json_text(answer, "kind"), "Status") == 0) {
		sim_request_reply_status(c, answer);
	} else {
		struct evbuffer *const out = evbuffer_new();

		sim_view_json(c->resource, answer, out);
		evbuffer_add(out, "\n", 1);
		sim_request_reply(c, 200, "application/json", out);
		json_decref(answer);
	}
	sim_write_request_close(&w);
	sim_blob_unref(&b);
}

void
sim_write_delete_collection(struct sim_request *c)
{
	struct sim_write_request w;
	struct sim_selection selection;
	struct sim_view view;

	if (!sim_view_read(&view, c) || !sim_selection_read(&selection, c))
		return;
	json_auto_t *options = read_options(c);
	if (options == NULL) {
		sim_selection_free(&selection);
		return;
	}
	struct sim_snapshot *snap = sim_store_snapshot(c->sim->store, c->resource->storage, selection.ns, 0);
	struct evbuffer *const items = evbuffer_new();
	json_t *refusal = NULL;
	sim_write_request_open(&w, c);
	w.params.dry_run = is_dry_run(options);
	for (size_t i = 0; i < snap->n && refusal == NULL; i++) {
		json_t *answer = NULL;

		if (!sim_selection_matches(&selection, snap->objects[i]))
			continue;
		w.params.name = sim_blob_name(snap->objects[i]);
		if (delete_one(c, &w, snap->objects[i], options, &answer) == DELETION_REFUSED) {
			refusal = answer;
			break;
		}
		json_decref(answer);
		if (evbuffer_get_length(items) > 0)
			evbuffer_add(items, ",", 1);
		sim_view_list_item(&view, snap->objects[i], items);
	}
	if (refusal != NULL) {
		sim_request_reply_status(c, refusal);
	} else {
		const struct sim_list_meta meta = { c->sim->store->rv, "", -1 };
		struct evbuffer *const out = evbuffer_new();

		sim_view_list_head(&view, &meta, out);
		evbuffer_add_buffer(out, items);
		sim_view_list_tail(&view, &meta, out);
		sim_request_reply(c, 200, "application/json", out);
	}
	sim_write_request_close(&w);
	evbuffer_free(items);
	sim_snapshot_free(&snap);
	sim_selection_free(&selection);
}

void
sim_write_evict(struct sim_request *c)
{
	struct sim_write_request w;
	char key[SIM_KEY_MAX];
	json_t *answer;

	json_auto_t *eviction = sim_write_body(c);
	if (eviction == NULL)
		return;
	struct sim_blob *b = sim_blob_ref(sim_storage_get(c->resource->storage,
	    sim_request_key(c, key, sizeof(key))));
	sim_write_request_open(&w, c);
	w.params.dry_run = w.params.dry_run || is_dry_run(json_object_get(eviction, "deleteOptions"));
	enum sim_deletion how = DELETION_REFUSED;
	answer = sim_semantics_eviction_refusal(&w.params, eviction);
	if (answer == NULL && b == NULL)
		answer = sim_semantics_not_found(c->resource, c->route.name);
	if (answer == NULL)
		answer = sim_pdb_check(c->sim, b, w.params.dry_run);
	if (answer == NULL)
		how = delete_one(c, &w, b, eviction, &answer);
	if (how != DELETION_REFUSED) {
		json_decref(answer);
		answer = json_pack("{s:s, s:s, s:{}, s:s, s:i}", "kind", "Status", "apiVersion",
		    "v1", "metadata", "status", "Success", "code", 201);
	}
	sim_request_reply_status(c, answer);
	sim_write_request_close(&w);
	sim_blob_unref(&b);
}

/* *answer is the body of the answer, whatever the result. */
static enum sim_deletion
delete_one(struct sim_request *c, struct sim_write_request *w, struct sim_blob *b,
    const json_t *options, json_t **answer)
{
	json_auto_t *old = sim_blob_parse(b, c->resource), *marked = NULL;
	json_t *status = NULL;
	const enum sim_deletion how = sim_semantics_delete(&w->params, old, options, &marked, &status);

	if (how == DELETION_REFUSED) {
		*answer = status;
	} else if (how == DELETION_GONE) {
		if (!w->params.dry_run) {
			c->rv = sim_store_remove(c->sim->store, c->resource->storage, sim_blob_key(b));
			json_object_set_new(json_object_get(old, "metadata"), "resourceVersion",
			    json_sprintf("%llu", (unsigned long long)c->rv));
		}
		*answer = sim_semantics_deleted(&w->params, old, how);
	} else {
		if (!w->params.dry_run && !json_equal(old, marked)) {
			const struct sim_blob *const now = sim_store_put(
			    c->sim->store, c->resource->storage, sim_blob_stored_form(marked, c->resource));

			c->rv = now->rv;
			json_decref(marked);
			marked = sim_blob_parse(now, c->resource);
		}
		*answer = sim_semantics_deleted(&w->params, marked, how);
	}
	return how;
}

/* DeleteOptions of the body, or of the query where there is no body. NULL: the request is answered. */
static json_t *
read_options(struct sim_request *c)
{
	static const char *const names[] = { "gracePeriodSeconds", "propagationPolicy", "orphanDependents" };
	const char *const dry_run = sim_request_param(c, "dryRun");
	size_t len;

	sim_request_body(c, &len);
	json_t *const options = len > 0 ? sim_write_body(c) : json_object();
	if (len == 0 && dry_run != NULL)
		json_object_set_new(options, "dryRun", json_pack("[o]", sim_json_utf8(dry_run)));
	for (size_t i = 0; options != NULL && len == 0 && i < NITEMS(names); i++) {
		const char *const value = sim_request_param(c, names[i]);

		if (value == NULL)
			continue;
		json_t *const typed = json_loads(value, JSON_DECODE_ANY, NULL);
		json_object_set_new(options, names[i], typed != NULL ? typed : sim_json_utf8(value));
	}
	return options;
}

static bool
is_dry_run(const json_t *options)
{
	return has_text(json_object_get(options, "dryRun"), "All");
}
