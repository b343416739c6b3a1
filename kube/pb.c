/* kube/pb.c - the protobuf wire format (protobuf.dev/programming-guides/encoding). */
#include "pb.h"

enum { VARINT_MAX = 10, NUMBER_MAX = (1 << 29) - 1 };

static bool get_varint(struct pb *, uint64_t *);
static bool get_fixed(struct pb *, unsigned, uint64_t *);
static bool get_bytes(struct pb *, struct pb_field *);
static bool broken(struct pb *, const char *);

bool
pb_next(struct pb *m, struct pb_field *f)
{
	uint64_t tag;

	if (m->broken != NULL || m->p == m->end || !get_varint(m, &tag))
		return false;
	if (tag >> 3 == 0 || tag >> 3 > NUMBER_MAX)
		return broken(m, "a field number out of range");
	*f = (struct pb_field){ .number = (uint32_t)(tag >> 3), .wire = tag & 7 };
	switch (f->wire) {
	case PB_VARINT:
		return get_varint(m, &f->value);
	case PB_FIXED64:
		return get_fixed(m, 8, &f->value);
	case PB_BYTES:
		return get_bytes(m, f);
	case PB_FIXED32:
		return get_fixed(m, 4, &f->value);
	}
	return broken(m, "a group, or an unknown wire type");
}

bool
pb_find(struct pb m, uint32_t number, enum pb_wire wire, struct pb_field *f)
{
	while (pb_next(&m, f)) {
		if (f->number == number && f->wire == wire)
			return true;
	}
	return false;
}

int
pb_varint(const uint8_t *p, size_t len, uint64_t *v)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < len && i < VARINT_MAX; i++) {
		if (i == VARINT_MAX - 1 && p[i] > 1)
			return -1;
		bits |= (uint64_t)(p[i] & 0x7f) << 7 * i;
		if (p[i] < 0x80) {
			*v = bits;
			return (int)i + 1;
		}
	}
	return 0;
}

static bool
get_varint(struct pb *m, uint64_t *v)
{
	if (m->p < m->end && *m->p < 0x80) {	/* most are one byte */
		*v = *m->p++;
		return true;
	}
	const int n = pb_varint(m->p, (size_t)(m->end - m->p), v);
	if (n <= 0)
		return broken(m, n == 0 ? "cut within a number" : "a number of more than 64 bits");
	m->p += n;
	return true;
}

static bool
get_fixed(struct pb *m, unsigned width, uint64_t *v)
{
	if ((size_t)(m->end - m->p) < width)
		return broken(m, "cut within a number");
	*v = 0;
	for (unsigned i = 0; i < width; i++)
		*v |= (uint64_t)m->p[i] << 8 * i;
	m->p += width;
	return true;
}

static bool
get_bytes(struct pb *m, struct pb_field *f)
{
	uint64_t len;

	if (!get_varint(m, &len))
		return false;
	if (len > (size_t)(m->end - m->p))
		return broken(m, "declares more bytes than it has");
	f->p = m->p;
	f->len = (size_t)len;
	m->p += len;
	return true;
}

static bool
broken(struct pb *m, const char *why)
{
	m->broken = why;
	return false;
}
