/* base/keytab.c - open addressing over 32-bit ids; the keys themselves are stable allocations. */
#include "keytab.h"

#include <string.h>

#include "obj.h"
#include "random.h"

struct slot {
	char		*key;		/* NULL: free id */
	uint32_t	 len;
	uint32_t	 place;		/* in the index; while free: the next free id */
};
_Static_assert(sizeof(struct slot) == 16, "every key of every table has one");

struct keytab {
	uint32_t	 magic;
#define KEYTAB_MAGIC	0x4b455954u
	struct slot	*slots;
	char		*values;	/* by id */
	size_t		 value_size;
	uint32_t	 nslots, cap_slots, count, free_head;
	uint32_t	*index;		/* id, or KEYTAB_NONE; power of two, at most 3/4 full */
	uint32_t	 index_size;
	size_t		 key_bytes;
};

/* Of this process; set before main, so that threads need no lock. */
static uint64_t seed[2];

static void index_insert(struct keytab *, uint32_t);
static void index_grow(struct keytab *);
static uint32_t index_position(const struct keytab *, uint32_t);

uint64_t
hash64_more(uint64_t h, const void *p, size_t len)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < len; i++)
		h = (h ^ b[i]) * 0x100000001b3u;
	return h;
}

uint64_t
hash64(const void *p, size_t len)
{
	return hash64_more(HASH64_SEED, p, len);
}

static __attribute__((constructor)) void
set_seed(void)
{
	random_secret(seed, sizeof(seed));
}

struct keytab *
keytab_new(size_t value_size)
{
	struct keytab *k;

	OBJ_NEW(k, KEYTAB_MAGIC);
	k->value_size = value_size;
	k->free_head = KEYTAB_NONE;
	index_grow(k);
	return k;
}

void
keytab_free(struct keytab **kp)
{
	struct keytab *k;

	if (*kp == NULL)
		return;
	OBJ_TAKE(k, kp, KEYTAB_MAGIC);
	for (uint32_t i = 0; i < k->nslots; i++)
		free(k->slots[i].key);
	free(k->slots);
	free(k->values);
	free(k->index);
	OBJ_FREE(k);
}

uint32_t
keytab_find(const struct keytab *k, const char *key, size_t len)
{
	return keytab_find_at(k, keytab_place(key, len), key, len);
}

uint32_t
keytab_add(struct keytab *k, const char *key, size_t len, bool *added)
{
	const uint32_t place = keytab_place(key, len);
	uint32_t id = keytab_find_at(k, place, key, len);

	if (added != NULL)
		*added = id == KEYTAB_NONE;
	if (id != KEYTAB_NONE)
		return id;
	if (k->free_head != KEYTAB_NONE) {
		id = k->free_head;
		k->free_head = k->slots[id].place;
	} else {
		if (k->nslots == k->cap_slots) {
			k->cap_slots = k->cap_slots == 0 ? 8 : k->cap_slots + k->cap_slots / 2;
			k->slots = obj_realloc(k->slots, k->cap_slots * sizeof(*k->slots));
			if (k->value_size > 0)
				k->values = obj_realloc(k->values, k->cap_slots * k->value_size);
		}
		id = k->nslots++;
	}
	k->slots[id] = (struct slot){ .key = obj_strndup(key, len), .len = (uint32_t)len, .place = place };
	if (k->value_size > 0)
		memset(keytab_value(k, id), 0, k->value_size);
	k->key_bytes += len + 1;
	k->count++;
	if (k->count > k->index_size / 4 * 3)
		index_grow(k);
	else
		index_insert(k, id);
	return id;
}

/* Backward-shift deletion: no tombstones in the index, so lookups never decay under churn. */
void
keytab_remove(struct keytab *k, uint32_t id)
{
	const uint32_t mask = k->index_size - 1;

	MUST(id < k->nslots && k->slots[id].key != NULL);
	uint32_t hole = index_position(k, id);
	for (uint32_t i = (hole + 1) & mask; k->index[i] != KEYTAB_NONE; i = (i + 1) & mask) {
		const uint32_t home = k->slots[k->index[i]].place & mask;

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			k->index[hole] = k->index[i];
			hole = i;
		}
	}
	k->index[hole] = KEYTAB_NONE;
	k->key_bytes -= k->slots[id].len + 1;
	free(k->slots[id].key);
	k->slots[id] = (struct slot){ .place = k->free_head };
	k->free_head = id;
	k->count--;
}

