/*
 * actors/runtime/record.c - a stored value: uid, value and rv, one after the other. The rv is the last: it
 * changes most often.
 */
#include "record.h"

#include <string.h>

#include "obj.h"
#include "uuid.h"

static size_t uid_bytes(const struct record *);
static uint8_t *append(uint8_t *, const void *, size_t);

void
record_store(struct record *r, struct intern *pool, const struct body_item *item)
{
	uint8_t uuid[UUID_BYTES];
	struct record to = {
		.value_len = item->value.len, .uid_len = (uint16_t)item->uid.len,
		.rv_len = (uint16_t)item->rv.len, .type = (uint16_t)item->type,
		.version = item->version, .trace = item->trace,
		.uuid = pool != NULL && uuid_parse(item->uid.p, item->uid.len, uuid),
	};
	/* The new one first: what both refer to stays in the pool. */
	const struct wire_bin stored =
	    pool != NULL ? intern_store(pool, item->value.p, item->value.len) : item->value;

	MUST(item->uid.len <= UINT16_MAX && item->rv.len <= UINT16_MAX);
	to.stored_len = stored.len;
	if (pool != NULL && r->blob != NULL)
		intern_release(pool, r->blob + uid_bytes(r), r->stored_len);
	to.blob = r->blob;
	if (record_bytes(r) != record_bytes(&to) || r->blob == NULL)
		to.blob = obj_realloc(r->blob, uid_bytes(&to) + to.stored_len + to.rv_len + 1u);
	uint8_t *end = append(to.blob, to.uuid ? (const void *)uuid : item->uid.p, uid_bytes(&to));
	end = append(end, stored.p, stored.len);
	append(end, item->rv.p, item->rv.len);
	*r = to;
}

void
record_touch(struct record *r, const struct body_item *item)
{
	const size_t before = uid_bytes(r) + r->stored_len;

	MUST(r->blob != NULL && item->rv.len <= UINT16_MAX);
	if (item->rv.len != r->rv_len)
		r->blob = obj_realloc(r->blob, before + item->rv.len + 1u);
	append(r->blob + before, item->rv.p, item->rv.len);
	r->rv_len = (uint16_t)item->rv.len;
	r->version = item->version;
	r->trace = item->trace;
}

void
record_clear(struct record *r, struct intern *pool)
{
	if (pool != NULL && r->blob != NULL)
		intern_release(pool, r->blob + uid_bytes(r), r->stored_len);
	free(r->blob);
	*r = (struct record){ 0 };
}

bool
record_same_uid(const struct record *r, const struct body_item *item)
{
	uint8_t uuid[UUID_BYTES];

	if (r->uid_len != item->uid.len || (r->uuid && !uuid_parse(item->uid.p, item->uid.len, uuid)))
		return false;
	return r->uid_len == 0
	    || memcmp(r->blob, r->uuid ? (const void *)uuid : item->uid.p, uid_bytes(r)) == 0;
}

bool
record_same_rv(const struct record *r, const struct body_item *item)
{
	const uint8_t *const rv = r->blob + uid_bytes(r) + r->stored_len;

	return wire_str_same((struct wire_str){ (const char *)rv, r->rv_len }, item->rv);
}

bool
record_same_value(const struct record *r, const struct intern *pool, const struct body_item *item)
{
	const uint8_t *const stored = r->blob + uid_bytes(r);

	if (r->type != item->type || r->value_len != item->value.len)
		return false;
	if (pool != NULL)
		return intern_same(pool, stored, r->stored_len, item->value.p, item->value.len);
	return r->value_len == 0 || memcmp(stored, item->value.p, r->value_len) == 0;
}

struct body_item
record_item(const struct record *r, const struct intern *pool, struct msg_arena *arena, const char *key,
    size_t key_len)
{
	const uint8_t *const stored = r->blob + uid_bytes(r);
	struct body_item item = {
		.key = { .p = key, .len = (uint32_t)key_len },
		.uid = { .p = (const char *)r->blob, .len = r->uid_len },
		.rv = { .p = (const char *)stored + r->stored_len, .len = r->rv_len },
		.version = r->version,
		.trace = r->trace,
		.type = r->type,
		.value = { .p = stored, .len = r->value_len },
	};

	if (r->uuid) {
		char *const uid = msg_arena_alloc(arena, UUID_TEXT);

		uuid_format(r->blob, uid);
		item.uid.p = uid;
	}
	if (pool != NULL && r->value_len > 0) {
		uint8_t *const value = msg_arena_alloc(arena, r->value_len);

		intern_expand(pool, stored, r->stored_len, value);
		item.value.p = value;
	}
	return item;
}

size_t
record_bytes(const struct record *r)
{
	return r->blob == NULL ? 0 : uid_bytes(r) + r->rv_len + r->stored_len + 1u;
}

static size_t
uid_bytes(const struct record *r)
{
	return r->uuid ? UUID_BYTES : r->uid_len;
}

static uint8_t *
append(uint8_t *to, const void *p, size_t len)
{
	if (len > 0)
		memcpy(to, p, len);
	return to + len;
}
