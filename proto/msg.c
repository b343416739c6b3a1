/* proto/msg.c - pack and unpack, grown from messages.h. A field is named once, in the schema. */
#include "msg.h"

#include <string.h>

#include "obj.h"
#include "scan.h"

/*
 * Bytes being read. The schema gives what comes next, so each field is read where it stands: to build a tree
 * of msgpack objects and walk it afterwards took a third of a consumer's time (./dev bench bus).
 */
struct cursor {
	const uint8_t	*p, *end;
	msgpack_zone	*zone;		/* of what is not a view */
};

/* Where a type has its length: in the head itself, or in the bytes that follow one of the wide heads. */
struct lengths {
	uint8_t	fixed, mask;	/* a head of which `mask` leaves `fixed`: the other bits are the length */
	uint8_t	wide, width;	/* the first wide head and its bytes; the next has twice as many, up to 4 */
};
static const struct lengths str_lengths = { .fixed = 0xa0, .mask = 0xe0, .wide = 0xd9, .width = 1 };
static const struct lengths bin_lengths = { .fixed = 0xff, .wide = 0xc4, .width = 1 };	/* never fixed */
static const struct lengths array_lengths = { .fixed = 0x90, .mask = 0xf0, .wide = 0xdc, .width = 2 };
static const struct lengths map_lengths = { .fixed = 0x80, .mask = 0xf0, .wide = 0xde, .width = 2 };

/* ---- Wire types ---- */

/* In place of msgpack_sbuffer_write, which at the end of memory packs on and leaves a hole in the frame. */
static inline int
append(void *buffer, const char *p, size_t len)
{
	msgpack_sbuffer *b = buffer;

	if (b->alloc - b->size < len) {
		b->alloc = b->alloc * 2 + len + MSGPACK_SBUFFER_INIT_SIZE;
		b->data = obj_realloc(b->data, b->alloc);
	}
	if (len > 0)
		memcpy(b->data + b->size, p, len);
	b->size += len;
	return 0;
}

static void
put_str(msgpack_packer *pk, wire_str v)
{
	msgpack_pack_str_with_body(pk, v.p == NULL ? "" : v.p, v.len);
}

static void
put_bin(msgpack_packer *pk, wire_bin v)
{
	msgpack_pack_bin_with_body(pk, v.p == NULL ? (const void *)"" : v.p, v.len);
}

static void
put_nums(msgpack_packer *pk, wire_nums v)
{
	msgpack_pack_array(pk, v.len);
	for (uint32_t i = 0; i < v.len; i++)
		msgpack_pack_double(pk, v.p[i]);
}

static void
put_map(msgpack_packer *pk, wire_map v)
{
	msgpack_pack_map(pk, v.count);
	append(pk->data, (const char *)v.p, v.len);
}

static void
put_rows(msgpack_packer *pk, wire_rows v)
{
	msgpack_pack_array(pk, v.count);
	append(pk->data, (const char *)v.p, v.len);
}

static void
put_flag(msgpack_packer *pk, wire_flag v)
{
	if (v)
		msgpack_pack_true(pk);
	else
		msgpack_pack_false(pk);
}

/* n bytes; NULL when there are fewer. */
static const uint8_t *
take(struct cursor *c, size_t n)
{
	const uint8_t *p = c->p;

	if (n > (size_t)(c->end - p))
		return NULL;
	c->p += n;
	return p;
}

static bool
get_bits(struct cursor *c, size_t n, uint64_t *v)
{
	const uint8_t *p = take(c, n);

	if (p == NULL)
		return false;
	*v = 0;
	for (size_t i = 0; i < n; i++)
		*v = *v << 8 | p[i];
	return true;
}

static bool
get_length(struct cursor *c, const struct lengths *l, uint32_t *len)
{
	const uint8_t *head = take(c, 1);
	uint64_t bits;

	if (head == NULL)
		return false;
	if ((*head & l->mask) == l->fixed) {
		*len = *head & (uint8_t)~l->mask;
		return true;
	}
	if (*head < l->wide || *head > l->wide + 2)
		return false;
	const size_t width = (size_t)l->width << (*head - l->wide);
	if (width > sizeof(*len) || !get_bits(c, width, &bits))
		return false;
	*len = (uint32_t)bits;
	return true;
}

static bool
get_arity(struct cursor *c, uint32_t fields)
{
	uint32_t n;

	return get_length(c, &array_lengths, &n) && n == fields;
}

/* A NUL inside a str would cut keys short in everything that uses C strings: refused at the edge. */
static bool
get_str(struct cursor *c, wire_str *v)
{
	if (!get_length(c, &str_lengths, &v->len))
		return false;
	v->p = (const char *)take(c, v->len);
	return v->p != NULL && (v->len == 0 || memchr(v->p, '\0', v->len) == NULL);
}

static bool
get_bin(struct cursor *c, wire_bin *v)
{
	if (!get_length(c, &bin_lengths, &v->len))
		return false;
	v->p = take(c, v->len);
	return v->p != NULL;
}

