/* actors/lke-claimer/claim_write.c - what is written to a NodeClaim. All bodies carry the resourceVersion. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "actors/reconcile/bodies.h"
#include "claimer.h"
#include "json.h"
#include "kube/time.h"
#include "obj.h"
#include "spec_json.h"

static struct json begin(struct claim_view *, struct reconcile_write *, const char *);
static void end(struct json *, struct reconcile_write *);

struct lke_resources
claim_requests(const struct body_node_claim *b)
{
	struct lke_resources out = { .of = { 0 } };
	struct wire_map left = b->requests;
	struct wire_str name, quantity;

	while (map_next(&left, &name, &quantity)) {
		const enum lke_resource r = lke_resource_find(name);
		int64_t amount;

		if (r != LKE_RESOURCE_MAX && lke_resource_read(r, quantity, &amount))
			out.of[r] = amount;
	}
	return out;
}

struct lke_sizing
claim_sizing(const struct claim_view *v)
{
	const struct wire_str none = { "", 0 };

	return kubelet_read(v->has_class ? v->class.linode_class.kubelet : none,
	    v->c->settings.memory_overhead);
}

void
claim_write_finalizers(struct claim_view *v, bool ours, struct reconcile_write *w)
{
	struct json j = begin(v, w, "metadata");

	body_finalizers(&j, v->body.node_claim.finalizers, LKE_TERMINATION, ours);
	end(&j, w);
}

/* The labels of its type, where it has none of its own, and the machine that is reserved. */
void
claim_write_reserve(struct claim_view *v, struct reconcile_write *w)
{
	struct json j = begin(v, w, "metadata");
	struct wire_str there;
	char value[LKE_LABEL_SIZE];

	json_open(&j, "labels", '{');
	for (unsigned l = 0; v->type != NULL && l < LKE_LABEL_MAX; l++) {
		const char *const key = lke_label_key((enum lke_label)l);

		if (lke_label_value(value, v->type, v->c->cluster.region, (enum lke_label)l) > 0
		    && !map_get(v->body.node_claim.labels, key, &there))
			json_str(&j, key, value);
	}
	json_close(&j, '}');
	json_open(&j, "annotations", '{');
	snprintf(value, sizeof(value), "%" PRId64, v->in.assigned != 0 ? v->in.assigned : v->machine);
	json_str(&j, LKE_RESERVED_ANNOTATION, value);
	json_close(&j, '}');
	end(&j, w);
}

/* C10: with providerID, capacity and allocatable in the same write when it is launched. */
void
claim_write_status(struct claim_view *v, const struct lke_status *s, struct reconcile_write *w)
{
	const struct lke_sizing sizing = claim_sizing(v);
	const struct lke_resources requests = claim_requests(&v->body.node_claim);
	struct json j = begin(v, w, "status");

	w->subresource = "status";
	if (v->plan.verb == CLAIM_LAUNCH) {
		const struct lke_resources capacity = lke_capacity(v->type, &sizing);
		const struct lke_resources allocatable = lke_allocatable(v->type, &sizing);
		char id[LKE_PROVIDER_ID_MAX];

		provider_id_put(id, v->machine);
		json_str(&j, "providerID", id);
		json_str(&j, "imageID", v->c->cluster.k8s_version);
		lke_resources_put(&j, "capacity", &capacity, &requests);
		lke_resources_put(&j, "allocatable", &allocatable, &requests);
	}
	if (v->in.nodes == 1 && (v->in.registered || v->in.node_registered)) {
		const size_t prefix = strlen("nodes/");

		json_strn(&j, "nodeName", v->node.key.p + prefix, v->node.key.len - prefix);
	}
	lke_status_put(&j, s);
	end(&j, w);
}

/* False: one of the times cannot be read. */
bool
claim_write_deadline(struct claim_view *v, struct reconcile_write *w)
{
	const struct body_node_claim *const b = &v->body.node_claim;
	int64_t deleted_us, grace_us;
	char text[TIME_TEXT_MAX];

	if (!time_parse(b->deleted.p, b->deleted.len, &deleted_us)
	    || !duration_read(b->grace_period, &grace_us))
		return false;
	struct json j = begin(v, w, "metadata");
	time_format(deleted_us + grace_us, text, sizeof(text));
	json_open(&j, "annotations", '{');
	json_str(&j, LKE_DEADLINE_ANNOTATION, text);
	json_close(&j, '}');
	end(&j, w);
	return true;
}

static struct json
begin(struct claim_view *v, struct reconcile_write *w, const char *part)
{
	struct json j = { .buf = v->c->r.body, .size = sizeof(v->c->r.body) };

	w->op = OP_MERGE;
	snprintf(w->rv, sizeof(w->rv), "%.*s", (int)v->object.rv.len, v->object.rv.p);
	json_open(&j, NULL, '{');
	json_open(&j, part, '{');
	return j;
}

static void
end(struct json *j, struct reconcile_write *w)
{
	json_close(j, '}');
	json_close(j, '}');
	w->body_len = json_end(j);
	MUST(w->body_len > 0);
}
