/* proto/envelope.c - frames: checked once, at the edge. */
#include "envelope.h"

#include "obj.h"

enum { ENVELOPE_FIELDS = 4 };

const char *
frame_open(struct frame *f, const void *bytes, size_t len, struct msg_arena *arena)
{
	struct scan_info info;
	msgpack_object list;
	uint64_t field[ENVELOPE_FIELDS];
	size_t off = 0;

	const enum scan_result scan = scan_frame(bytes, len, &info);
	if (scan != SCAN_OK)
		return scan_text(scan);
	const msgpack_unpack_return rc = msgpack_unpack(bytes, len, &off, &arena->zone, &list);
	if (rc != MSGPACK_UNPACK_SUCCESS && rc != MSGPACK_UNPACK_EXTRA_BYTES)
		return "envelope does not unpack";
	if (list.type != MSGPACK_OBJECT_ARRAY || list.via.array.size != ENVELOPE_FIELDS)
		return "envelope has the wrong shape";
	for (uint32_t i = 0; i < ENVELOPE_FIELDS; i++) {
		const msgpack_object *o = &list.via.array.ptr[i];

		if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
			return "envelope field is not a number";
		field[i] = o->via.u64;
	}
	*f = (struct frame){
		.env = { .type = msg_by_number(field[0]), .epoch = field[1], .seq = field[2],
			.trace = field[3] },
		.bodies = info.top - 1,
		.next = (const uint8_t *)bytes + off,
		.left = len - off,
	};
	if (f->env.type == MSG_MAX)
		return "unknown message";
	if (f->bodies == 0 || (f->bodies > 1 && !msg_table[f->env.type].many))
		return "wrong number of bodies";
	return NULL;
}

bool
frame_next(struct frame *f, struct msg_arena *arena, union msg_body *out)
{
	size_t used;

	if (f->bodies == 0 || !msg_unpack(f->env.type, f->next, f->left, &used, arena, out))
		return false;
	f->bodies--;
	f->next += used;
	f->left -= used;
	return true;
}

void
frame_begin(msgpack_sbuffer *out, const struct envelope *env)
{
	msgpack_packer pk;

	MUST((unsigned)env->type < MSG_MAX);
	msgpack_packer_init(&pk, out, msgpack_sbuffer_write);
	msgpack_pack_array(&pk, ENVELOPE_FIELDS);
	msgpack_pack_uint64(&pk, msg_table[env->type].number);
	msgpack_pack_uint64(&pk, env->epoch);
	msgpack_pack_uint64(&pk, env->seq);
	msgpack_pack_uint64(&pk, env->trace);
}