static bool
get_f64(struct cursor *c, wire_f64 *v)
{
	const uint8_t *head = take(c, 1);
	uint64_t bits;

	if (head == NULL || *head != 0xcb || !get_bits(c, sizeof(bits), &bits))
		return false;
	memcpy(v, &bits, sizeof(*v));
	return true;
}

static bool
get_nums(struct cursor *c, wire_nums *v)
{
	uint32_t n;

	if (!get_length(c, &array_lengths, &n) || n > (size_t)(c->end - c->p))
		return false;
	double *nums = msgpack_zone_malloc(c->zone, n == 0 ? 1 : n * sizeof(*nums));
	if (nums == NULL)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!get_f64(c, &nums[i]))
			return false;
	}
	*v = (wire_nums){ .p = nums, .len = n };
	return true;
}

/* Entries are checked here, once, and read again where they stand (map_next). */
static bool
get_map(struct cursor *c, wire_map *v)
{
	wire_str key, value, before = { 0 };
	uint32_t n;

	if (!get_length(c, &map_lengths, &n))
		return false;
	const uint8_t *p = c->p;
	for (uint32_t i = 0; i < n; i++, before = key) {
		if (!get_str(c, &key) || !get_str(c, &value)
		    || (i > 0 && wire_str_compare(before, key) >= 0))
			return false;
	}
	*v = (wire_map){ .p = p, .len = (uint32_t)(c->p - p), .count = n };
	return true;
}

static bool
get_cells(struct cursor *c, wire_str *cells, uint32_t *columns)
{
	if (!get_length(c, &array_lengths, columns) || *columns == 0 || *columns > ROWS_COLUMNS_MAX)
		return false;
	for (uint32_t i = 0; i < *columns; i++) {
		if (!get_str(c, &cells[i]))
			return false;
	}
	return true;
}

static bool
get_rows(struct cursor *c, wire_rows *v)
{
	wire_str cells[ROWS_COLUMNS_MAX];
	uint32_t n, columns, first = 0;

	if (!get_length(c, &array_lengths, &n))
		return false;
	const uint8_t *p = c->p;
	for (uint32_t i = 0; i < n; i++) {
		if (!get_cells(c, cells, &columns) || (i > 0 && columns != first))
			return false;
		first = columns;
	}
	*v = (wire_rows){ .p = p, .len = (uint32_t)(c->p - p), .count = n, .columns = first };
	return true;
}

static bool
get_u64(struct cursor *c, wire_u64 *v)
{
	const uint8_t *head = take(c, 1);

	if (head == NULL)
		return false;
	if (*head <= 0x7f) {
		*v = *head;
		return true;
	}
	return *head >= 0xcc && *head <= 0xcf && get_bits(c, (size_t)1 << (*head - 0xcc), v);
}

static bool
get_i64(struct cursor *c, wire_i64 *v)
{
	const uint8_t *head = c->p;
	uint64_t bits;

	if (head < c->end && *head >= 0xe0) {			/* -32 to -1 in the head */
		*v = (int8_t)*take(c, 1);
		return true;
	}
	if (head < c->end && *head >= 0xd0 && *head <= 0xd3) {	/* signed: 1, 2, 4 or 8 bytes */
		const unsigned width = 1u << (*take(c, 1) - 0xd0), unused = 64 - 8 * width;

		if (!get_bits(c, width, &bits))
			return false;
		*v = (int64_t)(bits << unused) >> unused;
		return true;
	}
	if (!get_u64(c, &bits) || bits > INT64_MAX)
		return false;
	*v = (int64_t)bits;
	return true;
}

static bool
get_flag(struct cursor *c, wire_flag *v)
{
	const uint8_t *head = take(c, 1);

	if (head == NULL || (*head != 0xc2 && *head != 0xc3))
		return false;
	*v = *head == 0xc3;
	return true;
}

/*
 * ---- One codec per body. `==` on the arity: with `>=` a longer body would also parse as a shorter
 * one. ----
 */

/* Types that the library packs as they are, and types that differ only in what is shown of them. */
#define put_u64		msgpack_pack_uint64
#define put_i64		msgpack_pack_int64
#define put_f64		msgpack_pack_double
#define put_resource	put_str
#define put_object	put_str
#define put_secret	put_bin
#define put_value	put_bin
#define put_number	put_u64
#define get_resource	get_str
#define get_object	get_str
#define get_secret	get_bin
#define get_value	get_bin
#define get_number	get_u64

