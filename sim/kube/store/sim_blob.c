/* sim/kube/store/sim_blob.c - objects as bytes with a small index behind them. */
#include "sim_blob.h"

#include <event2/buffer.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "sim/kube/schema/sim_schema.h"

static void put_json(struct sim_buf *, const json_t *, const struct sim_resource *, struct sim_blob *);
static void put_metadata(struct sim_buf *, const json_t *, const json_t *, struct sim_blob *);
static void write_span(struct evbuffer *, const struct sim_blob *, size_t, size_t, uint64_t);
static void put_labels(struct sim_buf *, const json_t *);
static void put_fields(struct sim_buf *, const json_t *, const struct sim_resource *);
static void put_field(struct sim_buf *, const json_t *, const struct sim_selectable *);
static void put_owners(struct sim_buf *, const json_t *);
static void rename_member(json_t *, const char *, const char *);
static const char *find(const char *, const char *);

struct sim_blob *
sim_blob_new(const json_t *object, const struct sim_resource *r, uint64_t rv)
{
	const json_t *const meta = json_object_get(object, "metadata");
	struct sim_blob b = { .refs = 1, .rv = rv };
	struct sim_buf t = { 0 };

	MUST(json_is_object(meta));
	put_json(&t, object, r, &b);
	sim_buf_add(&t, "", 1);
	b.key_at = (uint32_t)t.len;
	const char *const ns = sim_json_text(meta, "namespace");
	sim_buf_printf(&t, "%s%s%s", r->namespaced ? ns : "", r->namespaced ? "/" : "",
	    sim_json_text(meta, "name"));
	sim_buf_add(&t, "", 1);
	b.uid_at = (uint32_t)t.len;
	sim_buf_add(&t, sim_json_text(meta, "uid"), strlen(sim_json_text(meta, "uid")) + 1);
	b.labels_at = (uint32_t)t.len;
	put_labels(&t, json_object_get(meta, "labels"));
	b.fields_at = (uint32_t)t.len;
	put_fields(&t, object, r);
	b.owners_at = (uint32_t)t.len;
	put_owners(&t, json_object_get(meta, "ownerReferences"));

	b.size = (uint32_t)t.len;
	struct sim_blob *const made = obj_alloc(sizeof(*made) + t.len);
	*made = b;
	memcpy(made->bytes, t.bytes, t.len);
	sim_buf_free(&t);
	return made;
}

struct sim_blob *
sim_blob_ref(struct sim_blob *b)
{
	if (b != NULL)
		b->refs++;
	return b;
}

void
sim_blob_unref(struct sim_blob **bp)
{
	if (*bp != NULL && --(*bp)->refs == 0)
		free(*bp);
	*bp = NULL;
}

const char *
sim_blob_key(const struct sim_blob *b)
{
	return b->bytes + b->key_at;
}

const char *
sim_blob_name(const struct sim_blob *b)
{
	const char *const slash = strchr(sim_blob_key(b), '/');

	return slash != NULL ? slash + 1 : sim_blob_key(b);
}

