/* actors/vpsie-claimer/text_index.c - texts to numbers, by hashing into chains. Pure. */
#include "text_index.h"

#include <string.h>

#include "obj.h"

enum { ALIGNMENT = 16 };

/* Two neighbouring runs: from low, and from middle up to high. */
struct span {
	uint32_t	low, middle, high;
};

static uint32_t step_to(const struct text_index *, struct wire_str, uint32_t, uint32_t *);
static void merge(uint32_t *, uint32_t *, struct span, id_before *, const void *);
static uint32_t size_for(uint32_t);

static inline char
fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* One more byte; the hash of each start of a text is a step on the way to that of the whole. */
static inline uint64_t
absorb(uint64_t h, char c)
{
	h = (h ^ (uint8_t)fold(c)) * 0x9fb21c651e98df25u;
	return h ^ h >> 32;
}

static inline uint32_t
finish(uint64_t h, uint32_t len)
{
	h = (h ^ len) * 0xd6e8feb86659fd93u;
	return (uint32_t)(h >> 32);
}

void *
scratch_take(struct scratch *s, size_t bytes)
{
	void *const p = s->p + s->used;

	s->used += scratch_bytes(bytes);
	return p;
}

size_t
scratch_bytes(size_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

size_t
text_index_bytes(uint32_t most)
{
	return scratch_bytes(most * sizeof(struct text_entry))
	    + scratch_bytes(size_for(most) * sizeof(uint32_t));
}

void
text_index_init(struct text_index *x, struct scratch *s, uint32_t most, uint64_t seed)
{
	const uint32_t buckets = size_for(most);

	*x = (struct text_index){ .size = most, .mask = buckets - 1, .seed = seed };
	x->entries = scratch_take(s, most * sizeof(*x->entries));
	x->buckets = scratch_take(s, buckets * sizeof(*x->buckets));
	memset(x->buckets, 0xff, buckets * sizeof(*x->buckets));
}

void
text_index_add(struct text_index *x, struct wire_str text, uint32_t value)
{
	uint64_t h = x->seed;

	if (text.len == 0)
		return;
	MUST(x->count < x->size);
	for (uint32_t i = 0; i < text.len; i++)
		h = absorb(h, text.p[i]);
	const uint32_t hash = finish(h, text.len), n = x->count++;
	uint32_t *const last = &x->buckets[hash & x->mask];
	struct text_entry *const e = &x->entries[n];

	/* The entries of a bucket are a ring, so that its last one leads to its first. */
	*e = (struct text_entry){ .text = text, .value = value, .hash = hash, .next = n };
	if (*last != TEXT_INDEX_NONE) {
		e->next = x->entries[*last].next;
		x->entries[*last].next = n;
	}
	*last = n;
}

uint32_t
text_index_find(const struct text_index *x, struct wire_str text, uint32_t *at)
{
	uint64_t h = x->seed;

	*at = TEXT_INDEX_NONE;
	for (uint32_t i = 0; i < text.len; i++)
		h = absorb(h, text.p[i]);
	return text.len == 0 ? TEXT_INDEX_NONE : step_to(x, text, finish(h, text.len), at);
}

uint32_t
text_index_more(const struct text_index *x, struct wire_str text, uint32_t *at)
{
	return *at == TEXT_INDEX_NONE ? TEXT_INDEX_NONE : step_to(x, text, x->entries[*at].hash, at);
}

uint32_t
text_index_prefix(const struct text_index *x, const uint64_t lengths[4], struct wire_str text)
{
	const uint32_t most = text.len < 255 ? text.len : 255;
	uint64_t h = x->seed;
	uint32_t found = 0;

	for (uint32_t len = 1; len <= most; len++) {
		h = absorb(h, text.p[len - 1]);
		if ((lengths[len / 64] >> len % 64 & 1) == 0)
			continue;
		uint32_t at = TEXT_INDEX_NONE;
		const struct wire_str start = { .p = text.p, .len = len };

		if (step_to(x, start, finish(h, len), &at) != TEXT_INDEX_NONE)
			found = len;
	}
	return found;
}

int
text_compare_folded(struct wire_str a, struct wire_str b)
{
	const uint32_t len = a.len < b.len ? a.len : b.len;

	for (uint32_t i = 0; i < len; i++) {
		const uint8_t x = (uint8_t)fold(a.p[i]), y = (uint8_t)fold(b.p[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return (a.len > b.len) - (a.len < b.len);
}

/* Merges runs of 1, 2, 4 ... ids. */
void
id_sort(uint32_t *ids, uint32_t *spare, uint32_t n, id_before *before, const void *arg)
{
	for (uint32_t run = 1; run < n; run *= 2) {
		for (uint32_t low = 0; low + run < n; low += 2 * run) {
			const uint32_t middle = low + run, high = middle + run < n ? middle + run : n;

			/* Most input is in order already. */
			if (before(arg, ids[middle], ids[middle - 1]))
				merge(ids, spare, (struct span){ low, middle, high }, before, arg);
		}
	}
}

static void
merge(uint32_t *ids, uint32_t *spare, struct span s, id_before *before, const void *arg)
{
	uint32_t a = s.low, b = s.middle;

	for (uint32_t i = s.low; i < s.high; i++) {
		const bool second = a == s.middle || (b < s.high && before(arg, ids[b], ids[a]));

		spare[i] = second ? ids[b++] : ids[a++];
	}
	memcpy(ids + s.low, spare + s.low, (s.high - s.low) * sizeof(*ids));
}

/* The next entry of that text behind *at; TEXT_INDEX_NONE as *at: the first one. */
static uint32_t
step_to(const struct text_index *x, struct wire_str text, uint32_t hash, uint32_t *at)
{
	const uint32_t last = x->buckets[hash & x->mask];

	if (last == TEXT_INDEX_NONE || *at == last) {
		*at = TEXT_INDEX_NONE;
		return TEXT_INDEX_NONE;
	}
	uint32_t i = *at == TEXT_INDEX_NONE ? last : *at;
	do {
		i = x->entries[i].next;
		const struct text_entry *const e = &x->entries[i];

		if (e->hash == hash && text_compare_folded(e->text, text) == 0) {
			*at = i;
			return e->value;
		}
	} while (i != last);
	*at = TEXT_INDEX_NONE;
	return TEXT_INDEX_NONE;
}

/* A power of two, at least as many buckets as entries. */
static uint32_t
size_for(uint32_t most)
{
	uint32_t size = 16;

	while (size < most)
		size *= 2;
	return size;
}
