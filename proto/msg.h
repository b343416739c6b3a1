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
#define MSG_ENUM(ID, ...) MSG_##ID,
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
/* Text to text, keys ascending by their bytes, none twice: equal maps are equal bytes. */
struct wire_map {
	const uint8_t	*p;		/* the entries as they stand in the frame */
	uint32_t	 len, count;
};
/* Records of text; all have the same columns, 1 to ROWS_COLUMNS_MAX of them. */
struct wire_rows {
	const uint8_t	*p;
	uint32_t	 len, count, columns;
};
enum { ROWS_COLUMNS_MAX = 16 };
typedef struct wire_str wire_str;
typedef struct wire_str wire_resource;
typedef struct wire_str wire_object;
typedef struct wire_bin wire_bin;
typedef struct wire_bin wire_secret;
typedef struct wire_bin wire_value;
typedef struct wire_nums wire_nums;
typedef struct wire_map wire_map;
typedef struct wire_rows wire_rows;
typedef uint64_t wire_u64;
typedef uint64_t wire_number;
typedef int64_t wire_i64;
typedef double wire_f64;
typedef bool wire_flag;

#define MSG_MEMBER(type, name, ...)	wire_##type name;
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
	bool		 secret;	/* has a field that may have to be hidden: see msg_redact */
	bool		 nests;		/* has a field that holds another message */
};
extern const struct msg_row msg_table[MSG_MAX];

/* Memory that one decode may use: reset before each frame, freed at the end. */
struct msg_arena {
	msgpack_zone	zone;
};
void msg_arena_init(struct msg_arena *a);
void *msg_arena_alloc(struct msg_arena *a, size_t size);
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

/* The first of what is left, which shrinks by it; false when nothing is. */
bool map_next(struct wire_map *left, struct wire_str *key, struct wire_str *value);
bool rows_next(struct wire_rows *left, struct wire_str cells[ROWS_COLUMNS_MAX]);
/* A row whose first column is that. */
bool rows_have(struct wire_rows rows, const char *first);
/* False: no such key; *value is then empty. */
bool map_get(struct wire_map m, const char *key, struct wire_str *value);
/*
 * Builds one entry after another; bytes belong to this one map or list alone. Keys must ascend: whoever reads
 * the map refuses it otherwise.
 */
void map_put(msgpack_sbuffer *bytes, struct wire_map *m, struct wire_str key, struct wire_str value);
void rows_put(msgpack_sbuffer *bytes, struct wire_rows *r, const struct wire_str *cells, uint32_t columns);

/*
 * Hides the fields that the schema declares secret, also in a nested value, whose redacted copy is in
 * the arena. A nested value that does not decode is hidden whole. True: something was hidden. Call it
 * before a body is shown or copied to a reader.
 */
bool msg_redact(enum msg m, union msg_body *body, struct msg_arena *arena);
/* An object of that resource is not shown: it is a Secret, or the resource is not known. */
bool msg_object_is_secret(struct wire_str resource);

/*
 * `field=value field="text"` for people, or `"field":value` pairs of JSON; secrets are shown as
 * "***". Returns the length, cut to fit.
 */
size_t msg_print(enum msg m, const union msg_body *body, bool json, char *buf, size_t size);

/* Of every message, field, link and kind: two programs with the same hash mean the same by every byte. */
uint64_t msg_schema_hash(void);

/* As memcmp: 0 when equal, a prefix is less than what goes on. */
static inline int
wire_str_compare(struct wire_str a, struct wire_str b)
{
	const uint32_t len = a.len < b.len ? a.len : b.len;
	const int c = len > 0 ? __builtin_memcmp(a.p, b.p, len) : 0;

	return c != 0 ? c : (a.len > b.len) - (a.len < b.len);
}

static inline struct wire_str
wire_str_of(const char *s)
{
	return (struct wire_str){ .p = s, .len = (uint32_t)__builtin_strlen(s) };
}

static inline bool
wire_str_same(struct wire_str a, struct wire_str b)
{
	return a.len == b.len && (a.len == 0 || __builtin_memcmp(a.p, b.p, a.len) == 0);
}

static inline bool
wire_str_is(struct wire_str s, const char *text)
{
	return wire_str_same(s, wire_str_of(text));
}

#endif
