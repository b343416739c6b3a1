/* sim/kube/verbs/sim_read.c - GET of one object; the reviews. */
#include "sim_read.h"

#include <event2/buffer.h>
#include <string.h>

#include "sim/kube/sim_api.h"
#include "sim/base/sim_json.h"
#include "sim_list.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim/kube/store/sim_store.h"
#include "sim/kube/printers/sim_view.h"
#include "sim/base/sim_yaml.h"

static struct blob *find(const struct call *);

void
read_get(struct call *c)
{
	struct view view;
	uint64_t rv;

	if (!view_read(&view, c) || !list_read_rv(c, call_param(c, "resourceVersion"), false, &rv)
	    || list_too_large(c, rv))
		return;
	struct blob *b = find(c);
	if (b == NULL) {
		call_reply_status(c, semantics_not_found(c->resource, c->route.name));
		return;
	}
	struct evbuffer *const out = evbuffer_new();
	view_object(&view, b, 0, out);
	evbuffer_add(out, "\n", 1);
	c->rv = b->rv;
	call_reply(c, 200, "application/json", out);
	evbuffer_free(out);
	blob_unref(&b);
}

/* Everybody may do everything here; who may not is a matter for the real apiserver. */
void
read_review(struct call *c)
{
	size_t len;
	const char *const text = call_body(c, &len);
	char err[256], version[256];
	json_t *body = yaml_parse(text, len, err, sizeof(err));

	/* As protobuf, which kubectl prefers: what it asks does not matter to the answer. */
	if (!json_is_object(body)) {
		json_decref(body);
		body = json_pack("{s:s, s:s}", "kind", c->resource->kind, "apiVersion",
		    resource_api_version(c->resource, version, sizeof(version)));
	}
	if (strcmp(c->resource->kind, "SelfSubjectReview") == 0)
		json_object_set_new(body, "status", json_pack("{s:{s:s, s:[s, s]}}", "userInfo", "username",
		    c->user, "groups", "system:masters", "system:authenticated"));
	else
		json_object_set_new(body, "status", json_pack("{s:b, s:s}", "allowed", 1, "reason",
		    "the simulator allows everything"));
	json_branch(body, "metadata");
	call_reply_json(c, 201, body);
}

/* A reference; NULL: not there. */
static struct blob *
find(const struct call *c)
{
	const struct fault *const stale = c->plan.of[FAULT_STALE];
	char key[API_KEY_MAX];

	api_key(c, key, sizeof(key));
	if (stale == NULL)
		return blob_ref(storage_get(c->resource->storage, key));
	struct snapshot *past = depot_snapshot(
	    c->sim->depot, c->resource->storage, c->route.ns, (uint64_t)stale->amount);
	struct blob *found = NULL;
	for (size_t i = 0; past != NULL && i < past->n && found == NULL; i++) {
		if (strcmp(blob_key(past->objects[i]), key) == 0)
			found = blob_ref(past->objects[i]);
	}
	snapshot_free(&past);
	return found;
}