size_t
sim_blob_seek(struct sim_blob *const *objects, size_t n, const char *key)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (strcmp(sim_blob_key(objects[middle]), key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Metadata stands first in the bytes, so this needs no parser. */
bool
sim_blob_is_marked(const struct sim_blob *b)
{
	static const char mark[] = "\"deletionTimestamp\":";

	return memmem(b->bytes, b->meta_len, mark, sizeof(mark) - 1) != NULL;
}

const char *
sim_blob_uid(const struct sim_blob *b)
{
	return b->bytes + b->uid_at;
}

const char *
sim_blob_label(const struct sim_blob *b, const char *key)
{
	return find(b->bytes + b->labels_at, key);
}

const char *
sim_blob_get_label(const char *key, const void *blob)
{
	return sim_blob_label(blob, key);
}

const char *
sim_blob_field(const struct sim_blob *b, const char *path)
{
	return find(b->bytes + b->fields_at, path);
}

const char *
sim_blob_owners(const struct sim_blob *b)
{
	return b->bytes + b->owners_at;
}

void
sim_blob_write(struct evbuffer *out, const struct sim_blob *b, const struct sim_resource *r, bool typed,
    uint64_t rv)
{
	char version[256];

	evbuffer_add(out, "{", 1);
	if (!typed) {
		write_span(out, b, 0, b->len, rv);
		return;
	}
	sim_resource_api_version(r, version, sizeof(version));
	if (r->builtin) {
		evbuffer_add_printf(out, "\"kind\":\"%s\",\"apiVersion\":\"%s\",", r->kind, version);
		write_span(out, b, 0, b->len, rv);
		return;
	}
	evbuffer_add(out, b->bytes, b->version_at);
	evbuffer_add_printf(out, "\"apiVersion\":\"%s\",", version);
	evbuffer_add(out, b->bytes + b->version_at, b->kind_at - b->version_at);
	evbuffer_add_printf(out, "\"kind\":\"%s\",", r->kind);
	write_span(out, b, b->kind_at, b->len, rv);
}

void
sim_blob_write_metadata(struct evbuffer *out, const struct sim_blob *b, const struct sim_resource *r,
    uint64_t rv)
{
	if (r->builtin) {
		write_span(out, b, b->meta_at, b->meta_at + b->meta_len, rv);
		return;
	}
	json_t *const meta = json_loadb(b->bytes + b->meta_at, b->meta_len, 0, NULL);
	struct sim_buf t = { 0 };
	if (rv != 0 && b->rv_len != 0)
		json_object_set_new(meta, "resourceVersion", json_sprintf("%" PRIu64, rv));
	sim_schema_write(&t, json_object_get(sim_schema_types(),
	    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"), meta);
	evbuffer_add(out, t.bytes, t.len);
	sim_buf_free(&t);
	json_decref(meta);
}

json_t *
sim_blob_parse(const struct sim_blob *b, const struct sim_resource *r)
{
	char version[256];
	struct sim_buf t = { 0 };

	sim_buf_printf(&t, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",",
	    sim_resource_api_version(r, version, sizeof(version)), r->kind);
	sim_buf_add(&t, b->bytes, b->len);
	json_t *const object = json_loadb(t.bytes, t.len, 0, NULL);
	MUST(object != NULL);		/* we wrote it ourselves */
	sim_buf_free(&t);
	for (const struct sim_rename *x = r->renames; x != NULL && x->served != NULL; x++)
		rename_member(object, x->stored, x->served);
	if (sim_blob_needs_conversion(r) && !r->builtin) {
		json_t *const unknown = json_array();

		sim_schema_prune(sim_schema_of(r), object, unknown);
		sim_schema_default(sim_schema_of(r), object);
		json_decref(unknown);
	}
	return object;
}

bool
sim_blob_needs_conversion(const struct sim_resource *r)
{
	return r->renames != NULL || (!r->builtin && !r->stored);
}

json_t *
sim_blob_stored_form(json_t *object, const struct sim_resource *r)
{
	for (const struct sim_rename *x = r->renames; x != NULL && x->served != NULL; x++)
		rename_member(object, x->served, x->stored);
	return object;
}

/* kind < metadata: so both members stand before one that is always there. */
static void
put_json(struct sim_buf *t, const json_t *object, const struct sim_resource *r, struct sim_blob *b)
{
	const json_t *const schema = r->builtin ? sim_schema_of(r) : NULL;
	const char **keys;
	const size_t n = sim_schema_keys(schema, object, &keys);

	for (size_t i = 0; i < n; i++) {
		const json_t *const value = json_object_get(object, keys[i]);

		if (strcmp(keys[i], "apiVersion") == 0 || strcmp(keys[i], "kind") == 0)
			continue;
		sim_buf_puts(t, t->len == 0 ? "" : ",");
		if (strcmp(keys[i], "apiVersion") < 0)
			b->version_at = UINT32_MAX;
		else if (b->version_at == UINT32_MAX)
			b->version_at = (uint32_t)t->len;
		if (strcmp(keys[i], "kind") < 0)
			b->kind_at = UINT32_MAX;
		else if (b->kind_at == UINT32_MAX)
			b->kind_at = (uint32_t)t->len;
		if (strcmp(keys[i], "metadata") == 0)
			put_metadata(t, schema, value, b);
		else
			sim_schema_write_member(t, schema, keys[i], value);
	}
	free(keys);
	sim_buf_puts(t, "}");
	b->len = (uint32_t)t->len;
}

static void
put_metadata(struct sim_buf *t, const json_t *schema, const json_t *value, struct sim_blob *b)
{
	const json_t *const type = schema != NULL ? sim_schema_member(schema, "metadata", false) : NULL;
	json_t *const meta = json_copy((json_t *)(uintptr_t)value);
	const char **keys;

	json_object_del(meta, "resourceVersion");
	if (b->rv != 0)
		json_object_set_new(meta, "resourceVersion", json_sprintf("%" PRIu64, b->rv));
	const size_t n = sim_schema_keys(type, meta, &keys);
	sim_buf_puts(t, "\"metadata\":");
	b->meta_at = (uint32_t)t->len;
	for (size_t i = 0; i < n; i++) {
		sim_buf_puts(t, i == 0 ? "{" : ",");
		sim_schema_write_member(t, type, keys[i], json_object_get(meta, keys[i]));
		if (strcmp(keys[i], "resourceVersion") == 0) {
			b->rv_len = (uint32_t)json_string_length(json_object_get(meta, keys[i]));
			b->rv_at = (uint32_t)t->len - b->rv_len - 1;
		}
	}
	sim_buf_puts(t, n == 0 ? "{}" : "}");
	b->meta_len = (uint32_t)t->len - b->meta_at;
	free(keys);
	json_decref(meta);
}

/* The bytes from `from` to `to`, with another resourceVersion where rv is not 0. */
static void
write_span(struct evbuffer *out, const struct sim_blob *b, size_t from, size_t to, uint64_t rv)
{
	if (rv == 0 || b->rv_len == 0) {
		evbuffer_add(out, b->bytes + from, to - from);
		return;
	}
	evbuffer_add(out, b->bytes + from, b->rv_at - from);
	evbuffer_add_printf(out, "%" PRIu64, rv);
	evbuffer_add(out, b->bytes + b->rv_at + b->rv_len, to - b->rv_at - b->rv_len);
}

/* key, value, key, value, "". */
static void
put_labels(struct sim_buf *t, const json_t *labels)
{
	const char *key;
	json_t *value;

	JSON_EACH(labels, key, value) {
		if (!json_is_string(value) || key[0] == '\0')
			continue;
		sim_buf_add(t, key, strlen(key) + 1);
		sim_buf_add(t, json_string_value(value), json_string_length(value) + 1);
	}
	sim_buf_add(t, "", 1);
}

static void
put_fields(struct sim_buf *t, const json_t *object, const struct sim_resource *r)
{
	static const struct sim_selectable always[] = { { .name = "metadata.name" },
		{ .name = "metadata.namespace" } };

	for (size_t i = 0; i < NITEMS(always); i++)
		put_field(t, object, &always[i]);
	for (const struct sim_selectable *f = r->fields; f != NULL && f->name != NULL; f++)
		put_field(t, object, f);
	sim_buf_add(t, "", 1);
}

static void
put_field(struct sim_buf *t, const json_t *object, const struct sim_selectable *f)
{
	const json_t *const at = sim_json_at(object, f->path != NULL ? f->path : f->name);

	sim_buf_add(t, f->name, strlen(f->name) + 1);
	if (json_is_string(at))
		sim_buf_puts(t, json_string_value(at));
	else if (json_is_boolean(at))
		sim_buf_puts(t, json_is_true(at) ? "true" : "false");
	else if (json_is_integer(at))
		sim_buf_printf(t, "%" JSON_INTEGER_FORMAT, json_integer_value(at));
	else if (f->absent != NULL)
		sim_buf_puts(t, f->absent);
	sim_buf_add(t, "", 1);
}

static void
put_owners(struct sim_buf *t, const json_t *owners)
{
	size_t i;
	json_t *owner;

	json_array_foreach(owners, i, owner) {
		const char *const uid = sim_json_text(owner, "uid");

		if (uid[0] != '\0')
			sim_buf_add(t, uid, strlen(uid) + 1);
	}
	sim_buf_add(t, "", 1);
}

static void
rename_member(json_t *object, const char *from, const char *to)
{
	json_t *const value = json_incref(json_object_get(object, from));

	if (value == NULL)
		return;
	json_object_del(object, from);
	json_object_set_new(object, to, value);
}

static const char *
find(const char *pairs, const char *key)
{
	for (const char *p = pairs; *p != '\0';) {
		const char *const value = p + strlen(p) + 1;

		if (strcmp(p, key) == 0)
			return value;
		p = value + strlen(value) + 1;
	}
	return NULL;
}
