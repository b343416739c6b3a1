/* actors/provider/drain_node.c - the Node of a drain as a live read has it. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "drain_private.h"

static bool has_taint(const json_t *, const char *);
static bool read_projected(const struct drain_policy *, const struct write_result *, struct drain_live *);

bool
drain_node_outdated(const struct drain *d, const struct drain_target *node)
{
	return d->outdated && !d->live.known && strcmp(d->view_rv, node->rv) == 0;
}

bool
drain_node_read(const struct drain_policy *p, const struct write_result *r, struct drain_live *out)
{
	if (r->nitems > 0 && r->items[0].type == MSG_NODE)
		return read_projected(p, r, out);
	if (r->nitems == 0 || r->items[0].type != MSG_RAW || r->items[0].value == NULL)
		return false;
	const struct body_raw *const raw = &r->items[0].value->raw;
	json_t *const node = json_loadb(raw->json.p, raw->json.len, 0, NULL);
	const json_t *const spec = json_object_get(node, "spec");
	const json_t *const taints = json_object_get(spec, "taints");
	const json_t *const labels = json_object_get(json_object_get(node, "metadata"), "labels");
	const json_t *const label = p->label != NULL ? json_object_get(labels, p->label) : NULL;
	*out = (struct drain_live){ .known = node != NULL && r->rv.len > 0 && r->rv.len <= DRAIN_RV_MAX,
		.has_taints = json_array_size(taints) > 0, .has_labels = json_object_size(labels) > 0,
		.tainted = p->taint != NULL && has_taint(taints, p->taint),
		.labelled = json_is_string(label) && strcmp(json_string_value(label), p->label_value) == 0,
		.cordoned = json_is_true(json_object_get(spec, "unschedulable")) };
	if (out->known)
		snprintf(out->rv, sizeof(out->rv), "%.*s", (int)r->rv.len, r->rv.p);
	json_decref(node);
	return out->known;
}

/*
 * An actor that reads Nodes itself gets its own fields, and these may lack taints and labels. A policy that
 * only cordons needs none of them: to cordon once more changes nothing.
 */
static bool
read_projected(const struct drain_policy *p, const struct write_result *r, struct drain_live *out)
{
	*out = (struct drain_live){ .known = p->taint == NULL && p->label == NULL && r->rv.len > 0
		&& r->rv.len <= DRAIN_RV_MAX };
	if (out->known)
		snprintf(out->rv, sizeof(out->rv), "%.*s", (int)r->rv.len, r->rv.p);
	return out->known;
}

void
drain_node_use(const struct drain_live *live, struct drain_target *node)
{
	if (!live->known)
		return;
	node->rv = live->rv;
	node->has_taints = live->has_taints;
	node->has_labels = live->has_labels;
	node->tainted = live->tainted;
	node->labelled = live->labelled;
	node->cordoned = live->cordoned;
}

static bool
has_taint(const json_t *taints, const char *wanted)
{
	const json_t *one;
	size_t i;

	json_array_foreach(taints, i, one) {
		const char *const key = json_string_value(json_object_get(one, "key"));

		if (key != NULL && strcmp(key, wanted) == 0)
			return true;
	}
	return false;
}
