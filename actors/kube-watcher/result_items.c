/* actors/kube-watcher/result_items.c - sends the objects of an answer one by one. */
#include "result_items.h"

#include <stdio.h>

#include "writes.h"

static enum err send_item(const struct result_items *, struct body_item);

void
result_items_raw(struct result_items *r, const char *resource, const char *ns, const char *name,
    const char *text, size_t len)
{
	const union msg_body body = { .raw = { .resource = wire_str_of(resource),
		.json = { .p = text, .len = (uint32_t)len } } };
	char key[PUBLISHER_KEY_MAX];
	msgpack_sbuffer packed;

	snprintf(key, sizeof(key), "%s/%s%s%s", resource, ns, ns[0] == '\0' ? "" : "/", name);
	msgpack_sbuffer_init(&packed);
	msg_pack(&packed, MSG_RAW, &body);
	if (send_item(r, (struct body_item){ .key = wire_str_of(key), .type = msg_table[MSG_RAW].number,
		.value = { .p = (const uint8_t *)packed.data, .len = (uint32_t)packed.size } }) != E_OK)
		result_items_skip(r, name[0] == '\0' ? resource : name, "larger than a message may be");
	msgpack_sbuffer_destroy(&packed);
}

void
result_items_projected(struct result_items *r, enum kind k, const char *key, const struct projected *p)
{
	for (size_t i = 0; i < p->nvalues; i++) {
		const struct projected_value *const v = &p->values[i];

		if (v->role == r->sender && send_item(r, (struct body_item){
			.key = wire_str_of(key), .uid = wire_str_of(p->uid), .rv = wire_str_of(p->rv),
			.type = msg_table[kind_table[k].message].number,
			.value = { .p = v->bytes, .len = (uint32_t)v->len } }) != E_OK)
			result_items_skip(r, key, "larger than a message may be");
	}
}

void
result_items_live(struct result_items *r, enum kind k, struct projection *p, const void *bytes,
    size_t len)
{
	const char *const resource = kind_table[k].resource;
	char key[PUBLISHER_KEY_MAX];
	struct projected out;

	const bool readable = project(p, PROJECT_JSON, bytes, len, 0, &out);
	const bool named = object_key(key, sizeof(key), resource, out.ns, out.name);
	if (readable && named)
		result_items_projected(r, k, key, &out);
	else
		result_items_skip(r, named ? key : resource, out.error);
}

void
result_items_skip(struct result_items *r, const char *key, const char *why)
{
	if (r->skipped++ == 0)
		snprintf(r->skipped_first, sizeof(r->skipped_first), "%s: %s", key, why);
}

static enum err
send_item(const struct result_items *r, struct body_item item)
{
	item.trace = r->trace;
	return actor_result_items(r->actor, r->handle, &item, 1);
}
