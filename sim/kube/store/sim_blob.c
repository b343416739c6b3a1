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

static void put_json(struct sim_buf *, const json_t *, uint64_t, struct sim_blob *);
static void put_member(struct sim_buf *, const char *, const json_t *);
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
	put_json(&t, object, rv, &b);
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
sim_blob_write(struct evbuffer *out, const struct sim_blob *b, uint64_t rv)
{
	if (rv == 0 || b->rv_len == 0) {
		evbuffer_add(out, b->bytes, b->len);
		return;
	}
	evbuffer_add_printf(out, "%s%" PRIu64, head, rv);
	evbuffer_add(out, b->bytes + HEAD_LEN + b->rv_len, b->len - HEAD_LEN - b->rv_len);
}

void
sim_blob_write_metadata(struct evbuffer *out, const struct sim_blob *b, uint64_t rv)
{
	if (rv == 0 || b->rv_len == 0) {
		evbuffer_add(out, b->bytes + META_AT, b->meta_len);
		return;
	}
	evbuffer_add_printf(out, "%s%" PRIu64, head + META_AT, rv);
	evbuffer_add(out, b->bytes + HEAD_LEN + b->rv_len, b->meta_len - (HEAD_LEN - META_AT) - b->rv_len);
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

static void
put_json(struct sim_buf *t, const json_t *object, uint64_t rv, struct sim_blob *b)
{
	const char *key;
	json_t *value;
	bool first = true;

	sim_buf_printf(t, "%s{", meta_start);
	if (rv != 0) {
		sim_buf_printf(t, "\"resourceVersion\":\"%" PRIu64 "\"", rv);
		b->rv_len = (uint32_t)(t->len - HEAD_LEN - 1);
		first = false;
	}
	JSON_EACH(json_object_get(object, "metadata"), key, value) {
		if (strcmp(key, "resourceVersion") == 0)
			continue;
		sim_buf_puts(t, first ? "" : ",");
		put_member(t, key, value);
		first = false;
	}
	sim_buf_puts(t, "}");
	b->meta_len = (uint32_t)(t->len - META_AT);
	JSON_EACH(object, key, value) {
		if (strcmp(key, "metadata") == 0 || strcmp(key, "apiVersion") == 0
		    || strcmp(key, "kind") == 0)
			continue;
		sim_buf_puts(t, ",");
		put_member(t, key, value);
	}
	sim_buf_puts(t, "}");
	b->len = (uint32_t)t->len;
}

static void
put_member(struct sim_buf *t, const char *key, const json_t *value)
{
	sim_buf_quote(t, key);
	sim_buf_puts(t, ":");
	sim_buf_json(t, value);
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
