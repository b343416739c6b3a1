/*
 * actors/runtime/intern.c - values whose repeating parts are stored once per process.
 *
 * A stored form is a sequence of
 *	0nnnnnnn bytes			literal, n + 1 bytes
 *	1nnnnnnn nnnnnnnn		the span of that number
 */
#include "intern.h"

#include <string.h>

#include "keytab.h"
#include "obj.h"
#include "scan.h"

enum { LITERAL_MAX = 128, SEEN = 4096, REFERENCE = 0x80, BUFFER_KEPT = 64 * 1024 };

struct intern {
	uint32_t	 magic;
#define INTERN_MAGIC	0x494e544eu
	struct keytab	*spans;		/* each has the number of its references, a uint32_t */
	uint32_t	 seen[SEEN];	/* keytab_place of spans that came lately and are in no pool */
	uint8_t		*buffer;	/* the last stored form */
	size_t		 buffer_size;
};

/* A value on its way into its stored form. */
struct storing {
	struct intern	*intern;
	uint8_t		*end;		/* of the stored form so far */
	const uint8_t	*literal;	/* what is not in the stored form yet begins here */
};

/* One step of a stored form. */
struct part {
	const uint8_t	*p;
	size_t		 len;
	uint32_t	 span;		/* KEYTAB_NONE: literal */
};

static uint8_t *buffer_for(struct intern *, size_t);
static void store_object(struct storing *, const uint8_t *, size_t, unsigned);
static uint32_t reference(struct intern *, const uint8_t *, size_t);
static void put_literal(struct storing *, const uint8_t *);
static void put_reference(struct storing *, uint32_t);
static struct part next_part(const struct intern *, const uint8_t **, const uint8_t *);
static uint32_t *references(const struct intern *, uint32_t);

struct intern *
intern_new(void)
{
	struct intern *t;

	OBJ_NEW(t, INTERN_MAGIC);
	t->spans = keytab_new(sizeof(uint32_t));
	return t;
}

void
intern_free(struct intern **tp)
{
	struct intern *t;

	if (*tp == NULL)
		return;
	OBJ_TAKE(t, tp, INTERN_MAGIC);
	keytab_free(&t->spans);
	free(t->buffer);
	OBJ_FREE(t);
}

struct wire_bin
intern_store(struct intern *t, const void *value, size_t len)
{
	const uint8_t *const p = value;
	struct storing s = { .intern = t, .literal = p };

	OBJ_CHECK(t, INTERN_MAGIC);
	s.end = buffer_for(t, len);
	if (len > 0 && scan_object(p, len) == len)
		store_object(&s, p, len, 0);
	put_literal(&s, p + len);
	return (struct wire_bin){ .p = t->buffer, .len = (uint32_t)(s.end - t->buffer) };
}

void
intern_release(struct intern *t, const void *stored, size_t stored_len)
{
	const uint8_t *p = stored, *const end = p + stored_len;

	OBJ_CHECK(t, INTERN_MAGIC);
	while (p < end) {
		const uint32_t span = next_part(t, &p, end).span;

		if (span != KEYTAB_NONE && --*references(t, span) == 0)
			keytab_remove(t->spans, span);
	}
}

void
intern_expand(const struct intern *t, const void *stored, size_t stored_len, uint8_t *value)
{
	const uint8_t *p = stored, *const end = p + stored_len;

	while (p < end) {
		const struct part part = next_part(t, &p, end);

		memcpy(value, part.p, part.len);
		value += part.len;
	}
}

bool
intern_same(const struct intern *t, const void *stored, size_t stored_len, const void *value, size_t len)
{
	const uint8_t *p = stored, *const end = p + stored_len, *v = value;

	while (p < end) {
		const struct part part = next_part(t, &p, end);

		if (part.len > len || memcmp(v, part.p, part.len) != 0)
			return false;
		v += part.len;
		len -= part.len;
	}
	return len == 0;
}

uint32_t
intern_count(const struct intern *t)
{
	return keytab_count(t->spans);
}

size_t
intern_bytes(const struct intern *t)
{
	return sizeof(*t) + keytab_bytes(t->spans) + t->buffer_size;
}

/* A reference is shorter than its span by more than the head of the literal that it may split. */
static uint8_t *
buffer_for(struct intern *t, size_t len)
{
	const size_t most = len + len / LITERAL_MAX + 1;

	if (t->buffer_size < most || (t->buffer_size > BUFFER_KEPT && most <= BUFFER_KEPT)) {
		free(t->buffer);
		t->buffer_size = most < 4096 ? 4096 : most;
		t->buffer = obj_alloc(t->buffer_size);
	}
	return t->buffer;
}

/*
 * The largest span that repeats is referred to; of what does not repeat, the objects nested in it are
 * tried. The value itself is not: two equal ones are rare.
 */
static void
store_object(struct storing *s, const uint8_t *p, size_t len, unsigned depth)
{
	if (depth > 0 && len >= INTERN_SPAN_MIN) {
		const uint32_t span = reference(s->intern, p, len);

		if (span != KEYTAB_NONE) {
			put_literal(s, p);
			put_reference(s, span);
			s->literal = p + len;
			return;
		}
	}
	const struct scan_head head = scan_head(p, len);
	if (depth == FRAME_MAX_DEPTH)
		return;
	const uint8_t *child = p + head.skip;
	for (uint64_t i = 0; i < head.children; i++) {
		const size_t child_len = scan_object(child, (size_t)(p + len - child));

		store_object(s, child, child_len, depth + 1);
		child += child_len;
	}
}

/* One reference more to that span; KEYTAB_NONE: it does not repeat, or the pool is full. */
static uint32_t
reference(struct intern *t, const uint8_t *p, size_t len)
{
	const char *const key = (const char *)p;
	const uint32_t place = keytab_place(key, len);
	uint32_t *const seen = &t->seen[place % SEEN];
	uint32_t span = keytab_find_at(t->spans, place, key, len);

	if (span == KEYTAB_NONE) {
		if (*seen != place || keytab_count(t->spans) == INTERN_SPANS_MAX) {
			*seen = place;
			return KEYTAB_NONE;
		}
		span = keytab_add(t->spans, key, len, NULL);
	}
	++*references(t, span);
	return span;
}

static void
put_literal(struct storing *s, const uint8_t *end)
{
	while (s->literal < end) {
		const size_t left = (size_t)(end - s->literal), len = left < LITERAL_MAX ? left : LITERAL_MAX;

		*s->end++ = (uint8_t)(len - 1);
		memcpy(s->end, s->literal, len);
		s->end += len;
		s->literal += len;
	}
}

static void
put_reference(struct storing *s, uint32_t span)
{
	*s->end++ = (uint8_t)(REFERENCE | span >> 8);
	*s->end++ = (uint8_t)(span & 0xff);
}

static struct part
next_part(const struct intern *t, const uint8_t **stored, const uint8_t *end)
{
	const uint8_t *const p = *stored;
	struct part part = { .p = p + 1, .len = p[0] + 1u, .span = KEYTAB_NONE };

	if ((p[0] & REFERENCE) == 0) {
		MUST((size_t)(end - part.p) >= part.len);
		*stored = part.p + part.len;
		return part;
	}
	MUST(end - p >= 2);
	part.span = (uint32_t)(p[0] & ~REFERENCE) << 8 | p[1];
	part.p = (const uint8_t *)keytab_key(t->spans, part.span, &part.len);
	MUST(part.p != NULL);
	*stored = p + 2;
	return part;
}

static uint32_t *
references(const struct intern *t, uint32_t span)
{
	return keytab_value(t->spans, span);
}
