/*
 * kube/splitter_pb.c - protobuf: frames of a watch; the items of a list.
 *
 * An empty list has no items at all, so it is recognised by its kind ("NodeList") in the wrapping before
 * it: a message of another kind is not an empty list.
 */
#include <string.h>

#include "splitter_private.h"
#include "frames.h"
#include "pb.h"

enum pb_state { AT_MAGIC, AT_HEAD, IN_SKIPPED, IN_TYPE, IN_META, IN_ITEM };

/* Field numbers: runtime.Unknown and TypeMeta, any List, metav1.ListMeta. */
enum {
	UNKNOWN_TYPE_META = 1, UNKNOWN_RAW = 2, TYPE_META_KIND = 2,
	LIST_META = 1, LIST_ITEMS = 2, META_RV = 2, META_CONTINUE = 3,
};

struct pb_head {
	uint32_t	number;
	enum pb_wire	wire;
	uint64_t	len;	/* of what follows it */
};

static splitter_step magic, head, field, piece;
static bool begin_field(struct splitter *, const struct pb_head *);
static bool end_field(struct splitter *);
static int read_head(const uint8_t *, size_t, struct pb_head *);
static void read_type(struct splitter *);
static bool read_meta(struct splitter *);
static size_t fail(struct splitter *, const char *);

static splitter_step *const steps[] = {
	[AT_MAGIC] = magic, [AT_HEAD] = head,
	[IN_SKIPPED] = field, [IN_TYPE] = field, [IN_META] = field, [IN_ITEM] = piece,
};

/* Four bytes of length, most significant first; then that much. */
size_t
splitter_pb_watch(struct splitter *c, const char *p, size_t len)
{
	struct splitter_pb *b = &c->pb;

	if (b->state == IN_ITEM)
		return piece(c, p, len);
	b->head[b->head_len++] = (uint8_t)*p;
	b->left = b->left << 8 | (uint8_t)*p;
	if (b->head_len < 4)
		return 1;
	b->head_len = 0;
	if (b->left > SPLITTER_OBJECT_MAX)
		return fail(c, "a frame that declares more than 16 MiB");
	if (b->left == 0)
		return splitter_deliver(c, p + 1, 0, len - 1) ? 1 : 0;
	b->state = IN_ITEM;
	return 1;
}

size_t
splitter_pb_list(struct splitter *c, const char *p, size_t len)
{
	struct splitter_pb *b = &c->pb;

	if (b->inside && len > b->raw_left)
		len = (size_t)b->raw_left;
	const bool inside = b->inside;
	const size_t n = steps[b->state](c, p, len);
	if (n == 0 || !inside)
		return n;
	b->raw_left -= n;
	if (b->raw_left == 0) {
		b->inside = false;
		if (b->state != AT_HEAD || b->head_len > 0)
			return fail(c, "the list ends within a field");
	}
	return n;
}

bool
splitter_pb_list_complete(struct splitter *c)
{
	const struct splitter_pb *b = &c->pb;

	if (b->state != AT_HEAD || b->head_len > 0 || b->inside)
		return splitter_fail(c, "the list ended before its end, after %zu items", c->items);
	if (!b->raw_seen || !b->is_list)
		return splitter_fail(c, "the answer is not a list");
	return splitter_list_has_rv(c);
}

static size_t
magic(struct splitter *c, const char *p, size_t len)
{
	struct splitter_pb *b = &c->pb;

	(void)len;
	if (*p != FRAMES_MAGIC[b->head_len])
		return fail(c, "the answer is not Kubernetes protobuf");
	if (++b->head_len == FRAMES_MAGIC_LEN) {
		b->head_len = 0;
		b->state = AT_HEAD;
	}
	return 1;
}

static size_t
head(struct splitter *c, const char *p, size_t len)
{
	struct splitter_pb *b = &c->pb;
	struct pb_head h;

	(void)len;
	b->head[b->head_len++] = (uint8_t)*p;
	const int done = read_head(b->head, b->head_len, &h);
	if (done < 0 || (done == 0 && b->head_len == sizeof(b->head)))
		return fail(c, "not protobuf: an invalid head of a field");
	if (done == 0)
		return 1;
	b->head_len = 0;
	return begin_field(c, &h) ? 1 : 0;
}

