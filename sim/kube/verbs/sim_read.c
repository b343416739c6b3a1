/* sim/kube/verbs/sim_read.c - GET of one object; the reviews. */
#include <event2/buffer.h>
#include <string.h>

#include "sim/base/sim_json.h"
#include "sim/base/sim_yaml.h"
#include "sim/kube/printers/sim_view.h"
#include "sim/kube/semantics/sim_semantics.h"
#include "sim/kube/sim_api.h"
#include "sim/kube/store/sim_store.h"
#include "sim_verbs.h"

static struct sim_blob *find(const struct sim_request *);

void
sim_read_get(struct sim_request *c)
{
	struct sim_view view;
	uint64_t rv;

	if (!sim_view_read(&view, c)
	    || !sim_list_read_rv(c, sim_request_param(c, "resourceVersion"), false, &rv)
	    || sim_list_too_large(c, rv))
		return;
	struct sim_blob *b = find(c);
	if (b == NULL) {
		sim_request_reply_status(c, sim_semantics_not_found(c->resource, c->route.name));
		return;
	}
	struct evbuffer *const out = evbuffer_new();
	sim_view_object(&view, b, 0, out);
	evbuffer_add(out, "\n", 1);
	c->rv = b->rv;
	sim_request_reply(c, 200, "application/json", out);
	sim_blob_unref(&b);
}

/* Everybody may do everything here; who may not is a matter for the real apiserver. */
void
sim_read_review(struct sim_request *c)
{
	size_t len;
	const char *const text = sim_request_body(c, &len);
	char err[256], version[256];
	json_t *body = sim_yaml_parse(text, len, err, sizeof(err));

	/* As protobuf, which kubectl prefers: the answer does not depend on the body. */
	if (!json_is_object(body)) {
		json_decref(body);
		body = json_pack("{s:s, s:s}", "kind", c->resource->kind, "apiVersion",
		    sim_resource_api_version(c->resource, version, sizeof(version)));
	}
	if (strcmp(c->resource->kind, "SelfSubjectReview") == 0)
		json_object_set_new(body, "status", json_pack("{s:{s:s, s:[s, s]}}", "userInfo", "username",
		    c->user, "groups", "system:masters", "system:authenticated"));
	else
		json_object_set_new(body, "status", json_pack("{s:b, s:s}", "allowed", 1, "reason",
		    "the simulator allows everything"));
	sim_json_branch(body, "metadata");
	sim_request_reply_json(c, 201, body);
}

/* A reference; NULL: not there. */
static struct sim_blob *
find(const struct sim_request *c)
{
	const struct sim_fault *const stale = c->plan.of[FAULT_STALE];
	char key[SIM_KEY_MAX];

	sim_request_key(c, key, sizeof(key));
	if (stale == NULL)
		return sim_blob_ref(sim_storage_get(c->resource->storage, key));
	struct sim_snapshot *past = sim_store_snapshot(
	    c->sim->store, c->resource->storage, c->route.ns, (uint64_t)stale->amount);
	struct sim_blob *found = NULL;
	for (size_t i = 0; past != NULL && i < past->n && found == NULL; i++) {
		if (strcmp(sim_blob_key(past->objects[i]), key) == 0)
			found = sim_blob_ref(past->objects[i]);
	}
	sim_snapshot_free(&past);
	return found;
}
