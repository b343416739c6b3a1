/* actors/lke-claimer/node_write.c - patches of Nodes. No clock, no I/O. */
#include "node_write.h"

#include <stdlib.h>
#include <string.h>

#include "obj.h"

#define TERMINATION	"karpenter.sh/termination"
#define UNREGISTERED	"karpenter.sh/unregistered"
/* Annotations of the NodeClaim that are about itself. */
#define OWN_PREFIX	"karpenter.k8s.linode/"
#define APPLIED		"kubectl.kubernetes.io/last-applied-configuration"

static bool is_zero(struct wire_str);
static const json_t *metadata(const struct live_node *, const char *);
static json_t *patch_new(const struct live_node *, json_t **);
static json_t *finalizers(const struct live_node *, bool);
static json_t *taints_without(const struct live_node *, const char *);
static void merge_taints(json_t *, struct wire_rows);
static json_t *owners(const struct live_node *, const struct node_registration *);
static void put_map(json_t *, struct wire_map, bool);
static json_t *text(struct wire_str);
static size_t finish(json_t *, char *, size_t);

bool
live_node_read(struct live_node *n, struct wire_str json)
{
	const json_t *taint;
	size_t i;

	*n = (struct live_node){ .root = json_loadb(json.p, json.len, 0, NULL), .uid = "", .rv = "" };
	const char *const uid = json_string_value(metadata(n, "uid"));
	const char *const rv = json_string_value(metadata(n, "resourceVersion"));
	if (uid == NULL || rv == NULL)
		return false;
	n->uid = uid;
	n->rv = rv;
	json_array_foreach(metadata(n, "finalizers"), i, taint) {
		if (json_is_string(taint) && strcmp(json_string_value(taint), TERMINATION) == 0)
			n->finalizer = true;
	}
	json_array_foreach(json_object_get(json_object_get(n->root, "spec"), "taints"), i, taint) {
		const char *const key = json_string_value(json_object_get(taint, "key"));

		n->unregistered = n->unregistered || (key != NULL && strcmp(key, UNREGISTERED) == 0);
	}
	return true;
}

void
live_node_free(struct live_node *n)
{
	json_decref(n->root);
	*n = (struct live_node){ .root = NULL };
}

bool
live_node_allocates(const struct live_node *n, struct wire_map requests)
{
	const json_t *const has = json_object_get(json_object_get(n->root, "status"), "allocatable");
	struct wire_str name, amount;

	while (map_next(&requests, &name, &amount)) {
		const json_t *const there = json_object_getn(has, name.p, name.len);
		const char *const quantity = json_string_value(there);

		if (is_zero(amount))
			continue;
		if (quantity == NULL || strtod(quantity, NULL) <= 0)
			return false;
	}
	return true;
}

bool
live_node_labelled(const struct live_node *n, const char *key)
{
	const char *const value = json_string_value(json_object_get(metadata(n, "labels"), key));

	return value != NULL && strcmp(value, "true") == 0;
}

static bool
is_zero(struct wire_str amount)
{
	for (uint32_t i = 0; i < amount.len; i++) {
		if (amount.p[i] != '0')
			return false;
	}
	return true;
}

/* ---- Bodies ---- */

size_t
node_write_register(char *buf, size_t size, const struct live_node *n, const struct node_registration *r)
{
	json_t *meta, *const patch = patch_new(n, &meta), *const spec = json_object();
	json_t *const labels = json_object(), *const annotations = json_object();
	json_t *const taints = taints_without(n, UNREGISTERED);
	const char *const keep = json_string_value(json_object_get(metadata(n, "labels"),
	    "karpenter.sh/do-not-sync-taints"));

	put_map(labels, r->labels, false);
	json_object_set_new(labels, "karpenter.sh/registered", json_string("true"));
	put_map(annotations, r->annotations, true);
	json_object_set_new(meta, "labels", labels);
	json_object_set_new(meta, "annotations", annotations);
	json_object_set_new(meta, "finalizers", finalizers(n, true));
	json_object_set_new(meta, "ownerReferences", owners(n, r));
	if (keep == NULL || strcmp(keep, "true") != 0) {
		merge_taints(taints, r->taints);
		merge_taints(taints, r->startup_taints);
	}
	json_object_set_new(spec, "taints", taints);
	json_object_set_new(patch, "spec", spec);
	return finish(patch, buf, size);
}