#define COUNT(type, name, ...)	+ 1
#define PUT(type, name, ...)	put_##type(pk, m->name);
#define GET(type, name, ...)	&& get_##type(c, &m->name)
#define CODEC(body)								\
	static void								\
	pack_##body(msgpack_sbuffer *out, const union msg_body *any)		\
	{									\
		const struct body_##body *m = &any->body;			\
		msgpack_packer packer = { .data = out, .callback = append }, *pk = &packer; \
		msgpack_pack_array(pk, 0 body##_FIELDS(COUNT));			\
		body##_FIELDS(PUT)						\
	}									\
	static bool								\
	unpack_##body(struct cursor *c, union msg_body *any) \
	{									\
		struct body_##body *m = &any->body;				\
		return get_arity(c, 0 body##_FIELDS(COUNT)) body##_FIELDS(GET);	\
	}
BODIES(CODEC)

static const struct {
	void (*pack)(msgpack_sbuffer *, const union msg_body *);
	bool (*unpack)(struct cursor *, union msg_body *);
} codecs[MSG_MAX] = {
#define CODEC_ROW(ID, body, ...) [MSG_##ID] = { .pack = pack_##body, .unpack = unpack_##body },
	MESSAGES(CODEC_ROW)
};

void
msg_pack(msgpack_sbuffer *out, enum msg m, const union msg_body *body)
{
	MUST((unsigned)m < MSG_MAX);
	codecs[m].pack(out, body);
}

bool
msg_unpack(enum msg m, const void *p, size_t len, size_t *used, struct msg_arena *arena, union msg_body *out)
{
	struct cursor c = { .p = p, .end = (const uint8_t *)p + len, .zone = &arena->zone };

	MUST((unsigned)m < MSG_MAX);
	if (!codecs[m].unpack(&c, out))
		return false;
	*used = (size_t)(c.p - (const uint8_t *)p);
	return true;
}

bool
msg_unpack_value(enum msg m, const void *p, size_t len, struct msg_arena *arena, union msg_body *out)
{
	struct scan_info info;
	size_t used;

	return scan_frame(p, len, &info) == SCAN_OK && info.top == 1
	    && msg_unpack(m, p, len, &used, arena, out) && used == len;
}

bool
map_next(struct wire_map *left, struct wire_str *key, struct wire_str *value)
{
	if (left->count == 0)
		return false;
	struct cursor c = { .p = left->p, .end = left->p + left->len };
	MUST(get_str(&c, key) && get_str(&c, value));
	*left = (struct wire_map){ .p = c.p, .len = (uint32_t)(c.end - c.p), .count = left->count - 1 };
	return true;
}

bool
rows_next(struct wire_rows *left, struct wire_str cells[ROWS_COLUMNS_MAX])
{
	uint32_t columns;

	if (left->count == 0)
		return false;
	struct cursor c = { .p = left->p, .end = left->p + left->len };
	MUST(get_cells(&c, cells, &columns) && columns == left->columns);
	left->p = c.p;
	left->len = (uint32_t)(c.end - c.p);
	left->count--;
	return true;
}

bool
rows_have(struct wire_rows left, const char *first)
{
	struct wire_str cells[ROWS_COLUMNS_MAX];

	while (rows_next(&left, cells)) {
		if (wire_str_is(cells[0], first))
			return true;
	}
	return false;
}

bool
map_get(struct wire_map m, const char *key, struct wire_str *value)
{
	const struct wire_str name = wire_str_of(key);
	struct wire_str k;

	while (map_next(&m, &k, value)) {
		if (wire_str_compare(k, name) == 0)
			return true;
	}
	*value = (struct wire_str){ .p = "" };
	return false;
}

void
map_put(msgpack_sbuffer *bytes, struct wire_map *m, struct wire_str key, struct wire_str value)
{
	msgpack_packer pk = { .data = bytes, .callback = append };

	put_str(&pk, key);
	put_str(&pk, value);
	*m = (struct wire_map){
		.p = (const uint8_t *)bytes->data, .len = (uint32_t)bytes->size, .count = m->count + 1
	};
}

void
rows_put(msgpack_sbuffer *bytes, struct wire_rows *r, const struct wire_str *cells, uint32_t columns)
{
	msgpack_packer pk = { .data = bytes, .callback = append };

	MUST(columns > 0 && columns <= ROWS_COLUMNS_MAX && (r->count == 0 || r->columns == columns));
	msgpack_pack_array(&pk, columns);
	for (uint32_t i = 0; i < columns; i++)
		put_str(&pk, cells[i]);
	*r = (struct wire_rows){ .p = (const uint8_t *)bytes->data, .len = (uint32_t)bytes->size,
		.count = r->count + 1, .columns = columns };
}

void
msg_arena_init(struct msg_arena *a)
{
	MUST(msgpack_zone_init(&a->zone, MSGPACK_ZONE_CHUNK_SIZE));
}

void *
msg_arena_alloc(struct msg_arena *a, size_t size)
{
	void *const p = msgpack_zone_malloc(&a->zone, size);

	MUST(p != NULL);
	return p;
}

void
msg_arena_reset(struct msg_arena *a)
{
	msgpack_zone_clear(&a->zone);
}

void
msg_arena_free(struct msg_arena *a)
{
	msgpack_zone_destroy(&a->zone);
}
