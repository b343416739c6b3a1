/* sim/kube/store/sim_blob.c - objects as bytes with a small index behind them. */
#include "sim_blob.h"

#include <event2/buffer.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/sim_buf.h"
#include "sim/base/sim_json.h"
#include "obj.h"
#include "sim/kube/schema/sim_schema.h"

/* Every blob begins like this; then the number, a quote, and the rest. */
static const char head[] = "\"metadata\":{\"resourceVersion\":\"";
static const char meta_start[] = "\"metadata\":";

enum { HEAD_LEN = sizeof(head) - 1, META_AT = sizeof(meta_start) - 1 };

static void put_json(struct buf *, const json_t *, uint64_t, struct blob *);
static void put_member(struct buf *, const char *, const json_t *);
static void put_labels(struct buf *, const json_t *);
static void put_fields(struct buf *, const json_t *, const struct resource *);
static void put_field(struct buf *, const json_t *, const struct selectable *);
static void put_owners(struct buf *, const json_t *);
static void rename_member(json_t *, const char *, const char *);
static const char *find(const char *, const char *);

struct blob *
blob_new(const json_t *object, const struct resource *r, uint64_t rv)
{
	const json_t *const meta = json_object_get(object, "metadata");
	struct blob b = { .refs = 1, .rv = rv };
	struct buf t = { 0 };

	MUST(json_is_object(meta));
	put_json(&t, object, rv, &b);
	buf_add(&t, "", 1);
	b.key_at = (uint32_t)t.len;
	const char *const ns = json_text(meta, "namespace");
	buf_printf(&t, "%s%s%s", r->namespaced ? ns : "", r->namespaced ? "/" : "", json_text(meta, "name"));
	buf_add(&t, "", 1);
	b.uid_at = (uint32_t)t.len;
	buf_add(&t, json_text(meta, "uid"), strlen(json_text(meta, "uid")) + 1);
	b.labels_at = (uint32_t)t.len;
	put_labels(&t, json_object_get(meta, "labels"));
	b.fields_at = (uint32_t)t.len;
	put_fields(&t, object, r);
	b.owners_at = (uint32_t)t.len;
	put_owners(&t, json_object_get(meta, "ownerReferences"));

	b.size = (uint32_t)t.len;
	struct blob *const made = obj_alloc(sizeof(*made) + t.len);
	*made = b;
	memcpy(made->bytes, t.bytes, t.len);
	buf_free(&t);
	return made;
}

struct blob *
blob_ref(struct blob *b)
{
	if (b != NULL)
		b->refs++;
	return b;
}

void
blob_unref(struct blob **bp)
{
	if (*bp != NULL && --(*bp)->refs == 0)
		free(*bp);
	*bp = NULL;
}

const char *
blob_key(const struct blob *b)
{
	return b->bytes + b->key_at;
}

const char *
blob_name(const struct blob *b)
{
	const char *const slash = strchr(blob_key(b), '/');

	return slash != NULL ? slash + 1 : blob_key(b);
}

const char *
blob_uid(const struct blob *b)
{
	return b->bytes + b->uid_at;
}

const char *
blob_label(const struct blob *b, const char *key)
{
	return find(b->bytes + b->labels_at, key);
}

const char *
blob_field(const struct blob *b, const char *path)
{
	return find(b->bytes + b->fields_at, path);
}

const char *
blob_owners(const struct blob *b)
{
	return b->bytes + b->owners_at;
}

void
blob_write(struct evbuffer *out, const struct blob *b, uint64_t rv)
{
	if (rv == 0 || b->rv_len == 0) {
		evbuffer_add(out, b->bytes, b->len);
		return;
	}
	evbuffer_add_printf(out, "%s%" PRIu64, head, rv);
	evbuffer_add(out, b->bytes + HEAD_LEN + b->rv_len, b->len - HEAD_LEN - b->rv_len);
}

void
blob_write_metadata(struct evbuffer *out, const struct blob *b, uint64_t rv)
{
	if (rv == 0 || b->rv_len == 0) {
		evbuffer_add(out, b->bytes + META_AT, b->meta_len);
		return;
	}
	evbuffer_add_printf(out, "%s%" PRIu64, head + META_AT, rv);
	evbuffer_add(out, b->bytes + HEAD_LEN + b->rv_len, b->meta_len - (HEAD_LEN - META_AT) - b->rv_len);
}

