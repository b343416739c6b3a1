/* proto/redact.c - what of a message nobody may see, whoever looks: the printer and the tap ask here. */
#include <string.h>

#include "msg.h"
#include "obj.h"

typedef bool hide_fn(union msg_body *);
static hide_fn hide_token, hide_body, hide_raw;

static hide_fn *const hiders[MSG_MAX] = {
	[MSG_HELLO] = hide_token,
	[MSG_WRITE] = hide_body,
	[MSG_RESULT_ITEMS] = hide_raw,
};

bool
msg_redact(enum msg m, union msg_body *body)
{
	MUST((unsigned)m < MSG_MAX);
	return hiders[m] != NULL && hiders[m](body);
}

static bool
hide_token(union msg_body *any)
{
	any->hello.token = (wire_secret){ 0 };
	return true;
}

/* In whatever API group: better one too many. */
static bool
hide_body(union msg_body *any)
{
	if (wire_str_compare(any->write.resource, wire_str_of("secrets")) != 0)
		return false;
	any->write.body = wire_str_of("***");
	return true;
}

/* Objects that nobody projects come as they are; their key names the resource (object_key). */
static bool
hide_raw(union msg_body *any)
{
	static const char secrets[] = "secrets/";
	static const uint8_t hidden[] = { 0x91, 0xa3, '*', '*', '*' };	/* the packed body ["***"] */
	struct body_item *item = &any->item;

	if (item->type != msg_table[MSG_RAW].number || item->key.len < sizeof(secrets) - 1
	    || memcmp(item->key.p, secrets, sizeof(secrets) - 1) != 0)
		return false;
	item->value = (wire_bin){ .p = hidden, .len = sizeof(hidden) };
	return true;
}