const char *
keytab_key(const struct keytab *k, uint32_t id, size_t *len)
{
	if (id >= k->nslots || k->slots[id].key == NULL)
		return NULL;
	if (len != NULL)
		*len = k->slots[id].len;
	return k->slots[id].key;
}

void *
keytab_value(const struct keytab *k, uint32_t id)
{
	MUST(id < k->nslots && k->slots[id].key != NULL && k->value_size > 0);
	return k->values + id * k->value_size;
}

uint64_t
keytab_hash(const struct keytab *k, uint32_t id)
{
	MUST(id < k->nslots && k->slots[id].key != NULL);
	return hash64(k->slots[id].key, k->slots[id].len);
}

uint32_t
keytab_count(const struct keytab *k)
{
	return k->count;
}

uint32_t
keytab_ids(const struct keytab *k)
{
	return k->nslots;
}

uint32_t
keytab_next(const struct keytab *k, uint32_t id)
{
	while (id < k->nslots && k->slots[id].key == NULL)
		id++;
	return id < k->nslots ? id : KEYTAB_NONE;
}

size_t
keytab_bytes(const struct keytab *k)
{
	return sizeof(*k) + k->cap_slots * (sizeof(*k->slots) + k->value_size)
	    + k->index_size * sizeof(*k->index) + k->key_bytes;
}

/* One round of SipHash. */
static inline void
mix(uint64_t v[4])
{
#define ROTATE(x, n)	((x) << (n) | (x) >> (64 - (n)))
	v[0] += v[1];
	v[2] += v[3];
	v[1] = ROTATE(v[1], 13) ^ v[0];
	v[3] = ROTATE(v[3], 16) ^ v[2];
	v[0] = ROTATE(v[0], 32) + v[3];
	v[2] += v[1];
	v[3] = ROTATE(v[3], 21) ^ v[0];
	v[1] = ROTATE(v[1], 17) ^ v[2];
	v[2] = ROTATE(v[2], 32);
#undef ROTATE
}

static inline void
absorb(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	mix(v);
	v[0] ^= word;
}

/* SipHash-1-3, as Rust and Python use it for their tables; half of its result. */
uint32_t
keytab_place(const char *key, size_t len)
{
	uint64_t v[4] = {
		seed[0] ^ 0x736f6d6570736575u, seed[1] ^ 0x646f72616e646f6du,
		seed[0] ^ 0x6c7967656e657261u, seed[1] ^ 0x7465646279746573u,
	};

	uint64_t last = (uint64_t)len << 56;

	for (size_t left = len; left >= 8; left -= 8, key += 8) {
		uint64_t word;

		memcpy(&word, key, sizeof(word));
		absorb(v, word);
	}
	for (size_t i = 0; i < len % 8; i++)
		last |= (uint64_t)(uint8_t)key[i] << 8 * i;
	absorb(v, last);
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		mix(v);
	return (uint32_t)(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

uint32_t
keytab_find_at(const struct keytab *k, uint32_t place, const char *key, size_t len)
{
	const uint32_t mask = k->index_size - 1;

	for (uint32_t i = place & mask;; i = (i + 1) & mask) {
		const uint32_t id = k->index[i];

		if (id == KEYTAB_NONE)
			return KEYTAB_NONE;
		const struct slot *s = &k->slots[id];
		if (s->place == place && s->len == len && memcmp(s->key, key, len) == 0)
			return id;
	}
}

static uint32_t
index_position(const struct keytab *k, uint32_t id)
{
	const uint32_t mask = k->index_size - 1;
	uint32_t i = k->slots[id].place & mask;

	while (k->index[i] != id)
		i = (i + 1) & mask;
	return i;
}

static void
index_insert(struct keytab *k, uint32_t id)
{
	const uint32_t mask = k->index_size - 1;
	uint32_t i = k->slots[id].place & mask;

	while (k->index[i] != KEYTAB_NONE)
		i = (i + 1) & mask;
	k->index[i] = id;
}

static void
index_grow(struct keytab *k)
{
	k->index_size = k->index_size == 0 ? 16 : k->index_size * 2;
	k->index = obj_realloc(k->index, k->index_size * sizeof(*k->index));
	memset(k->index, 0xff, k->index_size * sizeof(*k->index));
	for (uint32_t id = 0; id < k->nslots; id++) {
		if (k->slots[id].key != NULL)
			index_insert(k, id);
	}
}
