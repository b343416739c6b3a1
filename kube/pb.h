/*
 * kube/pb.h - walks over the protobuf wire format, field by field, in place. Pure: no schema, no
 * allocation, no recursion; a message inside a message is another walk over its bytes.
 *
 * Every declared length is checked against the bytes that are left. Groups are refused: Kubernetes
 * has none.
 *
 *	struct pb m = pb_over(bytes, len);
 *	for (struct pb_field f; pb_next(&m, &f);)
 *		...
 *	if (m.broken != NULL)
 */
#ifndef MUSTER_PB_H
#define MUSTER_PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb {
	const uint8_t	*p, *end;
	const char	*broken;	/* why the walk ended; NULL: at the end of the message */
};

struct pb_field {
	uint32_t	 number;	/* 1 to 2^29-1 */
	enum pb_wire	 wire;
	uint64_t	 value;		/* of PB_VARINT and the fixed ones */
	const uint8_t	*p;		/* of PB_BYTES */
	size_t		 len;
};

/* p may be NULL when len is 0. */
static inline struct pb
pb_over(const void *p, size_t len)
{
	const uint8_t *bytes = p;

	return (struct pb){ .p = bytes, .end = len == 0 ? bytes : bytes + len };
}

/* The message that a field holds. */
static inline struct pb
pb_inside(const struct pb_field *f)
{
	return pb_over(f->p, f->len);
}

/* False: the end, or broken (then so for ever). */
bool pb_next(struct pb *m, struct pb_field *f);
/* The first field of that number and wire type; false: there is none, or the message is broken before it. */
bool pb_find(struct pb m, uint32_t number, enum pb_wire wire, struct pb_field *f);

/*
 * One varint from at most `len` bytes: how many it takes (1 to 10); 0: it goes on beyond them; -1: none of
 * 64 bits. For readers of streams.
 */
int pb_varint(const uint8_t *p, size_t len, uint64_t *v);

#endif
