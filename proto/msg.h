/*
 * proto/msg.h - messages as C structs, grown from messages.h: enum, structs, pack, unpack, print.
 *
 * Decoded messages are views into the frame and the arena: copy what you keep.
 */
#ifndef MUSTER_MSG_H
#define MUSTER_MSG_H

#include <msgpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "messages.h"

/* Message numbers in memory are dense (masks, tables); the numbers of messages.h are the wire's. */
enum msg {
#define MSG_ENUM(ID, body, number, many) MSG_##ID,
	MESSAGES(MSG_ENUM)
#undef MSG_ENUM
	MSG_MAX
};
_Static_assert(MSG_MAX <= 64, "message sets are 64-bit masks");
#define MSG_BIT(ID)	(UINT64_C(1) << MSG_##ID)

struct wire_str {
	const char	*p;
	uint32_t	 len;
};
struct wire_bin {
	const uint8_t	*p;
	uint32_t	 len;
};
struct wire_nums {
	const double	*p;
	uint32_t	 len;
};
typedef struct wire_str wire_str;
typedef struct wire_bin wire_bin;
typedef struct wire_bin wire_secret;
typedef struct wire_nums wire_nums;
typedef uint64_t wire_u64;
typedef int64_t wire_i64;
typedef double wire_f64;
typedef bool wire_flag;

#define MSG_MEMBER(type, name)	wire_##type name;
#define MSG_STRUCT(body)	struct body_##body { body##_FIELDS(MSG_MEMBER) };
BODIES(MSG_STRUCT)

union msg_body {
#define MSG_UNION(body) struct body_##body body;
	BODIES(MSG_UNION)
#undef MSG_UNION
};

struct msg_row {
	const char	*name;		/* "SNAP_BEGIN" */
	uint16_t	 number;	/* on the wire */
	bool		 many;		/* a frame carries one or more bodies */
	bool		 secret;	/* has a field that must not be shown */
};
extern const struct msg_row msg_table[MSG_MAX];

/* Memory that one decode may use: reset before each frame, freed at the end. */
struct msg_arena {
	msgpack_zone	zone;
};
void msg_arena_init(struct msg_arena *a);
void msg_arena_reset(struct msg_arena *a);
void msg_arena_free(struct msg_arena *a);

const char *msg_name(enum msg m);			/* "?" when out of range */
enum msg msg_find(const char *name, size_t len);	/* by name; MSG_MAX when unknown */
enum msg msg_by_number(uint64_t number);		/* MSG_MAX when unknown */

void msg_pack(msgpack_sbuffer *out, enum msg m, const union msg_body *body);
/*
 * One body from p: exact arity, exact types, *used bytes. The bytes must have passed
 * scan_frame before.
 */
bool msg_unpack(enum msg m, const void *p, size_t len, size_t *used, struct msg_arena *arena,
    union msg_body *out);
/* One whole value (an item's bytes): pre-scan, unpack, nothing left over. */
bool msg_unpack_value(enum msg m, const void *p, size_t len, struct msg_arena *arena, union msg_body *out);

/*
 * `field=value field="text"` for people, or `"field":value` pairs of JSON; secrets are shown as
 * "***". Returns the length, cut to fit.
 */
size_t msg_print(enum msg m, const union msg_body *body, bool json, char *buf, size_t size);

/* Of every message, field, link and kind: two programs with the same hash mean the same by every byte. */
uint64_t msg_schema_hash(void);

static inline struct wire_str
wire_str_of(const char *s)
{
	return (struct wire_str){ .p = s, .len = (uint32_t)__builtin_strlen(s) };
}

#endif