static size_t
field(struct splitter *c, const char *p, size_t len)
{
	const size_t n = len < c->pb.left ? len : (size_t)c->pb.left;

	if (c->pb.state != IN_SKIPPED && !splitter_buffer(c, p, n, SPLITTER_META_MAX))
		return 0;
	c->pb.left -= n;
	return end_field(c) ? n : 0;
}

static size_t
piece(struct splitter *c, const char *p, size_t len)
{
	struct splitter_pb *b = &c->pb;

	if (len < b->left) {
		b->left -= len;
		return splitter_buffer(c, p, len, SPLITTER_OBJECT_MAX) ? len : 0;
	}
	const size_t n = (size_t)b->left;
	b->left = 0;
	b->state = AT_HEAD;
	return splitter_deliver(c, p, n, len - n) ? n : 0;
}

/* A head was read: decides what to do with the field. */
static bool
begin_field(struct splitter *c, const struct pb_head *h)
{
	struct splitter_pb *b = &c->pb;
	const bool bytes = h->wire == PB_BYTES;

	/* its own last byte is still counted in raw_left */
	if (b->inside && h->len > b->raw_left - 1)
		return fail(c, "a field declares more bytes than the list has") > 0;
	b->left = h->len;
	b->state = IN_SKIPPED;
	if (!b->inside && bytes && h->number == UNKNOWN_RAW) {
		if (b->raw_seen || !b->is_list)
			return fail(c, "the answer is not a list") > 0;
		b->raw_seen = true;
		b->raw_left = h->len;
		b->inside = h->len > 0;
		b->left = 0;
	} else if (!b->inside && bytes && h->number == UNKNOWN_TYPE_META) {
		b->state = IN_TYPE;
	} else if (b->inside && bytes && h->number == LIST_META) {
		b->state = IN_META;
	} else if (b->inside && bytes && h->number == LIST_ITEMS) {
		b->state = IN_ITEM;
	}
	return end_field(c);
}

/* At the end of a field. Items end in piece(), but for one that is empty. */
static bool
end_field(struct splitter *c)
{
	struct splitter_pb *b = &c->pb;
	const unsigned was = b->state;

	if (b->left > 0)
		return true;
	b->state = AT_HEAD;
	if (was == IN_ITEM)
		return splitter_deliver(c, "", 0, 0);
	if (was == IN_TYPE)
		read_type(c);
	if (was == IN_META && !read_meta(c))
		return fail(c, "its metadata is not protobuf") > 0;
	if (was == IN_TYPE || was == IN_META)
		splitter_drop(c);
	return true;
}

/* 1: complete; 0: more bytes are needed; -1: invalid. */
static int
read_head(const uint8_t *p, size_t len, struct pb_head *h)
{
	uint64_t tag, value;
	const int n = pb_varint(p, len, &tag);

	if (n <= 0)
		return n;
	if (tag >> 3 == 0 || tag >> 32 != 0)
		return -1;
	*h = (struct pb_head){ .number = (uint32_t)(tag >> 3), .wire = tag & 7 };
	if (h->wire == PB_FIXED64 || h->wire == PB_FIXED32) {
		h->len = h->wire == PB_FIXED64 ? 8 : 4;
		return 1;
	}
	if (h->wire != PB_VARINT && h->wire != PB_BYTES)
		return -1;
	const int more = pb_varint(p + n, len - (size_t)n, &value);
	if (more <= 0)
		return more;
	h->len = h->wire == PB_BYTES ? value : 0;
	return 1;
}

static void
read_type(struct splitter *c)
{
	struct pb_field kind;

	c->pb.is_list = pb_find(pb_over(c->held, c->held_len), TYPE_META_KIND, PB_BYTES, &kind)
	    && kind.len >= 4 && memcmp(kind.p + kind.len - 4, "List", 4) == 0;
}

static bool
read_meta(struct splitter *c)
{
	struct pb m = pb_over(c->held, c->held_len);

	for (struct pb_field f; pb_next(&m, &f);) {
		if (f.wire == PB_BYTES && (f.number == META_RV || f.number == META_CONTINUE)
		    && (f.len == 0 || memchr(f.p, '\0', f.len) == NULL))
			splitter_copy_text(f.number == META_RV ? &c->rv : &c->next, (const char *)f.p, f.len);
	}
	return m.broken == NULL;
}

static size_t
fail(struct splitter *c, const char *what)
{
	splitter_fail(c, "after %zu objects: %s", c->items, what);
	return 0;
}