size_t
node_write_label(char *buf, size_t size, const struct live_node *n, const char *key, const char *value)
{
	json_t *meta, *const patch = patch_new(n, &meta), *const labels = json_object();

	json_object_set_new(labels, key, json_string(value));
	json_object_set_new(meta, "labels", labels);
	return finish(patch, buf, size);
}

size_t
node_write_release(char *buf, size_t size, const struct live_node *n)
{
	json_t *meta, *const patch = patch_new(n, &meta);

	json_object_set_new(meta, "finalizers", finalizers(n, false));
	return finish(patch, buf, size);
}

size_t
node_write_taint(char *buf, size_t size, const struct live_node *n)
{
	json_t *meta, *const patch = patch_new(n, &meta), *const spec = json_object();
	json_t *const taints = taints_without(n, UNREGISTERED);

	json_array_append_new(taints, json_pack("{ssss}", "key", UNREGISTERED, "effect", "NoExecute"));
	json_object_set_new(spec, "taints", taints);
	json_object_set_new(patch, "spec", spec);
	return finish(patch, buf, size);
}

/* ---- Parts ---- */

static const json_t *
metadata(const struct live_node *n, const char *member)
{
	return json_object_get(json_object_get(n->root, "metadata"), member);
}

static json_t *
patch_new(const struct live_node *n, json_t **meta)
{
	json_t *const patch = json_object();

	*meta = json_pack("{ssss}", "uid", n->uid, "resourceVersion", n->rv);
	json_object_set_new(patch, "metadata", *meta);
	return patch;
}

static json_t *
finalizers(const struct live_node *n, bool ours)
{
	json_t *const list = json_array();
	json_t *at;
	size_t i;

	json_array_foreach(metadata(n, "finalizers"), i, at) {
		if (json_is_string(at) && strcmp(json_string_value(at), TERMINATION) != 0)
			json_array_append(list, at);
	}
	if (ours)
		json_array_append_new(list, json_string(TERMINATION));
	return list;
}

static json_t *
taints_without(const struct live_node *n, const char *key)
{
	json_t *const list = json_array();
	json_t *at;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(n->root, "spec"), "taints"), i, at) {
		const char *const its = json_string_value(json_object_get(at, "key"));

		if (its == NULL || strcmp(its, key) != 0)
			json_array_append(list, at);
	}
	return list;
}

/* By key and effect: one that is there stays as it is. */
static void
merge_taints(json_t *list, struct wire_rows rows)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	while (rows_next(&rows, cells)) {
		const json_t *at;
		size_t i;
		bool there = false;

		json_array_foreach(list, i, at) {
			const char *const key = json_string_value(json_object_get(at, "key"));
			const char *const effect = json_string_value(json_object_get(at, "effect"));

			there = there || (key != NULL && effect != NULL && wire_str_is(cells[0], key)
			    && wire_str_is(cells[2], effect));
		}
		if (there)
			continue;
		json_t *const taint = json_object();
		json_object_set_new(taint, "key", text(cells[0]));
		if (cells[1].len > 0)
			json_object_set_new(taint, "value", text(cells[1]));
		json_object_set_new(taint, "effect", text(cells[2]));
		json_array_append_new(list, taint);
	}
}

static json_t *
owners(const struct live_node *n, const struct node_registration *r)
{
	json_t *const list = json_array();
	json_t *at;
	size_t i;

	json_array_foreach(metadata(n, "ownerReferences"), i, at) {
		const char *const uid = json_string_value(json_object_get(at, "uid"));

		if (uid == NULL || strcmp(uid, r->claim_uid) != 0)
			json_array_append(list, at);
	}
	json_array_append_new(list, json_pack("{sssssssssb}", "apiVersion", "karpenter.sh/v1", "kind",
	    "NodeClaim",
	    "name", r->claim, "uid", r->claim_uid, "blockOwnerDeletion", 1));
	return list;
}

static void
put_map(json_t *object, struct wire_map map, bool annotations)
{
	struct wire_str key, value;

	while (map_next(&map, &key, &value)) {
		if (annotations && (wire_str_is(key, APPLIED)
		    || (key.len > strlen(OWN_PREFIX) && memcmp(key.p, OWN_PREFIX, strlen(OWN_PREFIX)) == 0)))
			continue;
		json_object_setn_new(object, key.p, key.len, text(value));
	}
}

static json_t *
text(struct wire_str s)
{
	return json_stringn(s.len > 0 ? s.p : "", s.len);
}

static size_t
finish(json_t *patch, char *buf, size_t size)
{
	const size_t len = json_dumpb(patch, buf, size, JSON_COMPACT);

	json_decref(patch);
	return len <= size ? len : 0;
}
