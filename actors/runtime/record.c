/* actors/runtime/record.c - a stored value. */
#include "record.h"

#include <string.h>

#include "obj.h"

static uint8_t *append(uint8_t *, const void *, uint32_t);

void
record_store(struct record *r, const struct body_item *item)
{
	const size_t len = item->uid.len + item->rv.len + item->value.len + 1u;
	uint8_t *blob = record_bytes(r) == len ? r->blob : obj_realloc(r->blob, len);
	uint8_t *end = append(blob, item->uid.p, item->uid.len);

	end = append(end, item->rv.p, item->rv.len);
	append(end, item->value.p, item->value.len);
	*r = (struct record){
		.blob = blob, .uid_len = item->uid.len, .rv_len = item->rv.len, .value_len = item->value.len,
		.type = (uint16_t)item->type, .version = item->version, .trace = item->trace,
	};
}

void
record_clear(struct record *r)
{
	free(r->blob);
	*r = (struct record){ 0 };
}

bool
record_same_uid(const struct record *r, const struct body_item *item)
{
	return wire_str_same((struct wire_str){ (const char *)r->blob, r->uid_len }, item->uid);
}

bool
record_same_rv(const struct record *r, const struct body_item *item)
{
	return wire_str_same((struct wire_str){ (const char *)r->blob + r->uid_len, r->rv_len }, item->rv);
}

bool
record_same_value(const struct record *r, const struct body_item *item)
{
	const size_t len = r->value_len;

	return r->type == item->type && len == item->value.len
	    && (len == 0 || memcmp(r->blob + r->uid_len + r->rv_len, item->value.p, len) == 0);
}

struct body_item
record_item(const struct record *r, const char *key, size_t key_len)
{
	return (struct body_item){
		.key = { .p = key, .len = (uint32_t)key_len },
		.uid = { .p = (const char *)r->blob, .len = r->uid_len },
		.rv = { .p = (const char *)r->blob + r->uid_len, .len = r->rv_len },
		.version = r->version,
		.trace = r->trace,
		.type = r->type,
		.value = { .p = r->blob + r->uid_len + r->rv_len, .len = r->value_len },
	};
}

size_t
record_bytes(const struct record *r)
{
	return r->blob == NULL ? 0 : r->uid_len + r->rv_len + r->value_len + 1u;
}

static uint8_t *
append(uint8_t *to, const void *p, uint32_t len)
{
	if (len > 0)
		memcpy(to, p, len);
	return to + len;
}