json_t *
blob_parse(const struct blob *b, const struct resource *r)
{
	char version[256];
	struct buf t = { 0 };

	buf_printf(&t, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",",
	    resource_api_version(r, version, sizeof(version)), r->kind);
	buf_add(&t, b->bytes, b->len);
	json_t *const object = json_loadb(t.bytes, t.len, 0, NULL);
	MUST(object != NULL);		/* we wrote it ourselves */
	buf_free(&t);
	for (const struct rename *x = r->renames; x != NULL && x->served != NULL; x++)
		rename_member(object, x->stored, x->served);
	if (blob_needs_conversion(r) && !r->builtin) {
		json_t *const unknown = json_array();

		schema_prune(schema_of(r), object, unknown);
		schema_default(schema_of(r), object);
		json_decref(unknown);
	}
	return object;
}

bool
blob_needs_conversion(const struct resource *r)
{
	return r->renames != NULL || (!r->builtin && !r->stored);
}

json_t *
blob_stored_form(json_t *object, const struct resource *r)
{
	for (const struct rename *x = r->renames; x != NULL && x->served != NULL; x++)
		rename_member(object, x->served, x->stored);
	return object;
}

static void
put_json(struct buf *t, const json_t *object, uint64_t rv, struct blob *b)
{
	const char *key;
	json_t *value;
	bool first = true;

	buf_printf(t, "%s{", meta_start);
	if (rv != 0) {
		buf_printf(t, "\"resourceVersion\":\"%" PRIu64 "\"", rv);
		b->rv_len = (uint32_t)(t->len - HEAD_LEN - 1);
		first = false;
	}
	JSON_EACH(json_object_get(object, "metadata"), key, value) {
		if (strcmp(key, "resourceVersion") == 0)
			continue;
		buf_puts(t, first ? "" : ",");
		put_member(t, key, value);
		first = false;
	}
	buf_puts(t, "}");
	b->meta_len = (uint32_t)(t->len - META_AT);
	JSON_EACH(object, key, value) {
		if (strcmp(key, "metadata") == 0 || strcmp(key, "apiVersion") == 0
		    || strcmp(key, "kind") == 0)
			continue;
		buf_puts(t, ",");
		put_member(t, key, value);
	}
	buf_puts(t, "}");
	b->len = (uint32_t)t->len;
}

static void
put_member(struct buf *t, const char *key, const json_t *value)
{
	buf_quote(t, key);
	buf_puts(t, ":");
	buf_json(t, value);
}

/* key, value, key, value, "". */
static void
put_labels(struct buf *t, const json_t *labels)
{
	const char *key;
	json_t *value;

	JSON_EACH(labels, key, value) {
		if (!json_is_string(value) || key[0] == '\0')
			continue;
		buf_add(t, key, strlen(key) + 1);
		buf_add(t, json_string_value(value), json_string_length(value) + 1);
	}
	buf_add(t, "", 1);
}

static void
put_fields(struct buf *t, const json_t *object, const struct resource *r)
{
	static const struct selectable always[] = { { .name = "metadata.name" },
		{ .name = "metadata.namespace" } };

	for (size_t i = 0; i < NITEMS(always); i++)
		put_field(t, object, &always[i]);
	for (const struct selectable *f = r->fields; f != NULL && f->name != NULL; f++)
		put_field(t, object, f);
	buf_add(t, "", 1);
}

static void
put_field(struct buf *t, const json_t *object, const struct selectable *f)
{
	const json_t *const at = json_at(object, f->path != NULL ? f->path : f->name);

	buf_add(t, f->name, strlen(f->name) + 1);
	if (json_is_string(at))
		buf_puts(t, json_string_value(at));
	else if (json_is_boolean(at))
		buf_puts(t, json_is_true(at) ? "true" : "false");
	else if (json_is_integer(at))
		buf_printf(t, "%" JSON_INTEGER_FORMAT, json_integer_value(at));
	else if (f->absent != NULL)
		buf_puts(t, f->absent);
	buf_add(t, "", 1);
}

static void
put_owners(struct buf *t, const json_t *owners)
{
	size_t i;
	json_t *owner;

	json_array_foreach(owners, i, owner) {
		const char *const uid = json_text(owner, "uid");

		if (uid[0] != '\0')
			buf_add(t, uid, strlen(uid) + 1);
	}
	buf_add(t, "", 1);
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
