/* sim/kube/verbs/sim_delete.c - DELETE, of one object or of all that are selected, and eviction. */
#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>

#include "sim/kube/sim_api.h"
#include "sim/cluster/sim_pdb.h"
#include "sim/base/sim_json.h"
#include "obj.h"
#include "sim/kube/store/sim_selection.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim/kube/store/sim_store.h"
#include "sim/kube/printers/sim_view.h"
#include "sim_write.h"
#include "sim_write_request.h"
#include "sim/base/sim_yaml.h"

static json_t *read_options(struct call *);
static enum deletion delete_one(struct call *, struct write_ask *, struct blob *, const json_t *, json_t **);

void
write_delete(struct call *c)
{
	struct write_ask w;
	char key[API_KEY_MAX];
	json_t *answer = NULL;

	json_t *const options = read_options(c);
	if (options == NULL)
		return;
	struct blob *b = blob_ref(storage_get(c->resource->storage, api_key(c, key, sizeof(key))));
	write_ask_open(&w, c);
	if (b == NULL)
		answer = semantics_not_found(c->resource, c->route.name);
	else
		delete_one(c, &w, b, options, &answer);
	write_warn(c, &w);
	/* A Status is answered by its own code; "Success" has none. */
	if (strcmp(json_text(answer, "kind"), "Status") == 0)
		call_reply_status(c, answer);
	else
		call_reply_json(c, 200, answer);
	write_ask_close(&w);
	json_decref(options);
	blob_unref(&b);
}

void
write_delete_collection(struct call *c)
{
	struct write_ask w;
	struct selection selection;
	struct view view;

	if (!view_read(&view, c) || !selection_read(&selection, c))
		return;
	json_t *const options = read_options(c);
	if (options == NULL) {
		selection_free(&selection);
		return;
	}
	struct snapshot *snap = depot_snapshot(c->sim->depot, c->resource->storage, selection.ns, 0);
	struct evbuffer *const out = evbuffer_new(), *const items = evbuffer_new();
	write_ask_open(&w, c);
	for (size_t i = 0; i < snap->n; i++) {
		json_t *answer = NULL;

		if (!selection_matches(&selection, snap->objects[i]))
			continue;
		w.ask.name = blob_name(snap->objects[i]);
		delete_one(c, &w, snap->objects[i], options, &answer);
		json_decref(answer);
		if (evbuffer_get_length(items) > 0)
			evbuffer_add(items, ",", 1);
		view_list_item(&view, snap->objects[i], items);
	}
	view_list_head(&view, depot_rv(c->sim->depot), "", -1, out);
	evbuffer_add_buffer(out, items);
	view_list_tail(out);
	call_reply(c, 200, "application/json", out);
	write_ask_close(&w);
	evbuffer_free(items);
	evbuffer_free(out);
	snapshot_free(&snap);
	selection_free(&selection);
	json_decref(options);
}

void
write_evict(struct call *c)
{
	struct write_ask w;
	char key[API_KEY_MAX];
	json_t *answer = NULL;

	json_t *const eviction = write_body(c);
	if (eviction == NULL)
		return;
	struct blob *b = blob_ref(storage_get(c->resource->storage, api_key(c, key, sizeof(key))));
	write_ask_open(&w, c);
	enum deletion how = DELETION_REFUSED;
	if (b == NULL)
		answer = semantics_not_found(c->resource, c->route.name);
	else if ((answer = budget_refusal(c->sim, b, w.ask.dry_run)) == NULL)
		how = delete_one(c, &w, b, eviction, &answer);
	if (how != DELETION_REFUSED) {
		json_decref(answer);
		answer = json_pack("{s:s, s:s, s:{}, s:s, s:i}", "kind", "Status", "apiVersion",
		    "v1", "metadata", "status", "Success", "code", 201);
	}
	call_reply_status(c, answer);
	write_ask_close(&w);
	json_decref(eviction);
	blob_unref(&b);
}

/* *answer is what DELETE says, whatever came of it. */
static enum deletion
delete_one(struct call *c, struct write_ask *w, struct blob *b, const json_t *options, json_t **answer)
{
	json_t *const old = blob_parse(b, c->resource);
	json_t *marked = NULL, *status = NULL;
	const enum deletion how = semantics_delete(&w->ask, old, options, &marked, &status);

	if (how == DELETION_REFUSED) {
		*answer = status;
	} else if (how == DELETION_GONE) {
		if (!w->ask.dry_run) {
			c->rv = depot_remove(c->sim->depot, c->resource->storage, blob_key(b));
			json_object_set_new(json_object_get(old, "metadata"), "resourceVersion",
			    json_sprintf("%llu", (unsigned long long)c->rv));
		}
		*answer = semantics_deleted(&w->ask, old, how);
	} else {
		if (!w->ask.dry_run && !json_equal(old, marked)) {
			const struct blob *const now = depot_put(
			    c->sim->depot, c->resource->storage, blob_stored_form(marked, c->resource));

			c->rv = now->rv;
			json_decref(marked);
			marked = blob_parse(now, c->resource);
		}
		*answer = semantics_deleted(&w->ask, marked, how);
	}
	json_decref(marked);
	json_decref(old);
	return how;
}

/* DeleteOptions of the body, or of the query where there is no body. NULL: the call is answered. */
static json_t *
read_options(struct call *c)
{
	static const char *const names[] = { "gracePeriodSeconds", "propagationPolicy", "orphanDependents" };
	size_t len;

	call_body(c, &len);
	json_t *const options = len > 0 ? write_body(c) : json_object();
	for (size_t i = 0; options != NULL && len == 0 && i < NITEMS(names); i++) {
		const char *const value = call_param(c, names[i]);

		if (value == NULL)
			continue;
		json_t *const typed = json_loads(value, JSON_DECODE_ANY, NULL);
		json_object_set_new(options, names[i], typed != NULL ? typed : json_string(value));
	}
	return options;
}
